//! Quality of the sampling of matter by particles: distances to the nearest neighbours, and the number of pieces.

use super::{Group, World};
use crate::math::{Mat3, Real, max_over};
use crate::neighbors::Grid;
use rayon::prelude::*;

/// Distance within which a nearest neighbour is searched first (spacings).
const NEAR: Real = 1.25;
/// Distance within which it is searched next (spacings); it is also the result if there is no neighbour.
const FAR: Real = 2.5;
/// Volume ratio below which compression is not undone: the inverse of F would be meaningless.
const LEAST_VOLUME_RATIO: Real = 0.05;

/// Quality of the sampling at one moment. Values are `None` if there is nothing to measure.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SamplingQuality {
    /// Median of the particles' distances to their nearest neighbours (spacings); 1 for a lattice.
    pub nearest_median: Option<Real>,
    /// Smallest of these distances (spacings).
    pub nearest_smallest: Option<Real>,
    /// Number of particles that are nearer to another one than [`SamplingQuality::CROWDED`].
    pub n_crowded: usize,
    /// Number of pieces of matter that no force-transmitting bond joins; a stray particle is a piece.
    pub n_pieces: Option<usize>,
}

impl SamplingQuality {
    /// Distance below which particles count as crowded (spacings). Filling keeps them farther apart, and the `embedded`
    /// method merges particles that are nearer.
    pub const CROWDED: Real = 0.4;
}

impl World {
    /// Returns the sampling quality at the present moment.
    pub(super) fn sampling_quality(&self) -> SamplingQuality {
        let mut nearest: Vec<Real> =
            self.groups.iter().flat_map(|group| self.nearest_distances(group)).collect();
        let n_pieces = self.groups.iter().map(|g| g.method.n_pieces(&g.particles)).sum();
        if nearest.is_empty() {
            return SamplingQuality { n_pieces, ..SamplingQuality::default() };
        }
        let n_crowded = nearest.iter().filter(|&&distance| distance < SamplingQuality::CROWDED).count();
        let middle = nearest.len() / 2;
        let (below, median, _) = nearest.select_nth_unstable_by(middle, Real::total_cmp);
        let smallest = below.iter().fold(*median, |least, &distance| least.min(distance));
        let (nearest_median, nearest_smallest) = (Some(*median), Some(smallest));
        SamplingQuality { nearest_median, nearest_smallest, n_crowded, n_pieces }
    }

    /// Returns for each particle i the least max(|x_ij|, |F_i⁻¹ x_ij|)/(r_i + r_j) over the particles j of the same
    /// piece.
    ///   F elastic deformation gradient (1)   x_ij world bond (m)   r radius, half the spacing at the start (m)
    /// Elastic compression is undone: a rubber block that is pressed flat is sampled as well as at rest. Stretch is not
    /// undone: single particles may be stretched much while their neighbours are at rest. The spacing is that of the
    /// start; splitting and merging keep it, since they aim at it. If two spacings differ, their mean is used.
    fn nearest_distances(&self, group: &Group) -> Vec<Real> {
        let (particles, bodies) = (&group.particles, self.body_contacts.bodies());
        let (x, radius) = (&particles.position, &particles.radius);
        let largest = max_over(x.len(), |i| radius[i]).map_or(1.0, |m| m.0);
        let grid = Grid::new(x, NEAR * 2.0 * largest);
        let matter = |i: usize| bodies[particles.body[i] as usize].matter;
        let within = |i: usize, inverse: Mat3, reach: Real| {
            let mut least = reach;
            grid.visit_ball(x[i], reach * (radius[i] + largest), |j| {
                let j = j as usize;
                let (bond, reach) = (x[j] - x[i], least * (radius[i] + radius[j]));
                // the cheap test comes first: most particles are farther away than the nearest one so far
                if j != i && bond.length_squared() < reach * reach && matter(j) == matter(i) {
                    let squared = bond.length_squared().max((inverse * bond).length_squared());
                    least = least.min(squared.sqrt() / (radius[i] + radius[j]));
                }
            });
            least
        };
        let rows = (0..x.len()).into_par_iter().with_min_len(256);
        rows.map(|i| {
            let f = group.method.elastic_gradient(i);
            let inverse = if f.determinant() > LEAST_VOLUME_RATIO { f.inverse() } else { Mat3::IDENTITY };
            let least = within(i, inverse, NEAR);
            if least < NEAR { least } else { within(i, inverse, FAR) }
        })
        .collect()
    }
}
