//! What a method is handed in a step, and what it hands back.

use crate::contact::{Contacts, Grips};
use crate::forces::Fields;
use crate::math::Real;
use crate::particles::{Carry, PARTICLES, Particles, Remap, StateData, StateItem, StateVisitor};
use crate::surface::CarriedPoints;

/// Everything outside a group that a step may ask for.
pub struct StepContext<'a> {
    /// Time at the beginning of the step (s).
    pub time: Real,
    /// Length of the step (s).
    pub time_step: Real,
    /// Gravity and force fields.
    pub fields: Fields<'a>,
    /// Obstacles, where they are at the end of the step, and other bodies.
    pub contacts: Contacts<'a>,
    /// Grips, with their targets for the end of the step.
    pub grips: Grips<'a>,
    /// Points that the group carries along.
    pub carried: &'a mut CarriedPoints,
    /// The next id that no particle of the world has had.
    pub next_id: &'a mut u64,
    /// Where the time went.
    pub timings: &'a mut Timings,
}

impl StepContext<'_> {
    /// Splits, merges or reorders the particles of the group and everything that the world knows of them by index. The
    /// method does the same with its own state. What splits off gets new ids; held particles must stay one each.
    pub fn remap(&mut self, particles: &mut Particles, remap: &mut Remap) {
        self.contacts.bodies.forget_own(particles);
        self.carried.loosen_remapped(particles, remap);
        particles.visit_state(remap);
        let data = StateData::Integers(self.contacts.touching);
        remap.visit(StateItem { name: "touching", unit: "1", set: PARTICLES, carry: Carry::Copy, data });
        self.grips.holds.visit_state(remap);
        self.carried.visit_state(remap);
        for k in remap.later_parts() {
            particles.id[k] = *self.next_id as u32;
            *self.next_id += 1;
        }
    }
}

/// What a step reports.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepReport {
    /// Iterations of the solves in this step.
    pub iterations: usize,
    /// Solves that stopped before their tolerance.
    pub n_unconverged: usize,
    /// Particles that yielded.
    pub n_yielded: usize,
}

/// Why a step failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StepError {
    /// A value is not a number any more.
    #[error("{column} is not finite")]
    NonFinite {
        /// The state array.
        column: &'static str,
        /// The particle.
        particle: usize,
    },
    /// An event that cannot happen.
    #[error("{reason}")]
    Event {
        /// Why.
        reason: String,
    },
    /// The matter is torn to pieces, and steps would have to become uselessly small.
    #[error("{reason}")]
    Unstable {
        /// What was seen.
        reason: String,
        /// The particle.
        particle: usize,
    },
}

/// Seconds by stage, from a clock that the caller brings: the engine has none.
#[derive(Clone, Debug, Default)]
pub struct Timings {
    clock: Option<fn() -> Real>,
    stages: Vec<(&'static str, Real)>,
}

impl Timings {
    /// Measures with a clock that returns seconds.
    pub fn new(clock: fn() -> Real) -> Self {
        Self { clock: Some(clock), stages: Vec::new() }
    }

    /// Runs a stage and books its time.
    pub fn stage<T>(&mut self, name: &'static str, run: impl FnOnce() -> T) -> T {
        let Some(clock) = self.clock else { return run() };
        let start = clock();
        let result = run();
        self.book(name, clock() - start);
        result
    }

    /// For stages that need the rest of the context: the time at which one begins.
    pub fn start(&self) -> Option<Real> {
        self.clock.map(|clock| clock())
    }

    /// Books the time since a start.
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

    /// Stages in the order in which they first ran, with their seconds.
    pub fn stages(&self) -> &[(&'static str, Real)] {
        &self.stages
    }

    /// Forgets what was measured.
    pub fn clear(&mut self) {
        self.stages.clear();
    }
}
