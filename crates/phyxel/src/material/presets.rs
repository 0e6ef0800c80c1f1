//! Materials by name, with the sources of their numbers.

use super::{Material, Plasticity, Varying};
use crate::math::Real;

/// A material that scenes can build on.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// As in `based_on`.
    pub name: &'static str,
    /// (kg/m³)
    pub density: Real,
    /// E (Pa)
    pub youngs_modulus: Real,
    /// ν
    pub poisson_ratio: Real,
    /// η (Pa s)
    pub viscosity: Real,
    /// P_Y (Pa), ν (1/s) and K; `None` for what only springs back.
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
///
/// Hardening K is dY/dα with α ≈ E ε_p: the slope of the flow stress over plastic strain, divided by E. Viscosities are
/// choices throughout: they damp ringing within some milliseconds; slow flow is what plasticity is for.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "modelling clay",
        density: 1800.0,
        youngs_modulus: 2e6,
        poisson_ratio: 0.45,
        viscosity: 200.0,
        plasticity: Some((120e3, 100.0, 0.02)),
        source: "Oil-based clay at room temperature. Yield stress and hardening: order of magnitude of the compression \
                 tests of Sofuoglu and Rasty 2000, Tribology International 33, 523, where even colours differ. Density, E, \
                 Poisson's ratio, viscosity and flow rate are choices.",
    },
    Preset {
        name: "bread dough",
        density: 1200.0,
        youngs_modulus: 15e3,
        poisson_ratio: 0.45,
        viscosity: 50.0,
        plasticity: Some((500.0, 10.0, 0.1)),
        source: "Wheat dough before it rises. E is three times a shear modulus of 5 kPa, the order of magnitude in Ng, \
                 McKinley and Padmanabhan 2006, Applied Rheology 16, and in the review of Dobraszczyk and Morgenstern \
                 2003, J. Cereal Science 38, 229; both find strain hardening. Density, Poisson's ratio, viscosity, yield \
                 stress, flow rate and the amount of hardening are choices.",
    },
    Preset {
        name: "chewing gum",
        density: 1150.0,
        youngs_modulus: 100e3,
        poisson_ratio: 0.45,
        viscosity: 200.0,
        plasticity: Some((1e3, 20.0, 0.1)),
        source: "Chewed and warm. After Martinetti et al. 2014, J. Rheology 58, 821: a gel that is linear up to about 1 % \
                 of strain and recovers only in part from stresses of 1 kPa, and hardens when pulled. E is an order of \
                 magnitude; density, Poisson's ratio, viscosity, flow rate and the amount of hardening are choices.",
    },
    Preset {
        name: "rubber",
        density: 930.0,
        youngs_modulus: 1.5e6,
        poisson_ratio: 0.49,
        viscosity: 100.0,
        plasticity: None,
        source: "Vulcanised natural rubber without filler: Treloar 1975, The Physics of Rubber Elasticity (shear modulus \
                 0.4 to 0.5 MPa); Ashby, Materials Selection in Mechanical Design (density). True Poisson's ratios are \
                 over 0.499; 0.49 is the limit here. Viscosity is a choice.",
    },
    Preset {
        name: "wax",
        density: 960.0,
        youngs_modulus: 50e6,
        poisson_ratio: 0.45,
        viscosity: 2e3,
        plasticity: Some((1.5e6, 100.0, 0.0)),
        source: "Beeswax at room temperature. E and yield stress: order of magnitude of compression tests, as in Buchwald \
                 et al. 2006, J. Experimental Biology 209, 3984. Density: pharmacopoeias (0.96). Poisson's ratio, \
                 viscosity and flow rate are choices, and the softening after the yield point is left out.",
    },
    Preset {
        name: "lead",
        density: 11340.0,
        youngs_modulus: 16e9,
        poisson_ratio: 0.44,
        viscosity: 10e3,
        plasticity: Some((5.5e6, 400.0, 0.0015)),
        source: "Pure soft lead. Density, E and Poisson's ratio: Cardarelli, Materials Handbook. Yield stress: \
                 handbooks have 5.5 MPa (soft) to 11 MPa (Callister, Materials Science and Engineering). Hardening is \
                 chosen to reach a strength of 17 MPa at a strain of one half. Viscosity and flow rate are choices. \
                 Stiff: a body with a spacing of 1 cm takes steps of some microseconds.",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_have_names_of_their_own_sources_and_sensible_numbers() {
        for (k, preset) in PRESETS.iter().enumerate() {
            let name = preset.name;
            assert_eq!(Preset::find(name).map(|found| found.name), Some(name));
            assert!(PRESETS[..k].iter().all(|other| other.name != name), "{name}");
            assert!((500.0..20e3).contains(&preset.density), "{name}");
            assert!((0.0..=0.49).contains(&preset.poisson_ratio) && preset.viscosity >= 0.0, "{name}");
            assert!(preset.source.contains("choice") && preset.source.ends_with('.'), "{name}");
            if let Some((yield_stress, flow_rate, hardening)) = preset.plasticity {
                // they yield after some strain, and before they are torn
                assert!((1e-4..0.2).contains(&(yield_stress / preset.youngs_modulus)), "{name}");
                assert!((10.0..=400.0).contains(&flow_rate) && (0.0..1.0).contains(&hardening), "{name}");
            }
        }
        assert!(Preset::find("honey").is_none());
    }
}
