//! Tests of changes while a world runs: gravity, materials and a hand that drags, by calls and by events.

mod support;

use phyxel::contact::{Axes, Keyframe, Obstacle};
use phyxel::geometry::Shape;
use phyxel::material::{Flow, Material, MaterialChange, Property, Varying};
use phyxel::math::{Real, Vec3, vec3};
use phyxel::world::{Action, ActionError, Body, BuildError, Event, Hold, World, WorldBuilder};
use support::{
    any_method, bar, elastic, elastic_methods, flowing_methods, grip_across_z, methods, positions,
};

fn moduli(youngs_modulus: Real, poisson_ratio: Option<Real>) -> MaterialChange {
    let mut change = MaterialChange::default().with(Property::YoungsModulus, youngs_modulus);
    change.values[Property::PoissonRatio] = poisson_ratio;
    change
}

fn flow(yield_stress: Option<Real>, flow_rate: Option<Real>) -> MaterialChange {
    let mut change = MaterialChange::default();
    change.values[Property::YieldStress] = yield_stress;
    change.values[Property::FlowRate] = flow_rate;
    change
}

/// Returns the builder of a world with a block of 8³ cells of 2.5 cm in free space.
fn block(method: &str, material: Material) -> WorldBuilder {
    let body = bar("block", [8, 8, 8], 0.025, material);
    World::builder().default_method(method).gravity(Vec3::ZERO).body(body)
}

fn top() -> Hold {
    Hold::Nearest { body: "block".into(), point: vec3(0.1, 0.2, 0.1) }
}

/// Radius of the hand on that block (m): four spacings, which is half of its size.
const HAND: Real = 0.1;
const MASS: Real = 8.0;

/// Checks that the first impulse on a body at rest is k d Δt. The largest force is four times its weight, or the force
/// that strains it by 15 % over the hand's area.
#[test]
fn the_hand_pulls_as_the_formula_says() {
    for method in methods() {
        for (youngs_modulus, largest) in
            [(1e6, 40.0 * MASS), (1e4, 0.15 * 1e4 * std::f64::consts::PI * HAND * HAND)]
        {
            let towards = vec3(0.6, 0.0, 0.8);
            for (distance, force) in
                [(0.01, largest * 0.01 / HAND), (0.05, largest * 0.05 / HAND), (50.0, largest)]
            {
                let mut world = block(method, elastic(youngs_modulus, 0.3)).build().unwrap();
                world.drag(top(), Vec3::ZERO).unwrap();
                let (id, _) = world.dragged().unwrap();
                let start = positions(&world)[id as usize];
                world.drag(Hold::Same, start + towards * distance).unwrap();
                let duration = 1e-5;
                world.advance(duration).unwrap();
                assert_eq!(world.ledger().n_steps, 1);
                let momentum = world.ledger().momentum;
                let expected = towards * (force * duration);
                assert!((momentum - expected).length() < 1e-9 * force * duration, "{method}: {momentum}");
                assert!((world.drag_force() - towards * force).length() < 1e-9 * force);
            }
        }
    }
}

/// Checks that momentum is exactly the sum of the hand's impulses, and stays constant after the release.
#[test]
fn momentum_is_what_the_hand_gave() {
    for method in methods() {
        let mut world = block(method, elastic(4e4, 0.3)).build().unwrap();
        world.drag(top(), vec3(0.5, 0.6, 0.1)).unwrap();
        let mut given = Vec3::ZERO;
        for _ in 0..12 {
            world.advance(1.0 / 60.0).unwrap();
            given += world.drag_force() / 60.0;
            assert!((world.ledger().momentum - given).length() < 1e-11 * given.length(), "{method}");
        }
        assert!(given.length() > 1.0, "{method}: {given}");
        world.release();
        assert_eq!(world.dragged(), None);
        world.advance(0.2).unwrap();
        assert!((world.ledger().momentum - given).length() < 1e-11 * given.length(), "{method}");
        assert_eq!(world.drag_force(), Vec3::ZERO);
    }
}

/// Checks drags of soft and stiff matter to near and far targets: the body stays whole, is not thrown, and comes to
/// rest at a near target against gravity.
#[test]
fn every_matter_can_be_dragged_to_every_place() {
    for method in methods() {
        for (youngs_modulus, far) in [(500.0, true), (4e4, false), (4e4, true), (1e8, true)] {
            let target = vec3(0.3, if far { 300.0 } else { 0.4 }, 0.1);
            let mut material = elastic(youngs_modulus, 0.4);
            material[Property::Viscosity] = 20.0.into();
            let floor = Obstacle::new("floor", Shape::HalfSpace { normal: Vec3::Y, offset: 0.0 }.into());
            let mut world =
                block(method, material).gravity(vec3(0.0, -9.81, 0.0)).obstacle(floor).build().unwrap();
            let frames = if youngs_modulus > 1e6 { 3 } else { 90 };
            world.drag(top(), target).unwrap();
            let mut fastest: Real = 0.0;
            for _ in 0..frames {
                world
                    .advance(1.0 / 60.0)
                    .unwrap_or_else(|e| panic!("{method}, {youngs_modulus}, {far}: {e}"));
                fastest = fastest.max(world.ledger().max_speed);
            }
            let x = positions(&world);
            let extent =
                x.iter().fold(Vec3::MIN, |m, x| m.max(*x)) - x.iter().fold(Vec3::MAX, |m, x| m.min(*x));
            assert!(extent.max_element() < 0.5, "{method}, {youngs_modulus}, {far}: {extent}");
            assert!(fastest < 8.0, "{method}, {youngs_modulus}, {far}: {fastest} m/s");
            if !far {
                let (id, _) = world.dragged().unwrap();
                let off = x[id as usize].distance(target);
                // the weight is 0.42 of the largest force, which the hand exerts at a distance of its radius
                assert!(off < 0.6 * HAND, "{method}: {off}");
                let force = world.drag_force();
                assert!((force.y / (9.81 * MASS) - 1.0).abs() < 0.1, "{method}: {force}");
            }
        }
    }
}

/// Checks that the hand continues with the nearest particle if the dragged one is gone: a merge keeps one of two ids.
#[test]
fn a_dragged_particle_that_is_gone_is_replaced_by_the_nearest() {
    for method in methods() {
        let mut world = block(method, elastic(4e4, 0.3)).build().unwrap();
        world.drag(top(), vec3(0.5, 0.6, 0.1)).unwrap();
        world.advance(0.01).unwrap();
        let (id, target) = world.dragged().unwrap();
        world.edit_particles(|p| p.id.iter_mut().filter(|k| **k == id).for_each(|k| *k = 7777));
        world.advance(0.01).unwrap();
        assert_eq!(world.dragged(), Some((7777, target)), "{method}");
        assert!(world.drag_force().length() > 10.0, "{method}");
        let gone = world.drag(Hold::Particle { body: "block".into(), id }, Vec3::ZERO).unwrap_err();
        assert_eq!(gone, ActionError::NoParticle { body: "block".into(), id }, "{method}");
    }
}

/// Builds a world with a bar that is pulled by one per cent and held there.
fn pulled_bar(method: &str, material: Material) -> World {
    let pull = Keyframe { time: 0.1, translation: vec3(0.0, 0.0, 0.006), rotation: Vec3::ZERO };
    let slide = Axes { x: false, y: false, z: true };
    World::builder()
        .default_method(method)
        .gravity(Vec3::ZERO)
        .body(bar("bar", [6, 6, 24], 0.025, material.with(Property::Viscosity, 400.0)))
        .grip(grip_across_z("still", "bar", [-1.0, 0.03], slide, Vec::new()))
        .grip(grip_across_z("moved", "bar", [0.57, 1.0], slide, vec![pull]))
        .build()
        .unwrap()
}

fn grip_force(world: &mut World) -> Real {
    world.advance(0.02).unwrap();
    world.ledger().forces[1].1.z
}

/// Checks that a change of Young's modulus acts at once, by the tolerance of the conformance tests (5 %, 2 % for the
/// incremental method).
#[test]
fn a_held_bar_pulls_with_its_new_stiffness() {
    for method in methods() {
        let mut world = pulled_bar(method, elastic(1e5, 0.3));
        // long enough for the vibrations of the pull to die away
        world.advance(1.0).unwrap();
        let before = grip_force(&mut world);
        let limit = world.time_step_limit().0;
        for factor in [3.0, 0.25] {
            world.set_material("bar", moduli(1e5 * factor, None)).unwrap();
            // the stress of a shape is proportional to E, and the shape stays
            let at_once = grip_force(&mut world);
            assert!((at_once / (factor * before) - 1.0).abs() < 0.02, "{method}: {at_once} {before}");
            let ratio = world.time_step_limit().0 / limit * factor.sqrt();
            assert!((ratio - 1.0).abs() < 1e-3, "{method}: {ratio}");
            assert_eq!(world.material("bar").unwrap()[Property::YoungsModulus].range().0, 1e5 * factor);
        }
    }
}

/// Checks that a hanging bar stretches twice as far when it is half as stiff, to the same length as in a world built of
/// that material.
#[test]
fn a_hanging_block_finds_its_new_length() {
    let hanging = |method: &str, youngs_modulus: Real| {
        let mut material = elastic(youngs_modulus, 0.3);
        material[Property::Viscosity] = 600.0.into();
        let hold = grip_across_z("hold", "bar", [-1.0, 0.03], Axes::ALL, Vec::new());
        World::builder()
            .default_method(method)
            .gravity(vec3(0.0, 0.0, 9.81))
            .body(bar("bar", [6, 6, 16], 0.025, material))
            .grip(hold)
            .build()
            .unwrap()
    };
    let length = |world: &World| positions(world).iter().map(|x| x.z).fold(0.0, Real::max) - 0.3875;
    for method in methods() {
        let mut changed = hanging(method, 8e4);
        changed.advance(1.0).unwrap();
        let stiff = length(&changed);
        changed.set_material("bar", moduli(4e4, None)).unwrap();
        changed.advance(1.5).unwrap();
        let mut soft = hanging(method, 4e4);
        soft.advance(1.5).unwrap();
        let (changed, soft) = (length(&changed), length(&soft));
        assert!((changed / soft - 1.0).abs() < 0.02, "{method}: {changed} {soft}");
        assert!((soft / stiff - 2.0).abs() < 0.1, "{method}: {soft} {stiff}");
    }
}

/// Checks that after any change the stable step is that of a newly built world, or somewhat shorter where Poisson's
/// ratio changes.
#[test]
fn the_stable_step_follows_the_material() {
    for method in methods() {
        for (start, e, nu) in [
            (0.3, 1e7, 0.3),
            (0.3, 1e3, 0.3),
            (0.3, 1e5, 0.45),
            (0.3, 3e6, 0.0),
            (0.45, 1e5, 0.3),
            (0.49, 1e5, 0.0),
            (0.0, 1e5, 0.49),
        ] {
            let mut changed = block(method, elastic(1e5, start)).build().unwrap();
            changed.set_material("block", moduli(e, Some(nu))).unwrap();
            let fresh = block(method, elastic(e, nu)).build().unwrap();
            let ratio = changed.time_step_limit().0 / fresh.time_step_limit().0;
            println!("{method}, E = {e}, nu = {start} to {nu}: {ratio:.3} of the step of a world built so");
            let expected = if nu == start { 0.99..1.01 } else { 0.6..1.0 };
            assert!(expected.contains(&ratio), "{method}, E = {e}, nu = {start} to {nu}: {ratio}");
            changed.advance(0.02).unwrap();
        }
        // much stiffer matter must not be mistaken for torn matter
        let mut world = block(method, elastic(1e3, 0.3)).time_step(Some(1e-4)).build().unwrap();
        world.set_material("block", moduli(1e10, None)).unwrap();
        world.advance(1e-4).unwrap();
        assert!(world.ledger().n_steps > 5, "the asked step is not stable any more");
    }
}

/// Checks that the stress of matter that starts to flow falls to its yield stress, and that matter becomes elastic
/// again when the flow is switched off.
#[test]
fn a_body_becomes_plastic_and_elastic_again() {
    for method in flowing_methods() {
        let mut world = pulled_bar(method, elastic(1e5, 0.3));
        world.advance(0.4).unwrap();
        let elastic_force = grip_force(&mut world);
        world.set_material("bar", flow(Some(400.0), Some(100.0))).unwrap();
        world.advance(0.6).unwrap();
        let flown = grip_force(&mut world);
        // The elastic stress was 1 % of 100 kPa, that is 1000 Pa. It falls so quickly that waves make matter flow further.
        assert!((flown / elastic_force / 0.4 - 1.0).abs() < 0.12, "{method}: {flown} {elastic_force}");
        let work = world.ledger().plastic_work;
        assert!(work > 0.0);
        let off = MaterialChange::default().flowing(Flow::None);
        world.set_material("bar", off).unwrap();
        world.set_material("bar", moduli(2e5, None)).unwrap();
        let stiffer = grip_force(&mut world);
        assert!((stiffer / flown / 2.0 - 1.0).abs() < 0.05, "{method}: {stiffer} {flown}");
        assert_eq!(world.ledger().plastic_work, work);
        // matter that did not flow so far needs all parameters of the flow
        assert!(world.set_material("bar", flow(Some(300.0), None)).is_err());
    }
    let able: Vec<String> = flowing_methods().map(|method| format!("\"{method}\"")).collect();
    let able = format!("these can: {}", able.join(", "));
    for method in elastic_methods() {
        let mut world = pulled_bar(method, elastic(1e5, 0.3));
        let refused = world.set_material("bar", flow(Some(400.0), Some(100.0))).unwrap_err();
        assert!(refused.to_string().contains(&able), "{refused}");
        assert!(world.past_events().is_empty(), "what was refused has not happened");
    }
}

/// Checks that viscosity that is switched on damps a vibration.
#[test]
fn viscosity_can_be_switched_on() {
    for method in methods() {
        let left = |viscosity: Real| {
            let mut world = block(method, elastic(1e5, 0.3)).build().unwrap();
            world.edit_particles(|p| p.position.iter_mut().for_each(|x| x.y *= 1.05));
            world.advance(0.02).unwrap();
            let change = MaterialChange::default().with(Property::Viscosity, viscosity);
            world.set_material("block", change).unwrap();
            world.advance(0.2).unwrap();
            let ledger = world.ledger();
            ledger.kinetic_energy + ledger.elastic_energy.unwrap()
        };
        assert!(left(200.0) < 0.05 * left(0.0), "{method}");
    }
}

fn drops(method: &str, events: Vec<Event>) -> Result<World, BuildError> {
    let floor = Obstacle::new("floor", Shape::HalfSpace { normal: Vec3::Y, offset: 0.0 }.into());
    let mut builder = block(method, elastic(5e4, 0.3)).gravity(vec3(0.0, -9.81, 0.0)).obstacle(floor);
    for event in events {
        builder = builder.event(event);
    }
    builder.build()
}

fn gravity(time: Real, y: Real) -> Event {
    Event { time, action: Action::Gravity(vec3(0.0, y, 0.0)) }
}

/// Checks that events act at their times, in any given order: the body falls, floats and falls faster, on parabolas.
#[test]
fn events_act_at_their_times() {
    let events = vec![gravity(0.25, -20.0), gravity(0.1, 0.0)];
    let mut builder = block(any_method(), elastic(5e4, 0.3)).gravity(vec3(0.0, -9.81, 0.0));
    for event in events {
        builder = builder.event(event);
    }
    let mut world = builder.build().unwrap();
    let start = positions(&world)[0].y;
    world.advance_to(0.3).unwrap();
    let fallen = positions(&world)[0].y - start;
    let expected = -0.5 * 9.81 * 0.01 - 0.981 * 0.2 - 0.5 * 20.0 * 0.0025;
    assert!((fallen - expected).abs() < 1e-10, "{fallen} {expected}");
    assert_eq!(world.past_events().iter().map(|e| e.time).collect::<Vec<_>>(), [0.1, 0.25]);
    assert!(world.future_events().is_empty());
}

/// Checks that an event at a frame's time acts after the frame, despite rounding of the times.
#[test]
fn an_event_at_the_end_of_an_interval_waits_for_the_next() {
    let mut world = drops(any_method(), vec![gravity(0.1, 5.0), gravity(0.2, 1.0)]).unwrap();
    world.advance_to(0.1).unwrap();
    assert_eq!(world.gravity().y, -9.81);
    assert_eq!(world.past_events().len(), 0);
    world.advance_to(0.1).unwrap();
    assert_eq!(world.past_events().len(), 0, "no time has passed");
    // a third of 0.6 is not exactly 0.2
    world.advance_to(0.1 + 0.1 + 1e-16).unwrap();
    assert_eq!(world.gravity().y, 5.0);
    world.advance_to(0.21).unwrap();
    assert_eq!(world.gravity().y, 1.0);
}

/// Checks that events within an interval do not change the means and counts of the ledger.
#[test]
fn the_ledger_sees_the_whole_interval() {
    let mut plain = drops(any_method(), Vec::new()).unwrap();
    let mut cut = drops(any_method(), vec![gravity(1.01, -9.81), gravity(1.02, -9.81)]).unwrap();
    for world in [&mut plain, &mut cut] {
        world.advance_to(1.0).unwrap();
        world.advance_to(1.1).unwrap();
    }
    let (plain, cut) = (plain.ledger(), cut.ledger());
    assert!(cut.n_steps >= plain.n_steps);
    let (a, b) = (plain.forces[0].1.y, cut.forces[0].1.y);
    assert!((a / b - 1.0).abs() < 0.01, "{a} {b}");
}

#[test]
fn events_that_cannot_happen_are_refused() {
    let event = |action| Event { time: 0.5, action };
    let change = |body: &str, change| event(Action::Material { body: body.into(), change });
    let refused_by =
        |method: &str, event: Event| drops(method, vec![gravity(0.1, 0.0), event]).err().unwrap().to_string();
    let refused = |event: Event| refused_by(any_method(), event);
    assert!(refused(change("ball", moduli(1.0, None))).contains("event at 0.5 s: there is no body \"ball\""));
    assert!(refused(change("block", moduli(-1.0, None))).contains("greater than 0, found -1"));
    for method in elastic_methods() {
        let flowing = change("block", flow(Some(1.0), Some(1.0)));
        assert!(refused_by(method, flowing).contains("cannot run plastic"), "{method}");
    }
    assert!(refused(event(Action::Gravity(Vec3::NAN))).contains("must be finite"));
    assert!(refused(gravity(-1.0, 0.0)).contains("at least 0"));
    // the existing ids are known only at the time of the event
    let hold = Hold::Particle { body: "block".into(), id: 99_999 };
    let mut world = drops(any_method(), vec![event(Action::Drag { hold, to: Vec3::ZERO })]).unwrap();
    let error = world.advance_to(1.0).unwrap_err();
    assert_eq!(error.time, 0.5);
    assert!(error.to_string().contains("body \"block\" has no particle 99999. Change the event"), "{error}");
}

/// Checks that bodies of one method keep independent materials, and that a change of a varying one needs both moduli.
#[test]
fn other_bodies_keep_their_material() {
    for method in methods() {
        let mut first = bar("first", [4, 4, 4], 0.05, elastic(1e5, 0.3));
        first.material[Property::YoungsModulus] = Varying::Along { axis: Vec3::X, from: 1e5, to: 2e5 };
        let second = Body { name: "second".into(), ..bar("b", [4, 4, 4], 0.05, elastic(1e5, 0.3)) };
        let second = second.at(vec3(1.0, 0.1, 0.1));
        let builder = World::builder().default_method(method).gravity(Vec3::ZERO);
        let mut world = builder.body(first).body(second).build().unwrap();
        world.edit_particles(|p| p.position.iter_mut().for_each(|x| x.y *= 1.01));
        let stress = |world: &World, body: u32| -> Vec<f32> {
            let frame = world.frame(&["stress"]);
            let rows = frame.body.iter().zip(&frame.columns[0].values);
            rows.filter(|row| *row.0 == body).map(|row| *row.1).collect()
        };
        let before = (stress(&world, 0), stress(&world, 1));
        let alone = MaterialChange::default().with(Property::PoissonRatio, 0.2);
        assert!(world.set_material("first", alone).unwrap_err().to_string().contains("give both"));
        world.set_material("second", moduli(3e5, None)).unwrap();
        assert_eq!(stress(&world, 0), before.0, "{method}");
        for (after, before) in stress(&world, 1).iter().zip(&before.1) {
            assert!((after / before - 3.0).abs() < 1e-4, "{method}: {after} {before}");
        }
        world.set_material("first", moduli(1e5, Some(0.3))).unwrap();
        let even = stress(&world, 0);
        assert!(even.iter().all(|s| (s / before.1[0] - 1.0).abs() < 1e-4), "{method}: {even:?}");
        world.advance(0.05).unwrap();
    }
}
