//! Shapes with signed distance, triangle meshes, inside tests, and filling a shape with particles.
//!
//! A [`Shape`] is a solid in its own frame; a [`PlacedShape`] puts it into the world. Both give their signed distance,
//! normal, bounds, volume and surface. A [`TriangleMesh`] has an inside even if it has holes (generalised winding
//! number). A [`DistanceGrid`] stores the distance on a grid for fast contact. [`fill()`] makes particles of a shape.

mod aabb;
mod distance_grid;
mod fill;
mod marching;
mod mesh;
mod placement;
mod primitives;
mod shape;
#[cfg(test)]
mod shape_tests;
mod triangulate;
mod volume;

pub use aabb::Aabb;
pub use distance_grid::{DistanceGrid, DistanceGridError, GridStore, NoStore};
pub use fill::{Fill, FillError, Filled, Sampling, Size, Spacing, fill};
pub use mesh::{ClosestPoint, TriangleMesh, TriangleMeshError};
pub use placement::{PlacedShape, Placement};
pub use shape::{Shape, ShapeError};
