//! Tests of the forces against closed forms and differences.

use super::*;
use crate::material::Parameter;
use crate::math::{Mat3, Random, Real, Vec3, double_dot, sum_over, symmetric_part, vec3};
use crate::mls::EvenBonds;
use crate::neighbors::{Neighbors, Points, within_radius};
use crate::particles::Particles;
use std::sync::Arc;

const SPACING: Real = 0.1;
const SUPPORT: Real = 0.25;

/// A lattice of 5³ particles with some noise, with its symmetric lists.
fn block() -> (Particles, Neighbors) {
    let mut random = Random::new(3);
    let cell = |k: usize| vec3((k % 5) as Real, (k / 5 % 5) as Real, (k / 25) as Real) * SPACING;
    let position: Vec<Vec3> = (0..125).map(|k| cell(k) + random.in_cube() * 0.01).collect();
    let neighbors = within_radius(Points::new(&position), |_| SUPPORT).symmetrized();
    let n = position.len();
    let particles = Particles {
        mass: vec![1.0; n],
        volume: vec![SPACING.powi(3); n],
        velocity: vec![Vec3::ZERO; n],
        position,
        ..Particles::default()
    };
    (particles, neighbors)
}

/// Runs a test on the bonds of the block with viscosity 3 Pa s.
fn with_viscosity(test: impl FnOnce(&mut Viscosity, &ViscousBonds<'_, EvenBonds<'_>>, &Particles)) {
    let (particles, neighbors) = block();
    let weights = vec![1.0; neighbors.n_bonds()];
    let viscosity = Parameter::Uniform(3.0);
    let bonds = ViscousBonds {
        bonds: EvenBonds { neighbors: &neighbors, weights: &weights },
        positions: &particles.position,
        volumes: &|i| particles.volume[i],
        viscosity: &viscosity,
        residual_share: 0.2,
    };
    let mut solver = Viscosity::default();
    solver.prepare(&bonds);
    test(&mut solver, &bonds, &particles);
}

fn power(force: &[Vec3], velocity: &[Vec3]) -> Real {
    sum_over(force.len(), |i| force[i].dot(velocity[i]))
}

#[test]
fn even_shear_dissipates_what_viscosity_says() {
    with_viscosity(|solver, bonds, particles| {
        let gradient = Mat3::from_cols(vec3(0.4, 0.1, 0.0), vec3(2.0, -0.3, 0.5), vec3(0.0, 0.2, 0.7));
        let velocity: Vec<Vec3> = particles.position.iter().map(|&x| gradient * x).collect();
        let rate = symmetric_part(gradient);
        let volume: Real = particles.volume.iter().sum();
        let expected = -2.0 * 3.0 * volume * double_dot(rate, rate);
        let found = power(solver.forces(bonds, &velocity), &velocity);
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
        // rigid motion meets no resistance
        let turning: Vec<Vec3> = particles.position.iter().map(|x| Vec3::Y.cross(*x) + Vec3::X).collect();
        let most = solver.forces(bonds, &turning).iter().map(|f| f.length()).fold(0.0, Real::max);
        assert!(most < 1e-12, "{most}");
    });
}

#[test]
fn viscous_forces_are_symmetric_and_damp_what_the_fit_cannot_see() {
    with_viscosity(|solver, bonds, particles| {
        let mut random = Random::new(8);
        let mut noise = || -> Vec<Vec3> { (0..particles.len()).map(|_| random.in_cube()).collect() };
        let (a, b) = (noise(), noise());
        let (ab, ba) = (power(solver.forces(bonds, &a), &b), power(solver.forces(bonds, &b), &a));
        assert!((ab - ba).abs() < 1e-9 * ab.abs(), "K is symmetric: {ab} {ba}");
        let total: Vec3 = solver.forces(bonds, &a).iter().sum();
        assert!(total.length() < 1e-10, "{total}");
        let with_residuals = power(solver.forces(bonds, &a), &a);
        let plain = ViscousBonds { residual_share: 0.0, bonds: bonds.bonds, ..*bonds };
        solver.prepare(&plain);
        let without = power(solver.forces(&plain, &a), &a);
        assert!(with_residuals < 1.2 * without && without < 0.0, "{with_residuals} {without}");
    });
}

#[test]
fn implicit_viscosity_solves_its_equation_and_keeps_momentum() {
    with_viscosity(|solver, bonds, particles| {
        let mut random = Random::new(5);
        let before: Vec<Vec3> = (0..particles.len()).map(|_| random.in_cube()).collect();
        let (mut after, time_step) = (before.clone(), 5.0);
        let first = solver.forces(bonds, &before).to_vec();
        let solved = solver.solve(bonds, &particles.mass, |_| (), time_step, &mut after);
        assert!(solved.converged && solved.iterations > 1, "{solved:?}");
        let force = solver.forces(bonds, &after).to_vec();
        let miss: Vec<Vec3> =
            (0..before.len()).map(|i| before[i] - after[i] + force[i] * time_step).collect();
        let (miss, impulse) = (power(&miss, &miss).sqrt(), power(&first, &first).sqrt() * time_step);
        assert!(miss < 0.03 * impulse, "{miss} of {impulse}");
        let gained: Vec3 = after.iter().zip(&before).map(|(a, b)| *a - *b).sum();
        assert!(gained.length() < 1e-10, "{gained}");
        assert!(power(&after, &after) < 0.9 * power(&before, &before));
    });
}

#[test]
fn sph_viscosity_acts_along_every_bond_by_its_conductance() {
    let positions = vec![Vec3::ZERO, Vec3::X * 0.1];
    let neighbors = within_radius(Points::new(&positions), |_| SUPPORT).symmetrized();
    let weights = vec![1.0; neighbors.n_bonds()];
    let bonds = EvenBonds { neighbors: &neighbors, weights: &weights };
    let mut viscosity = SphViscosity::default();
    let volume = [1e-3, 2e-3];
    viscosity.prepare(&bonds, |_, _, _| 0.1, &[SUPPORT; 2], &volume, &Parameter::Uniform(4.0));
    let velocity = [vec3(0.0, 1.0, 0.0), Vec3::ZERO];
    let force = viscosity.forces(&bonds, &velocity).to_vec();
    // both directed bonds of the pair have half of its conductance
    let expected = 4.0 * volume[0] * volume[1] * crate::kernels::viscosity_laplacian(0.1, SUPPORT);
    assert!((force[0].y / -expected - 1.0).abs() < 1e-6, "{} {expected}", force[0].y);
    assert_eq!(force[0], -force[1]);
}

/// Pressure of crowded particles: nothing at rest or stretched, and outwards, without a total, when squeezed.
#[test]
fn sph_pressure_only_pushes_and_grows_with_the_crowding() {
    let (mut particles, neighbors) = block();
    let support = vec![SUPPORT; particles.len()];
    let rest = particles.position.clone();
    let mut pressure = SphPressure::default();
    pressure.find_rest_density(&neighbors, &particles, &support);
    let mut virial = |scale: Real| {
        particles.position = rest.iter().map(|&x| x * scale).collect();
        let mut force = vec![Vec3::ZERO; particles.len()];
        pressure.add_forces(&neighbors, &particles, &support, |_| 1e4, &mut force);
        let total: Vec3 = force.iter().sum();
        assert!(total.length() < 1e-9, "{total}");
        power(&force, &particles.position)
    };
    let (stretched, squeezed, more) = (virial(1.2), virial(0.95), virial(0.9));
    assert_eq!(stretched, 0.0);
    assert!(squeezed > 0.1 && more > 1.2 * squeezed, "{squeezed} {more}");
}

#[test]
fn fields_act_in_their_time_and_drag_decays() {
    let matrix = Mat3::from_diagonal(vec3(4.0, 0.0, 0.0));
    let field = |field: Field, from: Real, until: Real| ForceField { field, from, until };
    let law = Arc::new(|point: FieldPoint| point.velocity * point.time);
    let all = [
        ForceField::always(Field::Uniform(Vec3::Z)),
        field(Field::Linear { matrix, center: Vec3::X }, 1.0, 2.0),
        ForceField::always(Field::Drag(0.5)),
        field(Field::Custom(law), 2.0, Real::INFINITY),
    ];
    let at = |time: Real| Fields { gravity: vec3(0.0, -9.81, 0.0), fields: &all, time };
    let (x, v) = (vec3(3.0, 0.0, 0.0), vec3(0.0, 1.0, 0.0));
    assert_eq!(at(0.0).acceleration(x, v), vec3(0.0, -9.81, 1.0));
    assert_eq!(at(1.0).acceleration(x, v), vec3(8.0, -9.81, 1.0));
    assert!(at(2.0).acceleration(x, v).distance(vec3(0.0, -7.81, 1.0)) < 1e-12);
    assert!((at(0.0).decay(2.0) - (-1.0_f64).exp()).abs() < 1e-15);
    assert_eq!((at(0.0).largest_step(), at(1.5).largest_step()), (Real::INFINITY, 0.5));
}
