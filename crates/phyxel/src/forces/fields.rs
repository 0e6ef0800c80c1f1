//! Force fields: accelerations given by place, velocity and time.

use crate::math::{Mat3, Real, Vec3};
use std::fmt;
use std::sync::Arc;

/// Where and when a field is asked.
#[derive(Clone, Copy, Debug)]
pub struct FieldPoint {
    /// [m]
    pub position: Vec3,
    /// [m/s]
    pub velocity: Vec3,
    /// [s]
    pub time: Real,
}

/// A law of acceleration.
#[derive(Clone)]
pub enum Field {
    /// The same everywhere. [m/s²]
    Uniform(Vec3),
    /// Growing from a centre: matrix · (x − center), the matrix in 1/s² ([Gerszewski2009] Fig. 8).
    Linear {
        /// [1/s²]
        matrix: Mat3,
        /// [m]
        center: Vec3,
    },
    /// −rate · v, the rate in 1/s.
    Drag(Real),
    /// A caller's own law [m/s²]; must depend on its argument alone.
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
    /// Acts from this time on. [s]
    pub from: Real,
    /// Acts before this time. [s]
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
    /// [m/s²]
    pub gravity: Vec3,
    /// The others.
    pub fields: &'a [ForceField],
    /// [s]
    pub time: Real,
}

impl Fields<'_> {
    /// Acceleration of a particle. [m/s²]
    #[inline]
    pub fn acceleration(&self, position: Vec3, velocity: Vec3) -> Vec3 {
        let mut sum = self.gravity;
        for f in self.fields {
            if self.time < f.from || self.time >= f.until {
                continue;
            }
            sum += match &f.field {
                Field::Uniform(a) => *a,
                Field::Linear { matrix, center } => *matrix * (position - *center),
                Field::Drag(rate) => velocity * -rate,
                Field::Custom(law) => law(FieldPoint { position, velocity, time: self.time }),
            };
        }
        sum
    }
}
