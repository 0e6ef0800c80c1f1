//! Forces that several methods share: fields that act on every particle, viscosity, repulsion, and the pressure of SPH.

mod fields;
pub mod repulsion;
mod sph_pressure;
mod sph_viscosity;
#[cfg(test)]
mod tests;
mod viscosity;

pub use fields::{Field, FieldPoint, Fields, ForceField};
pub use sph_pressure::SphPressure;
pub use sph_viscosity::{SphDamping, SphViscosity};
pub use viscosity::{StrainRateDamping, Viscosity, ViscousBonds};

use crate::linear::Solved;
use crate::math::{Real, Vec3};

/// Damping of relative motion, prepared for the current shape.
pub trait Damping {
    /// Solves (M + Δt K) v' = M v for the velocities. `free` zeroes the inverse masses (1/kg) of fixed components.
    fn solve(
        &mut self,
        mass: &[Real],
        free: impl FnOnce(&mut [Vec3]),
        duration: Real,
        velocities: &mut [Vec3],
    ) -> Solved;

    /// Returns the forces −K v at the given velocities (N).
    fn forces(&mut self, velocities: &[Vec3]) -> &[Vec3];
}
