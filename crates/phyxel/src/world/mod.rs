//! A world: groups of bodies, what they meet, and the march through time.

mod builder;
mod drag;
mod events;
mod ledger;
mod sampling_quality;
mod sorting;

pub use builder::{Body, BuildError, WorldBuilder};
pub use events::{Action, ActionError, Event, Hold};
pub use ledger::Ledger;
pub use sampling_quality::SamplingQuality;

use self::drag::{Hand, Pull, visit_pull};
use self::events::Schedule;
use crate::contact::Obstacle;
use crate::contact::{
    BodyContactStep, BodyContacts, Contacts, Grip, GripMove, Grips, GroupView, Holds, PosedObstacle,
};
use crate::forces::{Fields, ForceField};
use crate::frame::{Frame, FrameColumn};
use crate::material::Material;
use crate::math::{Real, Vec3, max_over};
use crate::methods::{Change, ColumnInfo, Method, StepContext, StepError, StepReport, Timings};
use crate::particles::{Carry, Digest, LAYOUT, PARTICLES, Particles, StateData, StateItem, StateVisitor};
use crate::surface::CarriedPoints;

/// Bodies that one method drives together: one particle system, one neighbour search, one solve.
struct Group {
    /// Key of the method.
    key: String,
    /// Indices of the bodies.
    bodies: Vec<u32>,
    particles: Particles,
    method: Box<dyn Method>,
    holds: Holds,
    /// 1 for particles that touch an obstacle: decides what the next kick meets, so it is state.
    touching: Vec<u32>,
    /// Scratch of the contacts.
    given: Vec<Vec3>,
    /// Surface points that the particles carry along.
    carried: CarriedPoints,
    /// The method's limit in the undeformed state, with the materials of the start and with the present ones. [s]
    start_limit: Real,
    rest_limit: Real,
}

/// A simulation that can be advanced.
pub struct World {
    groups: Vec<Group>,
    body_names: Vec<String>,
    /// What the bodies are made of now.
    materials: Vec<Material>,
    /// By body, the modulus of sound at the start [Pa], and how much larger it is now.
    start_modulus: Vec<Real>,
    stiffening: Vec<Real>,
    schedule: Schedule,
    /// What is pulled: nothing, or one particle.
    pull: Vec<Pull>,
    obstacles: Vec<Obstacle>,
    posed: Vec<PosedObstacle>,
    grips: Vec<Grip>,
    grip_centers: Vec<Vec3>,
    moves: Vec<GripMove>,
    body_contacts: BodyContacts,
    fields: Vec<ForceField>,
    gravity: Vec3,
    time: Real,
    /// The next id that no particle has had.
    next_id: u64,
    largest_step: Option<Real>,
    warnings: Vec<String>,
    timings: Timings,
    interval: Interval,
}

/// What happened since the last call of [`World::advance_to`].
#[derive(Clone, Debug, Default)]
struct Interval {
    start: Real,
    n_steps: usize,
    iterations: usize,
    n_unconverged: usize,
    n_yielded: usize,
    time_step: Real,
    reason: &'static str,
    grip_impulses: Vec<Vec3>,
    obstacle_impulses: Vec<Vec3>,
    drag_impulse: Vec3,
}

/// A run that cannot go on.
#[derive(Clone, Debug, thiserror::Error)]
#[error("at {time:.6} s, body \"{body}\", particle {particle}: {source}. {remedy}")]
pub struct WorldError {
    /// [s]
    pub time: Real,
    /// Name of the body.
    pub body: String,
    /// Id of the particle.
    pub particle: u32,
    /// What was seen.
    pub source: StepError,
    /// What to change.
    pub remedy: &'static str,
}

const REMEDY: &str = "Lower `time_step` or the method's `safety`, add `viscosity`, raise `youngs_modulus`, or check \
                      that bodies, grips and obstacles do not start inside each other";
/// Steps this much shorter than at rest mean that the matter is torn to pieces.
const COLLAPSE: Real = 1e-3;
/// More steps than this in one call are refused: nobody would wait for them.
const MAX_STEPS: Real = 1e7;
/// A particle moves at most this many radii in a step while there are obstacles or other bodies to meet.
const RADII_PER_STEP: Real = 1.0;

/// The length of a step, and why.
#[derive(Clone, Copy, Debug)]
struct Limit {
    value: Real,
    reason: &'static str,
    /// Group and particle whose own limit has collapsed.
    torn: Option<(usize, usize)>,
}

impl Limit {
    fn take(&mut self, value: Real, reason: &'static str) {
        if value < self.value {
            (self.value, self.reason) = (value, reason);
        }
    }
}

impl World {
    /// Starts the description of a world.
    pub fn builder() -> WorldBuilder {
        WorldBuilder::default()
    }

    /// Time since the start. [s]
    pub fn time(&self) -> Real {
        self.time
    }

    /// How many particles there are.
    pub fn n_particles(&self) -> usize {
        self.groups.iter().map(|g| g.particles.len()).sum()
    }

    /// Names of the bodies; [`Particles::body`] is an index into them.
    pub fn body_names(&self) -> &[String] {
        &self.body_names
    }

    /// The particles of each group, in the engine's own order.
    pub fn particles(&self) -> impl Iterator<Item = &Particles> {
        self.groups.iter().map(|g| &g.particles)
    }

    /// Lets the caller change positions and velocities between steps, group after group. The number of particles stays.
    pub fn edit_particles(&mut self, mut edit: impl FnMut(&mut Particles)) {
        for group in &mut self.groups {
            edit(&mut group.particles);
            group.method.changed(&group.particles, Change::Moved);
        }
    }

    /// Doubts that came up while building.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Seconds by stage, if a clock was given.
    pub fn timings(&self) -> &Timings {
        &self.timings
    }

    /// Columns that can be asked for in [`World::frame`].
    pub fn columns(&self) -> Vec<ColumnInfo> {
        let mut all = vec![
            ColumnInfo::vector("velocity", "m/s", "velocity, three components"),
            ColumnInfo::scalar("speed", "m/s", "magnitude of the velocity"),
            ColumnInfo::scalar("mass", "kg", "mass"),
            ColumnInfo::scalar("rest_volume", "m3", "volume at rest"),
        ];
        for column in self.groups.iter().flat_map(|g| g.method.columns()) {
            if !all.iter().any(|c| c.name == column.name) {
                all.push(*column);
            }
        }
        all
    }

    /// The next step's length if it were not cut to fit an interval, and the reason. [s]
    pub fn time_step_limit(&self) -> (Real, &'static str) {
        let limit = self.limit(self.hand().as_ref());
        (limit.value, limit.reason)
    }

    /// Advances by an interval, in equal steps under every limit.
    ///
    /// # Errors
    /// When the state turns non-finite or falls to pieces; the world is then at the time of the failure.
    pub fn advance(&mut self, interval: Real) -> Result<(), WorldError> {
        self.advance_to(self.time + interval)
    }

    /// Advances to a time, in equal steps under every limit; if a limit shrinks on the way, the rest is divided anew. Events
    /// happen at their times, those at the present time first and those at `end` in the next call.
    ///
    /// # Errors
    /// As [`World::advance`].
    pub fn advance_to(&mut self, end: Real) -> Result<(), WorldError> {
        self.body_contacts.forget();
        self.interval = Interval {
            start: self.time,
            grip_impulses: vec![Vec3::ZERO; self.grips.len()],
            obstacle_impulses: vec![Vec3::ZERO; self.obstacles.len()],
            time_step: end - self.time,
            ..Interval::default()
        };
        while self.time < end {
            self.act_on_due_events()?;
            self.advance_undisturbed(self.schedule.pause(end))?;
        }
        Ok(())
    }

    /// Advances to a time before which nothing happens.
    fn advance_undisturbed(&mut self, end: Real) -> Result<(), WorldError> {
        let mut time_step = Real::INFINITY;
        let mut n_left = 0usize;
        while self.time < end {
            self.follow_pull();
            let hand = self.hand();
            let limit = self.limit(hand.as_ref());
            if let Some((group, particle)) = limit.torn {
                let reason = "the matter is stretched so far that stable steps become uselessly short".into();
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
                    return Err(self.error(0, StepError::Unstable { reason, particle: 0 }));
                }
                n_left = n_needed as usize;
                time_step = remaining / n_left as Real;
                self.interval.time_step = time_step;
                self.interval.reason = if n_left == 1 { "frame" } else { limit.reason };
            }
            if let Some(hand) = &hand {
                self.pull_by_hand(hand, time_step);
            }
            self.step(time_step)?;
            n_left -= 1;
            self.interval.n_steps += 1;
            // the last step ends exactly there
            self.time = if n_left == 0 { end } else { self.time + time_step };
        }
        Ok(())
    }

    fn limit(&self, hand: Option<&Hand>) -> Limit {
        let mut limit =
            Limit { value: self.largest_step.unwrap_or(Real::INFINITY), reason: "asked", torn: None };
        let speeds =
            self.obstacles.iter().filter(|o| !o.motion.is_still()).map(|o| o.surface_speed(self.time));
        let surface_speed = speeds.fold(0.0, Real::max);
        let meets_others = self.body_contacts.is_on() && self.body_names.len() > 1;
        for (g, group) in self.groups.iter().enumerate() {
            let own = group.method.max_time_step(&group.particles);
            if !(own.value >= COLLAPSE * group.rest_limit) {
                limit.torn = limit.torn.or(Some((g, own.particle.unwrap_or(0))));
            }
            // a step that was asked for may use the whole stable range
            limit.take(if self.largest_step.is_some() { own.stable } else { own.value }, own.reason);
            if !self.obstacles.is_empty() || meets_others {
                let p = &group.particles;
                let rate = |i: usize| (p.velocity[i].length() + surface_speed) / p.radius[i];
                let fastest = max_over(p.len(), rate);
                // what is not finite is found after the step, and named
                if let Some((rate, _)) = fastest.filter(|f| f.0 > 0.0 && f.0.is_finite()) {
                    limit.take(RADII_PER_STEP / rate, "speed");
                }
            }
        }
        let fields = Fields { gravity: self.gravity, fields: &self.fields, time: self.time };
        limit.take(fields.largest_step(), "force field");
        limit.take(hand.map_or(Real::INFINITY, |hand| hand.largest_step), "drag");
        limit
    }

    fn step(&mut self, time_step: Real) -> Result<(), WorldError> {
        self.pose(time_step);
        self.prepare_body_contacts(time_step);
        let time = self.time;
        for g in 0..self.groups.len() {
            let Self { groups, posed, moves, fields, gravity, timings, interval, next_id, .. } = self;
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
            let Some(Group { particles, method, holds, touching, given, carried, .. }) = own else {
                continue;
            };
            let bodies = BodyContactStep::new(&mut self.body_contacts, g, others);
            method.take_impulses(particles);
            let mut ctx = StepContext {
                time,
                time_step,
                fields: Fields { gravity: *gravity, fields, time },
                contacts: Contacts {
                    obstacles: posed,
                    time_step,
                    touching,
                    given,
                    phase: None,
                    impulses: &mut interval.obstacle_impulses,
                    bodies,
                },
                grips: Grips { moves, holds, time_step, impulses: &mut interval.grip_impulses },
                carried,
                next_id,
                timings,
            };
            let stepped = method.step(particles, &mut ctx).and_then(|report| {
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
        }
        // groups that were stepped first may have got something from later ones
        self.groups.iter_mut().for_each(|g| g.method.take_impulses(&mut g.particles));
        Ok(())
    }

    /// Who may touch whom in the step.
    fn prepare_body_contacts(&mut self, time_step: Real) {
        let Self { groups, body_contacts, moves, timings, .. } = self;
        let grip_axes: Vec<Vec3> =
            moves.iter().map(|grip| if grip.active { grip.axes } else { Vec3::ZERO }).collect();
        let bonds: Vec<_> = groups
            .iter()
            .map(|g| {
                |i: usize, visit: &mut dyn FnMut(usize, Vec3)| g.method.visit_bonds(&g.particles, i, visit)
            })
            .collect();
        let views: Vec<GroupView<'_>> = groups
            .iter()
            .zip(&bonds)
            .map(|(group, visit_bonds)| GroupView {
                particles: &group.particles,
                holds: &group.holds,
                grip_axes: &grip_axes,
                touching: &group.touching,
                visit_bonds,
            })
            .collect();
        timings.stage("contact", || body_contacts.prepare(&views, time_step));
    }

    /// Where obstacles and grips are at the beginning and the end of the step.
    fn pose(&mut self, time_step: Real) {
        let (start, end) = (self.time, self.time + time_step);
        for (obstacle, posed) in self.obstacles.iter().zip(&mut self.posed).filter(|o| o.1.moving) {
            let center = obstacle.center();
            (posed.start, posed.end) =
                (obstacle.motion.pose(start, center), obstacle.motion.pose(end, center));
        }
        for ((grip, step), &center) in self.grips.iter().zip(&mut self.moves).zip(&self.grip_centers) {
            (step.start, step.end) = (grip.motion.pose(start, center), grip.motion.pose(end, center));
            step.active = grip.release.is_none_or(|release| start < release - 1e-9 * time_step);
        }
    }

    fn error(&self, group: usize, source: StepError) -> WorldError {
        let particles = &self.groups[group].particles;
        let particle = match source {
            StepError::NonFinite { particle, .. } | StepError::Unstable { particle, .. } => particle,
            StepError::Event { .. } => 0,
        };
        let (id, body) = (particles.id[particle], particles.body[particle] as usize);
        WorldError {
            time: self.time,
            body: self.body_names[body].clone(),
            particle: id,
            source,
            remedy: REMEDY,
        }
    }

    /// Names all state, group after group. Visitors that write (checkpoints) must be followed by [`World::restored`]; they write to
    /// a world that has just been built, with the same events, of which those that have happened happen on the way.
    pub fn visit_state(&mut self, visitor: &mut dyn StateVisitor) {
        let number = |name, data| StateItem { name, unit: "s", set: "", carry: Carry::Copy, data };
        visitor.visit(number("time", StateData::Number(&mut self.time)));
        let data = StateData::Counter(&mut self.next_id);
        visitor.visit(StateItem { name: "next_id", unit: "1", set: "", carry: Carry::Copy, data });
        let n_before = self.schedule.n_past;
        let data = StateData::Counter(&mut self.schedule.n_past);
        visitor.visit(StateItem { name: "past_events", unit: "1", set: LAYOUT, carry: Carry::Copy, data });
        if self.schedule.n_past != n_before {
            self.repeat_events(n_before);
        }
        let Vec3 { x, y, z } = &mut self.gravity;
        for (name, value) in [("gravity_x", x), ("gravity_y", y), ("gravity_z", z)] {
            let data = StateData::Number(value);
            visitor.visit(StateItem { name, unit: "m/s2", set: "", carry: Carry::Copy, data });
        }
        visit_pull(&mut self.pull, visitor);
        for group in &mut self.groups {
            group.particles.visit_state(visitor);
            let data = StateData::Integers(&mut group.touching);
            visitor.visit(StateItem {
                name: "touching",
                unit: "1",
                set: PARTICLES,
                carry: Carry::Copy,
                data,
            });
            group.holds.visit_state(visitor);
            group.carried.visit_state(visitor);
            group.method.visit_state(visitor);
        }
    }

    /// Rebuilds what is derived from state after a visitor wrote it.
    pub fn restored(&mut self) {
        for group in &mut self.groups {
            group.method.changed(&group.particles, Change::Restored);
        }
        self.interval = Interval { start: self.time, ..Interval::default() };
    }

    /// Digest of every bit of the state.
    pub fn digest(&mut self) -> u64 {
        let mut digest = Digest::default();
        self.visit_state(&mut digest);
        digest.0
    }

    /// The surface points that a body carries, where they are now; `None` if it carries none. [m]
    pub fn carried_points(&self, body: usize) -> Option<Vec<Vec3>> {
        self.groups.iter().find_map(|g| g.carried.positions_of(body as u32, &g.particles))
    }

    /// Velocities of the surface points that a body carries; `None` if it carries none. [m/s]
    pub fn carried_velocities(&self, body: usize) -> Option<Vec<Vec3>> {
        self.groups.iter().find_map(|g| g.carried.velocities_of(body as u32, &g.particles))
    }

    /// A snapshot with the asked-for columns; names that no group knows are left out.
    pub fn frame(&self, columns: &[String]) -> Frame {
        let mut rows: Vec<(u32, usize, usize)> = Vec::with_capacity(self.n_particles());
        for (g, group) in self.groups.iter().enumerate() {
            rows.extend(group.particles.id.iter().enumerate().map(|(i, &id)| (id, g, i)));
        }
        rows.sort_unstable();
        let at = |g: usize| &self.groups[g].particles;
        let mut frame = Frame {
            time: self.time,
            position: rows.iter().map(|&(_, g, i)| at(g).position[i].as_vec3().to_array()).collect(),
            id: rows.iter().map(|row| row.0).collect(),
            body: rows.iter().map(|&(_, g, i)| at(g).body[i]).collect(),
            radius: rows.iter().map(|&(_, g, i)| at(g).radius[i] as f32).collect(),
            columns: Vec::new(),
        };
        let known = self.columns();
        for info in columns.iter().filter_map(|name| known.iter().find(|c| c.name == name)) {
            let per_group: Vec<Vec<Real>> = self.groups.iter().map(|g| group_column(g, info)).collect();
            let n_components = info.n_components;
            let values = rows.iter().flat_map(|&(_, g, i)| {
                per_group[g][i * n_components..(i + 1) * n_components].iter().map(|&v| v as f32)
            });
            let values = values.collect();
            frame.columns.push(FrameColumn { name: info.name.into(), unit: info.unit, n_components, values });
        }
        frame
    }
}

/// A column of one group; NaN where its method has none by that name.
fn group_column(group: &Group, info: &ColumnInfo) -> Vec<Real> {
    let p = &group.particles;
    match info.name {
        "velocity" => p.velocity.iter().flat_map(|v| v.to_array()).collect(),
        "speed" => p.velocity.iter().map(|v| v.length()).collect(),
        "mass" => p.mass.clone(),
        "rest_volume" => p.volume.clone(),
        name => {
            let missing = || vec![Real::NAN; p.len() * info.n_components];
            group.method.column(name, p).unwrap_or_else(missing)
        }
    }
}

/// The choke point for non-finite values: everything a method computes ends in positions and velocities.
fn first_non_finite(p: &Particles) -> Option<(&'static str, usize)> {
    let bad = |i: usize| if p.position[i].is_finite() && p.velocity[i].is_finite() { 0.0 } else { 1.0 };
    let (_, i) = max_over(p.len(), bad).filter(|found| found.0 > 0.0)?;
    Some((if p.position[i].is_finite() { "velocity" } else { "position" }, i))
}
