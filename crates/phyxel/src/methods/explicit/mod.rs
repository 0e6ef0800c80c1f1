//! Building blocks of explicit steps: kicks, drifts, response to contact and grips, viscosity, and the highest
//! frequency, which limits such steps.

mod bodies;
mod frequency;
mod obstacles;

pub(super) use frequency::{MISSED, highest_frequency, stiffening};

use super::StepContext;
use crate::contact::{Contacts, Phase, Shift};
use crate::forces::Damping;
use crate::linear::Solved;
use crate::math::{Mat3, Real, Vec3, sum_over};
use crate::particles::Particles;
use rayon::prelude::*;

/// Quantity that viscosity acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViscosityModel {
    /// The rate of strain: true shear viscosity, which does not brake rigid motion.
    StrainRate,
    /// Differences of velocity, as in SPH: also brakes rotation.
    Sph,
}

/// Applies forces and fields to the velocities: v ← v + Δt (f/m + g). A step has one or two kicks: the first before
/// [`drift`], with the forces that `drift` gets, too; the second after it.
pub fn kick(particles: &mut Particles, ctx: &mut StepContext<'_>, force: &[Vec3], duration: Real) {
    let StepContext { timings, fields, work, contacts, time_step, .. } = ctx;
    let decay = fields.decay(duration);
    timings.stage("integrate", || {
        if work.is_booked {
            work.book(particles, fields, force, duration);
            let (share, shift) = (duration / *time_step, |shift: &Shift| shift.beyond_velocity);
            *contacts.work += work.book_shifts(particles, fields, force, contacts.pushes, share, shift);
        } else {
            work.kicked = duration;
        }
        let Particles { position, velocity, mass, .. } = particles;
        velocity.par_iter_mut().with_min_len(512).enumerate().for_each(|(i, v)| {
            // drag first: a grip or contact must not feel the drag of a motion that it prevents
            *v = *v * decay + (force[i] / mass[i] + fields.acceleration(position[i], *v)) * duration;
        });
    });
}

/// Gives particles that touch something or are held the velocity that contacts and grips allow. Call it last before
/// particles move, after everything that changes velocities; otherwise friction would creep. It may be called several
/// times: all calls of a step share one friction cone.
pub fn meet_before_moving(particles: &mut Particles, ctx: &mut StepContext<'_>) {
    meet(particles, ctx, Phase::BeforeMoving);
}

/// Does the same as [`meet_before_moving`], after a kick at the end of the step.
pub fn meet_after_kick(particles: &mut Particles, ctx: &mut StepContext<'_>) {
    meet(particles, ctx, Phase::AfterKick);
}

/// Lets particles that touch obstacles slide by what they flow, given the rate of plastic strain of each (1/s). Call it
/// before [`meet_after_kick`].
pub fn slip(particles: &Particles, ctx: &mut StepContext<'_>, rate: impl Fn(usize) -> Mat3 + Sync) {
    let StepContext { timings, contacts, .. } = ctx;
    timings.stage("contact", || obstacles::slip(contacts, particles, rate));
}

fn meet(particles: &mut Particles, ctx: &mut StepContext<'_>, phase: Phase) {
    let StepContext { timings, contacts, grips, .. } = ctx;
    timings.stage("contact", || {
        respond(contacts, particles, phase);
        grips.lead_velocities(particles);
    });
}

/// Handles bodies, then obstacles, which do not give way. Particles pressed between both need a second round.
fn respond(contacts: &mut Contacts<'_>, particles: &mut Particles, phase: Phase) {
    let is_near = contacts.bodies.is_near();
    let is_between = is_near && !contacts.obstacles.is_empty();
    let rounds = if is_between && phase != Phase::AfterMoving { 2 } else { 1 };
    for _ in 0..rounds {
        if is_near {
            let has_begun = contacts.phase.replace(phase) == Some(phase);
            let (time_step, pushes) = (contacts.time_step, &mut *contacts.pushes);
            bodies::respond(&mut contacts.bodies, particles, phase, has_begun, time_step, pushes);
        }
        obstacles::respond(contacts, particles, phase);
    }
}

/// Moves particles, x ← x + Δt v, then pushes them out of obstacles and places held ones at their grips. The work of the
/// forces, those of the first kick, is recorded.
pub fn drift(particles: &mut Particles, ctx: &mut StepContext<'_>, force: &[Vec3]) {
    let StepContext { timings, contacts, grips, time_step, fields, work, .. } = ctx;
    timings.stage("integrate", || {
        work.book(particles, fields, force, work.kicked);
        let Particles { position, velocity, .. } = particles;
        position
            .par_iter_mut()
            .zip(velocity.par_iter())
            .with_min_len(512)
            .for_each(|(x, v)| *x += *v * *time_step);
    });
    timings.stage("contact", || {
        contacts.pushes.clear();
        respond(contacts, particles, Phase::AfterMoving);
        let share = work.kicked / *time_step;
        *contacts.work +=
            work.book_shifts(particles, fields, force, contacts.pushes, share, |shift| shift.by);
        grips.place(particles);
    });
}

/// Applies implicit viscosity over a duration. Held particles move with their grips, which take the viscous impulse.
pub fn damp(
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
