//! Material presets, with the sources of their numbers.

use super::{Flow, Material, Property, YieldMeasure};
use crate::math::Real;

/// A named material that scenes can use as a base.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Name of the preset, as in `based_on`.
    pub name: &'static str,
    /// Values of properties; the material flows if properties of a flow are among them.
    pub values: &'static [(Property, Real)],
    /// Sources of the numbers, and a list of those that are choices without a source.
    pub source: &'static str,
}

impl Preset {
    /// Returns the preset with a name.
    pub fn find(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.name == name)
    }

    /// Returns the value of a property, if the preset has one.
    pub fn get(&self, property: Property) -> Option<Real> {
        self.values.iter().find(|value| value.0 == property).map(|value| value.1)
    }

    /// Returns true if the material of the preset flows.
    pub fn flows(&self) -> bool {
        self.get(Property::FlowRate).is_some()
    }

    /// Returns the material of the preset.
    pub fn material(&self) -> Material {
        let flow = if self.flows() { Flow::Creep(YieldMeasure::default()) } else { Flow::None };
        let material = Material { flow, ..Material::default() };
        self.values.iter().fold(material, |material, &(property, value)| material.with(property, value))
    }
}

/// All presets, in the order in which they are listed.
///
/// Hardening K is dY/dα with α ≈ E ε_p: the slope of the flow stress over plastic strain, divided by E. All viscosities
/// are choices: they damp ringing within some milliseconds; slow flow is modelled by plasticity.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "modelling clay",
        values: &[
            (Property::Density, 1800.0),
            (Property::YoungsModulus, 2e6),
            (Property::PoissonRatio, 0.45),
            (Property::Viscosity, 200.0),
            (Property::YieldStress, 120e3),
            (Property::FlowRate, 100.0),
            (Property::Hardening, 0.02),
        ],
        source: "Oil-based clay at room temperature. Yield stress and hardening: order of magnitude of the compression \
                 tests of Sofuoglu and Rasty 2000, Tribology International 33, 523, where even colours differ. Density, E, \
                 Poisson's ratio, viscosity and flow rate are choices.",
    },
    Preset {
        name: "bread dough",
        values: &[
            (Property::Density, 1200.0),
            (Property::YoungsModulus, 15e3),
            (Property::PoissonRatio, 0.45),
            (Property::Viscosity, 50.0),
            (Property::YieldStress, 500.0),
            (Property::FlowRate, 10.0),
            (Property::Hardening, 0.1),
        ],
        source: "Wheat dough before it rises. E is three times a shear modulus of 5 kPa, the order of magnitude in Ng, \
                 McKinley and Padmanabhan 2006, Applied Rheology 16, and in the review of Dobraszczyk and Morgenstern \
                 2003, J. Cereal Science 38, 229; both find strain hardening. Density, Poisson's ratio, viscosity, yield \
                 stress, flow rate and the amount of hardening are choices.",
    },
    Preset {
        name: "chewing gum",
        values: &[
            (Property::Density, 1150.0),
            (Property::YoungsModulus, 100e3),
            (Property::PoissonRatio, 0.45),
            (Property::Viscosity, 200.0),
            (Property::YieldStress, 1e3),
            (Property::FlowRate, 20.0),
            (Property::Hardening, 0.1),
        ],
        source: "Chewed and warm. After Martinetti et al. 2014, J. Rheology 58, 821: a gel that is linear up to about 1 % \
                 of strain and recovers only in part from stresses of 1 kPa, and hardens when pulled. E is an order of \
                 magnitude; density, Poisson's ratio, viscosity, flow rate and the amount of hardening are choices.",
    },
    Preset {
        name: "rubber",
        values: &[
            (Property::Density, 930.0),
            (Property::YoungsModulus, 1.5e6),
            (Property::PoissonRatio, 0.49),
            (Property::Viscosity, 100.0),
        ],
        source: "Vulcanised natural rubber without filler: Treloar 1975, The Physics of Rubber Elasticity (shear modulus \
                 0.4 to 0.5 MPa); Ashby, Materials Selection in Mechanical Design (density). True Poisson's ratios are \
                 over 0.499; 0.49 is the limit here. Viscosity is a choice.",
    },
    Preset {
        name: "wax",
        values: &[
            (Property::Density, 960.0),
            (Property::YoungsModulus, 50e6),
            (Property::PoissonRatio, 0.45),
            (Property::Viscosity, 2e3),
            (Property::YieldStress, 1.5e6),
            (Property::FlowRate, 100.0),
            (Property::Hardening, 0.0),
        ],
        source: "Beeswax at room temperature. E and yield stress: order of magnitude of compression tests, as in Buchwald \
                 et al. 2006, J. Experimental Biology 209, 3984. Density: pharmacopoeias (0.96). Poisson's ratio, \
                 viscosity and flow rate are choices, and the softening after the yield point is left out.",
    },
    Preset {
        name: "lead",
        values: &[
            (Property::Density, 11340.0),
            (Property::YoungsModulus, 16e9),
            (Property::PoissonRatio, 0.44),
            (Property::Viscosity, 10e3),
            (Property::YieldStress, 5.5e6),
            (Property::FlowRate, 400.0),
            (Property::Hardening, 0.0015),
        ],
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
            let value = |property: Property| preset.get(property).unwrap_or(property.info().absent);
            for &(property, value) in preset.values {
                assert!(property.info().range.contains(value), "{name}: {}", property.info().key);
            }
            assert!((500.0..20e3).contains(&value(Property::Density)), "{name}");
            assert!(preset.source.contains("choice") && preset.source.ends_with('.'), "{name}");
            if preset.flows() {
                // presets yield at some strain, and before they are torn
                let strain = value(Property::YieldStress) / value(Property::YoungsModulus);
                assert!((1e-4..0.2).contains(&strain), "{name}");
                assert!((10.0..=400.0).contains(&value(Property::FlowRate)), "{name}");
                assert!((0.0..1.0).contains(&value(Property::Hardening)), "{name}");
            }
        }
        assert!(Preset::find("honey").is_none());
    }
}
