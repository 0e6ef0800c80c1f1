//! Tests of every method against closed-form physics: the same test code, with one row of tolerances per method.

mod embedded;
mod incremental;
mod reference;
#[path = "../support/mod.rs"]
mod support;

use phyxel::contact::{Axes, Ease, Friction, Grip, Keyframe, Motion, Obstacle};
use phyxel::forces::{Field, ForceField};
use phyxel::geometry::{Sampling, Shape};
use phyxel::material::{Property, YieldMeasure};
use phyxel::math::{Real, Vec3, vec3};
use phyxel::methods::built_methods;
use phyxel::world::{World, WorldBuilder};
use support::{bar, elastic, grip_across_z, positions, slope};

/// Accuracy that a method must reach; each tolerance has its reason.
struct Row {
    key: &'static str,
    /// Relative error of Young's modulus of a pulled bar of 6 particles across.
    youngs_modulus: Real,
    /// Numbers of particles across, besides 6, for which the tolerance of Young's modulus also holds.
    more_widths: &'static [usize],
    /// Absolute error of Poisson's ratio.
    poisson_ratio: Real,
    /// Numbers of particles across a cantilever, each with the relative error of its tip.
    cantilever: &'static [(usize, Real)],
    /// Relative error of the yield stress of a pulled bar, by measure; empty for elastic methods.
    yield_stress: &'static [(YieldMeasure, Real)],
    /// Relative error of the height and the run-out of a slumped deposit; `None` for elastic methods.
    deposit: Option<Real>,
    /// Relative error of the decay of a shear wave.
    viscosity: Real,
    /// Relative drift of the total energy of a free vibrating bar in 3 s.
    energy: Real,
    /// Relative drift of linear and angular momentum per second.
    momentum: Real,
}

/// Rows of all methods, in the order of the catalogue.
const ROWS: &[Row] = &[reference::ROW, incremental::ROW, embedded::ROW];

fn for_each_method(test: impl Fn(&Row)) {
    ROWS.iter().for_each(test);
}

fn world(row: &Row) -> WorldBuilder {
    World::builder().default_method(row.key)
}

#[test]
fn every_built_method_has_a_row() {
    let built: Vec<&str> = built_methods().map(|e| e.key).collect();
    assert_eq!(built, ROWS.iter().map(|r| r.key).collect::<Vec<_>>());
}

/// Checks free fall: velocity Verlet is exact for constant acceleration.
#[test]
fn free_fall() {
    for_each_method(|row| {
        let body = bar("b", [4, 4, 4], 0.05, elastic(1e5, 0.3));
        let mut world = world(row).body(body).build().unwrap();
        let before = positions(&world);
        world.advance(1.0).unwrap();
        for (a, b) in before.iter().zip(positions(&world)) {
            assert!((b - *a - vec3(0.0, -4.905, 0.0)).length() < 1e-10, "{}", row.key);
        }
        let v = world.ledger().momentum / (1000.0 * 0.008);
        assert!((v - vec3(0.0, -9.81, 0.0)).length() < 1e-10);
    });
}

/// Checks that a body that is only rotated and moved has no strain, energy or stress, and that a uniformly stretched
/// one has the same stress everywhere (the patch test of stresses).
#[test]
fn rigid_motion_costs_nothing_and_even_stretch_is_even() {
    for_each_method(|row| {
        let mut world = world(row)
            .gravity(Vec3::ZERO)
            .body(bar("b", [5, 6, 7], 0.05, elastic(1e5, 0.3)))
            .build()
            .unwrap();
        let turn = phyxel::math::Quat::from_axis_angle(vec3(1.0, 2.0, -0.5).normalize(), 2.0);
        world.edit_particles(|p| p.position.iter_mut().for_each(|x| *x = turn * *x + vec3(3.0, 1.0, 2.0)));
        let (ledger, volume) = (world.ledger(), 0.02625);
        // E V is the energy scale of a strain of 1
        assert!(
            ledger.elastic_energy.expect("every method computes its elastic energy") < 1e-15 * 1e5 * volume,
            "{}",
            row.key
        );
        assert!((ledger.volume / volume - 1.0).abs() < 1e-12, "{}", row.key);
        world.advance(0.1).unwrap();
        assert!(world.ledger().max_speed < 1e-10, "{}", row.key);
        let map = phyxel::math::Mat3::from_diagonal(vec3(1.1, 0.95, 1.02));
        world.edit_particles(|p| p.position.iter_mut().for_each(|x| *x = map * *x));
        let frame = world.frame(&["stress"]);
        let stress = &frame.columns[0].values;
        assert!(stress.iter().all(|s| *s > 1e3 && (s / stress[0] - 1.0).abs() < 1e-5), "{}", row.key);
    });
}

/// Checks the parts of the elastic energy, at strains that are small for every law: a block under a pressure p from all
/// sides stores p²V/(2K), all of it as change of volume; one sheared by γ stores µ γ² V/2, all of it as change of
/// shape. Neither has a residual; only motion that fits do not detect has one.
#[test]
fn elastic_energy_is_split_by_what_stores_it() {
    for_each_method(|row| {
        let (e, nu, a) = (1e5, 0.3, 0.05);
        let volume = 216.0 * a * a * a;
        let energies = |map: &dyn Fn(Vec3) -> Vec3| {
            let body = bar("b", [6, 6, 6], a, elastic(e, nu));
            let mut world = world(row).gravity(Vec3::ZERO).body(body).build().unwrap();
            world.edit_particles(|p| p.position.iter_mut().for_each(|x| *x = map(*x)));
            let ledger = world.ledger();
            let parts = ledger.elastic_parts.expect(row.key);
            assert_eq!(ledger.elastic_energy, Some(parts.total()), "{}", row.key);
            let sum = parts.deviatoric + parts.volumetric + parts.residual + parts.repulsion;
            assert_eq!(parts.total(), sum, "{}", row.key);
            parts
        };
        let strain = 1e-4;
        let (bulk, shear) = (e / (3.0 * (1.0 - 2.0 * nu)), e / (2.0 * (1.0 + nu)));
        let pressure = 3.0 * bulk * strain;
        let pressed = energies(&|x| x * (1.0 - strain));
        let expected = pressure * pressure * volume / (2.0 * bulk);
        println!("{}: pressed {pressed:?}, expected {expected:e}", row.key);
        // the laws differ by terms of the order of the strain; residuals are only the round-off of squared bonds
        assert!((pressed.volumetric / expected - 1.0).abs() < 10.0 * strain, "{}", row.key);
        assert!(
            pressed.deviatoric.abs() < 1e-9 * expected && pressed.residual < 1e-8 * expected,
            "{}",
            row.key
        );
        let sheared = energies(&|x| x + vec3(2.0 * strain * x.y, 0.0, 0.0));
        let expected = 0.5 * shear * (2.0 * strain) * (2.0 * strain) * volume;
        println!("{}: sheared {sheared:?}, expected {expected:e}", row.key);
        assert!((sheared.deviatoric / expected - 1.0).abs() < 10.0 * strain, "{}", row.key);
        assert!(sheared.volumetric.abs() < 1e-6 * expected && sheared.residual < 1e-8 * expected);
        // neighbours move against each other, which fits detect only at the surface
        let sign = |x: Vec3| if ((x / a).floor().element_sum() as i64) % 2 == 0 { 1.0 } else { -1.0 };
        let crossed = energies(&|x| x + vec3(0.01 * a * sign(x), 0.0, 0.0));
        println!("{}: crossed {crossed:?}", row.key);
        assert!(crossed.residual > 0.1 * crossed.total(), "{}: {crossed:?}", row.key);
    });
}

/// Checks energy, linear and angular momentum of a free bar that spins and vibrates.
#[test]
fn spinning_and_vibrating_keeps_energy_and_momenta() {
    for_each_method(|row| {
        for viscosity in [0.0, 20.0] {
            let mut material = elastic(1e5, 0.3);
            material[Property::Viscosity] = viscosity.into();
            let mut body = bar("b", [5, 5, 10], 0.1, material);
            body.velocity = vec3(0.3, -0.2, 0.1);
            body.angular_velocity = vec3(1.0, 2.0, 0.5);
            let mut world = world(row).body(body).gravity(Vec3::ZERO).time_step(Some(1e-3)).build().unwrap();
            world.edit_particles(|particles| {
                for (v, x) in particles.velocity.iter_mut().zip(&particles.position) {
                    *v += vec3(0.0, 0.2 * x.z, 0.1 * (x.z - 0.5)) * (7.0 * x.x).sin();
                }
            });
            let start = world.ledger();
            world.advance(3.0).unwrap();
            let end = world.ledger();
            let energy = |l: &phyxel::world::Ledger| {
                l.kinetic_energy + l.elastic_energy.expect("every method computes its elastic energy")
            };
            let momentum = if viscosity > 0.0 { 1e-9 } else { row.momentum };
            let drift = |a: Vec3, b: Vec3| (b - a).length() / a.length() / 3.0;
            let (linear, angular) =
                (drift(start.momentum, end.momentum), drift(start.angular_momentum, end.angular_momentum));
            let gain = energy(&end) / energy(&start) - 1.0;
            println!(
                "{} viscosity {viscosity}: energy {gain:.2e}, momenta {linear:.1e} {angular:.1e} per s",
                row.key
            );
            assert!(linear < momentum && angular < momentum, "{}: {linear:e} {angular:e}", row.key);
            if viscosity == 0.0 {
                assert!(gain.abs() < row.energy, "{}: {gain:e}", row.key);
            } else {
                assert!(gain < 0.0, "{}: viscosity must take energy: {gain:e}", row.key);
            }
        }
    });
}

/// Checks a bar pulled by 1 % between clamps, as in a tensile test: E from the grip's force and the strain in the
/// middle, ν from the contraction there. It has six particles across and, for methods that promise it, also fewer and
/// more.
#[test]
fn pulled_bar_shows_the_asked_moduli() {
    for_each_method(|row| {
        let six = [(6, 0.0), (6, 0.3), (6, 0.45)];
        for (width, nu) in six.into_iter().chain(row.more_widths.iter().map(|&width| (width, 0.3))) {
            let n = 20.max(2 * width);
            let (a, e) = (0.05, 1e5);
            let length = n as Real * a;
            let pull =
                Keyframe { time: 0.5, translation: vec3(0.0, 0.0, 0.01 * length), rotation: Vec3::ZERO };
            let mut world = world(row)
                .gravity(Vec3::ZERO)
                .body(bar("bar", [width, width, n], a, elastic(e, nu)))
                .grip(grip_across_z("low", "bar", [0.0, a], Axes::ALL, vec![]))
                .grip(grip_across_z("high", "bar", [length - a, length], Axes::ALL, vec![pull]))
                .force(ForceField::always(Field::Drag(15.0)))
                .build()
                .unwrap();
            let rest = positions(&world);
            world.advance(2.0).unwrap();
            world.advance(0.2).unwrap();
            let stress = world.ledger().forces[1].1.z / ((width * width) as Real * a * a);
            let middle = |p: &&(Vec3, Vec3)| (p.0.z - 0.5 * length).abs() < 2.5 * a;
            let pairs: Vec<(Vec3, Vec3)> = rest.into_iter().zip(positions(&world)).collect();
            let across = slope(pairs.iter().filter(middle).map(|p| (p.0.x, p.1.x))) - 1.0;
            let along = slope(pairs.iter().filter(middle).map(|p| (p.0.z, p.1.z))) - 1.0;
            let (modulus, ratio) = (stress / along, -across / along);
            println!(
                "{} {width} across, nu {nu}: E {:.4} of the asked, nu {ratio:.4}, strain {along:.5}",
                row.key,
                modulus / e
            );
            assert!((along / 0.01 - 1.0).abs() < 0.2, "the middle is pulled by about 1 %: {along}");
            assert!((modulus / e - 1.0).abs() < row.youngs_modulus, "{}: E {modulus:e} for {e:e}", row.key);
            assert!((ratio - nu).abs() < row.poisson_ratio, "{}: nu {ratio}", row.key);
        }
    });
}

/// Checks that a slowly pulled bar flows at the given yield stress. The papers' measure counts pressure and gives a
/// lower value, because flow concentrates in bands.
#[test]
fn pulled_bar_shows_the_asked_yield_stress() {
    for_each_method(|row| {
        for &(measure, tolerance) in row.yield_stress {
            let (a, asked) = (0.05, 1000.0);
            let (length, width) = (20.0 * a, 6.0 * a);
            let material = elastic(1e5, 0.3).creeping(measure, asked, 400.0);
            let pull =
                Keyframe { time: 4.0, translation: vec3(0.0, 0.0, 0.03 * length), rotation: Vec3::ZERO };
            let mut world = world(row)
                .gravity(Vec3::ZERO)
                .body(bar("bar", [6, 6, 20], a, material))
                .grip(grip_across_z("low", "bar", [0.0, a], Axes::ALL, vec![]))
                .grip(Grip {
                    motion: Motion::try_new(vec![pull], Ease::Linear).unwrap(),
                    ..grip_across_z("high", "bar", [length - a, length], Axes::ALL, vec![])
                })
                .force(ForceField::always(Field::Drag(4.0)))
                .build()
                .unwrap();
            world.advance(0.9).unwrap();
            assert!(world.ledger().n_yielded < 20, "0.7 % are elastic");
            // far beyond the yield strain of 1 %: the mean over the plateau
            world.advance(1.1).unwrap();
            world.advance(1.5).unwrap();
            let ledger = world.ledger();
            let stress = ledger.forces[1].1.z / (width * width);
            println!("{} {measure:?}: yield stress {:.4} of the asked one", row.key, stress / asked);
            assert!((stress / asked - 1.0).abs() < tolerance, "{} {measure:?}: {stress}", row.key);
            assert!(ledger.n_yielded > 100, "{}", ledger.n_yielded);
        }
    });
}

/// Half of a plane deposit at rest: height at the middle and length. Its matter yields at a shear stress of ρ g k.
///
/// To leading order in slopes, h² = 2 k (L − x). Matter that spreads is also pulled lengthwise: with the longitudinal
/// stress of an ideally plastic layer (Nye 1967), h²/2 − (π/2) k h = k (L − x), which ends in a front of height π k.
/// The area A follows from k A = h³/3 − (π/4) k h², taken between h = π k and h = H.
struct Deposit {
    height: Real,
    length: Real,
}

impl Deposit {
    fn of(k: Real, half_area: Real) -> Self {
        let front = std::f64::consts::PI * k;
        let integral = |h: Real| h.powi(3) / 3.0 - 0.25 * front * h * h;
        let (mut low, mut high) = (front, front + (3.0 * k * half_area).cbrt() * 2.0);
        for _ in 0..60 {
            let h = 0.5 * (low + high);
            if integral(h) - integral(front) < k * half_area { low = h } else { high = h }
        }
        Self { height: low, length: (0.5 * low * low - 0.5 * front * low) / k }
    }
}

/// Checks that a block which slumps under its weight on a sticky floor comes to rest as the theory of deposits
/// predicts: half a slice, with a mirror at the middle. The height is the mean over the first tenth; the run-out ends
/// where the height falls under a spacing.
#[test]
fn slumped_block_rests_as_a_deposit() {
    for_each_method(|row| {
        let Some(tolerance) = row.deposit else { return };
        for yield_stress in [340.0, 255.0] {
            let (a, n) = (0.02, [42, 18, 4]);
            let size = vec3(n[0] as Real, n[1] as Real, n[2] as Real) * a;
            let material = elastic(8e4, 0.3).with(Property::Viscosity, 5.0);
            let material = material.creeping(YieldMeasure::Deviatoric, yield_stress, 1500.0);
            let mut block = bar("block", n, a, material);
            block.fill.sampling = Sampling::Jittered;
            let wall = |name: &str, normal: Vec3, offset: Real| {
                Obstacle::new(name, Shape::HalfSpace { normal, offset }.into()).with_friction(0.0)
            };
            let floor = Obstacle { friction: Friction::Stick, ..wall("floor", Vec3::Y, 0.0) };
            let mut world = world(row)
                .body_contact(false)
                .body(block)
                .obstacle(floor)
                .obstacle(wall("middle", Vec3::X, 0.0))
                .obstacle(wall("front", Vec3::Z, 0.0))
                .obstacle(wall("back", -Vec3::Z, -size.z))
                .build()
                .unwrap();
            world.advance(5.0).unwrap();
            let x = positions(&world);
            let top = |low: Real| {
                let within = x.iter().filter(|p| (low..low + a).contains(&p.x));
                let mut heights: Vec<Real> = within.map(|p| p.y).collect();
                heights.sort_unstable_by(|a, b| b.total_cmp(a));
                // a surface is rough: takes the mean of the highest particles
                let n = heights.len().min(4);
                if n == 0 { 0.0 } else { heights[..n].iter().sum::<Real>() / n as Real + 0.5 * a }
            };
            let profile: Vec<Real> = (0..200).map(|k| top(k as Real * a)).collect();
            let run_out = profile.iter().position(|h| *h < a).expect("it ends") as Real * a;
            let n_first = (0.1 * run_out / a) as usize;
            let height = profile[..n_first].iter().sum::<Real>() / n_first as Real;
            let k = yield_stress / 3f64.sqrt() / (1000.0 * 9.81);
            let (area, theory) = (size.x * size.y, Deposit::of(k, size.x * size.y));
            let leading = (1.5 * area / (2.0 * k).sqrt()).powf(2.0 / 3.0);
            println!(
                "{} {yield_stress} Pa: height {:.3} and run-out {:.3} of the deposit's ({:.3} and {:.3} of the leading order), area {:.3}",
                row.key,
                height / theory.height,
                run_out / theory.length,
                height / (2.0 * k * leading).sqrt(),
                run_out / leading,
                profile.iter().sum::<Real>() * a / area,
            );
            assert!((height / theory.height - 1.0).abs() < tolerance, "{} {yield_stress}: {height}", row.key);
            assert!(
                (run_out / theory.length - 1.0).abs() < tolerance,
                "{} {yield_stress}: {run_out}",
                row.key
            );
            let nearest = world.ledger().sampling.nearest_smallest.unwrap();
            assert!(nearest > 0.4, "{} {yield_stress}: {nearest}", row.key);
        }
    });
}

/// Checks that flow over a sticky floor begins at the floor's surface, not at the centres of the lowest particles: they
/// move along. A cube on rails is sheared by a grip at its top.
#[test]
fn sheared_flow_begins_at_the_floor() {
    for_each_method(|row| {
        if row.deposit.is_none() {
            return;
        }
        let (a, n) = (0.02, 8);
        let size = a * n as Real;
        let material = elastic(8e4, 0.3).with(Property::Viscosity, 100.0);
        let material = material.creeping(YieldMeasure::Deviatoric, 300.0, 1500.0);
        let shear = Keyframe { time: 0.4, translation: vec3(0.4 * size, 0.0, 0.0), rotation: Vec3::ZERO };
        let mut top = grip_across_z("top", "cube", [size - a, size], Axes::ALL, vec![]);
        top.motion = Motion::try_new(vec![shear], Ease::Linear).unwrap();
        let rails = Axes { x: false, y: true, z: true };
        let floor = Shape::HalfSpace { normal: Vec3::Z, offset: 0.0 };
        let mut world = world(row)
            .gravity(Vec3::ZERO)
            .body(bar("cube", [n, n, n], a, material))
            .grip(top)
            .grip(grip_across_z("rails", "cube", [0.0, size - a], rails, vec![]))
            .obstacle(Obstacle { friction: Friction::Stick, ..Obstacle::new("floor", floor.into()) })
            .build()
            .unwrap();
        let start = positions(&world);
        world.advance(0.4).unwrap();
        let x = positions(&world);
        let moved: Vec<Real> = (0..n)
            .map(|layer| {
                let is_inner = |p: &Vec3| {
                    let middle = |v: Real| (0.3..0.7).contains(&(v / size));
                    (p.z / a) as usize == layer && middle(p.x) && middle(p.y)
                };
                let inner: Vec<usize> = (0..x.len()).filter(|&i| is_inner(&start[i])).collect();
                inner.iter().map(|&i| x[i].x - start[i].x).sum::<Real>() / inner.len() as Real
            })
            .collect();
        let shear = shear.translation.x / (size - 0.5 * a);
        let share = moved[0] / (shear * 0.5 * a);
        println!("{}: layers moved by {moved:.4?} m, the lowest by {share:.2} of a true shear", row.key);
        // 0.52 (`embedded`) and 0.31 (`incremental`) if particles that touch yielded and flowed as the others
        assert!((0.8..1.1).contains(&share), "{}: {share}", row.key);
        assert!(moved.is_sorted(), "{}: {moved:?}", row.key);
    });
}

/// Checks a plane shear wave: particles may only move along y, and move with cos(π z/L). The amplitude falls with
/// exp(−η k² t/ρ); elasticity is too weak to matter.
#[test]
fn shear_wave_decays_as_the_asked_viscosity_says() {
    for_each_method(|row| {
        let (n, viscosity) = (16, 50.0);
        let a = 1.0 / n as Real;
        let mut material = elastic(1e-2, 0.0);
        material[Property::Viscosity] = viscosity.into();
        let rails = grip_across_z("rails", "block", [-1.0, 2.0], Axes { x: true, y: false, z: true }, vec![]);
        let mut world = world(row)
            .gravity(Vec3::ZERO)
            .body(bar("block", [5, 5, n], a, material))
            .grip(rails)
            .time_step(Some(2e-3))
            .build()
            .unwrap();
        let wave = |z: Real| (std::f64::consts::PI * z).cos();
        world.edit_particles(|particles| {
            for (v, x) in particles.velocity.iter_mut().zip(&particles.position) {
                v.y = 1e-3 * wave(x.z);
            }
        });
        let amplitude = |world: &World| {
            let rows = world.particles().flat_map(|p| p.velocity.iter().zip(&p.position));
            rows.map(|(v, x)| v.y * wave(x.z)).sum::<Real>()
        };
        let before = amplitude(&world);
        world.advance(2.0).unwrap();
        let rate = (before / amplitude(&world)).ln() / 2.0;
        let expected = viscosity / 1000.0 * std::f64::consts::PI.powi(2);
        println!("{}: decay {rate:.4} 1/s, expected {expected:.4}", row.key);
        assert!((rate / expected - 1.0).abs() < row.viscosity, "{}: {rate} against {expected}", row.key);
    });
}

/// Checks the tip of a cantilever under its own weight against Timoshenko's beam.
#[test]
fn cantilever_bends_like_timoshenkos_beam() {
    for_each_method(|row| {
        for &(n, tolerance) in row.cantilever {
            let (e, nu, density, g) = (1e6, 0.3, 1000.0, 0.1);
            let a = 1.0 / n as Real;
            let length = 5.0;
            let mut world = world(row)
                .gravity(vec3(-g, 0.0, 0.0))
                .body(bar("beam", [n, n, 5 * n], a, elastic(e, nu)))
                .grip(grip_across_z("wall", "beam", [0.0, a], Axes::ALL, vec![]))
                .force(ForceField::always(Field::Drag(2.4)))
                .build()
                .unwrap();
            let rest = positions(&world);
            world.advance(9.0).unwrap();
            let now = positions(&world);
            let layer = |k: usize| {
                let of = rest.iter().zip(&now).filter(|p| (p.0.z / a - 0.5 - k as Real).abs() < 0.1);
                of.clone().map(|p| p.0.x - p.1.x).sum::<Real>() / of.count() as Real
            };
            let tip = 1.5 * layer(5 * n - 1) - 0.5 * layer(5 * n - 2);
            // clamped at the centre of the first layer
            let free = length - 0.5 * a;
            let (q, inertia, shear) = (density * g, 1.0 / 12.0, e / (2.0 * (1.0 + nu)));
            let k = 10.0 * (1.0 + nu) / (12.0 + 11.0 * nu);
            let beam = q * free.powi(4) / (8.0 * e * inertia) + q * free.powi(2) / (2.0 * k * shear);
            println!(
                "{} {n} across: tip {:.4} of Timoshenko's, speed {:.1e}",
                row.key,
                tip / beam,
                world.ledger().max_speed
            );
            assert!((tip / beam - 1.0).abs() < tolerance, "{} {n}: {}", row.key, tip / beam);
            assert!(world.ledger().max_speed < 1e-3 * beam);
        }
    });
}

/// Checks that elastic matter keeps its bonds when its halves, or a single particle, are moved away: they belong to its
/// shape and pull it together again, so that it counts as one piece.
#[test]
fn torn_elastic_matter_keeps_its_bonds() {
    for_each_method(|row| {
        let a = 0.05;
        let body = bar("b", [6, 6, 12], a, elastic(1e5, 0.3));
        let mut torn = world(row).gravity(Vec3::ZERO).body(body).build().unwrap();
        torn.edit_particles(|p| {
            p.position.iter_mut().filter(|x| x.z > 6.0 * a).for_each(|x| x.z += 8.0 * a);
        });
        let halves = torn.ledger().sampling.n_pieces;
        torn.edit_particles(|p| p.position[0] -= vec3(20.0, 0.0, 0.0) * a);
        assert_eq!([halves, torn.ledger().sampling.n_pieces], [Some(1), Some(1)], "{}", row.key);
    });
}
