//! Force fields: accelerations given by place, velocity and time.

use crate::math::{Mat3, Real, Vec3, frobenius_norm};
use std::fmt;
use std::sync::Arc;

/// Where and when a field is asked.
#[derive(Clone, Copy, Debug)]
pub struct FieldPoint {
    /// (m)
    pub position: Vec3,
    /// (m/s)
    pub velocity: Vec3,
    /// (s)
    pub time: Real,
}

/// A law of acceleration.
#[derive(Clone)]
pub enum Field {
    /// The same everywhere (m/s²).
    Uniform(Vec3),
    /// Growing from a centre: matrix · (x − center), the matrix in 1/s² (Gerszewski 2009 Fig. 8).
    Linear {
        /// (1/s²)
        matrix: Mat3,
        /// (m)
        center: Vec3,
    },
    /// Velocities fall with exp(−rate t), the rate in 1/s.
    Drag(Real),
    /// A caller's own law (m/s²); must depend on its argument alone.
    Custom(Arc<dyn Fn(FieldPoint) -> Vec3 + Send + Sync>),
}

impl fmt::Debug for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uniform(a) => f.debug_tuple("Uniform").field(a).finish(),
            Self::Linear { matrix, center } => {
                f.debug_struct("Linear").field("matrix", matrix).field("center", center).finish()
            }
            Self::Drag(rate) => f.debug_tuple("Drag").field(rate).finish(),
            Self::Custom(_) => f.write_str("Custom"),
        }
    }
}

/// A field with the time in which it acts.
#[derive(Clone, Debug)]
pub struct ForceField {
    /// The law.
    pub field: Field,
    /// Acts from this time on (s).
    pub from: Real,
    /// Acts before this time (s).
    pub until: Real,
}

impl ForceField {
    /// A field that always acts.
    pub fn always(field: Field) -> Self {
        Self { field, from: 0.0, until: Real::INFINITY }
    }
}

/// All that accelerates a particle from outside: gravity and the fields.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a> {
    /// (m/s²)
    pub gravity: Vec3,
    /// The others.
    pub fields: &'a [ForceField],
    /// (s)
    pub time: Real,
}

impl Fields<'_> {
    fn active(&self) -> impl Iterator<Item = &ForceField> {
        self.fields.iter().filter(|f| self.time >= f.from && self.time < f.until)
    }

    /// What drag leaves of a velocity after a time: exact, so that no drag is too strong for a step (1).
    pub fn decay(&self, duration: Real) -> Real {
        let rates = self.active().map(|f| if let Field::Drag(rate) = f.field { rate } else { 0.0 });
        (-rates.sum::<Real>() * duration).exp()
    }

    /// Largest step that the fields allow: a linear field is a spring to its centre (s).
    pub fn largest_step(&self) -> Real {
        let stiffness = self
            .active()
            .map(|f| if let Field::Linear { matrix, .. } = f.field { frobenius_norm(matrix) } else { 0.0 });
        1.0 / stiffness.fold(0.0, Real::max).sqrt()
    }

    /// Acceleration of a particle, without drag (m/s²).
    #[inline(always)]
    pub fn acceleration(&self, position: Vec3, velocity: Vec3) -> Vec3 {
        let mut sum = self.gravity;
        for f in self.active() {
            sum += match &f.field {
                Field::Uniform(a) => *a,
                Field::Linear { matrix, center } => *matrix * (position - *center),
                Field::Drag(_) => Vec3::ZERO, // see `decay`
                Field::Custom(law) => law(FieldPoint { position, velocity, time: self.time }),
            };
        }
        sum
    }
}
