//! Shapes that rays can hit: balls, triangles and square patches of planes.

use phyxel::math::glam::{Vec3, vec3};

use super::bounds::Bounds;
use super::bvh::{Primitive, Ray};

/// Particle in the form that the tree stores.
#[derive(Clone, Copy)]
pub(super) struct Ball {
    pub(super) center: Vec3,
    pub(super) radius: f32,
    /// Colour as sRGB bytes.
    pub(super) color: [u8; 3],
}

impl Primitive for Ball {
    fn bounds(&self) -> Bounds {
        Bounds { min: self.center - self.radius, max: self.center + self.radius }
    }

    /// Intersects the front side only: an eye inside of a ball sees the surroundings. The distance to the axis of the
    /// ray is taken from the foot point, which is precise for small balls far away.
    #[inline]
    fn intersect(&self, ray: &Ray, reach: f32) -> Option<f32> {
        let offset = self.center - ray.origin;
        let along = offset.dot(ray.direction);
        let miss_squared = (offset - ray.direction * along).length_squared();
        let inside = self.radius * self.radius - miss_squared;
        if inside < 0.0 {
            return None;
        }
        let distance = along - inside.sqrt();
        (distance > 0.0 && distance < reach).then_some(distance)
    }
}

/// Triangle in the form that the tree stores.
#[derive(Clone, Copy)]
pub(super) struct Triangle {
    pub(super) corner: Vec3,
    pub(super) edges: [Vec3; 2],
    /// Index of its normals and colour.
    pub(super) index: u32,
}

impl Triangle {
    /// Returns the distance at which the ray meets the triangle, and the weights of the second and third corner there.
    #[inline]
    pub(super) fn meet(&self, ray: &Ray) -> Option<(f32, [f32; 2])> {
        let [first, second] = self.edges;
        let across = ray.direction.cross(second);
        let determinant = first.dot(across);
        let inverse = 1.0 / determinant;
        let offset = ray.origin - self.corner;
        let u = offset.dot(across) * inverse;
        let turned = offset.cross(first);
        let v = ray.direction.dot(turned) * inverse;
        let distance = second.dot(turned) * inverse;
        // This form of the condition also fails for the NaN of a degenerate triangle.
        (u >= 0.0 && v >= 0.0 && u + v <= 1.0 && distance > 0.0).then_some((distance, [u, v]))
    }
}

impl Primitive for Triangle {
    fn bounds(&self) -> Bounds {
        let mut bounds = Bounds { min: self.corner, max: self.corner };
        for edge in self.edges {
            bounds.include(self.corner + edge, 0.0);
        }
        bounds
    }

    #[inline]
    fn intersect(&self, ray: &Ray, reach: f32) -> Option<f32> {
        self.meet(ray).map(|meeting| meeting.0).filter(|&distance| distance < reach)
    }
}

/// A square piece of a plane.
pub(super) struct Patch {
    pub(super) center: Vec3,
    pub(super) normal: Vec3,
    /// Unit vectors in the plane; the first is horizontal.
    pub(super) axes: [Vec3; 2],
    pub(super) half_size: f32,
    /// Linear colour.
    pub(super) albedo: Vec3,
}

impl Patch {
    /// Creates the square of the plane that is nearest to the origin.
    pub(super) fn new(point: Vec3, normal: Vec3, half_size: f32, albedo: Vec3) -> Option<Self> {
        let normal = normal.try_normalize().filter(|_| point.is_finite())?;
        let horizontal = vec3(normal.z, 0.0, -normal.x).try_normalize().unwrap_or(Vec3::X);
        let axes = [horizontal, normal.cross(horizontal)];
        Some(Self { center: normal * point.dot(normal), normal, axes, half_size, albedo })
    }

    pub(super) fn intersect(&self, ray: &Ray, reach: f32) -> Option<f32> {
        let distance = (self.center - ray.origin).dot(self.normal) / ray.direction.dot(self.normal);
        let [u, v] = self.coordinates(ray.at(distance));
        let is_inside = u.abs() <= self.half_size && v.abs() <= self.half_size;
        (distance > 0.0 && distance < reach && is_inside).then_some(distance)
    }

    /// Returns the position along the axes, from the center (m).
    pub(super) fn coordinates(&self, point: Vec3) -> [f32; 2] {
        self.axes.map(|axis| (point - self.center).dot(axis))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn balls_are_hit_in_front_and_only_from_outside() {
        let ball = Ball { center: vec3(0.0, 0.0, -1000.0), radius: 0.01, color: [0; 3] };
        let hit = ball.intersect(&Ray::new(vec3(0.005, 0.0, 0.0), Vec3::NEG_Z), f32::INFINITY);
        let expected = 1000.0 - (0.01f32.powi(2) - 0.005f32.powi(2)).sqrt();
        assert!((hit.unwrap() - expected).abs() < 2e-4);
        assert!(ball.intersect(&Ray::new(vec3(0.011, 0.0, 0.0), Vec3::NEG_Z), f32::INFINITY).is_none());
        assert!(ball.intersect(&Ray::new(ball.center, Vec3::X), f32::INFINITY).is_none());
        assert!(ball.intersect(&Ray::new(Vec3::ZERO, Vec3::Z), f32::INFINITY).is_none());
    }

    #[test]
    fn triangles_report_distance_and_weights() {
        let triangle = Triangle { corner: Vec3::ZERO, edges: [Vec3::X, Vec3::Y], index: 0 };
        let (distance, weights) = triangle.meet(&Ray::new(vec3(0.25, 0.5, 2.0), Vec3::NEG_Z)).unwrap();
        assert!((distance - 2.0).abs() < 1e-6);
        assert!((weights[0] - 0.25).abs() < 1e-6 && (weights[1] - 0.5).abs() < 1e-6);
        assert!(triangle.meet(&Ray::new(vec3(0.6, 0.6, 2.0), Vec3::NEG_Z)).is_none());
        let flat = Triangle { corner: Vec3::ZERO, edges: [Vec3::X, Vec3::X], index: 0 };
        assert!(flat.meet(&Ray::new(vec3(0.25, 0.0, 2.0), Vec3::NEG_Z)).is_none());
    }

    #[test]
    fn patches_end_at_their_edge() {
        let patch = Patch::new(vec3(7.0, 1.0, 9.0), vec3(0.0, 3.0, 0.0), 2.0, Vec3::ONE).unwrap();
        let hit = |x: f32| patch.intersect(&Ray::new(vec3(x, 5.0, 0.0), Vec3::NEG_Y), f32::INFINITY);
        assert_eq!(hit(1.9), Some(4.0));
        assert_eq!(hit(2.1), None);
        assert!(Patch::new(Vec3::ZERO, Vec3::ZERO, 1.0, Vec3::ONE).is_none());
    }
}
