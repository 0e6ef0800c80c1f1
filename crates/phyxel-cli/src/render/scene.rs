//! A stage prepared for rays. Coordinates are relative to the camera's target, so that the precision of `f32` suffices
//! wherever the simulation is.

use phyxel::math::glam::{Vec3, vec3};

use super::bvh::{Bvh, Ray, Stack};
use super::color::Color;
use super::normals::corner_normals;
use super::shapes::{Ball, Patch, Triangle};
use super::stage::{Mesh, Stage};

/// Ratio of half the side of a plane's square to half the height of the view.
const PATCH_SIZE: f32 = 1.1;
/// Distance in view heights beyond which objects are left out: particles of a run that blew up.
const FAR: f32 = 1e4;

/// Kind of object that a ray met.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Sky,
    Ground,
    Solid,
}

/// Point at which a ray met something.
#[derive(Clone, Copy)]
pub(super) struct Surface {
    pub(super) kind: Kind,
    /// Distance from the eye (m).
    pub(super) distance: f32,
    pub(super) position: Vec3,
    /// Unit vector towards the side of the eye, for shading.
    pub(super) normal: Vec3,
    /// Start point of rays that leave the surface.
    pub(super) departure: Vec3,
    /// Linear colour.
    pub(super) albedo: Vec3,
}

struct Face {
    normals: [Vec3; 3],
    albedo: Vec3,
}

/// Stage prepared for rays.
pub(super) struct Scene {
    balls: Bvh<Ball>,
    triangles: Bvh<Triangle>,
    faces: Vec<Face>,
    patches: Vec<Patch>,
    /// Height of the ground, relative to the target.
    pub(super) ground: Option<f32>,
    /// Linear value of each sRGB byte.
    linear: [f32; 256],
    /// Shortest offset of rays that leave a surface (m).
    offset: f32,
}

impl Scene {
    pub(super) fn new(stage: &Stage) -> Self {
        let origin = stage.camera.target;
        let scale = stage.camera.half_height();
        let is_near = |place: Vec3| place.is_finite() && place.abs().max_element() < FAR * scale;
        let balls = stage
            .spheres
            .iter()
            .map(|s| Ball { center: s.center - origin, radius: s.radius, color: s.color.rgb })
            .filter(|ball| is_near(ball.center) && ball.radius > 0.0 && ball.radius < FAR * scale)
            .collect();
        let mut triangles = Vec::new();
        let mut faces = Vec::new();
        for mesh in &stage.meshes {
            add_mesh(mesh, origin, &mut triangles, &mut faces);
        }
        triangles.retain(|triangle| is_near(triangle.corner));
        let patches = stage.planes.iter().filter_map(|plane| {
            Patch::new(plane.point - origin, plane.normal, PATCH_SIZE * scale, plane.color.to_linear())
        });
        let linear = std::array::from_fn(|byte| Color::new(byte as u8, 0, 0).to_linear().x);
        Self {
            balls: Bvh::build(balls),
            triangles: Bvh::build(triangles),
            faces,
            patches: patches.collect(),
            ground: stage.ground.map(|height| height - origin.y).filter(|height| height.is_finite()),
            linear,
            offset: 1e-5 * scale,
        }
    }

    /// Returns the surface seen along a ray. The ground is seen from above only. `patch_color` decorates planes.
    pub(super) fn look(
        &self,
        ray: &Ray,
        stack: &mut Stack,
        patch_color: impl Fn(&Patch, f32, Vec3) -> Vec3,
    ) -> Surface {
        let mut seen = sky(ray);
        if let Some(distance) = self.ground_distance(ray).filter(|&distance| distance < seen.distance) {
            let position = ray.at(distance);
            let departure = position + Vec3::Y * self.offset_at(distance);
            let (kind, normal, albedo) = (Kind::Ground, Vec3::Y, Vec3::ONE);
            seen = Surface { kind, distance, position, normal, departure, albedo };
        }
        for patch in &self.patches {
            if let Some(distance) = patch.intersect(ray, seen.distance) {
                let position = ray.at(distance);
                let normal = facing(patch.normal, ray);
                let departure = position + normal * self.offset_at(distance);
                let albedo = patch_color(patch, distance, position);
                seen = Surface { kind: Kind::Solid, distance, position, normal, departure, albedo };
            }
        }
        if let Some((distance, triangle)) = self.triangles.nearest(ray, seen.distance, stack) {
            seen = self.on_triangle(ray, triangle, distance);
        }
        if let Some((distance, ball)) = self.balls.nearest(ray, seen.distance, stack) {
            seen = self.on_ball(ray, ball, distance);
        }
        seen
    }

    /// Returns true if light from infinity is blocked. The ground never blocks it: the light stands above the ground.
    pub(super) fn is_in_shadow(&self, ray: &Ray, stack: &mut Stack) -> bool {
        self.patches.iter().any(|patch| patch.intersect(ray, f32::INFINITY).is_some())
            || self.balls.is_blocked(ray, f32::INFINITY, stack)
            || self.triangles.is_blocked(ray, f32::INFINITY, stack)
    }

    /// Returns the distance to the nearest object along a ray, at most `reach`.
    pub(super) fn free_distance(&self, ray: &Ray, reach: f32, stack: &mut Stack) -> f32 {
        let mut free = self.ground_distance(ray).map_or(reach, |distance| distance.min(reach));
        for patch in &self.patches {
            free = patch.intersect(ray, free).unwrap_or(free);
        }
        free = self.triangles.nearest(ray, free, stack).map_or(free, |hit| hit.0);
        self.balls.nearest(ray, free, stack).map_or(free, |hit| hit.0)
    }

    fn ground_distance(&self, ray: &Ray) -> Option<f32> {
        let height = ray.origin.y - self.ground?;
        (ray.direction.y < 0.0 && height >= 0.0).then(|| height / -ray.direction.y)
    }

    fn offset_at(&self, distance: f32) -> f32 {
        self.offset + 4e-6 * distance
    }

    fn on_ball(&self, ray: &Ray, ball: &Ball, distance: f32) -> Surface {
        let position = ray.at(distance);
        let normal = (position - ball.center).normalize_or(-ray.direction);
        // Rays start at the exact ball, not at the rounded hit.
        let lift = 1e-3 * ball.radius + self.offset_at(distance);
        let departure = ball.center + normal * (ball.radius + lift);
        let albedo = Vec3::from_array(ball.color.map(|byte| self.linear[usize::from(byte)]));
        Surface { kind: Kind::Solid, distance, position, normal, departure, albedo }
    }

    fn on_triangle(&self, ray: &Ray, triangle: &Triangle, distance: f32) -> Surface {
        let face = &self.faces[triangle.index as usize];
        let [u, v] = triangle.meet(ray).map_or([0.0; 2], |meeting| meeting.1);
        let weights = vec3(1.0 - u - v, u, v);
        let [first, second] = triangle.edges;
        let corners = [triangle.corner, triangle.corner + first, triangle.corner + second];
        let position = ray.at(distance);
        let flat = facing(first.cross(second).normalize_or_zero(), ray);
        let normals = face.normals.map(|normal| if normal.dot(flat) < 0.0 { -normal } else { normal });
        let mix = |values: [Vec3; 3]| values[0] * weights.x + values[1] * weights.y + values[2] * weights.z;
        let smooth = mix(normals).try_normalize().unwrap_or(flat);
        // Rays start at the curved surface that the normals suggest; otherwise facets would shadow themselves
        // (Hanika 2021, "Hacking the shadow terminator").
        let lifted: [Vec3; 3] = std::array::from_fn(|k| {
            let depth = (position - corners[k]).dot(normals[k]).min(0.0);
            position - normals[k] * depth
        });
        let departure = mix(lifted) + flat * self.offset_at(distance);
        // A smooth normal may point away from the eye at the rim.
        let normal = if smooth.dot(ray.direction) < 0.0 { smooth } else { flat };
        Surface { kind: Kind::Solid, distance, position, normal, departure, albedo: face.albedo }
    }
}

fn sky(ray: &Ray) -> Surface {
    Surface {
        kind: Kind::Sky,
        distance: f32::INFINITY,
        position: Vec3::ZERO,
        normal: -ray.direction,
        departure: Vec3::ZERO,
        albedo: Vec3::ZERO,
    }
}

/// Returns the normal, turned against the ray.
fn facing(normal: Vec3, ray: &Ray) -> Vec3 {
    if normal.dot(ray.direction) > 0.0 { -normal } else { normal }
}

fn add_mesh(mesh: &Mesh, origin: Vec3, triangles: &mut Vec<Triangle>, faces: &mut Vec<Face>) {
    let albedo = mesh.color.to_linear();
    for (corners, normals) in mesh.triangles.iter().zip(corner_normals(mesh)) {
        let Some(normals) = normals else { continue };
        let [a, b, c] = corners.map(|vertex| mesh.vertices[vertex as usize]);
        triangles.push(Triangle { corner: a - origin, edges: [b - a, c - a], index: faces.len() as u32 });
        faces.push(Face { normals, albedo });
    }
}
