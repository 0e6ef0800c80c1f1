//! Forces that several methods share: fields that act on every particle, and viscosity.

mod fields;
mod viscosity;

pub use fields::{Field, FieldPoint, Fields, ForceField};
pub use viscosity::{Viscosity, ViscousBonds};
