//! Highest vibration frequency of a method's own forces, which limits explicit steps.

use crate::math::{Mat3, Random, Real, Vec3, max_over, sum_over, symmetric_eigen};
use rayon::prelude::*;

/// Largest number of iterations for the highest frequency.
const MOST_ITERATIONS: usize = 60;
/// Relative change of the frequency's square in an iteration under which it counts as found, and the number of
/// iterations in a row that must be so.
const FOUND: (Real, usize) = (1e-4, 3);
/// Fraction by which the found frequency may be too low.
pub(in crate::methods) const MISSED: Real = 0.01;
/// Displacement for the differences of forces, as a fraction of the smallest support: small enough for linear strain,
/// large enough against round-off.
const PROBE: Real = 1e-6;

/// Returns the highest frequency (rad/s) of small vibrations about the positions at rest, and the particle with the
/// largest amplitude in that mode. The largest eigenvalue of A = −M⁻¹ ∂f/∂x, by differences of the method's own forces,
/// is sought by conjugate gradients: in each iteration the mode becomes the best one in the space of itself, the
/// gradient of its Rayleigh quotient and the last change (Knyazev's LOBPCG for one vector).
pub(in crate::methods) fn highest_frequency(
    rest: &[Vec3],
    mass: &[Real],
    smallest_support: Real,
    mut forces_at: impl FnMut(&[Vec3], &mut [Vec3]),
) -> (Real, usize) {
    let n = rest.len();
    let size = smallest_support * PROBE;
    let mut shifted = rest.to_vec();
    // not all forces vanish at the start: some settings add pressure
    let mut at_rest = vec![Vec3::ZERO; n];
    forces_at(&shifted, &mut at_rest);
    let mut apply = |mode: &[Vec3], out: &mut [Vec3]| {
        let largest = max_over(n, |i| mode[i].length()).map_or(1.0, |m| m.0).max(Real::MIN_POSITIVE);
        let scale = size / largest;
        shifted.par_iter_mut().enumerate().for_each(|(i, x)| *x = rest[i] + mode[i] * scale);
        forces_at(&shifted, out);
        out.par_iter_mut().enumerate().for_each(|(i, f)| *f = (at_rest[i] - *f) / (mass[i] * scale));
    };
    let dot = |a: &[Vec3], b: &[Vec3]| -> Real { sum_over(n, |i| a[i].dot(b[i]) * mass[i]) };
    let mut random = Random::new(2004);
    // mode, gradient and last change, each with its product with A
    let mut space: [Pair; 3] = std::array::from_fn(|_| Pair::new(n));
    space[0].vector.iter_mut().for_each(|v| *v = random.in_cube());
    let [mode, ..] = &mut space;
    mode.scale(1.0 / dot(&mode.vector, &mode.vector).sqrt());
    apply(&mode.vector, &mut mode.product);
    let (mut squared, mut n_steady) = (dot(&mode.vector, &mode.product), 0);
    for _ in 0..MOST_ITERATIONS {
        let [mode, gradient, change] = &mut space;
        // round-off would grow from one iteration to the next
        mode.scale(1.0 / dot(&mode.vector, &mode.vector).sqrt());
        let quotient = dot(&mode.vector, &mode.product);
        gradient.vector.par_iter_mut().enumerate().for_each(|(i, r)| {
            *r = mode.product[i] - mode.vector[i] * quotient;
        });
        let length = dot(&gradient.vector, &gradient.vector).sqrt();
        if !(length > 1e-9 * squared) {
            break;
        }
        gradient.vector.par_iter_mut().for_each(|r| *r /= length);
        apply(&gradient.vector, &mut gradient.product);
        for other in [&*mode, &*gradient] {
            let shared = dot(&other.vector, &change.vector);
            change.add(other, -shared);
        }
        let length = dot(&change.vector, &change.vector).sqrt();
        change.scale(if length > 0.0 { 1.0 / length } else { 0.0 });
        let entry = |i: usize, j: usize| dot(&space[i].vector, &space[j].product);
        let column = |j: usize| Vec3::new(entry(0, j), entry(1, j), entry(2, j));
        let (values, vectors) = symmetric_eigen(Mat3::from_cols(column(0), column(1), column(2)));
        let [a, b, c] = vectors.x_axis.to_array();
        let [mode, gradient, change] = &mut space;
        change.scale(c);
        change.add(gradient, b);
        mode.scale(a);
        mode.add(change, 1.0);
        let gained = values.x - squared;
        squared = values.x;
        n_steady = if gained < FOUND.0 * squared { n_steady + 1 } else { 0 };
        if n_steady == FOUND.1 {
            break;
        }
    }
    let mode = &space[0].vector;
    (squared.max(0.0).sqrt(), max_over(n, |i| mode[i].length()).map_or(0, |m| m.1))
}

/// A vector and its product with a matrix.
struct Pair {
    vector: Vec<Vec3>,
    product: Vec<Vec3>,
}

impl Pair {
    fn new(n: usize) -> Self {
        Self { vector: vec![Vec3::ZERO; n], product: vec![Vec3::ZERO; n] }
    }

    fn scale(&mut self, factor: Real) {
        for part in [&mut self.vector, &mut self.product] {
            part.par_iter_mut().for_each(|v| *v *= factor);
        }
    }

    fn add(&mut self, other: &Self, factor: Real) {
        for (part, other) in [(&mut self.vector, &other.vector), (&mut self.product, &other.product)] {
            part.par_iter_mut().zip(other.par_iter()).for_each(|(v, o)| *v += *o * factor);
        }
    }
}

/// Returns the factor by which the present deformation shortens the stable step, and the particle that it comes from.
pub(in crate::methods) fn stiffening(n: usize, of: impl Fn(usize) -> Real + Sync) -> (Real, usize) {
    let (largest, particle) = max_over(n, of).unwrap_or((1.0, 0));
    (1.0 / largest.max(1.0).sqrt(), particle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::vec3;

    /// Compares with all frequencies of a chain of unequal masses and springs, which a dense solver finds.
    #[test]
    fn the_highest_frequency_of_a_chain() {
        let n = 60;
        let mut random = Random::new(3);
        let mass: Vec<Real> = (0..n).map(|_| 1.0 + random.unit()).collect();
        let spring: Vec<Real> = (0..n - 1).map(|_| 1.0 + random.unit()).collect();
        let rest: Vec<Vec3> = (0..n).map(|i| vec3(i as Real, 0.0, 0.0)).collect();
        let (found, fastest) = highest_frequency(&rest, &mass, 1.0, |x, force| {
            force.fill(Vec3::ZERO);
            for (i, k) in spring.iter().enumerate() {
                let pull = (x[i + 1] - x[i] - Vec3::X) * *k;
                force[i] += pull;
                force[i + 1] -= pull;
            }
        });
        let mut matrix = nalgebra::DMatrix::<Real>::zeros(n, n);
        for (i, k) in spring.iter().enumerate() {
            matrix[(i, i)] += k / mass[i];
            matrix[(i + 1, i + 1)] += k / mass[i + 1];
            let mixed = k / (mass[i] * mass[i + 1]).sqrt();
            matrix[(i, i + 1)] -= mixed;
            matrix[(i + 1, i)] -= mixed;
        }
        let modes = matrix.symmetric_eigen();
        let (largest, highest) = modes.eigenvalues.argmax();
        assert!((found / highest.sqrt() - 1.0).abs() < 1e-3, "{found} {}", highest.sqrt());
        let amplitude = |i: usize| modes.eigenvectors[(i, largest)].abs() / mass[i].sqrt();
        let expected = (0..n).max_by(|&a, &b| amplitude(a).total_cmp(&amplitude(b))).unwrap();
        assert_eq!(fastest, expected);
    }
}
