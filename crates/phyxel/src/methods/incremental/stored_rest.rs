//! Variant with a stored rest shape, to which Gerszewski 2009 Fig. 8 compares: the bonds of the start, deformed by the
//! flow, as in Mueller 2004.

use super::lists::bond_support;
use super::{Incremental, Response};
use crate::kernels::cosine_weight;
use crate::material::{Answered, Yielding};
use crate::math::{Mat3, Real, Svd, Vec3, outer, scaled_columns};
use crate::methods::flow_step::FlowStep;
use crate::particles::Particles;
use rayon::prelude::*;

/// Smallest number of rows per parallel task.
const MIN_ROWS: usize = 128;

impl Incremental {
    /// Returns i's rest bond to j, F_p X_ij, and its weight.
    #[inline(always)]
    pub(super) fn rest_bond(&self, i: usize, j: usize) -> (Vec3, Real) {
        let u = self.plastic_gradient[i] * (self.listed_position[j] - self.listed_position[i]);
        let h = bond_support(&self.support, i, j);
        (u, Real::from(cosine_weight((u.length_squared() / (h * h)) as f32)))
    }

    /// Computes F from the rest bonds, then flow and stress.
    pub(super) fn respond_from_rest(&mut self, particles: &Particles, step: FlowStep<'_>) {
        let x = &particles.position;
        let mut responses = std::mem::take(&mut self.responses);
        responses.resize(x.len(), Response::default());
        let mut gradient = std::mem::take(&mut self.gradient);
        let this = &*self;
        let rows = responses.par_iter_mut().zip(gradient.par_iter_mut()).with_min_len(MIN_ROWS);
        rows.enumerate().for_each(|(i, (response, f))| {
            let (mut moment, mut product, mut n_active) = (Mat3::ZERO, Mat3::ZERO, 0);
            for &j in this.neighbors.row(i) {
                let (u, w) = this.rest_bond(i, j as usize);
                n_active += usize::from(w > 0.0);
                moment += outer(u * w, u);
                product += outer((x[j as usize] - x[i]) * w, u);
            }
            let inverse = super::deformation::inverse_moment(moment, n_active);
            *response = Response { gradient: *f, ..Response::default() };
            if inverse == Mat3::ZERO {
                return;
            }
            *f = product * inverse;
            let body = &this.bodies[particles.body[i] as usize];
            let material = Yielding::at(&particles.material, i, body.measure, this.params.flow_rule);
            let yielding = step.yielding(i, material);
            let Answered { svd: Svd { u, v, .. }, stress, shear_stress, flow } =
                yielding.answer((body.law, this.lame.at(i)), *f, this.past(i), step.duration);
            let volume = particles.volume[i];
            let before_flow = flow.map_or(stress, |flow| stress / flow.plastic);
            *response = Response {
                carrier: scaled_columns(u, before_flow) * v.transpose() * inverse * volume,
                inverse_moment: inverse,
                gradient: flow.map_or(*f, |flow| scaled_columns(u, flow.elastic) * v.transpose()),
                fraction: flow.map_or(0.0, |flow| flow.fraction),
                hardening: flow.map_or(0.0, |flow| flow.hardening),
                shear_stress,
                strain: flow.map_or(0.0, |flow| flow.strain),
                work: volume * flow.map_or(0.0, |flow| flow.work),
            };
        });
        (self.responses, self.gradient) = (responses, gradient);
        // viscosity acts on the present shape
        let mut weights = std::mem::take(&mut self.weights);
        let mut none = vec![(); x.len()];
        let this = &*self;
        this.neighbors.par_rows_mut(&mut weights, &mut none).for_each(|(i, row, ())| {
            this.weigh_row(x, i, row);
        });
        self.weights = weights;
    }

    /// Computes the forces f_i = Σ_j w_ij M_i u_ij − w_ji M_j u_ji.
    pub(super) fn gather_from_rest(&mut self, n: usize) {
        let mut force = std::mem::take(&mut self.force);
        force.resize(n, Vec3::ZERO);
        let this = &*self;
        force.par_iter_mut().with_min_len(MIN_ROWS).enumerate().for_each(|(i, force)| {
            let mut sum = Vec3::ZERO;
            for &j in this.neighbors.row(i) {
                let j = j as usize;
                let ((u, w), (back, back_w)) = (this.rest_bond(i, j), this.rest_bond(j, i));
                sum += this.responses[i].carrier * u * w - this.responses[j].carrier * back * back_w;
            }
            *force = sum;
        });
        self.force = force;
    }

    /// Updates F_p ← f_p F_p, with f_p from F = F_e f_p. Must be called before the elastic parts are stored.
    pub(super) fn deform_rest(&mut self) {
        let Self { plastic_gradient, gradient, responses, .. } = self;
        let rows = plastic_gradient.par_iter_mut().zip(gradient.par_iter()).zip(responses.par_iter());
        rows.with_min_len(512).for_each(|((plastic, f), response)| {
            if response.fraction > 0.0 {
                *plastic = response.gradient.inverse() * *f * *plastic;
            }
        });
    }
}
