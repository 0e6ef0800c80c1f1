//! The largest stable step of the leapfrog: from the highest frequency of the undeformed bodies and their stretch.

use super::Reference;
use crate::math::{Random, Real, Vec3, frobenius_norm, max_over, sum_over};
use crate::methods::TimeStepLimit;
use crate::particles::Particles;
use rayon::prelude::*;

/// Power iterations for the highest frequency; they end a few per cent below the true one.
const POWER_ITERATIONS: usize = 50;
/// What the iteration may miss of the highest frequency.
const MISSED: Real = 0.05;
/// Probing displacement over the smallest support: strains small enough to be linear, large enough for round-off.
const PROBE: Real = 1e-6;

impl Reference {
    /// Power iteration on M⁻¹ ∂f/∂x at rest, by differences of the method's own forces.
    pub(super) fn find_highest_frequency(&mut self, particles: &Particles) {
        let n = particles.len();
        let mut random = Random::new(2004);
        let mut mode: Vec<Vec3> = (0..n).map(|_| random.in_cube()).collect();
        let mut shifted = self.rest_position.clone();
        let size = self.support_radius.iter().copied().fold(Real::INFINITY, Real::min) * PROBE;
        let mut squared = 0.0;
        for _ in 0..POWER_ITERATIONS {
            shifted.par_iter_mut().enumerate().for_each(|(i, x)| *x = self.rest_position[i] + mode[i] * size);
            self.forces_at(&shifted);
            let before: Real = sum_over(n, |i| mode[i].length_squared());
            mode.par_iter_mut()
                .enumerate()
                .for_each(|(i, v)| *v = -self.force[i] / (particles.mass[i] * size));
            let after: Real = sum_over(n, |i| mode[i].length_squared());
            squared = (after / before).sqrt();
            let largest = max_over(n, |i| mode[i].length()).map_or(1.0, |m| m.0).max(Real::MIN_POSITIVE);
            mode.par_iter_mut().for_each(|v| *v /= largest);
        }
        self.rest.highest_frequency = squared.sqrt();
        self.rest.fastest = max_over(n, |i| mode[i].length()).map_or(0, |m| m.1);
    }

    /// 2/ω_max, shortened by the largest stretch: St Venant–Kirchhoff material stiffens with its square.
    pub(super) fn time_step_limit(&self, _particles: &Particles) -> TimeStepLimit {
        // |F| = √3 at rest; a principal stretch s has a tangent modulus of (3 s² − 1)/2 and s ≤ |F|
        let largest = max_over(self.gradients.len(), |i| frobenius_norm(self.gradients[i]));
        let (norm, particle) = largest.unwrap_or((3f64.sqrt(), 0));
        let stretch_squared = (norm * norm - 2.0).max(1.0);
        let stiffening = ((3.0 * stretch_squared - 1.0) / 2.0).sqrt();
        let rest_limit = 2.0 / (self.rest.highest_frequency * (1.0 + MISSED));
        let stable = rest_limit / stiffening;
        let stretched = stiffening > 1.05;
        TimeStepLimit {
            value: self.params.safety * stable,
            stable,
            reason: if stretched { "elastic waves (stretched)" } else { "elastic waves" },
            particle: Some(if stretched { particle } else { self.rest.fastest }),
        }
    }
}
