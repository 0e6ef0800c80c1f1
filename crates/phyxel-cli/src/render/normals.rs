//! Normals of triangle meshes for shading.

use phyxel::math::glam::Vec3;

use super::stage::Mesh;

/// Cosine of the largest angle (40°) between faces that share a smooth normal: a cube keeps its edges, a coarse ball
/// looks round.
const CREASE_COSINE: f32 = 0.766;

/// Three normals of a triangle of the mesh; `None` if the triangle is not usable (an index out of range, a corner that
/// is not finite, no area).
pub(super) type CornerNormals = Option<[Vec3; 3]>;

/// Returns the normals at the corners of every triangle: the mesh's own, or averaged over the faces around a vertex.
pub(super) fn corner_normals(mesh: &Mesh) -> Vec<CornerNormals> {
    let scaled: Vec<Option<Vec3>> =
        mesh.triangles.iter().map(|triangle| face_vector(mesh, triangle)).collect();
    if mesh.normals.len() == mesh.vertices.len() {
        return mesh.triangles.iter().zip(&scaled).map(|(t, face)| given_normals(mesh, t, *face)).collect();
    }
    let faces_at = faces_around_vertices(mesh, &scaled);
    let corner = |vertex: u32, face: Vec3| {
        let own = face.normalize_or_zero();
        let smooth: Vec3 = faces_at[vertex as usize]
            .iter()
            .filter_map(|&other| scaled[other as usize])
            .filter(|other| other.normalize_or_zero().dot(own) > CREASE_COSINE)
            .sum();
        smooth.try_normalize().unwrap_or(own)
    };
    let of_face = |(triangle, face): (&[u32; 3], &Option<Vec3>)| {
        face.map(|face| triangle.map(|vertex| corner(vertex, face)))
    };
    mesh.triangles.iter().zip(&scaled).map(of_face).collect()
}

/// Returns the normal times twice the area.
fn face_vector(mesh: &Mesh, triangle: &[u32; 3]) -> Option<Vec3> {
    let corner = |k: usize| mesh.vertices.get(triangle[k] as usize).filter(|place| place.is_finite());
    let (a, b, c) = (corner(0)?, corner(1)?, corner(2)?);
    let vector = (b - a).cross(c - a);
    (vector.is_finite() && vector != Vec3::ZERO).then_some(vector)
}

fn given_normals(mesh: &Mesh, triangle: &[u32; 3], face: Option<Vec3>) -> CornerNormals {
    let own = face?.normalize_or_zero();
    Some(triangle.map(|vertex| mesh.normals[vertex as usize].try_normalize().unwrap_or(own)))
}

fn faces_around_vertices(mesh: &Mesh, scaled: &[Option<Vec3>]) -> Vec<Vec<u32>> {
    let mut faces_at = vec![Vec::new(); mesh.vertices.len()];
    for (face, triangle) in mesh.triangles.iter().enumerate().filter(|(face, _)| scaled[*face].is_some()) {
        for &vertex in triangle {
            faces_at[vertex as usize].push(face as u32);
        }
    }
    faces_at
}

#[cfg(test)]
mod tests {
    use phyxel::math::glam::vec3;

    use super::super::color::Color;
    use super::*;

    /// Makes two triangles with a common edge along z, the second one folded down by `angle`.
    fn fold(angle: f32) -> Mesh {
        let vertices = vec![
            vec3(-1.0, 0.0, 0.0),
            vec3(0.0, 0.0, 1.0),
            vec3(0.0, 0.0, -1.0),
            vec3(angle.cos(), -angle.sin(), 0.0),
        ];
        let triangles = vec![[0, 1, 2], [3, 2, 1]];
        Mesh { vertices, triangles, normals: Vec::new(), color: Color::OBSTACLE }
    }

    #[test]
    fn gentle_folds_are_smooth_and_steep_ones_sharp() {
        let gentle = corner_normals(&fold(0.4));
        let (a, b) = (gentle[0].unwrap(), gentle[1].unwrap());
        assert!(a[1].distance(b[2]) < 1e-6 && a[0].distance(b[0]) > 0.3);
        let steep = corner_normals(&fold(1.5));
        assert!(steep[0].unwrap()[1].distance(Vec3::Y) < 1e-6);
        assert!(steep[1].unwrap()[1].dot(Vec3::Y) < 0.1);
    }

    #[test]
    fn unusable_triangles_are_left_out() {
        let mut mesh = fold(0.4);
        mesh.triangles.push([0, 1, 99]);
        mesh.triangles.push([0, 0, 1]);
        mesh.vertices.push(Vec3::NAN);
        mesh.triangles.push([0, 1, 4]);
        let usable: Vec<bool> = corner_normals(&mesh).iter().map(Option::is_some).collect();
        assert_eq!(usable, [true, true, false, false, false]);
        mesh.normals = vec![Vec3::Y; 5];
        let usable: Vec<bool> = corner_normals(&mesh).iter().map(Option::is_some).collect();
        assert_eq!(usable, [true, true, false, false, false]);
    }
}
