//! The energy balance: work done on the bodies, heat, and the error that is left.
//!
//! Energy that enters is work of obstacles, grips, fields and the hand. Forces turn potential energy (elastic, gravity)
//! into kinetic energy and back: with their work P = Σ f·Δx,
//!   heat Q = P + W_obstacles + W_grips + W_hand − ΔK        by viscosity, friction, impacts and drag
//!   error  = ΔU + ΔG + W_plastic + P − P_fields             0 if forces are the slopes of the energies
//!   K kinetic, U elastic, G potential energy of gravity (J)
//! Heat never falls. Where it does from one interval to the next, contact has put energy in: the gain.
//! Jumps of energy by events and calls (bodies added, materials changed) count as the state of the start.

use super::World;
use crate::math::{Real, sum_over};
use crate::methods::{ElasticEnergy, Energies, ForceWork};
use crate::particles::{Carry, StateData, StateItem, StateVisitor};

/// Energy balance since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EnergyBalance {
    /// Work that obstacles did on the bodies (J).
    pub obstacle_work: Real,
    /// Work that grips did on the bodies (J).
    pub grip_work: Real,
    /// Work of force fields other than gravity (J).
    pub field_work: Real,
    /// Work of the hand and of pushes by calls (J).
    pub hand_work: Real,
    /// Kinetic energy that viscosity, friction, impacts and drag have turned into heat (J).
    pub heat: Real,
    /// Energy that contact has put in, by pushing particles apart or out of obstacles at rest (J).
    pub gain: Real,
    /// Energy that none of these explains; positive if energy has appeared (J).
    pub error: Real,
    /// Energy exchanged so far: Σ |P| over the steps, and the heat (J).
    pub exchanged: Real,
}

/// Smallest exchange, as a share of the kinetic energy, that errors are compared with: rounding errors of bodies in free
/// flight do not count.
const LEAST_EXCHANGE: Real = 1e-6;

impl EnergyBalance {
    /// Returns |error| and gain as a fraction of the energy exchanged.
    pub fn relative_error(&self) -> Real {
        let amiss = self.error.abs() + self.gain;
        if amiss == 0.0 { 0.0 } else { amiss / self.exchanged.max(Real::MIN_POSITIVE) }
    }
}

/// Sums of the balance since the start.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Books {
    pub(super) obstacle_work: Real,
    pub(super) grip_work: Real,
    pub(super) hand_work: Real,
    field_work: Real,
    force_work: Real,
    /// Σ |work of forces| of all steps (J).
    turnover: Real,
    /// Heat at the end of the last interval (J).
    last_heat: Real,
    gain: Real,
    /// Kinetic energy at the start, with the jumps since (J).
    start_kinetic: Real,
    /// U + G + W_plastic at the start, with the jumps since (J).
    start_stored: Real,
    /// Number of steps whose work is unknown.
    n_unknown: u64,
}

impl Books {
    /// Adds the work of forces in one step of a group.
    pub(super) fn add(&mut self, work: ForceWork) {
        self.force_work += work.total;
        self.field_work += work.fields;
        self.turnover += work.total.abs();
        self.n_unknown += u64::from(!work.is_booked);
    }

    /// Returns the heat, given the present kinetic energy (J).
    fn heat(&self, kinetic: Real) -> Real {
        let work = self.force_work + self.obstacle_work + self.grip_work + self.hand_work;
        work - (kinetic - self.start_kinetic)
    }

    pub(super) fn visit_state(&mut self, visitor: &mut dyn StateVisitor) {
        let Self { obstacle_work, grip_work, hand_work, field_work, force_work, turnover, .. } = self;
        let (kinetic, stored) = (&mut self.start_kinetic, &mut self.start_stored);
        let (heat, gain) = (&mut self.last_heat, &mut self.gain);
        let numbers = [
            ("obstacle_work", obstacle_work),
            ("grip_work", grip_work),
            ("hand_work", hand_work),
            ("field_work", field_work),
            ("force_work", force_work),
            ("turnover", turnover),
            ("last_heat", heat),
            ("contact_gain", gain),
            ("start_kinetic_energy", kinetic),
            ("start_stored_energy", stored),
        ];
        for (name, number) in numbers {
            let data = StateData::Number(number);
            visitor.visit(StateItem { name, unit: "J", set: "", carry: Carry::Copy, data });
        }
        let data = StateData::Counter(&mut self.n_unknown);
        visitor.visit(StateItem { name: "unknown_work", unit: "1", set: "", carry: Carry::Copy, data });
    }
}

/// Energies of the world at one moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct WorldEnergies {
    pub(super) kinetic: Real,
    /// `None` if a method does not compute it.
    pub(super) elastic: Option<ElasticEnergy>,
    pub(super) gravity: Real,
    pub(super) plastic_work: Real,
}

impl WorldEnergies {
    /// Returns U + G + W_plastic; `None` if a method does not compute its elastic energy (J).
    fn stored(&self) -> Option<Real> {
        Some(self.elastic?.total() + self.gravity + self.plastic_work)
    }
}

impl World {
    pub(super) fn energies(&self) -> WorldEnergies {
        let groups = || self.groups.iter();
        let energies: Vec<Energies> = groups().map(|g| g.method.energies(&g.particles)).collect();
        let gravity = |p: &crate::particles::Particles| {
            -sum_over::<Real, _>(p.len(), |i| p.mass[i] * self.gravity.dot(p.position[i]))
        };
        WorldEnergies {
            kinetic: groups().map(|g| g.particles.kinetic_energy()).sum(),
            elastic: energies.iter().map(|e| e.elastic).sum(),
            gravity: groups().map(|g| gravity(&g.particles)).sum(),
            plastic_work: energies.iter().map(|e| e.plastic_work).sum(),
        }
    }

    /// Starts the balance with the present energies.
    pub(super) fn open_books(&mut self) {
        let now = self.energies();
        let (start_kinetic, start_stored) = (now.kinetic, now.stored().unwrap_or(0.0));
        self.books = Books { start_kinetic, start_stored, ..Books::default() };
    }

    /// Makes a change whose jump of energy is nobody's work.
    pub(super) fn with_jump<T>(&mut self, change: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.energies();
        let result = change(self);
        let after = self.energies();
        let jump = after.stored().unwrap_or(0.0) - before.stored().unwrap_or(0.0);
        self.books.start_kinetic += after.kinetic - before.kinetic;
        self.books.start_stored += jump;
        result
    }

    /// Returns the balance, given the present energies; `None` if a method does not record its work or its energy.
    pub(super) fn balance(&self, now: &WorldEnergies) -> Option<EnergyBalance> {
        let Books { obstacle_work, grip_work, hand_work, field_work, force_work, gain, .. } = self.books;
        let stored = now.stored().filter(|_| self.books.n_unknown == 0)?;
        let heat = self.books.heat(now.kinetic);
        let error = stored - self.books.start_stored + force_work - field_work;
        let exchanged = (self.books.turnover + heat.max(0.0)).max(LEAST_EXCHANGE * now.kinetic);
        Some(EnergyBalance { obstacle_work, grip_work, field_work, hand_work, heat, gain, error, exchanged })
    }

    /// Closes the books of an interval: heat that was lost is a gain of energy by contact.
    pub(super) fn close_books(&mut self) {
        let kinetic = self.groups.iter().map(|g| g.particles.kinetic_energy()).sum();
        let heat = self.books.heat(kinetic);
        self.books.gain += (self.books.last_heat - heat).max(0.0);
        self.books.last_heat = heat;
    }
}
