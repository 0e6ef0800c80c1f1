use std::sync::Arc;

use super::*;
use crate::math::{Quat, vec3};

fn placed(shape: Shape) -> PlacedShape {
    let rotation = Quat::from_axis_angle(vec3(1.0, 1.0, 0.2).normalize(), 0.7);
    PlacedShape::new(shape, Placement { scale: 2.0, rotation, position: vec3(3.0, -1.0, 0.5) })
}

fn with(spacing: Spacing, sampling: Sampling) -> Fill {
    Fill { sampling, seed: 1, ..Fill::new(spacing) }
}

const ALL: [Sampling; 3] = [Sampling::Lattice, Sampling::Jittered, Sampling::Relaxed];

fn shapes() -> Vec<Shape> {
    let ball = Shape::Sphere { radius: 0.5 };
    let bite = Placement { position: vec3(0.4, 0.0, 0.0), ..Placement::default() };
    vec![
        Shape::Box { size: vec3(1.0, 0.6, 0.8) },
        ball.clone(),
        Shape::Torus { radius: 0.5, tube_radius: 0.2 },
        Shape::Star { points: 5, radius: 0.7, inner_radius: 0.35, height: 0.3 },
        Shape::Difference(vec![ball.clone().into(), PlacedShape::new(ball.clone(), bite)]),
        Shape::Mesh(Arc::new(Shape::Capsule { radius: 0.3, height: 0.5 }.triangulate(24).unwrap())),
    ]
}

/// Returns the nearest-neighbour distance of each particle divided by the local spacing.
fn nearest_over_spacing(filled: &Filled) -> Vec<Real> {
    let distances =
        crate::neighbors::mean_nearest_distance(crate::neighbors::Points::new(&filled.positions), 1);
    distances.iter().zip(&filled.spacing).map(|(distance, spacing)| distance / spacing).collect()
}

#[test]
fn particles_are_inside_and_their_volumes_are_the_bodys() {
    let spacings = [
        Spacing::Uniform(0.1),
        Spacing::Count(1500),
        Spacing::Along { axis: vec3(1.0, 0.3, 0.0), from: 0.08, to: 0.16 },
    ];
    for shape in shapes() {
        let body = placed(shape);
        let volume = body.volume();
        for spacing in spacings {
            for sampling in ALL {
                let filled = fill(&body, &with(spacing, sampling)).unwrap();
                assert!(filled.positions.iter().all(|&position| body.contains(position)));
                assert_eq!(filled.positions.len(), filled.volumes.len());
                assert_eq!(filled.positions.len(), filled.spacing.len());
                let total: Real = filled.volumes.iter().sum();
                assert!((total / volume - 1.0).abs() < 1e-12);
                assert_eq!(filled.volume, volume);
                assert!(filled.volumes.iter().all(|&particle| particle > 0.0));
            }
        }
    }
}

#[test]
fn the_number_follows_from_volume_and_spacing() {
    for shape in shapes() {
        let body = placed(shape);
        for sampling in ALL {
            let filled = fill(&body, &with(Spacing::Uniform(0.1), sampling)).unwrap();
            let expected = body.volume() / (0.1 as Real).powi(3);
            assert!((filled.positions.len() as Real / expected - 1.0).abs() < 0.06, "{body:?} {sampling:?}");
        }
    }
}

#[test]
fn count_is_met() {
    for shape in shapes() {
        let body = placed(shape);
        for count in [500, 5000] {
            let off = |sampling| {
                let filled = fill(&body, &with(Spacing::Count(count), sampling)).unwrap();
                (filled.positions.len() as Real / count as Real - 1.0).abs()
            };
            let tolerance = if count < 1000 { 0.06 } else { 0.02 };
            let is_box = body.shape.volume() == 0.48;
            assert!(off(Sampling::Lattice) < if is_box { 0.15 } else { tolerance }, "{body:?} {count}");
            if count < 1000 {
                assert_eq!(off(Sampling::Relaxed), 0.0);
            }
        }
    }
}

#[test]
fn box_is_divided_into_equal_cells_that_fit() {
    let body = PlacedShape::from(Shape::Box { size: vec3(1.0, 0.25, 0.26) });
    let filled = fill(&body, &Fill::new(Spacing::Uniform(0.05))).unwrap();
    assert_eq!(filled.positions.len(), 20 * 5 * 5);
    let bounds = Aabb::from_points(filled.positions.iter().copied());
    assert!((bounds.min - vec3(-0.475, -0.1, -0.104)).length() < 1e-12);
    assert!((bounds.max - vec3(0.475, 0.1, 0.104)).length() < 1e-12);
    assert!(filled.volumes.iter().all(|&volume| (volume * 500.0 / 0.065 - 1.0).abs() < 1e-12));
    let count = fill(&body, &Fill::new(Spacing::Count(500))).unwrap();
    assert_eq!(count.positions.len(), 500);
}

#[test]
fn lattice_turns_with_the_body() {
    let shape = Shape::Sphere { radius: 0.5 };
    let body = placed(shape.clone());
    let straight = fill(&shape.into(), &Fill::new(Spacing::Uniform(0.05))).unwrap();
    let turned = fill(&body, &Fill::new(Spacing::Uniform(0.1))).unwrap();
    assert_eq!(straight.positions.len(), turned.positions.len());
    for (local, world) in straight.positions.iter().zip(&turned.positions) {
        assert!(body.placement.to_world(*local).distance(*world) < 1e-12);
    }
}

#[test]
fn same_seed_same_particles_other_seed_other_particles() {
    let body = placed(Shape::Sphere { radius: 0.5 });
    for sampling in [Sampling::Jittered, Sampling::Relaxed] {
        let asked = with(Spacing::Count(400), sampling);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let first = fill(&body, &asked).unwrap();
        assert_eq!(first, pool.install(|| fill(&body, &asked).unwrap()));
        assert_ne!(first.positions, fill(&body, &Fill { seed: 2, ..asked }).unwrap().positions);
    }
}

#[test]
fn relaxed_particles_keep_apart_and_hug_the_surface() {
    for shape in shapes() {
        let body = placed(shape);
        let filled = fill(&body, &with(Spacing::Count(3000), Sampling::Relaxed)).unwrap();
        let ratios = nearest_over_spacing(&filled);
        let least = ratios.iter().copied().fold(Real::INFINITY, Real::min);
        let mean = ratios.iter().sum::<Real>() / ratios.len() as Real;
        println!("nearest neighbour over spacing: least {least:.3}, mean {mean:.3}");
        assert!(least > 0.6 && mean > 0.85, "{body:?}: {least} {mean}");
        // few particles are nearer than the minimum depth, and no part of the surface is without particles under it
        let spacing = filled.spacing[0];
        let depths: Vec<Real> =
            filled.positions.iter().map(|&position| -body.signed_distance(position) / spacing).collect();
        let n_deep = depths.iter().filter(|&&depth| depth > 0.39).count();
        // in the tips of a star no place is deep enough
        assert!(n_deep as Real > 0.98 * depths.len() as Real && depths.iter().all(|&depth| depth > 0.1));
        let surface = body.triangulate(30).unwrap();
        let grid = nearest::CellGrid::new(&filled.positions, spacing);
        for &vertex in surface.vertices() {
            let mut is_covered = false;
            grid.visit_within(vertex, 1.35 * spacing, |_, _, _| is_covered = true);
            assert!(is_covered, "{body:?} {vertex}");
        }
    }
}

#[test]
fn relaxed_density_is_even() {
    // the inner half of a ball's volume has as many particles as the outer half
    let body = PlacedShape::from(Shape::Sphere { radius: 1.0 });
    let filled = fill(&body, &with(Spacing::Count(4000), Sampling::Relaxed)).unwrap();
    let half_radius = (0.5 as Real).cbrt();
    let n_inner = filled.positions.iter().filter(|position| position.length() < half_radius).count();
    assert!((n_inner as Real / 2000.0 - 1.0).abs() < 0.05, "{n_inner}");
}

#[test]
fn graded_spacing_follows_the_axis_without_gaps() {
    let body = PlacedShape::from(Shape::Box { size: vec3(2.0, 0.6, 0.6) });
    for sampling in ALL {
        let asked = with(Spacing::Along { axis: Vec3::X, from: 0.04, to: 0.1 }, sampling);
        let filled = fill(&body, &asked).unwrap();
        let expected: Real = {
            // ∫ A dx / a(x)³ along the bar
            let slope = 0.06 / 2.0;
            0.36 / (2.0 * slope) * (1.0 / (0.04 as Real).powi(2) - 1.0 / (0.1 as Real).powi(2))
        };
        let ratio = filled.positions.len() as Real / expected;
        assert!((ratio - 1.0).abs() < 0.06, "{sampling:?}: {ratio}");
        for (position, spacing) in filled.positions.iter().zip(&filled.spacing) {
            let there = 0.04 + 0.06 * (position.x + 1.0) / 2.0;
            assert!((spacing / there - 1.0).abs() < 0.15);
        }
        let ratios = nearest_over_spacing(&filled);
        let least = ratios.iter().copied().fold(Real::INFINITY, Real::min);
        let largest = ratios.iter().copied().fold(0.0, Real::max);
        println!("{sampling:?} graded: least {least:.3}, largest {largest:.3}");
        assert!(least > if sampling == Sampling::Jittered { 0.25 } else { 0.6 }, "{sampling:?} {least}");
        assert!(largest < 1.3, "{sampling:?} {largest}");
    }
}

#[test]
fn graded_volumes_sum_up_locally() {
    // each half of the bar has half of the mass, although one has many more particles
    let body = PlacedShape::from(Shape::Box { size: vec3(2.0, 0.6, 0.6) });
    let asked = Fill::new(Spacing::Along { axis: vec3(-1.0, 0.0, 0.0), from: 0.04, to: 0.1 });
    let filled = fill(&body, &asked).unwrap();
    let right: Real = (0..filled.positions.len())
        .filter(|&index| filled.positions[index].x > 0.0)
        .map(|index| filled.volumes[index])
        .sum();
    assert!((right / 0.36 - 1.0).abs() < 0.08, "{right}");
    let n_right = filled.positions.iter().filter(|position| position.x > 0.0).count();
    assert!(n_right > 2 * (filled.positions.len() - n_right));
}

#[test]
fn impossible_fillings_are_refused_with_a_reason() {
    let ball = PlacedShape::from(Shape::Sphere { radius: 1.0 });
    let refuse = |body: &PlacedShape, asked: &Fill| fill(body, asked).unwrap_err();
    let uniform = |spacing| Fill::new(Spacing::Uniform(spacing));
    assert!(matches!(refuse(&ball, &uniform(2.5)), FillError::TooFew { .. }));
    let ring = PlacedShape::from(Shape::Torus { radius: 1.0, tube_radius: 0.1 });
    let message = refuse(&ring, &uniform(5.0)).to_string();
    assert!(message.contains("no particle fits") && message.contains("the spacing is 5 m"), "{message}");
    for sampling in ALL {
        let tiny = with(Spacing::Uniform(1e-5), sampling);
        assert!(matches!(refuse(&ball, &tiny), FillError::TooMany { .. }));
        let few = with(Spacing::Count(3), sampling);
        assert!(matches!(refuse(&ball, &few), FillError::TooFew { .. }));
        let graded = with(Spacing::Along { axis: Vec3::Y, from: 1e-5, to: 1e-4 }, sampling);
        assert!(matches!(refuse(&ball, &graded), FillError::TooMany { .. }));
    }
    let limited = Fill { max_particles: 1000, ..uniform(0.1) };
    assert!(matches!(refuse(&ball, &limited), FillError::TooMany { limit: 1000, .. }));
    let ground = PlacedShape::from(Shape::HalfSpace { normal: Vec3::Y, offset: 0.0 });
    assert_eq!(refuse(&ground, &uniform(0.1)), FillError::Infinite);
    for spacing in [0.0, -1.0, Real::NAN, Real::INFINITY] {
        assert!(matches!(refuse(&ball, &uniform(spacing)), FillError::BadSpacing(_)));
    }
    let no_axis = Fill::new(Spacing::Along { axis: Vec3::ZERO, from: 0.1, to: 0.2 });
    assert!(matches!(refuse(&ball, &no_axis), FillError::BadSpacing(_)));
    let broken = PlacedShape::from(Shape::Sphere { radius: -1.0 });
    assert!(matches!(refuse(&broken, &uniform(0.1)), FillError::Shape(_)));
    let sheet =
        super::super::TriangleMesh::try_new(vec![Vec3::ZERO, Vec3::X, Vec3::Y], vec![[0, 1, 2]]).unwrap();
    let sheet = PlacedShape::from(Shape::Mesh(Arc::new(sheet)));
    assert_eq!(refuse(&sheet, &uniform(0.1)), FillError::NoInside);
}

/// A long wire has few particles, but the search for them would go through a lattice of its extent.
#[test]
fn shapes_of_very_many_spacings_are_refused() {
    let wire = |height: Real| PlacedShape::from(Shape::Capsule { radius: 0.5, height });
    let how = with(Spacing::Uniform(1.0), Sampling::Lattice);
    assert_eq!(fill(&wire(9e4), &how).unwrap().positions.len(), 90_001);
    assert_eq!(fill(&wire(2e5), &how).unwrap_err(), FillError::TooLong { limit: 100_000 });
}

/// The cubes of blocks that are left out are those without points: the points of a slanting rod are those that it contains.
#[test]
fn blocks_far_from_a_shape_are_left_out_without_loss() {
    let rotation = Quat::from_axis_angle(vec3(1.0, 0.4, 0.2).normalize(), 0.7);
    let placement = Placement { rotation, position: vec3(0.3, 0.0, 0.1), ..Placement::default() };
    let rod = PlacedShape::new(Shape::Capsule { radius: 0.02, height: 2.0 }, placement);
    let rod = PlacedShape::from(Shape::Union(vec![rod]));
    let spacing = 0.01;
    let filled = fill(&rod, &with(Spacing::Uniform(spacing), Sampling::Lattice)).unwrap();
    let bounds = rod.bounds().unwrap();
    let n = (bounds.size() / spacing).ceil();
    let half = 0.5 * (n - Vec3::ONE) * spacing;
    let mut n_inside = 0;
    for z in 0..n.z as usize {
        for y in 0..n.y as usize {
            let along = (0..n.x as usize).map(|x| vec3(x as Real, y as Real, z as Real));
            n_inside += along.filter(|p| rod.contains(bounds.center() - half + spacing * *p)).count();
        }
    }
    assert!(n_inside > 1000);
    assert!(filled.positions.len().abs_diff(n_inside) <= 2, "{} {n_inside}", filled.positions.len());
}
