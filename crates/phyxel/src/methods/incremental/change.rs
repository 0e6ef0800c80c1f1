//! Materials that change between steps.

use super::Incremental;
use crate::material::{Lame, MaterialChange, PlasticityChange};
use crate::particles::Particles;

impl Incremental {
    /// The elastic deformation stays, and stresses change with the moduli. Forces, which are state, become those of the
    /// present shape, after the flow of the last step.
    pub(super) fn change(&mut self, particles: &Particles, body: u32, change: &MaterialChange) {
        let bodies = &particles.body;
        if let Some(viscosity) = change.viscosity {
            self.viscosity.set(viscosity, bodies, body);
        }
        if let Some(flow) = &change.plasticity {
            self.plasticity.change(flow, bodies, body);
            if let PlasticityChange::On { measure: Some(measure), .. } = flow {
                self.bodies[body as usize].measure = *measure;
            }
        }
        if let (Some(modulus), Some(ratio)) = (change.youngs_modulus, change.poisson_ratio) {
            let lame = Lame::from_moduli(modulus, ratio);
            self.lame.set(lame, bodies, body);
            self.youngs_modulus.set(modulus, bodies, body);
            self.stiffness.set(body, lame);
        }
        if change.youngs_modulus.is_some() || change.plasticity.is_some() {
            // the same lists, with the stiffness and the repulsion of their bonds
            self.find_lists(particles);
            self.forces_at(particles);
        }
    }
}
