//! Tests of rigid bodies: closed forms of free flight, sliding and collisions, and what they do to deformable bodies.

mod support;

use phyxel::methods::rigid::Params;
use phyxel::prelude::*;
use support::saving::{Saved, on_threads};
use support::{elastic, methods, positions};

const SIDE: Real = 0.12;

/// Returns a rigid box of twice the density of water.
fn rigid(name: &str, size: Vec3, at: Vec3) -> Body {
    let material = Material::default().with(Property::Density, 2000.0);
    let mut body = Body::new(name, Shape::Box { size }, 0.02, material).at(at);
    body.method = Some("rigid".into());
    body
}

fn builder() -> WorldBuilder {
    World::builder().method(Params::default())
}

fn floor(normal: Vec3, friction: Real) -> Obstacle {
    Obstacle::new("floor", Shape::HalfSpace { normal, offset: 0.0 }.into()).with_friction(friction)
}

/// Returns the largest change of a distance between two particles of a body (m).
fn distortion(start: &[Vec3], now: &[Vec3]) -> Real {
    let pairs = (1..start.len()).map(|k| (k, (7 * k) % start.len()));
    pairs.map(|(a, b)| (start[a].distance(start[b]) - now[a].distance(now[b])).abs()).fold(0.0, Real::max)
}

/// Checks a box that tumbles about its middle axis: it keeps both momenta, its energy and its shape. One that falls does so
/// with g.
#[test]
fn a_tumbling_box_keeps_its_momenta_energy_and_shape() {
    let mut body = rigid("box", vec3(0.2, 0.12, 0.06), Vec3::ZERO);
    body.velocity = vec3(1.0, 2.0, 0.0);
    body.angular_velocity = vec3(0.05, 6.0, 0.05);
    let mut world = builder().gravity(Vec3::ZERO).body(body).build().unwrap();
    let (start, first) = (positions(&world), world.ledger());
    let mut least = Real::INFINITY;
    for frame in 1..=180 {
        world.advance_to(Real::from(frame) / 60.0).unwrap();
        let spin = world.ledger().angular_momentum;
        assert!(spin.distance(first.angular_momentum) < 1e-12 * first.angular_momentum.length());
        let energy = world.ledger().kinetic_energy / first.kinetic_energy;
        assert!((energy - 1.0).abs() < 2e-3, "{frame}: {energy}");
        let now = positions(&world);
        least = least.min((now[1] - now[0]).dot(start[1] - start[0]));
    }
    let ledger = world.ledger();
    assert!(ledger.momentum.distance(first.momentum) < 1e-12 * first.momentum.length());
    assert!(distortion(&start, &positions(&world)) < 1e-12);
    // rotation about the middle axis is unstable: the box has turned over
    assert!(least < 0.0, "{least}");
    let mut falling = builder().body(rigid("box", Vec3::splat(SIDE), Vec3::ZERO)).build().unwrap();
    falling.advance_to(0.5).unwrap();
    let (start, now) = (Vec3::splat(-0.5 * SIDE + 0.01), positions(&falling)[0]);
    let (speed, way) = (falling.ledger().max_speed, start.y - now.y);
    // steps of 1/120 s begin with the velocity of their end
    let expected = 0.5 * 9.81 * 0.5 * (0.5 + 1.0 / 120.0);
    assert!((speed - 9.81 * 0.5).abs() < 1e-9 && (way - expected).abs() < 1e-9, "{speed} {way} {expected}");
}

/// Checks Coulomb's law on slopes: a box stays below the angle of friction, and slides with g (sin − µ cos) above it.
#[test]
fn a_box_on_a_slope_obeys_coulomb() {
    let angle: Real = 0.4;
    let normal = vec3(angle.sin(), angle.cos(), 0.0);
    let along = vec3(angle.cos(), -angle.sin(), 0.0);
    for share in [0.5, 0.8, 1.2] {
        let mu = share * angle.tan();
        let turn =
            Placement { rotation: Quat::from_rotation_z(-angle), position: normal * 0.0401, scale: 1.0 };
        let mut body = rigid("box", vec3(0.16, 0.08, 0.16), Vec3::ZERO);
        body.shape.placement = turn;
        let mut world = builder().body(body).obstacle(floor(normal, mu)).build().unwrap();
        let start = positions(&world);
        let time = 0.5;
        (1..=15).for_each(|frame| world.advance_to(Real::from(frame) * time / 15.0).unwrap());
        let now = positions(&world);
        let way = start.iter().zip(&now).map(|(a, b)| (*b - *a).dot(along)).sum::<Real>() / now.len() as Real;
        let expected = 0.5 * 9.81 * (angle.sin() - mu * angle.cos()).max(0.0) * time * time;
        println!("friction {share} of the slope: {way:.4} m, Coulomb {expected:.4} m");
        assert!((way - expected).abs() < 0.02 * expected + 5e-4, "{way} {expected}");
    }
}

/// Checks that a shell one centimetre thick stops a fast box, and that boxes rest on each other.
#[test]
fn boxes_are_stopped_and_stacked() {
    let shell = Shape::Shell { shape: Shape::Box { size: vec3(2.0, 0.4, 2.0) }.into(), thickness: 0.01 };
    let mut table = Obstacle::new("table", shell.into()).with_friction(0.5);
    table.shape.placement.position.y = -0.2;
    let mut fast = rigid("fast", Vec3::splat(SIDE), vec3(0.5, 1.0, 0.0));
    fast.velocity = vec3(0.0, -20.0, 0.0);
    let lower = rigid("lower", Vec3::splat(SIDE), vec3(-0.3, 0.0605, 0.0));
    let upper = rigid("upper", Vec3::splat(SIDE), vec3(-0.28, 0.1815, 0.01));
    let mut world = builder().body(fast).body(lower).body(upper).obstacle(table).build().unwrap();
    (1..=60).for_each(|frame| world.advance_to(Real::from(frame) / 30.0).unwrap());
    let height = |name: &str| {
        let body = world.body(name).unwrap().index() as u32;
        let own = world.particles().flat_map(|p| p.body.iter().zip(&p.position)).filter(|(b, _)| **b == body);
        let (sum, n) = own.fold((0.0, 0.0), |(sum, n), (_, x)| (sum + x.y, n + 1.0));
        sum / n
    };
    let heights = ["fast", "lower", "upper"].map(height);
    println!("heights {heights:?} m, kinetic energy {:.1e} J", world.ledger().kinetic_energy);
    assert!((heights[0] - 0.06).abs() < 0.004 && (heights[1] - 0.06).abs() < 0.004, "{heights:?}");
    assert!((heights[2] - 0.18).abs() < 0.006, "{heights:?}");
    assert!(world.ledger().kinetic_energy < 1e-3);
}

/// Checks, with every method, that a rigid box and a soft one exchange momentum exactly, and that one rests on the other.
#[test]
fn rigid_and_soft_bodies_press_on_each_other() {
    for method in methods() {
        let soft = |at: Vec3| {
            let material = elastic(2e5, 0.3).with(Property::Viscosity, 100.0);
            let mut body = Body::new("soft", Shape::Box { size: Vec3::splat(SIDE) }, 0.02, material).at(at);
            body.method = Some(method.into());
            body
        };
        let mut thrown = rigid("rigid", Vec3::splat(SIDE), vec3(0.03, 0.2, 0.0));
        thrown.velocity = vec3(0.0, -2.0, 0.0);
        let mut space = builder().gravity(Vec3::ZERO).body(soft(Vec3::ZERO)).body(thrown).build().unwrap();
        let first = space.ledger();
        (1..=15).for_each(|frame| space.advance_to(Real::from(frame) / 60.0).unwrap());
        let last = space.ledger();
        let off = last.momentum.distance(first.momentum) / first.momentum.length();
        assert!(off < 1e-12, "{method}: {off:e}");
        assert!(last.kinetic_energy < 0.95 * first.kinetic_energy, "{method}: they have met");

        let on_top = rigid("rigid", Vec3::splat(SIDE), vec3(0.01, 0.182, 0.0));
        let mut world = builder()
            .body(soft(vec3(0.0, 0.061, 0.0)))
            .body(on_top)
            .obstacle(floor(Vec3::Y, 0.5))
            .build()
            .unwrap();
        (1..=90).for_each(|frame| world.advance_to(Real::from(frame) / 60.0).unwrap());
        let weight = 3000.0 * SIDE.powi(3) * 9.81;
        let mut carried = 0.0;
        for frame in 91..=120 {
            world.advance_to(Real::from(frame) / 60.0).unwrap();
            carried += world.ledger().forces[0].1.y / 30.0;
        }
        println!(
            "{method}: momentum off by {off:.1e}, the floor carries {:.4} of both",
            carried.abs() / weight
        );
        assert!((carried.abs() / weight - 1.0).abs() < 0.03, "{method}: {carried} {weight}");
    }
}

/// Builds a world in which rigid bodies are thrown, gripped and dragged, and meet soft ones.
fn busy() -> World {
    let mut held = rigid("held", vec3(0.3, 0.06, 0.06), vec3(0.0, 0.5, 0.0));
    held.carried.points = vec![vec3(0.15, 0.53, 0.03), vec3(-0.15, 0.47, 0.0)];
    let mut thrown = rigid("thrown", Vec3::splat(SIDE), vec3(0.1, 0.8, 0.0));
    thrown.angular_velocity = vec3(3.0, 1.0, 2.0);
    let soft = Body::new("soft", Shape::Box { size: Vec3::splat(SIDE) }, 0.02, elastic(1e5, 0.3));
    let grip = Grip {
        name: "hand".into(),
        body: "held".into(),
        select: support::region(vec3(-0.2, 0.0, -0.2), vec3(-0.12, 1.0, 0.2)),
        motion: Motion::still(),
        release: Some(0.35),
        axes: Axes::ALL,
    };
    let hold = Hold::Nearest { body: "thrown".into(), point: vec3(0.1, 0.8, 0.0) };
    let drag = Action::Drag { hold, to: vec3(0.4, 0.6, 0.1) };
    builder()
        .body(held)
        .body(thrown)
        .body(soft.at(vec3(0.1, 0.0601, 0.0)))
        .grip(grip)
        .obstacle(floor(Vec3::Y, 0.4))
        .event(Event { time: 0.2, action: drag })
        .event(Event { time: 0.4, action: Action::Release })
        .build()
        .unwrap()
}

#[test]
fn rigid_bodies_have_the_same_bits_for_any_threads_and_after_a_restart() {
    let digests = |n_threads: usize| {
        on_threads(n_threads, || {
            let mut world = busy();
            (1..=12).for_each(|frame| world.advance_to(Real::from(frame) / 30.0).unwrap());
            let saved = Saved::new(&mut world);
            (13..=20).for_each(|frame| world.advance_to(Real::from(frame) / 30.0).unwrap());
            let mut again = busy();
            saved.restore(&mut again);
            (13..=20).for_each(|frame| again.advance_to(Real::from(frame) / 30.0).unwrap());
            (world.digest(), again.digest(), world.frame(&[]).point_sets)
        })
    };
    let (whole, resumed, sets) = digests(1);
    assert_eq!(whole, resumed);
    assert_eq!((digests(2).0, digests(3).0), (whole, whole));
    assert_eq!(
        (sets.len(), sets[0].name.as_str(), sets[0].body.as_slice()),
        (1, "rigid_bodies", [0, 1].as_slice())
    );
}

/// Checks that a gripped bar stays where it is held, and that the grip carries its weight.
#[test]
fn a_held_bar_hangs_and_its_grip_carries_it() {
    let mut world = busy();
    (1..=6).for_each(|frame| world.advance_to(Real::from(frame) / 60.0).unwrap());
    let bar = world.frame(&[]);
    let own = bar.body.iter().zip(&bar.position).filter(|(body, _)| **body == 0);
    let lowest = own.map(|(_, x)| x[1]).fold(f32::INFINITY, f32::min);
    assert!((lowest - 0.48).abs() < 0.012, "{lowest}");
    let force = world.ledger().forces[0].1.y;
    let weight = 2000.0 * 0.3 * 0.06 * 0.06 * 9.81;
    assert!((force / weight - 1.0).abs() < 0.02, "{force} {weight}");
}

/// Checks that rigid bodies of one group can go, and that a box goes on about the centre of what is left of it.
#[test]
fn rigid_bodies_and_parts_of_them_can_go() {
    let mut bar = rigid("bar", vec3(0.4, 0.06, 0.06), Vec3::ZERO);
    bar.angular_velocity = vec3(0.0, 0.0, 2.0);
    let other = rigid("other", Vec3::splat(SIDE), vec3(0.0, 1.0, 0.0));
    let make = || builder().gravity(Vec3::ZERO).body(other.clone()).body(bar.clone()).build().unwrap();
    let mut world = make();
    let [first, second] = ["other", "bar"].map(|name| world.body(name).unwrap());
    world.advance_to(0.1).unwrap();
    world.remove_body(first).unwrap();
    let n = world.n_particles();
    // the half that is ahead of the centre flies on tangentially
    let gone = world.remove_particles(second, |p, i| p.position[i].x < 0.0).unwrap();
    assert_eq!(gone, n / 2);
    let before = world.ledger();
    let saved = Saved::new(&mut world);
    world.advance_to(0.6).unwrap();
    let mut resumed = make();
    saved.restore(&mut resumed);
    resumed.advance_to(0.6).unwrap();
    assert_eq!(world.digest(), resumed.digest());
    let after = world.ledger();
    assert!(before.momentum.distance(after.momentum) < 1e-12 && before.momentum.length() > 0.1);
    assert!(before.angular_momentum.distance(after.angular_momentum) < 1e-12);
    let (first, last) = (before.kinetic_energy, after.kinetic_energy);
    assert!((last / first - 1.0).abs() < 1e-3, "{first} {last}");
}

/// Checks that a row of single particles, which has no moment of inertia about its axis, is refused.
#[test]
fn rows_of_single_particles_are_refused() {
    for angle in [0.0, 0.3, 1.1] {
        let mut body = rigid("row", vec3(0.3, 0.02, 0.02), vec3(0.1, 0.47, 0.0));
        body.shape.placement.rotation = Quat::from_rotation_z(angle);
        let refused = builder().body(body).build().err().unwrap().to_string();
        assert!(refused.contains("too few particles"), "{refused}");
    }
}
