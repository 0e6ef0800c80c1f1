//! Tests of contact between bodies and of a body with itself, by every method: rest, momentum, friction, no crossing.

mod support;

use phyxel::contact::{Ease, Friction, Keyframe, Motion, Obstacle};
use phyxel::geometry::{PlacedShape, Shape};
use phyxel::material::{Material, Property};
use phyxel::math::{Real, Vec3, vec3};
use phyxel::particles::Particles;
use phyxel::world::{Body, World, WorldBuilder};
use support::{any_method, bar, elastic, methods};

const G: Real = 9.81;

fn damped(youngs_modulus: Real, viscosity: Real) -> Material {
    elastic(youngs_modulus, 0.3).with(Property::Viscosity, viscosity)
}

fn floor(friction: Friction) -> Obstacle {
    let shape = PlacedShape::from(Shape::HalfSpace { normal: Vec3::Y, offset: 0.0 });
    Obstacle { friction, ..Obstacle::new("floor", shape) }
}

fn builder(method: &str) -> WorldBuilder {
    World::builder().default_method(method)
}

fn counter(world: &World, name: &str) -> Real {
    world.ledger().counter(name).unwrap()
}

/// Returns the surface particles of a body: positions and directions away from their own neighbours, by brute force.
fn surface_of(world: &World, body: u32, spacing: Real) -> Vec<(Vec3, Vec3)> {
    let all = |p: &Particles| -> Vec<Vec3> {
        (0..p.len()).filter(|&i| p.body[i] == body).map(|i| p.position[i]).collect()
    };
    let x: Vec<Vec3> = world.particles().flat_map(all).collect();
    let outward = |a: &Vec3| {
        let near = x.iter().map(|b| *b - *a).filter(|u| u.length() < 2.0 * spacing);
        let sum: Vec3 = near.clone().sum();
        let size: Real = near.map(|u| u.length()).sum();
        if sum.length() > 0.15 * size { -sum.normalize() } else { Vec3::ZERO }
    };
    x.iter().map(|a| (*a, outward(a))).filter(|p| p.1 != Vec3::ZERO).collect()
}

/// Returns the depth of one body inside the other, in spacings, by brute force: along the mean normal of the nearest
/// surface points that face each other.
fn penetration(world: &World, a: u32, b: u32, spacing: Real) -> Real {
    let (a, b) = (surface_of(world, a, spacing), surface_of(world, b, spacing));
    let mut deepest: Real = 0.0;
    for (x, out) in &a {
        for (y, other) in &b {
            if x.distance(*y) > 1.2 * spacing || out.dot(*other) > -0.8 {
                continue;
            }
            let n = (*other - *out).normalize();
            let along = (*x - *y).dot(n);
            let across = ((*x - *y) - n * along).length();
            if across < 0.6 * spacing {
                deepest = deepest.max(spacing - along);
            }
        }
    }
    deepest / spacing
}

/// Checks that stacked blocks come to rest; the upper one is shifted, rotated and starts half a spacing higher.
#[test]
fn two_stacked_blocks_come_to_rest() {
    let d = 0.05;
    for method in methods() {
        let lower = bar("lower", [6, 6, 6], d, damped(1e5, 500.0));
        let mut upper = bar("upper", [5, 5, 5], d, damped(1e5, 500.0)).at(vec3(0.16, 0.45, 0.14));
        upper.shape.placement.rotation = phyxel::math::Quat::from_rotation_y(0.3);
        let mut world =
            builder(method).body(lower).body(upper).obstacle(floor(Friction::Coulomb(0.5))).build().unwrap();
        world.advance(6.0).unwrap();
        let ledger = world.ledger();
        let deep = penetration(&world, 0, 1, d);
        println!(
            "{method}: max speed {:.1e} m/s, {} contacts, overlap {:.1e} m, penetration {deep:.3} d, {} J",
            ledger.max_speed,
            counter(&world, "body_contacts"),
            counter(&world, "deepest_overlap"),
            ledger.kinetic_energy
        );
        assert!(ledger.max_speed < 1e-3, "{method}: {}", ledger.max_speed);
        assert!(deep < 0.3);
        // the upper block stands on the lower one and has not fallen off
        let p = world.particles().next().unwrap();
        let of_upper = || (0..p.len()).filter(|&i| p.body[i] == 1).map(|i| p.position[i]);
        let lowest = of_upper().map(|x| x.y).fold(Real::INFINITY, Real::min);
        assert!((0.30..0.34).contains(&lowest), "{method}: {lowest}");
    }
}

/// Checks that two free blocks that collide obliquely conserve momentum.
#[test]
fn colliding_bodies_keep_their_momentum() {
    let d = 0.05;
    for method in methods() {
        let mut left = bar("left", [6, 6, 6], d, elastic(1e5, 0.3));
        left.velocity = vec3(2.0, 0.3, 0.0);
        let mut right = bar("right", [5, 5, 5], d, elastic(1e5, 0.3)).at(vec3(0.6, 0.25, 0.12));
        right.velocity = vec3(-2.0, 0.0, 0.1);
        right.angular_velocity = vec3(0.0, 1.0, 3.0);
        let mut world = builder(method).gravity(Vec3::ZERO).body(left).body(right).build().unwrap();
        let before = world.ledger();
        let energy = |world: &World| {
            let l = world.ledger();
            l.kinetic_energy + l.elastic_energy.unwrap()
        };
        let at_start = energy(&world);
        let mut most_contacts: Real = 0.0;
        let mut deepest: Real = 0.0;
        for _ in 0..60 {
            world.advance(0.005).unwrap();
            most_contacts = most_contacts.max(counter(&world, "body_contacts"));
            deepest = deepest.max(penetration(&world, 0, 1, d));
        }
        let after = world.ledger();
        let size = 1000.0 * (0.3f64.powi(3) + 0.25f64.powi(3)) * 2.0;
        let change = (after.momentum - before.momentum).length() / size;
        let spin = (after.angular_momentum - before.angular_momentum).length() / (size * 0.3);
        let left = energy(&world) / at_start;
        println!(
            "{method}: momentum {change:.1e}, angular {spin:.1e}, {most_contacts} contacts, energy {left:.3}, {deepest:.3} d"
        );
        assert!(most_contacts > 10.0, "they met");
        assert!(change < 1e-12);
        assert!(left < 1.0);
        assert!(deepest < 0.3);
        let p = world.particles().next().unwrap();
        let center = |body: u32| {
            let of = |i: &usize| p.body[*i] == body;
            let n = (0..p.len()).filter(of).count() as Real;
            (0..p.len()).filter(of).map(|i| p.position[i]).sum::<Vec3>() / n
        };
        assert!(center(1).x - center(0).x > 0.25, "they bounced");
    }
}

/// Checks a block on a slab that is stuck to the floor, with tilted gravity: it stays at 0.9 µ and slides with
/// Coulomb's acceleration above µ.
#[test]
fn friction_between_bodies_obeys_coulomb() {
    let (d, mu) = (0.05, 0.4);
    for method in methods() {
        for (factor, tolerance) in [(0.9, 0.0), (1.5, 0.05), (2.5, 0.05)] {
            let angle = (factor * mu as Real).atan();
            let mut slab = bar("slab", [24, 3, 6], d, damped(2e6, 500.0));
            let mut block = bar("block", [4, 4, 4], d, damped(1e6, 200.0)).at(vec3(0.2, 0.25, 0.16));
            (slab.friction, block.friction) = (mu, mu);
            let mut world = builder(method)
                .gravity(vec3(angle.sin(), -angle.cos(), 0.0) * G)
                .body(slab)
                .body(block)
                .obstacle(floor(Friction::Stick))
                .build()
                .unwrap();
            let velocity = |world: &World| {
                let p = world.particles().next().unwrap();
                let of = |i: &usize| p.body[*i] == 1;
                let n = (0..p.len()).filter(of).count() as Real;
                (0..p.len()).filter(of).map(|i| p.velocity[i]).sum::<Vec3>() / n
            };
            world.advance(0.15).unwrap();
            let first = velocity(&world);
            world.advance(0.25).unwrap();
            let last = velocity(&world);
            let acceleration = (last.x - first.x) / 0.25;
            let expected = G * (angle.sin() - mu * angle.cos()).max(0.0);
            println!(
                "{method}: at {factor} mu acceleration {acceleration:.3}, expected {expected:.3}, speed {:.1e}",
                last.x
            );
            if tolerance == 0.0 {
                assert!(last.x.abs() < 1e-3);
            } else {
                assert!((acceleration / expected - 1.0).abs() < tolerance);
            }
        }
    }
}

/// Checks that nine blocks and balls that fall into a box settle, and that none is inside another.
#[test]
fn a_pile_of_two_shapes_settles() {
    let d = 0.05;
    for method in methods() {
        let mut builder = builder(method).obstacle(floor(Friction::Coulomb(0.5)));
        let mut walls =
            Obstacle::new("walls", Shape::Box { size: vec3(0.62, 20.0, 0.62) }.into()).with_friction(0.3);
        walls.inside = true;
        walls.shape.placement.position = vec3(0.0, 9.0, 0.0);
        builder = builder.obstacle(walls);
        for k in 0..9 {
            let shape = match k % 2 {
                0 => Shape::Box { size: vec3(0.3, 0.2, 0.2) },
                _ => Shape::Sphere { radius: 0.14 },
            };
            let side = vec3([-0.12, 0.12, 0.02][k % 3], 0.0, [0.1, -0.13, 0.0, 0.12][k % 4]);
            let place = side + Vec3::Y * (0.17 + 0.3 * k as Real);
            let mut body = Body::new(format!("body_{k}"), shape, d, damped(1e5, 500.0)).at(place);
            body.shape.placement.rotation = phyxel::math::Quat::from_rotation_y(0.7 * k as Real);
            builder = builder.body(body);
        }
        let mut world = builder.build().unwrap();
        let mut deepest: Real = 0.0;
        for _ in 0..30 {
            world.advance(0.1).unwrap();
            for a in 0..9 {
                for b in a + 1..9 {
                    deepest = deepest.max(penetration(&world, a, b, d));
                }
            }
        }
        let mut moved = Vec::new();
        for _ in 0..12 {
            let before = support::positions(&world);
            (0..5).for_each(|_| world.advance(0.1).unwrap());
            let after = support::positions(&world);
            moved.push(before.iter().zip(&after).map(|(a, b)| a.distance(*b)).fold(0.0, Real::max) / d);
        }
        let ledger = world.ledger();
        let height = support::positions(&world).iter().map(|x| x.y).fold(0.0, Real::max);
        println!(
            "{method}: deepest {deepest:.3} d, in half seconds {moved:.3?} d, {:.1e} J, max speed {:.1e} m/s, height {height:.2} m",
            ledger.kinetic_energy, ledger.max_speed
        );
        let moved = moved[moved.len() - 1];
        assert!(deepest < 0.3);
        // the ends of intervals must not stir what rests: 0.2 spacings if contact begins without its last impulses
        assert!(moved < 0.1 && ledger.kinetic_energy < 1e-3);
        assert!(height > 0.4, "they lie on each other");
    }
}

/// Checks a U-shaped bar pressed together between plates: its arms meet and do not pass through each other.
#[test]
fn a_pressed_u_does_not_pass_through_itself() {
    let d = 0.05;
    for method in methods() {
        // arms of 4 spacings, a gap of 4
        let outer = PlacedShape::from(Shape::Box { size: vec3(12.0, 14.0, 5.0) * d });
        let mut inner = PlacedShape::from(Shape::Box { size: vec3(4.0, 10.0, 6.0) * d });
        inner.placement.position = vec3(0.0, 2.0, 0.0) * d;
        let shape = Shape::Difference(vec![outer, inner]);
        let body = Body::new("u", shape, d, damped(1e5, 100.0));
        let mut builder = builder(method).gravity(Vec3::ZERO).body(body);
        for side in [-1.0, 1.0] {
            let mut plate = Obstacle::new("plate", Shape::Box { size: vec3(2.0, 40.0, 40.0) * d }.into());
            plate.shape.placement.position = vec3(side * 7.0 * d, 0.0, 0.0);
            let key =
                Keyframe { time: 0.6, translation: vec3(-side * 2.4 * d, 0.0, 0.0), rotation: Vec3::ZERO };
            plate.motion = Motion::try_new(vec![key], Ease::Smooth).unwrap();
            builder = builder.obstacle(plate);
        }
        let mut world = builder.build().unwrap();
        let start: Vec<Vec3> = support::positions(&world);
        world.advance(0.8).unwrap();
        let end = support::positions(&world);
        let arm = |side: Real| {
            let in_arm = move |x: &&Vec3| x.x * side > 2.0 * d && x.y > 0.0;
            let inner: Vec<usize> =
                (0..start.len()).filter(|&i| in_arm(&&start[i]) && start[i].x * side < 3.0 * d).collect();
            inner
        };
        let (left, right) = (arm(-1.0), arm(1.0));
        let nearest = left
            .iter()
            .flat_map(|&i| right.iter().map(move |&j| (i, j)))
            .map(|(i, j)| end[i].distance(end[j]))
            .fold(Real::INFINITY, Real::min);
        // compares the inner faces: particles of the left one stay left of their nearest ones on the right
        let crossed = left.iter().filter(|&&i| {
            let near =
                right.iter().min_by(|&&a, &&b| end[i].distance(end[a]).total_cmp(&end[i].distance(end[b])));
            end[i].x > end[*near.unwrap()].x
        });
        let crossed = crossed.count();
        println!(
            "{method}: nearest {:.2} d, {crossed} of {} crossed, {} contacts",
            nearest / d,
            left.len(),
            counter(&world, "body_contacts")
        );
        assert!(nearest < 1.5 * d, "the arms met");
        assert!(crossed == 0 && nearest > 0.6 * d);
    }
}

/// Checks that blocks of three different methods can stand on each other: contact does not depend on the method.
#[test]
fn bodies_of_different_methods_meet() {
    let d = 0.05;
    let mut builder = World::builder().obstacle(floor(Friction::Coulomb(0.5)));
    for (k, method) in methods().enumerate() {
        let mut body = bar(method, [5, 5, 5], d, damped(1e6, 2000.0));
        body = body.at(vec3(0.02 * k as Real, 0.125 + 0.26 * k as Real, 0.0));
        body.method = Some(method.into());
        builder = builder.body(body);
    }
    let mut world = builder.build().unwrap();
    (0..30).for_each(|_| world.advance(0.2).unwrap());
    let ledger = world.ledger();
    let deep = penetration(&world, 0, 1, d).max(penetration(&world, 1, 2, d));
    let carried = ledger.forces[0].1.y / (3.0 * 1000.0 * 0.25f64.powi(3) * G);
    println!(
        "max speed {:.1e} m/s, {deep:.3} d, the floor carries {carried:.4} of the weight",
        ledger.max_speed
    );
    assert!(ledger.max_speed < 1e-3 && deep < 0.3);
    let heights: Vec<Real> = world.particles().map(|p| p.center_of_mass().y).collect();
    assert!(heights.windows(2).all(|h| h[1] - h[0] > 0.22), "{heights:?}");
    assert!((carried - 1.0).abs() < 0.01);

    // in free space their momentum is conserved
    let mut builder = World::builder().gravity(Vec3::ZERO);
    for (k, method) in methods().enumerate() {
        let mut body =
            bar(method, [5, 5, 5], d, elastic(1e5, 0.3)).at(vec3(0.4 * k as Real, 0.03 * k as Real, 0.0));
        body.velocity = vec3(3.0 - 3.0 * k as Real, 0.0, 0.0);
        body.method = Some(method.into());
        builder = builder.body(body);
    }
    let mut world = builder.build().unwrap();
    let before = world.ledger().momentum;
    let mut most_contacts: Real = 0.0;
    for _ in 0..30 {
        world.advance(0.01).unwrap();
        most_contacts = most_contacts.max(counter(&world, "body_contacts"));
    }
    let change = (world.ledger().momentum - before).length() / (1000.0 * 0.25f64.powi(3) * 6.0);
    println!("momentum {change:.1e}, {most_contacts} contacts");
    assert!(change < 1e-12 && most_contacts > 10.0);
}

/// Returns the heights (lower, upper) of two touching blocks after the upper one was pulled up.
fn pulled_apart(method: &str, fuse: bool) -> (Real, Real) {
    let d = 0.05;
    let mut lower = bar("lower", [5, 5, 5], d, damped(2e5, 200.0));
    let mut upper = bar("upper", [5, 5, 5], d, damped(2e5, 200.0)).at(vec3(0.125, 0.375, 0.125));
    (lower.fuse, upper.fuse) = (fuse, fuse);
    let mut grip =
        support::grip_across_z("hand", "upper", [-9.0, 9.0], phyxel::contact::Axes::ALL, Vec::new());
    grip.select = support::region(vec3(-1.0, 0.45, -1.0), vec3(1.0, 1.0, 1.0));
    let key = Keyframe { time: 0.5, translation: vec3(0.0, 0.2, 0.0), rotation: Vec3::ZERO };
    grip.motion = Motion::try_new(vec![key], Ease::Smooth).unwrap();
    let mut world = builder(method)
        .body(lower)
        .body(upper)
        .grip(grip)
        .obstacle(floor(Friction::Coulomb(0.5)))
        .build()
        .unwrap();
    world.advance(0.8).unwrap();
    let p = world.particles().next().unwrap();
    let center = |body: u32| {
        let of = |i: &usize| p.body[*i] == body;
        let n = (0..p.len()).filter(of).count() as Real;
        (0..p.len()).filter(of).map(|i| p.position[i].y).sum::<Real>() / n
    };
    (center(0), center(1))
}

/// Checks that blocks which touch at the start are one piece only if `fuse` is set for both.
#[test]
fn bodies_fuse_only_where_both_say_so() {
    for method in methods() {
        let (lower, upper) = pulled_apart(method, false);
        println!("{method}, apart: {lower:.3} {upper:.3}");
        assert!((lower - 0.125).abs() < 0.01 && (upper - 0.575).abs() < 0.05);
        let (lower, upper) = pulled_apart(method, true);
        println!("{method}, fused: {lower:.3} {upper:.3}");
        assert!((0.25..0.35).contains(&lower) && (upper - lower - 0.25).abs() < 0.03);
    }
}

/// Checks a block that a held block presses down: grip and floor feel the same force.
#[test]
fn grips_feel_what_their_bodies_press_on() {
    let d = 0.05;
    for method in methods() {
        let lower = bar("lower", [6, 6, 6], d, damped(1e5, 200.0));
        let upper = bar("upper", [4, 3, 4], d, damped(1e6, 200.0)).at(vec3(0.15, 0.375, 0.15));
        let mut hand =
            support::grip_across_z("hand", "upper", [-9.0, 9.0], phyxel::contact::Axes::ALL, Vec::new());
        let key = Keyframe { time: 0.5, translation: vec3(0.0, -0.03, 0.0), rotation: Vec3::ZERO };
        hand.motion = Motion::try_new(vec![key], Ease::Smooth).unwrap();
        let mut world = builder(method)
            .gravity(Vec3::ZERO)
            .body(lower)
            .body(upper)
            .grip(hand)
            .obstacle(floor(Friction::Coulomb(0.5)))
            .build()
            .unwrap();
        world.advance(1.5).unwrap();
        world.advance(0.2).unwrap();
        let ledger = world.ledger();
        let force = |name: &str| ledger.forces.iter().find(|f| f.0 == name).unwrap().1.y;
        println!("{method}: hand {:.2} N, floor {:.2} N", force("hand"), force("floor"));
        assert!(force("floor") > 100.0);
        assert!((force("hand") / force("floor") + 1.0).abs() < 0.01);
    }
}

/// Checks that bodies pass through each other if contact is switched off, as in the papers.
#[test]
fn contact_can_be_switched_off() {
    let d = 0.05;
    let mut left = bar("left", [4, 4, 4], d, elastic(1e5, 0.3));
    let right = bar("right", [4, 4, 4], d, elastic(1e5, 0.3)).at(vec3(0.5, 0.1, 0.1));
    left.velocity = vec3(2.0, 0.0, 0.0);
    let mut world =
        builder(any_method()).gravity(Vec3::ZERO).body_contact(false).body(left).body(right).build().unwrap();
    world.advance(0.5).unwrap();
    let p = world.particles().next().unwrap();
    assert!((0..p.len()).all(|i| (p.velocity[i].x - if p.body[i] == 0 { 2.0 } else { 0.0 }).abs() < 1e-9));
    assert!(counter(&world, "body_contacts") == 0.0);
}

/// Checks that bodies which start inside each other are refused by name, unless they fuse.
#[test]
fn bodies_that_start_inside_each_other_are_refused() {
    let d = 0.05;
    let start = |overlap: Real, fuse: bool| {
        let mut left = bar("left", [4, 4, 4], d, elastic(1e5, 0.3));
        let mut right = bar("right", [4, 4, 4], d, elastic(1e5, 0.3)).at(vec3(0.3 - overlap, 0.1, 0.1));
        (left.fuse, right.fuse) = (fuse, fuse);
        builder(any_method()).body(left).body(right).build()
    };
    assert!(start(0.0, false).unwrap().warnings().is_empty());
    // small overlaps are pushed apart, with a warning
    assert!(start(0.4 * d, false).unwrap().warnings()[0].contains("\"left\" and \"right\""));
    let error = start(1.5 * d, false).err().unwrap().to_string();
    println!("{error}");
    assert!(error.contains("\"left\"") && error.contains("\"right\"") && error.contains("fuse"));
    assert!(start(1.5 * d, true).is_ok());
}
