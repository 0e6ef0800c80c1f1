//! Response of explicit steps to obstacles: particles are pushed out, lose the velocity into the surface, and are
//! braked by friction.

use super::Phase;
use crate::contact::{
    Contact, Contacts, Friction, PosedObstacle, STUCK, Shift, TOUCHES, TOUCHES_NOTHING, Touch,
};
use crate::math::{CHUNK, Mat3, Real, Vec3};
use crate::particles::Particles;
use rayon::prelude::*;

/// A particle whose distance to the surface exceeds its radius by less than this (radii) touches it.
const TOUCHING: Real = 1e-4;
/// Number of particles, neighbours in memory and mostly in space, that are looked at together.
const BLOCK: usize = 32;
/// Cosine between the normals of two obstacles below which they push a particle in opposite directions.
const PINCHED: Real = -0.5;

/// Changes velocities and, after moving, positions of the particles that touch obstacles.
pub(super) fn respond(contacts: &mut Contacts<'_>, particles: &mut Particles, phase: Phase) {
    let (obstacles, time_step) = (contacts.obstacles, contacts.time_step);
    if obstacles.is_empty() {
        return;
    }
    contacts.touching.resize(particles.len(), TOUCHES_NOTHING);
    contacts.given.resize(particles.len(), Vec3::ZERO);
    contacts.slip.resize(particles.len(), Vec3::ZERO);
    let Particles { position, velocity, mass, contact_radius, body, .. } = particles;
    let rows = position.par_chunks_mut(CHUNK).zip(velocity.par_chunks_mut(CHUNK));
    let rows = rows.zip(mass.par_chunks(CHUNK)).zip(contact_radius.par_chunks(CHUNK));
    let rows = rows.zip(contacts.touching.par_chunks_mut(CHUNK)).zip(contacts.given.par_chunks_mut(CHUNK));
    let rows = rows.zip(body.par_chunks(CHUNK)).zip(contacts.slip.par_chunks(CHUNK));
    // one partial sum per chunk, added in order: bitwise the same result for any number of threads
    let partial: Vec<Partial> = rows
        .enumerate()
        .map(|(chunk, (((((((position, velocity), mass), radius), touching), given), body), slip))| {
            let mut impulses = vec![Vec3::ZERO; obstacles.len()];
            let (mut work, mut pushes, mut n_pinched) = (0.0, Vec::new(), 0);
            // particle, obstacle, impulse
            let mut given_by: Vec<(usize, usize, Vec3)> = Vec::new();
            let mut met_to = 0;
            for i in 0..position.len() {
                // only marked particles have received an impulse
                let marked = touching[i] != TOUCHES_NOTHING;
                if phase != Phase::AfterMoving && !marked {
                    continue;
                }
                if phase == Phase::AfterMoving && i % BLOCK == 0 {
                    let block = i..(i + BLOCK).min(position.len());
                    let is_free = touching[block.clone()].iter().all(|mark| *mark == TOUCHES_NOTHING);
                    let is_near = !is_free
                        || may_touch(obstacles, &position[block.clone()], &radius[block.clone()], time_step);
                    met_to = if is_near { block.end } else { i };
                }
                if phase == Phase::AfterMoving && i >= met_to {
                    continue;
                }
                // an impulse given and recorded earlier in this step is recomputed together with what happened since
                let earlier = if phase == Phase::BeforeMoving { given[i] } else { Vec3::ZERO };
                let without = velocity[i] - earlier;
                let mut now = without;
                let mut last = None;
                let moved_to = position[i];
                let point =
                    TouchingPoint { position: &mut position[i], radius: radius[i], mark: touching[i] };
                let is_pinched;
                (touching[i], is_pinched) =
                    respond_one(obstacles, phase, time_step, point, |meeting, obstacle| {
                        let (change, surface_velocity) = match meeting {
                            Meeting::Slides(contact) => {
                                (contact.velocity_change(now - slip[i]), contact.surface_velocity)
                            }
                            Meeting::Stuck(carried) => {
                                (carried + free_part(now - carried, slip[i]) - now, carried)
                            }
                        };
                        now += change;
                        impulses[obstacle] += change * mass[i];
                        work += (change * mass[i]).dot(surface_velocity);
                        given_by.push((i, obstacle, change * mass[i]));
                        last = Some((obstacle, surface_velocity));
                    });
                if let Some((obstacle, surface_velocity)) = last {
                    impulses[obstacle] -= earlier * mass[i];
                    work -= (earlier * mass[i]).dot(surface_velocity);
                    given_by.push((i, obstacle, -earlier * mass[i]));
                    velocity[i] = now;
                }
                n_pinched += usize::from(is_pinched);
                if let Some((_, surface_velocity)) = last.filter(|_| phase == Phase::AfterMoving) {
                    let by = position[i] - moved_to;
                    let led = surface_velocity.dot(by) * time_step / by.length_squared();
                    pushes.push(Shift {
                        particle: (chunk * CHUNK + i) as u32,
                        by,
                        beyond_velocity: by - (now - without) * time_step,
                        led: if led > 0.0 { led.min(1.0) } else { 0.0 },
                    });
                }
                if phase == Phase::BeforeMoving && last.is_some() {
                    given[i] = now - without;
                } else if marked {
                    given[i] = Vec3::ZERO;
                }
            }
            let mut touches = Vec::new();
            for (i, obstacle, impulse) in given_by {
                Touch::add(&mut touches, body[i], obstacle, impulse, position[i]);
            }
            Partial { impulses, touches, work, pushes, n_pinched }
        })
        .collect();
    for Partial { impulses, touches, work, pushes, n_pinched } in partial {
        contacts.impulses.iter_mut().zip(impulses).for_each(|(sum, part)| *sum += part);
        touches.into_iter().for_each(|touch| Touch::merge(contacts.touches, touch));
        *contacts.work += work;
        contacts.pushes.extend(pushes);
        *contacts.n_pinched += n_pinched;
    }
}

/// Lets particles that touch obstacles slide by what they flow. Contact holds a particle at its centre, half a spacing
/// off the surface, where a layer that flows over the surface already moves: with the rate of plastic strain D and the
/// surface's normal n, by r (2 D n − 2 n (n·D n)) at the distance r. Held at rest there, the layer would be thinner by
/// r for all that flows on top of it.
pub(super) fn slip(contacts: &mut Contacts<'_>, particles: &Particles, rate: impl Fn(usize) -> Mat3 + Sync) {
    let (obstacles, time_step) = (contacts.obstacles, contacts.time_step);
    if obstacles.is_empty() {
        return;
    }
    let Particles { position, contact_radius, .. } = particles;
    let marks = contacts.touching.par_iter().zip(contacts.slip.par_iter_mut());
    marks.with_min_len(CHUNK).enumerate().for_each(|(i, (mark, slip))| {
        if *mark == TOUCHES_NOTHING {
            *slip = Vec3::ZERO;
            return;
        }
        let reach = contact_radius[i] * (1.0 + TOUCHING);
        let contact = obstacles.iter().find_map(|obstacle| obstacle.query(position[i], reach, time_step));
        *slip = contact.map_or(Vec3::ZERO, |Contact { normal, .. }| {
            let along = rate(i) * normal;
            (along - normal * normal.dot(along)) * (2.0 * contact_radius[i])
        });
    });
}

/// Returns the part of the velocity of a particle that sticks to a surface, relative to it, that flow allows: along
/// `slip` and at most as fast. Neighbours can then keep the particle from sliding into them, which no force could do if
/// its velocity were prescribed.
#[inline]
fn free_part(relative: Vec3, slip: Vec3) -> Vec3 {
    if slip == Vec3::ZERO {
        return Vec3::ZERO;
    }
    slip * (relative.dot(slip) / slip.length_squared()).clamp(0.0, 1.0)
}

/// Returns false if no obstacle is near any of the particles: one look at the middle of their box instead of many.
#[inline]
fn may_touch(obstacles: &[PosedObstacle], positions: &[Vec3], radii: &[Real], time_step: Real) -> bool {
    let (mut low, mut high, mut radius) = (Vec3::INFINITY, Vec3::NEG_INFINITY, 0.0 as Real);
    for (x, r) in positions.iter().zip(radii) {
        (low, high, radius) = (low.min(*x), high.max(*x), radius.max(*r));
    }
    // twice the way to the corners: distances on a grid, which are interpolated, may change faster than the way
    let reach = (high - low).length() + radius * (1.0 + TOUCHING);
    obstacles.iter().any(|obstacle| obstacle.query(0.5 * (low + high), reach, time_step).is_some())
}

/// Sums over one chunk of particles.
struct Partial {
    impulses: Vec<Vec3>,
    touches: Vec<Touch>,
    /// Work of the obstacles (J).
    work: Real,
    /// Particles that were pushed out.
    pushes: Vec<Shift>,
    n_pinched: usize,
}

/// Kind of contact between a particle and an obstacle.
enum Meeting {
    Slides(Contact),
    /// The obstacle holds the particle, which moves with this velocity (m/s).
    Stuck(Vec3),
}

/// A particle that may touch an obstacle.
struct TouchingPoint<'a> {
    position: &'a mut Vec3,
    radius: Real,
    mark: u32,
}

/// Handles one particle against all obstacles and returns its new mark, and whether obstacles push it in opposite
/// directions. Calls `meet` with each contact and the obstacle's number.
#[inline]
fn respond_one(
    obstacles: &[PosedObstacle],
    phase: Phase,
    time_step: Real,
    point: TouchingPoint<'_>,
    mut meet: impl FnMut(Meeting, usize),
) -> (u32, bool) {
    let TouchingPoint { position, radius, mark } = point;
    let has_moved = phase != Phase::BeforeMoving;
    if mark >= STUCK {
        let k = (mark - STUCK) as usize;
        meet(Meeting::Stuck(obstacles[k].carried_velocity(*position, has_moved, time_step)), k);
        return (mark, false);
    }
    let (mut mark, mut pushed, mut is_pinched) = (TOUCHES_NOTHING, Vec3::ZERO, false);
    for (k, obstacle) in obstacles.iter().enumerate() {
        let Some(contact) = obstacle.query(*position, radius * (1.0 + TOUCHING), time_step) else { continue };
        if phase == Phase::AfterMoving && contact.gap < radius {
            *position += contact.normal * (radius - contact.gap);
            is_pinched |= contact.normal.dot(pushed) < PINCHED;
            pushed = contact.normal;
        }
        if contact.friction == Friction::Stick {
            meet(Meeting::Stuck(obstacle.carried_velocity(*position, has_moved, time_step)), k);
            return (k as u32 + STUCK, is_pinched);
        }
        mark = TOUCHES;
        meet(Meeting::Slides(contact), k);
    }
    (mark, is_pinched)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::vec3;

    /// Checks that flow lets a particle slide along its slip, up to its speed, and neither back nor aside.
    #[test]
    fn flow_only_frees_what_goes_along_with_it() {
        let slip = vec3(2.0, 0.0, 0.0);
        for (relative, free) in [(5.0, 2.0), (1.5, 1.5), (-1.0, 0.0)] {
            assert_eq!(free_part(vec3(relative, -0.3, 4.0), slip), vec3(free, 0.0, 0.0));
        }
        assert_eq!(free_part(vec3(1.0, 2.0, 3.0), Vec3::ZERO), Vec3::ZERO);
    }
}
