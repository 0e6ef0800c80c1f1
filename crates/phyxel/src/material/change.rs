//! Changes of materials while a world runs.

use super::{Flow, Material, PROPERTIES, Part, Properties, Property, PropertyInfo, YieldMeasure};
use crate::math::Real;

/// A change of the material of a body. Density and law cannot change, because mass is conserved.
#[derive(Clone, Debug, PartialEq)]
pub struct MaterialChange {
    /// New values; properties without a new value stay.
    pub values: Properties<Option<Real>>,
    /// New kind of flow; `None` if it stays. Matter that did not flow starts to flow when it is first given a yield
    /// stress and a flow rate. Plastic deformation stays when the flow ends.
    pub flow: Option<Flow>,
}

impl Default for MaterialChange {
    /// Returns a change without any new values.
    fn default() -> Self {
        Self { values: Properties::from_fn(|_| None), flow: None }
    }
}

impl MaterialChange {
    /// Returns the same change with a new value of a property.
    #[must_use]
    pub fn with(mut self, property: Property, value: Real) -> Self {
        self.values[property] = Some(value);
        self
    }

    /// Returns the same change with another kind of flow.
    #[must_use]
    pub fn flowing(self, flow: Flow) -> Self {
        Self { flow: Some(flow), ..self }
    }

    /// Returns true if elastic moduli, and with them stresses, change.
    pub fn is_elastic(&self) -> bool {
        self.values[Property::YoungsModulus].is_some() || self.values[Property::PoissonRatio].is_some()
    }

    /// Returns true if the flow or one of its properties changes.
    pub fn is_plastic(&self) -> bool {
        let creep = self.values.iter().filter(|(info, _)| info.part == Part::Creep);
        self.flow.is_some() || creep.into_iter().any(|(_, value)| value.is_some())
    }

    /// Returns the change that turns any material into the given one, except for density and law.
    ///
    /// # Errors
    /// The key of a property that varies over the body: regions are defined at the start and cannot be used later.
    pub fn to_material<Region>(material: &Material<Region>) -> Result<Self, &'static str> {
        let mut change = Self::default().flowing(material.flow);
        for (property, value) in material.scalars().filter(|(property, _)| property.info().may_change) {
            change.values[property] = Some(value.uniform().ok_or(property.info().key)?);
        }
        Ok(change)
    }

    /// Returns the material after the change, and completes the change by the values that follow from it.
    ///
    /// # Errors
    /// If a value is not allowed or missing.
    pub fn apply(&mut self, material: &Material) -> Result<Material, String> {
        self.check()?;
        if self.is_elastic() {
            self.complete_moduli(material)?;
        }
        if self.is_plastic() {
            self.complete_flow(material.flow)?;
        }
        let mut changed = Material { flow: self.flow.unwrap_or(material.flow), ..material.clone() };
        for (info, value) in self.values.iter() {
            if let Some(value) = value {
                changed[info.property] = (*value).into();
            }
        }
        Ok(changed)
    }

    fn complete_moduli(&mut self, material: &Material) -> Result<(), String> {
        let (modulus, ratio) = (Property::YoungsModulus, Property::PoissonRatio);
        for (property, other) in [(modulus, ratio), (ratio, modulus)] {
            if self.values[property].is_none() {
                let [name, other] = [property, other].map(|p| p.info().key);
                let now = material[property].uniform().ok_or_else(|| {
                    format!("`{name}` varies over the body, so that `{other}` cannot change alone: give both")
                })?;
                self.values[property] = Some(now);
            }
        }
        Ok(())
    }

    fn complete_flow(&mut self, now: Flow) -> Result<(), String> {
        let flow = match (self.flow, now) {
            (Some(flow), _) => flow,
            (None, Flow::None) => Flow::Creep(YieldMeasure::default()),
            (None, now) => now,
        };
        for info in PROPERTIES.iter().filter(|info| info.part == Part::Creep) {
            let value = &mut self.values[info.property];
            match (flow, now) {
                (Flow::None, _) => *value = Some(info.absent),
                (Flow::Creep(_), Flow::None) if value.is_none() && info.default.is_none() => {
                    return Err("it did not flow so far: give `yield_stress` and `flow_rate`".into());
                }
                (Flow::Creep(_), Flow::None) => *value = value.or(info.default),
                (Flow::Creep(_), Flow::Creep(_)) => {}
            }
        }
        self.flow = Some(flow);
        Ok(())
    }

    fn check(&self) -> Result<(), String> {
        for (info, value) in self.values.iter() {
            if value.is_some() && !info.may_change {
                return Err(format!("`{}` cannot change while it runs", info.key));
            }
            if let Some(value) = value.filter(|value| !info.range.contains(*value)) {
                return Err(format!("`{}` must be {}, found {value}", info.key, info.range.describe()));
            }
        }
        let creep =
            |(info, value): (&PropertyInfo, &Option<Real>)| info.part == Part::Creep && value.is_some();
        if self.flow == Some(Flow::None) && self.values.iter().any(creep) {
            return Err("it ends the flow and gives values of it: keep one of the two".into());
        }
        if *self == Self::default() { Err("it names nothing that changes".into()) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::material::Varying;
    use crate::math::Vec3;

    fn change() -> MaterialChange {
        MaterialChange::default()
    }

    fn refused(mut change: MaterialChange, material: &Material) -> String {
        change.apply(material).unwrap_err()
    }

    #[test]
    fn a_change_is_completed_and_refused_where_it_makes_no_sense() {
        let material = Material::default();
        let mut softer = change().with(Property::YoungsModulus, 2e4);
        let changed = softer.apply(&material).unwrap();
        assert_eq!(changed[Property::YoungsModulus].range(), (2e4, 2e4));
        assert_eq!(softer.values[Property::PoissonRatio], Some(0.3), "completed");
        let ratio = change().with(Property::PoissonRatio, 0.5);
        assert_eq!(refused(ratio, &material), "`poisson_ratio` must be from 0 to 0.49, found 0.5");
        let no_number = change().with(Property::YoungsModulus, Real::NAN);
        assert!(refused(no_number, &material).contains("greater than 0, found NaN"));
        assert!(refused(change(), &material).contains("nothing"));
        assert!(refused(change().with(Property::Density, 1.0), &material).contains("cannot change"));
        let varying = Varying::Along { axis: Vec3::X, from: 1.0, to: 2.0 };
        let varying = material.with(Property::YoungsModulus, varying);
        assert!(refused(change().with(Property::PoissonRatio, 0.2), &varying).contains("give both"));
        assert_eq!(MaterialChange::to_material(&varying), Err("youngs_modulus"));
    }

    #[test]
    fn flow_begins_with_both_of_its_numbers_and_ends_with_all() {
        let elastic = Material::default();
        let yields = change().with(Property::YieldStress, 1e3);
        assert!(refused(yields.clone(), &elastic).contains("`flow_rate`"));
        let mut flows = yields.with(Property::FlowRate, 10.0);
        let clay = flows.apply(&elastic).unwrap();
        assert_eq!(clay.flow, Flow::Creep(YieldMeasure::Deviatoric));
        assert_eq!(clay.resolve(&[Vec3::ZERO])[Property::YieldStress].at(0), 1e3);
        assert_eq!(flows.values[Property::Hardening], Some(0.0), "completed");
        let mut off = change().flowing(Flow::None);
        let again = off.apply(&clay).unwrap();
        assert_eq!((again.flow, again.scalars().count()), (Flow::None, 4));
        assert_eq!(off.values[Property::YieldStress], Some(Real::INFINITY));
        assert_eq!(again.resolve(&[Vec3::ZERO])[Property::FlowRate].at(0), 0.0);
    }
}
