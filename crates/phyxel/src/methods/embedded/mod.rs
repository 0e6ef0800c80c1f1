//! Deformation embedding: large elastic and plastic deformation together, in world, rest and embedded space.
//! Jones 2014 Deformation Embedding for Point-Based Elastoplastic Simulation.
//!
//! Every particle keeps the rest bonds u_ij to its neighbours; fitting the world bonds to them gives F_i, stress and
//! forces. Plastic flow deforms a particle's own rest bonds. After flow, the rest bonds of different particles no
//! longer fit one common shape. The embedded positions e_i are the shape that fits all of them best; they are used only
//! to find new neighbours and to split and merge particles.
//!
//! Departures, each with the paper's behaviour available by a setting ([`Params`]): a penalty on motion that the fit
//! does not detect; constant masses; flow rates per second; leapfrog; viscosity from the rate of strain; F that is kept
//! when neighbours change; splitting and merging by gaps; guards against false neighbours and against particles that
//! are shot off.
//! Not part of this module: contact between bodies, surfaces.

mod bases;
mod change;
mod columns;
mod deformation;
mod embedding;
mod flow;
mod neighborhoods;
mod params;
mod prepare;
mod removals;
mod resampling;
mod speed_limit;
mod stability;
#[cfg(test)]
mod tests;
mod volumes;

pub use crate::methods::explicit::ViscosityModel;
pub use params::{Embedding, Integrator, ListUpdate, MassRule, Params, Resampling, VolumeRule};

use super::stiffness::Stiffness;
use super::thin_bodies::warning_of_thin_parts;
use super::{
    Change, ColumnInfo, Connectivity, Energies, Method, MethodError, StepContext, StepError, StepReport,
    TimeStepLimit, count_pieces, explicit,
};
use crate::forces::{SphViscosity, StrainRateDamping, Viscosity, ViscousBonds};
use crate::linear::Solved;
use crate::material::{LameParameter, Law, MaterialChange, Property, YieldMeasure};
use crate::math::{Mat3, Real, Vec3, sum_over};
use crate::mls::{BondGeometry, Laplacian, PointAnswer, PointBonds};
use crate::neighbors::SlotBonds;
use crate::particles::{Carry, PARTICLES, Particles, Remap, StateData, StateItem, StateVisitor};

/// Name of the set of bonds in checkpoints.
const BONDS: &str = "bonds";

/// The method's state, data derived from it, and scratch buffers.
#[derive(Debug)]
pub struct Embedded {
    params: Params,
    /// Lamé constants, derived from the particles' moduli.
    lame: LameParameter,
    stiffness: Stiffness,
    /// Facts of the bodies, by their index in the world.
    bodies: Vec<BodyFacts>,
    // state
    /// Positions at the start; rest bonds that have not changed are exactly their differences (m).
    origin: Vec<Vec3>,
    embedded_position: Vec<Vec3>,
    support_radius: Vec<Real>,
    /// Distance up to which a particle may come near others without repulsion (m).
    room: Vec<Real>,
    /// Half the room of particles that have flowed, at the last computation of forces (m).
    reach: Vec<Real>,
    /// Accumulated plastic stress α (Pa).
    hardening: Vec<Real>,
    /// Von Mises stress at the end of the last step, where matter can flow (Pa).
    shear_stress: Vec<Real>,
    /// Accumulated equivalent plastic strain (1).
    plastic_strain: Vec<Real>,
    /// Energy dissipated by plastic flow (J).
    plastic_work: Vec<Real>,
    /// Product of all plastic deformation gradients so far (1).
    plastic_gradient: Vec<Mat3>,
    /// Elastic forces, which the next kick uses first (N).
    force: Vec<Vec3>,
    bonds: SlotBonds,
    pace: Pace,
    tallies: Tallies,
    // derived from bonds and support radii
    basis: Vec<Basis>,
    // data of the present shape
    gradients: Vec<Mat3>,
    flows: Vec<Flow>,
    /// Bonds that are shorter than the room of both ends at rest, a bit each, in matter that can flow.
    near: Vec<u32>,
    /// True for particles whose bonds changed in the last flow.
    has_flowed: Vec<bool>,
    /// ln det F of each particle, computed when something flows.
    log_volume: Vec<Real>,
    answers: Vec<PointAnswer>,
    viscous: Viscosity,
    sph: SphViscosity,
    laplacian: Laplacian,
    rest: RestFacts,
    lattice_warnings: Vec<String>,
}

/// Facts of one body.
#[derive(Clone, Copy, Debug)]
struct BodyFacts {
    law: Law,
    measure: YieldMeasure,
    /// Piece of matter that the body belongs to.
    piece: u32,
    /// Median support radius at the start (m).
    support: Real,
    /// True volume divided by the sum of the volumes of Eq. 3 at the start.
    volume_scale: Real,
    /// True volume divided by the sum of the SPH volumes at the start.
    sph_scale: Real,
}

/// Values of the undeformed bodies, found at the start.
#[derive(Clone, Copy, Debug, Default)]
struct RestFacts {
    /// Stable step 2/ω_max (s).
    time_step: Real,
    /// Particle with the largest amplitude in the highest mode.
    fastest: usize,
    /// Low percentile of the particles' time scales at the start (s).
    time_scale: Real,
    /// Number of particles with degenerate neighbourhoods at the start.
    n_degenerate: usize,
    /// Median of [`Embedded::thickness`] at the start (1).
    thickness: Real,
    /// Mean logarithm of the volume ratio estimated from the density at the start (1).
    told_volume: Real,
    /// Reference eigenvalues of Eq. 13 for the paper's rule: the smallest largest and the largest smallest one (1/m²).
    eigenvalues: (Real, Real),
}

/// Numbers that decide when the next update of the embedding is due and how long steps may be.
#[derive(Clone, Copy, Debug)]
struct Pace {
    /// Number of steps since the last update.
    n_steps: u64,
    /// Sum of the largest plastic strains of the steps since the last update (1).
    flowed: Real,
    /// Low time scale at the last update divided by that at the start.
    time_scale_ratio: Real,
    /// Factor by which the deformation at the last computation of forces shortens the stable step.
    shortening: Real,
}

/// Counters and sums since the start.
#[derive(Clone, Copy, Debug, Default)]
struct Tallies {
    n_splits: u64,
    n_merges: u64,
    n_limited: u64,
    n_updates: u64,
    n_embedding_iterations: u64,
    n_new_bonds: u64,
    /// Energy that updates have added: elastic energy after minus before, summed over all updates (J).
    update_energy: Real,
}

/// Quantities derived from a particle's rest bonds.
#[derive(Clone, Copy, Debug, Default)]
struct Basis {
    /// Inverse moment matrix A_i⁻¹ (1/m²).
    inverse_moment: Mat3,
    /// Weighted sum of the rest bonds, Σ_j w_ij u_ij (m).
    row_sum: Vec3,
    /// Stiffness c_i of the residual penalty (N/m).
    residual: Real,
    /// Volume V_i, or 0 if the neighbourhood is degenerate: then the particle causes no elastic force (m³).
    volume: Real,
    /// Sum of the weights, Σ_j w_ij (1).
    weight_sum: Real,
}

impl Basis {
    #[inline(always)]
    fn is_degenerate(&self) -> bool {
        self.volume == 0.0
    }
}

/// Plastic flow of a particle within a step.
#[derive(Clone, Copy, Debug)]
struct Flow {
    /// Map of the rest bonds: F_p, followed by the rotation of the rest frame.
    plastic: Mat3,
    /// Flow fraction γ; 0 if the particle does not flow.
    fraction: Real,
    /// Fraction of the residuals that is removed.
    forgotten: Real,
    /// Increase of the accumulated plastic stress α (Pa).
    hardening: Real,
    /// Increase of the plastic strain (1).
    strain: Real,
    /// Dissipated energy (J).
    work: Real,
    /// Smallest principal stretch after the flow.
    least_stretch: Real,
}

impl Flow {
    const NONE: Self = Self {
        plastic: Mat3::IDENTITY,
        fraction: 0.0,
        forgotten: 0.0,
        hardening: 0.0,
        strain: 0.0,
        work: 0.0,
        least_stretch: 1.0,
    };
}

/// Pairs of stored rest bonds and world bonds for the fit.
struct WorldBonds<'a> {
    bonds: &'a SlotBonds,
    points: PointBonds<'a>,
}

impl BondGeometry for WorldBonds<'_> {
    #[inline(always)]
    fn points(&self) -> PointBonds<'_> {
        self.points
    }

    #[inline(always)]
    fn stored(&self, bond: usize, _owner: usize) -> Option<Vec3> {
        Some(self.bonds.vector(bond))
    }
}

impl Method for Embedded {
    /// Advances the group by one step. Jones 2014 Algorithm 1.
    fn step(
        &mut self,
        particles: &mut Particles,
        ctx: &mut StepContext<'_>,
    ) -> Result<StepReport, StepError> {
        let dt = ctx.time_step;
        let (first, damped, last) = match self.params.integrator {
            Integrator::Leapfrog => (0.5, 1.0, 0.5),
            Integrator::SymplecticEuler => (1.0, 1.0, 0.0),
            Integrator::Newmark => (0.5, 0.5, 0.5),
        };
        explicit::kick(particles, ctx, &self.force, first * dt);
        explicit::meet_before_moving(particles, ctx);
        let solved = self.damp(particles, ctx, damped * dt);
        self.limit_speeds(particles, ctx);
        explicit::drift(particles, ctx, &self.force);
        self.compute_forces(particles, ctx); // Eqs. 2, 4–7
        self.find_stiffening(particles);
        ctx.fields.time += dt;
        if last > 0.0 {
            explicit::kick(particles, ctx, &self.force, last * dt);
        }
        if self.params.integrator == Integrator::Newmark {
            self.push_by_viscosity(particles, ctx, 0.5 * dt);
        }
        explicit::slip(particles, ctx, |i| self.plastic_rate(i, dt));
        explicit::meet_after_kick(particles, ctx);
        let n_yielded = self.flow(particles, ctx); // ũ_ij = F_p u_ij
        let mut report = StepReport::new(solved, n_yielded);
        if self.is_update_due() {
            let embedded = self.embed(particles, ctx); // Eqs. 9–12
            let energy = self.energy_before_update(particles, ctx);
            self.resample(particles, ctx); // Sec. 3.5
            self.update_neighborhoods(particles, ctx); // Sec. 3.4
            self.book_update_energy(energy, particles, ctx);
            report.iterations += embedded.iterations;
            report.n_unconverged += usize::from(!embedded.converged);
        }
        if n_yielded > 0 {
            self.check(particles)?;
        }
        Ok(report)
    }

    fn max_time_step(&self, _particles: &Particles) -> TimeStepLimit {
        self.time_step_limit()
    }

    fn changed(&mut self, particles: &Particles, change: Change) {
        match change {
            Change::Restored => self.restore(particles),
            Change::Moved => {
                self.forces_at(&particles.position, particles);
                self.find_stiffening(particles);
            }
        }
    }

    fn take_removals(&mut self, particles: &Particles, remap: &mut Remap) -> Result<(), MethodError> {
        self.remove(particles, remap);
        Ok(())
    }

    fn change_material(
        &mut self,
        particles: &Particles,
        body: u32,
        change: &MaterialChange,
    ) -> Result<(), MethodError> {
        self.change(particles, body, change);
        Ok(())
    }

    fn visit_state(&mut self, visitor: &mut dyn StateVisitor) {
        self.visit_particle_state(visitor);
        let (counts, ends, vectors) = self.bonds.arrays_mut();
        let mut item =
            |name, unit, set, carry, data| visitor.visit(StateItem { name, unit, set, carry, data });
        item("bond_count", "1", PARTICLES, Carry::Copy, StateData::Integers(counts));
        item("bond_end", "1", BONDS, Carry::Index(PARTICLES), StateData::Integers(ends));
        item("rest_bond", "m", BONDS, Carry::Copy, StateData::ShortVectors(vectors));
        let Pace { n_steps, flowed, time_scale_ratio, shortening } = &mut self.pace;
        let mut counter = |name, n| item(name, "1", "", Carry::Copy, StateData::Counter(n));
        let t = &mut self.tallies;
        counter("steps_since_update", n_steps);
        counter("splits", &mut t.n_splits);
        counter("merges", &mut t.n_merges);
        counter("limited_speeds", &mut t.n_limited);
        counter("updates", &mut t.n_updates);
        counter("embedding_iterations", &mut t.n_embedding_iterations);
        counter("new_bonds", &mut t.n_new_bonds);
        let mut number = |name, unit, x| item(name, unit, "", Carry::Copy, StateData::Number(x));
        number("flowed_since_update", "1", flowed);
        number("time_scale_ratio", "1", time_scale_ratio);
        number("shortening", "1", shortening);
        number("update_energy", "J", &mut t.update_energy);
    }

    fn energies(&self, particles: &Particles) -> Energies {
        Energies {
            elastic: Some(self.elastic_energy(&particles.position, &particles.body)),
            plastic_work: sum_over(particles.len(), |i| self.plastic_work[i]),
        }
    }

    fn current_volume(&self, particles: &Particles) -> Real {
        sum_over(particles.len(), |i| particles.volume[i] * self.gradients[i].determinant())
    }

    fn connectivity(&self, _body: u32) -> Connectivity {
        Connectivity::Bonds
    }

    fn visit_bonds(&self, _particles: &Particles, i: usize, visit: &mut dyn FnMut(usize, Vec3)) {
        let bonds = self.bonds.ends(i).iter().zip(self.bonds.vectors(i));
        bonds.for_each(|(&j, u)| visit(j as usize, u));
    }

    /// Counts pieces by bonds that transmit force: bonds outside the support have no weight, and a degenerate
    /// neighbourhood causes no force.
    fn n_pieces(&self, particles: &Particles) -> Option<usize> {
        Some(count_pieces(particles.len(), |i| {
            let row = self.bonds.ends(i).iter().zip(self.bonds.weights(i));
            let is_sound = !self.basis[i].is_degenerate();
            row.filter(move |(_, weight)| is_sound && **weight > 0.0).map(|(&j, _)| j)
        }))
    }

    fn elastic_gradient(&self, i: usize) -> Mat3 {
        self.gradients[i]
    }

    fn warnings(&self, _particles: &Particles) -> Vec<String> {
        let thin = warning_of_thin_parts(self.n_degenerate());
        self.lattice_warnings.iter().cloned().chain(thin).collect()
    }

    fn columns(&self) -> &'static [ColumnInfo] {
        columns::COLUMNS
    }

    fn column(&self, name: &str, particles: &Particles) -> Option<Vec<Real>> {
        self.compute_column(name, particles)
    }

    fn counters(&self, particles: &Particles) -> Vec<(&'static str, Real)> {
        self.ledger_columns(particles)
    }
}

impl Embedded {
    /// Visits the state that has one row per particle, which a remap transforms.
    fn visit_particle_state(&mut self, visitor: &mut dyn StateVisitor) {
        let mut item =
            |name, unit, carry, data| visitor.visit(StateItem { name, unit, set: PARTICLES, carry, data });
        item("rest_position", "m", Carry::Mean, StateData::Vectors(&mut self.origin));
        item("embedded_position", "m", Carry::Mean, StateData::Vectors(&mut self.embedded_position));
        item("support_radius", "m", Carry::Copy, StateData::Reals(&mut self.support_radius));
        item("room", "m", Carry::Mean, StateData::Reals(&mut self.room));
        item("reach", "m", Carry::Mean, StateData::Reals(&mut self.reach));
        item("plastic_stress", "Pa", Carry::Mean, StateData::Reals(&mut self.hardening));
        item("shear_stress", "Pa", Carry::Mean, StateData::Reals(&mut self.shear_stress));
        item("plastic_strain", "1", Carry::Mean, StateData::Reals(&mut self.plastic_strain));
        item("plastic_work", "J", Carry::Sum, StateData::Reals(&mut self.plastic_work));
        item("plastic_gradient", "1", Carry::Mean, StateData::Matrices(&mut self.plastic_gradient));
        item("elastic_force", "N", Carry::Sum, StateData::Vectors(&mut self.force));
    }

    /// Applies implicit viscosity over a duration.
    fn damp(&mut self, particles: &mut Particles, ctx: &mut StepContext<'_>, duration: Real) -> Solved {
        if particles.material[Property::Viscosity].is_zero() {
            return Solved::nothing_to_do();
        }
        let Particles { position, velocity, mass, volume, material, .. } = particles;
        let viscosity = &material[Property::Viscosity];
        let solved = match self.params.viscosity_model {
            ViscosityModel::StrainRate => {
                let mut damping = StrainRateDamping {
                    solver: &mut self.viscous,
                    bonds: ViscousBonds {
                        bonds: &self.bonds,
                        positions: position,
                        volumes: &|i| volume[i],
                        viscosity,
                        residual_share: self.params.stabilization,
                    },
                };
                explicit::damp(&mut damping, velocity, mass, ctx, duration)
            }
            ViscosityModel::Sph => {
                let Self { sph, bonds, support_radius, .. } = self;
                let distance = |bond: usize, _, _| bonds.vector(bond).length();
                sph.prepare(bonds, distance, support_radius, volume, viscosity);
                explicit::damp(&mut self.sph.on(&self.bonds), velocity, mass, ctx, duration)
            }
        };
        explicit::meet_before_moving(particles, ctx);
        solved
    }

    /// Applies explicit viscosity over a duration: the second half of Newmark's scheme.
    fn push_by_viscosity(&mut self, particles: &mut Particles, ctx: &mut StepContext<'_>, duration: Real) {
        if particles.material[Property::Viscosity].is_zero() {
            return;
        }
        let Particles { position, velocity, mass, volume, material, .. } = particles;
        let viscosity = &material[Property::Viscosity];
        ctx.timings.stage("viscosity", || {
            let force = match self.params.viscosity_model {
                ViscosityModel::StrainRate => {
                    let bonds = ViscousBonds {
                        bonds: &self.bonds,
                        positions: position,
                        volumes: &|i| volume[i],
                        viscosity,
                        residual_share: self.params.stabilization,
                    };
                    self.viscous.prepare(&bonds);
                    self.viscous.forces(&bonds, velocity)
                }
                ViscosityModel::Sph => {
                    let Self { sph, bonds, support_radius, .. } = &mut *self;
                    let distance = |bond: usize, _, _| bonds.vector(bond).length();
                    sph.prepare(bonds, distance, support_radius, volume, viscosity);
                    sph.forces(bonds, velocity)
                }
            };
            for i in 0..mass.len() {
                velocity[i] += force[i] * (duration / mass[i]);
            }
        });
    }
}
