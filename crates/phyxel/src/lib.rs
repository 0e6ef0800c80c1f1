//! phyxel: point-based simulation of deformable matter.

pub mod geometry;
pub mod math;
