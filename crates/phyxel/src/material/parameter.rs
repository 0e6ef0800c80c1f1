//! Material parameters: what a user writes, and what particle loops read.

use super::{Law, Plasticity};
use crate::geometry::PlacedShape;
use crate::math::{Real, Vec3};
use crate::particles::{Carry, PARTICLES, StateData, StateItem, StateVisitor};

/// A scalar over a body, as a user describes it.
#[derive(Clone, Debug)]
pub enum Varying {
    /// The same everywhere.
    Uniform(Real),
    /// Blends linearly over the body's extent along an axis.
    Along {
        /// Direction of the blend.
        axis: Vec3,
        /// Value at the lower end.
        from: Real,
        /// Value at the upper end.
        to: Real,
    },
    /// One value inside a region at time 0, another outside.
    Inside {
        /// The region, in world coordinates.
        region: Box<PlacedShape>,
        /// Value inside.
        value: Real,
        /// Value outside.
        outside: Real,
    },
}

impl From<Real> for Varying {
    fn from(value: Real) -> Self {
        Self::Uniform(value)
    }
}

impl Varying {
    /// The values at the given points of one body.
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

    /// Smallest and largest value that can occur.
    pub fn range(&self) -> (Real, Real) {
        let (a, b) = match *self {
            Self::Uniform(v) => (v, v),
            Self::Along { from, to, .. } => (from, to),
            Self::Inside { value, outside, .. } => (value, outside),
        };
        (a.min(b), a.max(b))
    }
}

/// A scalar over the particles of a group: one number, or a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Parameter {
    /// The same for all.
    Uniform(Real),
    /// One value per particle.
    Column(Vec<Real>),
}

impl Parameter {
    /// The value of particle i.
    #[inline(always)]
    pub fn at(&self, i: usize) -> Real {
        match self {
            Self::Uniform(value) => *value,
            Self::Column(column) => column[i],
        }
    }

    /// Whether all of `n` particles have the value 0.
    pub fn is_zero(&self) -> bool {
        match self {
            Self::Uniform(value) => *value == 0.0,
            Self::Column(column) => column.iter().all(|&v| v == 0.0),
        }
    }

    /// Appends `other`'s values of `n_other` particles to those of `n` particles.
    pub fn append(&mut self, n: usize, other: &Self, n_other: usize) {
        match (&mut *self, other) {
            (Self::Uniform(a), Self::Uniform(b)) if a == b || n == 0 => *a = *b,
            _ => {
                let column = (0..n).map(|i| self.at(i)).chain((0..n_other).map(|i| other.at(i))).collect();
                *self = Self::Column(column);
            }
        }
    }

    /// Names the column if there is one. A method whose particles split and merge lists its parameters as state.
    pub fn visit_state(&mut self, name: &'static str, unit: &'static str, visitor: &mut dyn StateVisitor) {
        if let Self::Column(column) = self {
            let data = StateData::Reals(column);
            visitor.visit(StateItem { name, unit, set: PARTICLES, carry: Carry::Mean, data });
        }
    }

    /// Gives the particles of one body a value; `bodies` has the body of each.
    pub fn set(&mut self, value: Real, bodies: &[u32], body: u32) {
        if *self == Self::Uniform(value) {
            return;
        }
        if bodies.iter().all(|b| *b == body) {
            *self = Self::Uniform(value);
            return;
        }
        let of = |(i, b): (usize, &u32)| if *b == body { value } else { self.at(i) };
        *self = Self::Column(bodies.iter().enumerate().map(of).collect());
    }

    /// New particle k has the value of old particle `order[k]`.
    pub fn reorder(&mut self, order: &[u32]) {
        if let Self::Column(column) = self {
            *column = order.iter().map(|&i| column[i as usize]).collect();
        }
    }
}

/// What a body is made of. SI units, true moduli.
#[derive(Clone, Debug)]
pub struct Material {
    /// (kg/m³)
    pub density: Varying,
    /// E (Pa)
    pub youngs_modulus: Varying,
    /// ν in [0, 0.49]
    pub poisson_ratio: Varying,
    /// True shear viscosity, from the rate of strain (Pa s).
    pub viscosity: Varying,
    /// From strain to stress; the method's own law if `None`.
    pub law: Option<Law>,
    /// How it flows; elastic if `None`.
    pub plasticity: Option<Plasticity>,
}

impl Default for Material {
    /// A soft jelly: 1000 kg/m³, 100 kPa, ν = 0.3, no viscosity.
    fn default() -> Self {
        Self {
            density: 1000.0.into(),
            youngs_modulus: 1e5.into(),
            poisson_ratio: 0.3.into(),
            viscosity: 0.0.into(),
            law: None,
            plasticity: None,
        }
    }
}
