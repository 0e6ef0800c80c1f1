//! Tests of the embedded method on whole scenes: flow, twist, violent drops, presses and knives, with the numbers of
//! its validation targets.

mod support;

use phyxel::contact::{Axes, Ease, Grip, Keyframe, Motion, Obstacle};
use phyxel::geometry::{Sampling, Shape};
use phyxel::material::{Material, Property, Varying, YieldMeasure};
use phyxel::math::{Mat3, Real, Vec3, outer, polar, vec3};
use phyxel::methods::StepError;
use phyxel::methods::embedded::{Embedding, Params};
use phyxel::world::{Body, Ledger, World, WorldBuilder};
use std::collections::HashMap;
use support::{elastic, region};

fn plastic(yield_stress: Real, flow_rate: Real, viscosity: Real) -> Material {
    let material = elastic(1e5, 0.3).with(Property::Viscosity, viscosity);
    material.creeping(YieldMeasure::Deviatoric, yield_stress, flow_rate)
}

fn world(params: Params) -> WorldBuilder {
    World::builder().default_method("embedded").method(params)
}

fn floor(height: Real, friction: Real) -> Obstacle {
    Obstacle::new("floor", Shape::HalfSpace { normal: Vec3::Y, offset: height }.into())
        .with_friction(friction)
}

fn counter(ledger: &Ledger, name: &str) -> Real {
    ledger.counters.iter().find(|c| c.0 == name).unwrap().1
}

fn energy(ledger: &Ledger) -> Real {
    ledger.kinetic_energy + ledger.elastic_energy.unwrap() + ledger.gravity_energy
}

/// Runs a bar of 21 × 5 × 5 spacings that is twisted by 135° and sheared in half a second, then released.
fn twisted(material: Material, params: Params, duration: Real) -> (World, HashMap<u32, Vec3>) {
    let (d, size) = (0.05, vec3(1.05, 0.25, 0.25));
    let half = 0.5 * size.x;
    let slab = |low: Real, high: Real| region(vec3(low, -1.0, -1.0), vec3(high, 1.0, 1.0));
    let grip = |name: &str, select, keys| Grip {
        name: name.into(),
        body: "bar".into(),
        select,
        motion: Motion::try_new(keys, Ease::Linear).unwrap(),
        release: Some(0.5),
        axes: Axes::ALL,
    };
    let turn = Keyframe {
        time: 0.5,
        translation: vec3(0.0, 0.2, 0.0),
        rotation: vec3(135f64.to_radians(), 0.0, 0.0),
    };
    let mut world = world(params)
        .gravity(Vec3::ZERO)
        .body(Body::new("bar", Shape::Box { size }, d, material))
        .grip(grip("held", slab(-1.0, -half + 0.9 * d), vec![]))
        .grip(grip("turned", slab(half - 0.9 * d, 1.0), vec![turn]))
        .time_step(Some(2.5e-3))
        .build()
        .unwrap();
    let start = by_id(&world);
    world.advance(duration).unwrap();
    (world, start)
}

fn by_id(world: &World) -> HashMap<u32, Vec3> {
    world.particles().flat_map(|p| p.id.iter().copied().zip(p.position.iter().copied())).collect()
}

/// Returns the twist between the two end tenths about the bar's own axis (degrees).
fn twist(world: &World, start: &HashMap<u32, Vec3>) -> Real {
    let now = by_id(world);
    let turn = |of_end: &dyn Fn(Vec3) -> bool| {
        let pairs: Vec<(Vec3, Vec3)> =
            start.iter().filter(|p| of_end(*p.1)).filter_map(|(id, x)| Some((*x, *now.get(id)?))).collect();
        let mean =
            |pick: fn(&(Vec3, Vec3)) -> Vec3| pairs.iter().map(pick).sum::<Vec3>() / pairs.len() as Real;
        let (rest, moved) = (mean(|p| p.0), mean(|p| p.1));
        polar(pairs.iter().fold(Mat3::ZERO, |sum, p| sum + outer(p.1 - moved, p.0 - rest))).0
    };
    let relative = turn(&|x| x.x < -0.4).transpose() * turn(&|x| x.x > 0.4);
    let (y, z) = (relative.y_axis, relative.z_axis);
    (y.z - z.y).atan2(y.y + z.z).to_degrees()
}

/// Checks the twist that remains of 135°, Jones 2014 Fig. 4. Highly plastic bars may still be turning at the release.
#[test]
fn twisted_bars_keep_what_has_flowed() {
    let (held, start) = twisted(elastic(1e5, 0.3), Params::default(), 0.5);
    let held = twist(&held, &start);
    assert!((125.0..136.0).contains(&held), "{held}");
    let mut varying = plastic(1000.0, 40.0, 600.0);
    let along = Varying::Along { axis: Vec3::X, from: 40.0, to: 0.0 };
    varying[Property::FlowRate] = along;
    for (name, material, expected) in [
        ("elastic", elastic(1e5, 0.3).with(Property::Viscosity, 600.0), -2.0..2.0),
        ("slightly plastic", plastic(8000.0, 10.0, 600.0), 25.0..50.0),
        ("highly plastic", plastic(1000.0, 40.0, 600.0), 115.0..136.0),
        ("varying", varying, 110.0..131.0),
    ] {
        let (world, start) = twisted(material, Params::default(), 4.5);
        let left = twist(&world, &start);
        let ledger = world.ledger();
        println!("{name}: {left:.1} of {held:.1} degrees left, volume {:.4}", ledger.volume / 0.065625);
        assert!(expected.contains(&left), "{name}: {left}");
        assert!((ledger.volume / 0.065625 - 1.0).abs() < 0.01);
    }
}

/// Checks that the linear and the nonlinear embedding give nearly the same positions, Jones 2014 Fig. 2.
#[test]
fn linear_and_nonlinear_embedding_move_the_world_alike() {
    let run = |embedding| {
        let params = Params { embedding, embed_flow: 0.1, ..Params::default() };
        let (world, _) = twisted(plastic(1000.0, 40.0, 600.0), params, 1.0);
        assert!(counter(&world.ledger(), "updates") > 5.0);
        by_id(&world)
    };
    let (linear, nonlinear) = (run(Embedding::Linear), run(Embedding::Nonlinear));
    let distances = linear.iter().filter_map(|(id, x)| Some(x.distance(*nonlinear.get(id)?)));
    let largest = distances.fold(0.0, Real::max);
    println!("largest distance {:.4} of the thickness", largest / 0.25);
    assert!(largest < 0.05 * 0.25, "{largest}");
}

/// Returns the builder of the note's drop: a bar of 0.7 × 0.3 × 0.3 m, 14 × 6 × 6 spacings refined `n` times.
fn drop_builder(params: Params, n: Real, speed: Real, sampling: Sampling) -> WorldBuilder {
    let (d, size) = (0.05 / n, vec3(0.7, 0.3, 0.3));
    let mut bar = Body::new("bar", Shape::Box { size }, d, plastic(200.0, 400.0, 16.0));
    bar = bar.at(vec3(0.0, 0.5 * size.y + 0.02, 0.0));
    bar.fill.sampling = sampling;
    bar.velocity = vec3(0.0, -speed, 0.0);
    world(params).body(bar).time_step(Some(1e-3 / n))
}

/// Result of a drop.
struct Dropped {
    /// Largest rise of the total energy above its earlier minimum, relative to the initial energy.
    rise: Real,
    strays: Real,
    max_speed: Real,
    /// Height above which the highest 2 % of the particles are (m).
    height: Real,
    ledger: Ledger,
}

fn dropped(mut world: World, duration: Real) -> Dropped {
    let first = energy(&world.ledger());
    let (mut least, mut rise, mut strays, mut max_speed) = (first, 0.0, 0.0, 0.0);
    while world.time() < duration - 1e-9 {
        world.advance(0.01).unwrap();
        let ledger = world.ledger();
        least = energy(&ledger).min(least);
        rise = Real::max(rise, energy(&ledger) - least);
        strays = Real::max(strays, counter(&ledger, "strays"));
        max_speed = Real::max(max_speed, ledger.max_speed);
    }
    let tops = |p: &phyxel::particles::Particles| {
        p.position.iter().zip(&p.contact_radius).map(|(x, r)| x.y + r).collect::<Vec<_>>()
    };
    let mut tops: Vec<Real> = world.particles().flat_map(tops).collect();
    tops.sort_by(Real::total_cmp);
    let height = tops[tops.len() * 98 / 100];
    Dropped { rise: rise / first, strays, max_speed, height, ledger: world.ledger() }
}

/// Checks that a drop without new neighbours and stabilization, as in Jones 2014 Fig. 5 b, ends with the error that the
/// matter has fallen apart, and that with both it is stable to the end.
#[test]
fn drop_needs_new_neighbours() {
    let build = |embedding, stabilization| {
        let params = Params { embedding, stabilization, ..Params::default() };
        drop_builder(params, 1.0, 5.0, Sampling::Lattice).obstacle(floor(0.0, 1.0)).build().unwrap()
    };
    let error = build(Embedding::Off, 0.0).advance(0.3).unwrap_err();
    assert!(matches!(error.source, StepError::Unstable { .. }), "{error}");
    assert!(error.time < 0.15 && error.to_string().contains("fallen apart"), "{error}");
    let d = dropped(build(Embedding::Linear, 0.1), 0.3);
    println!(
        "lattice of 504: rise {:.1e}, height {:.4}, fails at {:.3} s without",
        d.rise, d.height, error.time
    );
    assert!(d.rise < 0.01 && d.strays == 0.0 && (0.1..0.18).contains(&d.height), "{} {}", d.rise, d.height);
}

/// Checks that in violent drops the energy does not rise by more than 1 % and hardly a particle becomes a stray.
#[test]
fn drops_lose_hardly_a_particle_and_gain_no_energy() {
    for (n, speed) in [(2.0, 5.0), (2.0, 8.0), (3.0, 5.0), (3.0, 8.0)] {
        let world = drop_builder(Params::default(), n, speed, Sampling::Jittered).obstacle(floor(0.0, 1.0));
        let world = world.build().unwrap();
        let n_start = world.n_particles();
        let d = dropped(world, 0.3);
        println!(
            "{n_start} at {speed} m/s: rise {:.1e}, strays {}, fastest {:.1} m/s, height {:.4}, {} splits, {} merges, \
             condition {:.1}, updates put in {:.1} J",
            d.rise,
            d.strays,
            d.max_speed,
            d.height,
            counter(&d.ledger, "splits"),
            counter(&d.ledger, "merges"),
            counter(&d.ledger, "condition_p99"),
            counter(&d.ledger, "update_energy"),
        );
        assert!(d.rise < 0.01, "{n_start} at {speed} m/s: {}", d.rise);
        // single particles are lost by chance: of 13,608 at five speeds between 7.97 and 8.03 m/s 0 to 2, one here
        assert!(d.strays <= 2.0, "{n_start} at {speed} m/s: {}", d.strays);
        assert!(d.max_speed < 1.5 * speed, "{n_start} at {speed} m/s: {}", d.max_speed);
        assert!(counter(&d.ledger, "condition_p99") < 10.0);
    }
}

/// Checks convergence: half the time step changes the height by less than 3 %, two thirds of the spacing by less than 8
/// %. (A bar of six layers ends less than two and a half spacings high, and is 20 % higher.)
#[test]
fn drops_converge() {
    let height = |n: Real, step: Real| {
        let world = drop_builder(Params::default(), n, 5.0, Sampling::Jittered).time_step(Some(step));
        dropped(world.obstacle(floor(0.0, 1.0)).build().unwrap(), 0.3).height
    };
    let (plain, fine, finer) = (height(2.0, 0.5e-3), height(2.0, 0.25e-3), height(3.0, 0.33e-3));
    println!("4032: {plain:.4}, with half the step {fine:.4}, 13608: {finer:.4}");
    assert!((fine / plain - 1.0).abs() < 0.03, "{plain} {fine}");
    assert!((finer / plain - 1.0).abs() < 0.08, "{plain} {finer}");
}

/// Checks that a bar that falls on a knife of 10° half-angle at 10 m/s leaves few strays.
#[test]
fn knife_leaves_few_strays() {
    let side = |x: Real| {
        let half = 10f64.to_radians();
        Shape::HalfSpace { normal: vec3(x * half.cos(), half.sin(), 0.0), offset: 0.0 }.into()
    };
    let knife = Obstacle::new("knife", Shape::Intersection(vec![side(1.0), side(-1.0)]).into());
    let world = drop_builder(Params::default(), 5.0 / 3.0, 10.0, Sampling::Jittered)
        .obstacle(knife.with_friction(0.3))
        .obstacle(floor(-0.5, 1.0));
    let d = dropped(world.build().unwrap(), 0.3);
    println!("knife: rise {:.1e}, strays {}, fastest {:.1} m/s", d.rise, d.strays, d.max_speed);
    assert!(d.strays <= 5.0 && d.rise < 0.01, "{} {}", d.strays, d.rise);
}

/// Checks a bar of 5408 particles that a plate presses to a fifth and to a tenth of its height.
#[test]
fn press_to_a_tenth() {
    let (d, rate) = (0.05, 3.0);
    let size = vec3(32.0, 13.0, 13.0) * d;
    let duration = 10f64.ln() / rate;
    let key = |k: usize| {
        let time = duration * k as Real / 100.0;
        let way = size.y * ((-rate * time).exp() - 1.0);
        Keyframe { time, translation: vec3(0.0, way, 0.0), rotation: Vec3::ZERO }
    };
    let mut plate = Obstacle::new("plate", Shape::HalfSpace { normal: -Vec3::Y, offset: -size.y }.into());
    plate.motion = Motion::try_new((0..=100).map(key).collect(), Ease::Linear).unwrap();
    let mut bar = Body::new("bar", Shape::Box { size }, d, plastic(500.0, 400.0, 16.0)).at(size * 0.5);
    bar.fill.sampling = Sampling::Jittered;
    let mut world = world(Params::default())
        .body(bar)
        .obstacle(floor(0.0, 0.05))
        .obstacle(plate.with_friction(0.05))
        .build()
        .unwrap();
    assert_eq!(world.n_particles(), 5408);
    let mass = |world: &World| world.particles().map(|p| p.total_mass()).sum::<Real>();
    let (start_mass, mut momentum) = (mass(&world), world.ledger().momentum);
    for share in [0.2, 0.1] {
        let end = (1.0 / share as Real).ln() / rate;
        let mut largest_error: Real = 0.0;
        while world.time() < end - 1e-9 {
            let before = world.time();
            world.advance_to((before + 0.02).min(end)).unwrap();
            let ledger = world.ledger();
            let push: Vec3 = ledger.forces.iter().map(|f| f.1).sum();
            let given = (push + vec3(0.0, -9.81, 0.0) * start_mass) * (world.time() - before);
            largest_error = largest_error.max((ledger.momentum - momentum - given).length());
            momentum = ledger.momentum;
        }
        let ledger = world.ledger();
        let n_changed = counter(&ledger, "splits") + counter(&ledger, "merges");
        let put_in = counter(&ledger, "update_energy") / ledger.plastic_work;
        let volume = ledger.volume / size.element_product();
        println!(
            "to {share}: {} particles, {n_changed} split or merged, condition {:.1}, updates put in {:.3} of what flow took, \
             volume {volume:.4}, mass {:.1e}, momentum {:.1e}, strays {}",
            ledger.n_particles,
            counter(&ledger, "condition_p99"),
            put_in,
            mass(&world) / start_mass - 1.0,
            largest_error / start_mass,
            counter(&ledger, "strays"),
        );
        assert!(n_changed > 0.02 * 5408.0 && counter(&ledger, "condition_p99") < 30.0);
        assert!(put_in < 0.05 && (volume - 1.0).abs() < 0.05, "{put_in} {volume}");
        assert!((mass(&world) / start_mass - 1.0).abs() < 1e-12 && largest_error < 1e-12 * start_mass);
        assert!(counter(&ledger, "strays") <= 5.0 && ledger.max_speed < 5.0);
    }
}

/// Checks that the paper's own settings run: a mild drop flattens the bar, and only the running masses fluctuate.
#[test]
fn the_papers_settings_run() {
    let params = Params::paper();
    let mut bar = Body::new("bar", Shape::Box { size: vec3(0.7, 0.3, 0.3) }, 0.05, plastic(500.0, 0.2, 50.0));
    bar.fill.sampling = Sampling::Jittered;
    bar.velocity = vec3(0.0, -1.5, 0.0);
    let mut world = world(params)
        .body(bar.at(vec3(0.0, 0.17, 0.0)))
        .obstacle(floor(0.0, 1.0))
        .time_step(Some(1e-3))
        .build()
        .unwrap();
    let mass = |world: &World| world.particles().map(|p| p.total_mass()).sum::<Real>();
    let start = (mass(&world), world.ledger());
    world.advance(0.15).unwrap();
    let ledger = world.ledger();
    println!("mass {:.4} of the start, {} updates", mass(&world) / start.0, counter(&ledger, "updates"));
    assert!(ledger.plastic_work > 0.0 && counter(&ledger, "updates") > 50.0);
    assert!(energy(&ledger) < energy(&start.1) && (mass(&world) / start.0 - 1.0).abs() < 0.2);
    assert_ne!(mass(&world), start.0, "masses run");
}

/// Checks that every integrator with every kind of viscosity keeps linear momentum and loses energy, and that only SPH
/// viscosity brakes rotation.
#[test]
fn integrators_and_viscosities_keep_momentum() {
    use phyxel::methods::embedded::{Integrator, ViscosityModel};
    for integrator in [Integrator::Leapfrog, Integrator::SymplecticEuler, Integrator::Newmark] {
        for viscosity_model in [ViscosityModel::StrainRate, ViscosityModel::Sph] {
            let params = Params { integrator, viscosity_model, ..Params::default() };
            let material = elastic(1e5, 0.3).with(Property::Viscosity, 100.0);
            let mut bar = Body::new("bar", Shape::Box { size: vec3(0.5, 0.5, 1.0) }, 0.1, material);
            bar.velocity = vec3(0.3, -0.2, 0.1);
            bar.angular_velocity = vec3(0.0, 2.0, 0.0);
            let builder = world(params).gravity(Vec3::ZERO).body(bar).time_step(Some(2e-3));
            let mut world = builder.build().unwrap();
            world.edit_particles(|p| {
                for (v, x) in p.velocity.iter_mut().zip(&p.position) {
                    v.x += 0.3 * (5.0 * x.z).sin();
                }
            });
            let start = world.ledger();
            world.advance(1.0).unwrap();
            let end = world.ledger();
            let name = format!("{integrator:?}, {viscosity_model:?}");
            let drift = (end.momentum - start.momentum).length() / start.momentum.length();
            assert!(drift < 1e-12, "{name}: {drift:e}");
            assert!(energy(&end) < energy(&start), "{name}");
            let spin = end.angular_momentum.y / start.angular_momentum.y;
            match viscosity_model {
                ViscosityModel::StrainRate => assert!((spin - 1.0).abs() < 1e-9, "{name}: {spin}"),
                ViscosityModel::Sph => assert!(spin < 0.95, "{name}: {spin}"),
            }
        }
    }
}
