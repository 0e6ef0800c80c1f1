//! A mesh as in its file: polygons, with the data of their corners.

use super::{MeshError, polygon};
use phyxel::geometry::{Placement, TriangleMesh};
use phyxel::math::Vec3;

/// A mesh of polygons, with texture coordinates, normals and groups if there are any.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolygonMesh {
    /// Positions of the vertices, in the order of the file.
    pub vertices: Vec<Vec3>,
    /// Number of corners of each face.
    pub face_sizes: Vec<u32>,
    /// Vertex index of each corner, face after face.
    pub corners: Vec<u32>,
    /// Texture coordinates, one per corner, origin at the lower left; empty if there are none.
    pub uvs: Vec<[f32; 2]>,
    /// Unit normals, one per corner; empty if there are none.
    pub normals: Vec<Vec3>,
    /// Index of each face's group in `group_names`; empty if there are no groups.
    pub face_groups: Vec<u32>,
    /// Names of the groups.
    pub group_names: Vec<String>,
}

impl PolygonMesh {
    /// Adds a face.
    pub(super) fn add_face(&mut self, corners: &[u32]) {
        self.face_sizes.push(corners.len() as u32);
        self.corners.extend_from_slice(corners);
    }

    /// Returns the range of corners of each face.
    pub fn faces(&self) -> impl Iterator<Item = std::ops::Range<usize>> {
        self.face_sizes.iter().scan(0, |end, &size| {
            let start = *end;
            *end += size as usize;
            Some(start..*end)
        })
    }

    /// Converts to the surface of a solid: polygons are cut into triangles, vertices at the same position merged.
    pub(super) fn to_triangle_mesh(&self, format: &'static str) -> Result<TriangleMesh, MeshError> {
        let mut triangles = Vec::new();
        let mut n_shared = polygon::SHARED_TESTS;
        for face in self.faces() {
            polygon::triangulate(&self.corners[face], &self.vertices, &mut n_shared, &mut triangles);
        }
        if triangles.is_empty() {
            return Err(MeshError::NoTriangles { format });
        }
        Ok(TriangleMesh::try_new(self.vertices.clone(), triangles)?.merge_duplicates())
    }

    /// Converts a triangle mesh to a polygon mesh.
    pub fn from_triangles(mesh: &TriangleMesh) -> Self {
        Self {
            vertices: mesh.vertices().to_vec(),
            face_sizes: vec![3; mesh.triangles().len()],
            corners: mesh.triangles().as_flattened().to_vec(),
            ..Self::default()
        }
    }

    /// Returns the mesh moved and rotated by a placement.
    pub fn placed(mut self, placement: &Placement) -> Self {
        self.vertices.iter_mut().for_each(|vertex| *vertex = placement.to_world(*vertex));
        self.normals.iter_mut().for_each(|normal| *normal = placement.direction_to_world(*normal));
        self
    }

    /// Removes texture coordinates, normals or groups that are incomplete or invalid, instead of refusing the shape.
    pub(super) fn drop_incomplete(&mut self) {
        let n_corners = self.corners.len();
        if self.uvs.len() != n_corners || self.uvs.iter().flatten().any(|x| !x.is_finite()) {
            self.uvs.clear();
        }
        if self.normals.len() != n_corners || self.normals.iter().any(|n| n.try_normalize().is_none()) {
            self.normals.clear();
        }
        self.normals.iter_mut().for_each(|normal| *normal = normal.normalize());
        if self.face_groups.len() != self.face_sizes.len() || self.group_names.is_empty() {
            self.face_groups.clear();
            self.group_names.clear();
        }
    }
}
