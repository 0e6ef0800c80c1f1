//! Scalars, vectors and matrices, and the small decompositions. The only module that names the maths crate.
//!
//! `Real` is `f64`: a composed deformation gradient drifts by 1e-3 of strain in 10,000 rigid steps in `f32`.

pub use glam;

/// The engine's scalar.
pub type Real = f64;
/// A vector or point in space.
pub type Vec3 = glam::DVec3;
/// A 3×3 matrix, stored by columns.
pub type Mat3 = glam::DMat3;
/// A rotation.
pub type Quat = glam::DQuat;

/// Shorthand for `Vec3::new`.
pub const fn vec3(x: Real, y: Real, z: Real) -> Vec3 {
    Vec3::new(x, y, z)
}
