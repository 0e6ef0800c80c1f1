//! Response of explicit steps to other bodies: pairs of particles exchange impulses (Gauss-Seidel with a warm start).

use super::Phase;
use crate::contact::{AllGroups, BodyContactStep, Pair, Shift};
use crate::math::{Real, Vec3};
use crate::particles::Particles;

/// Number of sweeps over the pairs, alternately forwards and backwards.
const SWEEPS: usize = 4;
/// Overlap up to which nothing is corrected (touching distances).
const LEFT: Real = 0.01;
/// Time in which larger overlaps are removed (s).
const PARTING_TIME: Real = 0.01;
/// Largest fraction of an overlap that one step removes.
const MOST_PARTED: Real = 0.2;

/// Changes velocities and, after moving, positions of the pairs that have a particle in the stepped group. `has_begun`
/// is true if this phase has already been handled in this step.
pub(super) fn respond(
    bodies: &mut BodyContactStep<'_>,
    particles: &mut Particles,
    phase: Phase,
    has_begun: bool,
    time_step: Real,
    pushes: &mut Vec<Shift>,
) {
    let (pairs, outward, mut all) = bodies.parts(particles);
    if phase == Phase::AfterMoving {
        for pair in pairs.iter_mut() {
            pair.meet(&all, outward, true, time_step);
            part(pair, &mut all, time_step, pushes);
        }
        return;
    }
    if phase == Phase::BeforeMoving && !has_begun {
        pairs.iter_mut().for_each(|pair| pair.meet(&all, outward, false, time_step));
    }
    if !has_begun {
        pairs.iter_mut().for_each(|pair| guess(pair, &mut all, phase));
    }
    for sweep in 0..SWEEPS {
        if sweep % 2 == 0 {
            pairs.iter_mut().for_each(|pair| exchange(pair, &mut all, time_step));
        } else {
            pairs.iter_mut().rev().for_each(|pair| exchange(pair, &mut all, time_step));
        }
    }
    pairs.iter_mut().for_each(|pair| keep(pair, phase));
    // the holder of a particle takes the impulse: after this, the particle is led back and the impulse recorded
    pairs.iter_mut().for_each(|pair| hand_to_holders(pair, &mut all));
}

/// Starts with the impulses that the last step needed at this pair. If the pair joins two groups, each group takes its
/// half in its own step, together with its own kick; otherwise bodies in balance would tremble.
fn guess(pair: &mut Pair, all: &mut AllGroups<'_, '_>, phase: Phase) {
    if !pair.is_own {
        return;
    }
    let at = phase_index(phase);
    let is_first = all.is_own(pair.a);
    // the second group only continues an exchange that the first group has begun
    let has_guess = pair.is_met && (is_first || pair.exchange.is_begun[at]);
    let (pushed, dragged) = if has_guess { pair.exchange.last[at] } else { (0.0, Vec3::ZERO) };
    pair.exchange.is_begun[at] = is_first;
    let dragged = dragged - pair.normal * dragged.dot(pair.normal);
    (pair.exchange.pushed, pair.exchange.dragged, pair.exchange.handed) = (pushed, dragged, Vec3::ZERO);
    let impulse = pair.normal * pushed + dragged;
    match (all.is_own(pair.a), all.is_own(pair.b)) {
        (true, true) => pair.give(all, impulse),
        (true, false) => {
            pair.exchange.owed[at] = impulse;
            pair.give_one(all, 0, impulse);
        }
        _ => pair.pay(all, at),
    }
}

/// Stores the impulses of this step for the next one.
fn keep(pair: &mut Pair, phase: Phase) {
    if pair.is_own {
        let exchange = &mut pair.exchange;
        let kept = if pair.is_met { (exchange.pushed, exchange.dragged) } else { (0.0, Vec3::ZERO) };
        exchange.last[phase_index(phase)] = kept;
    }
}

/// Exchanges impulses that keep the two particles from coming nearer than touching within the step, with Coulomb
/// friction across.
#[inline]
fn exchange(pair: &mut Pair, all: &mut AllGroups<'_, '_>, time_step: Real) {
    if !(pair.is_met && pair.is_own) {
        return;
    }
    let n = pair.normal;
    let [at_a, at_b] = pair.mobility;
    let relative = all.velocity(pair.a) - all.velocity(pair.b);
    let ease = n.dot((at_a + at_b) * n);
    if ease <= 0.0 {
        return;
    }
    // the surfaces may touch at the end of the step, but not overlap
    let allowed = -pair.gap.max(0.0) / time_step;
    let before = pair.exchange;
    let pushed = (before.pushed + (allowed - relative.dot(n)) / ease).max(0.0);
    if pushed == 0.0 && before.pushed == 0.0 {
        return;
    }
    let mut impulse = n * (pushed - before.pushed);
    let sliding = relative + (at_a + at_b) * impulse;
    let sliding = sliding - n * sliding.dot(n);
    let along = sliding.normalize_or_zero();
    let ease = along.dot((at_a + at_b) * along).max(Real::MIN_POSITIVE);
    let stopped = before.dragged - sliding / ease;
    let dragged = stopped.clamp_length_max(pair.friction * pushed);
    impulse += dragged - before.dragged;
    (pair.exchange.pushed, pair.exchange.dragged) = (pushed, dragged);
    pair.give(all, impulse);
}

/// Removes part of an overlap: each particle moves according to its mass, in the step of its own group.
fn part(pair: &mut Pair, all: &mut AllGroups<'_, '_>, time_step: Real, pushes: &mut Vec<Shift>) {
    if !(pair.is_met && pair.is_own) {
        return;
    }
    let touch = all.radius(pair.a) + all.radius(pair.b);
    let apart = all.position(pair.a, true, time_step) - all.position(pair.b, true, time_step);
    pair.gap = apart.dot(pair.normal) + pair.beyond - touch;
    let excess = -pair.gap - LEFT * touch;
    let [at_a, at_b] = pair.mobility;
    let ease = pair.normal.dot((at_a + at_b) * pair.normal);
    if excess <= 0.0 || ease <= 0.0 {
        return;
    }
    let parted = excess * pair.overlay * (time_step / PARTING_TIME).min(MOST_PARTED);
    let push = pair.normal * (parted / ease);
    for (k, shift) in [(pair.a, push * at_a), (pair.b, -push * at_b)] {
        // particles of other groups stay: they move by their share in their own step
        if all.is_own(k) {
            let (particles, i) = all.own_mut(k);
            particles.position[i] += shift;
            pushes.push(Shift { particle: i as u32, by: shift, beyond_velocity: shift, led: 0.0 });
        }
    }
    pair.gap += parted;
}

/// Gives held particles of the stepped group the part of the impulse that did not change their velocity.
fn hand_to_holders(pair: &mut Pair, all: &mut AllGroups<'_, '_>) {
    if !pair.is_own {
        return;
    }
    let total = pair.normal * pair.exchange.pushed + pair.exchange.dragged;
    let impulse = total - std::mem::replace(&mut pair.exchange.handed, total);
    for (k, mobility, sign) in [(pair.a, pair.mobility[0], 1.0), (pair.b, pair.mobility[1], -1.0)] {
        if all.is_own(k) && mobility.min_element() == 0.0 {
            let (particles, i) = all.own_mut(k);
            let kept_back = Vec3::splat(1.0 / particles.mass[i]) - mobility;
            particles.velocity[i] += kept_back * impulse * sign;
        }
    }
}

fn phase_index(phase: Phase) -> usize {
    usize::from(phase == Phase::AfterKick)
}
