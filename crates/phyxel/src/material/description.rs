//! Materials as users describe them: scalars that may vary over a body, the elastic law, the kind of flow.

use super::{Law, YieldMeasure};
use crate::geometry::PlacedShape;
use crate::math::{Real, Vec3};
use crate::particles::{PROPERTIES, Parameter, Part, Properties, Property};
use std::ops::{Index, IndexMut};

/// A scalar that may vary over a body. Regions are shapes, or any type that describes them.
#[derive(Clone, Debug, PartialEq)]
pub enum Varying<Region = Box<PlacedShape>> {
    /// The same value everywhere.
    Uniform(Real),
    /// The value changes linearly over the body's extent along an axis.
    Along {
        /// Direction of the change.
        axis: Vec3,
        /// Value at the lower end.
        from: Real,
        /// Value at the upper end.
        to: Real,
    },
    /// One value inside a region at time 0, another outside.
    Inside {
        /// The region, in world coordinates.
        region: Region,
        /// Value inside.
        value: Real,
        /// Value outside.
        outside: Real,
    },
}

impl<Region> From<Real> for Varying<Region> {
    fn from(value: Real) -> Self {
        Self::Uniform(value)
    }
}

impl Varying {
    /// Computes the values at the given points of one body.
    pub fn resolve(&self, points: &[Vec3]) -> Parameter {
        match self {
            Self::Uniform(value) => Parameter::Uniform(*value),
            Self::Along { axis, from, to } => {
                let along = |p: &Vec3| p.dot(*axis);
                let low = points.iter().map(along).fold(Real::INFINITY, Real::min);
                let high = points.iter().map(along).fold(Real::NEG_INFINITY, Real::max);
                let length = if high > low { high - low } else { 1.0 };
                Parameter::Column(
                    points.iter().map(|p| from + (to - from) * (along(p) - low) / length).collect(),
                )
            }
            Self::Inside { region, value, outside } => Parameter::Column(
                points
                    .iter()
                    .map(|&p| if region.signed_distance(p) <= 0.0 { *value } else { *outside })
                    .collect(),
            ),
        }
    }
}

impl<Region> Varying<Region> {
    /// Returns the smallest and largest value that can occur.
    pub fn range(&self) -> (Real, Real) {
        let (a, b) = match *self {
            Self::Uniform(v) => (v, v),
            Self::Along { from, to, .. } => (from, to),
            Self::Inside { value, outside, .. } => (value, outside),
        };
        (a.min(b), a.max(b))
    }

    /// Returns the value if it is the same everywhere.
    pub fn uniform(&self) -> Option<Real> {
        if let Self::Uniform(value) = self { Some(*value) } else { None }
    }

    /// Returns the same scalar with regions of another type.
    pub fn map_region<Other>(&self, map: impl FnOnce(&Region) -> Other) -> Varying<Other> {
        match self {
            Self::Uniform(value) => Varying::Uniform(*value),
            Self::Along { axis, from, to } => Varying::Along { axis: *axis, from: *from, to: *to },
            Self::Inside { region, value, outside } => {
                Varying::Inside { region: map(region), value: *value, outside: *outside }
            }
        }
    }
}

/// Kind of plastic flow of a material. Its scalars are properties, see [`Flow::has`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flow {
    /// No flow: the material always springs back.
    #[default]
    None,
    /// Flow above a yield stress that keeps the volume; the measure selects the stress that is compared.
    Creep(YieldMeasure),
}

impl Flow {
    /// Returns true if a material with this kind of flow has the property.
    pub fn has(self, property: Property) -> bool {
        match property.info().part {
            Part::Matter => true,
            Part::Creep => matches!(self, Self::Creep(_)),
        }
    }

    /// Returns the measure of stress that is compared with the yield stress.
    pub fn measure(self) -> YieldMeasure {
        match self {
            Self::None => YieldMeasure::default(),
            Self::Creep(measure) => measure,
        }
    }
}

/// Material of a body, in SI units and true moduli. `material[Property::Viscosity]` is one of its scalars.
#[derive(Clone, Debug, PartialEq)]
pub struct Material<Region = Box<PlacedShape>> {
    /// Value of every property; properties of a flow that the material does not have are ignored.
    pub properties: Properties<Varying<Region>>,
    /// Elastic law; `None` selects the method's own law.
    pub law: Option<Law>,
    /// Kind of flow.
    pub flow: Flow,
}

impl<Region> Default for Material<Region> {
    /// Returns a soft jelly: 1000 kg/m³, 100 kPa, ν = 0.3, no viscosity.
    fn default() -> Self {
        let properties = Properties::from_fn(|info| info.absent.into());
        Self { properties, law: None, flow: Flow::None }
    }
}

impl<Region> Index<Property> for Material<Region> {
    type Output = Varying<Region>;

    fn index(&self, property: Property) -> &Self::Output {
        &self.properties[property]
    }
}

impl<Region> IndexMut<Property> for Material<Region> {
    fn index_mut(&mut self, property: Property) -> &mut Self::Output {
        &mut self.properties[property]
    }
}

impl<Region> Material<Region> {
    /// Creates an elastic material of 1000 kg/m³.
    pub fn elastic(youngs_modulus: Real, poisson_ratio: Real) -> Self {
        Self::default()
            .with(Property::YoungsModulus, youngs_modulus)
            .with(Property::PoissonRatio, poisson_ratio)
    }

    /// Returns the same material with another value of a property.
    #[must_use]
    pub fn with(mut self, property: Property, value: impl Into<Varying<Region>>) -> Self {
        self[property] = value.into();
        self
    }

    /// Returns the same material, flowing above a yield stress (Pa) at a rate (1/s).
    #[must_use]
    pub fn creeping(
        self,
        measure: YieldMeasure,
        yield_stress: impl Into<Varying<Region>>,
        flow_rate: impl Into<Varying<Region>>,
    ) -> Self {
        let flowing = Self { flow: Flow::Creep(measure), ..self };
        flowing.with(Property::YieldStress, yield_stress).with(Property::FlowRate, flow_rate)
    }

    /// Returns the properties that the material has, with their values.
    pub fn scalars(&self) -> impl Iterator<Item = (Property, &Varying<Region>)> {
        let own = PROPERTIES.iter().filter(|info| self.flow.has(info.property));
        own.map(|info| (info.property, &self[info.property]))
    }
}

impl<Region> Material<Region> {
    /// Returns the same material with regions of another type.
    pub fn map_region<Other>(&self, map: impl Fn(&Region) -> Other) -> Material<Other> {
        let properties = Properties::from_fn(|info| self[info.property].map_region(&map));
        Material { properties, law: self.law, flow: self.flow }
    }
}

impl Material {
    /// Computes the values of all properties at the given points of one body.
    pub fn resolve(&self, points: &[Vec3]) -> Properties<Parameter> {
        Properties::from_fn(|info| {
            if self.flow.has(info.property) {
                self[info.property].resolve(points)
            } else {
                Parameter::Uniform(info.absent)
            }
        })
    }
}
