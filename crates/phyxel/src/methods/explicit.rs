//! What the steps of explicit methods are made of: kicks, drifts, meeting obstacles and grips, viscosity; and the highest
//! frequency, which limits such steps.

use super::StepContext;
use crate::contact::Contacts;
use crate::forces::Damping;
use crate::linear::Solved;
use crate::math::{Random, Real, Vec3, max_over, sum_over};
use crate::particles::Particles;
use rayon::prelude::*;

/// v ← v + Δt (f/m + g).
pub(super) fn kick(particles: &mut Particles, ctx: &mut StepContext<'_>, force: &[Vec3], duration: Real) {
    let StepContext { timings, fields, .. } = ctx;
    let decay = fields.decay(duration);
    timings.stage("integrate", || {
        let Particles { position, velocity, mass, .. } = particles;
        velocity.par_iter_mut().with_min_len(512).enumerate().for_each(|(i, v)| {
            // drag first: what holds a particle must not feel drag on a motion that it prevents
            *v = *v * decay + (force[i] / mass[i] + fields.acceleration(position[i], *v)) * duration;
        });
    });
}

/// What touches obstacles or is held gets its velocity from them. Comes last before particles move, after everything
/// that changes velocities: else friction would creep.
pub(super) fn meet(
    particles: &mut Particles,
    ctx: &mut StepContext<'_>,
    settle: impl FnOnce(&mut Contacts<'_>, &mut Particles),
) {
    let StepContext { timings, contacts, grips, .. } = ctx;
    timings.stage("contact", || {
        settle(contacts, particles);
        grips.lead_velocities(particles);
    });
}

/// As [`meet`], before particles move.
pub(super) fn meet_before_moving(particles: &mut Particles, ctx: &mut StepContext<'_>) {
    meet(particles, ctx, |contacts, particles| contacts.settle_before_moving(particles));
}

/// As [`meet`], after the last kick.
pub(super) fn meet_after_kick(particles: &mut Particles, ctx: &mut StepContext<'_>) {
    meet(particles, ctx, |contacts, particles| contacts.settle(particles));
}

/// x ← x + Δt v, then out of obstacles and to the grips.
pub(super) fn drift(particles: &mut Particles, ctx: &mut StepContext<'_>) {
    let StepContext { timings, contacts, grips, time_step, .. } = ctx;
    timings.stage("integrate", || {
        let Particles { position, velocity, .. } = particles;
        position
            .par_iter_mut()
            .zip(velocity.par_iter())
            .with_min_len(512)
            .for_each(|(x, v)| *x += *v * *time_step);
    });
    timings.stage("contact", || {
        contacts.resolve(particles);
        grips.place(particles);
    });
}

/// Implicit viscosity over a duration; held particles move with their grips, which take the viscous impulse.
pub(super) fn damp(
    damping: &mut impl Damping,
    velocity: &mut [Vec3],
    mass: &[Real],
    ctx: &mut StepContext<'_>,
    duration: Real,
) -> Solved {
    let StepContext { timings, grips, .. } = ctx;
    timings.stage("viscosity", || {
        let momentum = |velocity: &[Vec3]| sum_over::<Vec3, _>(mass.len(), |i| velocity[i] * mass[i]);
        let before = grips.hold_anything().then(|| momentum(velocity));
        let free =
            |inverse_mass: &mut [Vec3]| grips.visit_held(|i, held| inverse_mass[i] *= Vec3::ONE - held);
        let solved = damping.solve(mass, free, duration, velocity);
        if let Some(before) = before {
            let gained = momentum(velocity) - before;
            let force = damping.forces(velocity);
            grips.book(gained, |i| force[i] * -duration);
        }
        solved
    })
}

/// Power iterations for the highest frequency; they end a few per cent below the true one.
const POWER_ITERATIONS: usize = 50;
/// What the iteration may miss of the highest frequency.
pub(super) const MISSED: Real = 0.05;
/// Probing displacement over the smallest support: strains small enough to be linear, large enough for round-off.
const PROBE: Real = 1e-6;

/// Highest frequency [rad/s] of small vibrations about positions without force, and the particle that shakes most in it: power
/// iteration on M⁻¹ ∂f/∂x by differences of the method's own forces.
pub(super) fn highest_frequency(
    rest: &[Vec3],
    mass: &[Real],
    smallest_support: Real,
    mut forces_at: impl FnMut(&[Vec3], &mut [Vec3]),
) -> (Real, usize) {
    let n = rest.len();
    let mut random = Random::new(2004);
    let mut mode: Vec<Vec3> = (0..n).map(|_| random.in_cube()).collect();
    let (mut shifted, mut force) = (rest.to_vec(), vec![Vec3::ZERO; n]);
    let size = smallest_support * PROBE;
    let mut squared = 0.0;
    for _ in 0..POWER_ITERATIONS {
        shifted.par_iter_mut().enumerate().for_each(|(i, x)| *x = rest[i] + mode[i] * size);
        forces_at(&shifted, &mut force);
        let before: Real = sum_over(n, |i| mode[i].length_squared());
        mode.par_iter_mut().enumerate().for_each(|(i, v)| *v = -force[i] / (mass[i] * size));
        let after: Real = sum_over(n, |i| mode[i].length_squared());
        squared = (after / before).sqrt();
        let largest = max_over(n, |i| mode[i].length()).map_or(1.0, |m| m.0).max(Real::MIN_POSITIVE);
        mode.par_iter_mut().for_each(|v| *v /= largest);
    }
    (squared.sqrt(), max_over(n, |i| mode[i].length()).map_or(0, |m| m.1))
}
