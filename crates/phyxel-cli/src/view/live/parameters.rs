//! Sliders of a live run: its changeable material parameters, their ranges and current values.

use phyxel::material::{Flow, Material, MaterialChange, Part, Property, Varying};
use phyxel::math::Range;
use phyxel::methods::find_method;
use phyxel::world::World;
use phyxel_io::results::BodyInfo;
use serde_json::{Value, json};

/// Factor by which a slider reaches below and above the value at the start.
const REACH: f64 = 100.0;
/// Ratio of viscosity to modulus in the middle of the slider for matter without viscosity (s).
const VISCOUS_TIME: f64 = 1e-3;
/// Ratio of yield stress to modulus in the middle of the slider for matter that does not flow.
const YIELD_STRAIN: f64 = 0.01;
/// Flow rate in the middle of the slider for matter that does not flow (1/s).
const FLOW_RATE: f64 = 20.0;

/// Parameter that a slider changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    /// A property of the material.
    Scalar(Property),
    /// Switches the flow on and off.
    Plasticity,
}

impl Key {
    const ALL: [Self; 6] = [
        Self::Scalar(Property::YoungsModulus),
        Self::Scalar(Property::PoissonRatio),
        Self::Scalar(Property::Viscosity),
        Self::Plasticity,
        Self::Scalar(Property::YieldStress),
        Self::Scalar(Property::FlowRate),
    ];

    /// Key in scenes and in requests of pages.
    fn name(self) -> &'static str {
        match self {
            Self::Scalar(property) => property.info().key,
            Self::Plasticity => "plasticity",
        }
    }

    /// Label, unit and scale.
    fn words(self) -> (String, &'static str, &'static str) {
        let Self::Scalar(property) = self else { return ("Plastic".into(), "", "switch") };
        let info = property.info();
        let (first, rest) = info.name.split_at(1);
        let scale = if info.range.max.is_some() { "linear" } else { "log" };
        (first.to_uppercase() + rest, info.unit_text(), scale)
    }

    fn is_plastic(self) -> bool {
        match self {
            Self::Scalar(property) => property.info().part == Part::Creep,
            Self::Plasticity => true,
        }
    }

    /// Returns the number on the slider; `None` for plastic parameters of matter that does not flow.
    fn value(self, material: &Material) -> Option<f64> {
        match self {
            Self::Scalar(property) => material.flow.has(property).then(|| middle(&material[property])),
            Self::Plasticity => Some(if material.flow == Flow::None { 0.0 } else { 1.0 }),
        }
    }

    /// Returns true if the parameter has more than one value over the body.
    fn varies(self, material: &Material) -> bool {
        match self {
            Self::Scalar(property) => material.flow.has(property) && material[property].uniform().is_none(),
            Self::Plasticity => false,
        }
    }

    /// Returns the middle of the slider's range if there is no number, or if it is 0.
    fn natural(self, material: &Material) -> f64 {
        let modulus = middle(&material[Property::YoungsModulus]);
        match self {
            Self::Scalar(Property::Viscosity) => modulus * VISCOUS_TIME,
            Self::Scalar(Property::YieldStress) => modulus * YIELD_STRAIN,
            Self::Scalar(Property::FlowRate) => FLOW_RATE,
            _ => 1.0,
        }
    }

    /// Returns the ends of the slider; `about` is a value in its middle.
    fn range(self, about: f64) -> (f64, f64) {
        match self {
            Self::Plasticity => (0.0, 1.0),
            Self::Scalar(property) => match property.info().range {
                Range { min: Some((low, _)), max: Some((high, _)) } => (low, high),
                _ => (about / REACH, about * REACH),
            },
        }
    }

    /// Returns true if the parameter can change independently.
    fn is_free(self, material: &Material) -> bool {
        let is_uniform = |property: Property| material[property].uniform().is_some();
        match self {
            Self::Scalar(Property::YoungsModulus) => is_uniform(Property::PoissonRatio),
            Self::Scalar(Property::PoissonRatio) => is_uniform(Property::YoungsModulus),
            _ => true,
        }
    }
}

/// Returns the middle between the ends of a parameter's range over the body.
fn middle(varying: &Varying) -> f64 {
    let (low, high) = varying.range();
    if low == high { low } else { 0.5 * (low + high) }
}

/// Slider for one parameter of a body.
#[derive(Debug)]
struct Slider {
    body: String,
    key: Key,
    low: f64,
    high: f64,
    /// Last number, which is kept while the matter does not flow.
    last: f64,
}

/// All sliders of a run.
#[derive(Debug)]
pub(super) struct Panel {
    sliders: Vec<Slider>,
}

impl Panel {
    /// Creates sliders for the bodies of a world; their ranges do not change later.
    pub(super) fn new(world: &World, bodies: &[BodyInfo]) -> Self {
        let mut sliders = Vec::new();
        for body in bodies {
            let Some(material) = world.material(&body.name) else { continue };
            let flows = find_method(&body.method).is_some_and(|entry| !entry.abilities.flows.is_empty());
            let keys = Key::ALL.into_iter().filter(|key| flows || !key.is_plastic());
            for key in keys.filter(|key| key.is_free(material)) {
                let last = key.value(material).unwrap_or_else(|| key.natural(material));
                let about = if last > 0.0 && last.is_finite() { last } else { key.natural(material) };
                let (low, high) = key.range(about);
                sliders.push(Slider { body: body.name.clone(), key, low, high, last });
            }
        }
        Self { sliders }
    }

    /// Returns the sliders as JSON for pages.
    pub(super) fn to_json(&self, world: &World) -> Value {
        let entry = |slider: &Slider| {
            let (label, unit, scale) = slider.key.words();
            let material = world.material(&slider.body);
            let varies = material.is_some_and(|material| slider.key.varies(material));
            let value = material.and_then(|material| slider.key.value(material)).unwrap_or(slider.last);
            json!({
                "body": slider.body,
                "key": slider.key.name(),
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

    /// Returns the change of the material for a moved slider.
    ///
    /// # Errors
    /// Fails if there is no such slider, or the value is out of its range.
    pub(super) fn change(&mut self, body: &str, key: &str, value: f64) -> Result<MaterialChange, String> {
        let is_it = |slider: &&mut Slider| slider.body == body && slider.key.name() == key;
        let slider = self.sliders.iter_mut().find(is_it).ok_or("there is no such parameter to change")?;
        let (low, high) = (slider.low, slider.high);
        // an end of the range that a page has rounded is valid
        let slack = 1e-6 * high;
        let is_none = slider.key == Key::Scalar(Property::Viscosity) && value == 0.0;
        if !is_none && !(low - slack.min(low)..=high + slack).contains(&value) {
            return Err(format!("{key} goes from {low} to {high}"));
        }
        slider.last = value;
        let change = MaterialChange::default();
        Ok(match slider.key {
            Key::Scalar(property) if !slider.key.is_plastic() => {
                let value = property.info().range.max.map_or(value, |(most, _)| value.min(most));
                change.with(property, value)
            }
            Key::Plasticity if value < 0.5 => change.flowing(Flow::None),
            _ => self.flow_of(body),
        })
    }

    /// Returns the flow that the sliders of a body stand for.
    fn flow_of(&self, body: &str) -> MaterialChange {
        let own = self.sliders.iter().filter(|slider| slider.body == body && slider.key.is_plastic());
        own.fold(MaterialChange::default(), |change, slider| match slider.key {
            Key::Scalar(property) => change.with(property, slider.last),
            Key::Plasticity => change,
        })
    }
}
