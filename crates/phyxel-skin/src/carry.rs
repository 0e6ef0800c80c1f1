//! Interpolation of particle values to vertices.

use crate::cloud::{Cloud, cubic_spline};
use crate::{narrow, wide};
use phyxel::math::{Real, Vec3};
use rayon::prelude::*;
use std::ops::{AddAssign, Div, Mul};

/// Returns Σ_j W(|x − x_j|, h_j) value_j / Σ_j W, with W the cubic spline without its factor; the nearest particle's
/// value if x is in no support.
pub(crate) fn mean<T>(x: Vec3, cloud: &Cloud, value: impl Fn(usize) -> T) -> T
where
    T: Default + AddAssign + Mul<Real, Output = T> + Div<Real, Output = T>,
{
    let (mut sum, mut total) = (T::default(), 0.0);
    cloud.visit(x, |j, q_squared| {
        let weight = cubic_spline(q_squared);
        sum += value(j) * weight;
        total += weight;
    });
    if total > 0.0 { sum / total } else { value(cloud.nearest(x)) }
}

/// Returns one value per vertex from one value per particle; an empty list if there are no values.
pub(crate) fn interpolate(vertices: &[Vec3], cloud: &Cloud, values: &[[f32; 3]]) -> Vec<[f32; 3]> {
    if values.is_empty() {
        return Vec::new();
    }
    vertices.par_iter().map(|&vertex| narrow(mean(vertex, cloud, |j| wide(values[j])))).collect()
}

/// Returns the radii at vertices (m).
pub(crate) fn radii(vertices: &[Vec3], cloud: &Cloud) -> Vec<Real> {
    vertices.par_iter().map(|&vertex| mean(vertex, cloud, |j| cloud.radii[j])).collect()
}
