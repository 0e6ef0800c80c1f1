//! Normals of a deformed mesh.
//!
//! Corners at the same position that shall look smooth share a normal. It is the mean of the normals of their faces,
//! weighted by the angles at the corners. The normal of a face is its geometric normal, or the normal given in the
//! mesh, rotated with the face.

use crate::mesh::PolygonMesh;
use phyxel::math::{Mat3, Vec3, acos, atan2};
use std::collections::HashMap;

/// Assignment of corners to shared normals.
#[derive(Clone, Debug)]
pub(super) struct NormalRule {
    /// Index of the shared normal of each corner.
    shared: Vec<u32>,
    n_shared: usize,
    /// True if corners of one vertex may have different normals, so that normals of corners are written.
    has_edges: bool,
}

type Place = [u64; 3];

/// Returns a key of a position; vertices at the same position, such as along a seam of a file, have the same key.
fn place(position: Vec3) -> Place {
    (position + Vec3::ZERO).to_array().map(f64::to_bits)
}

impl NormalRule {
    /// Creates the rule that all corners at the same position share a normal.
    pub(super) fn smooth(mesh: &PolygonMesh) -> Self {
        let at = |&vertex: &u32| (place(mesh.vertices[vertex as usize]), [0; 3]);
        Self::sharing(mesh.corners.iter().map(at), false)
    }

    /// Creates the rule that corners at the same position share a normal if the mesh gives them equal ones.
    pub(super) fn own(mesh: &PolygonMesh) -> Self {
        let corners = mesh.corners.iter().zip(&mesh.normals);
        let key = |(&vertex, normal): (&u32, &Vec3)| {
            (place(mesh.vertices[vertex as usize]), normal.as_vec3().to_array().map(|x| x.to_bits().into()))
        };
        Self::sharing(corners.map(key), true)
    }

    /// Creates the rule that corners at the same position share a normal if no sharp edge separates their faces.
    pub(super) fn creased(mesh: &PolygonMesh, crease: f64) -> Self {
        let normals: Vec<Vec3> = mesh
            .faces()
            .map(|face| face_normal(&mesh.corners[face], &mesh.vertices).normalize_or_zero())
            .collect();
        let face_of: Vec<usize> =
            mesh.faces().enumerate().flat_map(|(f, face)| face.map(move |_| f)).collect();
        let mut around: HashMap<Place, Vec<usize>> = HashMap::new();
        for (corner, &vertex) in mesh.corners.iter().enumerate() {
            around.entry(place(mesh.vertices[vertex as usize])).or_default().push(corner);
        }
        let mut shared = vec![u32::MAX; mesh.corners.len()];
        let mut n_shared = 0;
        // corners in order, so that the indices do not depend on the order of the map
        for corner in 0..mesh.corners.len() {
            if shared[corner] != u32::MAX {
                continue;
            }
            let others = &around[&place(mesh.vertices[mesh.corners[corner] as usize])];
            shared[corner] = n_shared;
            let mut found = vec![corner];
            while let Some(from) = found.pop() {
                for &other in others {
                    let angle = acos(normals[face_of[from]].dot(normals[face_of[other]]).clamp(-1.0, 1.0));
                    if shared[other] == u32::MAX && angle < crease {
                        shared[other] = n_shared;
                        found.push(other);
                    }
                }
            }
            n_shared += 1;
        }
        let has_edges = n_shared as usize > around.len();
        Self { shared, n_shared: n_shared as usize, has_edges }
    }

    fn sharing(keys: impl Iterator<Item = (Place, [u64; 3])>, has_edges: bool) -> Self {
        let mut known = HashMap::new();
        let shared = keys
            .map(|key| {
                let next = known.len() as u32;
                *known.entry(key).or_insert(next)
            })
            .collect();
        Self { shared, n_shared: known.len(), has_edges }
    }

    /// Returns the normals of vertices and, if they may differ, of corners.
    pub(super) fn normals(&self, mesh: &PolygonMesh, positions: &[Vec3]) -> (Vec<Vec3>, Vec<Vec3>) {
        let mut shared = vec![Vec3::ZERO; self.n_shared];
        let mut by_vertex = vec![Vec3::ZERO; positions.len()];
        for face in mesh.faces() {
            let normal = face_normal(&mesh.corners[face.clone()], positions).normalize_or_zero();
            let n = face.len();
            let vertex = |k: usize| mesh.corners[face.start + k % n] as usize;
            for k in 0..n {
                let [here, next, before] = [vertex(k), vertex(k + 1), vertex(k + n - 1)];
                let edges = [positions[next] - positions[here], positions[before] - positions[here]];
                let angle = angle_between(edges[0], edges[1]);
                let corner = face.start + k;
                let own = match mesh.normals.get(corner) {
                    Some(&at_rest) => {
                        let rest_edge = mesh.vertices[next] - mesh.vertices[here];
                        let rest_normal = face_normal(&mesh.corners[face.clone()], &mesh.vertices);
                        turned(at_rest, (rest_edge, rest_normal), (edges[0], normal))
                    }
                    None => normal,
                };
                shared[self.shared[corner] as usize] += own * angle;
                by_vertex[here] += own * angle;
            }
        }
        shared.iter_mut().chain(&mut by_vertex).for_each(|n| *n = n.try_normalize().unwrap_or(Vec3::Y));
        if !self.has_edges {
            // vertices along a seam share their normals
            for (corner, &vertex) in mesh.corners.iter().enumerate() {
                by_vertex[vertex as usize] = shared[self.shared[corner] as usize];
            }
            return (by_vertex, Vec::new());
        }
        (by_vertex, self.shared.iter().map(|&k| shared[k as usize]).collect())
    }
}

/// Returns a direction rotated like the frame of an edge and a normal, from `rest` to `now`.
fn turned(direction: Vec3, rest: (Vec3, Vec3), now: (Vec3, Vec3)) -> Vec3 {
    let frame = |(edge, normal): (Vec3, Vec3)| -> Option<Mat3> {
        let normal = normal.try_normalize()?;
        let along = (edge - normal * normal.dot(edge)).try_normalize()?;
        Some(Mat3::from_cols(along, normal.cross(along), normal))
    };
    match (frame(rest), frame(now)) {
        (Some(rest), Some(now)) => now * (rest.transpose() * direction),
        _ => direction,
    }
}

fn angle_between(a: Vec3, b: Vec3) -> f64 {
    atan2(a.cross(b).length(), a.dot(b))
}

/// Returns twice the area vector of a polygon, also if it is not flat (Newell).
fn face_normal(corners: &[u32], positions: &[Vec3]) -> Vec3 {
    let place = |k: usize| positions[corners[k % corners.len()] as usize];
    (1..corners.len()).map(|k| (place(k) - place(0)).cross(place(k + 1) - place(0))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::SurfaceMesh;
    use phyxel::geometry::Shape;
    use phyxel::math::{Quat, vec3};

    fn turn(x: Vec3) -> Vec3 {
        Quat::from_axis_angle(vec3(1.0, -1.0, 0.3).normalize(), 1.1) * x
    }

    #[test]
    fn a_sphere_is_smooth_and_a_box_keeps_its_edges() {
        let sphere = SurfaceMesh::of_shape(&Shape::Sphere { radius: 1.0 }.into(), 0.1).unwrap();
        let table = sphere.at(0.0, sphere.vertices(), &[]);
        assert!(table.corner_normals.is_empty());
        for (x, n) in sphere.vertices().iter().zip(&table.normal) {
            let n = vec3(n[0].into(), n[1].into(), n[2].into());
            assert!(n.dot(x.normalize()) > 0.999, "{n}");
        }
        let cube = SurfaceMesh::of_shape(&Shape::Box { size: Vec3::ONE }.into(), 0.25).unwrap();
        let moved: Vec<Vec3> = cube.vertices().iter().map(|&x| turn(x)).collect();
        let table = cube.at(0.0, &moved, &[]);
        assert_eq!(table.corner_normals.len(), table.corners.len());
        for (k, n) in table.corner_normals.iter().enumerate() {
            let face = &table.corners[k / 3 * 3..k / 3 * 3 + 3];
            let expected = face_normal(face, &moved).normalize();
            assert!(vec3(n[0].into(), n[1].into(), n[2].into()).dot(expected) > 1.0 - 1e-6);
        }
    }

    #[test]
    fn normals_of_a_mesh_turn_with_it() {
        let mut mesh = PolygonMesh {
            vertices: vec![
                Vec3::ZERO,
                Vec3::X,
                vec3(1.0, 1.0, 0.0),
                Vec3::Y,
                Vec3::ZERO,
                vec3(0.0, 0.0, 1.0),
            ],
            face_sizes: vec![4, 3],
            corners: vec![0, 1, 2, 3, 4, 3, 5],
            normals: vec![vec3(0.6, 0.0, 0.8); 7],
            ..PolygonMesh::default()
        };
        mesh.normals[5] = vec3(0.0, 1.0, 0.0);
        let moved: Vec<Vec3> = mesh.vertices.iter().map(|&x| turn(x)).collect();
        let (_, corners) = NormalRule::own(&mesh).normals(&mesh, &moved);
        for (n, rest) in corners.iter().zip(&mesh.normals) {
            assert!(n.distance(turn(*rest)) < 1e-12);
        }
        // in a mesh without normals, vertices at the same position share theirs
        let bare = PolygonMesh { normals: Vec::new(), ..mesh };
        let (vertices, corners) = NormalRule::smooth(&bare).normals(&bare, &bare.vertices);
        assert!(corners.is_empty());
        assert_eq!(vertices[0], vertices[4]);
    }
}
