//! Largest stable step of the leapfrog scheme, from the highest frequency of the undeformed bodies and their stretch.

use super::Reference;
use crate::material::Law;
use crate::math::Real;
use crate::methods::TimeStepLimit;
use crate::methods::explicit::{MISSED, highest_frequency, stiffening};
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

    /// Returns 2/ω_max, shortened where the present deformation makes matter stiffer.
    pub(super) fn time_step_limit(&self, _particles: &Particles) -> TimeStepLimit {
        let (lame, gradients) = (&self.lame, &self.gradients);
        let of = |i: usize| Law::StVenantKirchhoff.stiffening(lame.at(i), gradients[i]);
        let (shortening, particle) = stiffening(gradients.len(), of);
        let rest_limit = self.stiffness.factor() * 2.0 / (self.rest.highest_frequency * (1.0 + MISSED));
        let stable = rest_limit * shortening;
        let stretched = shortening < 0.95;
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
