//! Axis-aligned boxes.

use crate::math::{Real, Vec3};

/// An axis-aligned box, given by its two extreme corners.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aabb {
    /// Corner with the smallest coordinates.
    pub min: Vec3,
    /// Corner with the largest coordinates.
    pub max: Vec3,
}

impl Aabb {
    /// The box without points; the neutral element of [`Aabb::union`].
    pub const EMPTY: Self = Self { min: Vec3::INFINITY, max: Vec3::NEG_INFINITY };

    /// Returns the smallest box around some points; [`Aabb::EMPTY`] if there are none.
    pub fn from_points(points: impl IntoIterator<Item = Vec3>) -> Self {
        points.into_iter().fold(Self::EMPTY, |bounds, point| Self {
            min: bounds.min.min(point),
            max: bounds.max.max(point),
        })
    }

    /// Returns the smallest box around both boxes.
    pub fn union(&self, other: &Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// Returns this box with every face moved outwards by `margin`.
    pub fn grown(&self, margin: Real) -> Self {
        Self { min: self.min - Vec3::splat(margin), max: self.max + Vec3::splat(margin) }
    }

    /// Returns true if the two boxes have a point in common.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.min.cmple(other.max).all() && other.min.cmple(self.max).all()
    }

    /// Returns the middle of the box.
    pub fn center(&self) -> Vec3 {
        0.5 * (self.min + self.max)
    }

    /// Returns the edge lengths; zero for an empty box.
    pub fn size(&self) -> Vec3 {
        if self.is_empty() { Vec3::ZERO } else { self.max - self.min }
    }

    /// Returns true if no point is inside or on the surface.
    pub fn is_empty(&self) -> bool {
        !(self.min.x <= self.max.x && self.min.y <= self.max.y && self.min.z <= self.max.z)
    }

    /// Returns true if a point is inside or on the surface.
    pub fn contains(&self, point: Vec3) -> bool {
        point.cmpge(self.min).all() && point.cmple(self.max).all()
    }

    /// Returns the square of the distance from a point to the box; zero inside.
    pub fn distance_squared(&self, point: Vec3) -> Real {
        (self.min - point).max(point - self.max).max(Vec3::ZERO).length_squared()
    }

    /// Returns the distance from a point to the box; zero inside.
    pub fn distance(&self, point: Vec3) -> Real {
        self.distance_squared(point).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::vec3;

    #[test]
    fn distance_is_measured_to_the_nearest_face_edge_or_corner() {
        let bounds = Aabb::from_points([vec3(-1.0, -1.0, -1.0), vec3(1.0, 2.0, 3.0)]);
        assert_eq!(bounds.distance(vec3(0.0, 0.0, 0.0)), 0.0);
        assert_eq!(bounds.distance(vec3(3.0, 0.0, 0.0)), 2.0);
        assert_eq!(bounds.distance(vec3(4.0, 6.0, 0.0)), 5.0);
        assert_eq!(bounds.distance(vec3(0.0, -1.5, 0.0)), 0.5);
        assert_eq!(bounds.size(), vec3(2.0, 3.0, 4.0));
    }

    #[test]
    fn empty_box_contains_nothing_and_is_neutral() {
        let bounds = Aabb::from_points([vec3(1.0, 2.0, 3.0)]);
        assert!(Aabb::EMPTY.is_empty() && !bounds.is_empty());
        assert_eq!(Aabb::EMPTY.union(&bounds), bounds);
        assert_eq!(Aabb::EMPTY.size(), Vec3::ZERO);
        assert!(!Aabb::EMPTY.contains(Vec3::ZERO));
    }
}
