//! The incremental method: large plastic flow without a rest shape.
//! Gerszewski 2009 A Point-Based Method for Animating Elastoplastic Solids.
//!
//! Every particle keeps one matrix F, the elastic part of its deformation gradient. In each step, dF is fitted to the
//! motion of its neighbours in world space, and F ← dF F; plastic flow removes a part of F. There is no rest shape that
//! could become tangled or invalid; in return, errors of F accumulate.
//!
//! Departures, each with the paper's behaviour available by a setting ([`Params`]): forces by the gradient of the same
//! fit (`force_form`), with P̂ in place of ŝP̂; a penalty on motion that the fit does not detect, stored per bond as
//! long as the bond exists (`stabilization`); repulsion of crowded particles (`repulsion`); flow rates per second;
//! implicit viscosity from the rate of strain; neighbour lists with a skin.

mod births;
mod change;
mod deformation;
mod kernel_form;
mod lists;
mod params;
mod prepare;
mod removals;
mod spans;
mod stored_rest;
#[cfg(test)]
mod tests;

pub use crate::methods::explicit::ViscosityModel;
pub use params::{FittedMotion, ForceForm, History, Integrator, Params, StressForm};

use self::lists::{BondFacts, Metric};
use self::spans::Spans;
use super::flow_step::FlowStep;
use super::stiffness::Stiffness;
use super::strays::strays;
use super::thin_bodies::warning_of_thin_parts;
use super::{
    Change, ColumnInfo, Connectivity, Energies, Method, MethodError, StepContext, StepError, StepReport,
    TimeStepLimit, columns, count_pieces, explicit,
};
use crate::forces::{SphPressure, SphViscosity, StrainRateDamping, Viscosity, ViscousBonds};
use crate::linear::Solved;
use crate::material::{LameParameter, Law, MaterialChange, Property, YieldMeasure};
use crate::math::{Mat3, Real, Vec3, sum_over};
use crate::mls::EvenBonds;
use crate::neighbors::Neighbors;
use crate::particles::{Carry, PARTICLES, Particles, Remap, StateData, StateItem, StateVisitor};
use rayon::prelude::*;

/// Name of the set of bonds in checkpoints.
const BONDS: &str = "bonds";

/// The method's state, data derived from it, and scratch buffers.
#[derive(Debug)]
pub struct Incremental {
    params: Params,
    /// Lamé constants, derived from the particles' moduli.
    lame: LameParameter,
    stiffness: Stiffness,
    /// Facts of the bodies, by their index in the world.
    bodies: Vec<BodyFacts>,
    /// Number of particles of each piece of matter.
    piece_sizes: Vec<usize>,
    /// Support radius where neighbours are not crowded (m).
    full_support: Vec<Real>,
    /// Distance up to which a particle may come near others without repulsion (m).
    room: Vec<Real>,
    // state
    /// Elastic deformation gradient F.
    gradient: Vec<Mat3>,
    /// Accumulated plastic stress α (Pa).
    hardening: Vec<Real>,
    /// Von Mises stress at the end of the last step, where matter can flow (Pa).
    shear_stress: Vec<Real>,
    /// Accumulated equivalent plastic strain (1).
    plastic_strain: Vec<Real>,
    /// Energy dissipated by plastic flow (J).
    plastic_work: Vec<Real>,
    /// Fraction of the residuals that the next step removes.
    flow_fraction: Vec<Real>,
    /// Elastic forces, which the next kick uses first (N).
    force: Vec<Vec3>,
    /// Positions at the last neighbour search; with a stored rest shape, the rest positions (m).
    listed_position: Vec<Vec3>,
    /// Positions at the last look for particles that have met (m).
    checked_position: Vec<Vec3>,
    /// F at the last neighbour search.
    listed_gradient: Vec<Mat3>,
    /// Sum of the steps' strains since the last neighbour search, or the plastic strain since then if all of the motion
    /// is fitted (1).
    strain_since: Vec<Real>,
    /// Residual r_ij of each bond (m).
    residual: Vec<Vec3>,
    /// Residual of each bond at the last neighbour search (m); empty if the motion of steps is fitted.
    listed_residual: Vec<Vec3>,
    /// Part B of F = G B that is not the motion since the last neighbour search; empty if the motion of steps is fitted.
    base: Vec<Mat3>,
    /// Plastic deformation of the stored rest bonds; empty if there is no stored rest shape.
    plastic_gradient: Vec<Mat3>,
    tallies: Tallies,
    // derived from positions and deformations at the last neighbour search
    neighbors: Neighbors,
    metric: Vec<Metric>,
    /// Smallest and largest stretch that the metric of a particle undoes.
    stretch: Vec<(Real, Real)>,
    support: Vec<Real>,
    bond_facts: Vec<BondFacts>,
    /// Stiffness with which a particle repels others (N/m).
    push: Vec<Real>,
    /// Stiffness c_i of the residuals (N/m).
    residual_stiffness: Vec<Real>,
    /// Low percentile of the times that sound takes through neighbourhoods (s).
    time_scale: Real,
    // data of the present shape
    weights: Vec<f32>,
    responses: Vec<Response>,
    carriers: Vec<Mat3>,
    increments: Vec<Increment>,
    spans: Spans,
    /// Positions up to which the motion is included in F (m).
    before: Vec<Vec3>,
    viscous: Viscosity,
    sph: SphViscosity,
    pressure: SphPressure,
    rest: RestFacts,
}

/// Facts of one body.
#[derive(Clone, Copy, Debug)]
struct BodyFacts {
    law: Law,
    measure: YieldMeasure,
    /// Piece of matter that the body belongs to.
    piece: u32,
}

/// Values of the undeformed bodies, found at the start.
#[derive(Clone, Copy, Debug, Default)]
struct RestFacts {
    /// Stable step 2/ω_max (s).
    time_step: Real,
    /// Particle with the largest amplitude in the highest mode.
    fastest: usize,
    /// Value of [`Incremental::time_scale`] at the start (s).
    time_scale: Real,
}

/// Counters since the start.
#[derive(Clone, Copy, Debug, Default)]
struct Tallies {
    /// Number of times that a particle kept its F because the motion of its neighbours was not usable.
    n_kept: u64,
    n_renewals: u64,
}

/// Response of a particle to its deformation within a step.
#[derive(Clone, Copy, Debug)]
struct Response {
    /// Matrix M_i (N/m), or V T (J) if forces have the kernel form.
    carrier: Mat3,
    /// Inverse moment matrix C_i⁻¹ (1/m²); 0 if the neighbourhood is degenerate.
    inverse_moment: Mat3,
    /// Elastic deformation gradient after the flow.
    gradient: Mat3,
    /// Fraction of the residuals that is removed.
    fraction: Real,
    /// Increase of the accumulated plastic stress α (Pa).
    hardening: Real,
    /// Von Mises stress after the flow, where matter can flow (Pa).
    shear_stress: Real,
    /// Increase of the plastic strain (1).
    strain: Real,
    /// Dissipated energy (J).
    work: Real,
}

impl Default for Response {
    fn default() -> Self {
        let (carrier, inverse_moment, gradient) = (Mat3::ZERO, Mat3::ZERO, Mat3::IDENTITY);
        Self {
            carrier,
            inverse_moment,
            gradient,
            fraction: 0.0,
            hardening: 0.0,
            shear_stress: 0.0,
            strain: 0.0,
            work: 0.0,
        }
    }
}

/// Fit of the motion around a particle in one step.
#[derive(Clone, Copy, Debug)]
struct Increment {
    /// Fitted deformation gradient dF of the step.
    gradient: Mat3,
    /// True if the neighbourhood determines dF.
    is_known: bool,
}

impl Default for Increment {
    fn default() -> Self {
        Self { gradient: Mat3::IDENTITY, is_known: false }
    }
}

impl Method for Incremental {
    /// Advances the group by one step. Gerszewski 2009 Sec. 3.
    fn step(
        &mut self,
        particles: &mut Particles,
        ctx: &mut StepContext<'_>,
    ) -> Result<StepReport, StepError> {
        let dt = ctx.time_step;
        let (first, last) = match self.params.integrator {
            Integrator::Leapfrog => (0.5, 0.5),
            Integrator::SymplecticEuler => (1.0, 0.0),
        };
        explicit::kick(particles, ctx, &self.force, first * dt);
        explicit::meet_before_moving(particles, ctx);
        let solved = self.damp(particles, ctx, dt);
        explicit::drift(particles, ctx, &self.force);
        if !self.has_stored_rest() && !self.has_spans() {
            ctx.timings.stage("deformation", || self.compose(&particles.position)); // Eqs. 1–8
            let old = self.old_pieces(particles);
            if old.contains(&true) {
                ctx.timings.stage("neighbors", || self.renew_lists(particles, &old));
            }
        }
        let n_yielded = self.compute_forces(particles, ctx); // flow, Eqs. 9–13
        ctx.fields.time += dt;
        if last > 0.0 {
            explicit::kick(particles, ctx, &self.force, last * dt);
        }
        explicit::meet_after_kick(particles, ctx);
        if self.has_spans() {
            let old = self.old_pieces(particles);
            if old.contains(&true) {
                ctx.timings.stage("neighbors", || {
                    self.renew_lists(particles, &old);
                    self.forces_at(particles);
                });
            }
        }
        Ok(StepReport::new(solved, n_yielded))
    }

    fn max_time_step(&self, particles: &Particles) -> TimeStepLimit {
        let (ratio, factor) = (self.time_scale / self.rest.time_scale, self.stiffness.factor());
        let law = |i: usize| self.bodies[particles.body[i] as usize].law;
        let of = |i: usize| law(i).stiffening(self.lame.at(i), self.gradient[i]);
        let (shortening, _) = explicit::stiffening(particles.len(), of);
        let stable = self.rest.time_step * ratio.min(factor) * shortening;
        TimeStepLimit {
            value: self.params.safety() * stable,
            stable,
            reason: match (shortening < 0.95, ratio < 0.95 * factor) {
                (true, _) => "elastic waves (stretched)",
                (_, true) => "elastic waves (crowded)",
                _ => "elastic waves",
            },
            particle: Some(self.rest.fastest.min(self.room.len().saturating_sub(1))),
        }
    }

    fn changed(&mut self, particles: &Particles, change: Change) {
        match change {
            Change::Restored => self.restore(particles),
            Change::Moved => self.moved(particles),
        }
    }

    fn take_births(&mut self, particles: &Particles, first: usize) -> Result<(), MethodError> {
        self.be_born(particles, first)
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
        let mut item =
            |name, unit, set, carry, data| visitor.visit(StateItem { name, unit, set, carry, data });
        item("gradient", "1", PARTICLES, Carry::Mean, StateData::Matrices(&mut self.gradient));
        item("plastic_stress", "Pa", PARTICLES, Carry::Mean, StateData::Reals(&mut self.hardening));
        item("shear_stress", "Pa", PARTICLES, Carry::Mean, StateData::Reals(&mut self.shear_stress));
        item("plastic_strain", "1", PARTICLES, Carry::Mean, StateData::Reals(&mut self.plastic_strain));
        item("plastic_work", "J", PARTICLES, Carry::Sum, StateData::Reals(&mut self.plastic_work));
        item("flow_fraction", "1", PARTICLES, Carry::Mean, StateData::Reals(&mut self.flow_fraction));
        item("elastic_force", "N", PARTICLES, Carry::Sum, StateData::Vectors(&mut self.force));
        item("listed_position", "m", PARTICLES, Carry::Mean, StateData::Vectors(&mut self.listed_position));
        item("checked_position", "m", PARTICLES, Carry::Mean, StateData::Vectors(&mut self.checked_position));
        item("listed_gradient", "1", PARTICLES, Carry::Mean, StateData::Matrices(&mut self.listed_gradient));
        item("room", "m", PARTICLES, Carry::Copy, StateData::Reals(&mut self.room));
        item("strain_since_search", "1", PARTICLES, Carry::Mean, StateData::Reals(&mut self.strain_since));
        if self.params.history == History::StoredRest {
            let data = StateData::Matrices(&mut self.plastic_gradient);
            item("plastic_gradient", "1", PARTICLES, Carry::Mean, data);
        }
        item("residual", "m", BONDS, Carry::Copy, StateData::Vectors(&mut self.residual));
        if self.params.has_spans() {
            item("base", "1", PARTICLES, Carry::Mean, StateData::Matrices(&mut self.base));
            let data = StateData::Vectors(&mut self.listed_residual);
            item("listed_residual", "m", BONDS, Carry::Copy, data);
        }
        item("kept_gradients", "1", "", Carry::Copy, StateData::Counter(&mut self.tallies.n_kept));
        item("list_renewals", "1", "", Carry::Copy, StateData::Counter(&mut self.tallies.n_renewals));
    }

    fn energies(&self, particles: &Particles) -> Energies {
        Energies {
            elastic: Some(self.elastic_energy(particles)),
            plastic_work: sum_over(particles.len(), |i| self.plastic_work[i]),
        }
    }

    fn current_volume(&self, particles: &Particles) -> Real {
        sum_over(particles.len(), |i| particles.volume[i] * self.gradient[i].determinant())
    }

    /// Returns `Bonds`: parts that meet weld, because they become neighbours before they touch.
    fn connectivity(&self, _body: u32) -> Connectivity {
        Connectivity::Bonds
    }

    fn visit_bonds(&self, particles: &Particles, i: usize, visit: &mut dyn FnMut(usize, Vec3)) {
        // F = G B: without G the bonds of elastic matter stay the same between searches
        let (x, elastic) = match self.has_spans() {
            true => (&self.listed_position, self.base[i]),
            false => (&particles.position, self.gradient[i]),
        };
        let (row, back) = (self.neighbors.row(i).iter().map(|&j| j as usize), elastic.inverse());
        row.for_each(|j| visit(j, back * (x[j] - x[i])));
    }

    /// Counts pieces by bonds with weight; bonds in the skin of the lists have none.
    fn n_pieces(&self, particles: &Particles) -> Option<usize> {
        Some(count_pieces(particles.len(), |i| {
            let row = self.neighbors.row(i).iter().zip(&self.weights[self.neighbors.range(i)]);
            let is_joined = move |j: u32, weight: f32| match self.has_stored_rest() {
                true => self.rest_bond(i, j as usize).1 > 0.0,
                false => weight > 0.0,
            };
            row.filter(move |(j, weight)| is_joined(**j, **weight)).map(|(&j, _)| j)
        }))
    }

    fn elastic_gradient(&self, i: usize) -> Mat3 {
        self.gradient[i]
    }

    fn warnings(&self, _particles: &Particles) -> Vec<String> {
        warning_of_thin_parts(self.n_degenerate()).into_iter().collect()
    }

    fn columns(&self) -> &'static [ColumnInfo] {
        &[
            columns::STRESS,
            columns::PRESSURE,
            columns::VOLUME_RATIO,
            columns::STRETCH,
            columns::PLASTIC_STRAIN,
            columns::HARDENING,
            columns::STRAY,
        ]
    }

    fn column(&self, name: &str, particles: &Particles) -> Option<Vec<Real>> {
        let law = |i: usize| self.bodies[particles.body[i] as usize].law;
        let first_piola = |i: usize, f: Mat3| law(i).first_piola(self.lame.at(i), f);
        match name {
            "plastic_strain" => Some(self.plastic_strain.clone()),
            "hardening" => Some(self.hardening.clone()),
            "stray" => Some(strays(particles)),
            name => columns::strain_column(name, &self.gradient, first_piola),
        }
    }

    fn counters(&self, particles: &Particles) -> Vec<(&'static str, Real)> {
        vec![
            ("degenerate", self.n_degenerate() as Real),
            ("strays", strays(particles).into_iter().sum()),
            ("kept_gradients", self.tallies.n_kept as Real),
            ("list_renewals", self.tallies.n_renewals as Real),
            ("plastic_strain_max", self.largest_plastic_strain()),
        ]
    }
}

impl Incremental {
    /// Returns true if particles that do not flow need no principal stretches.
    #[inline(always)]
    fn is_plain(&self) -> bool {
        let Params { force_form, history, volume_relaxation, .. } = self.params;
        force_form == ForceForm::Corrected && history == History::Composed && volume_relaxation == 0.0
    }

    /// Returns true if F is fitted to the motion since the last neighbour search.
    fn has_spans(&self) -> bool {
        self.params.has_spans()
    }

    fn has_stored_rest(&self) -> bool {
        self.params.history == History::StoredRest
    }

    /// Computes flow, stress and forces of the present shape. Returns the number of particles that flowed.
    fn compute_forces(&mut self, particles: &Particles, ctx: &mut StepContext<'_>) -> usize {
        let dt = ctx.time_step;
        let step = FlowStep::new(&ctx.contacts, dt);
        ctx.timings.stage("deformation", || self.respond(particles, step));
        ctx.timings.stage("forces", || self.gather_forces(particles));
        explicit::slip(particles, ctx, |i| self.plastic_rate(i, dt));
        ctx.timings.stage("deformation", || self.keep_flow(&particles.position))
    }

    /// Computes weights, moments, stress and forces without flow and without timings, for use outside a step.
    fn forces_at(&mut self, particles: &Particles) {
        self.respond(particles, FlowStep::NONE);
        self.gather_forces(particles);
    }

    fn respond(&mut self, particles: &Particles, step: FlowStep<'_>) {
        match self.has_stored_rest() {
            _ if self.has_spans() => return self.respond_from_spans(particles, step),
            true => self.respond_from_rest(particles, step),
            false => self.respond_from_steps(particles, step),
        }
        self.responses.par_iter().map(|r| r.carrier).collect_into_vec(&mut self.carriers);
    }

    fn gather_forces(&mut self, particles: &Particles) {
        let x = &particles.position;
        match (self.has_stored_rest(), self.params.force_form) {
            _ if self.has_spans() => self.gather_from_spans(x),
            (true, _) => self.gather_from_rest(x.len()),
            (_, ForceForm::Corrected) => self.gather(x),
            (_, ForceForm::Kernel) => self.gather_by_kernel(x, &particles.volume),
        }
        if self.params.pressure > 0.0 {
            let Self { pressure, neighbors, support, params, force, .. } = self;
            let modulus = &particles.material[Property::YoungsModulus];
            let stiffness = |i: usize| params.pressure * modulus.at(i);
            pressure.add_forces(neighbors, particles, support, stiffness, force);
        }
    }

    /// Applies implicit viscosity over a duration.
    fn damp(&mut self, particles: &mut Particles, ctx: &mut StepContext<'_>, duration: Real) -> Solved {
        if particles.material[Property::Viscosity].is_zero() {
            return Solved::nothing_to_do();
        }
        let Self { viscous, sph, neighbors, weights, params, support, .. } = self;
        let Particles { position, velocity, mass, volume, material, .. } = particles;
        let viscosity = &material[Property::Viscosity];
        let bonds = EvenBonds { neighbors, weights };
        let solved = match params.viscosity_model {
            ViscosityModel::StrainRate => {
                let mut damping = StrainRateDamping {
                    solver: viscous,
                    bonds: ViscousBonds {
                        bonds,
                        positions: position,
                        volumes: &|i| volume[i],
                        viscosity,
                        residual_share: params.stabilization,
                    },
                };
                explicit::damp(&mut damping, velocity, mass, ctx, duration)
            }
            ViscosityModel::Sph => {
                let distance = |_: usize, i: usize, j: usize| position[i].distance(position[j]);
                sph.prepare(&bonds, distance, support, volume, viscosity);
                explicit::damp(&mut sph.on(bonds), velocity, mass, ctx, duration)
            }
        };
        explicit::meet_before_moving(particles, ctx);
        solved
    }
}
