//! Simulation methods behind one trait: those of the catalogue, each of a published paper, and rigid bodies. Methods never
//! import each other.

mod catalogue;
mod columns;
mod context;
pub mod embedded;
mod energies;
pub mod explicit;
mod flow_step;
pub mod incremental;
pub mod reference;
pub mod rigid;
pub mod rows;
mod settings;
mod stiffness;
mod strays;
#[cfg(test)]
mod testing;
mod thin_bodies;
mod work;

pub use catalogue::{Abilities, CATALOGUE, Entry, Refusal, built_methods, find_method};
pub(crate) use context::Companions;
pub use context::{StepContext, StepError, StepReport, Timings};
pub use energies::{ElasticEnergy, Energies};
pub use settings::{SettingError, SettingInfo, SettingKind, SettingValue};
pub use work::ForceWork;

use crate::frame::PointSet;
use crate::geometry::Sampling;
use crate::material::{Flow, Law, MaterialChange};
use crate::math::{Mat3, Real, Vec3};
use crate::neighbors::Components;
use crate::particles::{Particles, Remap, StateVisitor};
use std::fmt::Debug;

/// Smallest volume ratio used in divisions, dissipation and logarithms; smaller ratios are replaced by it.
const LEAST_VOLUME_RATIO: Real = 0.1;

/// A method that drives one group of bodies.
pub trait Method: Send + Sync {
    /// Returns the largest stable step in the present state, and its reason.
    fn max_time_step(&self, particles: &Particles) -> TimeStepLimit;

    /// Returns how the method's steps respond to contact.
    fn contact_response(&self) -> ContactResponse {
        ContactResponse::Explicit
    }

    /// Advances the group by `ctx.time_step`.
    ///
    /// # Errors
    /// If the state cannot be advanced; the world adds the body and the time.
    fn step(&mut self, particles: &mut Particles, ctx: &mut StepContext<'_>)
    -> Result<StepReport, StepError>;

    /// Applies the impulses that others have given to the particles since the last step ([`Particles::impulse`]).
    /// Methods whose degrees of freedom are not the particles transfer them to their own.
    fn take_impulses(&mut self, particles: &mut Particles) {
        particles.take_impulses();
    }

    /// Returns the velocity change of particle i per impulse on it alone (1/kg), if other particles move with it.
    /// `None` for particles that are degrees of freedom themselves, for which it is 1/mass.
    fn joint_mobility(&self, _particles: &Particles, _i: usize) -> Option<Real> {
        None
    }

    /// Rebuilds the derived data after something changed outside a step.
    fn changed(&mut self, particles: &Particles, change: Change);

    /// Takes over particles that have been appended to the group, from index `first` on. They are unstressed and have
    /// the material of their body.
    ///
    /// # Errors
    /// If the method cannot do it; nothing has changed then.
    fn take_births(&mut self, particles: &Particles, first: usize) -> Result<(), MethodError> {
        let body = particles.body.get(first).copied();
        Err(MethodError { body, message: "its method takes no particles while it runs".into() })
    }

    /// Follows the removal of particles. `particles` are the remaining ones, and `remap` gives the origin of each.
    /// Forces become those of the remaining matter.
    ///
    /// # Errors
    /// If the method cannot do it; nothing has changed then.
    fn take_removals(&mut self, _particles: &Particles, _remap: &mut Remap) -> Result<(), MethodError> {
        Err(MethodError { body: None, message: "its method cannot lose particles while it runs".into() })
    }

    /// Follows a change of a body's material between steps; [`Particles::material`] already has the new values. Forces
    /// and stable steps change at once, the rest shape and the plastic state stay. A change of stiffness gives both
    /// moduli, a change of flow its kind.
    ///
    /// # Errors
    /// If the method cannot do it; nothing has changed then.
    fn change_material(
        &mut self,
        _particles: &Particles,
        body: u32,
        _change: &MaterialChange,
    ) -> Result<(), MethodError> {
        let message = "its method cannot change materials while it runs".into();
        Err(MethodError { body: Some(body), message })
    }

    /// Visits every state array that the method owns, each once.
    fn visit_state(&mut self, visitor: &mut dyn StateVisitor);

    /// Returns the energies of the present state.
    fn energies(&self, particles: &Particles) -> Energies;

    /// Returns the current volume Σ V_i det F_i (m³).
    fn current_volume(&self, particles: &Particles) -> Real;

    /// Returns how the particles of a body are connected now; contact treats bodies accordingly.
    fn connectivity(&self, body: u32) -> Connectivity;

    /// Calls `visit` with every particle that is joined to particle i by forces, and with the bond to it in the
    /// unstressed state. Contact finds surfaces from these bonds, and carried points follow them. Parts of a body that
    /// are not joined by bonds may touch.
    fn visit_bonds(&self, particles: &Particles, i: usize, visit: &mut dyn FnMut(usize, Vec3));

    /// Returns the number of pieces into which force-transmitting bonds group the particles; a particle without such
    /// bonds is a piece. `None` if the method does not know. See [`count_pieces`].
    fn n_pieces(&self, _particles: &Particles) -> Option<usize> {
        None
    }

    /// Returns the elastic deformation gradient of particle i, or the identity if the method has none.
    fn elastic_gradient(&self, _i: usize) -> Mat3 {
        Mat3::IDENTITY
    }

    /// Returns warnings for the user before a run, one sentence each.
    fn warnings(&self, _particles: &Particles) -> Vec<String> {
        Vec::new()
    }

    /// Returns the columns that [`Method::column`] can compute.
    fn columns(&self) -> &'static [ColumnInfo] {
        &[]
    }

    /// Computes a column by name, row after row; `None` if the method has no such column.
    fn column(&self, _name: &str, _particles: &Particles) -> Option<Vec<Real>> {
        None
    }

    /// Returns the points of the method that are not particles, for frames: nodes, surfels.
    fn point_sets(&self, _particles: &Particles) -> Vec<PointSet> {
        Vec::new()
    }

    /// Returns additional ledger columns (counters and sums): always the same names in the same order.
    fn counters(&self, _particles: &Particles) -> Vec<(&'static str, Real)> {
        Vec::new()
    }
}

/// Returns the number of connected components of n particles. `joined(i)` gives the particles that i is joined to. A
/// bond may be given from one end or from both.
pub fn count_pieces<R: IntoIterator<Item = u32>>(n: usize, joined: impl Fn(usize) -> R) -> usize {
    let mut components = Components::new(n);
    for i in 0..n {
        components.join_all(i as u32, joined(i));
    }
    components.n_sets()
}

/// Way in which steps respond to contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContactResponse {
    /// The functions of [`explicit`]: particles exchange impulses before and after moving.
    Explicit,
    /// The method's own solve over [`Contacts::rows`](crate::contact::Contacts::rows).
    Rows,
    /// Like `Rows`, and contact is detected along the whole path of a particle: speeds do not limit steps at obstacles.
    SweptRows,
}

/// Way in which the particles of a body are connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connectivity {
    /// By the bonds that [`Method::visit_bonds`] visits: the body has a surface and can also touch itself where no
    /// bonds join it.
    Bonds,
    /// By forces without bonds, as in a fluid: particles touch other bodies as balls of their contact radius, and do
    /// not touch each other.
    Balls,
}

/// Builds a method for a group. Each method's `Params` implement it; callers can implement it for methods of their own.
pub trait MethodFactory: Debug + Send + Sync {
    /// Returns the key of the method in scenes. Bodies with the same key form a group.
    fn key(&self) -> &str;

    /// Builds the method for sorted particles. It may change their masses and volumes by its own rule.
    ///
    /// # Errors
    /// If the method cannot drive the group.
    fn build(&self, particles: &mut Particles, matter: &Matter) -> Result<Box<dyn Method>, MethodError>;

    /// Returns the settings that users can change, in the order in which they are documented and set.
    fn settings(&self) -> Vec<SettingInfo> {
        Vec::new()
    }

    /// Returns the present value of a setting; `None` if it does not exist or does not apply with the other settings.
    fn get(&self, _key: &str) -> Option<SettingValue> {
        None
    }

    /// Changes a setting.
    ///
    /// # Errors
    /// If there is no such setting or the value is not allowed; nothing has changed then.
    fn set(&mut self, key: &str, _value: &SettingValue) -> Result<(), SettingError> {
        Err(SettingError { message: format!("there is no setting `{key}`"), help: None })
    }

    /// Returns a copy with the same settings.
    fn clone_box(&self) -> Box<dyn MethodFactory>;

    /// Returns the largest memory use per particle while a world is built and run (bytes).
    fn bytes_per_particle(&self) -> Real {
        4000.0
    }
}

/// Description of a group's bodies. The properties of their material are in [`Particles::material`].
#[derive(Clone, Debug)]
pub struct Matter {
    /// The bodies of the group.
    pub bodies: Vec<GroupBody>,
}

impl Matter {
    /// Returns the piece of matter of each body, by body index: neighbour searches join only particles of one piece.
    pub fn pieces(&self) -> Vec<u32> {
        let n = self.bodies.iter().map(|b| b.index as usize + 1).max().unwrap_or(0);
        let mut pieces = vec![0; n];
        self.bodies.iter().for_each(|b| pieces[b.index as usize] = b.matter);
        pieces
    }
}

/// Returns the piece of matter of each particle.
fn keys(pieces: &[u32], particles: &Particles) -> Vec<u32> {
    particles.body.iter().map(|&body| pieces[body as usize]).collect()
}

/// Description of one body for a method.
#[derive(Clone, Debug)]
pub struct GroupBody {
    /// Index of the body in the world, as in [`Particles::body`].
    pub index: u32,
    /// Name of the body.
    pub name: String,
    /// Number of the piece of matter. Bodies with the same number are one piece: bonds join them where they touch.
    pub matter: u32,
    /// Arrangement of the particles when the body was filled.
    pub sampling: Sampling,
    /// True volume (m³).
    pub volume: Real,
    /// Elastic law (strain to stress); `None` selects the method's own law.
    pub law: Option<Law>,
    /// Kind of flow.
    pub flow: Flow,
}

impl GroupBody {
    /// Returns true if the material of the body can flow.
    pub fn flows(&self) -> bool {
        self.flow != Flow::None
    }
}

/// Kind of change that was made outside a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// State was loaded from elsewhere (a checkpoint).
    Restored,
    /// Positions or velocities were changed by the caller.
    Moved,
}

/// Largest stable time step and its reason.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeStepLimit {
    /// Step that the method takes by itself, with the safety factor (s).
    pub value: Real,
    /// Step at which the scheme becomes unstable; a requested step must not exceed it (s).
    pub stable: Real,
    /// Short reason for the limit, for the ledger.
    pub reason: &'static str,
    /// Particle that sets the limit.
    pub particle: Option<usize>,
}

/// Description of a column that can be exported or used for colouring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnInfo {
    /// Name of the column in scenes.
    pub name: &'static str,
    /// SI unit of the column.
    pub unit: &'static str,
    /// Meaning of the column, for users.
    pub about: &'static str,
    /// Number of components: 1 for scalars, 3 for vectors.
    pub n_components: usize,
}

impl ColumnInfo {
    /// Creates the description of a scalar column.
    pub const fn scalar(name: &'static str, unit: &'static str, about: &'static str) -> Self {
        Self { name, unit, about, n_components: 1 }
    }

    /// Creates the description of a vector column.
    pub const fn vector(name: &'static str, unit: &'static str, about: &'static str) -> Self {
        Self { name, unit, about, n_components: 3 }
    }
}

/// Error: a method cannot drive a group.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct MethodError {
    /// World index of the body that causes the error, if it is a single body.
    pub body: Option<u32>,
    /// Explains the error and what to change.
    pub message: String,
}
