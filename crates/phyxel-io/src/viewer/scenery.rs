//! Obstacles as the page draws them: shapes once, poses in every frame.

use phyxel::contact::{Obstacle, Pose};
use phyxel::geometry::Shape;
use phyxel::math::{Mat3, Vec3};
use serde_json::{Value, json};

/// Number of segments around a round obstacle.
const RESOLUTION: usize = 48;
/// Smallest y component of the unit normal of a half-space that is drawn as the ground.
const UPRIGHT: f64 = 0.9999;

/// The obstacles of a scene.
#[derive(Debug, Default)]
pub struct Scenery {
    obstacles: Vec<Obstacle>,
    shapes: Vec<Value>,
}

impl Scenery {
    /// Creates the shapes of the obstacles; infinite planes are drawn around `middle`.
    pub fn new(obstacles: Vec<Obstacle>, middle: [f32; 3]) -> Self {
        let middle = Vec3::from_array(middle.map(f64::from));
        let mut has_ground = false;
        let mut shapes = Vec::with_capacity(obstacles.len());
        for obstacle in &obstacles {
            let shape = shape(obstacle, middle, has_ground);
            has_ground |= shape["kind"] == "ground";
            shapes.push(shape);
        }
        Self { obstacles, shapes }
    }

    /// Returns the shapes, which are the same in every frame.
    pub fn info(&self) -> Value {
        self.shapes.clone().into()
    }

    /// Returns the pose of each obstacle relative to the start, as 4×4 matrices, column by column.
    pub fn poses(&self, time: f64) -> Vec<[f32; 16]> {
        let pose = |obstacle: &Obstacle| matrix(&obstacle.motion.pose(time, obstacle.center()));
        self.obstacles.iter().map(pose).collect()
    }
}

/// Returns the shape of an obstacle at time 0, as JSON for the page.
fn shape(obstacle: &Obstacle, middle: Vec3, has_ground: bool) -> Value {
    let name = &obstacle.name;
    if matches!(obstacle.shape.shape, Shape::HalfSpace { .. }) {
        let (distance, outward) = obstacle.shape.signed_distance_and_normal(middle);
        let point = middle - outward * distance;
        let normal = if obstacle.inside { -outward } else { outward };
        return if normal.y > UPRIGHT && !has_ground {
            json!({ "name": name, "kind": "ground", "height": point.y })
        } else {
            json!({ "name": name, "kind": "plane", "point": point.to_array(), "normal": normal.to_array() })
        };
    }
    match obstacle.shape.triangulate(RESOLUTION) {
        Ok(mesh) => {
            let vertices: Vec<f32> =
                mesh.vertices().iter().flat_map(|vertex| vertex.to_array().map(|x| x as f32)).collect();
            json!({
                "name": name,
                "kind": "mesh",
                "inside": obstacle.inside,
                "vertices": vertices,
                "triangles": mesh.triangles().as_flattened(),
            })
        }
        // a shape without a surface is not drawn, but keeps its index in the list of poses
        Err(_) => json!({ "name": name, "kind": "none" }),
    }
}

fn matrix(pose: &Pose) -> [f32; 16] {
    let turn = Mat3::from_quat(pose.rotation);
    let shift = pose.apply(Vec3::ZERO);
    let columns = [turn.x_axis, turn.y_axis, turn.z_axis, shift];
    let mut flat = [0.0; 16];
    for (k, column) in columns.iter().enumerate() {
        for (place, x) in flat[4 * k..].iter_mut().zip(column.to_array()) {
            *place = x as f32;
        }
    }
    flat[15] = 1.0;
    flat
}
