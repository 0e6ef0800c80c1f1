//! The reference-shape method: elastic solids with one fixed rest shape.
//! Mueller 2004 Secs. 2–3: Point Based Animation of Elastic, Plastic and Melting Objects.
//!
//! Total Lagrangian: neighbours and weights belong to the rest shape and never change. Not part of this module:
//! plasticity, absorbing the deformation, melting (Sec. 4), surfaces (Sec. 5).
//!
//! Departures, each with the paper's behaviour available by a setting: true E and ν (the paper's strain is twice
//! Green's); volumes that add up to the body's (`volume_rule`); a smaller support (`support_factor`); a penalty on
//! motion that the fit does not detect (`stabilization`); a guard against inversion that does not affect small strains,
//! in place of Eq. 7 (`inversion_guard`, `volume_stiffness`); viscosity from the rate of strain.

mod change;
mod params;
mod prepare;
mod removals;
mod stability;
#[cfg(test)]
mod tests;

pub use params::{Params, Support, VolumeRule};

use super::stiffness::Stiffness;
use super::thin_bodies::warning_of_thin_parts;
use super::{
    Change, ColumnInfo, Connectivity, ElasticEnergy, Energies, LEAST_VOLUME_RATIO, Method, MethodError,
    StepContext, StepError, StepReport, TimeStepLimit, columns, count_pieces, explicit,
};
use crate::forces::{StrainRateDamping, Viscosity, ViscousBonds};
use crate::linear::Solved;
use crate::material::{
    Lame, LameParameter, MaterialChange, Property, StVenantKirchhoff, VolumeGuard, VolumeStiffness,
};
use crate::math::{Mat3, Real, Vec3, sum_over};
use crate::mls::{Answer, PointAnswer, PointBonds, WeightedBonds, fit_gradient, gather_answers};
use crate::neighbors::Neighbors;
use crate::particles::{Carry, PARTICLES, Particles, Remap, StateData, StateItem, StateVisitor};

/// Volume ratio under which the guard against inversion acts: far beyond the strains at which E and ν are measured.
const GUARD_ONSET: Real = 0.6;

/// The method's state, data derived from the rest shape, and scratch buffers.
#[derive(Debug)]
pub struct Reference {
    params: Params,
    /// Piece of matter of each body, by body index.
    pieces: Vec<u32>,
    // state
    rest_position: Vec<Vec3>,
    support_radius: Vec<Real>,
    /// Lamé constants, derived from the particles' moduli.
    lame: LameParameter,
    stiffness: Stiffness,
    // derived from the rest shape
    rest: RestShape,
    // data of the present shape: they always belong to the particles' positions, because a step ends with them
    gradients: Vec<Mat3>,
    answers: Vec<PointAnswer>,
    force: Vec<Vec3>,
    viscous: Viscosity,
}

/// Data that depend only on the rest shape.
#[derive(Clone, Debug, Default)]
struct RestShape {
    /// Symmetric neighbour lists. The bond u_ij is the rest position of j minus that of i: this is not slower than a
    /// stored vector per bond and saves 24 bytes for each.
    neighbors: Neighbors,
    /// Symmetric lists of all particles within the supports, also of those without noticeable weight, which tell contact
    /// where the surface is.
    surroundings: Neighbors,
    /// Weights `[w_ij, w_ji]` of each bond: i's weight of j and j's weight of i, 0 outside a support. Any positive
    /// weights are exact for affine motion, so f32 costs no accuracy.
    weights: Vec<[f32; 2]>,
    particles: Vec<RestParticle>,
    /// Particles whose neighbours do not span three dimensions: they cause no elastic force.
    degenerate: Vec<u32>,
    /// Highest frequency of the undeformed bodies with the materials of the start (rad/s), and the particle with the
    /// largest amplitude in that mode.
    highest_frequency: Real,
    fastest: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct RestParticle {
    /// Inverse moment matrix A_i⁻¹ (1/m²).
    inverse_moment: Mat3,
    /// Weighted sum of the rest bonds, Σ_j w_ij u_ij (m).
    row_sum: Vec3,
    /// Stiffness c_i of the residual penalty (N/m).
    residual: Real,
    /// Volume V_i, or 0 if the neighbourhood is degenerate: then the particle causes no elastic force (m³).
    volume: Real,
}

impl Method for Reference {
    /// Advances the group by one leapfrog step (kick, drift, kick). Mueller 2004 Sec. 3.6.
    fn step(
        &mut self,
        particles: &mut Particles,
        ctx: &mut StepContext<'_>,
    ) -> Result<StepReport, StepError> {
        let half = 0.5 * ctx.time_step;
        explicit::kick(particles, ctx, &self.force, half);
        explicit::meet_before_moving(particles, ctx);
        let solved = self.damp(particles, ctx);
        explicit::drift(particles, ctx, &self.force);
        self.compute_forces(particles, ctx);
        ctx.fields.time += ctx.time_step;
        explicit::kick(particles, ctx, &self.force, half);
        explicit::meet_after_kick(particles, ctx);
        Ok(StepReport::new(solved, 0))
    }

    fn max_time_step(&self, particles: &Particles) -> TimeStepLimit {
        self.time_step_limit(particles)
    }

    fn changed(&mut self, particles: &Particles, change: Change) {
        match change {
            Change::Restored => self.prepare(particles),
            Change::Moved => self.forces_at(&particles.position),
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
        let mut item =
            |name, unit, carry, data| visitor.visit(StateItem { name, unit, set: PARTICLES, carry, data });
        item("rest_position", "m", Carry::Mean, StateData::Vectors(&mut self.rest_position));
        item("support_radius", "m", Carry::Copy, StateData::Reals(&mut self.support_radius));
    }

    fn energies(&self, particles: &Particles) -> Energies {
        Energies {
            elastic: Some(self.elastic_energy(&particles.position, &self.gradients)),
            plastic_work: 0.0,
        }
    }

    fn current_volume(&self, particles: &Particles) -> Real {
        sum_over(particles.len(), |i| particles.volume[i] * self.gradients[i].determinant())
    }

    fn connectivity(&self, _body: u32) -> Connectivity {
        Connectivity::Bonds
    }

    fn visit_bonds(&self, _particles: &Particles, i: usize, visit: &mut dyn FnMut(usize, Vec3)) {
        let rest = &self.rest_position;
        let row = self.rest.surroundings.row(i).iter().map(|&j| j as usize);
        row.for_each(|j| visit(j, rest[j] - rest[i]));
    }

    /// Counts the pieces of the rest shape: bonds never break.
    fn n_pieces(&self, particles: &Particles) -> Option<usize> {
        let RestShape { neighbors, weights, .. } = &self.rest;
        Some(count_pieces(particles.len(), |i| {
            let row = neighbors.row(i).iter().zip(&weights[neighbors.range(i)]);
            row.filter(|(_, w)| w[0] > 0.0 || w[1] > 0.0).map(|(&j, _)| j)
        }))
    }

    fn elastic_gradient(&self, i: usize) -> Mat3 {
        self.gradients[i]
    }

    fn warnings(&self, _particles: &Particles) -> Vec<String> {
        warning_of_thin_parts(self.rest.degenerate.len()).into_iter().collect()
    }

    fn columns(&self) -> &'static [ColumnInfo] {
        &[columns::STRESS, columns::PRESSURE, columns::VOLUME_RATIO, columns::STRETCH]
    }

    fn column(&self, name: &str, _particles: &Particles) -> Option<Vec<Real>> {
        let stress = self.stress();
        columns::strain_column(name, &self.gradients, |i, f| stress.first_piola(i, f))
    }

    fn counters(&self, _particles: &Particles) -> Vec<(&'static str, Real)> {
        vec![("degenerate", self.rest.degenerate.len() as Real)]
    }
}

impl Reference {
    /// Applies implicit viscosity over the whole step.
    fn damp(&mut self, particles: &mut Particles, ctx: &mut StepContext<'_>) -> Solved {
        if particles.material[Property::Viscosity].is_zero() {
            return Solved::nothing_to_do();
        }
        let Self { viscous, rest, gradients, params, .. } = self;
        let Particles { position, velocity, mass, volume, material, .. } = particles;
        let bonds = ViscousBonds {
            bonds: rest.weighted_bonds(),
            positions: position,
            volumes: &|i| volume[i] * gradients[i].determinant().max(LEAST_VOLUME_RATIO),
            viscosity: &material[Property::Viscosity],
            residual_share: params.stabilization,
        };
        let time_step = ctx.time_step;
        let mut damping = StrainRateDamping { solver: viscous, bonds };
        let solved = explicit::damp(&mut damping, velocity, mass, ctx, time_step);
        explicit::meet_before_moving(particles, ctx);
        solved
    }

    /// Computes F_i, P_i and the forces of the present shape.
    fn compute_forces(&mut self, particles: &Particles, ctx: &mut StepContext<'_>) {
        let timings = &mut *ctx.timings;
        timings.stage("deformation", || self.fit(&particles.position));
        timings.stage("forces", || self.gather(&particles.position));
    }

    /// Computes forces without timings, for use outside a step.
    fn forces_at(&mut self, positions: &[Vec3]) {
        self.fit(positions);
        self.gather(positions);
    }

    /// Fits F_i = (Σ_j w_ij x_ij u_ijᵀ) A_i⁻¹, then computes the stress. Mueller 2004 Eqs. 15, 24, in true units.
    ///   x_ij world bond (m)   u_ij rest bond (m)   w_ij weight (1)   A_i moment matrix (m²)
    fn fit(&mut self, positions: &[Vec3]) {
        let Self { rest_position, rest, lame, params, answers, force, gradients, .. } = self;
        let points = PointBonds { references: rest_position, fields: positions };
        let stress = Stress { lame, params };
        fit_gradient(&rest.weighted_bonds(), &points, answers, force, gradients, |i, fit, gradient| {
            let p = &rest.particles[i];
            let mut f = fit.product * p.inverse_moment;
            if p.volume == 0.0 {
                f += dropped_directions(p.inverse_moment);
            }
            *gradient = f;
            let carrier = stress.first_piola(i, f) * p.inverse_moment * p.volume - f * p.residual;
            let answer = Answer { carrier, residual: p.residual };
            (answer, answer.own_force(p.row_sum, &fit))
        });
    }

    /// Adds to each f_i the answers of its neighbours. Mueller 2004 Eqs. 18–25.
    fn gather(&mut self, positions: &[Vec3]) {
        let points = PointBonds { references: &self.rest_position, fields: positions };
        gather_answers(&self.rest.weighted_bonds(), &points, &self.answers, &mut self.force);
    }

    fn stress(&self) -> Stress<'_> {
        Stress { lame: &self.lame, params: &self.params }
    }

    /// Returns the bonds of particle i: w_ij, u_ij and x_ij.
    fn row<'a>(&'a self, positions: &'a [Vec3], i: usize) -> impl Iterator<Item = (Real, Vec3, Vec3)> + 'a {
        let neighbors = &self.rest.neighbors;
        neighbors.row(i).iter().zip(&self.rest.weights[neighbors.range(i)]).map(move |(&j, w)| {
            let j = j as usize;
            (Real::from(w[0]), self.rest_position[j] - self.rest_position[i], positions[j] - positions[i])
        })
    }

    /// Returns Σ_i V_i Ψ(F_i) and the energy of the residual penalty (J).
    fn elastic_energy(&self, positions: &[Vec3], gradients: &[Mat3]) -> ElasticEnergy {
        sum_over(positions.len(), |i| {
            let (p, f) = (&self.rest.particles[i], gradients[i]);
            let residual: Real =
                self.row(positions, i).map(|(w, u, x)| w * (x - f * u).length_squared()).sum();
            let strain = ElasticEnergy::of_strain(p.volume, f, |f| self.stress().energy_density(i, f));
            ElasticEnergy { residual: 0.5 * p.residual * residual, ..strain }
        })
    }
}

impl RestShape {
    fn weighted_bonds(&self) -> WeightedBonds<'_> {
        WeightedBonds { neighbors: &self.neighbors, weights: &self.weights }
    }
}

/// Energy and stress of a particle: St Venant–Kirchhoff, the guard against inversion, and Eq. 7 if it is switched on.
struct Stress<'a> {
    lame: &'a LameParameter,
    params: &'a Params,
}

impl Stress<'_> {
    fn volume_terms(&self, lame: Lame) -> (VolumeGuard, VolumeStiffness) {
        let stiffness = self.params.inversion_guard * lame.p_wave_modulus();
        (VolumeGuard { stiffness, onset: GUARD_ONSET }, VolumeStiffness(self.params.volume_stiffness))
    }

    #[inline(always)]
    fn first_piola(&self, i: usize, f: Mat3) -> Mat3 {
        let lame = self.lame.at(i);
        let mut stress = StVenantKirchhoff(lame).first_piola(f);
        let det = f.determinant();
        let (guard, volume) = self.volume_terms(lame);
        if det < GUARD_ONSET {
            stress += guard.first_piola(f);
        }
        if volume.0 > 0.0 {
            stress += volume.first_piola(f);
        }
        stress
    }

    fn energy_density(&self, i: usize, f: Mat3) -> Real {
        let lame = self.lame.at(i);
        let (guard, volume) = self.volume_terms(lame);
        StVenantKirchhoff(lame).energy_density(f) + guard.energy_density(f) + volume.energy_density(f)
    }
}

/// Returns Σ n nᵀ over the directions that a degenerate neighbourhood does not span, where no strain is seen: F n = n.
fn dropped_directions(inverse_moment: Mat3) -> Mat3 {
    let (values, axes) = crate::math::symmetric_eigen(inverse_moment);
    let dropped = |k: usize| if values[k] <= 1e-12 * values.x { 1.0 } else { 0.0 };
    let seen_not = Vec3::new(dropped(0), dropped(1), dropped(2));
    let seen_not = if values.x > 0.0 { seen_not } else { Vec3::ONE };
    axes * Mat3::from_diagonal(seen_not) * axes.transpose()
}
