//! Materials that change while a world runs.

use super::{Material, Varying, YieldMeasure};
use crate::math::Real;

/// What becomes different in the material of a body. Densities and laws stay: mass is not made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MaterialChange {
    /// E (Pa)
    pub youngs_modulus: Option<Real>,
    /// ν
    pub poisson_ratio: Option<Real>,
    /// η (Pa s)
    pub viscosity: Option<Real>,
    /// How it flows.
    pub plasticity: Option<PlasticityChange>,
}

/// What becomes different in how a material flows.
#[derive(Clone, Debug, PartialEq)]
pub enum PlasticityChange {
    /// It flows no more. What has flowed stays.
    Off,
    /// It flows from now on, or flows differently. What is `None` stays; matter that did not flow needs the first two.
    On {
        /// P_Y (Pa)
        yield_stress: Option<Real>,
        /// ν (1/s)
        flow_rate: Option<Real>,
        /// K (1)
        hardening: Option<Real>,
        /// (Pa)
        thickening_stress: Option<Real>,
        /// What counts as stress.
        measure: Option<YieldMeasure>,
    },
}

/// Largest Poisson's ratio.
const MAX_POISSON_RATIO: Real = 0.49;

impl MaterialChange {
    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether stresses change.
    pub fn is_elastic(&self) -> bool {
        self.youngs_modulus.is_some() || self.poisson_ratio.is_some()
    }

    /// All that makes another material of one, but for density and law.
    ///
    /// # Errors
    /// When something varies over the body: places are those of the start.
    pub fn to_material(material: &Material) -> Result<Self, String> {
        let uniform = |name: &str, value: &Varying| match value {
            Varying::Uniform(value) => Ok(Some(*value)),
            _ => Err(format!("`{name}` varies over the body, which only the material of the start may do")),
        };
        Ok(Self {
            youngs_modulus: uniform("youngs_modulus", &material.youngs_modulus)?,
            poisson_ratio: uniform("poisson_ratio", &material.poisson_ratio)?,
            viscosity: uniform("viscosity", &material.viscosity)?,
            plasticity: Some(match &material.plasticity {
                None => PlasticityChange::Off,
                Some(p) => PlasticityChange::On {
                    yield_stress: uniform("yield_stress", &p.yield_stress)?,
                    flow_rate: uniform("flow_rate", &p.flow_rate)?,
                    hardening: uniform("hardening", &p.hardening)?,
                    thickening_stress: uniform("thickening_stress", &p.thickening_stress)?,
                    measure: Some(p.measure),
                },
            }),
        })
    }

    /// The material after the change; completes the change by the modulus that it does not name.
    ///
    /// # Errors
    /// When a value makes no sense, or one is missing.
    pub fn apply(&mut self, material: &Material) -> Result<Material, String> {
        self.check()?;
        let mut changed = material.clone();
        if self.is_elastic() {
            let complete = |value: &mut Option<Real>, now: &Varying, name: &str, other: &str| {
                match (*value, now) {
                    (Some(_), _) => {}
                    (None, Varying::Uniform(now)) => *value = Some(*now),
                    (None, _) => {
                        return Err(format!(
                            "`{name}` varies over the body, so that `{other}` cannot change alone: give both"
                        ));
                    }
                }
                Ok(())
            };
            complete(&mut self.youngs_modulus, &material.youngs_modulus, "youngs_modulus", "poisson_ratio")?;
            complete(&mut self.poisson_ratio, &material.poisson_ratio, "poisson_ratio", "youngs_modulus")?;
        }
        let set = |place: &mut Varying, value: Option<Real>| {
            if let Some(value) = value {
                *place = Varying::Uniform(value);
            }
        };
        set(&mut changed.youngs_modulus, self.youngs_modulus);
        set(&mut changed.poisson_ratio, self.poisson_ratio);
        set(&mut changed.viscosity, self.viscosity);
        match &self.plasticity {
            None => {}
            Some(PlasticityChange::Off) => changed.plasticity = None,
            Some(PlasticityChange::On { yield_stress, flow_rate, hardening, thickening_stress, measure }) => {
                if material.plasticity.is_none() && (yield_stress.is_none() || flow_rate.is_none()) {
                    return Err("it did not flow so far: give `yield_stress` and `flow_rate`".into());
                }
                let mut flow = material.plasticity.clone().unwrap_or_default();
                set(&mut flow.yield_stress, *yield_stress);
                set(&mut flow.flow_rate, *flow_rate);
                set(&mut flow.hardening, *hardening);
                set(&mut flow.thickening_stress, *thickening_stress);
                flow.measure = measure.unwrap_or(flow.measure);
                changed.plasticity = Some(flow);
            }
        }
        Ok(changed)
    }

    fn check(&self) -> Result<(), String> {
        let mut values = vec![
            ("youngs_modulus", self.youngs_modulus, Real::MIN_POSITIVE, Real::MAX),
            ("poisson_ratio", self.poisson_ratio, 0.0, MAX_POISSON_RATIO),
            ("viscosity", self.viscosity, 0.0, Real::MAX),
        ];
        if let Some(PlasticityChange::On { yield_stress, flow_rate, hardening, thickening_stress, .. }) =
            &self.plasticity
        {
            values.push(("yield_stress", *yield_stress, 0.0, Real::MAX));
            values.push(("flow_rate", *flow_rate, 0.0, Real::MAX));
            values.push(("hardening", *hardening, -1.0, Real::MAX));
            values.push(("thickening_stress", *thickening_stress, 0.0, Real::MAX));
        }
        for (name, value, low, high) in values {
            if let Some(value) = value.filter(|value| !(low..=high).contains(value)) {
                let range = match (low, high) {
                    (Real::MIN_POSITIVE, _) => "greater than 0".into(),
                    (low, Real::MAX) => format!("at least {low}"),
                    (low, high) => format!("from {low} to {high}"),
                };
                return Err(format!("`{name}` must be {range}, found {value}"));
            }
        }
        if self.is_empty() { Err("it names nothing that changes".into()) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_completed_and_refused_where_it_makes_no_sense() {
        let material = Material::default();
        let mut softer = MaterialChange { youngs_modulus: Some(2e4), ..MaterialChange::default() };
        let changed = softer.apply(&material).unwrap();
        assert_eq!(changed.youngs_modulus.range(), (2e4, 2e4));
        assert_eq!(softer.poisson_ratio, Some(0.3), "completed");
        let refused = |mut change: MaterialChange, material: &Material| change.apply(material).unwrap_err();
        let poisson_ratio = MaterialChange { poisson_ratio: Some(0.5), ..MaterialChange::default() };
        assert_eq!(refused(poisson_ratio, &material), "`poisson_ratio` must be from 0 to 0.49, found 0.5");
        let nothing = MaterialChange { youngs_modulus: Some(Real::NAN), ..MaterialChange::default() };
        assert!(refused(nothing, &material).contains("greater than 0, found NaN"));
        assert!(refused(MaterialChange::default(), &material).contains("nothing"));
        let varying = Material {
            youngs_modulus: Varying::Along { axis: crate::math::Vec3::X, from: 1.0, to: 2.0 },
            ..Material::default()
        };
        let alone = MaterialChange { poisson_ratio: Some(0.2), ..MaterialChange::default() };
        assert!(refused(alone, &varying).contains("give both"));
        assert!(MaterialChange::to_material(&varying).unwrap_err().contains("varies"));
        let flow = PlasticityChange::On {
            yield_stress: Some(1e3),
            flow_rate: None,
            hardening: None,
            thickening_stress: None,
            measure: None,
        };
        let flow = MaterialChange { plasticity: Some(flow), ..MaterialChange::default() };
        assert!(refused(flow, &material).contains("`flow_rate`"));
    }
}
