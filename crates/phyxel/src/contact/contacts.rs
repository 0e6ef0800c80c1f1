//! The contact service of a step: answers what particles meet, and books the impulses that pass. How a step responds is the step's
//! own business.

use super::bodies::{BodyContactStep, Exchange, free_axes};
use super::{Contact, Friction, PosedObstacle};
use crate::math::{CHUNK, Real, Vec3};
use crate::particles::Particles;
use rayon::prelude::*;

/// Times in an explicit step at which contacts are met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    BeforeMoving,
    AfterMoving,
    AfterKick,
}

/// In [`Contacts::touching`]: touches nothing, touches something, or (from here on) is held by obstacle number value − STUCK.
pub(crate) const TOUCHES_NOTHING: u32 = 0;
pub(crate) const TOUCHES: u32 = 1;
pub(crate) const STUCK: u32 = 2;

/// Impulses between one body and one obstacle or other body, summed up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch {
    pub(crate) body: u32,
    pub(crate) other: usize,
    /// On the body (N s).
    pub(crate) impulse: Vec3,
    /// The same about the origin (N s m).
    pub(crate) angular: Vec3,
    /// Σ |impulse| x, and Σ |impulse|. (N s m, N s)
    pub(crate) moment: Vec3,
    pub(crate) weight: Real,
}

impl Touch {
    /// Adds an impulse at a place to a list with one entry for each body and what it touches.
    pub(crate) fn add(all: &mut Vec<Self>, body: u32, other: usize, impulse: Vec3, place: Vec3) {
        let weight = impulse.length();
        let (angular, moment) = (place.cross(impulse), place * weight);
        let one = Self { body, other, impulse, angular, moment, weight };
        Self::merge(all, one);
    }

    /// Adds an entry to a list. The last ones are looked at first: particles lie in memory body by body.
    pub(crate) fn merge(all: &mut Vec<Self>, one: Self) {
        match all.iter_mut().rev().find(|t| t.body == one.body && t.other == one.other) {
            Some(touch) => {
                touch.impulse += one.impulse;
                touch.angular += one.angular;
                touch.moment += one.moment;
                touch.weight += one.weight;
            }
            None => all.push(one),
        }
    }
}

/// The obstacles and other bodies of a step, for the particles of one group.
pub struct Contacts<'a> {
    pub(crate) obstacles: &'a [PosedObstacle],
    pub(crate) time_step: Real,
    /// Which particles touch something, or stick to which obstacle; kept from step to step.
    pub(crate) touching: &'a mut Vec<u32>,
    /// Velocity change that contacts have given each particle before it moves; scratch of one explicit step (m/s).
    pub(crate) given: &'a mut Vec<Vec3>,
    /// The last phase that was responded to; scratch of one explicit step.
    pub(crate) phase: Option<Phase>,
    /// Impulse on the bodies, by obstacle (N s).
    pub(crate) impulses: &'a mut [Vec3],
    /// The same by body and obstacle.
    pub(crate) touches: &'a mut Vec<Touch>,
    /// Pairs with other bodies.
    pub(crate) bodies: BodyContactStep<'a>,
}

/// The other side of a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Other {
    /// The obstacle of this number.
    Obstacle(usize),
    /// A particle of the stepped group, by its index.
    Own(usize),
    /// A particle of another group; it takes up what is booked for it at its next step.
    Foreign,
}

/// One contact of one particle in a step. A particle with the velocity v ends the step at the distance
/// gap + Δt (v − surface_velocity)·normal from the other side.
#[derive(Clone, Copy, Debug)]
pub struct ContactRow {
    /// Index in the stepped group.
    pub particle: usize,
    /// The other side.
    pub other: Other,
    /// Distance of the surfaces at the start of the step, along the normal; negative if they overlap (m).
    pub gap: Real,
    /// Unit vector, away from the other side.
    pub normal: Vec3,
    /// Velocity of the other side (m/s).
    pub surface_velocity: Vec3,
    /// Resistance to sliding. [`Friction::Stick`] holds in all directions.
    pub friction: Friction,
    /// 1/m of the other side, by axis: 0 for what does not give way (1/kg).
    pub other_mobility: Vec3,
    /// Impulse to begin with: what this contact needed in the last step (N s).
    pub guess: Vec3,
    /// True if the guess was given to both sides before this step: then the particle's velocity contains it already.
    pub is_guess_given: bool,
    /// Number of the pair of particles.
    pair: usize,
}

impl Contacts<'_> {
    /// Number of obstacles.
    pub fn n_obstacles(&self) -> usize {
        self.obstacles.len()
    }

    /// The contact of a point with an obstacle, if its surface is nearer than `reach`.
    pub fn query(&self, obstacle: usize, point: Vec3, reach: Real) -> Option<Contact> {
        self.obstacles[obstacle].query(point, reach, self.time_step)
    }

    /// True if a particle is held by a sticky obstacle.
    pub fn is_stuck(&self, particle: usize) -> bool {
        self.touching.get(particle).is_some_and(|mark| *mark >= STUCK)
    }

    /// Appends the contacts of particles that go straight from where they are to `ends`: what they would touch on the way, or come
    /// nearer to than `reach` at the end. In a fixed order; obstacles first (m).
    pub fn rows(
        &mut self,
        particles: &mut Particles,
        ends: &[Vec3],
        reach: Real,
        rows: &mut Vec<ContactRow>,
    ) {
        self.obstacle_rows(particles, ends, reach, rows);
        let time_step = self.time_step;
        let (pairs, outward, all) = self.bodies.parts(particles);
        for (number, pair) in pairs.iter_mut().enumerate() {
            pair.meet(&all, outward, false, time_step);
            if !pair.is_own {
                continue;
            }
            let is_first = all.is_own(pair.a);
            let guess = match is_first {
                true => pair.last_impulse(),
                // held axes did not get it
                false => pair.last_impulse() * free_axes(pair.mobility[1]),
            };
            // what this group gives is what the other one begins with
            if is_first {
                pair.exchange = Exchange { is_begun: [true; 2], ..Exchange::default() };
            }
            if pair.is_met {
                let (own, other, sign) =
                    if is_first { (pair.a, pair.b, 1.0) } else { (pair.b, pair.a, -1.0) };
                rows.push(ContactRow {
                    particle: all.index(own),
                    other: if all.is_own(other) { Other::Own(all.index(other)) } else { Other::Foreign },
                    gap: pair.gap,
                    normal: pair.normal * sign,
                    surface_velocity: all.velocity(other),
                    friction: Friction::Coulomb(pair.friction),
                    other_mobility: pair.mobility[usize::from(is_first)],
                    guess: guess * sign,
                    is_guess_given: !is_first,
                    pair: number,
                });
            }
        }
    }

    fn obstacle_rows(&self, particles: &Particles, ends: &[Vec3], reach: Real, rows: &mut Vec<ContactRow>) {
        let Particles { position, contact_radius, .. } = particles;
        let of_one = |i: usize, rows: &mut Vec<ContactRow>| {
            let mark = self.touching.get(i).copied().unwrap_or(TOUCHES_NOTHING);
            let held_by = mark.checked_sub(STUCK).map(|k| k as usize);
            for (k, obstacle) in self.obstacles.iter().enumerate() {
                let mut add = |contact: Contact| {
                    let Contact { gap, normal, surface_velocity, friction } = contact;
                    rows.push(ContactRow {
                        particle: i,
                        other: Other::Obstacle(k),
                        gap,
                        normal,
                        surface_velocity,
                        friction,
                        other_mobility: Vec3::ZERO,
                        guess: Vec3::ZERO,
                        is_guess_given: false,
                        pair: 0,
                    });
                };
                match held_by {
                    Some(holder) if holder != k => {}
                    Some(_) => add(obstacle.holding(position[i], self.time_step)),
                    None => {
                        let way = [position[i], ends[i]];
                        obstacle.sweep(way, contact_radius[i], reach, self.time_step, add);
                    }
                }
            }
        };
        if self.obstacles.is_empty() {
            return;
        }
        let chunks = (0..position.len().div_ceil(CHUNK)).into_par_iter();
        let found: Vec<Vec<ContactRow>> = chunks
            .map(|chunk| {
                let mut rows = Vec::new();
                let all = chunk * CHUNK..((chunk + 1) * CHUNK).min(position.len());
                all.for_each(|i| of_one(i, &mut rows));
                rows
            })
            .collect();
        rows.extend(found.into_iter().flatten());
    }

    /// Books the whole impulse of a contact on its particle (N s), together with what was given before the step. The other side gets the
    /// opposite: obstacles in the ledger, particles of other groups at their next step; particles of the stepped group have it from
    /// their own method. What touches a sticky obstacle stays with it. To be called for all rows, also those without impulse.
    pub fn book(&mut self, particles: &mut Particles, row: &ContactRow, impulse: Vec3) {
        match row.other {
            Other::Obstacle(k) => {
                self.impulses[k] += impulse;
                let (body, place) = (particles.body[row.particle], particles.position[row.particle]);
                Touch::add(self.touches, body, k, impulse, place);
                self.touching.resize(particles.len(), TOUCHES_NOTHING);
                let mark = &mut self.touching[row.particle];
                if row.friction == Friction::Stick && impulse != Vec3::ZERO && *mark < STUCK {
                    *mark = STUCK + k as u32;
                }
            }
            Other::Own(_) | Other::Foreign => {
                let (pairs, _, mut all) = self.bodies.parts(particles);
                let pair = &mut pairs[row.pair];
                let is_first = all.is_own(pair.a);
                let (pushed, sign) = (impulse.dot(row.normal), if is_first { 1.0 } else { -1.0 });
                pair.exchange.pushed = pushed;
                pair.exchange.last = [(pushed, (impulse - row.normal * pushed) * sign), (0.0, Vec3::ZERO)];
                if row.other == Other::Foreign {
                    let before = if row.is_guess_given { row.guess } else { Vec3::ZERO };
                    pair.give_one(&mut all, usize::from(is_first), before - impulse);
                }
            }
        }
    }
}
