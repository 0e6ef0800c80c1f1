//! Changes of materials between steps.

use super::{Embedded, Flow};
use crate::material::{LameParameter, MaterialChange};
use crate::particles::Particles;

impl Embedded {
    /// Follows a change of material. Rest bonds stay, and stresses change with the moduli. Forces are state; they are
    /// recomputed from the present bonds, after the flow of the last step.
    pub(super) fn change(&mut self, particles: &Particles, body: u32, change: &MaterialChange) {
        if let Some(flow) = change.flow {
            self.bodies[body as usize].measure = flow.measure();
            self.flows.fill(Flow::NONE); // where nothing can flow any more, nobody writes it
        }
        if change.is_elastic() {
            self.lame = LameParameter::new(&particles.material, particles.len());
            self.stiffness.update(particles, &self.lame, body);
            self.compute_bases(particles);
            self.pace.time_scale_ratio = self.low_time_scale(particles) / self.rest.time_scale;
            self.forces_at(&particles.position, particles);
        }
    }
}
