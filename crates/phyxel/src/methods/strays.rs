//! Detection of strays: particles that have lost contact with the rest of the matter.

use crate::math::{Real, max_over};
use crate::neighbors::Grid;
use crate::particles::Particles;
use rayon::prelude::*;

/// A particle with fewer other particles nearby than this is a stray.
const COMPANY: usize = 4;
/// Radius within which other particles are counted (spacings).
const NEARBY: Real = 2.0;

/// Returns 1 for each stray particle and 0 for all others.
pub(super) fn strays(particles: &Particles) -> Vec<Real> {
    let x = &particles.position;
    let reach = |i: usize| 2.0 * NEARBY * particles.radius[i];
    let largest = max_over(x.len(), reach).map_or(1.0, |m| m.0);
    let grid = Grid::new(x, 0.5 * largest);
    let is_stray = |i: usize| {
        let mut company = 0;
        grid.visit_ball(x[i], reach(i), |j| {
            let near = x[i].distance_squared(x[j as usize]) < reach(i) * reach(i);
            company += usize::from(j as usize != i && near);
        });
        if company < COMPANY { 1.0 } else { 0.0 }
    };
    (0..x.len()).into_par_iter().map(is_stray).collect()
}
