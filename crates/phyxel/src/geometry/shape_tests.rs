//! Tests of shapes: distances against fine triangulations, normals against differences, volumes against counting.

use std::sync::Arc;

use super::*;
use crate::math::Random;
use crate::math::{Quat, Real, Vec3, vec3};

fn elementary() -> Vec<Shape> {
    vec![
        Shape::Box { size: vec3(1.0, 0.6, 1.6) },
        Shape::Sphere { radius: 0.7 },
        Shape::Cylinder { radius: 0.5, height: 1.2 },
        Shape::Capsule { radius: 0.4, height: 0.8 },
        Shape::Cone { radius: 0.6, height: 1.1 },
        Shape::Torus { radius: 0.7, tube_radius: 0.25 },
        Shape::Ellipsoid { radii: vec3(0.9, 0.3, 0.6) },
        Shape::Star { points: 5, radius: 0.9, inner_radius: 0.4, height: 0.5 },
        Shape::Star { points: 3, radius: 0.5, inner_radius: 0.9, height: 1.0 },
    ]
}

fn combinations() -> Vec<Shape> {
    let placed = |shape: Shape, position: Vec3| {
        let rotation = Quat::from_axis_angle(vec3(1.0, 2.0, -1.0).normalize(), 0.8);
        PlacedShape::new(shape, Placement { scale: 0.8, rotation, position })
    };
    let parts = || {
        let ball = placed(Shape::Sphere { radius: 0.8 }, vec3(0.1, 0.0, 0.0));
        vec![ball, placed(Shape::Box { size: vec3(1.0, 0.8, 0.9) }, vec3(0.3, 0.3, 0.2))]
    };
    vec![
        Shape::Union(parts()),
        Shape::Difference(parts()),
        Shape::Intersection(parts()),
        Shape::Shell { shape: Box::new(Shape::Cylinder { radius: 0.8, height: 1.0 }), thickness: 0.15 },
    ]
}

fn random_points(count: usize, radius: Real) -> impl Iterator<Item = Vec3> {
    let mut random = Random::with_stream(17, 0);
    (0..count).map(move |_| radius * random.in_cube())
}

/// Returns a fine triangulation of the surface.
fn fine_mesh(shape: &Shape) -> TriangleMesh {
    shape.triangulate(700).unwrap()
}

#[test]
fn distances_agree_with_a_fine_triangulation() {
    for shape in elementary() {
        let mesh = fine_mesh(&shape);
        for p in random_points(400, 1.6) {
            let (exact, found) = (mesh.distance(p), shape.signed_distance(p));
            assert!((found.abs() - exact).abs() < 2e-5, "{shape:?} at {p}: {found} but {exact}");
            if exact > 1e-4 {
                assert_eq!(found < 0.0, mesh.contains(p), "{shape:?} at {p}");
            }
        }
    }
}

#[test]
fn half_space_is_below_its_plane() {
    let ground = Shape::HalfSpace { normal: vec3(0.0, 2.0, 0.0), offset: 0.5 };
    assert_eq!(ground.signed_distance(vec3(3.0, 2.0, 1.0)), 1.5);
    assert_eq!(ground.signed_distance(vec3(3.0, 0.0, 1.0)), -0.5);
    assert_eq!(ground.normal(Vec3::ZERO), Vec3::Y);
    assert!(ground.bounds().is_none());
    assert_eq!(ground.volume(), Real::INFINITY);
}

/// Checks the distance of ellipsoids against its definition: no other point of the surface may be nearer.
#[test]
fn ellipsoid_distance_is_accurate_even_in_hard_places() {
    let mut points: Vec<Vec3> = random_points(60, 1.5).collect();
    points.extend([
        Vec3::ZERO,
        vec3(0.2, 0.0, 0.0),
        vec3(0.0, 0.0, 1e-9),
        vec3(0.4, 1e-14, 0.1),
        vec3(3.0, 0.0, 0.0),
    ]);
    for radii in [vec3(1.0, 0.5, 0.7), vec3(1.0, 0.01, 1.0), vec3(0.3, 0.3, 0.3), vec3(1e-3, 1.0, 0.5)] {
        let shape = Shape::Ellipsoid { radii };
        for &p in &points {
            let (distance, normal) = shape.signed_distance_and_normal(p);
            assert!(normal.is_normalized());
            // the foot point is on the surface, and its normal is the direction of the distance
            let foot = p - distance * normal;
            assert!(((foot / radii).length() - 1.0).abs() < 1e-6, "{radii} {p} {distance}");
            let at_foot = (foot / (radii * radii)).normalize();
            assert!(
                distance.abs() < 1e-6 || at_foot.dot(normal) > 1.0 - 1e-6,
                "{radii} {p} {at_foot} {normal}"
            );
            // no other point of the surface is nearer
            let nearest = ellipsoid_samples(radii).map(|q| q.distance(p)).fold(Real::INFINITY, Real::min);
            assert!(distance.abs() <= nearest + 1e-9, "{radii} {p} {distance} {nearest}");
        }
    }
}

fn ellipsoid_samples(radii: Vec3) -> impl Iterator<Item = Vec3> {
    let mut random = Random::with_stream(2, 0);
    (0..3000).map(move |_| random.in_cube().normalize() * radii)
}

#[test]
fn normals_are_gradients_and_never_vanish() {
    let mut shapes = elementary();
    shapes.extend(combinations());
    for shape in shapes {
        let mut n_smooth = 0;
        for p in random_points(500, 1.4) {
            let normal = shape.normal(p);
            assert!((normal.length() - 1.0).abs() < 1e-9, "{shape:?} at {p}: {normal}");
            let step = 1e-6;
            let slope = |axis: Vec3| {
                (shape.signed_distance(p + step * axis) - shape.signed_distance(p - step * axis))
                    / (2.0 * step)
            };
            let gradient = vec3(slope(Vec3::X), slope(Vec3::Y), slope(Vec3::Z));
            if (gradient.length() - 1.0).abs() < 1e-4 {
                n_smooth += 1;
                assert!(gradient.distance(normal) < 1e-3, "{shape:?} at {p}: {normal} but {gradient}");
            }
        }
        assert!(n_smooth > 480, "{shape:?}");
        for p in [Vec3::ZERO, Vec3::X, vec3(0.0, 0.3, 0.0), vec3(0.0, -5.0, 0.0), vec3(0.7, 0.0, 0.0)] {
            assert!((shape.normal(p).length() - 1.0).abs() < 1e-9, "{shape:?} at {p}");
            assert!(shape.signed_distance(p).is_finite());
        }
    }
}

#[test]
fn volumes_agree_with_counting_points() {
    let mut shapes = elementary();
    shapes.extend(combinations());
    shapes.push(Shape::Mesh(Arc::new(Shape::Cone { radius: 0.6, height: 1.1 }.triangulate(64).unwrap())));
    for shape in shapes {
        let bounds = shape.bounds().unwrap();
        let n_axis = 70;
        let mut n_inside = 0;
        for index in 0..n_axis * n_axis * n_axis {
            let place = vec3(
                (index % n_axis) as Real,
                (index / n_axis % n_axis) as Real,
                (index / (n_axis * n_axis)) as Real,
            );
            let cell = (place + Vec3::splat(0.5)) / n_axis as Real;
            n_inside += usize::from(shape.contains(bounds.min + cell * bounds.size()));
        }
        let counted = bounds.size().element_product() * n_inside as Real / (n_axis as Real).powi(3);
        assert!((shape.volume() / counted - 1.0).abs() < 0.012, "{shape:?}: {} {counted}", shape.volume());
    }
}

#[test]
fn bounds_are_tight_around_the_surface() {
    for shape in elementary() {
        let bounds = shape.bounds().unwrap();
        let surface = fine_mesh(&shape).bounds();
        assert!((bounds.min - surface.min).abs().max_element() < 1e-3, "{shape:?}");
        assert!((bounds.max - surface.max).abs().max_element() < 1e-3, "{shape:?}");
    }
    for shape in combinations() {
        let bounds = shape.bounds().unwrap();
        for p in random_points(3000, 2.0).filter(|&p| shape.contains(p)) {
            assert!(bounds.contains(p), "{shape:?} {p}");
        }
    }
}

#[test]
fn distance_of_combinations_never_exceeds_the_true_one() {
    for shape in combinations() {
        let mesh = shape.triangulate(120).unwrap();
        for p in random_points(300, 1.6) {
            assert!(shape.signed_distance(p).abs() <= mesh.distance(p) + 0.02, "{shape:?} {p}");
        }
    }
}

#[test]
fn placements_carry_everything_along() {
    let rotation = Quat::from_axis_angle(vec3(0.3, -1.0, 0.5).normalize(), 1.1);
    let placement = Placement { scale: 2.5, rotation, position: vec3(1.0, -2.0, 3.0) };
    for shape in elementary() {
        let placed = PlacedShape::new(shape.clone(), placement);
        assert!((placed.volume() / shape.volume() - 15.625).abs() < 1e-9);
        let bounds = placed.bounds().unwrap();
        for local in random_points(100, 1.0) {
            let world = placement.to_world(local);
            assert!(placement.to_local(world).distance(local) < 1e-12);
            assert!((placed.signed_distance(world) - 2.5 * shape.signed_distance(local)).abs() < 1e-9);
            assert!(placed.normal(world).distance(rotation * shape.normal(local)) < 1e-6);
            assert!(!placed.contains(world) || bounds.contains(world));
        }
        let mesh = placed.triangulate(64).unwrap();
        assert!(mesh.vertices().iter().all(|&vertex| placed.signed_distance(vertex).abs() < 1e-9));
    }
}

#[test]
fn senseless_shapes_are_refused() {
    let refuse = |shape: Shape| shape.validate().unwrap_err().to_string();
    assert!(refuse(Shape::Sphere { radius: -1.0 }).contains("radius"));
    assert!(refuse(Shape::Box { size: vec3(1.0, Real::NAN, 1.0) }).contains("size y"));
    assert!(refuse(Shape::Torus { radius: 1.0, tube_radius: 2.0 }).contains("tube"));
    assert!(refuse(Shape::HalfSpace { normal: Vec3::ZERO, offset: 0.0 }).contains("normal"));
    assert!(refuse(Shape::Union(vec![])).contains("at least one"));
    let star = Shape::Star { points: 2, radius: 1.0, inner_radius: 0.5, height: 1.0 };
    assert!(refuse(star).contains("3 points"));
    let placement = Placement { scale: 0.0, ..Placement::default() };
    assert!(PlacedShape::new(Shape::Sphere { radius: 1.0 }, placement).validate().is_err());
    let nested = Shape::Shell { shape: Box::new(Shape::Sphere { radius: 0.0 }), thickness: 0.1 };
    assert!(nested.validate().is_err());
}
