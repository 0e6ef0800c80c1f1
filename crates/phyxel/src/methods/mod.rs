//! The methods: each a published way to drive a group of bodies, behind one trait. Methods never import each other.

mod catalogue;
mod context;
pub mod embedded;
mod energies;
pub mod explicit;
pub mod incremental;
pub mod reference;
mod settings;
mod stiffness;
mod strays;
#[cfg(test)]
mod testing;
mod thin_bodies;

pub use catalogue::{Abilities, CATALOGUE, Entry, Refusal, built_methods, find_method};
pub use context::{StepContext, StepError, StepReport, Timings};
pub use energies::{ElasticEnergy, Energies};
pub use settings::{SettingError, SettingInfo, SettingKind, SettingValue};

use crate::geometry::Sampling;
use crate::material::{Flow, Law, MaterialChange};
use crate::math::{Mat3, Real, Vec3};
use crate::neighbors::Components;
use crate::particles::{Particles, StateVisitor};
use std::fmt::Debug;

/// Volume ratios are not taken smaller than this where something is divided by them, dissipates in them or compares their
/// logarithms.
const LEAST_VOLUME_RATIO: Real = 0.1;

/// One published method driving one group of bodies.
pub trait Method: Send + Sync {
    /// Largest stable step in the present state, and why.
    fn max_time_step(&self, particles: &Particles) -> TimeStepLimit;

    /// How the method's steps respond to contact.
    fn contact_response(&self) -> ContactResponse {
        ContactResponse::Explicit
    }

    /// Advances the group by `ctx.time_step`.
    ///
    /// # Errors
    /// When the state cannot be advanced; the world adds the body and the time.
    fn step(&mut self, particles: &mut Particles, ctx: &mut StepContext<'_>)
    -> Result<StepReport, StepError>;

    /// Takes up the impulses that others have given to the particles since the last step ([`Particles::impulse`]). Methods whose
    /// degrees of freedom are not the particles pass them on.
    fn take_impulses(&mut self, particles: &mut Particles) {
        particles.take_impulses();
    }

    /// Velocity change of particle i per impulse on it alone (1/kg), where other particles move with it; `None` for particles that are
    /// degrees of freedom themselves (1/m).
    fn joint_mobility(&self, _particles: &Particles, _i: usize) -> Option<Real> {
        None
    }

    /// Something changed outside a step: rebuild what was derived from it.
    fn changed(&mut self, particles: &Particles, change: Change);

    /// Takes particles that have been appended to the group, from number `first` on: unstressed, of the material of their body.
    ///
    /// # Errors
    /// When the method cannot do it; nothing has changed then.
    fn take_births(&mut self, particles: &Particles, first: usize) -> Result<(), MethodError> {
        let body = particles.body.get(first).copied();
        Err(MethodError { body, message: "its method takes no particles while it runs".into() })
    }

    /// Follows a change of a body's material between steps, which [`Particles::material`] shows already: forces and stable steps follow at
    /// once, rest shape and plastic state stay. A change of stiffness names both moduli, one of the flow its kind.
    ///
    /// # Errors
    /// When the method cannot do it; nothing has changed then.
    fn change_material(
        &mut self,
        _particles: &Particles,
        body: u32,
        _change: &MaterialChange,
    ) -> Result<(), MethodError> {
        let message = "its method cannot change materials while it runs".into();
        Err(MethodError { body: Some(body), message })
    }

    /// Names every state array of the method's own once.
    fn visit_state(&mut self, visitor: &mut dyn StateVisitor);

    /// Energies of the present state.
    fn energies(&self, particles: &Particles) -> Energies;

    /// Σ V_i det F_i (m³)
    fn current_volume(&self, particles: &Particles) -> Real;

    /// How the particles of a body hang together now: contact meets bodies by it.
    fn connectivity(&self, body: u32) -> Connectivity;

    /// Calls back with every particle that particle i is joined to by forces, and the bond to it as it would be without stress: they tell
    /// contact where surfaces are, and carried points whom to follow. Parts of a body that no bonds join may touch.
    fn visit_bonds(&self, particles: &Particles, i: usize, visit: &mut dyn FnMut(usize, Vec3));

    /// Number of pieces that the bonds which transmit force make of the particles; one without such bonds is a piece. `None` if
    /// the method does not know. See [`count_pieces`].
    fn n_pieces(&self, _particles: &Particles) -> Option<usize> {
        None
    }

    /// Elastic deformation gradient of particle i; the identity where the method has none.
    fn elastic_gradient(&self, _i: usize) -> Mat3 {
        Mat3::IDENTITY
    }

    /// What a user should know before a run: one sentence each.
    fn warnings(&self, _particles: &Particles) -> Vec<String> {
        Vec::new()
    }

    /// Columns that [`Method::column`] can compute.
    fn columns(&self) -> &'static [ColumnInfo] {
        &[]
    }

    /// A column by name, row after row; `None` if the method has no such column.
    fn column(&self, _name: &str, _particles: &Particles) -> Option<Vec<Real>> {
        None
    }

    /// More columns for the ledger, counters and sums: the same names in the same order every time.
    fn counters(&self, _particles: &Particles) -> Vec<(&'static str, Real)> {
        Vec::new()
    }
}

/// Number of connected components of n particles. `joined(i)` gives the particles that i is joined to; bonds of both ends may
/// be given, or of one.
pub fn count_pieces<R: IntoIterator<Item = u32>>(n: usize, joined: impl Fn(usize) -> R) -> usize {
    let mut components = Components::new(n);
    for i in 0..n {
        components.join_all(i as u32, joined(i));
    }
    components.n_sets()
}

/// How steps respond to contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContactResponse {
    /// By the functions of [`explicit`]: particles exchange impulses before and after moving.
    Explicit,
    /// By the method's own solve over [`Contacts::rows`](crate::contact::Contacts::rows).
    Rows,
    /// As `Rows`, wherever particles pass on their way: their speed does not limit steps at obstacles.
    SweptRows,
}

/// How the particles of a body hang together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connectivity {
    /// By the bonds that [`Method::visit_bonds`] shows: a body with a surface, which also meets itself where no bonds join it.
    Bonds,
    /// By forces without bonds, as in a fluid: its particles meet other bodies as balls of their contact radius, and do not meet each
    /// other.
    Balls,
}

/// Makes a method for a group. Implemented by each method's `Params`, and by callers who bring their own.
pub trait MethodFactory: Debug + Send + Sync {
    /// The scene key, such as "reference". Bodies with the same key form a group.
    fn key(&self) -> &str;

    /// Builds the method on sorted particles, which it may adjust (masses and volumes by its own rule).
    ///
    /// # Errors
    /// When the method cannot do what the group asks.
    fn build(&self, particles: &mut Particles, matter: &Matter) -> Result<Box<dyn Method>, MethodError>;

    /// Settings that users can change, in the order in which they are documented and set.
    fn settings(&self) -> Vec<SettingInfo> {
        Vec::new()
    }

    /// The present value of a setting; `None` if there is no such setting or it has no meaning beside the others.
    fn get(&self, _key: &str) -> Option<SettingValue> {
        None
    }

    /// Changes a setting.
    ///
    /// # Errors
    /// Settings that do not exist, and values that make no sense; nothing has changed then.
    fn set(&mut self, key: &str, _value: &SettingValue) -> Result<(), SettingError> {
        Err(SettingError { message: format!("there is no setting `{key}`"), help: None })
    }

    /// A copy with the same settings.
    fn clone_box(&self) -> Box<dyn MethodFactory>;

    /// Memory that a particle takes at the most while a world is built and run (bytes).
    fn bytes_per_particle(&self) -> Real {
        4000.0
    }
}

/// Facts of a group's bodies. The properties of their matter are [`Particles::material`].
#[derive(Clone, Debug)]
pub struct Matter {
    /// The bodies of the group.
    pub bodies: Vec<GroupBody>,
}

impl Matter {
    /// By body, the piece of matter that it belongs to: searches for bonds are keyed by it.
    pub fn pieces(&self) -> Vec<u32> {
        let n = self.bodies.iter().map(|b| b.index as usize + 1).max().unwrap_or(0);
        let mut pieces = vec![0; n];
        self.bodies.iter().for_each(|b| pieces[b.index as usize] = b.matter);
        pieces
    }
}

/// For each particle its piece of matter.
fn keys(pieces: &[u32], particles: &Particles) -> Vec<u32> {
    particles.body.iter().map(|&body| pieces[body as usize]).collect()
}

/// What a method may want to know of a body.
#[derive(Clone, Debug)]
pub struct GroupBody {
    /// Index of the body in the world, as in [`Particles::body`].
    pub index: u32,
    /// Its name.
    pub name: String,
    /// Bodies with the same number are one piece of matter: bonds join them where they touch.
    pub matter: u32,
    /// How it was filled.
    pub sampling: Sampling,
    /// True volume (m³).
    pub volume: Real,
    /// From strain to stress; the method's own law if `None`.
    pub law: Option<Law>,
    /// Kind of flow.
    pub flow: Flow,
}

impl GroupBody {
    /// True if its material can flow.
    pub fn flows(&self) -> bool {
        self.flow != Flow::None
    }
}

/// Something changed outside a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// State was loaded from elsewhere (a checkpoint).
    Restored,
    /// Positions or velocities were changed by the caller.
    Moved,
}

/// The largest stable time step, and why.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeStepLimit {
    /// What the method would take by itself, safety included (s).
    pub value: Real,
    /// Where the scheme becomes unstable; a step asked for must not exceed it (s).
    pub stable: Real,
    /// One word for the ledger.
    pub reason: &'static str,
    /// The particle that sets it.
    pub particle: Option<usize>,
}

/// A column that can be exported or coloured by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnInfo {
    /// As in scenes.
    pub name: &'static str,
    /// SI unit.
    pub unit: &'static str,
    /// What it is.
    pub about: &'static str,
    /// 1 for scalars, 3 for vectors.
    pub n_components: usize,
}

impl ColumnInfo {
    /// A column of scalars.
    pub const fn scalar(name: &'static str, unit: &'static str, about: &'static str) -> Self {
        Self { name, unit, about, n_components: 1 }
    }

    /// A column of vectors.
    pub const fn vector(name: &'static str, unit: &'static str, about: &'static str) -> Self {
        Self { name, unit, about, n_components: 3 }
    }
}

/// A group that a method cannot drive.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct MethodError {
    /// Index of the body concerned in the world, if it is one.
    pub body: Option<u32>,
    /// What is wrong and what to change.
    pub message: String,
}
