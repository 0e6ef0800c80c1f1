//! Force fields: accelerations as functions of position, velocity and time.

use crate::math::{Mat3, Real, Vec3, exp, frobenius_norm};
use std::fmt;
use std::sync::Arc;

/// Arguments at which a field is evaluated.
#[derive(Clone, Copy, Debug)]
pub struct FieldPoint {
    /// Position of the particle (m).
    pub position: Vec3,
    /// Velocity of the particle (m/s).
    pub velocity: Vec3,
    /// Time of the simulation (s).
    pub time: Real,
}

/// Law of the acceleration of a field.
#[derive(Clone)]
pub enum Field {
    /// An acceleration that is the same everywhere (m/s²).
    Uniform(Vec3),
    /// An acceleration that grows from a centre: matrix · (x − center), the matrix in 1/s² (Gerszewski 2009 Fig. 8).
    Linear {
        /// Acceleration per distance from the centre (1/s²).
        matrix: Mat3,
        /// Point without acceleration (m).
        center: Vec3,
    },
    /// Drag, by which velocities decay with exp(−rate t), the rate in 1/s.
    Drag(Real),
    /// A law given by the caller (m/s²); it must depend on its argument alone.
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

/// A field with the interval of time in which it acts.
#[derive(Clone, Debug)]
pub struct ForceField {
    /// Law of the acceleration.
    pub field: Field,
    /// Time from which the field acts (s).
    pub from: Real,
    /// Time at which the field ends (s).
    pub until: Real,
}

impl ForceField {
    /// Creates a field that always acts.
    pub fn always(field: Field) -> Self {
        Self { field, from: 0.0, until: Real::INFINITY }
    }
}

/// All external accelerations of a particle: gravity and the fields.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a> {
    /// Acceleration of gravity (m/s²).
    pub gravity: Vec3,
    /// All other fields.
    pub fields: &'a [ForceField],
    /// Time of the simulation (s).
    pub time: Real,
}

impl Fields<'_> {
    fn active(&self) -> impl Iterator<Item = &ForceField> {
        self.fields.iter().filter(|f| self.time >= f.from && self.time < f.until)
    }

    /// Returns the factor (1) by which drag scales velocities: exact, so that no drag is too strong for a step.
    pub fn decay(&self, duration: Real) -> Real {
        let rates = self.active().map(|f| if let Field::Drag(rate) = f.field { rate } else { 0.0 });
        exp(-rates.sum::<Real>() * duration)
    }

    /// Returns the largest time step that the fields allow (s); a linear field acts like a spring to its centre.
    pub fn largest_step(&self) -> Real {
        let stiffness = self
            .active()
            .map(|f| if let Field::Linear { matrix, .. } = f.field { frobenius_norm(matrix) } else { 0.0 });
        1.0 / stiffness.fold(0.0, Real::max).sqrt()
    }

    /// Returns the acceleration of a particle, without drag (m/s²).
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
