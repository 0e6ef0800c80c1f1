//! Placement of a shape in the world.

use super::aabb::Aabb;
use super::mesh::TriangleMesh;
use super::shape::{Shape, ShapeError, Side};
use crate::math::{Quat, Real, Vec3, cube};

/// A similarity transform: scales first, then rotates, then translates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// Uniform scale, positive.
    pub scale: Real,
    /// Rotation, a unit quaternion.
    pub rotation: Quat,
    /// World position of the shape's origin (m).
    pub position: Vec3,
}

impl Default for Placement {
    fn default() -> Self {
        Self { scale: 1.0, rotation: Quat::IDENTITY, position: Vec3::ZERO }
    }
}

impl Placement {
    /// Converts a point from the shape's frame to the world.
    pub fn to_world(&self, local: Vec3) -> Vec3 {
        self.rotation * (self.scale * local) + self.position
    }

    /// Converts a point from the world to the shape's frame.
    pub fn to_local(&self, world: Vec3) -> Vec3 {
        self.rotation.conjugate() * (world - self.position) / self.scale
    }

    /// Converts a direction from the shape's frame to the world; its length is kept.
    pub fn direction_to_world(&self, local: Vec3) -> Vec3 {
        self.rotation * local
    }

    /// Converts a direction from the world to the shape's frame; its length is kept.
    pub fn direction_to_local(&self, world: Vec3) -> Vec3 {
        self.rotation.conjugate() * world
    }

    fn validate(&self) -> Result<(), ShapeError> {
        if !(self.scale > 0.0 && self.scale.is_finite()) {
            return Err(ShapeError::NotPositive { shape: "placement", quantity: "scale", value: self.scale });
        }
        if !self.position.is_finite() || !self.rotation.is_finite() || !self.rotation.is_normalized() {
            return Err(ShapeError::BadPlacement);
        }
        Ok(())
    }
}

/// A shape with its placement. All lengths and points of its methods are in the world.
#[derive(Clone, Debug)]
pub struct PlacedShape {
    /// The shape in its own frame.
    pub shape: Shape,
    /// Its placement in the world.
    pub placement: Placement,
}

impl From<Shape> for PlacedShape {
    fn from(shape: Shape) -> Self {
        Self { shape, placement: Placement::default() }
    }
}

impl PlacedShape {
    /// Creates a shape at a placement.
    pub fn new(shape: Shape, placement: Placement) -> Self {
        Self { shape, placement }
    }

    /// Checks every size, list and placement in the tree.
    pub fn validate(&self) -> Result<(), ShapeError> {
        self.placement.validate()?;
        self.shape.validate()
    }

    /// Returns the signed distance of a world point, negative inside. See [`Shape::signed_distance`].
    pub fn signed_distance(&self, world: Vec3) -> Real {
        self.placement.scale * self.shape.signed_distance(self.placement.to_local(world))
    }

    /// Returns the outward unit normal at a world point. See [`Shape::normal`].
    pub fn normal(&self, world: Vec3) -> Vec3 {
        self.signed_distance_and_normal(world).1
    }

    /// Returns distance and normal at the cost of one query.
    pub fn signed_distance_and_normal(&self, world: Vec3) -> (Real, Vec3) {
        let (distance, normal) = self.shape.signed_distance_and_normal(self.placement.to_local(world));
        (self.placement.scale * distance, self.placement.direction_to_world(normal))
    }

    /// Returns true if a world point is inside.
    pub fn contains(&self, world: Vec3) -> bool {
        self.shape.contains(self.placement.to_local(world))
    }

    /// Returns a box around the shape, `None` if the shape is infinite. See [`Shape::bounds`].
    pub fn bounds(&self) -> Option<Aabb> {
        super::shape::bounds_from_support(|direction| self.support(direction))
    }

    /// Returns the volume (m³). See [`Shape::volume`].
    pub fn volume(&self) -> Real {
        cube(self.placement.scale) * self.shape.volume()
    }

    /// Returns the extent of the shape in a unit direction. See [`Shape::support`].
    pub fn support(&self, direction: Vec3) -> Real {
        self.placement.position.dot(direction)
            + self.placement.scale * self.shape.support(self.placement.direction_to_local(direction))
    }

    /// Returns the surface as triangles in the world. See [`Shape::triangulate`].
    pub fn triangulate(&self, resolution: usize) -> Result<TriangleMesh, ShapeError> {
        self.validate()?;
        Ok(self.shape.triangulate(resolution)?.map_vertices(|local| self.placement.to_world(local)))
    }

    pub(crate) fn side_of_ball(&self, world: Vec3, radius: Real) -> Side {
        self.shape.side_of_ball(self.placement.to_local(world), radius / self.placement.scale)
    }
}
