//! Tests of carried points against maps whose result is known.

use super::*;
use crate::math::{Quat, Random, vec3};

const A: Real = 0.1;

/// Returns a jittered block of `n` particles along each axis with spacing A, with its corner at the origin.
fn block(n: [usize; 3], jitter: Real) -> Particles {
    let mut random = Random::new(7);
    let mut particles = Particles::default();
    for k in 0..n[0] * n[1] * n[2] {
        let cell = vec3((k % n[0]) as Real, (k / n[0] % n[1]) as Real, (k / (n[0] * n[1])) as Real);
        let position = (cell + Vec3::splat(0.5) + random.in_cube() * jitter) * A;
        particles.append(Particles {
            id: vec![k as u32],
            body: vec![0],
            position: vec![position],
            velocity: vec![Vec3::ZERO],
            mass: vec![1.0],
            volume: vec![A * A * A],
            radius: vec![0.5 * A],
            contact_radius: vec![0.5 * A],
            ..Particles::default()
        });
    }
    particles
}

/// Returns points distributed over the faces of a box.
fn on_faces(size: Vec3) -> Vec<Vec3> {
    let mut random = Random::new(3);
    (0..300)
        .map(|k| {
            let mut p = vec3(random.unit(), random.unit(), random.unit());
            p[k % 3] = ((k / 3) % 2) as Real;
            p * size
        })
        .collect()
}

/// Calls `act` with bonds between all particles within 1.9 spacings of each other.
fn with_bonds<T>(particles: &Particles, act: impl FnOnce(VisitBonds<'_>) -> T) -> T {
    let x = &particles.position;
    act(&|i: usize, visit: &mut dyn FnMut(usize, Vec3)| {
        let near = (0..x.len()).filter(|&j| j != i && x[j].distance(x[i]) < 1.9 * A);
        near.for_each(|j| visit(j, x[j] - x[i]));
    })
}

fn bind(particles: &Particles, points: &[Vec3], order: CarryOrder) -> CarriedPoints {
    let carried = Carried { points: points.to_vec(), order };
    with_bonds(particles, |bonds| CarriedPoints::new(&[(0, &carried)], particles, bonds))
}

fn moved(particles: &Particles, map: impl Fn(Vec3) -> Vec3) -> Particles {
    let position = particles.position.iter().map(|&x| map(x)).collect();
    Particles { position, ..particles.clone() }
}

fn largest_error(
    carried: &CarriedPoints,
    particles: &Particles,
    points: &[Vec3],
    map: impl Fn(Vec3) -> Vec3,
) -> Real {
    let now = carried.positions_of(0, particles).unwrap();
    now.iter().zip(points).map(|(y, x)| y.distance(map(*x))).fold(0.0, Real::max)
}

fn affine(x: Vec3) -> Vec3 {
    Mat3::from_cols(vec3(1.7, 0.2, -0.1), vec3(0.3, 0.6, 0.2), vec3(-0.2, 0.1, 1.3)) * x
        + vec3(5.0, -3.0, 2.0)
}

fn turn(x: Vec3) -> Vec3 {
    Quat::from_axis_angle(vec3(1.0, 2.0, -0.5).normalize(), std::f64::consts::FRAC_PI_2) * x
        + vec3(0.3, 7.0, 0.0)
}

/// Maps the plane z = 0 to a cylinder of this radius.
fn bend(x: Vec3, radius: Real) -> Vec3 {
    let angle = x.x / radius;
    let r = radius + x.z;
    vec3(r * angle.sin(), x.y, r * angle.cos() - radius)
}

#[test]
fn first_order_is_exact_for_turns_and_affine_maps_and_zero_order_only_for_translations() {
    for jitter in [0.0, 0.1, 0.25] {
        let particles = block([8, 8, 8], jitter);
        let points = on_faces(Vec3::splat(8.0 * A));
        let first = bind(&particles, &points, CarryOrder::First);
        assert!(first.levers.point.is_empty());
        for map in [turn, affine] {
            let error = largest_error(&first, &moved(&particles, map), &points, map);
            assert!(error < 1e-13, "{error:e}");
        }
        let zero = bind(&particles, &points, CarryOrder::Zero);
        let shift = |x: Vec3| x + vec3(1.0, -2.0, 0.5);
        assert!(largest_error(&zero, &moved(&particles, shift), &points, shift) < 1e-14);
        let error = largest_error(&zero, &moved(&particles, turn), &points, turn) / A;
        assert!((0.5..4.0).contains(&error), "{error} spacings");
    }
}

/// Checks that the error of a bend is of second order in the spacing: it halves when the radius doubles.
#[test]
fn the_error_of_a_bend_is_of_second_order() {
    let particles = block([10, 6, 6], 0.1);
    let points = on_faces(vec3(1.0, 0.6, 0.6));
    let carried = bind(&particles, &points, CarryOrder::First);
    let error = |radius: Real| {
        let map = |x| bend(x, radius);
        largest_error(&carried, &moved(&particles, map), &points, map) / A
    };
    let (near, far) = (error(2.0), error(4.0));
    println!("bend of radius 20 spacings: {near:.4} spacings, of 40: {far:.4}");
    assert!(near < 0.08 && (1.7..2.4).contains(&(near / far)), "{near} {far}");
}

/// Checks one layer and one line of particles: points outside of them must rotate with them.
#[test]
fn points_of_sheets_and_rods_turn_along() {
    for (n, dropped) in [([9, 9, 1], 1), ([12, 1, 1], 2)] {
        let particles = block(n, 0.0);
        let size = vec3(n[0] as Real, n[1] as Real, n[2] as Real) * A;
        let points = on_faces(size);
        let carried = bind(&particles, &points, CarryOrder::First);
        assert_eq!(carried.levers.point.len(), points.len());
        assert!(carried.levers.dropped.iter().all(|&d| d == dropped));
        // the twist of a rod about its own axis is undetermined
        let map = if dropped == 1 { turn } else { |x: Vec3| Quat::from_rotation_z(1.0) * x };
        let error = largest_error(&carried, &moved(&particles, map), &points, map);
        assert!(error < 1e-13, "{error:e}");
    }
    let lone = block([1, 1, 1], 0.0);
    let points = [vec3(0.0, 0.05, 0.05)];
    let carried = bind(&lone, &points, CarryOrder::First);
    let shift = |x: Vec3| x + Vec3::Y;
    assert!(largest_error(&carried, &moved(&lone, shift), &points, shift) < 1e-15);
}

/// Checks that a point far outside of all particles moves rigidly, without amplified noise.
#[test]
fn far_points_turn_and_do_not_amplify_noise() {
    let particles = block([8, 8, 8], 0.1);
    let points = [vec3(0.4, 0.4, 1.6)];
    let carried = bind(&particles, &points, CarryOrder::First);
    let shares: Real = carried.shares.iter().map(|c| c.abs()).sum();
    assert!(shares <= 4.0 && carried.levers.point == [0], "{shares}");
    let error = largest_error(&carried, &moved(&particles, turn), &points, turn);
    assert!(error < 1e-11, "{error:e}");
}

/// Checks a shear band: the upper half flows over the lower one by 24 spacings, and points must stay near their exact
/// positions.
#[test]
fn points_are_bound_anew_where_matter_flows() {
    let particles = block([8, 8, 8], 0.1);
    let points = on_faces(Vec3::splat(0.8));
    let mut carried = bind(&particles, &points, CarryOrder::First);
    let flow = |x: Vec3, way: Real| x + vec3(0.5 * way * ((x.z - 0.4) / (2.0 * A)).tanh(), 0.0, 0.0);
    let (n_steps, way) = (480, 2.4);
    for step in 1..=n_steps {
        let at = |step: usize, x| flow(x, way * step as Real / n_steps as Real);
        let mut now = moved(&particles, |x| at(step, x));
        let before = particles.position.iter().map(|&x| at(step - 1, x));
        now.velocity = now.position.iter().zip(before).map(|(x, y)| (*x - y) * n_steps as Real).collect();
        with_bonds(&now, |bonds| carried.follow(&now, bonds, 1.0 / n_steps as Real));
    }
    let map = |x| flow(x, way);
    let now = carried.positions_of(0, &moved(&particles, map)).unwrap();
    let worst = now.iter().zip(&points).map(|(y, x)| y.distance(map(*x)) / A).fold(0.0, Real::max);
    println!("after a shear of 24 spacings: {worst:.2} spacings off at the most");
    assert!(worst < 1.5, "{worst}");
}

/// Checks that bending back and forth moves no point permanently as long as it keeps its carriers.
#[test]
fn what_springs_back_comes_back_exactly() {
    let particles = block([10, 6, 6], 0.1);
    let points = on_faces(vec3(1.0, 0.6, 0.6));
    let mut carried = bind(&particles, &points, CarryOrder::First);
    for cycle in 0..5 {
        for step in 0..40 {
            let curvature = (std::f64::consts::PI * step as Real / 20.0).sin() * 0.5;
            let map = |x| if curvature == 0.0 { x } else { bend(x, 1.0 / curvature) };
            let mut now = moved(&particles, map);
            now.velocity.iter_mut().enumerate().for_each(|(i, v)| *v = Vec3::X * (i % 2) as Real);
            with_bonds(&now, |bonds| carried.follow(&now, bonds, 1.0));
        }
        let error = largest_error(&carried, &particles, &points, |x| x);
        assert!(error < 1e-14, "cycle {cycle}: {error:e}");
    }
}

/// Checks that splitting, merging and reordering of particles do not move points.
#[test]
fn points_survive_a_remap() {
    let mut particles = block([6, 6, 6], 0.1);
    let points = on_faces(Vec3::splat(0.6));
    let mut carried = bind(&particles, &points, CarryOrder::First);
    let mut origins: Vec<Origin> = (0..216).rev().map(Origin::Same).collect();
    origins.retain(|o| ![Origin::Same(10), Origin::Same(11), Origin::Same(50)].contains(o));
    origins.extend([Origin::Merged(10, 11), Origin::Part(50, 0.5), Origin::Part(50, 0.5)]);
    let mut remap = Remap::new(PARTICLES, origins, &particles.mass);
    carried.loosen_remapped(&particles, &remap);
    let n_loose = carried.loose.len();
    assert!((10..points.len()).contains(&n_loose), "{n_loose}");
    particles.visit_state(&mut remap);
    carried.visit_state(&mut remap);
    let n = particles.len();
    particles.position[n - 1] += vec3(0.02, 0.0, 0.0);
    with_bonds(&particles, |bonds| carried.follow(&particles, bonds, 0.0));
    assert!(largest_error(&carried, &particles, &points, |x| x) < 1e-14);
    let error = largest_error(&carried, &moved(&particles, affine), &points, affine);
    assert!(error < 1e-13, "{error:e}");
}
