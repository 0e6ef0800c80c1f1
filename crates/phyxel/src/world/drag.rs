//! A hand that pulls a particle towards a point: a damped spring acts on the particles around it.
//!
//! The force does not depend on the method that drives the body: the method takes the impulses at the beginning of each
//! step.
//!   F = −k limited(x_p − t) − c V − c' (v̄ − V), |F| ≤ F_max    a_i = w_i F/m
//!   w_i = 1 − (r_i/R)² weight of particle i at distance r_i from the dragged one, R radius of the hand (1)
//!   m = Σ w_i m_i (kg)   M mass of the body (kg)   x_p dragged particle, t target (m)
//!   v̄ mean velocity of the hand's particles weighted by w_i m_i, V mean velocity of the body (m/s)
//! F_max lets the hand lift and throw the body, but not tear it: it is the smaller of a few times the body's weight and
//! the force of a moderate strain over the hand's area. It is reached at a distance of R, hence k = F_max/R; farther
//! targets pull no harder. Both the body as a whole (c = 2ζ√(k M)) and the hand's particles relative to the body
//! (c' = 2ζ√(k m)) are damped with the ratio ζ.

use super::World;
use crate::material::Property;
use crate::math::{Real, Vec3, cbrt, sum_over};
use crate::particles::{BODIES, Carry, Particles, StateData, StateItem, StateVisitor};
use rayon::prelude::*;
use std::f64::consts::PI;

/// Name of the set of pulled particles, in checkpoints.
const PULLS: &str = "pulls";
/// Lower limit of the hand's radius (spacings).
const SPACINGS: Real = 4.0;
/// Lower limit of the hand's radius as a fraction of the body's size (the cube root of its volume): so the pull does
/// not depend on the number of particles.
const SHARE: Real = 0.5;
/// Largest force divided by the body's mass: about four times its weight on earth (m/s²).
pub(super) const LARGEST_ACCELERATION: Real = 40.0;
/// Largest force divided by Young's modulus and the hand's area. Twice as much pulls pieces out of a block with the
/// incremental method, which has no rest shape that holds the block together.
const LARGEST_STRAIN: Real = 0.15;
/// Damping ratio ζ: a pulled body settles almost without oscillation.
const DAMPING: Real = 0.7;
/// Largest displacement of the hand's particles by the hand in one step, as a fraction of their spacing.
const MOTION_PER_STEP: Real = 0.25;
/// Largest step as a fraction of the spring's period divided by 2π.
const STEP_PER_RADIAN: Real = 0.5;

/// Pulled particle and its target.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pull {
    /// Id of the dragged particle.
    pub(super) id: u32,
    /// Index of its body.
    pub(super) body: u32,
    /// Point towards which the particle is pulled (m).
    pub(super) target: Vec3,
    /// Last known position of the particle (m).
    pub(super) position: Vec3,
}

/// Visits the state of the pull. It is a list of none or one, so that a checkpoint can store both cases.
pub(super) fn visit_pull(pull: &mut Vec<Pull>, visitor: &mut dyn StateVisitor) {
    let mut id: Vec<u32> = pull.iter().map(|p| p.id).collect();
    let mut body: Vec<u32> = pull.iter().map(|p| p.body).collect();
    let mut target: Vec<Vec3> = pull.iter().map(|p| p.target).collect();
    let mut position: Vec<Vec3> = pull.iter().map(|p| p.position).collect();
    let mut item = |name, unit, carry, data| visitor.visit(StateItem { name, unit, set: PULLS, carry, data });
    item("dragged_id", "1", Carry::Copy, StateData::Integers(&mut id));
    item("dragged_body", "1", Carry::Index(BODIES), StateData::Integers(&mut body));
    item("drag_target", "m", Carry::Copy, StateData::Vectors(&mut target));
    item("drag_place", "m", Carry::Copy, StateData::Vectors(&mut position));
    let rows = id.into_iter().zip(body).zip(target.into_iter().zip(position));
    *pull = rows.map(|((id, body), (target, position))| Pull { id, body, target, position }).collect();
}

/// Particles that the hand holds in a step, and the force on them.
#[derive(Clone, Debug)]
pub(super) struct Hand {
    pub(super) group: usize,
    /// Index and weight of each held particle.
    held: Vec<(usize, Real)>,
    /// Weighted mass m of the held particles (kg).
    mass: Real,
    /// Force of the hand (N).
    force: Vec3,
    /// Largest step that the hand allows (s).
    pub(super) largest_step: Real,
}

impl World {
    /// Returns the mean force of the hand on the dragged body since the last call of [`World::advance_to`] (N).
    pub fn drag_force(&self) -> Vec3 {
        let duration = self.time - self.interval.start;
        if duration > 0.0 { self.interval.drag_impulse / duration } else { Vec3::ZERO }
    }

    /// Returns a pull on the particle of the pulled body that is nearest to the last known position; of two equally
    /// near ones, that with the smaller id.
    pub(super) fn nearest(&self, pull: &Pull) -> Option<Pull> {
        let particles = &self.groups[self.group_of(pull.body)?].particles;
        let Particles { body, position, id, .. } = particles;
        let of_body = (0..particles.len()).filter(|&i| body[i] == pull.body);
        let distance = |i: usize| (position[i].distance_squared(pull.position), id[i]);
        let nearer = |a: &usize, b: &usize| {
            let (a, b) = (distance(*a), distance(*b));
            a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
        };
        of_body.min_by(nearer).map(|i| Pull { id: id[i], position: position[i], ..*pull })
    }

    /// Updates the position of the dragged particle; if it has merged into another, the nearest one replaces it.
    pub(super) fn follow_pull(&mut self) {
        let Some(pull) = self.pull.first().copied() else { return };
        let found = self.group_of(pull.body).and_then(|g| {
            let particles = &self.groups[g].particles;
            let index = (0..particles.len()).into_par_iter().find_first(|&i| particles.id[i] == pull.id)?;
            (particles.body[index] == pull.body).then(|| particles.position[index])
        });
        self.pull = match found {
            Some(position) => vec![Pull { position, ..pull }],
            None => self.nearest(&pull).into_iter().collect(),
        };
    }

    /// Returns the action of the hand in the present state; `None` if nothing is dragged.
    pub(super) fn hand(&self) -> Option<Hand> {
        let pull = self.pull.first()?;
        let group = self.group_of(pull.body)?;
        let Particles { id, body, position, velocity, mass, volume, radius, .. } =
            &self.groups[group].particles;
        let n = id.len();
        let own = |i: usize| body[i] == pull.body;
        let of_body = |value: &(dyn Fn(usize) -> Real + Sync)| {
            sum_over::<Real, _>(n, |i| if own(i) { value(i) } else { 0.0 })
        };
        let (body_mass, body_volume) = (of_body(&|i| mass[i]), of_body(&|i| volume[i]));
        let momentum: Vec3 = sum_over(n, |i| if own(i) { velocity[i] * mass[i] } else { Vec3::ZERO });
        let index = (0..n).into_par_iter().find_first(|&i| id[i] == pull.id)?;
        let spacing = 2.0 * radius[index];
        let reach = (SPACINGS * spacing).max(SHARE * cbrt(body_volume));
        let weight = |i: usize| {
            let weight = 1.0 - position[i].distance_squared(position[index]) / (reach * reach);
            (own(i) && weight > 0.0).then_some((i, weight))
        };
        let held: Vec<(usize, Real)> = (0..n).into_par_iter().with_min_len(1024).filter_map(weight).collect();
        let hand_mass: Real = held.iter().map(|&(i, w)| w * mass[i]).sum();
        let hand_velocity =
            held.iter().fold(Vec3::ZERO, |sum, &(i, w)| sum + velocity[i] * (w * mass[i])) / hand_mass;
        let body_velocity = momentum / body_mass;
        let stiffest = self.materials[pull.body as usize][Property::YoungsModulus].range().1;
        let largest_force =
            (LARGEST_ACCELERATION * body_mass).min(LARGEST_STRAIN * stiffest * PI * reach * reach);
        let stiffness = largest_force / reach;
        let spring = ((pull.target - position[index]) * stiffness).clamp_length_max(largest_force);
        let damping = |mass: Real| 2.0 * DAMPING * (stiffness * mass).sqrt();
        let force = spring
            - body_velocity * damping(body_mass)
            - (hand_velocity - body_velocity) * damping(hand_mass);
        let by_spring = STEP_PER_RADIAN * (hand_mass / stiffness).sqrt();
        let by_motion = (MOTION_PER_STEP * spacing * hand_mass / largest_force).sqrt();
        Some(Hand {
            group,
            held,
            mass: hand_mass,
            force: force.clamp_length_max(largest_force),
            largest_step: by_spring.min(by_motion),
        })
    }

    /// Gives the hand's impulse of one step to the held particles.
    pub(super) fn pull_by_hand(&mut self, hand: &Hand, time_step: Real) {
        let particles = &mut self.groups[hand.group].particles;
        let gained = hand.force * (time_step / hand.mass);
        for &(i, weight) in &hand.held {
            let change = gained * weight;
            particles.push(i, change * particles.mass[i]);
            self.books.hand_work += particles.mass[i] * change.dot(particles.velocity[i] + change * 0.5);
        }
        self.interval.drag_impulse += hand.force * time_step;
    }
}
