//! Input and output of a step: context, report, errors and timings.

use super::ForceWork;
use crate::contact::{Contacts, Grips, Holds};
use crate::forces::Fields;
use crate::linear::Solved;
use crate::math::{Real, Vec3};
use crate::particles::{Carry, PARTICLES, Particles, Remap, StateData, StateItem, StateVisitor};
use crate::surface::CarriedPoints;

/// Data outside a group that a step may use.
pub struct StepContext<'a> {
    /// Time at the beginning of the step (s).
    pub time: Real,
    /// Length of the step (s).
    pub time_step: Real,
    /// Gravity and force fields.
    pub fields: Fields<'a>,
    /// Obstacles at their poses at the end of the step, and other bodies.
    pub contacts: Contacts<'a>,
    /// Grips, with their targets for the end of the step.
    pub grips: Grips<'a>,
    /// Points that move with the particles of the group.
    pub carried: &'a mut CarriedPoints,
    /// Work of the forces in this step.
    pub work: ForceWork,
    /// Next particle id that has not been used in this world.
    pub next_id: &'a mut u64,
    /// Time spent in each stage.
    pub timings: &'a mut Timings,
}

impl StepContext<'_> {
    /// Splits, merges or reorders the particles of the group and all data of the world that refers to them by index.
    /// The method must do the same with its own state. Parts that are split off get new ids; held particles must not be
    /// split or merged.
    pub fn remap(&mut self, particles: &mut Particles, remap: &mut Remap) {
        self.contacts.bodies.forget_own(particles);
        self.carried.loosen_remapped(particles, remap);
        particles.visit_state(remap);
        let Self { contacts, grips, carried, .. } = self;
        let Contacts { touching, slip, .. } = contacts;
        Companions { touching, slip, holds: grips.holds, carried }.visit_state(remap);
        for k in remap.later_parts() {
            particles.id[k] = *self.next_id as u32;
            *self.next_id += 1;
        }
    }
}

/// Data of the world that refers to the particles of a group by index. Checkpoints and remaps visit the same list.
pub(crate) struct Companions<'a> {
    /// Contact mark of each particle: it touches nothing, touches an obstacle or is held by one. The next kick uses it.
    pub(crate) touching: &'a mut Vec<u32>,
    /// Velocity at which each particle flows along the obstacle that it touches (m/s).
    pub(crate) slip: &'a mut Vec<Vec3>,
    /// Particles that grips hold.
    pub(crate) holds: &'a mut Holds,
    /// Surface points that the particles carry.
    pub(crate) carried: &'a mut CarriedPoints,
}

impl Companions<'_> {
    /// Visits every state array once.
    pub(crate) fn visit_state(&mut self, visitor: &mut dyn StateVisitor) {
        let mut item = |name, unit, data| {
            visitor.visit(StateItem { name, unit, set: PARTICLES, carry: Carry::Copy, data })
        };
        item("touching", "1", StateData::Integers(self.touching));
        item("slip", "m/s", StateData::Vectors(self.slip));
        self.holds.visit_state(visitor);
        self.carried.visit_state(visitor);
    }
}

/// Report of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepReport {
    /// Iterations of the solves in this step.
    pub iterations: usize,
    /// Number of solves that stopped before they reached their tolerance.
    pub n_unconverged: usize,
    /// Number of particles that yielded.
    pub n_yielded: usize,
}

impl StepReport {
    /// Creates the report of a step with one solve.
    pub fn new(solved: Solved, n_yielded: usize) -> Self {
        Self { iterations: solved.iterations, n_unconverged: usize::from(!solved.converged), n_yielded }
    }
}

/// Reason why a step failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StepError {
    /// A value is infinite or not a number.
    #[error("{column} is not finite")]
    NonFinite {
        /// Name of the state array.
        column: &'static str,
        /// Index of the particle.
        particle: usize,
    },
    /// An event cannot be carried out.
    #[error("{reason}")]
    Event {
        /// Explains why.
        reason: String,
    },
    /// The matter is torn apart, and steps would become too small to be useful.
    #[error("{reason}")]
    Unstable {
        /// Describes what was detected.
        reason: String,
        /// Index of the particle.
        particle: usize,
    },
}

/// Seconds spent in each stage. The caller provides the clock: the engine has none.
#[derive(Clone, Debug, Default)]
pub struct Timings {
    clock: Option<fn() -> Real>,
    stages: Vec<(&'static str, Real)>,
}

impl Timings {
    /// Creates timings that use a clock which returns seconds.
    pub fn new(clock: fn() -> Real) -> Self {
        Self { clock: Some(clock), stages: Vec::new() }
    }

    /// Runs a stage and adds its time.
    pub fn stage<T>(&mut self, name: &'static str, run: impl FnOnce() -> T) -> T {
        let Some(clock) = self.clock else { return run() };
        let start = clock();
        let result = run();
        self.book(name, clock() - start);
        result
    }

    /// Returns the start time of a stage, for stages that need the rest of the context; `None` without a clock.
    pub fn start(&self) -> Option<Real> {
        self.clock.map(|clock| clock())
    }

    /// Adds the time since `start` to a stage.
    pub fn stop(&mut self, name: &'static str, start: Option<Real>) {
        if let (Some(clock), Some(start)) = (self.clock, start) {
            self.book(name, clock() - start);
        }
    }

    fn book(&mut self, name: &'static str, seconds: Real) {
        match self.stages.iter_mut().find(|stage| stage.0 == name) {
            Some(stage) => stage.1 += seconds,
            None => self.stages.push((name, seconds)),
        }
    }

    /// Returns the stages in the order in which they first ran, with their seconds.
    pub fn stages(&self) -> &[(&'static str, Real)] {
        &self.stages
    }

    /// Deletes all measured times.
    pub fn clear(&mut self) {
        self.stages.clear();
    }
}
