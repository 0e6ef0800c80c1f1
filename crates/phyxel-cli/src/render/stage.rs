//! Contents of a picture: the input of the renderer.

use phyxel::math::glam::Vec3;

use super::camera::Camera;
use super::color::{Color, ColorMap};

/// A particle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sphere {
    /// Centre (m).
    pub(crate) center: Vec3,
    /// Radius (m).
    pub(crate) radius: f32,
    /// Colour.
    pub(crate) color: Color,
}

/// A triangle surface, seen from both sides.
#[derive(Clone, Debug)]
pub(crate) struct Mesh {
    /// Positions of the vertices (m).
    pub(crate) vertices: Vec<Vec3>,
    /// Indices of the vertices of each triangle.
    pub(crate) triangles: Vec<[u32; 3]>,
    /// Normal of each vertex. If empty, normals are computed: smooth over gentle angles, sharp over steep ones.
    pub(crate) normals: Vec<Vec3>,
    /// Colour.
    pub(crate) color: Color,
}

/// An infinite plane (a slope, a wall), drawn as a square around the middle of the view.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plane {
    /// A point of the plane (m).
    pub(crate) point: Vec3,
    /// Normal of the plane; any length.
    pub(crate) normal: Vec3,
    /// Colour.
    pub(crate) color: Color,
}

/// Legend of a scalar.
#[derive(Clone, Debug)]
pub(crate) struct ColorBar {
    /// Name of the quantity.
    pub(crate) label: String,
    /// Unit of the quantity; may be empty.
    pub(crate) unit: String,
    /// Value at the lower end.
    pub(crate) min: f32,
    /// Value at the upper end.
    pub(crate) max: f32,
    /// Map of the colours.
    pub(crate) map: ColorMap,
}

/// Contents of one picture. Objects with coordinates that are not finite, and spheres without a radius, are left out.
#[derive(Clone, Debug)]
pub(crate) struct Stage {
    /// Particles.
    pub(crate) spheres: Vec<Sphere>,
    /// Surfaces and obstacles.
    pub(crate) meshes: Vec<Mesh>,
    /// Slopes and walls.
    pub(crate) planes: Vec<Plane>,
    /// Height y of the ground (m), if there is one.
    pub(crate) ground: Option<f32>,
    /// Text at the top.
    pub(crate) title: Option<String>,
    /// Text at the bottom.
    pub(crate) caption: Option<String>,
    /// Legend at the right.
    pub(crate) color_bar: Option<ColorBar>,
    /// Camera of the picture.
    pub(crate) camera: Camera,
}

impl Stage {
    /// Creates an empty stage seen by this camera.
    pub(crate) fn new(camera: Camera) -> Self {
        Self {
            spheres: Vec::new(),
            meshes: Vec::new(),
            planes: Vec::new(),
            ground: None,
            title: None,
            caption: None,
            color_bar: None,
            camera,
        }
    }
}
