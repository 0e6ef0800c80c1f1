//! What particles know, at the places of vertices.

use crate::{narrow, wide};
use phyxel::math::{Real, Vec3};
use phyxel::neighbors::Grid;
use rayon::prelude::*;
use std::ops::{AddAssign, Div, Mul};

/// Σ_j W(|x − x_j|, h) value_j / Σ_j W, W the cubic spline; none where no particle is within h.
pub(crate) fn mean<T>(
    x: Vec3,
    positions: &[Vec3],
    grid: &Grid,
    support: Real,
    value: impl Fn(usize) -> T,
) -> Option<T>
where
    T: Default + AddAssign + Mul<Real, Output = T> + Div<Real, Output = T>,
{
    let (mut sum, mut total) = (T::default(), 0.0);
    grid.visit_ball(x, support, |j| {
        let squared = x.distance_squared(positions[j as usize]);
        if squared < support * support {
            let weight = cubic_spline(squared.sqrt() / support);
            sum += value(j as usize) * weight;
            total += weight;
        }
    });
    (total > 0.0).then(|| sum / total)
}

/// The cubic spline of SPH up to a factor, q = r/h.
fn cubic_spline(q: Real) -> Real {
    if q < 0.5 { 1.0 - 6.0 * q * q * (1.0 - q) } else { 2.0 * (1.0 - q).max(0.0).powi(3) }
}

/// One value per vertex from one value per particle; none from none. A vertex out of reach of all takes the nearest's.
pub(crate) fn interpolate(
    vertices: &[Vec3],
    positions: &[Vec3],
    values: &[[f32; 3]],
    grid: &Grid,
    support: Real,
) -> Vec<[f32; 3]> {
    if values.is_empty() {
        return Vec::new();
    }
    vertices
        .par_iter()
        .map(|&vertex| {
            let mean = mean(vertex, positions, grid, support, |j| wide(values[j]));
            mean.map_or_else(|| nearest(vertex, positions, values, grid), narrow)
        })
        .collect()
}

fn nearest(x: Vec3, positions: &[Vec3], values: &[[f32; 3]], grid: &Grid) -> [f32; 3] {
    let mut found = Vec::new();
    grid.nearest(positions, x, 1, |_| true, &mut found);
    found.first().map_or([0.0; 3], |&(_, j)| values[j as usize])
}
