//! Changes of materials between steps.

use super::Incremental;
use crate::material::{LameParameter, MaterialChange};
use crate::particles::Particles;

impl Incremental {
    /// Follows a change of material. The elastic deformation stays, and stresses change with the moduli. Forces are
    /// state; they are recomputed from the present shape, after the flow of the last step.
    pub(super) fn change(&mut self, particles: &Particles, body: u32, change: &MaterialChange) {
        if let Some(flow) = change.flow {
            self.bodies[body as usize].measure = flow.measure();
        }
        if change.is_elastic() {
            self.lame = LameParameter::new(&particles.material, particles.len());
            self.stiffness.update(particles, &self.lame, body);
        }
        if change.is_elastic() || change.is_plastic() {
            // finds the same lists, with the new stiffness and repulsion of their bonds
            self.find_lists(particles);
            if self.has_spans() {
                self.restore_spans();
            }
            self.forces_at(particles);
        }
    }
}
