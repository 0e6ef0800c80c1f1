//! Stepping through time: intervals, steps, and the context of each group's step.

use super::bodies::IDS_USED_UP;
use super::{Group, World, WorldError, first_non_finite};
use crate::contact::{BodyContactStep, Contacts, Grips, GroupView};
use crate::forces::Fields;
use crate::math::{Real, Vec3};
use crate::methods::{Connectivity, ContactResponse, ForceWork, StepContext, StepError, StepReport};

/// Largest number of steps to the end of an interval; more are refused, because they would take too long.
const MAX_STEPS: Real = 1e7;

impl World {
    /// Advances to a time before which no event happens. Groups that may meet take steps of the same length; the others
    /// take steps of their own.
    pub(super) fn advance_undisturbed(&mut self, end: Real) -> Result<(), WorldError> {
        let (start, n_before) = (self.time, self.interval.n_steps);
        self.interval.body_contacts = (0, 0.0);
        self.interval.body_touches.clear();
        // impulses that callers have given act before the first step
        self.groups.iter_mut().for_each(|g| g.method.take_impulses(&mut g.particles));
        let mut most_steps = 0;
        for groups in self.meeting_groups(end - start) {
            self.time = start;
            let n_steps = self.advance_together(&groups, end, most_steps)?;
            most_steps = most_steps.max(n_steps);
            let (n, deepest) = self.body_contacts.summary();
            let sum = &mut self.interval.body_contacts;
            *sum = (sum.0 + n, sum.1.max(deepest));
            let place = |group: usize, i: usize| self.groups[group].particles.position[i];
            self.interval.body_touches.extend(self.body_contacts.impulses(place));
            let id = |group: usize, i: usize| self.groups[group].particles.id[i];
            self.body_contacts.remember(id);
        }
        self.interval.n_steps = n_before + most_steps;
        self.time = end;
        Ok(())
    }

    /// Advances groups to a time in equal steps within all limits, and returns the number of steps. If a limit shrinks
    /// on the way, the remaining time is divided anew. The interval reports the steps of the groups that need most.
    fn advance_together(
        &mut self,
        groups: &[usize],
        end: Real,
        most_steps: usize,
    ) -> Result<usize, WorldError> {
        let mut time_step = Real::INFINITY;
        let (mut n_left, mut n_steps) = (0usize, 0);
        while self.time < end {
            self.follow_pull();
            let hand = self.hand().filter(|hand| groups.contains(&hand.group));
            let limit = self.limit(groups, hand.as_ref());
            if let Some((group, particle, reason)) = limit.hopeless {
                let reason = reason.into();
                return Err(self.error(group, StepError::Unstable { reason, particle }));
            }
            if n_left == 0 || time_step > limit.value * (1.0 + 1e-9) {
                let remaining = end - self.time;
                let n_needed = (remaining / limit.value - 1e-9).ceil().max(1.0);
                if !(n_needed <= MAX_STEPS) {
                    let reason = format!(
                        "{n_needed:.1e} steps would be needed to {end:.4} s (limit: {})",
                        limit.reason
                    );
                    return Err(self.error(groups[0], StepError::Unstable { reason, particle: 0 }));
                }
                n_left = n_needed as usize;
                time_step = remaining / n_left as Real;
                if n_steps + n_left > most_steps {
                    self.interval.time_step = time_step;
                    self.interval.reason = if n_left == 1 { "frame" } else { limit.reason };
                }
            }
            if let Some(hand) = &hand {
                self.pull_by_hand(hand, time_step);
            }
            self.step(groups, time_step)?;
            n_left -= 1;
            n_steps += 1;
            // the last step ends exactly at `end`
            self.time = if n_left == 0 { end } else { self.time + time_step };
        }
        Ok(n_steps)
    }

    fn step(&mut self, stepped: &[usize], time_step: Real) -> Result<(), WorldError> {
        self.pose(time_step);
        self.prepare_body_contacts(stepped, time_step);
        let time = self.time;
        let mut n_pinched = 0;
        for &g in stepped {
            let Self { groups, posed, moves, fields, gravity, timings, interval, books, next_id, .. } = self;
            let mut own = None;
            let mut others = Vec::with_capacity(groups.len());
            for (k, group) in groups.iter_mut().enumerate() {
                if k == g {
                    own = Some(group);
                    others.push(None);
                } else {
                    others.push(Some(&mut group.particles));
                }
            }
            let Some(Group { particles, method, holds, touching, slip, given, pushes, carried, .. }) = own
            else {
                continue;
            };
            let mut bodies = BodyContactStep::new(&mut self.body_contacts, g, others);
            if method.contact_response() != ContactResponse::Explicit {
                bodies.pay_debts(particles);
            }
            method.take_impulses(particles);
            let mut ctx = StepContext {
                time,
                time_step,
                fields: Fields { gravity: *gravity, fields, time },
                contacts: Contacts {
                    obstacles: posed,
                    time_step,
                    touching,
                    slip,
                    given,
                    phase: None,
                    impulses: &mut interval.obstacle_impulses,
                    touches: &mut interval.touches,
                    work: &mut books.obstacle_work,
                    pushes,
                    n_pinched: &mut n_pinched,
                    bodies,
                },
                grips: Grips {
                    moves,
                    holds,
                    time_step,
                    impulses: &mut interval.grip_impulses,
                    work: &mut books.grip_work,
                },
                work: ForceWork::default(),
                carried,
                next_id,
                timings,
            };
            let stepped = method.step(particles, &mut ctx);
            let work = ctx.work;
            books.add(work);
            let stepped = stepped.and_then(|report| {
                let found = timings.stage("guard", || first_non_finite(particles));
                found.map_or(Ok(report), |(column, particle)| Err(StepError::NonFinite { column, particle }))
            });
            if stepped.is_ok() && !carried.is_empty() {
                let bonds =
                    |i: usize, visit: &mut dyn FnMut(usize, Vec3)| method.visit_bonds(particles, i, visit);
                timings.stage("surface points", || carried.follow(particles, &bonds, time_step));
            }
            match stepped {
                Ok(StepReport { iterations, n_unconverged, n_yielded }) => {
                    self.interval.iterations += iterations;
                    self.interval.n_unconverged += n_unconverged;
                    self.interval.n_yielded = self.interval.n_yielded.max(n_yielded);
                }
                Err(error) => return Err(self.error(g, error)),
            }
            if !self.has_ids(0) {
                let error = StepError::Unstable { reason: IDS_USED_UP.into(), particle: 0 };
                return Err(self.error(g, error));
            }
        }
        self.interval.n_pinched = self.interval.n_pinched.max(n_pinched);
        // groups stepped first may have received impulses from later ones, and later ones may not have taken all of
        // theirs
        let mut particles: Vec<_> = self.groups.iter_mut().map(|g| &mut g.particles).collect();
        self.body_contacts.settle_debts(&mut particles);
        self.groups.iter_mut().for_each(|g| g.method.take_impulses(&mut g.particles));
        Ok(())
    }

    /// Finds the pairs of particles that may touch in the step.
    fn prepare_body_contacts(&mut self, stepped: &[usize], time_step: Real) {
        let Self { groups, body_contacts, moves, timings, .. } = self;
        let grip_axes: Vec<Vec3> =
            moves.iter().map(|grip| if grip.active { grip.axes } else { Vec3::ZERO }).collect();
        let bonds: Vec<_> = groups
            .iter()
            .map(|g| {
                |i: usize, visit: &mut dyn FnMut(usize, Vec3)| g.method.visit_bonds(&g.particles, i, visit)
            })
            .collect();
        let mobilities: Vec<_> =
            groups.iter().map(|g| |i: usize| g.method.joint_mobility(&g.particles, i)).collect();
        let mut are_balls = vec![false; self.body_names.len()];
        for (group, &body) in groups.iter().flat_map(|g| g.bodies.iter().map(move |body| (g, body))) {
            are_balls[body as usize] = group.method.connectivity(body) == Connectivity::Balls;
        }
        let views: Vec<GroupView<'_>> = groups
            .iter()
            .zip(&bonds)
            .zip(&mobilities)
            .map(|((group, visit_bonds), joint_mobility)| GroupView {
                particles: &group.particles,
                holds: &group.holds,
                grip_axes: &grip_axes,
                touching: &group.touching,
                visit_bonds,
                joint_mobility,
                are_balls: &are_balls,
            })
            .collect();
        timings.stage("contact", || body_contacts.prepare(&views, stepped, time_step));
    }

    /// Computes the poses of obstacles and grips at the beginning and the end of the step.
    fn pose(&mut self, time_step: Real) {
        let (start, end) = (self.time, self.time + time_step);
        for k in 0..self.obstacles.len() {
            if self.posed[k].moving {
                let poses = (self.obstacle_pose(k, start), self.obstacle_pose(k, end));
                (self.posed[k].start, self.posed[k].end) = poses;
            }
        }
        for ((grip, step), &center) in self.grips.iter().zip(&mut self.moves).zip(&self.grip_centers) {
            (step.start, step.end) = (grip.motion.pose(start, center), grip.motion.pose(end, center));
            step.active = grip.release.is_none_or(|release| start < release - 1e-9 * time_step);
        }
    }
}
