//! Tests of bodies that overlap obstacles at the start: they gain no energy by it, or are refused.

mod support;

use phyxel::material::Preset;
use phyxel::methods::built_methods;
use phyxel::prelude::*;
use support::{bar, elastic, grip_across_z, methods, positions};

const RADIUS: Real = 0.15;

/// Returns a ball of 1,000 particles that touches the plane y = 0.
fn ball(method: &str, material: Material) -> Body {
    let mut ball = Body::new("ball", Shape::Sphere { radius: RADIUS }, 0.1, material);
    ball.fill.spacing = Spacing::Count(1000);
    ball.method = Some(method.into());
    ball.at(vec3(0.0, RADIUS, 0.0))
}

fn floor() -> Obstacle {
    Obstacle::new("floor", Shape::HalfSpace { normal: Vec3::Y, offset: 0.0 }.into()).with_friction(0.5)
}

fn energy(world: &World) -> Real {
    let ledger = world.ledger();
    ledger.kinetic_energy + ledger.elastic_energy.unwrap_or(0.0) + ledger.gravity_energy
}

/// Returns materials from soft jelly to light foam of 139 MPa, and those that flow if the method can.
fn materials(flows: bool) -> Vec<(&'static str, Material)> {
    let preset = |name: &str| {
        let mut material = Preset::find(name).unwrap().material();
        if !flows {
            material.flow = Flow::None;
        }
        material
    };
    let mut all = vec![
        ("jelly", elastic(5e3, 0.4)),
        ("rubber", preset("rubber")),
        ("light", elastic(139e6, 0.3).with(Property::Density, 73.0)),
        ("wax", preset("wax")),
    ];
    if flows {
        all.push(("clay", elastic(2e5, 0.3).creeping(YieldMeasure::Deviatoric, 500.0, 100.0)));
    }
    all
}

/// Lattice particles of a ball on a floor have centres nearer to it than half a spacing. They were pushed out in one
/// step: a ball of wax jumped by 0.9 m, with eight times its energy.
#[test]
fn balls_on_a_floor_gain_no_energy() {
    for entry in built_methods() {
        for (name, material) in materials(!entry.abilities.flows.is_empty()) {
            let stiff = material[Property::YoungsModulus].uniform().is_some_and(|e| e > 1e7);
            let mut world =
                World::builder().body(ball(entry.key, material)).obstacle(floor()).build().unwrap();
            let told = world.warnings().iter().any(|w| w.contains("\"ball\" overlaps obstacle \"floor\""));
            assert!(told, "{:?}", world.warnings());
            let start = energy(&world);
            let mut most: Real = 0.0;
            for frame in 1..=if stiff { 5 } else { 24 } {
                world.advance_to(Real::from(frame) / 120.0).unwrap();
                most = most.max(energy(&world) / start - 1.0);
            }
            println!("{}, {name}: energy rises by {:.1e}", entry.key, most);
            assert!(most < 1e-3, "{}, {name}: {most}", entry.key);
        }
    }
}

/// The same for a mesh, a container and a moving plate, for bodies that are added to a running world, and for a body that
/// reaches a fifth of a spacing into the obstacle.
#[test]
fn obstacles_of_all_kinds_let_out_what_overlaps() {
    let size = vec3(2.0, 1.0, 2.0);
    let slab = PlacedShape::from(Shape::Box { size });
    let mesh = Shape::Mesh(slab.shape.triangulate(4).unwrap().into());
    let under = |shape: PlacedShape| {
        let mut obstacle = Obstacle::new("floor", shape);
        obstacle.shape.placement.position = vec3(0.0, -0.5, 0.0);
        obstacle
    };
    let mut room = Obstacle::new("floor", Shape::Box { size: Vec3::splat(2.0) }.into());
    room.shape.placement.position = Vec3::Y;
    room.inside = true;
    let mut plate = under(slab.clone());
    let keys = [0.0, 1.0].map(|time| Keyframe {
        time,
        translation: Vec3::Y * (0.3 - 0.3 * time),
        rotation: Vec3::ZERO,
    });
    plate.motion = Motion::try_new(keys.to_vec(), Ease::Linear).unwrap();
    for method in methods() {
        let sinks = [
            ("mesh", under(mesh.clone().into()), 0.0),
            ("room", room.clone(), 0.0),
            ("plate", plate.clone(), 0.3),
        ];
        for (name, obstacle, height) in sinks {
            for (is_added, depth) in [(false, 0.0), (true, 0.0), (false, 0.2)] {
                let spacing = 0.025;
                let mut new = ball(method, elastic(5e6, 0.3));
                new.fill.spacing = Spacing::Uniform(spacing);
                let new = new.at(vec3(0.0, height + RADIUS - depth * spacing, 0.0));
                let far = bar("far", [3, 3, 3], spacing, elastic(1e5, 0.3)).at(vec3(0.0, 1.2, 0.0));
                let builder = World::builder().gravity(Vec3::ZERO).obstacle(obstacle.clone());
                let mut world = match is_added {
                    false => builder.body(new).build().unwrap(),
                    true => {
                        let mut world = builder.body(far).build().unwrap();
                        world.add_body(new).unwrap();
                        world
                    }
                };
                world.advance(0.02).unwrap();
                let energy = energy(&world);
                println!("{method}, {name}, added {is_added}, depth {depth}: {energy:.1e} J");
                // a thousandth of the energy of a strain of a percent
                assert!(energy < 1e-3 * 0.5 * 5e6 * 1e-4 * 0.014, "{method}, {name}: {energy}");
            }
        }
    }
}

#[test]
fn particles_deep_in_obstacles_are_refused_unless_held() {
    let sunk = || bar("sunk", [4, 4, 4], 0.05, elastic(1e5, 0.3)).at(vec3(0.0, 0.05, 0.0));
    let Err(error) = World::builder().body(sunk()).obstacle(floor()).build() else { panic!("not refused") };
    let BuildError::InObstacle { body: 0, pairs } = &error else { panic!("{error}") };
    assert_eq!(pairs, "\"sunk\" in \"floor\" (16 particles, 1.0 spacings deep)");
    assert!(error.to_string().contains("Move them apart"), "{error}");
    let held = grip_across_z("hand", "sunk", [-1.0, 1.0], Axes::ALL, Vec::new());
    let world = World::builder().body(sunk()).obstacle(floor()).grip(held).build().unwrap();
    assert!(positions(&world).iter().any(|x| x.y < -0.02), "held particles stay");

    let lying = bar("lying", [4, 4, 4], 0.05, elastic(1e5, 0.3));
    let mut world = World::builder().body(lying).obstacle(floor()).build().unwrap();
    assert!(world.warnings().is_empty(), "{:?}", world.warnings());
    let refused = world.add_body(sunk());
    assert!(matches!(refused, Err(BuildError::InObstacle { body: 1, .. })), "{refused:?}");
    assert!(world.add_body(sunk().at(vec3(1.0, 0.12, 0.0))).is_ok());
}

/// Checks particles that are added to a body beside a wall.
#[test]
fn new_particles_keep_out_of_obstacles() {
    let births = built_methods().filter(|entry| entry.abilities.births).map(|entry| entry.key);
    for method in births {
        let mut block = bar("block", [4, 4, 4], 0.05, elastic(1e5, 0.3)).at(vec3(0.0, 0.15, 0.0));
        block.method = Some(method.into());
        let mut world = World::builder().gravity(Vec3::ZERO).body(block).obstacle(floor()).build().unwrap();
        let body = world.body("block").unwrap();
        let at = |y: Real| [vec3(-0.025, y, -0.025), vec3(0.025, y, 0.025)];
        let add = |world: &mut World, positions: &[Vec3]| {
            world.add_particles(body, &NewParticles { positions, velocity: Vec3::ZERO, spacing: 0.05 })
        };
        let error = add(&mut world, &at(-0.02)).unwrap_err();
        assert!(error.message.contains("in \"floor\" (2 particles, 0.9 spacings deep)"), "{}", error.message);
        add(&mut world, &at(0.01)).unwrap();
        let lowest = |world: &World| positions(world).iter().map(|x| x.y).fold(1.0, Real::min);
        assert_eq!(lowest(&world), 0.01);
        world.advance(0.01).unwrap();
        assert!((lowest(&world) - 0.01).abs() < 5e-3, "{}", lowest(&world));
    }
}
