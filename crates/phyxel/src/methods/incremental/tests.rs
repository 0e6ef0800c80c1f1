//! Tests of the method against differences of its energy, closed forms and the numbers of its validation targets.

use super::*;
use crate::material::Law;
use crate::math::{Random, frobenius_norm, vec3};
use crate::methods::testing::{lattice, matter, random_map};

fn build(params: Params, particles: &mut Particles) -> Incremental {
    let matter = matter(particles, Law::Corotated, None);
    Incremental::build(params, particles, &matter).unwrap()
}

fn per_step() -> Params {
    Params { fitted_motion: FittedMotion::PerStep, ..Params::default() }
}

fn spans() -> Params {
    Params { fitted_motion: FittedMotion::SinceSearch, ..Params::default() }
}

/// Moves all particles by a map, as a step would.
fn deform(method: &mut Incremental, particles: &mut Particles, map: Mat3) {
    particles.position.iter_mut().for_each(|x| *x = map * *x);
    method.moved(particles);
}

/// Target 2: many random affine steps compose to their product, for every sampling and whichever motion is fitted.
#[test]
fn affine_steps_compose() {
    let both = || [per_step(), spans()];
    for (params, jitter) in both().into_iter().zip([0.0; 2]).chain(both().into_iter().zip([0.3; 2])) {
        let mut particles = lattice([5, 5, 5], 0.1, jitter);
        let mut method = build(params, &mut particles);
        let mut product = Mat3::IDENTITY;
        for step in 0..50 {
            let map = random_map(step, 0.02);
            deform(&mut method, &mut particles, map);
            product = map * product;
            if method.has_spans() && step % 10 == 9 {
                method.renew_all_lists(&particles);
            }
        }
        assert!(method.tallies.n_renewals > 3 && method.tallies.n_kept == 0, "{:?}", method.tallies);
        let worst = method.gradient.iter().map(|f| frobenius_norm(*f - product)).fold(0.0, Real::max);
        println!("worst {worst:e}");
        assert!(worst < 1e-13, "{worst:e}");
        assert!(method.residual.iter().all(|r| r.length() < 1e-14));
    }
}

/// Targets 3 and 9: stretching, rotating by 90° and unstretching leaves no strain, except with a sum of strains.
#[test]
fn turning_between_stretching_and_unstretching_leaves_nothing() {
    let left = |history| {
        let mut particles = lattice([5, 5, 5], 0.1, 0.2);
        let mut method = build(Params { history, ..Params::default() }, &mut particles);
        let stretch = Mat3::from_diagonal(vec3(1.3f64.powf(0.01), 1.0, 1.0));
        let turn = Mat3::from_rotation_z(0.01 * std::f64::consts::FRAC_PI_2);
        let back = Mat3::from_diagonal(vec3(1.0, 1.3f64.powf(-0.01), 1.0));
        for map in [stretch, turn, back] {
            (0..100).for_each(|_| deform(&mut method, &mut particles, map));
        }
        let strain = |f: &Mat3| match history {
            History::Additive => frobenius_norm(*f - Mat3::IDENTITY),
            _ => 0.5 * frobenius_norm(f.transpose() * *f - Mat3::IDENTITY),
        };
        method.gradient.iter().map(strain).fold(0.0, Real::max)
    };
    assert!(left(History::Composed) < 1e-12, "{:e}", left(History::Composed));
    // the strain along x stays, the strain along y has the opposite sign
    let additive = left(History::Additive);
    assert!(additive > 0.2, "{additive}");
}

/// Checks forces against differences of the energy with the weights of the step, for every law, with residuals, where the motion of steps is fitted.
#[test]
fn forces_of_steps_are_minus_the_gradient_of_the_energy() {
    for &(law, key, _) in Law::ALL {
        let mut particles = lattice([4, 4, 4], 0.1, 0.2);
        let given = matter(&mut particles, law, Some((1e9, 1.0)));
        let mut method = Incremental::build(per_step(), &mut particles, &given).unwrap();
        method.room.fill(0.1);
        method.find_lists(&particles);
        let mut random = Random::new(9);
        let map = random_map(3, 0.1);
        particles.position.iter_mut().for_each(|x| *x = map * *x + random.in_cube() * 0.004);
        method.moved(&particles);
        assert!(method.residual.iter().any(|r| r.length() > 1e-3));
        let (gradient, residual, start) =
            (method.gradient.clone(), method.residual.clone(), particles.position.clone());
        let force = method.force.clone();
        // energy of the state after a motion
        let mut energy = |moved: &[Vec3]| {
            (method.gradient, method.residual) = (gradient.clone(), residual.clone());
            method.before.clone_from(&start);
            method.compose(moved);
            let lame = |i| method.lame.at(i);
            let elastic: Real = (0..moved.len())
                .map(|i| particles.volume[i] * law.energy_density(lame(i), method.gradient[i]))
                .sum();
            let bonds = method.residual.iter().zip(&method.weights).zip(&method.bond_facts);
            let of_bonds: Real = bonds
                .map(|((r, w), facts)| Real::from(*w) * Real::from(facts.stiffness()) * r.length_squared())
                .sum();
            let row =
                |i: usize| method.neighbors.row(i).iter().zip(&method.bond_facts[method.neighbors.range(i)]);
            let of_row = |i: usize| -> Real {
                row(i)
                    .map(|(&j, facts)| {
                        method.repulsion(facts, i, j as usize).energy(moved[j as usize] - moved[i])
                    })
                    .sum()
            };
            let crowding: Real = (0..moved.len()).map(of_row).sum();
            assert!(crowding > 0.0, "some are crowded");
            elastic + 0.25 * of_bonds + 0.5 * crowding
        };
        let largest = force.iter().map(|f| f.length()).fold(0.0, Real::max);
        let d = 1e-6;
        for i in [0, 5, 21, 42, 63] {
            for k in 0..3 {
                let mut moved = start.clone();
                moved[i][k] += d;
                let up = energy(&moved);
                moved[i][k] -= 2.0 * d;
                let slope = (up - energy(&moved)) / (2.0 * d);
                assert!((force[i][k] + slope).abs() < 1e-6 * largest, "{key}: {} {slope}", force[i][k]);
            }
        }
    }
}

/// Checks forces against differences of the energy within a span, for every law, with and without residuals at its start.
#[test]
fn forces_are_minus_the_gradient_of_the_energy() {
    for &(law, key, _) in Law::ALL {
        for starts in [1, 2] {
            let mut particles = lattice([4, 4, 4], 0.1, 0.2);
            let given = matter(&mut particles, law, Some((1e9, 1.0)));
            let mut method = Incremental::build(spans(), &mut particles, &given).unwrap();
            method.room.fill(0.1);
            let mut random = Random::new(9);
            for start in 0..starts {
                method.renew_all_lists(&particles);
                let map = random_map(3 + start, 0.03);
                particles.position.iter_mut().for_each(|x| *x = map * *x + random.in_cube() * 0.003);
                method.forces_at(&particles);
            }
            assert_eq!(method.residual.iter().any(|r| r.length() > 1e-3), starts > 1);
            let force = method.force.clone();
            let mut energy = |particles: &Particles| {
                method.forces_at(particles);
                let energy = method.elastic_energy(particles);
                assert!(energy.residual > 0.0 && energy.repulsion > 0.0);
                energy.total()
            };
            let largest = force.iter().map(|f| f.length()).fold(0.0, Real::max);
            let d = 1e-6;
            for i in [0, 5, 21, 42, 63] {
                for k in 0..3 {
                    particles.position[i][k] += d;
                    let up = energy(&particles);
                    particles.position[i][k] -= 2.0 * d;
                    let slope = (up - energy(&particles)) / (2.0 * d);
                    particles.position[i][k] += d;
                    assert!((force[i][k] + slope).abs() < 1e-6 * largest, "{key}: {} {slope}", force[i][k]);
                }
            }
        }
    }
}

/// Checks that flow leaves F alone when bonds forget, and that a fraction of the residuals is gone.
#[test]
fn forgetting_keeps_the_deformation() {
    let mut particles = lattice([5, 5, 5], 0.1, 0.2);
    let mut method = build(spans(), &mut particles);
    let (map, mut random) = (random_map(3, 0.05), Random::new(4));
    particles.position.iter_mut().for_each(|x| *x = map * *x + random.in_cube() * 0.004);
    method.forces_at(&particles);
    let unseen = |method: &Incremental| method.elastic_energy(&particles).residual;
    let (before, gradient) = (unseen(&method), method.gradient.clone());
    method.responses.iter_mut().for_each(|response| response.fraction = 0.3);
    method.relax_spans(&particles.position);
    let left = unseen(&method) / before;
    assert!((left - 0.49).abs() < 0.01, "{left}");
    method.forces_at(&particles);
    for (f, kept) in method.gradient.iter().zip(&gradient) {
        assert!(frobenius_norm(*f - *kept) < 1e-13);
    }
}

/// Returns the force per area through a plane of a uniformly stretched lattice, divided by P_11. It sums the pairs
/// between the left half of one column and all particles on the right.
fn traction_ratio(params: Params, stretch: Real) -> Real {
    let a = 0.1;
    let mut particles = lattice([12, 11, 11], a, 0.0);
    let mut method = build(params, &mut particles);
    let map = Mat3::from_diagonal(vec3(stretch, 1.0, 1.0));
    deform(&mut method, &mut particles, map);
    let middle = 6.0 * a * stretch;
    let is_left = |x: Vec3| x.x < middle;
    let in_column = |x: Vec3| (x.y / a - 5.5).abs() < 0.1 && (x.z / a - 5.5).abs() < 0.1;
    let Particles { position, volume, .. } = &mut particles;
    for (i, x) in position.iter().enumerate() {
        if is_left(*x) && !in_column(*x) {
            volume[i] = 0.0;
            method.carriers[i] = Mat3::ZERO;
        }
    }
    method.gather_forces(&particles);
    let right = (0..particles.len()).filter(|&i| !is_left(particles.position[i]));
    let pull: Real = right.map(|i| -method.force[i].x).sum();
    let stress = Law::Corotated.principal_stress(method.lame.at(0), vec3(stretch, 1.0, 1.0)).x;
    pull / (a * a) / stress
}

/// Target 4: tension pulls, and the paper's forms have the strengths given in the notes.
#[test]
fn even_stress_gives_its_traction() {
    let kernel = |stress_form| Params {
        support: 2.0,
        force_form: ForceForm::Kernel,
        stress_form,
        ..Params::default()
    };
    for (stretch, scaled) in [(0.8, 0.788), (1.02, 1.005), (1.2, 1.182)] {
        let ratio = traction_ratio(kernel(StressForm::FirstPiola), stretch);
        assert!((ratio - 0.985).abs() < 0.002, "{stretch}: {ratio}");
        let ratio = traction_ratio(kernel(StressForm::Scaled), stretch);
        assert!((ratio - scaled).abs() < 0.002, "{stretch}: {ratio}");
    }
}

/// Checks that the corrected form gives uniform stress its exact traction, surfaces included, in a bar of 4 particles
/// across, from the sum of the forces on one half. The plain kernel lacks neighbours at surfaces.
#[test]
fn corrected_forces_are_exact_also_at_surfaces() {
    let a = 0.1;
    let ratio = |params| {
        let mut particles = lattice([10, 4, 4], a, 0.0);
        let mut method = build(params, &mut particles);
        deform(&mut method, &mut particles, Mat3::from_diagonal(vec3(1.02, 1.0, 1.0)));
        let right = (0..particles.len()).filter(|&i| particles.position[i].x > 5.0 * a * 1.02);
        let pull: Real = right.map(|i| -method.force[i].x).sum();
        let total: Vec3 = method.force.iter().sum();
        assert!(total.length() < 1e-12 * pull, "target 5: {total}");
        let stress = Law::Corotated.principal_stress(method.lame.at(0), vec3(1.02, 1.0, 1.0)).x;
        pull / (16.0 * a * a) / stress
    };
    let corrected = ratio(Params::default());
    let kernel = ratio(Params { stress_form: StressForm::FirstPiola, ..Params::paper() });
    println!("traction of a bar 4 across: corrected {corrected:.4}, kernel {kernel:.4}");
    assert!((corrected - 1.0).abs() < 0.01 && kernel < 0.9, "{corrected} {kernel}");
}

/// Checks that a particle without neighbours keeps its F and is counted, and that two bodies never become neighbours.
#[test]
fn the_lonely_keep_their_deformation() {
    let mut particles = lattice([4, 4, 4], 0.1, 0.0);
    let mut method = build(Params::default(), &mut particles);
    particles.position[0] -= Vec3::ONE;
    method.moved(&particles);
    method.renew_all_lists(&particles);
    let kept = method.gradient[0];
    let map = random_map(1, 0.1);
    deform(&mut method, &mut particles, map);
    assert_eq!(method.gradient[0], kept);
    assert!(method.tallies.n_kept > 0 && method.n_degenerate() == 1);
    assert_eq!(method.force[0], Vec3::ZERO);
    let mut two = lattice([4, 4, 4], 0.1, 0.0);
    two.body.iter_mut().zip(&two.position).for_each(|(b, x)| *b = u32::from(x.y > 0.2));
    let mut given = matter(&mut two, Law::Corotated, None);
    given.bodies.push(crate::methods::GroupBody { index: 1, matter: 1, ..given.bodies[0].clone() });
    let method = Incremental::build(Params::default(), &mut two, &given).unwrap();
    let row = |i: usize| method.neighbors.row(i).iter().map(move |&j| (i, j as usize));
    assert!((0..two.len()).flat_map(row).all(|(i, j)| two.body[i] == two.body[j]));
}

/// Checks that rooms of matter that can flow shrink along an elastic compression and not across it, and that those of
/// elastic matter shrink in all directions.
#[test]
fn rooms_shrink_along_the_squeeze() {
    let a = 0.1;
    for can_flow in [true, false] {
        let mut particles = lattice([6, 6, 6], a, 0.0);
        let given = matter(&mut particles, Law::Corotated, can_flow.then_some((1e9, 1.0)));
        let mut method = Incremental::build(Params::default(), &mut particles, &given).unwrap();
        deform(&mut method, &mut particles, Mat3::from_diagonal(vec3(0.6, 1.0, 1.0)));
        method.renew_all_lists(&particles);
        let (most, across) = if can_flow { (0.8, 1.0) } else { (0.6, 0.6) };
        let mut n_seen = 0;
        for i in 0..particles.len() {
            for (&j, facts) in
                method.neighbors.row(i).iter().zip(&method.bond_facts[method.neighbors.range(i)])
            {
                let bond = particles.position[j as usize] - particles.position[i];
                let is_along = |axis: Vec3| bond.cross(axis).length() < 1e-9;
                let shrunk = match (is_along(Vec3::X), is_along(Vec3::Y)) {
                    (true, _) => 0.6,
                    (_, true) => across,
                    _ => continue,
                };
                let room = method.repulsion(facts, i, j as usize).room;
                assert!((room - shrunk * most * a).abs() < 1e-6 * a, "{can_flow} {bond}: {room}");
                n_seen += 1;
            }
        }
        assert!(n_seen > 500, "{n_seen}");
    }
}

/// Checks that the pressure of crowded particles is part of the forces: it pushes a squeezed block apart and leaves a
/// stretched one alone.
#[test]
fn pressure_pushes_a_squeezed_block_apart() {
    let outward = |scale: Real, pressure: Real| {
        let mut particles = lattice([5, 5, 5], 0.1, 0.0);
        let params = Params { pressure, repulsion: 0.0, ..Params::default() };
        let mut method = build(params, &mut particles);
        deform(&mut method, &mut particles, Mat3::from_diagonal(Vec3::splat(scale)));
        sum_over::<Real, _>(particles.len(), |i| method.force[i].dot(particles.position[i]))
    };
    let (with, without) = (outward(0.9, 0.5), outward(0.9, 0.0));
    assert!(without > 0.0 && with > 1.1 * without, "{with} {without}");
    let (with, without) = (outward(1.1, 0.5), outward(1.1, 0.0));
    assert!(without < 0.0 && (with / without - 1.0).abs() < 1e-12, "{with} {without}");
}

/// Checks that elastic changes of volume beyond the limit decay at the given rate, and smaller ones stay.
#[test]
fn volume_relaxes_at_its_rate() {
    let logarithm = |start: Real, rate: Real| {
        let mut particles = lattice([4, 4, 4], 0.1, 0.0);
        let params = Params { volume_relaxation: rate, ..Params::default() };
        let mut method = build(params, &mut particles);
        let map = Mat3::from_diagonal(Vec3::splat(start.cbrt()));
        method.base.fill(map);
        for _ in 0..100 {
            method.respond(&particles, FlowStep { duration: 1e-3, ..FlowStep::NONE });
            method.keep_flow(&particles.position);
        }
        method.gradient[20].determinant().ln()
    };
    let (start, rate, time): (Real, Real, Real) = (4.0, 5.0, 0.1);
    let expected = start.ln() * (-rate * time).exp();
    let found = logarithm(start, rate);
    assert!((found / expected - 1.0).abs() < 0.01, "{found} {expected}");
    assert!((logarithm(1.2, rate) - 1.2_f64.ln()).abs() < 1e-12, "small changes stay");
    assert!((logarithm(start, 0.0) - start.ln()).abs() < 1e-12);
}

/// Checks that new lists in between change nothing but rounding where a twist is smooth, and that it comes back.
#[test]
fn new_lists_on_the_way_leave_a_twist_as_it_is() {
    let twisted = |renews: bool| {
        let mut particles = lattice([6, 6, 12], 0.1, 0.0);
        let mut method = build(spans(), &mut particles);
        let (start, center) = (particles.position.clone(), vec3(0.3, 0.3, 0.0));
        let mut energies = Vec::new();
        for k in [5, 10, 15, 20, 15, 10, 5, 0] {
            let angle = 0.02 * Real::from(k);
            let turned = |x: &Vec3| Mat3::from_rotation_z(angle * x.z) * (*x - center) + center;
            particles.position = start.iter().map(turned).collect();
            method.forces_at(&particles);
            energies.push(method.elastic_energy(&particles).total());
            if renews {
                method.renew_all_lists(&particles);
                let after = method.elastic_energy(&particles).total();
                let (before, largest) = (energies[energies.len() - 1], energies[energies.len().min(4) - 1]);
                assert!((after - before).abs() < 1e-5 * largest, "{k}: {before} {after}");
            }
        }
        energies
    };
    let (plain, renewed) = (twisted(false), twisted(true));
    let largest = plain[3];
    for (plain, renewed) in plain.iter().zip(&renewed) {
        assert!((plain - renewed).abs() < 1e-3 * largest, "{plain} {renewed}");
    }
    assert!(plain[7] < 1e-12 * largest && renewed[7] < 1e-4 * largest, "{} {}", plain[7], renewed[7]);
}
