//! Tests of worlds driven by calls: bodies are added and removed, obstacles are moved, contacts and rays are queried.

mod support;

use phyxel::methods::built_methods;
use phyxel::prelude::*;
use phyxel::world::RemoveError;
use support::saving::Saved;
use support::{elastic, methods, region};

const SIDE: Real = 0.12;

fn block(name: &str, method: &str, at: Vec3) -> Body {
    let material = elastic(2e5, 0.3).with(Property::Viscosity, 50.0);
    let mut body = Body::new(name, Shape::Box { size: Vec3::splat(SIDE) }, 0.02, material).at(at);
    body.method = Some(method.into());
    body
}

fn floor() -> Obstacle {
    Obstacle::new("floor", Shape::HalfSpace { normal: Vec3::Y, offset: 0.0 }.into()).with_friction(0.5)
}

fn center(world: &World, body: BodyId) -> Vec3 {
    let (mut sum, mut n) = (Vec3::ZERO, 0.0);
    for p in world.particles() {
        for i in (0..p.len()).filter(|&i| p.body[i] as usize == body.index()) {
            (sum, n) = (sum + p.position[i], n + 1.0);
        }
    }
    sum / n
}

/// Checks that a body added to a running world stands on others, and that bodies can be removed again.
#[test]
fn bodies_come_and_go() {
    for method in methods() {
        let first = || World::builder().body(block("first", method, vec3(0.0, 0.061, 0.0))).obstacle(floor());
        let mut world = first().build().unwrap();
        world.advance_to(0.1).unwrap();
        let n = world.n_particles();
        let added = world.add_body(block("added", method, vec3(0.0, 0.182, 0.0))).unwrap();
        assert_eq!((world.body("added"), added.index(), world.n_particles()), (Some(added), 1, 2 * n));
        let ids: Vec<u32> = world.frame(&[]).id;
        assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "ids are unique");
        world.advance_to(0.5).unwrap();
        let height = center(&world, added).y;
        println!("{method}: added body at {height:.4} m");
        assert!((height - 0.179).abs() < 0.003, "{method}: {height}");

        let inside = world.add_body(block("inside", method, vec3(0.01, 0.07, 0.0))).unwrap_err();
        assert!(inside.to_string().contains("inside"), "{inside}");
        world.remove_body(added).unwrap();
        assert_eq!((world.n_particles(), world.contacts().len()), (n, 1));
        assert_eq!(world.remove_body(added), Err(RemoveError::Gone("added".into())));
        assert!(world.add_body(block("added", method, vec3(3.0, 1.0, 0.0))).is_err(), "its name stays taken");
        world.advance_to(0.6).unwrap();
        let first = world.body("first").unwrap();
        world.remove_body(first).unwrap();
        world.advance_to(0.7).unwrap();
        assert_eq!((world.n_particles(), world.time()), (0, 0.7));
    }
}

/// Checks that a body which shares its group with another can be removed, and that the other moves as if it had been
/// alone.
#[test]
fn bodies_that_share_a_group_can_go() {
    for method in methods() {
        let builder = || World::builder().obstacle(floor()).time_step(Some(2e-4));
        let mut two = block("two", method, vec3(1.0, 0.08, 0.0));
        two.carried = Carried { points: vec![vec3(1.0, 0.14, 0.0)], ..Carried::default() };
        let mut one = block("one", method, vec3(0.0, 0.08, 0.0));
        one.material = one.material.with(Property::YoungsModulus, 1e5);
        one.fill.sampling = Sampling::Jittered;
        one.carried =
            Carried { points: vec![vec3(0.0, 0.14, 0.0), vec3(0.0, 0.02, 0.0)], ..Carried::default() };
        let mut alone = builder().body(two.clone()).build().unwrap();
        let make = || builder().body(one.clone()).body(two.clone()).build().unwrap();
        let mut world = make();
        for world in [&mut alone, &mut world] {
            world.advance_to(0.1).unwrap();
        }
        let [one, two] = ["one", "two"].map(|name| world.body(name).unwrap());
        world.remove_body(one).unwrap();
        let saved = Saved::new(&mut world);
        assert_eq!(world.n_particles(), alone.n_particles());
        assert!(world.carried_points(one.index()).is_none());
        assert_eq!(world.remove_body(one), Err(RemoveError::Gone("one".into())));
        for world in [&mut alone, &mut world] {
            world.advance_to(0.3).unwrap();
        }
        let (a, b) = (center(&alone, alone.body("two").unwrap()), center(&world, two));
        println!("{method}: the other body is {:e} m off", a.distance(b));
        // not exact, because all bodies of a method may decide when its neighbourhoods are updated
        assert!(a.distance(b) < 5e-6, "{method}: {a} {b}");
        let mut resumed = make();
        saved.restore(&mut resumed);
        assert_eq!(resumed.remove_body(one), Err(RemoveError::Gone("one".into())));
        resumed.advance_to(0.3).unwrap();
        assert_eq!(resumed.digest(), world.digest(), "{method}: resumed after a removal");
        let point = world.carried_points(two.index()).unwrap()[0];
        assert!(point.distance(alone.carried_points(0).unwrap()[0]) < 5e-5, "{point}");
    }
}

/// Checks that a hanging bar shortens by ρ g L²/2E when its lower part is removed: the rest feels the smaller load at
/// once, for every method.
#[test]
fn a_sink_takes_the_lower_half_of_a_hanging_bar() {
    let (a, n, modulus) = (0.025, [4, 16, 4], 4e4);
    let size = vec3(n[0] as Real, n[1] as Real, n[2] as Real) * a;
    for method in methods() {
        let material = elastic(modulus, 0.0).with(Property::Viscosity, 300.0);
        let mut bar = Body::new("bar", Shape::Box { size }, a, material);
        bar.method = Some(method.into());
        bar.carried = Carried { points: vec![vec3(0.0, 1.5 * a, 0.0), -0.4 * size], ..Carried::default() };
        let grip = Grip {
            name: "hand".into(),
            body: "bar".into(),
            select: region(vec3(-1.0, 0.5 * size.y - a, -1.0), Vec3::ONE),
            motion: Motion::still(),
            release: None,
            axes: Axes::ALL,
        };
        let mut world = World::builder().body(bar).grip(grip).build().unwrap();
        let start = world.frame(&[]);
        // the particles of the sixth layer from above, and the distance by which they have sunk
        let height = 0.5 * size.y - 5.5 * a;
        let layer: Vec<u32> = start
            .id
            .iter()
            .zip(&start.position)
            .filter(|(_, x)| (Real::from(x[1]) - height).abs() < 0.4 * a)
            .map(|(id, _)| *id)
            .collect();
        assert_eq!(layer.len(), 16);
        let sag = |world: &World| {
            let frame = world.frame(&[]);
            let own = frame.id.iter().zip(&frame.position).filter(|(id, _)| layer.contains(id));
            height - own.map(|(_, x)| Real::from(x[1])).sum::<Real>() / 16.0
        };
        // each layer below the held one is stretched by the weight of everything under it
        let expected =
            |length: Real| 1000.0 * 9.81 / modulus * (length * length - (length - 4.5 * a).powi(2)) / 2.0;
        world.advance_to(1.5).unwrap();
        let whole = sag(&world) / expected(size.y - a);
        let body = world.body("bar").unwrap();
        let gone = world.remove_particles(body, |p, i| p.position[i].y < -0.01).unwrap();
        assert_eq!((gone, world.n_particles()), (128, 128));
        let points = world.carried_points(0).unwrap();
        assert!(points.iter().all(|p| p.is_finite()), "{points:?}");
        world.advance_to(3.0).unwrap();
        let half = sag(&world) / expected(0.5 * size.y - a);
        // coarse bars are off by more than long ones; without the removal the second ratio would be 2.7
        println!("{method}: sag over theory {whole:.3}, without the lower half {half:.3}");
        assert!((whole - 1.0).abs() < 0.15 && (half - 1.0).abs() < 0.15, "{method}: {whole} {half}");
    }
}

/// Checks that contacts report the impulses that hold bodies: the weight of one on the other, and of both on the floor.
#[test]
fn contacts_tell_who_stands_on_what() {
    for method in methods() {
        let mut world = World::builder()
            .body(block("lower", method, vec3(0.0, 0.061, 0.0)))
            .body(block("upper", method, vec3(0.02, 0.182, 0.0)))
            .obstacle(floor())
            .build()
            .unwrap();
        world.advance_to(1.0).unwrap();
        let interval = 0.1;
        world.advance(interval).unwrap();
        let [lower, upper] = ["lower", "upper"].map(|name| world.body(name).unwrap());
        let weight = 1000.0 * SIDE.powi(3) * 9.81;
        let contacts = world.contacts();
        let on_floor: Vec<&Touching> =
            contacts.iter().filter(|c| matches!(c.other, TouchingSide::Obstacle(_))).collect();
        assert_eq!(on_floor.len(), 1, "{contacts:?}");
        let carried = on_floor[0].impulse.y / (2.0 * weight * interval);
        let place = on_floor[0].place;
        println!("{method}: floor carries {carried:.4} of both at {place:.3}");
        assert_eq!(on_floor[0].body, lower);
        assert!((carried - 1.0).abs() < 0.02, "{carried}");
        // the upper block is slightly off-centre, and so is the contact point on the floor
        assert!(place.y < 0.03 && place.x > 0.004 && place.x < 0.02, "{place}");
        let between: Vec<&Touching> =
            contacts.iter().filter(|c| c.other == TouchingSide::Body(upper)).collect();
        assert_eq!((between.len(), between[0].body), (1, lower));
        let ledger = world.ledger();
        let force = -between[0].impulse.y / ledger.time_step / weight;
        println!("{method}: the upper one presses with {force:.3} of its weight");
        assert!((force - 1.0).abs() < 0.2, "{force}");
        assert!((between[0].place.y - SIDE).abs() < 0.02);
    }
}

#[test]
fn rays_meet_the_nearest_body() {
    let method = methods().next().unwrap();
    let world = World::builder()
        .body(block("near", method, vec3(0.0, 0.0, 0.0)))
        .body(block("far", method, vec3(0.0, 0.0, 1.0)))
        .build()
        .unwrap();
    let hit = world.cast_ray(vec3(0.013, -0.021, -2.0), Vec3::Z * 5.0).unwrap();
    assert_eq!(Some(hit.body), world.body("near"));
    assert!((hit.distance - (2.0 - 0.06)).abs() < 0.01, "{hit:?}");
    assert!((hit.point - vec3(0.013, -0.021, -0.06)).length() < 0.01);
    let p = world.particles().next().unwrap();
    let met = p.id.iter().position(|&id| id == hit.particle).unwrap();
    assert!(p.position[met].distance(hit.point) < 0.02);
    assert_eq!(world.cast_ray(vec3(0.0, 0.0, 3.0), -Vec3::Z).map(|hit| hit.body), world.body("far"));
    assert_eq!(world.cast_ray(vec3(0.0, 0.0, -2.0), -Vec3::Z), None);
    assert_eq!(world.cast_ray(vec3(0.0, 0.5, -2.0), Vec3::Z), None);
    assert_eq!(world.cast_ray(Vec3::ZERO, Vec3::ZERO), None);
    // brute force check: no particle's ball is nearer
    for k in 0..50 {
        let direction = vec3(0.05 * (Real::from(k) * 0.37).sin(), 0.05 * (Real::from(k) * 0.73).cos(), 1.0);
        let origin = vec3(0.0, 0.0, -1.0);
        let nearest = (0..4000).map(|step| 0.0005 * Real::from(step)).find(|&along| {
            let x = origin + direction.normalize() * along;
            world
                .particles()
                .any(|p| (0..p.len()).any(|i| x.distance(p.position[i]) < 2f64.sqrt() * p.radius[i]))
        });
        let found = world.cast_ray(origin, direction).map(|hit| hit.distance);
        assert_eq!(nearest.is_some(), found.is_some());
        assert!(nearest.zip(found).is_none_or(|(a, b)| (a - b).abs() < 6e-4), "{nearest:?} {found:?}");
    }
}

/// Checks that a plate lifted by the caller carries a body, with the same result after saving and restoring on the way.
#[test]
fn obstacles_are_moved_by_the_caller() {
    for method in methods() {
        let make = || {
            let mut plate =
                Obstacle::new("plate", Shape::Box { size: vec3(0.4, 0.1, 0.4) }.into()).with_friction(0.5);
            plate.shape.placement.position.y = -0.05;
            World::builder()
                .body(block("block", method, vec3(0.0, 0.061, 0.0)))
                .obstacle(plate)
                .build()
                .unwrap()
        };
        let lift = |world: &mut World, frames: std::ops::Range<u32>| {
            let plate = world.obstacle("plate").unwrap();
            for frame in frames {
                let height = 0.3 * Real::from((frame + 1).min(30)) / 30.0;
                world.move_obstacle(plate, vec3(0.0, height, 0.0), Vec3::Y * height);
                world.advance_to(Real::from(frame + 1) / 60.0).unwrap();
            }
        };
        let mut world = make();
        // a move without any elapsed time has no effect
        let plate = world.obstacle("plate").unwrap();
        world.move_obstacle(plate, vec3(0.0, 0.3, 0.0), Vec3::ZERO);
        world.advance(0.0).unwrap();
        lift(&mut world, 0..20);
        let saved = Saved::new(&mut world);
        lift(&mut world, 20..60);
        let body = world.body("block").unwrap();
        let risen = center(&world, body).y - 0.06;
        println!("{method}: risen by {risen:.4} m");
        assert!((risen - 0.3).abs() < 0.004, "{method}: {risen}");
        let frame = world.frame(&[]);
        let [poses] = frame.point_sets.as_slice() else { panic!("one set: the plate's pose") };
        assert_eq!((poses.body.as_slice(), poses.columns[0].name.as_str()), ([0].as_slice(), "rotation"));
        assert!(
            (poses.position[0][1] - 0.25).abs() < 1e-6 && (poses.columns[0].values[1] - 0.3).abs() < 1e-6
        );
        let mut resumed = make();
        saved.restore(&mut resumed);
        lift(&mut resumed, 20..60);
        assert_eq!(world.digest(), resumed.digest(), "{method}");
    }
}

/// Checks that the force on a block beside the middle of a plate has a torque about the plate's centre, also after the
/// plate was moved.
#[test]
fn the_ledger_has_torques() {
    for method in methods() {
        let mut plate =
            Obstacle::new("plate", Shape::Box { size: vec3(0.6, 0.1, 0.4) }.into()).with_friction(0.5);
        plate.shape.placement.position = vec3(-0.1, -0.05, 0.0);
        let mut world = World::builder()
            .body(block("block", method, vec3(0.0, 0.061, 0.05)))
            .obstacle(plate)
            .build()
            .unwrap();
        let plate = world.obstacle("plate").unwrap();
        world.move_obstacle(plate, vec3(0.0, 0.02, 0.0), Vec3::ZERO);
        world.advance_to(0.8).unwrap();
        world.advance_to(1.0).unwrap();
        let weight = 1000.0 * SIDE.powi(3) * 9.81;
        let torque = world.ledger().torques[0].1 / weight;
        println!("{method}: torque {torque:.4} weights m");
        // lever (0.1, ·, 0.05) × force (0, 1, 0)
        assert!((torque - vec3(-0.05, 0.0, 0.1)).length() < 0.004, "{method}: {torque}");
    }
}

/// Checks clay that is pressed out of a nozzle layer by layer: it appears unstressed, is one piece and has the extruded
/// mass, with the same result if the world is saved and restored on the way. Methods without births refuse, and nothing
/// changes.
#[test]
fn an_extruder_feeds_methods_that_take_births() {
    let (a, speed, width) = (0.02, 0.6, 6);
    let layer_at = |height: Real| -> Vec<Vec3> {
        let cell = |k: usize| (k as Real + 0.5 - 0.5 * width as Real) * a;
        (0..width * width).map(|k| vec3(cell(k % width), height, cell(k / width))).collect()
    };
    for entry in built_methods() {
        let make = || {
            let mut material = elastic(1e5, 0.3).with(Property::Viscosity, 50.0);
            if !entry.abilities.flows.is_empty() {
                material = material.creeping(YieldMeasure::Deviatoric, 300.0, 200.0);
            }
            let size = vec3(width as Real, 3.0, width as Real) * a;
            let mut clay =
                Body::new("clay", Shape::Box { size }, a, material).at(vec3(0.0, 0.3 - 1.5 * a, 0.0));
            clay.velocity = vec3(0.0, -speed, 0.0);
            clay.method = Some(entry.key.into());
            World::builder().body(clay).obstacle(floor()).gravity(Vec3::ZERO).build().unwrap()
        };
        let feed = |world: &mut World, layers: std::ops::Range<usize>| {
            let clay = world.body("clay").unwrap();
            for layer in layers {
                // the previous layer has left the nozzle by one spacing
                world.advance_to((layer + 1) as Real * a / speed).unwrap();
                let positions = layer_at(0.3 - 0.5 * a);
                let new =
                    NewParticles { positions: &positions, velocity: vec3(0.0, -speed, 0.0), spacing: a };
                world.add_particles(clay, &new)?;
            }
            Ok::<(), phyxel::methods::MethodError>(())
        };
        let mut world = make();
        let (n, digest) = (world.n_particles(), world.digest());
        if !entry.abilities.births {
            let clay = world.body("clay").unwrap();
            let new = NewParticles { positions: &layer_at(0.5), velocity: Vec3::ZERO, spacing: a };
            let error = world.add_particles(clay, &new).unwrap_err();
            assert!(error.to_string().contains("clay"), "{error}");
            assert_eq!((world.n_particles(), world.digest()), (n, digest));
            continue;
        }
        feed(&mut world, 0..4).unwrap();
        let early = world.ledger();
        // matter in flight is not stressed
        let stress = world.frame(&["stress"]).columns[0].values.iter().fold(0.0, |m: f32, s| m.max(*s));
        println!("{}: largest stress in flight {stress} Pa", entry.key);
        assert!(stress < 30.0, "{stress}");
        assert!(
            (early.momentum.y / (-speed * early.n_particles as Real * 1000.0 * a.powi(3)) - 1.0).abs() < 1e-9
        );
        let saved = Saved::new(&mut world);
        feed(&mut world, 4..11).unwrap();
        world.advance(0.3).unwrap();
        let ledger = world.ledger();
        let height = world.frame(&[]).position.iter().fold(0f32, |top, x| top.max(x[1]));
        println!("{}: {} particles, {:?}, top at {height} m", entry.key, ledger.n_particles, ledger.sampling);
        assert_eq!(ledger.n_particles, n + 11 * width * width);
        assert_eq!(ledger.sampling.n_pieces, Some(1));
        assert!(ledger.sampling.nearest_smallest.unwrap() > 0.4 && height < 0.28);
        let mut resumed = make();
        saved.restore(&mut resumed);
        feed(&mut resumed, 4..11).unwrap();
        resumed.advance(0.3).unwrap();
        assert_eq!(world.digest(), resumed.digest(), "{}", entry.key);
    }
}

/// Checks that an impulse changes the momentum of a body for every method.
#[test]
fn pushes_change_the_momentum() {
    for method in methods() {
        let mut world =
            World::builder().body(block("block", method, Vec3::ZERO)).gravity(Vec3::ZERO).build().unwrap();
        let body = world.body("block").unwrap();
        world.push_body(body, vec3(0.3, 0.1, -0.2));
        assert!(
            (world.ledger().momentum - vec3(0.3, 0.1, -0.2)).length() < 1e-12,
            "at once, so that it is saved"
        );
        world.advance_to(0.01).unwrap();
        let momentum = world.ledger().momentum;
        assert!((momentum - vec3(0.3, 0.1, -0.2)).length() < 1e-12, "{method}: {momentum}");
    }
}
