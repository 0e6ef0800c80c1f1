//! A world: groups of bodies, what they meet, and the march through time.

mod bodies;
mod builder;
mod drag;
mod events;
mod ids;
mod ledger;
mod moved_obstacles;
mod pace;
mod queries;
mod sampling_quality;
mod sorting;
mod stepping;

pub use bodies::{NewParticles, RemoveError};
pub use builder::{Body, BuildError, WorldBuilder};
pub use events::{Action, ActionError, Event, Hold};
pub use ids::{BodyId, ObstacleId};
pub use ledger::Ledger;
pub use queries::{RayHit, Touching, TouchingSide};
pub use sampling_quality::SamplingQuality;

use self::builder::Methods;
use self::drag::{Hand, Pull, visit_pull};
use self::events::Schedule;
use self::moved_obstacles::MovedObstacles;
use crate::contact::{BodyContacts, Grip, GripMove, Holds, Obstacle, PosedObstacle, Touch};
use crate::forces::ForceField;
use crate::frame::{Frame, FrameColumn};
use crate::material::Material;
use crate::math::{Real, Vec3, max_over};
use crate::methods::{Change, ColumnInfo, Companions, Method, StepError, Timings};
use crate::particles::{Carry, Digest, LAYOUT, Particles, StateData, StateItem, StateVisitor};
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
    /// The method's limit in the undeformed state, with the materials of the start and with the present ones (s).
    start_limit: Real,
    rest_limit: Real,
}

impl Group {
    /// Data that refers to the particles by index.
    fn companions(&mut self) -> Companions<'_> {
        Companions { touching: &mut self.touching, holds: &mut self.holds, carried: &mut self.carried }
    }
}

/// A simulation that can be advanced.
pub struct World {
    groups: Vec<Group>,
    /// What groups can be made of.
    methods: Methods,
    body_names: Vec<String>,
    /// What the bodies are made of now.
    materials: Vec<Material>,
    /// By body, the modulus of sound at the start (Pa), and how much larger it is now.
    start_modulus: Vec<Real>,
    stiffening: Vec<Real>,
    schedule: Schedule,
    /// What is pulled: nothing, or one particle.
    pull: Vec<Pull>,
    obstacles: Vec<Obstacle>,
    posed: Vec<PosedObstacle>,
    moved: MovedObstacles,
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
    end: Real,
    n_steps: usize,
    iterations: usize,
    n_unconverged: usize,
    n_yielded: usize,
    time_step: Real,
    reason: &'static str,
    grip_impulses: Vec<Vec3>,
    obstacle_impulses: Vec<Vec3>,
    /// By body and obstacle.
    touches: Vec<Touch>,
    drag_impulse: Vec3,
    /// Pairs of particles that press on each other at the end, and the deepest overlap (m).
    body_contacts: (usize, Real),
    /// Impulses between bodies in the last step.
    body_touches: Vec<Touch>,
}

/// A run that cannot go on.
#[derive(Clone, Debug, thiserror::Error)]
#[error("at {time:.6} s, body \"{body}\", particle {particle}: {source}. {remedy}")]
pub struct WorldError {
    /// (s)
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
impl World {
    /// Starts the description of a world.
    pub fn builder() -> WorldBuilder {
        WorldBuilder::default()
    }

    /// Time since the start (s).
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

    /// Warnings that came up while building.
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

    /// The next step's length if it were not cut to fit an interval, and the reason (s).
    pub fn time_step_limit(&self) -> (Real, &'static str) {
        let all: Vec<usize> = (0..self.groups.len()).collect();
        let limit = self.limit(&all, self.hand().as_ref());
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
            end,
            grip_impulses: vec![Vec3::ZERO; self.grips.len()],
            obstacle_impulses: vec![Vec3::ZERO; self.obstacles.len()],
            time_step: end - self.time,
            ..Interval::default()
        };
        let start = self.time;
        let advanced = self.advance_through_events(end);
        if self.time > start {
            self.moved.go_on((self.time - start) / (end - start));
        }
        advanced
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

    fn advance_through_events(&mut self, end: Real) -> Result<(), WorldError> {
        while self.time < end {
            self.act_on_due_events()?;
            self.advance_undisturbed(self.schedule.pause(end))?;
        }
        Ok(())
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
        self.moved.visit_state(visitor);
        for group in &mut self.groups {
            group.particles.visit_state(visitor);
            group.companions().visit_state(visitor);
            group.method.visit_state(visitor);
        }
    }

    /// Rebuilds what is derived from state after a visitor wrote it.
    pub fn restored(&mut self) {
        for group in &mut self.groups {
            group.method.changed(&group.particles, Change::Restored);
        }
        for k in 0..self.obstacles.len() {
            self.posed[k].moving |= self.moved.way(k).is_some();
        }
        self.interval = Interval { start: self.time, end: self.time, ..Interval::default() };
    }

    /// Digest of every bit of the state.
    pub fn digest(&mut self) -> u64 {
        let mut digest = Digest::default();
        self.visit_state(&mut digest);
        digest.0
    }

    /// The surface points that a body carries, where they are now; `None` if it carries none (m).
    pub fn carried_points(&self, body: usize) -> Option<Vec<Vec3>> {
        self.groups.iter().find_map(|g| g.carried.positions_of(body as u32, &g.particles))
    }

    /// Velocities of the surface points that a body carries; `None` if it carries none (m/s).
    pub fn carried_velocities(&self, body: usize) -> Option<Vec<Vec3>> {
        self.groups.iter().find_map(|g| g.carried.velocities_of(body as u32, &g.particles))
    }

    /// A snapshot with the asked-for columns; names that no group knows are left out.
    pub fn frame(&self, columns: &[&str]) -> Frame {
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
            point_sets: self.point_sets(),
        };
        let known = self.columns();
        for info in columns.iter().filter_map(|name| known.iter().find(|c| c.name == *name)) {
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
