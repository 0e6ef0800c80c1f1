//! The sliders: which material parameters of a live run can be changed, in which range, and what they are now.

use phyxel::material::{Material, MaterialChange, PlasticityChange, Varying};
use phyxel::methods::find_method;
use phyxel::world::World;
use phyxel_io::results::BodyInfo;
use serde_json::{Value, json};

/// A slider reaches from the value at the start divided by this to the value times this.
const REACH: f64 = 100.0;
/// Viscosity of matter without any over its modulus: the middle of the slider (s).
const VISCOUS_TIME: f64 = 1e-3;
/// Yield stress over modulus of matter that does not flow: the middle of the slider.
const YIELD_STRAIN: f64 = 0.01;
/// Flow rate of matter that does not flow: the middle of the slider (1/s).
const FLOW_RATE: f64 = 20.0;
/// Largest Poisson's ratio.
const LARGEST_RATIO: f64 = 0.49;

/// What a slider changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    YoungsModulus,
    PoissonRatio,
    Viscosity,
    Plasticity,
    YieldStress,
    FlowRate,
}

impl Key {
    const ALL: [Self; 6] = [
        Self::YoungsModulus,
        Self::PoissonRatio,
        Self::Viscosity,
        Self::Plasticity,
        Self::YieldStress,
        Self::FlowRate,
    ];

    /// Key, label, unit and scale.
    fn words(self) -> [&'static str; 4] {
        match self {
            Self::YoungsModulus => ["youngs_modulus", "Young's modulus", "Pa", "log"],
            Self::PoissonRatio => ["poisson_ratio", "Poisson's ratio", "", "linear"],
            Self::Viscosity => ["viscosity", "Viscosity", "Pa.s", "log"],
            Self::Plasticity => ["plasticity", "Plastic", "", "switch"],
            Self::YieldStress => ["yield_stress", "Yield stress", "Pa", "log"],
            Self::FlowRate => ["flow_rate", "Flow rate", "1/s", "log"],
        }
    }

    fn is_plastic(self) -> bool {
        matches!(self, Self::Plasticity | Self::YieldStress | Self::FlowRate)
    }

    /// The number on the slider. Of matter that does not flow there is none.
    fn value(self, material: &Material) -> Option<f64> {
        let plasticity = material.plasticity.as_ref();
        match self {
            Self::YoungsModulus => Some(middle(&material.youngs_modulus)),
            Self::PoissonRatio => Some(middle(&material.poisson_ratio)),
            Self::Viscosity => Some(middle(&material.viscosity)),
            Self::Plasticity => Some(if plasticity.is_some() { 1.0 } else { 0.0 }),
            Self::YieldStress => plasticity.map(|plasticity| middle(&plasticity.yield_stress)),
            Self::FlowRate => plasticity.map(|plasticity| middle(&plasticity.flow_rate)),
        }
    }

    /// Whether it has more than one value over the body.
    fn varies(self, material: &Material) -> bool {
        let plasticity = material.plasticity.as_ref();
        let varying = match self {
            Self::YoungsModulus => Some(&material.youngs_modulus),
            Self::PoissonRatio => Some(&material.poisson_ratio),
            Self::Viscosity => Some(&material.viscosity),
            Self::Plasticity => None,
            Self::YieldStress => plasticity.map(|plasticity| &plasticity.yield_stress),
            Self::FlowRate => plasticity.map(|plasticity| &plasticity.flow_rate),
        };
        varying.is_some_and(|varying| !is_uniform(varying))
    }

    /// What the slider's range is about if there is no number, or if it is 0.
    fn natural(self, material: &Material) -> f64 {
        let modulus = middle(&material.youngs_modulus);
        match self {
            Self::Viscosity => modulus * VISCOUS_TIME,
            Self::YieldStress => modulus * YIELD_STRAIN,
            Self::FlowRate => FLOW_RATE,
            Self::YoungsModulus | Self::PoissonRatio | Self::Plasticity => 1.0,
        }
    }

    /// Whether it can change on its own.
    fn is_free(self, material: &Material) -> bool {
        match self {
            Self::YoungsModulus => is_uniform(&material.poisson_ratio),
            Self::PoissonRatio => is_uniform(&material.youngs_modulus),
            _ => true,
        }
    }
}

fn is_uniform(varying: &Varying) -> bool {
    matches!(varying, Varying::Uniform(_))
}

/// Of a parameter that varies over the body: half way between its ends.
fn middle(varying: &Varying) -> f64 {
    let (low, high) = varying.range();
    if low == high { low } else { 0.5 * (low + high) }
}

/// A slider.
#[derive(Debug)]
struct Slider {
    body: String,
    key: Key,
    low: f64,
    high: f64,
    /// The last number, also while the matter does not flow.
    last: f64,
}

/// All sliders of a run.
#[derive(Debug)]
pub(super) struct Panel {
    sliders: Vec<Slider>,
}

impl Panel {
    /// Sliders for the bodies of a world; their ranges stay.
    pub(super) fn new(world: &World, bodies: &[BodyInfo]) -> Self {
        let mut sliders = Vec::new();
        for body in bodies {
            let Some(material) = world.material(&body.name) else { continue };
            let flows = find_method(&body.method).is_some_and(|entry| entry.abilities.flows);
            let keys = Key::ALL.into_iter().filter(|key| flows || !key.is_plastic());
            for key in keys.filter(|key| key.is_free(material)) {
                let last = key.value(material).unwrap_or_else(|| key.natural(material));
                let about = if last > 0.0 && last.is_finite() { last } else { key.natural(material) };
                let (low, high) = match key {
                    Key::PoissonRatio => (0.0, LARGEST_RATIO),
                    Key::Plasticity => (0.0, 1.0),
                    _ => (about / REACH, about * REACH),
                };
                sliders.push(Slider { body: body.name.clone(), key, low, high, last });
            }
        }
        Self { sliders }
    }

    /// For pages.
    pub(super) fn to_json(&self, world: &World) -> Value {
        let entry = |slider: &Slider| {
            let [key, label, unit, scale] = slider.key.words();
            let material = world.material(&slider.body);
            let varies = material.is_some_and(|material| slider.key.varies(material));
            let value = material.and_then(|material| slider.key.value(material)).unwrap_or(slider.last);
            json!({
                "body": slider.body,
                "key": key,
                "label": label,
                "unit": unit,
                "value": if varies { Value::Null } else { value.into() },
                "low": slider.low,
                "high": slider.high,
                "scale": scale,
            })
        };
        self.sliders.iter().map(entry).collect()
    }

    /// What a slider that was moved does.
    ///
    /// # Errors
    /// When there is no such slider, or it does not reach so far.
    pub(super) fn change(&mut self, body: &str, key: &str, value: f64) -> Result<MaterialChange, String> {
        let is_it = |slider: &&mut Slider| slider.body == body && slider.key.words()[0] == key;
        let slider = self.sliders.iter_mut().find(is_it).ok_or("there is no such parameter to change")?;
        let (low, high) = (slider.low, slider.high);
        // ends that a page has rounded are meant
        let slack = 1e-6 * high;
        let is_none = slider.key == Key::Viscosity && value == 0.0;
        if !is_none && !(low - slack.min(low)..=high + slack).contains(&value) {
            return Err(format!("{key} goes from {low} to {high}"));
        }
        slider.last = value;
        let change = MaterialChange::default();
        Ok(match slider.key {
            Key::YoungsModulus => MaterialChange { youngs_modulus: Some(value), ..change },
            Key::PoissonRatio => MaterialChange { poisson_ratio: Some(value.min(LARGEST_RATIO)), ..change },
            Key::Viscosity => MaterialChange { viscosity: Some(value), ..change },
            Key::Plasticity if value < 0.5 => {
                MaterialChange { plasticity: Some(PlasticityChange::Off), ..change }
            }
            Key::Plasticity | Key::YieldStress | Key::FlowRate => {
                MaterialChange { plasticity: Some(self.flow_of(body)), ..change }
            }
        })
    }

    /// Matter flows as its sliders stand.
    fn flow_of(&self, body: &str) -> PlasticityChange {
        let last = |key: Key| {
            self.sliders
                .iter()
                .find(|slider| slider.body == body && slider.key == key)
                .map(|slider| slider.last)
        };
        PlasticityChange::On {
            yield_stress: last(Key::YieldStress),
            flow_rate: last(Key::FlowRate),
            hardening: None,
            thickening_stress: None,
            measure: None,
        }
    }
}
