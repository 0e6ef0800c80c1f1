//! Tests of the energy balance: work, heat and the error that is left, against closed forms, for every method.

mod support;

use phyxel::prelude::*;
use phyxel::world::EnergyBalance;
use support::saving::Saved;
use support::{any_method, elastic, flowing_methods, grip_across_z, methods};

const SIDE: Real = 0.12;

fn block(method: &str, material: Material, at: Vec3) -> Body {
    let mut body = Body::new("block", Shape::Box { size: Vec3::splat(SIDE) }, 0.02, material).at(at);
    body.method = Some(method.into());
    body
}

fn rubber() -> Material {
    elastic(1e5, 0.3).with(Property::Viscosity, 5.0)
}

fn floor() -> Obstacle {
    Obstacle::new("floor", Shape::HalfSpace { normal: Vec3::Y, offset: 0.0 }.into()).with_friction(0.5)
}

fn balance(world: &World) -> EnergyBalance {
    world.ledger().balance.expect("every method of the catalogue records its work")
}

/// Returns the energies of the world: kinetic, elastic and gravity energy, and plastic work (J).
fn energy(world: &World) -> Real {
    let ledger = world.ledger();
    ledger.kinetic_energy + ledger.elastic_energy.unwrap() + ledger.gravity_energy + ledger.plastic_work
}

/// A drop turns its energy into heat; nothing appears or vanishes, and the sums say so in every frame.
#[test]
fn balance_of_a_drop_closes_and_heat_only_grows() {
    for method in methods() {
        for (material, allowed) in
            [(rubber(), 0.01), (rubber().creeping(YieldMeasure::Deviatoric, 500.0, 100.0), 0.05)]
        {
            let is_plastic = allowed > 0.02;
            if is_plastic && !flowing_methods().any(|key| key == method) {
                continue;
            }
            let mut body = block(method, material, vec3(0.0, 0.1, 0.0));
            body.velocity = vec3(0.5, -1.5, 0.0);
            let mut world = World::builder().body(body).obstacle(floor()).build().unwrap();
            let (start, mut heat) = (energy(&world), 0.0);
            for frame in 1..=20 {
                world.advance_to(Real::from(frame) / 60.0).unwrap();
                let now = balance(&world);
                let sum = energy(&world) + now.heat - start;
                assert!((sum - now.error).abs() < 1e-9 * start, "{method}: {sum} against {}", now.error);
                assert!(now.relative_error() < allowed, "{method}: {now:?}");
                assert!(now.heat > heat - 1e-3 * start, "{method}: heat falls, {now:?}");
                heat = now.heat;
            }
            let now = balance(&world);
            println!("{method}: {:.3} J of {start:.3} J are heat, error {:.5} J", now.heat, now.error);
            assert!(now.heat > 0.05 * start && now.gain < 1e-3 * start, "{method}: {now:?}");
            assert_eq!((now.obstacle_work, now.grip_work, now.field_work), (0.0, 0.0, 0.0), "{method}");
        }
    }
}

/// A block that stands on the floor for long makes neither heat nor errors of its weight.
#[test]
fn standing_costs_nothing() {
    for method in methods() {
        let mut world = World::builder()
            .body(block(method, rubber().with(Property::Viscosity, 100.0), vec3(0.0, 0.06, 0.0)))
            .obstacle(floor())
            .build()
            .unwrap();
        world.advance_to(1.0).unwrap();
        let settled = balance(&world);
        world.advance_to(2.0).unwrap();
        let later = balance(&world);
        let weight = 1000.0 * SIDE.powi(3) * 9.81 * SIDE;
        println!(
            "{method}: heat {:.2e} J in 1 s, weight times height {weight:.2e} J",
            later.heat - settled.heat
        );
        assert!((later.heat - settled.heat).abs() < 1e-3 * weight, "{method}: {settled:?} {later:?}");
        assert!((later.error - settled.error).abs() < 1e-3 * weight, "{method}: {settled:?} {later:?}");
    }
}

/// Grips that stretch a bar, and a press that squeezes a block, do as much work as is stored and becomes heat. Where F
/// is composed of steps, the energy follows the forces to first order in the step.
#[test]
fn grips_and_obstacles_do_the_work_that_is_stored() {
    for method in methods() {
        let mut bar = Body::new("bar", Shape::Box { size: vec3(0.08, 0.08, 0.3) }, 0.02, rubber())
            .at(vec3(0.0, 0.0, 0.15));
        bar.method = Some(method.into());
        let key = Keyframe { time: 0.3, translation: vec3(0.0, 0.0, 0.02), ..Keyframe::default() };
        let grip = |name, z, keys| grip_across_z(name, "bar", z, Axes::ALL, keys);
        let mut world = World::builder()
            .body(bar)
            .gravity(Vec3::ZERO)
            .grip(grip("left", [-1.0, 0.03], vec![]))
            .grip(grip("right", [0.27, 1.0], vec![key]))
            .build()
            .unwrap();
        world.advance_to(0.4).unwrap();
        let now = balance(&world);
        let stored = energy(&world) + now.heat;
        println!("{method}: grips did {:.4} J, stored and heat {stored:.4} J", now.grip_work);
        assert!((now.grip_work - stored).abs() < 0.02 * stored && stored > 0.3, "{method}: {now:?}");

        let plate = Shape::Box { size: vec3(0.4, 0.1, 0.4) };
        let mut press = Obstacle::new("press", plate.into()).with_friction(0.0);
        press.shape.placement.position = vec3(0.0, 0.18, 0.0);
        let key = Keyframe { time: 0.2, translation: vec3(0.0, -0.04, 0.0), ..Keyframe::default() };
        press.motion = Motion::try_new(vec![key], Ease::Smooth).unwrap();
        let mut world = World::builder()
            .body(block(method, rubber(), vec3(0.0, 0.06, 0.0)))
            .gravity(Vec3::ZERO)
            .obstacle(floor())
            .obstacle(press)
            .build()
            .unwrap();
        world.advance_to(0.3).unwrap();
        let now = balance(&world);
        let stored = energy(&world) + now.heat;
        println!("{method}: the press did {:.4} J, stored and heat {stored:.4} J", now.obstacle_work);
        assert!((now.obstacle_work - stored).abs() < 0.02 * stored && stored > 0.3, "{method}: {now:?}");
    }
}

/// A bar that is pulled apart becomes strands of particles, whose neighbourhoods determine F badly: no energy appears in
/// them while they flow, nor while they vibrate afterwards.
#[test]
fn tearing_makes_no_energy() {
    for method in flowing_methods() {
        let material = elastic(1e7, 0.3).with(Property::Density, 40.0).with(Property::Viscosity, 1.0);
        let material = material.creeping(YieldMeasure::Deviatoric, 1.3e6, 270.0);
        let mut bar = Body::new("bar", Shape::Box { size: vec3(0.08, 0.08, 0.3) }, 0.02, material)
            .at(vec3(0.0, 0.0, 0.15));
        bar.method = Some(method.into());
        let key = Keyframe { time: 0.07, translation: vec3(0.0, 0.0, 0.49), ..Keyframe::default() };
        let grip = |name, z, keys| grip_across_z(name, "bar", z, Axes::ALL, keys);
        let mut right = grip("right", [0.27, 1.0], vec![]);
        right.motion = Motion::try_new(vec![key], Ease::Linear).unwrap();
        let mut world = World::builder()
            .body(bar)
            .gravity(Vec3::ZERO)
            .grip(grip("left", [-1.0, 0.03], vec![]))
            .grip(right)
            .build()
            .unwrap();
        for frame in 1..=7 {
            world.advance_to(0.01 * Real::from(frame)).unwrap();
            let now = balance(&world);
            assert!(now.relative_error() < 0.03, "{method} in frame {frame}: {now:?}");
        }
        let now = balance(&world);
        println!("{method}: grips did {:.0} J, error {:.1} J", now.grip_work, now.error);
        assert!(world.ledger().plastic_work > 1000.0, "{method}: it flows");
    }
}

/// Fields and pushes do the work of their forces; gravity that changes is nobody's work.
#[test]
fn fields_pushes_and_events_are_booked() {
    for method in methods() {
        let wind = ForceField::always(Field::Uniform(vec3(3.0, 0.0, 0.0)));
        let body = block(method, rubber(), Vec3::ZERO);
        let mut world = World::builder().body(body).force(wind).build().unwrap();
        world.advance_to(0.2).unwrap();
        let mass = world.particles().map(|p| p.mass.iter().sum::<Real>()).sum::<Real>();
        let now = balance(&world);
        // at rest at first: v = a t
        let expected = 0.5 * mass * (3.0f64 * 0.2).powi(2);
        assert!((now.field_work - expected).abs() < 1e-3 * expected, "{method}: {now:?}");
        world.set_gravity(vec3(0.0, 20.0, 0.0)).unwrap();
        let body = world.body("block").unwrap();
        let before = world.ledger().kinetic_energy;
        world.push_body(body, vec3(0.0, 0.0, 2.0 * mass));
        let gained = world.ledger().kinetic_energy - before;
        world.advance_to(0.3).unwrap();
        let now = balance(&world);
        assert!((now.hand_work - gained).abs() < 1e-9 * gained && gained > 0.0, "{method}: {now:?}");
        assert!(now.error.abs() < 1e-6 * gained && now.heat.abs() < 1e-4 * gained, "{method}: {now:?}");
    }
}

/// The balance goes on after a restart with the same bits; a body that comes or goes leaves no error.
#[test]
fn balance_is_state_and_bodies_come_and_go() {
    for method in methods() {
        let make = || {
            let body = block(method, rubber(), vec3(0.0, 0.08, 0.0));
            World::builder().body(body).obstacle(floor()).build().unwrap()
        };
        let mut world = make();
        world.advance_to(0.1).unwrap();
        let saved = Saved::new(&mut world);
        let mut restored = make();
        saved.restore(&mut restored);
        for world in [&mut world, &mut restored] {
            world.advance_to(0.2).unwrap();
        }
        assert_eq!(balance(&world), balance(&restored), "{method}");
        let mut other = block(method, rubber(), vec3(1.0, 3.0, 0.0));
        other.name = "other".into();
        let before = balance(&world).error;
        let added = world.add_body(other).unwrap();
        assert!((balance(&world).error - before).abs() < 1e-9, "{method}");
        world.advance_to(0.25).unwrap();
        world.remove_body(added).unwrap();
        assert!((balance(&world).error - before).abs() < 1e-2, "{method}: {:?}", balance(&world));
    }
}

/// A hand that drags does the work that lifts a block.
#[test]
fn the_hand_works() {
    let method = any_method();
    let mut world = World::builder()
        .body(block(method, rubber(), vec3(0.0, 0.06, 0.0)))
        .obstacle(floor())
        .build()
        .unwrap();
    let start = energy(&world);
    world
        .drag(Hold::Nearest { body: "block".into(), point: vec3(0.0, 0.12, 0.0) }, vec3(0.0, 0.5, 0.0))
        .unwrap();
    world.advance_to(0.5).unwrap();
    let now = balance(&world);
    let gained = energy(&world) - start + now.heat;
    println!("{method}: the hand did {:.3} J, gained {gained:.3} J", now.hand_work);
    assert!(gained > 1.0 && (now.hand_work - gained).abs() < 0.01 * gained, "{now:?}");
}
