//! Fit of the motion since the last neighbour search: a span.
//!
//! With the bonds X_ij at the search, G_i = (Σ_j w_ij x_ij X_ijᵀ) A_i⁻¹, A_i = Σ_j w_ij X_ij X_ijᵀ, and F_i = G_i B_i.
//! Weights and B stay within a span of elastic matter, so that its forces have a potential
//!   Σ_i V_i Ψ(G_i B_i) + ½ Σ_pairs k_ij |ρ_ij|²,   ρ_ij = x_ij − ½(G_i + G_j)(X_ij − r_ij),   k_ij = w_ij (c_i + c_j),
//! with the residual r_ij that the bond had at the search. Its negative gradient is
//!   f_i = Σ_j w_ij (M_i + M_j) X_ij + k_ij ρ_ij,   M_i = (V_i τ_i G_i⁻ᵀ + S_i) A_i⁻¹,   S_i = −½ Σ_j k_ij ρ_ij (X_ij − r_ij)ᵀ.
//! Flow changes B, and r so that ρ becomes smaller. At the next search ρ becomes r. Fitting the motion of every step
//! instead, as the paper does (`deformation`), composes the same F in many factors.
//!   x_ij present bond (m)   w_ij = w_ji weight (1)   c_i stiffness of the residuals (N/m)

use super::deformation::{LONGEST_RESIDUAL, inverse_moment};
use super::{Increment, Incremental, Response};
use crate::material::Property;
use crate::math::{Mat3, Real, Vec3, frobenius_norm, outer, sum_over};
use crate::methods::flow_step::FlowStep;
use crate::mls::{Answer, EvenBonds, PointAnswer, PointBonds, fit_row_with_squares, gather_answers};
use crate::particles::Particles;
use rayon::prelude::*;

/// Smallest number of rows per parallel task.
const MIN_ROWS: usize = 128;
/// Smallest det G of a usable fit.
const LEAST_VOLUME: Real = 0.05;
/// Strain since the last search of what was turned inside out (1): more than any elastic strain.
const TURNED: Real = 1e3;
/// Residuals below this fraction of their bonds count as rounding.
const ROUNDING: Real = 1e-12;

/// Data of the present span.
#[derive(Debug, Default)]
pub(super) struct Spans {
    rows: Vec<Row>,
    answers: Vec<PointAnswer>,
    /// G_i⁻¹ of each particle whose G is known.
    inverse_gradients: Vec<Mat3>,
}

/// Data of a particle that stay until the next search, but for `has_residuals`.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// A_i⁻¹ (1/m²), or 0 if the neighbourhood is degenerate.
    inverse: Mat3,
    /// Sum Σ_j w_ij X_ij (m).
    sum: Vec3,
    /// Square of the largest room of its bonds (m²).
    room_squared: Real,
    /// True if some bond has a residual r.
    has_residuals: bool,
}

impl Spans {
    pub(super) fn is_degenerate(&self, i: usize) -> bool {
        self.rows[i].inverse == Mat3::ZERO
    }
}

impl Incremental {
    #[inline(always)]
    fn span_bonds<'a>(&'a self, x: &'a [Vec3]) -> (EvenBonds<'a>, PointBonds<'a>) {
        let bonds = EvenBonds { neighbors: &self.neighbors, weights: &self.weights };
        (bonds, PointBonds { references: &self.listed_position, fields: x })
    }

    /// Returns G_i at the given positions, and the shortest bond (m²).
    #[inline(always)]
    fn fit_span(&self, x: &[Vec3], i: usize) -> (Increment, Real) {
        let (bonds, points) = self.span_bonds(x);
        let (fit, squares) = fit_row_with_squares(&bonds, &points, i, None);
        let gradient = fit.product * self.spans.rows[i].inverse;
        match gradient.determinant() > LEAST_VOLUME {
            true => (Increment { gradient, is_known: true }, squares.least),
            false => (Increment::default(), squares.least),
        }
    }

    /// Returns G of all particles at the given positions.
    pub(super) fn span_gradients(&self, x: &[Vec3]) -> Vec<Increment> {
        (0..x.len()).into_par_iter().with_min_len(MIN_ROWS).map(|i| self.fit_span(x, i).0).collect()
    }

    /// Computes F, flow and stress, from which forces are gathered.
    pub(super) fn respond_from_spans(&mut self, particles: &Particles, step: FlowStep<'_>) {
        let x = &particles.position;
        let flow_rate = &particles.material[Property::FlowRate];
        self.fit_spans(x, |i| flow_rate.at(i) > 0.0);
        let mut responses = std::mem::take(&mut self.responses);
        let mut answers = std::mem::take(&mut self.spans.answers);
        let mut force = std::mem::take(&mut self.force);
        responses.resize(x.len(), Response::default());
        answers.resize(x.len(), PointAnswer::default());
        let this = &*self;
        let rows = responses.par_iter_mut().zip(answers.par_iter_mut()).zip(force.par_iter_mut());
        rows.with_min_len(MIN_ROWS).enumerate().for_each(|(i, ((response, answer), force))| {
            let (row, own) = (&this.spans.rows[i], &this.increments[i]);
            let Unexplained { pull, spare, energy } = this.unexplained(x, &this.increments, i);
            *response = this.stressed(particles, i, this.gradient[i], energy, step);
            let mut carrier = Mat3::ZERO;
            if own.is_known {
                let stress = response.carrier * own.gradient.inverse().transpose() * particles.volume[i];
                carrier = (stress + spare) * row.inverse;
            }
            *answer = this.span_bonds(x).1.answer(&Answer { carrier, residual: 0.0 }, i);
            *force += carrier * row.sum + pull;
        });
        (self.responses, self.spans.answers, self.force) = (responses, answers, force);
    }

    /// Computes G and F of every particle, and the repulsion of crowded ones, with which the forces begin.
    fn fit_spans(&mut self, x: &[Vec3], can_flow: impl Fn(usize) -> bool + Sync) {
        let mut increments = std::mem::take(&mut self.increments);
        let mut gradient = std::mem::take(&mut self.gradient);
        let mut strain_since = std::mem::take(&mut self.strain_since);
        let mut force = std::mem::take(&mut self.force);
        increments.resize(x.len(), Increment::default());
        force.resize(x.len(), Vec3::ZERO);
        let this = &*self;
        let rows = increments.par_iter_mut().zip(gradient.par_iter_mut());
        let rows = rows.zip(strain_since.par_iter_mut()).zip(force.par_iter_mut());
        let n_kept: usize = rows
            .with_min_len(MIN_ROWS)
            .enumerate()
            .map(|(i, (((increment, f), since), force))| {
                let shortest;
                (*increment, shortest) = this.fit_span(x, i);
                let Increment { gradient: g, is_known } = *increment;
                if is_known {
                    *f = g * this.base[i];
                } else if can_flow(i) && !this.spans.is_degenerate(i) {
                    // turned inside out: a new span helps; elastic matter is turned back by its neighbours
                    *since = TURNED;
                }
                *force = match shortest < this.spans.rows[i].room_squared {
                    true => this.crowding(x, i),
                    false => Vec3::ZERO,
                };
                usize::from(!is_known)
            })
            .sum();
        (self.increments, self.gradient) = (increments, gradient);
        (self.strain_since, self.force) = (strain_since, force);
        self.tallies.n_kept += n_kept as u64;
    }

    /// Returns the repulsion by crowded neighbours (N).
    fn crowding(&self, x: &[Vec3], i: usize) -> Vec3 {
        let row = self.neighbors.row(i).iter().zip(&self.bond_facts[self.neighbors.range(i)]);
        row.map(|(&j, facts)| {
            let j = j as usize;
            let bond = x[j] - x[i];
            if facts.is_crowded(bond) { self.repulsion(facts, i, j).force(bond) } else { Vec3::ZERO }
        })
        .sum()
    }

    /// Returns the sums over the residuals of the bonds of a particle.
    #[inline(always)]
    fn unexplained(&self, x: &[Vec3], gradients: &[Increment], i: usize) -> Unexplained {
        let mut sums = Unexplained { pull: Vec3::ZERO, spare: Mat3::ZERO, energy: 0.0 };
        if self.params.stabilization == 0.0 {
            return sums;
        }
        let (stiffness, listed, range) =
            (&self.residual_stiffness, &self.listed_position, self.neighbors.range(i));
        let residual = self.spans.rows[i].has_residuals.then(|| &self.residual[range.clone()]);
        for (k, (&j, &weight)) in self.neighbors.row(i).iter().zip(&self.weights[range]).enumerate() {
            let j = j as usize;
            let mut start = listed[j] - listed[i];
            if let Some(residual) = residual {
                start -= residual[k];
            }
            let bond = x[j] - x[i];
            let unexplained = bond - explained(&gradients[i], &gradients[j], start, bond);
            let pull = unexplained * (Real::from(weight) * (stiffness[i] + stiffness[j]));
            sums.pull += pull;
            // the gradient that explains the bond is half that of the particle, or all of it
            let share = if gradients[j].is_known { 0.5 } else { 1.0 };
            sums.spare -= outer(pull * share, start);
            sums.energy += 0.25 * pull.dot(unexplained);
        }
        sums
    }

    /// Adds the answers of the neighbours to the forces.
    pub(super) fn gather_from_spans(&mut self, x: &[Vec3]) {
        let mut force = std::mem::take(&mut self.force);
        let (bonds, points) = self.span_bonds(x);
        gather_answers(&bonds, &points, &self.spans.answers, &mut force);
        self.force = force;
    }

    /// Returns a particle's half of the energy of the residuals of its bonds, given all G (J).
    pub(super) fn unseen_energy(&self, x: &[Vec3], gradients: &[Increment], i: usize) -> Real {
        self.unexplained(x, gradients, i).energy
    }

    /// Follows the flow: B changes with F, and bonds forget what F does not explain.
    pub(super) fn relax_spans(&mut self, x: &[Vec3]) {
        let (responses, increments) = (&self.responses, &self.increments);
        let relaxes_volume = self.params.volume_relaxation > 0.0;
        let has_flowed =
            |i: usize| responses[i].fraction > 0.0 || responses[i].strain > 0.0 || relaxes_volume;
        if sum_over(x.len(), |i| usize::from(has_flowed(i))) == 0 {
            return;
        }
        let mut inverses = std::mem::take(&mut self.spans.inverse_gradients);
        inverses.resize(x.len(), Mat3::ZERO);
        let Self { base, strain_since, gradient, listed_gradient, .. } = self;
        let rows = inverses.par_iter_mut().zip(base.par_iter_mut()).zip(strain_since.par_iter_mut());
        rows.with_min_len(512).enumerate().for_each(|(i, ((inverse, base), since))| {
            *inverse = increments[i].gradient.inverse();
            if increments[i].is_known && has_flowed(i) {
                *base = *inverse * gradient[i];
                let flowed = listed_gradient[i].inverse() * *base;
                *since = 0.5 * frobenius_norm(flowed.transpose() * flowed - Mat3::IDENTITY);
            }
        });
        let mut residual = std::mem::take(&mut self.residual);
        let mut rows = std::mem::take(&mut self.spans.rows);
        let Self { neighbors, listed_position, .. } = self;
        neighbors.par_rows_mut(&mut residual, &mut rows).for_each(|(i, residual, row)| {
            let (ends, fraction) = (neighbors.row(i), |j: usize| responses[j].fraction);
            if fraction(i) == 0.0 && ends.iter().all(|&j| fraction(j as usize) == 0.0) {
                return;
            }
            row.has_residuals = true;
            for (&j, r) in ends.iter().zip(residual) {
                let j = j as usize;
                let back = match (increments[i].is_known, increments[j].is_known) {
                    (true, true) => (inverses[i] + inverses[j]) * 0.5,
                    (true, false) => inverses[i],
                    (false, true) => inverses[j],
                    (false, false) => continue,
                };
                // X − r moves towards the bond that explains the present one
                let start = listed_position[j] - listed_position[i];
                let left = back * (x[j] - x[i]) - (start - *r);
                *r -= left * (0.5 * (fraction(i) + fraction(j)));
            }
        });
        (self.residual, self.spans.rows, self.spans.inverse_gradients) = (residual, rows, inverses);
    }

    /// Ends the present span of particles that are due: ρ becomes r.
    pub(super) fn end_spans(&mut self, x: &[Vec3], is_due: impl Fn(usize) -> bool + Sync) {
        if self.spans.rows.is_empty() {
            return;
        }
        let n = self.spans.rows.len();
        let gradients = self.span_gradients(&x[..n]);
        let mut residual = std::mem::take(&mut self.residual);
        let Self { neighbors, listed_position, .. } = self;
        neighbors.par_rows_mut(&mut residual, &mut vec![(); n]).for_each(|(i, row, ())| {
            if !is_due(i) {
                return;
            }
            for (&j, r) in neighbors.row(i).iter().zip(row) {
                let j = j as usize;
                let (bond, u) = (x[j] - x[i], listed_position[j] - listed_position[i] - *r);
                let explained = explained(&gradients[i], &gradients[j], u, bond);
                let next = bond - explained;
                let longest = LONGEST_RESIDUAL * LONGEST_RESIDUAL * bond.length_squared();
                let squared = next.length_squared();
                *r = if squared > longest { next * (longest / squared).sqrt() } else { next };
                // rounding is no residual: rows without residuals are quicker
                if squared < ROUNDING * ROUNDING * bond.length_squared() {
                    *r = Vec3::ZERO;
                }
            }
        });
        self.residual = residual;
    }

    /// Computes the data of the span from its state.
    pub(super) fn restore_spans(&mut self) {
        let n = self.neighbors.n_rows();
        let mut weights = std::mem::take(&mut self.weights);
        let mut rows = std::mem::take(&mut self.spans.rows);
        rows.resize(n, Row::default());
        let this = &*self;
        this.neighbors.par_rows_mut(&mut weights, &mut rows).for_each(|(i, weights, row)| {
            *row = this.weigh_span(i, weights);
        });
        (self.weights, self.spans.rows) = (weights, rows);
    }

    /// Writes the weights of row i and returns what follows from them.
    fn weigh_span(&self, i: usize, weights: &mut [f32]) -> Row {
        let range = self.neighbors.range(i);
        let (mut moment, mut n_active, mut row, mut room) = (Mat3::ZERO, 0, Row::default(), 0.0);
        let bonds = self.neighbors.row(i).iter().zip(&self.bond_facts[range.clone()]);
        for (((&j, facts), r), weight) in bonds.zip(&self.listed_residual[range.clone()]).zip(weights) {
            let start = self.listed_position[j as usize] - self.listed_position[i];
            *weight = facts.weight(self.params.force_form, start, *r);
            n_active += usize::from(*weight > 0.0);
            let weighted = start * Real::from(*weight);
            moment += outer(weighted, start);
            row.sum += weighted;
            room = Real::max(room, facts.room());
        }
        row.inverse = inverse_moment(moment, n_active);
        row.room_squared = room * room;
        row.has_residuals = self.residual[range].iter().any(|r| *r != Vec3::ZERO);
        row
    }

    /// Sets B so that F has its value at the given positions.
    pub(super) fn keep_gradients(&mut self, x: &[Vec3]) {
        let mut base = std::mem::take(&mut self.base);
        let this = &*self;
        base.par_iter_mut().with_min_len(MIN_ROWS).enumerate().for_each(|(i, base)| {
            // G is the identity where it is not known
            *base = this.fit_span(x, i).0.gradient.inverse() * this.gradient[i];
        });
        self.base = base;
    }
}

impl Default for Row {
    fn default() -> Self {
        Self { inverse: Mat3::ZERO, sum: Vec3::ZERO, room_squared: 0.0, has_residuals: false }
    }
}

/// Sums over the residuals of the bonds of a particle.
struct Unexplained {
    /// Force Σ_j k_ij ρ_ij (N).
    pull: Vec3,
    /// Contribution S_i to V_i τ_i G_i⁻ᵀ (J).
    spare: Mat3,
    /// The particle's half of the energy (J).
    energy: Real,
}

/// Returns the part of a bond that the gradients of its ends explain (m).
#[inline(always)]
fn explained(own: &Increment, other: &Increment, u: Vec3, bond: Vec3) -> Vec3 {
    match (own.is_known, other.is_known) {
        (true, true) => (own.gradient * u + other.gradient * u) * 0.5,
        (true, false) => own.gradient * u,
        (false, true) => other.gradient * u,
        (false, false) => bond,
    }
}
