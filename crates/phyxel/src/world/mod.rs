//! A world: groups of bodies, the obstacles, grips and forces that act on them, and the stepping through time.

mod balance;
mod bodies;
mod body_state;
mod builder;
mod clearance;
mod drag;
mod events;
mod ids;
mod ledger;
mod moved_obstacles;
mod pace;
mod queries;
mod restoring;
mod sampling_quality;
mod sorting;
mod stepping;

pub use balance::EnergyBalance;
pub use bodies::{NewParticles, RemoveError};
pub use body_state::BodyState;
pub use builder::{Body, BuildError, WorldBuilder};
pub use events::{Action, ActionError, Event, Hold};
pub use ids::{BodyId, ObstacleId};
pub use ledger::Ledger;
pub use queries::{RayHit, Touching, TouchingSide};
pub use sampling_quality::SamplingQuality;

use self::balance::Books;
use self::builder::Methods;
use self::drag::{Hand, Pull, visit_pull};
use self::events::Schedule;
use self::moved_obstacles::MovedObstacles;
use crate::contact::{BodyContacts, Grip, GripMove, Holds, Obstacle, PosedObstacle, Shift, Touch};
use crate::forces::ForceField;
use crate::frame::{Frame, FrameColumn};
use crate::material::Material;
use crate::math::{Real, Vec3, max_over};
use crate::methods::{Change, ColumnInfo, Companions, Method, StepError, Timings};
use crate::particles::{Carry, Digest, LAYOUT, Particles, StateData, StateItem, StateVisitor};
use crate::surface::CarriedPoints;

/// Bodies that one method drives together, with one particle system, one neighbour search and one solve.
struct Group {
    /// Key of the method.
    key: String,
    /// Indices of the bodies.
    bodies: Vec<u32>,
    particles: Particles,
    method: Box<dyn Method>,
    holds: Holds,
    /// Contact mark of each particle: it touches nothing, touches an obstacle or sticks to one. The next kick uses it,
    /// so it is state.
    touching: Vec<u32>,
    /// Velocity at which each particle flows along the obstacle that it touches; used by the next step (m/s).
    slip: Vec<Vec3>,
    /// Scratch data of the contacts.
    given: Vec<Vec3>,
    pushes: Vec<Shift>,
    /// Surface points that the particles carry along.
    carried: CarriedPoints,
    /// Step limit of the method in the undeformed state with the materials of the start (s).
    start_limit: Real,
    /// Estimate of the same limit with the present materials (s).
    rest_limit: Real,
}

impl Group {
    /// Returns the data of the group that refers to the particles by index.
    fn companions(&mut self) -> Companions<'_> {
        let Self { touching, slip, holds, carried, .. } = self;
        Companions { touching, slip, holds, carried }
    }
}

/// A simulation that can be advanced.
pub struct World {
    groups: Vec<Group>,
    /// Methods from which groups can be built.
    methods: Methods,
    body_names: Vec<String>,
    /// Present material of each body.
    materials: Vec<Material>,
    /// P-wave modulus of each body at the start (Pa).
    start_modulus: Vec<Real>,
    /// Ratio of the present P-wave modulus of each body to that at the start, at least 1.
    stiffening: Vec<Real>,
    schedule: Schedule,
    /// Pulled particle: none or one entry.
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
    /// Next particle id that has not been used in this world.
    next_id: u64,
    largest_step: Option<Real>,
    /// Longest step at the start (s).
    start_limit: Real,
    warnings: Vec<String>,
    timings: Timings,
    interval: Interval,
    books: Books,
}

/// Record of the interval since the last call of [`World::advance_to`].
#[derive(Clone, Debug, Default)]
struct Interval {
    start: Real,
    end: Real,
    n_steps: usize,
    iterations: usize,
    n_unconverged: usize,
    n_yielded: usize,
    n_pinched: usize,
    time_step: Real,
    reason: &'static str,
    grip_impulses: Vec<Vec3>,
    obstacle_impulses: Vec<Vec3>,
    /// Impulses of obstacles on bodies, for each pair of both.
    touches: Vec<Touch>,
    drag_impulse: Vec3,
    /// Number of pairs of particles that press on each other at the end, and the deepest overlap (m).
    body_contacts: (usize, Real),
    /// Impulses between bodies in the last step.
    body_touches: Vec<Touch>,
}

/// Error: the world cannot be advanced further.
#[derive(Clone, Debug, thiserror::Error)]
#[error("at {time:.6} s, body \"{body}\", particle {particle}: {source}. {remedy}")]
pub struct WorldError {
    /// Time of the failure (s).
    pub time: Real,
    /// Name of the body.
    pub body: String,
    /// Id of the particle.
    pub particle: u32,
    /// Problem that was detected.
    pub source: StepError,
    /// Advice on what to change.
    pub remedy: &'static str,
}

const REMEDY: &str = "Lower `time_step` or the method's `safety`, add `viscosity`, raise `youngs_modulus`, or check \
                      that bodies, grips and obstacles do not start inside each other";
impl World {
    /// Returns a builder with default settings, to describe a world.
    pub fn builder() -> WorldBuilder {
        WorldBuilder::default()
    }

    /// Returns the time since the start (s).
    pub fn time(&self) -> Real {
        self.time
    }

    /// Returns the number of particles.
    pub fn n_particles(&self) -> usize {
        self.groups.iter().map(|g| g.particles.len()).sum()
    }

    /// Returns the names of the bodies; [`Particles::body`] is an index into them.
    pub fn body_names(&self) -> &[String] {
        &self.body_names
    }

    /// Returns the particles of each group, in the engine's own order.
    pub fn particles(&self) -> impl Iterator<Item = &Particles> {
        self.groups.iter().map(|g| &g.particles)
    }

    /// Calls `edit` with the particles of each group, to change positions and velocities between steps. Their number
    /// must stay the same.
    pub fn edit_particles(&mut self, mut edit: impl FnMut(&mut Particles)) {
        self.with_jump(|world| {
            for group in &mut world.groups {
                edit(&mut group.particles);
                group.method.changed(&group.particles, Change::Moved);
            }
        });
    }

    /// Returns the warnings found while the world and bodies added later were built.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Returns the seconds spent in each stage, if the builder was given a clock.
    pub fn timings(&self) -> &Timings {
        &self.timings
    }

    /// Returns the columns that can be requested from [`World::frame`].
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

    /// Returns the length of the next step (s) if it were not cut to fit an interval, and the reason for that length.
    pub fn time_step_limit(&self) -> (Real, &'static str) {
        let all: Vec<usize> = (0..self.groups.len()).collect();
        let limit = self.limit(&all, self.hand().as_ref());
        (limit.value, limit.reason)
    }

    /// Advances by an interval (s), in equal steps within all limits.
    ///
    /// # Errors
    /// If a value is not finite, the matter is torn apart or an event fails; the world is then at the time of the
    /// failure.
    pub fn advance(&mut self, interval: Real) -> Result<(), WorldError> {
        self.advance_to(self.time + interval)
    }

    /// Advances to a time (s), in equal steps within all limits; if a limit shrinks on the way, the remaining time is
    /// divided anew. Events happen at their times: those due at the present time before the first step, those due at
    /// `end` in the next call.
    ///
    /// # Errors
    /// In the same cases as [`World::advance`].
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
        self.close_books();
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

    /// Visits all state, group after group. After a visitor that writes (a checkpoint), [`World::restored`] must be
    /// called. Such a visitor needs a newly built world with the same events; past material changes are repeated during
    /// the visit.
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
        self.books.visit_state(visitor);
        self.body_contacts.visit_state(visitor);
        for group in &mut self.groups {
            group.particles.visit_state(visitor);
            group.drop_empty_bodies();
            group.companions().visit_state(visitor);
            group.method.visit_state(visitor);
        }
    }

    /// Returns a digest of all bits of the state.
    pub fn digest(&mut self) -> u64 {
        let mut digest = Digest::default();
        self.visit_state(&mut digest);
        digest.0
    }

    /// Returns the present positions of the surface points that a body carries; `None` if it carries none (m).
    pub fn carried_points(&self, body: usize) -> Option<Vec<Vec3>> {
        self.groups.iter().find_map(|g| g.carried.positions_of(body as u32, &g.particles))
    }

    /// Returns the velocities of the surface points that a body carries; `None` if it carries none (m/s).
    pub fn carried_velocities(&self, body: usize) -> Option<Vec<Vec3>> {
        self.groups.iter().find_map(|g| g.carried.velocities_of(body as u32, &g.particles))
    }

    /// Returns a snapshot with the requested columns; names that no group knows are ignored.
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

/// Returns a column of one group; NaN if its method has no column of that name.
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

/// Finds the first particle with a position or velocity that is not finite. No other check is needed: everything that
/// a method computes ends in positions and velocities.
fn first_non_finite(p: &Particles) -> Option<(&'static str, usize)> {
    let bad = |i: usize| if p.position[i].is_finite() && p.velocity[i].is_finite() { 0.0 } else { 1.0 };
    let (_, i) = max_over(p.len(), bad).filter(|found| found.0 > 0.0)?;
    Some((if p.position[i].is_finite() { "velocity" } else { "position" }, i))
}
