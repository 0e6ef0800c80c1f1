use super::super::shape::Shape;
use super::*;
use crate::math::Random;

fn sphere(resolution: usize) -> TriangleMesh {
    Shape::Sphere { radius: 1.0 }.triangulate(resolution).unwrap()
}

/// Returns a sphere without its cap above a height.
fn sphere_with_hole(resolution: usize, height: Real) -> TriangleMesh {
    let whole = sphere(resolution);
    let keeps =
        |triangle: &[u32; 3]| triangle.iter().all(|&vertex| whole.vertices()[vertex as usize].y < height);
    let triangles = whole.triangles().iter().copied().filter(keeps).collect();
    TriangleMesh::try_new(whole.vertices().to_vec(), triangles).unwrap()
}

fn flipped(mesh: &TriangleMesh) -> TriangleMesh {
    let triangles = mesh.triangles().iter().map(|&[a, b, c]| [a, c, b]).collect();
    TriangleMesh::try_new(mesh.vertices().to_vec(), triangles).unwrap()
}

fn sheet() -> TriangleMesh {
    let vertices = vec![vec3(0.0, 0.0, 0.0), vec3(1.0, 0.5, 0.0), vec3(1.0, 0.5, 1.0), vec3(0.0, 0.0, 1.0)];
    TriangleMesh::try_new(vertices, vec![[0, 1, 2], [0, 2, 3]]).unwrap()
}

fn random_points(count: usize, radius: Real) -> impl Iterator<Item = Vec3> {
    let mut random = Random::with_stream(11, 0);
    (0..count).map(move |_| radius * random.in_cube())
}

#[test]
fn tree_finds_the_same_closest_point_as_brute_force() {
    let mesh = Shape::Torus { radius: 1.0, tube_radius: 0.4 }.triangulate(24).unwrap();
    for p in random_points(500, 2.0) {
        let exact = (0..mesh.triangles().len())
            .map(|triangle| triangle::closest_point(p, &mesh.corners(triangle)).distance(p))
            .fold(Real::INFINITY, Real::min);
        let found = mesh.closest_point(p);
        assert!((found.distance - exact).abs() < 1e-12);
        assert!((found.point.distance(p) - exact).abs() < 1e-12);
        let on_triangle = triangle::closest_point(found.point, &mesh.corners(found.triangle));
        assert!(on_triangle.distance(found.point) < 1e-12);
        assert!(mesh.closest_point_within(p, 0.99 * exact).is_none());
        assert_eq!(mesh.closest_point_within(p, 1.01 * exact).unwrap().distance, found.distance);
    }
}

#[test]
fn closest_point_of_a_triangle_beats_every_sample_of_it() {
    let mut random = Random::with_stream(5, 0);
    for case in 0..300 {
        let mut corners = [random.in_cube(), random.in_cube(), random.in_cube()];
        match case % 10 {
            0 => corners[2] = corners[1],
            1 => corners[2] = corners[0].lerp(corners[1], 0.3),
            2 => corners = [corners[0]; 3],
            _ => {}
        }
        let p = 2.0 * random.in_cube();
        let distance = triangle::closest_point(p, &corners).distance(p);
        let mut least = Real::INFINITY;
        for i in 0..=60 {
            for j in 0..=60 - i {
                let (u, v) = (i as Real / 60.0, j as Real / 60.0);
                let sample = corners[0] + u * (corners[1] - corners[0]) + v * (corners[2] - corners[0]);
                least = least.min(sample.distance(p));
            }
        }
        assert!(distance <= least + 1e-12 && distance >= least - 0.06, "case {case}: {distance} {least}");
    }
}

#[test]
fn tree_winding_number_agrees_with_the_sum_over_triangles() {
    for mesh in [sphere(40), sphere_with_hole(40, 0.6), flipped(&sphere(24))] {
        for p in random_points(400, 1.5) {
            let exact: Real =
                (0..mesh.triangles().len()).map(|t| triangle::winding_number(p, &mesh.corners(t))).sum();
            let fast = mesh.winding_number(p);
            assert!((fast - exact).abs() < 0.01, "{p}: {fast} but {exact}");
        }
    }
}

#[test]
fn closed_meshes_have_a_sign_whichever_way_they_face() {
    let mesh = sphere(64);
    let inside_out = flipped(&mesh);
    assert!(mesh.is_closed() && mesh.has_inside() && inside_out.has_inside());
    assert!(mesh.signed_volume() > 0.0 && inside_out.signed_volume() < 0.0);
    assert_eq!(mesh.volume(), inside_out.volume());
    for p in random_points(500, 1.3) {
        if (p.length() - 1.0).abs() > 0.01 {
            assert_eq!(mesh.contains(p), p.length() < 1.0);
            assert_eq!(inside_out.contains(p), p.length() < 1.0);
            assert!((mesh.signed_distance(p) - (p.length() - 1.0)).abs() < 5e-3);
        }
    }
}

#[test]
fn open_meshes_have_an_inside_that_ends_at_the_hole() {
    let mesh = sphere_with_hole(32, 0.7);
    assert!(!mesh.is_closed() && mesh.has_inside());
    // the triangulated sphere is smaller than the true one
    let flattening = sphere(32).signed_volume() / (4.0 / 3.0 * std::f64::consts::PI);
    let rim = mesh.bounds().max.y;
    for p in random_points(2000, 1.2) {
        // a flat hole is seen under 2π from its own plane, where the inside ends
        if (p.length() - 1.0).abs() > 0.02 && (p.y - rim).abs() > 0.02 {
            assert_eq!(mesh.contains(p), p.length() < 1.0 && p.y < rim, "{p}");
        }
    }
    let exact = flattening * std::f64::consts::PI * (2.0 / 3.0 + rim - rim.powi(3) / 3.0);
    assert!((mesh.volume() / exact - 1.0).abs() < 2e-3, "{} {exact}", mesh.volume());
}

#[test]
fn clearance_balls_have_one_sign() {
    let mesh = sphere_with_hole(32, 0.7);
    let mut random = Random::with_stream(9, 1);
    for p in random_points(300, 1.2) {
        let clearance = mesh.signed_clearance(p, mesh.distance(p));
        assert_eq!(clearance < 0.0, mesh.contains(p));
        assert_ne!(mesh.side_of_ball(p, 0.999 * clearance.abs()), Side::Mixed);
        assert_eq!(mesh.side_of_ball(p, 1.001 * mesh.distance(p)), Side::Mixed);
        for _ in 0..30 {
            let q = p + 0.999 * clearance.abs() * random.in_cube().normalize();
            assert_eq!(mesh.contains(q), mesh.contains(p), "{p} {q} {clearance}");
        }
    }
}

#[test]
fn normals_face_outwards_everywhere() {
    for mesh in [sphere(48), flipped(&sphere(48))] {
        let on_surface = mesh.vertices().iter().copied().take(100);
        for p in random_points(200, 1.3).chain(on_surface).filter(|p| p.length() > 0.3) {
            let normal = mesh.signed_distance_and_normal(p).1;
            assert!((normal.length() - 1.0).abs() < 1e-9);
            assert!(normal.dot(p.normalize()) > 0.98, "{p} {normal}");
        }
    }
}

#[test]
fn sheets_have_no_inside() {
    assert!(!sheet().has_inside());
    assert!(!sheet().is_closed());
    assert!(random_points(300, 1.0).all(|p| !sheet().contains(p)));
}

#[test]
fn duplicate_vertices_are_merged() {
    let whole = sphere(16);
    let vertices: Vec<Vec3> =
        (0..whole.triangles().len()).flat_map(|triangle| whole.corners(triangle)).collect();
    let triangles = (0..whole.triangles().len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    let soup = TriangleMesh::try_new(vertices, triangles).unwrap();
    assert!(!soup.is_closed());
    let merged = soup.merge_duplicates();
    assert!(merged.is_closed());
    assert_eq!(merged.vertices().len(), whole.vertices().len());
    assert_eq!(merged.triangles().len(), whole.triangles().len());
    assert!((merged.volume() - whole.volume()).abs() < 1e-12);
}

#[test]
fn negative_zero_is_the_same_place() {
    let vertices = vec![vec3(0.0, 0.0, 0.0), vec3(1.0, 0.0, 0.0), vec3(0.0, 1.0, 0.0), vec3(-0.0, 0.0, -0.0)];
    let mesh =
        TriangleMesh::try_new(vertices, vec![[0, 1, 2], [3, 2, 1], [0, 3, 1]]).unwrap().merge_duplicates();
    assert_eq!(mesh.vertices().len(), 3);
    assert_eq!(mesh.triangles().len(), 2);
}

#[test]
fn bad_meshes_are_refused() {
    let corners = vec![Vec3::ZERO, Vec3::X, Vec3::Y];
    let refuse = |vertices: Vec<Vec3>, triangles| TriangleMesh::try_new(vertices, triangles).unwrap_err();
    assert_eq!(refuse(vec![], vec![]), TriangleMeshError::Empty { n_vertices: 0, n_triangles: 0 });
    assert_eq!(refuse(corners.clone(), vec![]), TriangleMeshError::Empty { n_vertices: 3, n_triangles: 0 });
    let out_of_range = TriangleMeshError::IndexOutOfRange { triangle: 0, vertex: 3, n_vertices: 3 };
    assert_eq!(refuse(corners.clone(), vec![[0, 1, 3]]), out_of_range);
    let not_a_number = vec![Vec3::ZERO, Vec3::X, vec3(0.0, Real::NAN, 0.0)];
    assert_eq!(refuse(not_a_number, vec![[0, 1, 2]]), TriangleMeshError::NonFinite { vertex: 2 });
    let line = vec![Vec3::ZERO, Vec3::X, 2.0 * Vec3::X];
    assert_eq!(refuse(line, vec![[0, 1, 2]]), TriangleMeshError::NoArea { n_triangles: 1 });
}
