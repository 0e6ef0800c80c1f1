//! Highest vibration frequency of a method's own forces, which limits explicit steps.

use crate::math::{Random, Real, Vec3, max_over, sum_over};
use rayon::prelude::*;

/// Number of power iterations for the highest frequency; the result is a few per cent below the true one.
const POWER_ITERATIONS: usize = 50;
/// Fraction by which the found frequency may be too low.
pub(in crate::methods) const MISSED: Real = 0.05;
/// Displacement for the differences of forces, as a fraction of the smallest support: small enough for linear strain,
/// large enough against round-off.
const PROBE: Real = 1e-6;

/// Returns the highest frequency (rad/s) of small vibrations about force-free positions, and the particle with the
/// largest amplitude in that mode: power iteration on M⁻¹ ∂f/∂x by differences of the method's own forces.
pub(in crate::methods) fn highest_frequency(
    rest: &[Vec3],
    mass: &[Real],
    smallest_support: Real,
    mut forces_at: impl FnMut(&[Vec3], &mut [Vec3]),
) -> (Real, usize) {
    let n = rest.len();
    let mut random = Random::new(2004);
    let mut mode: Vec<Vec3> = (0..n).map(|_| random.in_cube()).collect();
    let (mut shifted, mut force) = (rest.to_vec(), vec![Vec3::ZERO; n]);
    let size = smallest_support * PROBE;
    let mut squared = 0.0;
    for _ in 0..POWER_ITERATIONS {
        shifted.par_iter_mut().enumerate().for_each(|(i, x)| *x = rest[i] + mode[i] * size);
        forces_at(&shifted, &mut force);
        let before: Real = sum_over(n, |i| mode[i].length_squared());
        mode.par_iter_mut().enumerate().for_each(|(i, v)| *v = -force[i] / (mass[i] * size));
        let after: Real = sum_over(n, |i| mode[i].length_squared());
        squared = (after / before).sqrt();
        let largest = max_over(n, |i| mode[i].length()).map_or(1.0, |m| m.0).max(Real::MIN_POSITIVE);
        mode.par_iter_mut().for_each(|v| *v /= largest);
    }
    (squared.sqrt(), max_over(n, |i| mode[i].length()).map_or(0, |m| m.1))
}

/// Returns the factor by which the present deformation shortens the stable step, and the particle that it comes from.
pub(in crate::methods) fn stiffening(n: usize, of: impl Fn(usize) -> Real + Sync) -> (Real, usize) {
    let (largest, particle) = max_over(n, of).unwrap_or((1.0, 0));
    (1.0 / largest.max(1.0).sqrt(), particle)
}
