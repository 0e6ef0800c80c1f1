//! Materials that change between steps.

use super::Reference;
use crate::material::{Lame, MaterialChange};
use crate::particles::Particles;

impl Reference {
    /// The rest shape stays; stresses, forces and the stable step follow.
    pub(super) fn change(&mut self, particles: &Particles, body: u32, change: &MaterialChange) {
        let bodies = &particles.body;
        if let Some(viscosity) = change.viscosity {
            self.viscosity.set(viscosity, bodies, body);
        }
        if let (Some(modulus), Some(ratio)) = (change.youngs_modulus, change.poisson_ratio) {
            let lame = Lame::from_moduli(modulus, ratio);
            self.lame.set(lame, bodies, body);
            self.youngs_modulus.set(modulus, bodies, body);
            self.stiffness.set(body, lame);
            self.find_rest_particles(particles);
            self.forces_at(&particles.position);
        }
    }
}
