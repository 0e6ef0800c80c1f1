//! The single table of material properties: scenes, presets, events and particle columns iterate over it.

use super::{Carry, PARTICLES, Parameter, StateData, StateItem, StateVisitor};
use crate::math::{Range, Real};
use std::ops::{Index, IndexMut};

/// A scalar material property. Its number is its index in [`PROPERTIES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Property {
    /// Density ρ at rest (kg/m³).
    Density,
    /// Young's modulus E (Pa).
    YoungsModulus,
    /// Poisson's ratio ν (1).
    PoissonRatio,
    /// True shear viscosity η, acting on the rate of strain (Pa s).
    Viscosity,
    /// Yield stress P_Y: stress of a pulled bar above which it flows (Pa).
    YieldStress,
    /// Flow rate ν at which strain turns plastic far above the yield stress (1/s).
    FlowRate,
    /// Hardening K: yield stress gained per accumulated plastic stress; negative values soften (1).
    Hardening,
    /// Stress above which the flow rate falls with the stress; 0 switches this off (Pa). Gerszewski 2009 Fig. 1.
    ThickeningStress,
}

/// Part of a material that a property belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A property that every material has.
    Matter,
    /// A property of materials that flow above a yield stress.
    Creep,
}

/// Description of a property: one row of the table.
#[derive(Clone, Copy, Debug)]
pub struct PropertyInfo {
    /// Property that the row describes.
    pub property: Property,
    /// Key in scenes, and name of the column in checkpoints.
    pub key: &'static str,
    /// Name for use in sentences.
    pub name: &'static str,
    /// SI unit, "1" for none.
    pub unit: &'static str,
    /// Allowed values.
    pub range: Range,
    /// Default value in scenes; `None` if it must be given.
    pub default: Option<Real>,
    /// Value for materials that do not have the property, and for those of callers who do not name it.
    pub absent: Real,
    /// Part of the material that the property belongs to.
    pub part: Part,
    /// True if the property may change while a world runs.
    pub may_change: bool,
    /// Description for users, one sentence.
    pub about: &'static str,
}

/// All properties, in the order in which they are listed.
pub const PROPERTIES: [PropertyInfo; 8] = [
    PropertyInfo {
        property: Property::Density,
        key: "density",
        name: "density",
        unit: "kg/m3",
        range: Range::POSITIVE,
        default: None,
        absent: 1000.0,
        part: Part::Matter,
        may_change: false,
        about: "Mass per volume at rest.",
    },
    PropertyInfo {
        property: Property::YoungsModulus,
        key: "youngs_modulus",
        name: "Young's modulus",
        unit: "Pa",
        range: Range::POSITIVE,
        default: None,
        absent: 1e5,
        part: Part::Matter,
        may_change: true,
        about: "Stiffness: stress over strain of a bar that is pulled gently; the true one, whichever method runs it.",
    },
    PropertyInfo {
        property: Property::PoissonRatio,
        key: "poisson_ratio",
        name: "Poisson's ratio",
        unit: "1",
        // λ grows without bound towards 0.5; up to 0.49 explicit steps stay affordable
        range: Range::between(0.0, 0.49),
        default: None,
        absent: 0.3,
        part: Part::Matter,
        may_change: true,
        about: "How much a pulled bar thins: 0 not at all, towards 0.5 so much that it keeps its volume.",
    },
    PropertyInfo {
        property: Property::Viscosity,
        key: "viscosity",
        name: "viscosity",
        unit: "Pa.s",
        range: Range::NON_NEGATIVE,
        default: Some(0.0),
        absent: 0.0,
        part: Part::Matter,
        may_change: true,
        about: "Shear viscosity, from the rate of strain: it damps deformation and does not brake rigid motion.",
    },
    PropertyInfo {
        property: Property::YieldStress,
        key: "yield_stress",
        name: "yield stress",
        unit: "Pa",
        range: Range::NON_NEGATIVE,
        default: None,
        absent: Real::INFINITY,
        part: Part::Creep,
        may_change: true,
        about: "Stress of a pulled bar over which it flows.",
    },
    PropertyInfo {
        property: Property::FlowRate,
        key: "flow_rate",
        name: "flow rate",
        unit: "1/s",
        range: Range::NON_NEGATIVE,
        default: None,
        absent: 0.0,
        part: Part::Creep,
        may_change: true,
        about: "How quickly strain turns plastic far over the yield stress: 10 is slow like dough, 400 is at once, 0 never.",
    },
    PropertyInfo {
        property: Property::Hardening,
        key: "hardening",
        name: "hardening",
        unit: "1",
        // under −1 the yield stress would fall faster than the stress that flow removes
        range: Range { min: Some((-1.0, true)), max: None },
        default: Some(0.0),
        absent: 0.0,
        part: Part::Creep,
        may_change: true,
        about: "Yield stress gained per stress that flow has taken away so far; negative softens.",
    },
    PropertyInfo {
        property: Property::ThickeningStress,
        key: "thickening_stress",
        name: "thickening stress",
        unit: "Pa",
        range: Range::NON_NEGATIVE,
        default: Some(0.0),
        absent: 0.0,
        part: Part::Creep,
        may_change: true,
        about: "Divides the flow rate by the stress over this one, so that quick blows meet a solid and slow loads flow; 0 is off.",
    },
];

impl Property {
    /// Returns the table row of the property.
    pub const fn info(self) -> &'static PropertyInfo {
        &PROPERTIES[self as usize]
    }
}

impl PropertyInfo {
    /// Returns the unit as written after a number; empty if there is none.
    pub fn unit_text(&self) -> &'static str {
        if self.unit == "1" { "" } else { self.unit }
    }

    /// Returns the heading of a column of values: `yield stress [Pa]`.
    pub fn heading(&self) -> String {
        match self.unit_text() {
            "" => self.name.to_owned(),
            unit => format!("{} [{unit}]", self.name),
        }
    }
}

/// One value of type T for every property.
#[derive(Clone, Debug, PartialEq)]
pub struct Properties<T>([T; PROPERTIES.len()]);

impl<T> Properties<T> {
    /// Creates the value of every property by a function.
    pub fn from_fn(mut value: impl FnMut(&'static PropertyInfo) -> T) -> Self {
        Self(std::array::from_fn(|k| value(&PROPERTIES[k])))
    }

    /// Iterates over all properties with their values.
    pub fn iter(&self) -> impl Iterator<Item = (&'static PropertyInfo, &T)> {
        PROPERTIES.iter().zip(&self.0)
    }

    /// Iterates over all properties with mutable values.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&'static PropertyInfo, &mut T)> {
        PROPERTIES.iter().zip(&mut self.0)
    }
}

impl<T> Index<Property> for Properties<T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, property: Property) -> &T {
        &self.0[property as usize]
    }
}

impl<T> IndexMut<Property> for Properties<T> {
    #[inline(always)]
    fn index_mut(&mut self, property: Property) -> &mut T {
        &mut self.0[property as usize]
    }
}

impl Default for Properties<Parameter> {
    /// Returns the values of a material without any given property.
    fn default() -> Self {
        Self::from_fn(|info| Parameter::Uniform(info.absent))
    }
}

impl Properties<Parameter> {
    /// Appends the values of `n_other` particles to those of `n` particles.
    pub(super) fn append(&mut self, n: usize, other: &Self, n_other: usize) {
        for (own, other) in self.0.iter_mut().zip(&other.0) {
            own.append(n, other, n_other);
        }
    }

    /// Visits every property once.
    pub(super) fn visit_state(&mut self, visitor: &mut dyn StateVisitor) {
        for (info, values) in self.iter_mut() {
            let (name, unit, data) = (info.key, info.unit, StateData::Parameter(values));
            visitor.visit(StateItem { name, unit, set: PARTICLES, carry: Carry::Mean, data });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_properties_and_its_values_are_allowed() {
        for (k, info) in PROPERTIES.iter().enumerate() {
            assert_eq!(info.property as usize, k, "{}", info.key);
            assert_eq!(info.property.info().key, info.key);
            assert!(info.default.is_none_or(|value| info.range.contains(value)), "{}", info.key);
            assert!(info.about.ends_with('.'), "{}", info.key);
            let same = |other: &&PropertyInfo| other.key == info.key;
            assert_eq!(PROPERTIES.iter().filter(same).count(), 1, "{}", info.key);
        }
    }
}
