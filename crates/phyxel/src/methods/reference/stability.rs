//! Largest stable step of the leapfrog scheme, from the highest frequency of the undeformed bodies and their stretch.

use super::Reference;
use crate::math::{Real, frobenius_norm, max_over};
use crate::methods::TimeStepLimit;
use crate::methods::explicit::{MISSED, highest_frequency};
use crate::particles::Particles;

impl Reference {
    /// Finds the highest frequency of the undeformed bodies.
    pub(super) fn find_highest_frequency(&mut self, particles: &Particles) {
        let rest_position = self.rest_position.clone();
        let smallest = self.support_radius.iter().copied().fold(Real::INFINITY, Real::min);
        let (highest, fastest) = highest_frequency(&rest_position, &particles.mass, smallest, |x, force| {
            self.forces_at(x);
            force.copy_from_slice(&self.force);
        });
        (self.rest.highest_frequency, self.rest.fastest) = (highest, fastest);
    }

    /// Returns 2/ω_max, shortened by the largest stretch: St Venant–Kirchhoff material stiffens with its square.
    pub(super) fn time_step_limit(&self, _particles: &Particles) -> TimeStepLimit {
        // |F| = √3 at rest; a principal stretch s has a tangent modulus of (3 s² − 1)/2 and s ≤ |F|
        let largest = max_over(self.gradients.len(), |i| frobenius_norm(self.gradients[i]));
        let (norm, particle) = largest.unwrap_or((3f64.sqrt(), 0));
        let stretch_squared = (norm * norm - 2.0).max(1.0);
        let stiffening = ((3.0 * stretch_squared - 1.0) / 2.0).sqrt();
        let rest_limit = self.stiffness.factor() * 2.0 / (self.rest.highest_frequency * (1.0 + MISSED));
        let stable = rest_limit / stiffening;
        let stretched = stiffening > 1.05;
        TimeStepLimit {
            value: self.params.safety * stable,
            stable,
            reason: if stretched { "elastic waves (stretched)" } else { "elastic waves" },
            particle: Some(if stretched {
                particle
            } else {
                self.rest.fastest.min(self.rest_position.len().saturating_sub(1))
            }),
        }
    }
}
