//! Staging of frames: particles, obstacles at their positions at that time, one camera for all frames.

use crate::coloring::Coloring;
use crate::render::{Bounds, Camera, CameraOptions, Color, Mesh, Plane, Sphere, Stage, body_color};
use phyxel::contact::{Obstacle, Pose};
use phyxel::geometry::Shape;
use phyxel::math::{Vec3, glam};
use phyxel_io::results::{ParticleTable, SurfaceTable};

/// Number of segments around a round obstacle.
const RESOLUTION: usize = 64;
/// Largest ratio of an obstacle's size to that of the particles at which the whole obstacle is kept in view.
const LARGEST_OBSTACLE: f32 = 2.0;
/// Vertical component of the normal above which a half-space is a floor.
const UPRIGHT: f64 = 0.9999;

/// Camera and obstacles that all pictures share.
pub(crate) struct Staging {
    camera: Camera,
    obstacles: Vec<Scenery>,
    /// Point in the middle, around which infinite planes are drawn.
    middle: Vec3,
}

/// Obstacle and its drawn surface.
struct Scenery {
    obstacle: Obstacle,
    /// Surface at time 0; `None` for half-spaces and for obstacles that enclose the bodies.
    surface: Option<(Vec<Vec3>, Vec<[u32; 3]>)>,
}

impl Staging {
    /// Creates a view of all particles in all frames.
    pub(crate) fn new(
        tables: &[ParticleTable],
        obstacles: Vec<Obstacle>,
        options: &CameraOptions,
        aspect: f32,
    ) -> Self {
        let mut bounds = Bounds::EMPTY;
        for table in tables {
            for (position, radius) in table.position.iter().zip(&table.radius) {
                bounds.include(glam::Vec3::from_array(*position), *radius);
            }
        }
        let times: Vec<f64> = tables.iter().map(|table| table.time).collect();
        Self::around(bounds, &times, obstacles, options, aspect)
    }

    /// Creates a view of a box, and of obstacles at the given times if they are not much larger.
    pub(crate) fn around(
        mut bounds: Bounds,
        times: &[f64],
        obstacles: Vec<Obstacle>,
        options: &CameraOptions,
        aspect: f32,
    ) -> Self {
        let obstacles: Vec<Scenery> = obstacles.into_iter().map(Scenery::new).collect();
        let extent = bounds.size().length();
        for scenery in &obstacles {
            let mut own = Bounds::EMPTY;
            for &time in times {
                scenery.places(time).for_each(|place| own.include(place, 0.0));
            }
            if own.size().length() < LARGEST_OBSTACLE * extent {
                bounds = bounds.union(own);
            }
        }
        let middle = if bounds.is_empty() { Vec3::ZERO } else { bounds.center().as_dvec3() };
        Self { camera: Camera::framing(&bounds, options, aspect), obstacles, middle }
    }

    /// Stages one frame: the surfaces of bodies, given by index, and the particles of the other bodies.
    pub(crate) fn stage(
        &self,
        table: &ParticleTable,
        surfaces: &[(usize, SurfaceTable)],
        coloring: &Coloring,
    ) -> Stage {
        let mut stage = Stage::new(self.camera);
        let is_bare = |body: u32| surfaces.iter().all(|surface| surface.0 != body as usize);
        let colors = coloring.colors(table);
        let rows = (0..table.id.len()).filter(|&row| is_bare(table.body[row]));
        stage.spheres = rows
            .map(|row| Sphere {
                center: glam::Vec3::from_array(table.position[row]),
                radius: table.radius[row],
                color: colors[row],
            })
            .collect();
        for (body, surface) in surfaces {
            stage.meshes.push(Mesh {
                vertices: surface.position.iter().map(|x| glam::Vec3::from_array(*x)).collect(),
                triangles: surface.triangles(),
                normals: Vec::new(),
                color: body_color(*body),
            });
        }
        for scenery in &self.obstacles {
            self.place(scenery, table.time, &mut stage);
        }
        stage.color_bar = coloring.legend();
        stage
    }

    fn place(&self, scenery: &Scenery, time: f64, stage: &mut Stage) {
        if let Some((_, triangles)) = &scenery.surface {
            stage.meshes.push(Mesh {
                vertices: scenery.places(time).collect(),
                triangles: triangles.clone(),
                normals: Vec::new(),
                color: Color::OBSTACLE,
            });
        } else if matches!(scenery.obstacle.shape.shape, Shape::HalfSpace { .. }) {
            let (point, normal) = scenery.plane(time, self.middle);
            if normal.y > UPRIGHT && stage.ground.is_none() {
                stage.ground = Some(point.y as f32);
            } else {
                stage.planes.push(Plane {
                    point: point.as_vec3(),
                    normal: normal.as_vec3(),
                    color: Color::OBSTACLE,
                });
            }
        }
    }
}

impl Scenery {
    fn new(obstacle: Obstacle) -> Self {
        let mesh = if obstacle.inside { None } else { obstacle.shape.triangulate(RESOLUTION).ok() };
        let surface = mesh.map(|mesh| (mesh.vertices().to_vec(), mesh.triangles().to_vec()));
        Self { obstacle, surface }
    }

    fn pose(&self, time: f64) -> Pose {
        self.obstacle.motion.pose(time, self.obstacle.center())
    }

    /// Returns the vertices of the surface at a time.
    fn places(&self, time: f64) -> impl Iterator<Item = glam::Vec3> {
        let pose = self.pose(time);
        self.surface.iter().flat_map(|surface| &surface.0).map(move |vertex| pose.apply(*vertex).as_vec3())
    }

    /// Returns the point of a plane that is nearest to `middle`, and its normal.
    fn plane(&self, time: f64, middle: Vec3) -> (Vec3, Vec3) {
        let pose = self.pose(time);
        let at_start = pose.undo(middle);
        let (distance, normal) = self.obstacle.shape.signed_distance_and_normal(at_start);
        (pose.apply(at_start - normal * distance), pose.rotation * normal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use phyxel::contact::{Ease, Keyframe, Motion};
    use phyxel::math::vec3;

    fn table(time: f64) -> ParticleTable {
        ParticleTable {
            time,
            position: vec![[0.0, 1.0, 0.0], [1.0, 2.0, 0.0]],
            id: vec![0, 1],
            body: vec![0, 1],
            radius: vec![0.1, 0.1],
            columns: Vec::new(),
            point_sets: Vec::new(),
        }
    }

    #[test]
    fn floors_are_ground_slopes_are_planes_and_other_obstacles_move() {
        let half_space = |normal| Shape::HalfSpace { normal, offset: 0.25 }.into();
        let floor = Obstacle::new("floor", half_space(Vec3::Y));
        let slope = Obstacle::new("slope", half_space(vec3(1.0, 1.0, 0.0).normalize()));
        let mut ball = Obstacle::new("ball", Shape::Sphere { radius: 0.5 }.into());
        let key = Keyframe { time: 1.0, translation: vec3(0.0, 3.0, 0.0), rotation: Vec3::ZERO };
        ball.motion = Motion::try_new(vec![Keyframe::default(), key], Ease::Linear).unwrap();
        let mut room = Obstacle::new("room", Shape::Box { size: Vec3::splat(9.0) }.into());
        room.inside = true;
        let tables = [table(0.0), table(1.0)];
        let staging = Staging::new(&tables, vec![floor, slope, ball, room], &CameraOptions::default(), 1.0);
        let stage = staging.stage(&tables[1], &[], &Coloring::Body);
        assert_eq!(stage.ground, Some(0.25));
        assert_eq!(stage.planes.len(), 1);
        assert!((stage.planes[0].point.dot(stage.planes[0].normal) - 0.25).abs() < 1e-6);
        assert_eq!((stage.meshes.len(), stage.spheres.len()), (1, 2));
        let lowest = stage.meshes[0].vertices.iter().map(|vertex| vertex.y).fold(f32::INFINITY, f32::min);
        assert!((lowest - 2.5).abs() < 1e-3, "{lowest}");
        let start = staging.stage(&tables[0], &[], &Coloring::Body);
        assert_eq!(start.camera.eye, stage.camera.eye);
    }
}
