//! Contacts of a step: they are found and their impulses recorded here. Each kind of step computes its own response.

use super::bodies::{BodyContactStep, Exchange, free_axes};
use super::{Contact, Friction, PosedObstacle};
use crate::math::{CHUNK, Real, Vec3};
use crate::particles::Particles;
use rayon::prelude::*;

/// Phases of an explicit step in which contacts are handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    BeforeMoving,
    AfterMoving,
    AfterKick,
}

/// Mark in [`Contacts::touching`] of a particle that touches nothing.
pub(crate) const TOUCHES_NOTHING: u32 = 0;
/// Mark of a particle that touches an obstacle.
pub(crate) const TOUCHES: u32 = 1;
/// Smallest mark of a particle that an obstacle holds; the number of the obstacle is the mark − STUCK.
pub(crate) const STUCK: u32 = 2;

/// Sum of the impulses between one body and one obstacle or other body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch {
    pub(crate) body: u32,
    pub(crate) other: usize,
    /// Impulse on the body (N s).
    pub(crate) impulse: Vec3,
    /// Angular impulse on the body about the origin (N s m).
    pub(crate) angular: Vec3,
    /// Σ |impulse| x over the places x of the contacts (N s m).
    pub(crate) moment: Vec3,
    /// Σ |impulse| (N s).
    pub(crate) weight: Real,
}

impl Touch {
    /// Adds an impulse (N s) at a place (m) to a list that has one entry for each pair of a body and its other side.
    pub(crate) fn add(all: &mut Vec<Self>, body: u32, other: usize, impulse: Vec3, place: Vec3) {
        let weight = impulse.length();
        let (angular, moment) = (place.cross(impulse), place * weight);
        let one = Self { body, other, impulse, angular, moment, weight };
        Self::merge(all, one);
    }

    /// Adds an entry to a list. The search starts at the end, since particles are stored body by body.
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
    /// Mark of each particle: it touches nothing, touches an obstacle or sticks to one; kept from step to step.
    pub(crate) touching: &'a mut Vec<u32>,
    /// Velocity at which each particle flows along the obstacle that it touches, in addition to that of its surface; kept
    /// from step to step (m/s).
    pub(crate) slip: &'a mut Vec<Vec3>,
    /// Velocity change of each particle by obstacles before it moves; scratch data of one explicit step (m/s).
    pub(crate) given: &'a mut Vec<Vec3>,
    /// Last phase that was handled; scratch data of one explicit step.
    pub(crate) phase: Option<Phase>,
    /// Sum of the impulses of each obstacle on the bodies (N s).
    pub(crate) impulses: &'a mut [Vec3],
    /// Sums of the impulses for each pair of a body and an obstacle.
    pub(crate) touches: &'a mut Vec<Touch>,
    /// Work of the obstacles on the bodies, Σ impulse · velocity of the surface (J).
    pub(crate) work: &'a mut Real,
    /// Displacements by which overlaps were removed after particles moved; scratch data of one explicit step.
    pub(crate) pushes: &'a mut Vec<Shift>,
    /// Number of particles in this step that obstacles push in opposite directions at once: they leave them no room.
    pub(crate) n_pinched: &'a mut usize,
    /// Pairs of particles of different bodies, or of parts of one body.
    pub(crate) bodies: BodyContactStep<'a>,
}

/// Displacement of a particle after it has moved: out of an overlap.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shift {
    pub(crate) particle: u32,
    /// Displacement (m).
    pub(crate) by: Vec3,
    /// Difference between the motion of the whole step and that of the velocity after the contact (m).
    pub(crate) beyond_velocity: Vec3,
    /// Share of it by which the surface of a moving obstacle has advanced in the step: this part is the obstacle's work.
    pub(crate) led: Real,
}

/// The other side of a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Other {
    /// The obstacle of this number.
    Obstacle(usize),
    /// A particle of the stepped group, by its index.
    Own(usize),
    /// A particle of another group; it receives the impulse recorded for it in its next step.
    Foreign,
}

/// One contact of one particle in a step. At the end of the step, a particle with velocity v has the distance
/// gap + Δt (v − surface_velocity)·normal from the other side.
#[derive(Clone, Copy, Debug)]
pub struct ContactRow {
    /// Index of the particle in the stepped group.
    pub particle: usize,
    /// Other side of the contact.
    pub other: Other,
    /// Distance between the surfaces at the start of the step, along the normal; negative if they overlap (m).
    pub gap: Real,
    /// Unit normal, pointing away from the other side.
    pub normal: Vec3,
    /// Velocity of the other side (m/s).
    pub surface_velocity: Vec3,
    /// Resistance to sliding. [`Friction::Stick`] holds in all directions.
    pub friction: Friction,
    /// Mobility 1/m of the other side along each axis; 0 if it does not give way (1/kg).
    pub other_mobility: Vec3,
    /// Initial guess of the impulse: the impulse of this contact in the last step (N s).
    pub guess: Vec3,
    /// True if both sides received the guess before this step; the particle's velocity then already contains it.
    pub is_guess_given: bool,
    /// Index of the pair of particles; not used for obstacles.
    pair: usize,
}

impl Contacts<'_> {
    /// Returns the number of obstacles.
    pub fn n_obstacles(&self) -> usize {
        self.obstacles.len()
    }

    /// Returns the contact of a point with an obstacle, if its surface is nearer than `reach` (m).
    pub fn query(&self, obstacle: usize, point: Vec3, reach: Real) -> Option<Contact> {
        self.obstacles[obstacle].query(point, reach, self.time_step)
    }

    /// Returns true if a particle is held by a sticky obstacle.
    pub fn is_stuck(&self, particle: usize) -> bool {
        self.touching.get(particle).is_some_and(|mark| *mark >= STUCK)
    }

    /// Appends the contacts of particles that move straight from their positions to `ends`. First come the obstacles
    /// that they would touch on the way or be nearer to than `reach` (m) at the end, then the listed pairs of particles
    /// that face each other, whatever `ends` and `reach` are. The order is fixed.
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
                // held axes did not receive the impulse
                false => pair.last_impulse() * free_axes(pair.mobility[1]),
            };
            // the other group starts with the impulse that this group gives
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

    /// Records the whole impulse of a contact on its particle (N s), including the part given before the step. The
    /// other side gets the opposite impulse: obstacles in the ledger, particles of other groups in their next step; the
    /// method itself gives it to particles of the stepped group. A particle that touches a sticky obstacle stays with
    /// it. Call this for all rows, also for those without an impulse.
    pub fn book(&mut self, particles: &mut Particles, row: &ContactRow, impulse: Vec3) {
        match row.other {
            Other::Obstacle(k) => {
                self.impulses[k] += impulse;
                *self.work += impulse.dot(row.surface_velocity);
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
                // an explicit step of the other side takes half of it before moving, half after its kick
                let dragged = (impulse - row.normal * pushed) * sign;
                pair.exchange.last = [(0.5 * pushed, 0.5 * dragged); 2];
                if row.other == Other::Foreign && is_first {
                    pair.exchange.owed = [0.5 * impulse; 2];
                } else if row.other == Other::Foreign {
                    let before = if row.is_guess_given { row.guess } else { Vec3::ZERO };
                    pair.give_one(&mut all, usize::from(is_first), before - impulse);
                }
            }
        }
    }
}
