//! Materials that change between steps.

use super::Embedded;
use crate::material::{Lame, MaterialChange, PlasticityChange};
use crate::particles::Particles;

impl Embedded {
    /// Rest bonds stay, and stresses change with the moduli. Forces, which are state, become those of the present bonds,
    /// after the flow of the last step.
    pub(super) fn change(&mut self, particles: &Particles, body: u32, change: &MaterialChange) {
        let bodies = &particles.body;
        if let Some(viscosity) = change.viscosity {
            self.matter.viscosity.set(viscosity, bodies, body);
        }
        if let Some(flow) = &change.plasticity {
            self.matter.plasticity.change(flow, bodies, body);
            if let PlasticityChange::On { measure: Some(measure), .. } = flow {
                self.bodies[body as usize].measure = *measure;
            }
        }
        if let (Some(modulus), Some(ratio)) = (change.youngs_modulus, change.poisson_ratio) {
            let lame = Lame::from_moduli(modulus, ratio);
            self.matter.lame.set(lame, bodies, body);
            self.stiffness.set(body, lame);
            self.compute_bases(particles);
            self.pace.time_scale_ratio = self.low_time_scale(particles) / self.rest.time_scale;
            self.forces_at(&particles.position, bodies);
        }
    }
}
