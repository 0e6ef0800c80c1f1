//! Tests of the incremental method: drops, twists and the comparison of Gerszewski 2009 Fig. 8 against the numbers of
//! its validation targets.

mod support;

use phyxel::contact::{Axes, Keyframe, Obstacle};
use phyxel::forces::{Field, FieldPoint, ForceField};
use phyxel::geometry::{Sampling, Shape};
use phyxel::material::{FlowRule, Law, Material, Property, YieldMeasure};
use phyxel::math::{Mat3, Real, Vec3, vec3};
use phyxel::methods::incremental::{History, Params, StressForm, ViscosityModel};
use phyxel::world::{Body, Ledger, World, WorldBuilder};
use std::sync::Arc;
use support::{bar, elastic, grip_across_z, positions};

const A: Real = 0.05;

fn plastic(yield_stress: Real, flow_rate: Real, viscosity: Real) -> Material {
    let material = elastic(1e5, 0.3).with(Property::Viscosity, viscosity);
    material.creeping(YieldMeasure::Total, yield_stress, flow_rate)
}

/// Returns settings for the paper's forces with the first Piola–Kirchhoff stress.
fn kernel_form() -> Params {
    Params { stress_form: StressForm::FirstPiola, flow_rule: FlowRule::PerSecond, ..Params::paper() }
}

fn cube(n: usize, material: Material) -> Body {
    Body::new("cube", Shape::Box { size: Vec3::splat(n as Real * A) }, A, material)
}

fn builder(params: Params) -> WorldBuilder {
    World::builder().default_method("incremental").method(params)
}

fn counter(ledger: &Ledger, name: &str) -> Real {
    ledger.counters.iter().find(|c| c.0 == name).unwrap().1
}

fn percentile(mut values: Vec<Real>, share: Real) -> Real {
    values.sort_unstable_by(Real::total_cmp);
    values[((values.len() - 1) as Real * share).round() as usize]
}

/// Result of a drop of 7³ particles at 2 m/s.
struct Dropped {
    /// Largest clearance under the lowest particle after the first contact (m).
    bounce: Real,
    /// Height of the centres of the top particles above the lowest possible centres (m).
    top: Real,
    /// Extent in x (m).
    width: Real,
    n_kept: Real,
}

fn dropped(params: Params, material: Material, duration: Real) -> Dropped {
    let mut body = cube(7, material).at(vec3(0.0, 3.5 * A + 0.01, 0.0));
    body.velocity = vec3(0.0, -2.0, 0.0);
    let floor = Obstacle::new("floor", Shape::HalfSpace { normal: Vec3::Y, offset: 0.0 }.into());
    let mut world = builder(params).body(body).obstacle(floor.with_friction(1.0)).build().unwrap();
    let height = |world: &World| positions(world).iter().map(|x| x.y - 0.5 * A).collect::<Vec<_>>();
    let (mut bounce, mut has_landed): (Real, bool) = (0.0, false);
    for _ in 0..(duration / 0.01).round() as usize {
        world.advance(0.01).unwrap();
        let lowest = percentile(height(&world), 0.0);
        has_landed |= lowest < 1e-3;
        bounce = bounce.max(if has_landed { lowest } else { 0.0 });
    }
    let x: Vec<Real> = positions(&world).iter().map(|x| x.x).collect();
    Dropped {
        bounce,
        top: percentile(height(&world), 0.98),
        width: percentile(x.clone(), 0.98) - percentile(x, 0.02),
        n_kept: counter(&world.ledger(), "kept_gradients"),
    }
}

/// Targets 6 and 7: jelly bounces, clay spreads without a bounce, matter that thickens under stress bounces, then
/// slumps.
#[test]
fn drops_bounce_or_spread_as_the_matter_says() {
    let mut jelly = elastic(1e5, 0.3);
    jelly[Property::Viscosity] = 20.0.into();
    let mut putty = plastic(0.0, 100.0, 20.0);
    putty[Property::ThickeningStress] = 1e3.into();
    for (name, params) in [("corrected", Params::default()), ("kernel", kernel_form())] {
        let elastic = dropped(params.clone(), jelly.clone(), 0.5);
        let clay = dropped(params.clone(), plastic(300.0, 60.0, 20.0), 0.5);
        let early = dropped(params.clone(), putty.clone(), 0.5);
        let late = dropped(params, putty.clone(), 1.6);
        for (what, d) in [("jelly", &elastic), ("clay", &clay), ("putty", &early), ("putty, later", &late)] {
            println!(
                "{name} {what}: bounce {:.3}, top {:.3}, width {:.3}, {} kept",
                d.bounce, d.top, d.width, d.n_kept
            );
        }
        assert!(elastic.bounce > 0.05 && (elastic.top / 0.33 - 1.0).abs() < 0.1, "{name}");
        assert!(clay.bounce < 0.01, "{name}");
        // the plain kernel is softer, and its clay lower
        let (top, width) = if name == "kernel" { (0.199, 0.4) } else { (0.222, 0.378) };
        assert!((clay.top / top - 1.0).abs() < 0.1 && (clay.width / width - 1.0).abs() < 0.1, "{name}");
        assert!(early.bounce > 4.0 * clay.bounce.max(0.005) && late.top < 0.93 * early.top, "{name}");
        assert!(late.width > early.width, "{name}");
        assert_eq!(elastic.n_kept, 0.0, "{name}");
    }
}

/// Returns the twist of the top against the bottom about y (°), and the distance from the start, turned back
/// (spacings).
fn twist(start: &[Vec3], now: &[Vec3]) -> (Real, Real) {
    let center = |all: &[Vec3]| all.iter().sum::<Vec3>() / all.len() as Real;
    let (a, b) = (center(start), center(now));
    let pairs: Vec<(Vec3, Vec3)> = start.iter().zip(now).map(|(p, q)| (*p - a, *q - b)).collect();
    let angle = |part: &dyn Fn(Real) -> bool| {
        let of = pairs.iter().filter(|(p, _)| part(p.y));
        let (mut s, mut c) = (0.0, 0.0);
        for (p, q) in of {
            s += p.z * q.x - p.x * q.z;
            c += p.x * q.x + p.z * q.z;
        }
        s.atan2(c)
    };
    let turned = (angle(&|y| y > 0.15) - angle(&|y| y < -0.15)).to_degrees();
    let covariance = pairs.iter().fold(Mat3::ZERO, |sum, (p, q)| sum + phyxel::math::outer(*q, *p));
    let rotation = phyxel::math::polar(covariance).0;
    let square: Real = pairs.iter().map(|(p, q)| (*q - rotation * *p).length_squared()).sum();
    (turned, (square / pairs.len() as Real).sqrt() / A)
}

/// Target 8: an elastic cube returns to its shape after a twisting load.
#[test]
fn an_elastic_twist_comes_back() {
    let load = Field::Custom(Arc::new(|p: FieldPoint| {
        let x = p.position;
        vec3(4000.0 * x.y * x.z, -800.0 * x.y, -4000.0 * x.y * x.x)
    }));
    for (name, params) in [("corrected", Params::default()), ("kernel", kernel_form())] {
        let mut material = elastic(1e5, 0.3);
        material[Property::Viscosity] = 400.0.into();
        let mut world = builder(params)
            .gravity(Vec3::ZERO)
            .body(cube(8, material))
            .force(ForceField { field: load.clone(), from: 0.0, until: 0.25 })
            .build()
            .unwrap();
        let start = positions(&world);
        world.advance(0.25).unwrap();
        let peak = twist(&start, &positions(&world)).0;
        world.advance(0.45).unwrap();
        let (left, rms) = twist(&start, &positions(&world));
        println!("{name}: twist {peak:.1}° to {left:.2}°, {rms:.3} spacings from the start");
        assert!(peak > 30.0 && left.abs() < 2.0 && rms < 0.1, "{name}: {peak} {left} {rms}");
        assert_eq!(counter(&world.ledger(), "kept_gradients"), 0.0);
    }
}

/// Checks that rubber which is stretched by three quarters holds, and stores as much energy as with a stored rest shape.
/// With weights that fall with what the fit does not see, the bar drew together and tore at a stretch of 1.15.
#[test]
fn a_stretched_rubber_bar_does_not_tear() {
    for sampling in [Sampling::Lattice, Sampling::Jittered] {
        let stretched = |history: History| {
            let mut rubber = elastic(1e5, 0.3);
            rubber[Property::Viscosity] = 5.0.into();
            let mut bar = Body::new("bar", Shape::Box { size: vec3(0.2, 0.2, 0.75) }, A, rubber);
            bar.fill.sampling = sampling;
            let pull = Keyframe { time: 0.4, translation: vec3(0.0, 0.0, 0.45), ..Keyframe::default() };
            let grip = |name, z, keys| grip_across_z(name, "bar", z, Axes::ALL, keys);
            let mut world = builder(Params { history, ..Params::default() })
                .gravity(Vec3::ZERO)
                .body(bar)
                .grip(grip("low", [-1.0, -0.3], vec![]))
                .grip(grip("high", [0.3, 1.0], vec![pull]))
                .build()
                .unwrap();
            world.advance_to(0.45).unwrap();
            world.ledger()
        };
        let (steps, rest) = (stretched(History::Composed), stretched(History::StoredRest));
        let energy = |ledger: &Ledger| ledger.elastic_energy.unwrap();
        let ratio = energy(&steps) / energy(&rest);
        println!("{sampling:?}: {:.2} J, {ratio:.3} of that with a stored rest shape", energy(&steps));
        assert_eq!(steps.sampling.n_pieces, Some(1), "{sampling:?}");
        assert!((ratio - 1.0).abs() < 0.15, "{sampling:?}: {ratio}");
    }
}

/// Checks that a drop runs with all settings of Gerszewski 2009 at once, and with each option by itself.
#[test]
fn the_papers_settings_and_every_option_run() {
    let options = [
        Params::paper(),
        Params { pressure: 0.3, ..Params::default() },
        Params { volume_relaxation: 5.0, ..Params::default() },
        Params { viscosity_model: ViscosityModel::Sph, ..Params::default() },
        Params { history: History::Additive, ..Params::default() },
        Params { history: History::StoredRest, ..Params::default() },
    ];
    for params in options {
        let clay = match params == Params::paper() {
            true => plastic(300.0, 0.02, 20.0),
            false => plastic(300.0, 60.0, 20.0),
        };
        let d = dropped(params.clone(), clay, 0.3);
        assert!(d.top > 0.1 && d.top < 0.33 && d.bounce < 0.05, "{params:?}: {} {}", d.top, d.bounce);
    }
    let mut squared = elastic(1e5, 0.3);
    squared.law = Some(Law::SquaredStretch);
    assert!(dropped(Params::default(), squared, 0.3).bounce > 0.05);
}

/// Checks that matter without a rest shape also welds when it meets later, if it flows. (Elastic matter bounces off:
/// its rest state is that of the first contact, where it separates again.)
#[test]
fn bodies_weld_when_they_meet() {
    for fuse in [false, true] {
        let dough = elastic(1e5, 0.3).with(Property::Viscosity, 20.0);
        let dough = dough.creeping(YieldMeasure::Deviatoric, 500.0, 200.0);
        let mut left = bar("left", [5, 5, 5], A, dough.clone());
        let mut right = bar("right", [5, 5, 5], A, dough).at(vec3(0.6, 0.125, 0.125));
        (left.velocity, right.velocity) = (vec3(1.0, 0.0, 0.0), vec3(-1.0, 0.0, 0.0));
        (left.fuse, right.fuse) = (fuse, fuse);
        let builder = builder(Params::default()).gravity(Vec3::ZERO).body(left).body(right);
        let mut world = builder.build().unwrap();
        world.advance(2.0).unwrap();
        let p = world.particles().next().unwrap();
        let mean = |body: u32| {
            let of = |i: &usize| p.body[*i] == body;
            (0..p.len()).filter(of).map(|i| p.velocity[i].x).sum::<Real>() / 125.0
        };
        println!("fuse {fuse}: velocities {:.3} {:.3}", mean(0), mean(1));
        if fuse {
            assert!((mean(0) - mean(1)).abs() < 0.01);
        } else {
            assert!(mean(1) - mean(0) > 0.03, "they part again");
        }
    }
}

/// Checks that rubber keeps its distances in an impact and comes back to its shape, beside mud of the same group: neither
/// its shear nor the flow of other bodies makes it look for new neighbours.
#[test]
fn rubber_comes_back_from_an_impact_beside_mud() {
    let cylinder = |name, x, material| {
        let shape = Shape::Cylinder { radius: 0.25, height: 0.8 };
        let mut body = Body::new(name, shape, 0.05, material).at(vec3(x, 0.42, 0.0));
        (body.fill.sampling, body.velocity) = (Sampling::Jittered, vec3(0.0, -4.0, 0.0));
        body
    };
    let mut rubber = elastic(2e5, 0.35);
    rubber[Property::Viscosity] = 20.0.into();
    let mud = rubber.clone().creeping(YieldMeasure::Deviatoric, 300.0, 400.0);
    let floor = Obstacle::new("floor", Shape::HalfSpace { normal: Vec3::Y, offset: 0.0 }.into());
    let bodies =
        builder(Params::default()).body(cylinder("rubber", -1.0, rubber)).body(cylinder("mud", 1.2, mud));
    let mut world = bodies.obstacle(floor.with_friction(0.6)).build().unwrap();
    let of_rubber =
        |world: &World| -> Vec<Vec3> { positions(world).into_iter().filter(|x| x.x < 0.0).collect() };
    let start = of_rubber(&world);
    let nearest = |x: &[Vec3]| {
        let pairs = x.iter().enumerate().flat_map(|(i, p)| x[..i].iter().map(|q| p.distance(*q)));
        pairs.fold(Real::INFINITY, Real::min)
    };
    let smallest = (0..8).fold(Real::INFINITY, |smallest, _| {
        world.advance(0.02).unwrap();
        smallest.min(nearest(&of_rubber(&world)))
    });
    world.advance(0.14).unwrap();
    let (turn, left) = twist(&start, &of_rubber(&world));
    println!("smallest {:.3} spacings, {turn:.2}°, {left:.3} spacings from the start", smallest / 0.05);
    assert!(smallest > 0.4 * 0.05 && left < 0.5, "{smallest} {left}");
}

/// Checks that rubber sampled so finely that its lowest layers crumple in an impact looks for no new neighbours, and is
/// back to its shape in the flight after it, but for vibrations: the cylinder of Gerszewski 2009, Fig. 2. One search in
/// the impact left it a tenth lower for good.
#[test]
fn finely_sampled_rubber_comes_back_from_an_impact() {
    let shape = Shape::Cylinder { radius: 0.25, height: 0.8 };
    let mut rubber = elastic(2e5, 0.35);
    rubber[Property::Viscosity] = 20.0.into();
    let mut body = Body::new("rubber", shape, 0.0212, rubber).at(vec3(0.0, 0.42, 0.0));
    (body.fill.sampling, body.velocity) = (Sampling::Jittered, vec3(0.0, -4.0, 0.0));
    let floor = Obstacle::new("floor", Shape::HalfSpace { normal: Vec3::Y, offset: 0.0 }.into());
    let mut world = builder(Params::default()).body(body).obstacle(floor.with_friction(0.6)).build().unwrap();
    let start = positions(&world);
    let n_searches = |world: &World| world.ledger().counter("list_renewals").expect("it is counted");
    let searches = n_searches(&world);
    let height = |x: &[Vec3]| {
        let ends = |p: &Vec3| if p.y > 0.42 { 1.0 } else { -1.0 };
        let heights = start.iter().zip(x).map(|(at_start, now)| (now.y, ends(at_start)));
        heights.map(|(y, end)| y * end).sum::<Real>() / start.len() as Real
    };
    // two periods of the slowest vibration
    world.advance(0.25).unwrap();
    let n = 12;
    let mean = (0..n).map(|_| {
        world.advance(0.01).unwrap();
        height(&positions(&world))
    });
    let ratio = mean.sum::<Real>() / n as Real / height(&start);
    println!("{} particles: height in flight {ratio:.4} of the start's", start.len());
    assert_eq!(n_searches(&world), searches);
    assert!((ratio - 1.0).abs() < 0.02, "{ratio}");
}

/// Checks the numbers of pieces of an elastic bar whose halves are moved apart, and after one of its particles is moved
/// away, too: if each step's motion is fitted, neighbours follow the positions.
#[test]
fn a_torn_body_has_the_pieces_that_its_bonds_say() {
    let mut torn = builder(Params::paper())
        .gravity(Vec3::ZERO)
        .body(bar("b", [6, 6, 12], A, elastic(1e5, 0.3)))
        .build()
        .unwrap();
    torn.edit_particles(|p| {
        p.position.iter_mut().filter(|x| x.z > 6.0 * A).for_each(|x| x.z += 8.0 * A);
    });
    let halves = torn.ledger().sampling.n_pieces;
    torn.edit_particles(|p| p.position[0] -= vec3(20.0, 0.0, 0.0) * A);
    assert_eq!([halves, torn.ledger().sampling.n_pieces], [2, 3].map(Some));
}
