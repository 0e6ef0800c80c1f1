//! Addition of particles while the method runs.

use super::Incremental;
use crate::forces::repulsion;
use crate::math::{Mat3, Real, Vec3};
use crate::methods::MethodError;
use crate::particles::Particles;

impl Incremental {
    /// Adds unstressed particles; they weld to particles near them.
    pub(super) fn be_born(&mut self, particles: &Particles, first: usize) -> Result<(), MethodError> {
        if self.has_stored_rest() {
            let body = particles.body.get(first).copied();
            let message =
                "a stored rest shape takes no particles while it runs: use `history = \"composed\"`";
            return Err(MethodError { body, message: message.into() });
        }
        let n = particles.len();
        self.gradient.resize(n, Mat3::IDENTITY);
        self.force.resize(n, Vec3::ZERO);
        if self.has_spans() {
            self.base.resize(n, Mat3::IDENTITY);
        }
        for column in [
            &mut self.hardening,
            &mut self.shear_stress,
            &mut self.plastic_strain,
            &mut self.plastic_work,
            &mut self.flow_fraction,
            &mut self.strain_since,
        ] {
            column.resize(n, 0.0);
        }
        for radius in &particles.radius[self.room.len()..] {
            self.room.push(repulsion::room(Real::INFINITY, 2.0 * radius));
        }
        self.follow_particles(particles);
        self.before.clone_from(&particles.position);
        self.renew_all_lists(particles);
        self.forces_at(particles);
        Ok(())
    }
}
