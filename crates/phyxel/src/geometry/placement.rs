//! Where a shape stands in the world.

use super::aabb::Aabb;
use super::mesh::TriangleMesh;
use super::shape::{Shape, ShapeError, Side};
use crate::math::{Quat, Real, Vec3};

/// A similarity: scaled first, then turned, then moved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// Uniform scale, positive.
    pub scale: Real,
    /// Rotation, a unit quaternion.
    pub rotation: Quat,
    /// Where the shape's origin goes (m).
    pub position: Vec3,
}

impl Default for Placement {
    fn default() -> Self {
        Self { scale: 1.0, rotation: Quat::IDENTITY, position: Vec3::ZERO }
    }
}

impl Placement {
    /// World position of a point of the shape.
    pub fn to_world(&self, local: Vec3) -> Vec3 {
        self.rotation * (self.scale * local) + self.position
    }

    /// Point of the shape at a world position.
    pub fn to_local(&self, world: Vec3) -> Vec3 {
        self.rotation.conjugate() * (world - self.position) / self.scale
    }

    /// World direction of a direction of the shape; lengths are kept.
    pub fn direction_to_world(&self, local: Vec3) -> Vec3 {
        self.rotation * local
    }

    /// Direction in the shape's frame of a world direction; lengths are kept.
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

/// A shape and where it stands. All lengths and points of its methods are in the world.
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
    /// A shape at a placement.
    pub fn new(shape: Shape, placement: Placement) -> Self {
        Self { shape, placement }
    }

    /// Checks every size, list and placement in the tree.
    pub fn validate(&self) -> Result<(), ShapeError> {
        self.placement.validate()?;
        self.shape.validate()
    }

    /// Signed distance of a world point, negative inside. See [`Shape::signed_distance`].
    pub fn signed_distance(&self, world: Vec3) -> Real {
        self.placement.scale * self.shape.signed_distance(self.placement.to_local(world))
    }

    /// Outward unit normal at a world point. See [`Shape::normal`].
    pub fn normal(&self, world: Vec3) -> Vec3 {
        self.signed_distance_and_normal(world).1
    }

    /// Distance and normal at the price of one query.
    pub fn signed_distance_and_normal(&self, world: Vec3) -> (Real, Vec3) {
        let (distance, normal) = self.shape.signed_distance_and_normal(self.placement.to_local(world));
        (self.placement.scale * distance, self.placement.direction_to_world(normal))
    }

    /// Whether a world point is inside.
    pub fn contains(&self, world: Vec3) -> bool {
        self.shape.contains(self.placement.to_local(world))
    }

    /// A box around the shape, `None` if the shape is infinite. See [`Shape::bounds`].
    pub fn bounds(&self) -> Option<Aabb> {
        super::shape::bounds_from_support(|direction| self.support(direction))
    }

    /// Volume (m³). See [`Shape::volume`].
    pub fn volume(&self) -> Real {
        self.placement.scale.powi(3) * self.shape.volume()
    }

    /// How far the shape reaches in a unit direction. See [`Shape::support`].
    pub fn support(&self, direction: Vec3) -> Real {
        self.placement.position.dot(direction)
            + self.placement.scale * self.shape.support(self.placement.direction_to_local(direction))
    }

    /// The surface as triangles in the world. See [`Shape::triangulate`].
    pub fn triangulate(&self, resolution: usize) -> Result<TriangleMesh, ShapeError> {
        self.validate()?;
        Ok(self.shape.triangulate(resolution)?.map_vertices(|local| self.placement.to_world(local)))
    }

    pub(crate) fn side_of_ball(&self, world: Vec3, radius: Real) -> Side {
        self.shape.side_of_ball(self.placement.to_local(world), radius / self.placement.scale)
    }
}
