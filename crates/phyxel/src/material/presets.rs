//! Materials by name, with the sources of their numbers.

use super::{Material, Plasticity, Varying};
use crate::math::Real;

/// A material that scenes can build on.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// As in `based_on`.
    pub name: &'static str,
    /// [kg/m³]
    pub density: Real,
    /// E [Pa]
    pub youngs_modulus: Real,
    /// ν
    pub poisson_ratio: Real,
    /// η [Pa s]
    pub viscosity: Real,
    /// P_Y [Pa], ν [1/s] and K; `None` for what only springs back.
    pub plasticity: Option<(Real, Real, Real)>,
    /// Where the numbers come from, and which of them are choices.
    pub source: &'static str,
}

impl Preset {
    /// The preset of a name.
    pub fn find(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.name == name)
    }

    /// As a material.
    pub fn material(&self) -> Material {
        Material {
            density: self.density.into(),
            youngs_modulus: self.youngs_modulus.into(),
            poisson_ratio: self.poisson_ratio.into(),
            viscosity: self.viscosity.into(),
            law: None,
            plasticity: self.plasticity.map(|(yield_stress, flow_rate, hardening)| Plasticity {
                yield_stress: yield_stress.into(),
                flow_rate: flow_rate.into(),
                hardening: Varying::from(hardening),
                ..Plasticity::default()
            }),
        }
    }
}

/// All presets, in the order in which they are listed.
pub const PRESETS: &[Preset] = &[];
