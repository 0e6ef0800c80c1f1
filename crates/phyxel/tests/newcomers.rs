//! Tests of methods with a structure that differs from those of the catalogue: degrees of freedom that are not the
//! particles, and implicit steps of 1/30 s with swept contact.

#[path = "newcomers/affine.rs"]
mod affine;
mod support;

use affine::{Affine, ITERATIONS, LONG_STEP};
use phyxel::contact::Axes;
use phyxel::prelude::*;
use phyxel::world::WorldBuilder;
use support::saving::{Saved, on_threads};
use support::{elastic, grip_across_z, methods};

const KINDS: [Affine; 2] = [Affine::EXPLICIT, Affine::IMPLICIT];

fn key(kind: Affine) -> &'static str {
    if kind.is_implicit { "affine_implicit" } else { "affine" }
}

fn builder() -> WorldBuilder {
    World::builder().method(Affine::EXPLICIT).method(Affine::IMPLICIT)
}

/// Creates a block of 6 × 6 × 6 particles, 0.12 m wide.
fn block(name: &str, method: &str) -> Body {
    let material = elastic(5e5, 0.0).with(Property::Viscosity, 50.0);
    let mut body = Body::new(name, Shape::Box { size: Vec3::splat(0.12) }, 0.02, material);
    body.method = Some(method.into());
    body
}

fn floor(normal: Vec3, friction: Real) -> Obstacle {
    Obstacle::new("floor", Shape::HalfSpace { normal, offset: 0.0 }.into()).with_friction(friction)
}

fn center(world: &World, body: usize) -> Vec3 {
    let (mut sum, mut mass) = (Vec3::ZERO, 0.0);
    for p in world.particles() {
        for i in (0..p.len()).filter(|&i| p.body[i] as usize == body) {
            sum += p.position[i] * p.mass[i];
            mass += p.mass[i];
        }
    }
    sum / mass
}

#[test]
fn free_flight_takes_long_steps_and_a_thin_shell_is_not_passed() {
    let mut ball = block("ball", "affine_implicit").at(vec3(0.0, 0.0, -1.0));
    ball.velocity = vec3(0.0, 0.0, 10.0);
    let shell = Shape::Shell { shape: Shape::Sphere { radius: 1.0 }.into(), thickness: 0.01 };
    let mut shell = Obstacle::new("shell", shell.into());
    shell.shape.placement.position = vec3(0.0, 0.0, 2.5);
    let mut world = builder().body(ball).obstacle(shell).gravity(Vec3::ZERO).build().unwrap();
    let mut fastest = 0.0;
    for frame in 1..=30 {
        world.advance_to(Real::from(frame) * LONG_STEP).unwrap();
        assert_eq!(world.ledger().n_steps, 1, "frame {frame}");
        fastest = Real::max(
            fastest,
            world.particles().next().unwrap().position.iter().fold(-9.0, |m, x| m.max(x.z)),
        );
    }
    // the shell's outer side is at 1.5 m
    println!("farthest particle {fastest} m, now {} m", center(&world, 0).z);
    assert!(fastest > 1.4 && fastest < 1.5, "{fastest}");
}

#[test]
fn slopes_hold_by_friction_or_let_slide() {
    let slope = 0.5 as Real; // tangent of the angle
    let normal = vec3(slope, 1.0, 0.0).normalize();
    let down = vec3(1.0, -slope, 0.0).normalize();
    for kind in KINDS {
        for mu in [0.3, 0.7] {
            let mut body = block("block", key(kind)).at(normal * 0.0601);
            body.shape.placement.rotation = Quat::from_rotation_arc(Vec3::Y, normal);
            let mut world = builder().body(body).obstacle(floor(normal, mu)).build().unwrap();
            let start = center(&world, 0);
            world.advance_to(0.5).unwrap();
            let way = (center(&world, 0) - start).dot(down);
            let angle = slope.atan();
            let expected = 0.5 * 9.81 * (angle.sin() - mu * angle.cos()) * 0.25;
            println!("{} µ {mu}: {way:.4} m, Coulomb {:.4} m", key(kind), expected.max(0.0));
            if expected > 0.0 {
                assert!((way / expected - 1.0).abs() < 0.1, "{way} {expected}");
            } else {
                assert!(way.abs() < 2e-3, "{way}");
            }
        }
    }
}

#[test]
fn grips_lead_and_feel_what_they_carry() {
    for kind in KINDS {
        let lift = Keyframe { time: 1.0, translation: vec3(0.0, 0.2, 0.0), rotation: Vec3::ZERO };
        let hand = grip_across_z("hand", "block", [-0.061, -0.035], Axes::ALL, vec![lift]);
        let mut world = builder().body(block("block", key(kind))).grip(hand).build().unwrap();
        let weight = 9.81 * world.particles().map(|p| p.total_mass()).sum::<Real>();
        world.advance_to(1.5).unwrap();
        world.advance_to(2.0).unwrap();
        let (risen, force) = (center(&world, 0).y, world.ledger().forces[0].1);
        println!("{}: risen {risen:.4} m, grip {:.4} of the weight", key(kind), force.y / weight);
        assert!((risen - 0.2).abs() < 2e-3 && (force.y / weight - 1.0).abs() < 0.01);
    }
}

#[test]
fn a_hand_drags_them() {
    for kind in KINDS {
        let mut world = builder()
            .body(block("block", key(kind)).at(vec3(0.0, 0.06, 0.0)))
            .gravity(Vec3::ZERO)
            .build()
            .unwrap();
        let target = vec3(0.5, 0.3, 0.0);
        world.drag(Hold::Nearest { body: "block".into(), point: vec3(0.06, 0.06, 0.0) }, target).unwrap();
        (1..=60).for_each(|frame| world.advance_to(Real::from(frame) / 30.0).unwrap());
        let reached = center(&world, 0).distance(target);
        println!("{}: {reached:.3} m from where it is dragged", key(kind));
        assert!(reached < 0.1);
    }
}

/// Checks that every kind can stand on every other, and on bodies of the methods of the catalogue.
#[test]
fn they_stand_on_each_other() {
    let own = KINDS.map(key);
    let all: Vec<&str> = own.into_iter().chain(methods()).collect();
    for &upper in &all {
        for lower in all.iter().copied().filter(|lower| own.contains(lower) || own.contains(&upper)) {
            let mut world = builder()
                .body(block("lower", lower).at(vec3(0.0, 0.06, 0.0)))
                .body(block("upper", upper).at(vec3(0.02, 0.1802, 0.0)))
                .obstacle(floor(Vec3::Y, 0.5))
                .build()
                .unwrap();
            world.advance_to(0.4).unwrap();
            let start = center(&world, 1);
            world.advance_to(0.7).unwrap();
            let end = center(&world, 1);
            let (drift, ledger) = (end.distance(start), world.ledger());
            println!(
                "{upper} on {lower}: at {:.4}, drift {drift:.1e} m, fastest {:.1e} m/s, {} steps",
                end, ledger.max_speed, ledger.n_steps
            );
            assert!((end.y - 0.18).abs() < 0.003 && (end.x - 0.02).abs() < 0.002, "{end}");
            assert!(drift < 6e-4, "{drift}");
        }
    }
}

/// Builds a world with both kinds and a catalogue method: bodies fall onto each other, are held and dragged, carry
/// meshes.
fn busy_world() -> World {
    let catalogue = methods().next().unwrap();
    let mut world = builder().obstacle(floor(vec3(0.1, 1.0, 0.0).normalize(), 0.3));
    for (k, method) in [catalogue, key(Affine::EXPLICIT), key(Affine::IMPLICIT)].into_iter().enumerate() {
        for level in 0..2 {
            let at = vec3(0.1 * level as Real, 0.1 + 0.13 * level as Real, 0.125 * k as Real);
            let mut body = block(&format!("{method} {level}"), method).at(at);
            body.fill.spacing = Spacing::Uniform(0.012);
            body.velocity = vec3(0.0, -2.0, 0.0);
            body.carried.points = body.shape.triangulate(16).unwrap().refined(0.02).vertices().to_vec();
            world = world.body(body);
        }
    }
    let lift = Keyframe { time: 0.2, translation: vec3(0.0, 0.1, 0.0), rotation: Vec3::X };
    let held = format!("{} 1", key(Affine::IMPLICIT));
    let mut world =
        world.grip(grip_across_z("hand", &held, [0.29, 0.32], Axes::ALL, vec![lift])).build().unwrap();
    let dragged = format!("{} 0", key(Affine::EXPLICIT));
    world.drag(Hold::Nearest { body: dragged, point: vec3(0.0, 0.2, 0.1) }, vec3(0.3, 0.5, 0.1)).unwrap();
    world
}

#[test]
fn same_bits_for_any_number_of_threads_and_after_a_restart() {
    let run = || {
        let mut world = busy_world();
        assert!(world.particles().all(|p| p.len() > phyxel::math::CHUNK), "several chunks");
        let mut most_contacts = 0.0;
        for frame in 1..=10 {
            world.advance_to(0.01 * Real::from(frame)).unwrap();
            most_contacts = Real::max(most_contacts, world.ledger().counter("body_contacts").unwrap());
        }
        assert!(most_contacts > 10.0, "bodies have met: {most_contacts}");
        let saved = Saved::new(&mut world);
        world.advance_to(0.2).unwrap();
        let mut resumed = busy_world();
        saved.restore(&mut resumed);
        resumed.advance_to(0.2).unwrap();
        assert_eq!(world.digest(), resumed.digest(), "restarted");
        assert_eq!(world.ledger(), resumed.ledger());
        (world.digest(), world.ledger())
    };
    let one = on_threads(1, run);
    for n in [2, 3] {
        assert_eq!(one, on_threads(n, run), "{n} threads");
    }
}

/// Checks that groups take steps of the same length only while they can meet; otherwise each moves as it would alone.
#[test]
fn groups_that_cannot_meet_go_at_their_own_pace() {
    let catalogue = methods().next().unwrap();
    let run = |distance: Option<Real>| {
        let mut world = builder().body(block("long steps", key(Affine::IMPLICIT)));
        if let Some(distance) = distance {
            world = world.body(block("short steps", catalogue).at(Vec3::X * distance));
        }
        let mut world = world.build().unwrap();
        world.advance_to(LONG_STEP).unwrap();
        let ledger = world.ledger();
        let of_first = world.particles().find(|p| p.body[0] == 0).unwrap().position.clone();
        (ledger.n_steps, ledger.counter("solver_iterations").unwrap() as usize, of_first)
    };
    let (alone, far, near) = (run(None), run(Some(1.0)), run(Some(0.125)));
    assert_eq!((alone.0, alone.1), (1, ITERATIONS));
    assert!(far.0 > 20 && far.1 > ITERATIONS, "the other body takes short steps: {far:?}");
    assert_eq!(far.2, alone.2);
    assert_eq!(near.0, far.0);
    assert!(near.1 >= ITERATIONS * near.0, "shared steps: {} iterations", near.1);
}

/// Checks that nodes which are not particles leave in frames, those of all groups in one set.
#[test]
fn nodes_are_a_set_of_the_frame() {
    let two = KINDS
        .iter()
        .enumerate()
        .map(|(k, &kind)| block(&format!("body {k}"), key(kind)).at(vec3(0.5 * k as Real, 0.3, 0.0)));
    let mut world = two.fold(builder(), WorldBuilder::body).build().unwrap();
    world.advance_to(0.1).unwrap();
    let frame = world.frame(&[]);
    let [nodes] = frame.point_sets.as_slice() else { panic!("one set") };
    assert_eq!((nodes.name.as_str(), nodes.body.as_slice()), ("nodes", [0, 1].as_slice()));
    assert_eq!(nodes.columns.iter().map(|c| c.values.len()).collect::<Vec<_>>(), [6, 6, 6]);
    let fallen = 0.3 - 0.5 * 9.81 * 0.01;
    assert!(nodes.position.iter().all(|x| (Real::from(x[1]) - fallen).abs() < 0.02), "{nodes:?}");
}

#[test]
fn meshes_are_carried_exactly() {
    for kind in KINDS {
        let mut body = block("block", key(kind)).at(vec3(0.0, 0.1, 0.0));
        body.velocity = vec3(0.0, -1.0, 0.0);
        body.angular_velocity = vec3(3.0, 1.0, 2.0);
        body.carried.points = body.shape.triangulate(16).unwrap().refined(0.05).vertices().to_vec();
        let start = body.carried.points.clone();
        let mut world = builder().body(body).obstacle(floor(Vec3::Y, 0.4)).build().unwrap();
        let rest = support::positions(&world);
        (1..=10).for_each(|frame| world.advance_to(Real::from(frame) / 30.0).unwrap());
        // the particles of an affine body determine the map of all its points
        let now = support::positions(&world);
        let map = |x: Vec3| {
            let at = |k: usize| (rest[k], now[k]);
            let (a, others) = (at(0), [at(5), at(30), at(180)]);
            let from = Mat3::from_cols(others[0].0 - a.0, others[1].0 - a.0, others[2].0 - a.0);
            let to = Mat3::from_cols(others[0].1 - a.1, others[1].1 - a.1, others[2].1 - a.1);
            a.1 + to * from.inverse() * (x - a.0)
        };
        let carried = world.carried_points(0).unwrap();
        let worst = carried.iter().zip(&start).map(|(&x, &s)| x.distance(map(s))).fold(0.0, Real::max);
        println!("{}: carried points are {worst:.1e} m off", key(kind));
        assert!(worst < 1e-6, "{worst}");
    }
}

/// Builds twenty bodies of all kinds that are thrown at each other, without gravity or in a box.
fn thrown(in_a_box: bool) -> WorldBuilder {
    let catalogue = methods().next().unwrap();
    let kinds = [key(Affine::EXPLICIT), catalogue, key(Affine::IMPLICIT)];
    let mut world = builder();
    for k in 0..20 {
        let cell = vec3((k % 3) as Real - 1.0, (k / 9) as Real + 0.6, (k / 3 % 3) as Real - 1.0) * 0.2;
        let mut body = block(&format!("body {k}"), kinds[k % 3]).at(cell);
        body.fill.spacing = Spacing::Uniform(0.03);
        body.velocity = vec3(0.0, 0.5, 0.0) - cell * 6.0;
        body.friction = 0.5;
        world = world.body(body);
    }
    if in_a_box {
        let mut walls =
            Obstacle::new("box", Shape::Box { size: vec3(0.8, 4.0, 0.8) }.into()).with_friction(0.5);
        walls.inside = true;
        walls.shape.placement.position.y = 2.0;
        return world.obstacle(walls);
    }
    world.gravity(Vec3::ZERO)
}

#[test]
fn thrown_together_they_keep_their_momentum() {
    let mut world = thrown(false).build().unwrap();
    let momentum = |world: &World| world.particles().map(|p| p.momentum()).sum::<Vec3>();
    let moved: Real = world
        .particles()
        .map(|p| p.velocity.iter().zip(&p.mass).map(|(v, m)| v.length() * m).sum::<Real>())
        .sum();
    let before = momentum(&world);
    let mut most = 0.0;
    for frame in 1..=15 {
        world.advance_to(Real::from(frame) / 30.0).unwrap();
        most = Real::max(most, world.ledger().counter("body_contacts").unwrap_or(0.0));
        let lost = (momentum(&world) - before).length() / moved;
        assert!(lost < 1e-12, "frame {frame}: {lost}");
    }
    println!("momentum lost {:.1e}, most contacts {most}", (momentum(&world) - before).length() / moved);
    assert!(most > 20.0, "they have met: {most}");
}

#[test]
fn thrown_into_a_box_they_come_to_rest() {
    let mut world = thrown(true).build().unwrap();
    let start = world.ledger().kinetic_energy;
    for frame in 1..=90 {
        world.advance_to(Real::from(frame) / 30.0).unwrap();
        if frame % 30 == 0 {
            let l = world.ledger();
            println!(
                "{frame}: {:.2e} J, fastest {:.3} m/s, steps {}, deepest {:?}",
                l.kinetic_energy,
                l.max_speed,
                l.n_steps,
                l.counter("deepest_overlap")
            );
        }
    }
    let ledger = world.ledger();
    assert!(ledger.kinetic_energy < 1e-4 * start, "{} of {start}", ledger.kinetic_energy);
}
