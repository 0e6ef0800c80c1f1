//! Materials that change between steps.

use super::Reference;
use crate::material::{Lame, MaterialChange, PlasticityChange};
use crate::methods::MethodError;
use crate::particles::Particles;

impl Reference {
    /// Stresses, forces and the stable step follow from the rest shape, which stays.
    pub(super) fn change(
        &mut self,
        particles: &Particles,
        body: u32,
        change: &MaterialChange,
    ) -> Result<(), MethodError> {
        if !matches!(change.plasticity, None | Some(PlasticityChange::Off)) {
            let message = "the method \"reference\" cannot run plastic materials".into();
            return Err(MethodError { body: Some(body), message });
        }
        let bodies = &particles.body;
        if let Some(viscosity) = change.viscosity {
            self.viscosity.set(viscosity, bodies, body);
        }
        if let (Some(modulus), Some(ratio)) = (change.youngs_modulus, change.poisson_ratio) {
            self.lame.set(Lame::from_moduli(modulus, ratio), bodies, body);
            self.youngs_modulus.set(modulus, bodies, body);
            self.prepare(particles);
        }
        Ok(())
    }
}
