//! Material points (particles) as a structure of arrays, visitors of their state, and remapping.

mod parameter;
mod property;
mod remap;
mod soundness;
mod state;

pub use parameter::Parameter;
pub use property::{PROPERTIES, Part, Properties, Property, PropertyInfo};
pub use remap::{GONE, Origin, Remap};
pub(crate) use soundness::Soundness;
pub use soundness::StateError;
pub use state::{Carry, Digest, LAYOUT, StateData, StateItem, StateVisitor};

use crate::math::{Real, Vec3, sum_over};

/// Name of the set of all particles.
pub const PARTICLES: &str = "particles";
/// Names of sets whose members are not state, to which columns of indices may refer.
pub const BODIES: &str = "bodies";
/// See [`BODIES`].
pub const OBSTACLES: &str = "obstacles";
/// See [`BODIES`].
pub const GRIPS: &str = "grips";

/// Particles of a group of bodies: the points that have mass, touch obstacles and are exported.
#[derive(Clone, Debug, Default)]
pub struct Particles {
    /// Id, constant for the whole run and unique in a world.
    pub id: Vec<u32>,
    /// Index of the body in the world.
    pub body: Vec<u32>,
    /// World position (m).
    pub position: Vec<Vec3>,
    /// World velocity (m/s).
    pub velocity: Vec<Vec3>,
    /// Mass; changes only by splitting, merging or a method's own mass rule (kg).
    pub mass: Vec<Real>,
    /// Volume at rest (m³).
    pub volume: Vec<Real>,
    /// Half the local spacing at the start, for drawing (m).
    pub radius: Vec<Real>,
    /// Distance at which obstacles stop a particle: half the spacing, less where flow has made matter thinner (m).
    pub contact_radius: Vec<Real>,
    /// Impulses that others (bodies of other groups, a hand, the caller) have given and the group's method has not yet
    /// applied; empty if there are none, as between the calls of a world (N s).
    pub impulse: Vec<Vec3>,
    /// Material properties. They may be written between steps; the group's method must then be told
    /// (`Method::change_material`).
    pub material: Properties<Parameter>,
}

impl Particles {
    /// Returns the number of particles.
    pub fn len(&self) -> usize {
        self.position.len()
    }

    /// Returns true if there are no particles.
    pub fn is_empty(&self) -> bool {
        self.position.is_empty()
    }

    /// Visits every state array once.
    pub fn visit_state(&mut self, visitor: &mut dyn StateVisitor) {
        let mut item =
            |name, unit, carry, data| visitor.visit(StateItem { name, unit, set: PARTICLES, carry, data });
        item("id", "1", Carry::Copy, StateData::Integers(&mut self.id));
        item("body", "1", Carry::Index(BODIES), StateData::Integers(&mut self.body));
        item("position", "m", Carry::Mean, StateData::Vectors(&mut self.position));
        item("velocity", "m/s", Carry::Mean, StateData::Vectors(&mut self.velocity));
        item("mass", "kg", Carry::Sum, StateData::Reals(&mut self.mass));
        item("volume", "m3", Carry::Sum, StateData::Reals(&mut self.volume));
        item("radius", "m", Carry::Copy, StateData::Reals(&mut self.radius));
        item("contact_radius", "m", Carry::Mean, StateData::Reals(&mut self.contact_radius));
        self.material.visit_state(visitor);
    }

    /// Gives an impulse to a particle, which its method applies in its next step (N s).
    pub fn push(&mut self, i: usize, impulse: Vec3) {
        self.impulse.resize(self.position.len(), Vec3::ZERO);
        self.impulse[i] += impulse;
    }

    /// Adds the given impulses to the velocities.
    pub fn take_impulses(&mut self) {
        let Self { impulse, velocity, mass, .. } = self;
        impulse.iter().enumerate().for_each(|(i, &given)| velocity[i] += given / mass[i]);
        impulse.clear();
    }

    /// Returns the total mass Σ m (kg).
    pub fn total_mass(&self) -> Real {
        sum_over(self.len(), |i| self.mass[i])
    }

    /// Returns the momentum Σ m v (kg m/s).
    pub fn momentum(&self) -> Vec3 {
        sum_over(self.len(), |i| self.velocity[i] * self.mass[i])
    }

    /// Returns the angular momentum Σ m x × v about the origin (kg m²/s).
    pub fn angular_momentum(&self) -> Vec3 {
        sum_over(self.len(), |i| self.position[i].cross(self.velocity[i]) * self.mass[i])
    }

    /// Returns the kinetic energy Σ m v²/2 (J).
    pub fn kinetic_energy(&self) -> Real {
        0.5 * sum_over(self.len(), |i| self.mass[i] * self.velocity[i].length_squared())
    }

    /// Returns the centre of mass Σ m x / Σ m (m).
    pub fn center_of_mass(&self) -> Vec3 {
        sum_over::<Vec3, _>(self.len(), |i| self.position[i] * self.mass[i]) / self.total_mass()
    }

    /// Removes all particles except the first `n`.
    pub fn truncate(&mut self, n: usize) {
        let Self { id, body, position, velocity, mass, volume, radius, contact_radius, impulse, material } =
            self;
        [id, body].into_iter().for_each(|column| column.truncate(n));
        [position, velocity, impulse].into_iter().for_each(|column| column.truncate(n));
        [mass, volume, radius, contact_radius].into_iter().for_each(|column| column.truncate(n));
        material.iter_mut().for_each(|(_, parameter)| parameter.truncate(n));
    }

    /// Appends the particles of `other`.
    pub fn append(&mut self, mut other: Self) {
        self.material.append(self.len(), &other.material, other.len());
        self.id.append(&mut other.id);
        self.body.append(&mut other.body);
        self.position.append(&mut other.position);
        self.velocity.append(&mut other.velocity);
        self.mass.append(&mut other.mass);
        self.volume.append(&mut other.volume);
        self.radius.append(&mut other.radius);
        self.contact_radius.append(&mut other.contact_radius);
    }
}
