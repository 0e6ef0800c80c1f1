//! Deformation, flow and forces: the passes of a step over the bonds.
//!
//! A step's motion is fitted by dF_i = (Σ_j w_ij y_ij x_ijᵀ) C_i⁻¹, C_i = Σ_j w_ij x_ij x_ijᵀ. A motion changes the
//! elastic energy Σ_i V_i Ψ(F_i) by V_i τ_i : δL_i, so its exact forces are f_i = Σ_j w_ij (M_i + M_j) x_ij with M_i =
//! V_i τ_i C_i⁻¹. The part of a bond that the fit does not detect is its residual r_ij. With the implied rest bond of
//! both ends' mean deformation it would be x_ij − ½(F_i + F_j) u_ij, and it advances by r ← y_ij − ½(dF_i + dF_j)(x_ij
//! − r_ij). It vanishes for all motion that is quadratic in space. Its energy ½ Σ_ij k_ij |r_ij|² over pairs, k_ij =
//! w_ij (c_i + c_j), adds k_ij r_ij to f_i and S_i = −½ Σ_j k_ij r_ij (x_ij − r_ij)ᵀ to V_i τ_i. Both ends compute the
//! same numbers with opposite signs, so momentum is conserved.
//!   x_ij, y_ij bonds before and after the step (m)   τ Kirchhoff stress (Pa)   w_ij weight (1)   c_i stiffness (N/m)

use super::lists::BondFacts;
use super::{ForceForm, History, Increment, Incremental};
use crate::material::{Answered, Past, Unseen, Yielding};
use crate::math::{
    Mat3, Real, Svd, Vec3, cbrt, cofactor, frobenius_norm, max_over, outer, pow, scaled_columns, sum_over,
    symmetric_eigen, symmetric_part, trace,
};
use crate::methods::ElasticEnergy;
use crate::methods::flow_step::FlowStep;
use crate::particles::Particles;
use rayon::prelude::*;

/// With fewer neighbours than this, the deformation is not determined. Gerszewski 2009 Sec. 3.2.
const MIN_NEIGHBORS: usize = 6;
/// A neighbourhood flatter than this (smallest over largest eigenvalue of C) is degenerate.
const FLATNESS: Real = 1e-3;
/// If 27 det C/(tr C)³ is larger than this, C is far from flat and its eigenvalues need not be computed.
const ROUND: Real = 0.05;
/// Range of elastic stretches where matter flows.
const STRETCHES: (Real, Real) = (0.1, 10.0);
/// Volume ratio (or its inverse) beyond which volume is relaxed, if `volume_relaxation` asks for it.
const LARGE_VOLUME_RATIO: Real = 1.5;
/// Largest length of a residual, as a fraction of its bond.
pub(super) const LONGEST_RESIDUAL: Real = 0.5;
/// Smallest number of rows per parallel task.
const MIN_ROWS: usize = 128;

/// Returns C⁻¹, or 0 if the neighbourhood is degenerate.
pub(super) fn inverse_moment(moment: Mat3, n_active: usize) -> Mat3 {
    let (det, size) = (moment.determinant(), trace(moment));
    let is_round = 27.0 * det > ROUND * size * size * size;
    let is_flat = || {
        let values = symmetric_eigen(moment).0;
        !(values.z > FLATNESS * values.x)
    };
    if n_active < MIN_NEIGHBORS || (!is_round && is_flat()) {
        return Mat3::ZERO;
    }
    cofactor(moment) * (1.0 / det)
}

/// Sums over the bonds of a particle.
pub(super) struct RowSums {
    moment: Mat3,
    /// Contribution S_i of the residuals to V_i τ_i (J).
    spare: Mat3,
    /// The particle's half of the energy of the residuals of its bonds (J).
    unseen: Real,
    n_active: usize,
}

impl Incremental {
    /// Writes the weights of row i at the present positions and returns the sums over the row.
    #[inline(always)]
    pub(super) fn weigh_row(&self, x: &[Vec3], i: usize, weights: &mut [f32]) -> RowSums {
        let (mut moment, mut spare, mut unseen, mut n_active) = (Mat3::ZERO, Mat3::ZERO, 0.0, 0);
        let range = self.neighbors.range(i);
        let row = self.neighbors.row(i).iter().zip(&self.bond_facts[range.clone()]);
        for (((&j, facts), &r), weight) in row.zip(&self.residual[range]).zip(weights) {
            let bond = x[j as usize] - x[i];
            *weight = facts.weight(self.params.force_form, bond, r);
            let w = Real::from(*weight);
            n_active += usize::from(w > 0.0);
            moment += outer(bond * w, bond);
            let pull = r * (0.5 * w * Real::from(facts.stiffness()));
            spare -= outer(pull, bond - r);
            unseen += 0.5 * pull.dot(r);
        }
        RowSums { moment, spare, unseen, n_active }
    }

    /// Computes weights and moments of the present shape, flow and stress, from which forces are gathered.
    pub(super) fn respond_from_steps(&mut self, particles: &Particles, step: FlowStep<'_>) {
        let x = &particles.position;
        let mut weights = std::mem::take(&mut self.weights);
        let mut responses = std::mem::take(&mut self.responses);
        responses.resize(x.len(), Default::default());
        let this = &*self;
        this.neighbors.par_rows_mut(&mut weights, &mut responses).for_each(|(i, row, response)| {
            let sums = this.weigh_row(x, i, row);
            let inverse = inverse_moment(sums.moment, sums.n_active);
            let stressed = this.stressed(particles, i, this.gradient[i], sums.unseen, step);
            let tension = stressed.carrier * particles.volume[i];
            let carrier = match this.params.force_form {
                ForceForm::Corrected => (tension + sums.spare) * inverse,
                ForceForm::Kernel => tension,
            };
            *response = super::Response { carrier, inverse_moment: inverse, ..stressed };
        });
        (self.weights, self.responses) = (weights, responses);
    }

    /// Returns the stress of a particle with the elastic deformation gradient `f`, and its flow. `unseen` is the energy
    /// of its residuals. The carrier is the Kirchhoff stress τ (Pa), or T if forces have the kernel form.
    pub(super) fn stressed(
        &self,
        particles: &Particles,
        i: usize,
        f: Mat3,
        unseen: Real,
        step: FlowStep<'_>,
    ) -> super::Response {
        let body = &self.bodies[particles.body[i] as usize];
        let lame = self.lame.at(i);
        let material = Yielding::at(&particles.material, i, body.measure, self.params.flow_rule);
        let (yielding, time_step) = (step.yielding(i, material), step.duration);
        let volume = particles.volume[i];
        if yielding.flow_rate == 0.0 && self.is_plain() {
            // nothing flows: τ = P Fᵀ without principal stretches
            let carrier = body.law.first_piola(lame, f) * f.transpose();
            return super::Response { carrier, gradient: f, ..Default::default() };
        }
        let forgotten = |flowed: Real| {
            let modulus = lame.p_wave_modulus();
            let unseen = Unseen {
                energy_density: unseen / volume,
                sound_rate: || (modulus * cbrt(volume) / particles.mass[i]).sqrt(),
            };
            yielding.forgotten(unseen, lame, flowed, self.hardening[i], time_step)
        };
        if self.is_plain()
            && let Some(elastic) = yielding.answer_unyielded((body.law, lame), f, self.hardening[i])
        {
            let fraction = forgotten(0.0);
            return super::Response {
                carrier: elastic.stress * f.transpose(),
                gradient: f,
                fraction,
                shear_stress: elastic.shear_stress,
                work: unseen * fraction * (2.0 - fraction),
                ..Default::default()
            };
        }
        let Answered { svd: Svd { u, sigma, v }, stress, shear_stress, flow } =
            yielding.answer((body.law, lame), f, self.past(i), time_step);
        let forgotten = forgotten(flow.map_or(0.0, |flow| flow.fraction));
        let mut left = flow.map_or(sigma, |flow| flow.elastic);
        if self.params.volume_relaxation > 0.0 {
            let ratio = left.element_product();
            if !(1.0 / LARGE_VOLUME_RATIO..=LARGE_VOLUME_RATIO).contains(&ratio) && ratio > 0.0 {
                left *= pow(ratio, -self.params.volume_relaxation * time_step / 3.0);
            }
        }
        let is_changed = left != sigma;
        if is_changed {
            left = left.clamp(Vec3::splat(STRETCHES.0), Vec3::splat(STRETCHES.1));
        }
        let tension = match (self.params.force_form, self.params.history) {
            // P of the additive strain I + ε is linear in ε, and is used as τ
            (ForceForm::Corrected, History::Additive) => scaled_columns(u, stress) * v.transpose(),
            (ForceForm::Corrected, _) => scaled_columns(u, stress * left) * u.transpose(),
            (ForceForm::Kernel, _) => self.kernel_stress(u, stress, left, v),
        };
        super::Response {
            carrier: tension,
            gradient: if is_changed { scaled_columns(u, left) * v.transpose() } else { f },
            fraction: forgotten,
            hardening: flow.map_or(0.0, |flow| flow.hardening),
            shear_stress,
            strain: flow.map_or(0.0, |flow| flow.strain),
            work: volume * flow.map_or(0.0, |flow| flow.work)
                + unseen * forgotten * (2.0 - forgotten) * flow.map_or(1.0, |flow| flow.share),
            ..Default::default()
        }
    }

    /// Returns what the flow of a particle depends on besides its F.
    pub(super) fn past(&self, i: usize) -> Past {
        Past { accumulated: self.hardening[i], shear_stress: self.shear_stress[i] }
    }

    /// Returns the rate of plastic strain of a particle in this step, before its flow is stored (1/s).
    pub(super) fn plastic_rate(&self, i: usize, time_step: Real) -> Mat3 {
        let super::Response { strain, gradient, .. } = self.responses[i];
        if strain == 0.0 {
            return Mat3::ZERO;
        }
        (self.gradient[i] * gradient.inverse() - Mat3::IDENTITY) * (1.0 / time_step)
    }

    /// Stores the flow of the step in the state. Returns the number of particles that flowed.
    pub(super) fn keep_flow(&mut self, x: &[Vec3]) -> usize {
        if self.has_stored_rest() {
            self.deform_rest();
        }
        let Self { responses, gradient, hardening, plastic_strain, plastic_work, flow_fraction, .. } = self;
        let shear_stress = self.shear_stress.par_iter_mut();
        let state = gradient.par_iter_mut().zip(hardening.par_iter_mut()).zip(flow_fraction.par_iter_mut());
        let state =
            state.zip(plastic_strain.par_iter_mut()).zip(plastic_work.par_iter_mut()).zip(shear_stress);
        state.zip(responses.par_iter()).with_min_len(512).for_each(
            |((((((gradient, hardening), fraction), strain), work), shear_stress), response)| {
                *gradient = response.gradient;
                *hardening += response.hardening;
                *shear_stress = response.shear_stress;
                *fraction = response.fraction;
                *strain += response.strain;
                *work += response.work;
            },
        );
        if self.has_spans() {
            self.relax_spans(x);
        }
        sum_over(self.responses.len(), |i| usize::from(self.responses[i].strain > 0.0))
    }

    /// Computes the forces f_i = Σ_j w_ij (M_i + M_j) x_ij + k_ij r_ij, and adds the repulsion of crowded particles.
    pub(super) fn gather(&mut self, x: &[Vec3]) {
        let mut force = std::mem::take(&mut self.force);
        force.resize(x.len(), Vec3::ZERO);
        let this = &*self;
        force.par_iter_mut().with_min_len(MIN_ROWS).enumerate().for_each(|(i, force)| {
            let range = this.neighbors.range(i);
            let row = this.neighbors.row(i).iter().zip(&this.weights[range.clone()]);
            let own = this.carriers[i];
            let mut sum = Vec3::ZERO;
            let row = row.zip(&this.bond_facts[range.clone()]);
            for (((&j, &w), facts), &r) in row.zip(&this.residual[range]) {
                let j = j as usize;
                let bond = x[j] - x[i];
                let pair = (own + this.carriers[j]) * bond + r * Real::from(facts.stiffness());
                sum += pair * Real::from(w);
                if facts.is_crowded(bond) {
                    sum += this.repulsion(facts, i, j).force(bond);
                }
            }
            *force = sum;
        });
        self.force = force;
    }

    /// Updates F ← dF F for the motion from the positions that F belongs to, with the weights there, to `y`; residuals
    /// advance with it.
    pub(super) fn compose(&mut self, y: &[Vec3]) {
        let mut before = std::mem::take(&mut self.before);
        self.compose_motion(&before, y);
        before.copy_from_slice(y);
        self.before = before;
    }

    fn compose_motion(&mut self, x: &[Vec3], y: &[Vec3]) {
        let mut increments = std::mem::take(&mut self.increments);
        increments.resize(x.len(), Increment::default());
        let this = &*self;
        increments.par_iter_mut().with_min_len(MIN_ROWS).enumerate().for_each(|(i, increment)| {
            let inverse = this.responses[i].inverse_moment;
            *increment = Increment::default();
            if inverse == Mat3::ZERO {
                return;
            }
            let row = this.neighbors.row(i).iter().zip(&this.weights[this.neighbors.range(i)]);
            let mut product = Mat3::ZERO;
            for (&j, &w) in row {
                let j = j as usize;
                product += outer((y[j] - y[i]) * Real::from(w), x[j] - x[i]);
            }
            *increment = Increment { gradient: product * inverse, is_known: true };
        });
        self.increments = increments;
        let Self { gradient, increments, params, strain_since, .. } = self;
        let is_additive = params.history == History::Additive;
        let rows = gradient.par_iter_mut().zip(strain_since.par_iter_mut()).zip(increments.par_iter());
        let n_kept: usize = rows
            .with_min_len(512)
            .map(|((f, since), increment)| {
                let d = increment.gradient;
                *since += frobenius_norm(symmetric_part(d) - Mat3::IDENTITY);
                let next = match is_additive {
                    true => *f + (d.transpose() * d - Mat3::IDENTITY) * 0.5,
                    false => d * *f,
                };
                let is_sound = increment.is_known && (is_additive || next.determinant() > 0.0);
                if is_sound {
                    *f = next;
                }
                usize::from(!is_sound)
            })
            .sum();
        self.tallies.n_kept += n_kept as u64;
        if self.params.stabilization > 0.0 && self.params.force_form == ForceForm::Corrected {
            self.advance_residuals(x, y);
        }
    }

    fn advance_residuals(&mut self, x: &[Vec3], y: &[Vec3]) {
        let mut residual = std::mem::take(&mut self.residual);
        let (increments, fraction) = (&self.increments, &self.flow_fraction);
        let mut none = vec![(); x.len()];
        self.neighbors.par_rows_mut(&mut residual, &mut none).for_each(|(i, row, ())| {
            let own = &increments[i];
            for (&j, r) in self.neighbors.row(i).iter().zip(row) {
                let j = j as usize;
                let other = &increments[j];
                let before = x[j] - x[i] - *r;
                let carried = match (own.is_known, other.is_known) {
                    (true, true) => (own.gradient * before + other.gradient * before) * 0.5,
                    (true, false) => own.gradient * before,
                    (false, true) => other.gradient * before,
                    (false, false) => y[j] - y[i],
                };
                let bond = y[j] - y[i];
                let next = (bond - carried) * (1.0 - 0.5 * (fraction[i] + fraction[j]));
                let longest = LONGEST_RESIDUAL * LONGEST_RESIDUAL * bond.length_squared();
                let squared = next.length_squared();
                *r = if squared > longest { next * (longest / squared).sqrt() } else { next };
            }
        });
        self.residual = residual;
    }

    /// Returns Σ_i V_i Ψ(F_i) and the energy of the residuals and of the repulsion (J).
    pub(super) fn elastic_energy(&self, particles: &Particles) -> ElasticEnergy {
        let x = &particles.position;
        let spans = self.has_spans().then(|| self.span_gradients(x));
        sum_over(x.len(), |i| {
            let law = self.bodies[particles.body[i] as usize].law;
            let range = self.neighbors.range(i);
            let row = self.neighbors.row(i).iter().zip(&self.bond_facts[range.clone()]);
            let crowding: Real = row
                .clone()
                .map(|(&j, facts)| self.repulsion(facts, i, j as usize).energy(x[j as usize] - x[i]))
                .sum();
            let unseen = match &spans {
                Some(gradients) => self.unseen_energy(x, gradients, i),
                None => {
                    let row = row.zip(&self.residual[range.clone()]).zip(&self.weights[range]);
                    let of_bond = |(((_, facts), r), &weight): (((_, &BondFacts), &Vec3), &f32)| {
                        0.25 * Real::from(weight * facts.stiffness()) * r.length_squared()
                    };
                    row.map(of_bond).sum()
                }
            };
            let density = |f| law.energy_density(self.lame.at(i), f);
            let strain = ElasticEnergy::of_strain(particles.volume[i], self.gradient[i], density);
            ElasticEnergy { residual: unseen, repulsion: 0.5 * crowding, ..strain }
        })
    }

    /// Returns the number of particles whose neighbourhoods do not determine their deformation.
    pub(super) fn n_degenerate(&self) -> usize {
        (0..self.gradient.len()).filter(|&i| self.is_degenerate(i)).count()
    }

    /// Returns true if the neighbourhood of a particle does not determine its deformation.
    pub(super) fn is_degenerate(&self, i: usize) -> bool {
        match self.has_spans() {
            true => self.spans.is_degenerate(i),
            false => self.responses[i].inverse_moment == Mat3::ZERO,
        }
    }

    /// Returns the largest plastic strain so far.
    pub(super) fn largest_plastic_strain(&self) -> Real {
        max_over(self.plastic_strain.len(), |i| self.plastic_strain[i]).map_or(0.0, |m| m.0)
    }
}
