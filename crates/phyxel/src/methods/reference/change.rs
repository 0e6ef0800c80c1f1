//! Changes of materials between steps.

use super::Reference;
use crate::material::{LameParameter, MaterialChange};
use crate::particles::Particles;

impl Reference {
    /// Follows a change of material: the rest shape stays; stresses, forces and the stable step change.
    pub(super) fn change(&mut self, particles: &Particles, body: u32, change: &MaterialChange) {
        if change.is_elastic() {
            self.lame = LameParameter::new(&particles.material, particles.len());
            self.stiffness.update(particles, &self.lame, body);
            self.find_rest_particles(particles);
            self.forces_at(&particles.position);
        }
    }
}
