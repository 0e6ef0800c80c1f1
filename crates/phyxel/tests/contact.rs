//! Tests of obstacles, friction, moving surfaces and grips against the laws of Newton and Coulomb.

mod support;

use phyxel::contact::{Axes, Ease, Friction, Keyframe, Motion, Obstacle};
use phyxel::geometry::{PlacedShape, Shape};
use phyxel::material::Property;
use phyxel::math::{Quat, Real, Vec3, vec3};
use phyxel::world::{Body, World};
use support::{bar, elastic, grip_across_z, positions};

const G: Real = 9.81;

fn plane(name: &str, normal: Vec3, friction: Friction) -> Obstacle {
    let shape = PlacedShape::from(Shape::HalfSpace { normal, offset: 0.0 });
    Obstacle { friction, ..Obstacle::new(name, shape) }
}

/// Builds a world with a cube on a slope that falls towards `downhill`, aligned with the slope and touching it.
fn block_on_slope(downhill: Vec3, tangent: Real, mu: Real) -> (World, Vec3) {
    let angle = tangent.atan();
    let turn = Quat::from_axis_angle(Vec3::Y.cross(downhill).normalize(), angle);
    let (normal, along) = (turn * Vec3::Y, turn * downhill);
    let size = 0.3;
    let mut material = elastic(1e6, 0.3);
    material[Property::Viscosity] = 200.0.into();
    let mut body = Body::new("block", Shape::Box { size: Vec3::splat(size) }, 0.05, material);
    body.shape.placement.rotation = turn;
    body = body.at(normal * (0.5 * size));
    let world =
        World::builder().body(body).obstacle(plane("slope", normal, Friction::Coulomb(mu))).build().unwrap();
    (world, along)
}

fn center(world: &World) -> Vec3 {
    world.particles().next().unwrap().center_of_mass()
}

/// Checks in several directions that a block stays at 0.95 µ, slides at 1.05 µ, and obeys Coulomb's law at 1.5 µ.
#[test]
fn block_on_a_slope_obeys_coulomb() {
    let mu = 0.5;
    for downhill in [Vec3::X, Vec3::Z, vec3(1.0, 0.0, -1.0).normalize()] {
        let (mut world, along) = block_on_slope(downhill, 0.95 * mu, mu);
        world.advance(1.0).unwrap();
        let settled = center(&world);
        world.advance(1.0).unwrap();
        let crept = (center(&world) - settled).dot(along);
        let speed = world.ledger().max_speed;
        println!("{downhill}: at 0.95 mu crept {crept:.2e} m in a second, max speed {speed:.1e}");
        assert!(crept.abs() < 1e-4 && speed < 1e-3);

        for (factor, tolerance) in [(1.05, 0.5), (1.5, 0.05)] {
            let (mut world, along) = block_on_slope(downhill, factor * mu, mu);
            let angle = (factor * mu).atan();
            let expected = G * (angle.sin() - mu * angle.cos());
            world.advance(0.3).unwrap();
            let velocity = |world: &World| world.ledger().momentum.dot(along) / 27.0;
            let first = velocity(&world);
            world.advance(0.7).unwrap();
            let acceleration = (velocity(&world) - first) / 0.7;
            println!("{downhill}: at {factor} mu acceleration {acceleration:.4}, expected {expected:.4}");
            assert!((acceleration / expected - 1.0).abs() < tolerance);
            assert!((center(&world)).dot(along) > 0.3 * expected * 0.5);
        }
    }
}

/// Checks that the floor carries the weight of a block at rest, which does not sink or jitter.
#[test]
fn floor_carries_the_weight() {
    let mut material = elastic(2e5, 0.3);
    material[Property::Viscosity] = 100.0.into();
    let body = bar("block", [6, 6, 6], 0.05, material);
    let mut world = World::builder()
        .body(body)
        .obstacle(plane("floor", Vec3::Y, Friction::Coulomb(0.5)))
        .build()
        .unwrap();
    world.advance(3.0).unwrap();
    world.advance(0.5).unwrap();
    let ledger = world.ledger();
    let weight = 1000.0 * 0.027 * G;
    println!("floor force {} of weight, max speed {:.1e}", ledger.forces[0].1.y / weight, ledger.max_speed);
    assert!((ledger.forces[0].1.y / weight - 1.0).abs() < 1e-3);
    assert!(ledger.max_speed < 1e-3);
    let lowest = positions(&world).iter().map(|p| p.y).fold(Real::INFINITY, Real::min);
    assert!((lowest - 0.025).abs() < 1e-6, "bottom layer half a spacing above the floor: {lowest}");
}

/// Checks that a sticky or rough conveyor takes the block along at its own speed, and a frictionless one does not.
#[test]
fn moving_surface_drags_by_friction() {
    for (friction, share) in
        [(Friction::Stick, 1.0), (Friction::Coulomb(0.8), 1.0), (Friction::Coulomb(0.0), 0.0)]
    {
        let mut belt = plane("belt", Vec3::Y, friction);
        let key = Keyframe { time: 10.0, translation: vec3(5.0, 0.0, 0.0), rotation: Vec3::ZERO };
        belt.motion = Motion::try_new(vec![key], Ease::Linear).unwrap();
        let mut material = elastic(5e5, 0.3);
        material[Property::Viscosity] = 200.0.into();
        let mut world =
            World::builder().body(bar("block", [5, 5, 5], 0.05, material)).obstacle(belt).build().unwrap();
        world.advance(1.5).unwrap();
        let velocity = world.ledger().momentum / (1000.0 * 0.25f64.powi(3));
        assert!((velocity.x - 0.5 * share).abs() < 0.02, "{friction:?}: {velocity}");
    }
}

/// Checks a plate that presses a block: particles stay between floor and plate, and both feel the same force.
#[test]
fn press_squeezes_between_floor_and_plate() {
    let mut plate = Obstacle::new("plate", Shape::Box { size: vec3(1.0, 0.1, 1.0) }.into());
    plate.shape.placement.position = vec3(0.15, 0.35, 0.15);
    let key = Keyframe { time: 0.5, translation: vec3(0.0, -0.06, 0.0), rotation: Vec3::ZERO };
    plate.motion = Motion::try_new(vec![key], Ease::Smooth).unwrap();
    let mut material = elastic(1e5, 0.3);
    material[Property::Viscosity] = 100.0.into();
    let mut world = World::builder()
        .gravity(Vec3::ZERO)
        .body(bar("block", [6, 6, 6], 0.05, material))
        .obstacle(plane("floor", Vec3::Y, Friction::Coulomb(0.0)))
        .obstacle(plate)
        .build()
        .unwrap();
    world.advance(1.5).unwrap();
    world.advance(0.1).unwrap();
    let forces: Vec<Real> = world.ledger().forces.iter().map(|f| f.1.y).collect();
    // frictionless uniaxial stress of St Venant–Kirchhoff: P = E λ (λ² − 1)/2, λ between the outer layers' centres
    let stretch: Real = (0.25 - 0.06) / 0.25;
    let expected = 1e5 * 0.09 * stretch * (1.0 - stretch * stretch) / 2.0;
    println!("floor {:.2} N, plate {:.2} N, expected {expected:.2} N", forces[0], forces[1]);
    assert!((forces[0] + forces[1]).abs() < 1e-2 * expected);
    assert!((forces[0] / expected - 1.0).abs() < 0.1);
    for p in positions(&world) {
        assert!(p.y > 0.0249 && p.y < 0.3 - 0.06 - 0.0249);
    }
}

/// Checks that a grip leads its particles exactly, and lets go at its release.
#[test]
fn grips_lead_and_release() {
    let keys = vec![
        Keyframe::default(),
        Keyframe { time: 0.5, translation: vec3(0.0, 0.1, 0.0), rotation: vec3(0.0, 0.0, 1.0) },
    ];
    let mut grip = grip_across_z("hand", "bar", [0.0, 0.05], Axes::ALL, keys);
    grip.release = Some(0.7);
    let mut world = World::builder()
        .gravity(Vec3::ZERO)
        .body(bar("bar", [4, 4, 8], 0.05, elastic(1e5, 0.3)))
        .grip(grip)
        .build()
        .unwrap();
    let rest = positions(&world);
    world.advance(0.6).unwrap();
    let held = positions(&world);
    let turn = Quat::from_axis_angle(Vec3::Z, 1.0);
    let center = vec3(0.1, 0.1, 0.025);
    for (a, b) in rest.iter().zip(&held).filter(|p| p.0.z < 0.05) {
        assert!((turn * (*a - center) + center + vec3(0.0, 0.1, 0.0) - *b).length() < 1e-12);
    }
    world.advance(0.4).unwrap();
    let ledger = world.ledger();
    let before = ledger.momentum;
    world.advance(0.5).unwrap();
    assert!((world.ledger().momentum - before).length() < 1e-12, "free after the release");
    assert_eq!(world.ledger().forces[0].1, Vec3::ZERO);
}

/// Checks a cube of thick liquid on rails, sheared at a constant rate between a fixed and a led grip: it feels η A γ̇.
#[test]
fn grip_feels_the_viscous_force() {
    let (viscosity, a, n) = (2000.0, 0.02, 10);
    let size = a * n as Real;
    let mut material = elastic(1.0, 0.0);
    material[Property::Viscosity] = viscosity.into();
    let shear = Keyframe { time: 1.0, translation: vec3(size, 0.0, 0.0), rotation: Vec3::ZERO };
    let mut top = grip_across_z("top", "cube", [size - a, size], Axes::ALL, vec![shear]);
    top.motion = Motion::try_new(vec![shear], Ease::Linear).unwrap();
    let mut world = World::builder()
        .gravity(Vec3::ZERO)
        .body(bar("cube", [n, n, n], a, material))
        .grip(grip_across_z("bottom", "cube", [0.0, a], Axes::ALL, vec![]))
        .grip(top)
        .grip(grip_across_z("rails", "cube", [a, size - a], Axes { x: false, y: true, z: true }, vec![]))
        .build()
        .unwrap();
    world.advance(0.2).unwrap();
    world.advance(0.05).unwrap();
    let forces: Vec<Real> = world.ledger().forces.iter().map(|f| f.1.x).collect();
    // the sheared part is between the centres of the gripped layers
    let expected = viscosity * size * size * (size / ((n - 1) as Real * a));
    println!("grips feel {:.3} and {:.3} N, expected {expected:.3} N", forces[0], forces[1]);
    assert!((forces[1] / expected - 1.0).abs() < 0.15 && (forces[0] / expected + 1.0).abs() < 0.15);
}

/// Checks that the impulses recorded for grips and obstacles are all the momentum that bodies gain, also with
/// viscosity.
#[test]
fn booked_impulses_are_the_change_of_momentum() {
    let mut material = elastic(1e5, 0.3);
    material[Property::Viscosity] = 300.0.into();
    let lift = Keyframe { time: 0.3, translation: vec3(0.05, 0.02, 0.0), rotation: vec3(0.0, 0.3, 0.0) };
    let mut world = World::builder()
        .body(bar("bar", [5, 5, 12], 0.05, material))
        .grip(grip_across_z("hand", "bar", [0.0, 0.05], Axes { x: true, y: false, z: true }, vec![lift]))
        .obstacle(plane("floor", Vec3::Y, Friction::Coulomb(0.3)))
        .build()
        .unwrap();
    world.advance(0.1).unwrap();
    let before = world.ledger().momentum;
    world.advance(0.1).unwrap();
    let ledger = world.ledger();
    let forces: Vec3 = ledger.forces.iter().map(|f| f.1).sum();
    let weight = vec3(0.0, -G * 1000.0 * 5.0 * 5.0 * 12.0 * 0.05f64.powi(3), 0.0);
    let gained = (forces + weight) * 0.1;
    let error = (ledger.momentum - before - gained).length();
    println!("momentum gained {}, booked {gained}", ledger.momentum - before);
    assert!(error < 1e-10 * weight.length(), "{error:e}");
}

/// Checks that viscous bodies do not creep, on a sticky floor and at half the angle of friction.
#[test]
fn viscous_bodies_do_not_creep() {
    for (friction, down) in [(Friction::Stick, 0.6), (Friction::Coulomb(0.5), 0.25)] {
        for viscosity in [15.0, 1000.0] {
            let mut material = elastic(1e5, 0.3);
            material[Property::Viscosity] = viscosity.into();
            let mut world = World::builder()
                .gravity(vec3(8.0 * down, -8.0, 0.0))
                .body(bar("block", [5, 5, 5], 0.02, material))
                .obstacle(plane("floor", Vec3::Y, friction))
                .build()
                .unwrap();
            let bottom = |world: &World| {
                let low: Vec<Real> = positions(world).iter().filter(|p| p.y < 0.0101).map(|p| p.x).collect();
                low.iter().sum::<Real>() / low.len() as Real
            };
            world.advance(0.5).unwrap();
            let settled = bottom(&world);
            world.advance(0.5).unwrap();
            let crept = bottom(&world) - settled;
            println!("{friction:?}, {viscosity} Pa s: crept {crept:.2e} m in half a second");
            assert!(crept.abs() < 2e-5);
        }
    }
}

/// Checks that a sticky plate takes the block along when it is lifted and rotated.
#[test]
fn sticky_surfaces_hold_what_they_touched() {
    let mut plate = Obstacle::new("plate", Shape::Box { size: vec3(1.0, 0.1, 1.0) }.into());
    plate.friction = Friction::Stick;
    plate.shape.placement.position = vec3(0.125, 0.3, 0.125);
    let keys = vec![
        Keyframe { time: 0.1, translation: vec3(0.0, -0.005, 0.0), rotation: Vec3::ZERO },
        Keyframe { time: 0.6, translation: vec3(0.0, 0.1, 0.0), rotation: Vec3::ZERO },
        Keyframe { time: 1.2, translation: vec3(0.0, 0.1, 0.0), rotation: vec3(0.0, 1.0, 0.0) },
    ];
    plate.motion = Motion::try_new(keys, Ease::Smooth).unwrap();
    let mut material = elastic(1e5, 0.3);
    material[Property::Viscosity] = 50.0.into();
    let mut world = World::builder()
        .gravity(Vec3::ZERO)
        .body(bar("block", [5, 5, 5], 0.05, material))
        .obstacle(plate)
        .build()
        .unwrap();
    let start = positions(&world);
    world.advance(1.6).unwrap();
    let now = positions(&world);
    let turn = Quat::from_axis_angle(Vec3::Y, 1.0);
    let pivot = vec3(0.125, 0.0, 0.125);
    for (a, b) in start.iter().zip(&now).filter(|p| p.0.y > 0.22) {
        let expected = turn * (*a - pivot) + pivot + vec3(0.0, 0.1, 0.0);
        assert!((*b - expected).length() < 2e-3, "{a} is at {b}, not at {expected}");
    }
}

/// Checks that a thin plate that moves more than a particle radius per elastic step does not jump over particles.
#[test]
fn fast_obstacles_do_not_tunnel() {
    let mut plate = Obstacle::new("plate", Shape::Box { size: vec3(1.0, 0.02, 1.0) }.into());
    plate.shape.placement.position = vec3(0.1, -0.2, 0.1);
    let key = Keyframe { time: 0.05, translation: vec3(0.0, 0.8, 0.0), rotation: Vec3::ZERO };
    plate.motion = Motion::try_new(vec![key], Ease::Linear).unwrap();
    let body = bar("block", [5, 5, 5], 0.04, elastic(2e3, 0.3));
    let mut world = World::builder().gravity(Vec3::ZERO).body(body).obstacle(plate).build().unwrap();
    world.advance(0.05).unwrap();
    let lowest = positions(&world).iter().map(|p| p.y).fold(Real::INFINITY, Real::min);
    assert!(lowest > 0.6, "a particle at {lowest} is under the plate at 0.6");
}

/// Checks that a free body slows down by exp(−rate t), also under strong drag.
#[test]
fn drag_is_exact() {
    for rate in [1.0, 2000.0] {
        let mut body = bar("block", [4, 4, 4], 0.05, elastic(1e5, 0.3));
        body.velocity = vec3(1.0, 0.0, 0.0);
        let drag = phyxel::forces::ForceField::always(phyxel::forces::Field::Drag(rate));
        let mut world = World::builder().gravity(Vec3::ZERO).body(body).force(drag).build().unwrap();
        world.advance(0.01).unwrap();
        let speed = world.ledger().momentum.x / 8.0;
        let expected = (-rate * 0.01).exp();
        // forces keep the momentum to rounding of what it was at first
        assert!((speed - expected).abs() < 1e-9 * expected + 1e-15, "{rate}: {speed}");
    }
}
