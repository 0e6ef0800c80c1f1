//! Surface meshes that move with their bodies: made from a file or a shape, written in every frame.

mod normals;

use crate::mesh::PolygonMesh;
use crate::results::SurfaceTable;
use normals::NormalRule;
use phyxel::geometry::{PlacedShape, Shape, ShapeError, TriangleMesh};
use phyxel::math::Vec3;

/// Smallest angle between faces of a shape at which their edge stays sharp (rad).
const CREASE: f64 = 0.6;
/// Smallest and largest number of segments around a round shape.
const SEGMENTS: (f64, f64) = (16.0, 1024.0);

/// Largest number of triangles of a shape's surface.
const MAX_TRIANGLES: f64 = 3e6;

/// Reason why a shape has no surface mesh.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SurfaceError {
    /// The shape has no closed surface.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// The edges are too short for the size of the shape.
    #[error(
        "about {estimate:.1e} triangles would be needed, the limit is {MAX_TRIANGLES:e}; choose longer edges"
    )]
    TooFine {
        /// Estimated number of triangles.
        estimate: f64,
    },
}

/// A surface mesh that follows its body.
#[derive(Clone, Debug)]
pub struct SurfaceMesh {
    rest: PolygonMesh,
    rule: NormalRule,
}

impl SurfaceMesh {
    /// Creates the surface from a mesh of a file, at its position at the start.
    pub fn new(rest: PolygonMesh) -> Self {
        let rule = if rest.normals.is_empty() { NormalRule::smooth(&rest) } else { NormalRule::own(&rest) };
        Self { rest, rule }
    }

    /// Creates the surface of a shape, with edges about as long as `edge` (m).
    ///
    /// # Errors
    /// When the shape has no closed surface, or would have too many triangles.
    pub fn of_shape(shape: &PlacedShape, edge: f64) -> Result<Self, SurfaceError> {
        let size = shape.bounds().ok_or(ShapeError::Infinite)?.size();
        let extent = size.max_element();
        // a combination with thin parts may have no surface at this resolution, and has not more than its bounds
        let area = shape
            .triangulate(SEGMENTS.0 as usize)
            .map_or(2.0 * size.dot(Vec3::new(size.y, size.z, size.x)), |mesh| area(&mesh));
        let estimate = per_square(&shape.shape) * area / (edge * edge);
        if !(estimate <= MAX_TRIANGLES) {
            return Err(SurfaceError::TooFine { estimate });
        }
        let segments = (std::f64::consts::PI * extent / edge).ceil().clamp(SEGMENTS.0, SEGMENTS.1);
        let rest = PolygonMesh::from_triangles(&shape.triangulate(segments as usize)?.refined(edge));
        let rule = NormalRule::creased(&rest, CREASE);
        Ok(Self { rest, rule })
    }

    /// Returns the positions of the vertices at the start (m); [`SurfaceMesh::at`] takes them in the same order.
    pub fn vertices(&self) -> &[Vec3] {
        &self.rest.vertices
    }

    /// Returns true if the mesh has texture coordinates.
    pub fn has_uvs(&self) -> bool {
        !self.rest.uvs.is_empty()
    }

    /// Returns the length of the longest edge at the start (m).
    pub fn longest_edge(&self) -> f64 {
        let PolygonMesh { vertices, corners, .. } = &self.rest;
        let place = |k: usize| vertices[corners[k] as usize];
        let longest = |face: std::ops::Range<usize>| {
            let next = |k: usize| if k + 1 < face.end { k + 1 } else { face.start };
            face.clone().map(|k| place(k).distance(place(next(k)))).fold(0.0, f64::max)
        };
        self.rest.faces().map(longest).fold(0.0, f64::max)
    }

    /// Returns the surface with its vertices at other positions; velocities may be empty.
    pub fn at(&self, time: f64, positions: &[Vec3], velocities: &[Vec3]) -> SurfaceTable {
        let floats = |v: &Vec3| v.as_vec3().to_array();
        let (normal, corner_normals) = self.rule.normals(&self.rest, positions);
        SurfaceTable {
            time,
            position: positions.iter().map(floats).collect(),
            normal: normal.iter().map(floats).collect(),
            velocity: velocities.iter().map(floats).collect(),
            face_sizes: self.rest.face_sizes.clone(),
            corners: self.rest.corners.clone(),
            uvs: self.rest.uvs.clone(),
            corner_normals: corner_normals.iter().map(floats).collect(),
            face_groups: self.rest.face_groups.clone(),
            group_names: self.rest.group_names.clone(),
        }
    }
}

/// Returns about how many triangles a square of the surface gets whose sides are as long as the wanted edges: the cells of
/// combined shapes are smaller by π, and each is cut several times.
fn per_square(shape: &Shape) -> f64 {
    match shape {
        Shape::Union(_) | Shape::Difference(_) | Shape::Intersection(_) | Shape::Shell { .. } => 40.0,
        _ => 4.0,
    }
}

fn area(mesh: &TriangleMesh) -> f64 {
    let place = |vertex: u32| mesh.vertices()[vertex as usize];
    let area = |&[a, b, c]: &[u32; 3]| 0.5 * (place(b) - place(a)).cross(place(c) - place(a)).length();
    mesh.triangles().iter().map(area).sum()
}
