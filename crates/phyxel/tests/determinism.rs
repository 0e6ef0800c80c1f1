//! Tests that results are bitwise the same for any number of threads, and after saving, restoring and continuing.

mod support;

use phyxel::contact::{Axes, Friction, Keyframe, Obstacle};
use phyxel::geometry::{Sampling, Shape};
use phyxel::material::{MaterialChange, Property, Varying, YieldMeasure};
use phyxel::math::{Real, Vec3, vec3};
use phyxel::world::{Action, Body, Event, Hold, World, WorldBuilder};
use support::saving::{Saved, on_threads};
use support::{bar, elastic, flowing_methods, grip_across_z, methods};

/// Builds a world with everything that could differ: two bodies, one irregular and viscous, a floor with friction and a
/// grip that turns.
fn world() -> World {
    let mut soft = elastic(5e4, 0.4);
    soft[Property::Viscosity] = 20.0.into();
    let mut ball = Body::new("ball", Shape::Sphere { radius: 0.25 }, 0.03, soft).at(vec3(0.9, 0.3, 0.2));
    ball.fill.sampling = Sampling::Jittered;
    ball.velocity = vec3(0.0, -2.0, 0.3);
    let turn = Keyframe { time: 0.2, translation: vec3(0.0, 0.1, 0.0), rotation: Vec3::Z };
    let mut floor = Obstacle::new("floor", Shape::HalfSpace { normal: Vec3::Y, offset: 0.0 }.into());
    floor.friction = Friction::Coulomb(0.4);
    World::builder()
        .body(bar("bar", [8, 8, 70], 0.02, elastic(1e5, 0.3)))
        .body(ball)
        .grip(grip_across_z("hand", "bar", [0.0, 0.05], Axes::ALL, vec![turn]))
        .obstacle(floor)
        .build()
        .unwrap()
}

/// Builds a world with plastic bars that are dropped, twisted by a grip, split and merged.
fn plastic_bars(method: &str) -> World {
    plastic_bars_builder(method).build().unwrap()
}

/// Returns builders of all test worlds, with their names, for every method.
fn all_worlds() -> Vec<(String, Box<dyn Fn() -> World + Sync>)> {
    let mut all: Vec<(String, Box<dyn Fn() -> World + Sync>)> = vec![
        ("default method".into(), Box::new(world)),
        ("methods that meet".into(), Box::new(meeting_world)),
        ("changes".into(), Box::new(changing_world)),
    ];
    for method in flowing_methods() {
        all.push((format!("plastic, {method}"), Box::new(move || plastic_bars(method))));
    }
    all
}

fn plastic_bars_builder(method: &str) -> WorldBuilder {
    let mut clay = elastic(1e5, 0.3);
    clay[Property::Viscosity] = 16.0.into();
    let flow_rate = Varying::Along { axis: Vec3::X, from: 400.0, to: 300.0 };
    let clay = clay.creeping(YieldMeasure::Deviatoric, 200.0, flow_rate);
    let mut bar = Body::new("bar", Shape::Box { size: vec3(0.7, 0.3, 0.3) }, 0.03, clay.clone());
    bar = bar.at(vec3(0.0, 0.16, 0.0));
    bar.fill.sampling = Sampling::Jittered;
    bar.velocity = vec3(0.0, -6.0, 0.0);
    // the surface moves with the particles, through splits and merges
    bar.carried.points = bar.shape.triangulate(16).unwrap().refined(0.03).vertices().to_vec();
    let mut held = bar.clone().at(vec3(0.0, 0.16, 0.6));
    held.name = "held".into();
    let turn = Keyframe { time: 0.1, translation: vec3(0.0, 0.05, 0.0), rotation: Vec3::Z };
    let floor = Obstacle::new("floor", Shape::HalfSpace { normal: Vec3::Y, offset: 0.0 }.into());
    World::builder()
        .default_method(method)
        .body(bar)
        .body(held)
        .grip(grip_across_z("hand", "held", [0.6, 0.62], Axes::ALL, vec![turn]))
        .obstacle(floor.with_friction(0.4))
}

/// Builds a world with bodies of all methods that fall on each other, one of them held.
fn meeting_world() -> World {
    let mut builder = World::builder().obstacle(
        Obstacle::new("floor", Shape::HalfSpace { normal: Vec3::Y, offset: 0.0 }.into()).with_friction(0.4),
    );
    for (k, method) in methods().chain(methods().take(1)).enumerate() {
        let mut matter = elastic(1e5, 0.3);
        matter[Property::Viscosity] = 20.0.into();
        if flowing_methods().any(|flowing| flowing == method) {
            matter = matter.creeping(YieldMeasure::Deviatoric, 500.0, 100.0);
        }
        let size = vec3(0.5, 0.2, 0.4);
        let mut body = Body::new(format!("body_{k}"), Shape::Box { size }, 0.026, matter);
        body = body.at(vec3(0.05 * k as Real, 0.11 + 0.22 * k as Real, 0.0));
        body.fill.sampling = Sampling::Jittered;
        body.method = Some(method.into());
        body.velocity = vec3(0.0, -0.5 - k as Real, 0.0);
        builder = builder.body(body);
    }
    let turn = Keyframe { time: 0.1, translation: vec3(0.0, 0.02, 0.0), rotation: Vec3::Z };
    builder.grip(grip_across_z("hand", "body_0", [-0.2, -0.15], Axes::ALL, vec![turn])).build().unwrap()
}

/// Builds a world with two bodies of each method whose materials change before, at and after the save, also between
/// frames; one body is dragged meanwhile.
fn changing_world() -> World {
    let floor = Obstacle::new("floor", Shape::HalfSpace { normal: Vec3::Y, offset: 0.0 }.into());
    let mut builder = World::builder().obstacle(floor.with_friction(0.4));
    for (k, method) in methods().enumerate() {
        for side in 0..2 {
            let mut body = Body::new(
                format!("{method}_{side}"),
                Shape::Box { size: vec3(0.4, 0.24, 0.3) },
                0.026,
                elastic(1e5, 0.3),
            );
            body = body.at(vec3(0.6 * side as Real, 0.125, 0.5 * k as Real));
            body.fill.sampling = Sampling::Jittered;
            body.method = Some(method.into());
            body.velocity = vec3(0.0, -3.0, 0.0);
            builder = builder.body(body);
        }
    }
    changes().into_iter().fold(builder, |builder, event| builder.event(event)).build().unwrap()
}

fn changes() -> Vec<Event> {
    let at = |time, action| Event { time, action };
    let material = |body: &str, change| Action::Material { body: body.into(), change };
    let change = MaterialChange::default;
    let moduli = |e, nu: Option<Real>| {
        let moduli = change().with(Property::YoungsModulus, e);
        nu.map_or(moduli.clone(), |nu| moduli.with(Property::PoissonRatio, nu))
    };
    let clay = change().with(Property::YieldStress, 200.0).with(Property::FlowRate, 300.0);
    let clay = clay.with(Property::Viscosity, 16.0);
    let (k, last) = methods().enumerate().last().unwrap();
    let hold = Hold::Nearest { body: format!("{last}_1"), point: vec3(0.6, 0.3, 0.5 * k as Real) };
    let to = |x: Real| vec3(x, 0.8, 0.5 * k as Real + 0.2);
    let mut all = vec![
        at(0.03, Action::Drag { hold, to: to(0.6) }),
        at(0.07, Action::Gravity(vec3(2.0, -4.0, 0.0))),
        at(0.09, Action::Drag { hold: Hold::Same, to: to(0.9) }),
        at(0.14, Action::Release),
    ];
    for method in methods() {
        let of = |side: usize, change| material(&format!("{method}_{side}"), change);
        // events need not be in order
        all.push(at(0.12, of(0, moduli(4e4, None))));
        all.push(at(0.12, of(1, moduli(3e5, None))));
        if flowing_methods().any(|flowing| flowing == method) {
            all.push(at(0.005, of(1, clay.clone())));
            all.push(at(0.015, of(0, clay.clone())));
        }
        all.push(at(0.01, of(1, moduli(5e4, Some(0.35)))));
        all.push(at(0.02, of(0, moduli(2e4, None))));
        all.push(at(0.09, of(1, moduli(2e5, None))));
    }
    all
}

#[test]
fn same_bits_for_any_number_of_threads() {
    for (name, make) in all_worlds() {
        let run = || {
            let mut world = make();
            assert!(world.n_particles() > 4 * phyxel::math::CHUNK, "several chunks");
            let mut digests = vec![world.digest()];
            for _ in 0..4 {
                world.advance(0.03).unwrap();
                digests.push(world.digest());
            }
            (digests, world.ledger())
        };
        let one = on_threads(1, run);
        let floor = one.1.forces.iter().find(|force| force.0 == "floor").unwrap();
        assert!(floor.1.y > 0.0, "the floor was touched");
        for n in [2, 3, 8] {
            let other = on_threads(n, run);
            assert_eq!(one.0, other.0, "{name}: {n} threads");
            assert_eq!(one.1, other.1, "{name}: {n} threads");
        }
    }
}

/// Checks that a restored world continues with the same bits, also when particles have split and merged and the next
/// update of the embedding is not due yet.
#[test]
fn restored_world_goes_on_with_the_same_bits() {
    let mut has_split = false;
    for (name, make) in all_worlds() {
        goes_on_with_the_same_bits(&name, make);
    }
    for method in flowing_methods() {
        let mut world = plastic_bars(method);
        let n_start = world.n_particles();
        world.advance_to(0.09).unwrap();
        has_split |= world.n_particles() != n_start;
    }
    assert!(has_split, "particles of some method have split or merged");
}

fn goes_on_with_the_same_bits(name: &str, make: impl Fn() -> World) {
    let mut straight = make();
    straight.advance_to(0.09).unwrap();
    let saved = Saved::new(&mut straight);
    straight.advance_to(0.15).unwrap();

    let mut resumed = make();
    saved.restore(&mut resumed);
    assert_eq!(resumed.time(), 0.09);
    resumed.advance_to(0.15).unwrap();
    assert_eq!(straight.digest(), resumed.digest(), "{name}");
    assert_eq!(straight.ledger(), resumed.ledger());
    assert_eq!(straight.frame(&["stress"]), resumed.frame(&["stress"]));
}

/// Checks that a world driven by calls between frames and a world given the same actions as events have the same
/// results. The second half of the calls moves the dragged target, through splits and merges.
#[test]
fn calls_are_events_to_another_world() {
    let have_split: Vec<bool> = flowing_methods().map(calls_are_events).collect();
    assert!(have_split.contains(&true), "particles of some method have split or merged");
}

/// Compares both worlds for one method, and returns true if particles have split or merged.
fn calls_are_events(method: &str) -> bool {
    let make = |events: Vec<Event>| {
        let mut bodies = plastic_bars_builder(method);
        for event in events {
            bodies = bodies.event(event);
        }
        bodies.build().unwrap()
    };
    let drive = |world: &mut World, calls: bool| {
        let mut digests = Vec::new();
        for frame in 1..=10u32 {
            if calls && frame == 2 {
                let hold = Hold::Nearest { body: "bar".into(), point: vec3(0.3, 0.3, 0.0) };
                world.drag(hold, vec3(0.5, 0.5, 0.0)).unwrap();
                let softer = MaterialChange::default().with(Property::YoungsModulus, 5e4);
                world.set_material("held", softer).unwrap();
            }
            if calls && frame > 3 {
                world.drag(Hold::Same, vec3(0.5, 0.5, 0.02 * Real::from(frame))).unwrap();
                world.set_gravity(vec3(0.0, -Real::from(frame), 0.0)).unwrap();
            }
            world.advance_to(Real::from(frame) / 60.0).unwrap();
            digests.push(world.digest());
        }
        digests
    };
    let mut driven = make(Vec::new());
    let n_start = driven.n_particles();
    let digests = drive(&mut driven, true);
    assert!(driven.dragged().is_some());
    let mut planned = make(driven.past_events().to_vec());
    assert_eq!(drive(&mut planned, false), digests);
    assert_eq!(planned.past_events(), driven.past_events());
    assert_eq!(planned.ledger(), driven.ledger());
    driven.n_particles() != n_start
}
