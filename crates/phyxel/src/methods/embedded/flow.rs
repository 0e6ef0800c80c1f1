//! Plastic flow of rest bonds.

use super::bases::{RowLanes, growth_to_even};
use super::{Embedded, MassRule};
use crate::material::{Property, can_flow};
use crate::math::{Mat3, Real, ln, max_over, polar, sum_over};
use crate::methods::{LEAST_VOLUME_RATIO, StepContext};
use crate::particles::Particles;
use rayon::prelude::*;

/// Fraction of the volume differences between neighbours that is removed where residuals are removed: the noise of
/// single particles disappears within many steps, the gradients that carry weight stay.
const EVENING: Real = 0.03;
/// Smallest number of rows per parallel task.
const MIN_ROWS: usize = 128;

impl Embedded {
    /// Returns the rate of plastic strain of a particle in this step, in world space (1/s).
    pub(super) fn plastic_rate(&self, i: usize, time_step: Real) -> Mat3 {
        let (flow, f) = (&self.flows[i], self.gradients[i]);
        if flow.fraction == 0.0 {
            return Mat3::ZERO;
        }
        let stretch = polar(flow.plastic).1;
        (f * stretch * f.inverse() - Mat3::IDENTITY) * (1.0 / time_step)
    }

    /// Applies ũ_ij = F_p u_ij to the bonds of every particle that flowed, and updates its plastic state. Returns the
    /// number of particles that yielded.
    ///
    /// Departs from the paper, which has no residuals (`stabilization = 0`): residuals flow, too. Rest bonds approach
    /// those that F explains by a fraction γ, u_ij ← (1 − γ) u_ij + γ F⁻¹ x_ij ([`Yielding::forgotten`]); otherwise
    /// residuals would form an elastic skeleton that carries loads above the yield stress. F, which changes by the
    /// square of the residuals, is then set back to its old value. Rest frames rotate as well: by the same fraction,
    /// the rotation in F is transferred to the rest bonds. Otherwise matter that rolls would have rest frames that no
    /// embedding fits together, and particles that meet in the world would not be neighbours in embedded space.
    /// Finally, det F is evened out between neighbours ([`EVENING`]): forces are means over neighbourhoods and do not
    /// detect its noise, which would stay for good.
    pub(super) fn flow(&mut self, particles: &mut Particles, ctx: &mut StepContext<'_>) -> usize {
        if !can_flow(&particles.material) {
            return 0;
        }
        ctx.timings.stage("plastic flow", || {
            let flows = &self.flows;
            let n_yielded = sum_over(flows.len(), |i| usize::from(flows[i].fraction > 0.0));
            if max_over(flows.len(), |i| flows[i].forgotten).is_none_or(|m| m.0 == 0.0) {
                return 0;
            }
            let largest = max_over(flows.len(), |i| flows[i].strain).map_or(0.0, |m| m.0);
            let rule = self.basis_rule();
            let (x, relaxes) = (&particles.position, self.params.stabilization > 0.0);
            let Self { bonds, basis, support_radius, lame, flows, gradients, log_volume, origin, .. } = self;
            let origin = &*origin;
            let gradients = &*gradients;
            if relaxes {
                let of = |f: &Mat3| ln(f.determinant().max(LEAST_VOLUME_RATIO));
                gradients.par_iter().with_min_len(512).map(of).collect_into_vec(log_volume);
            }
            let log_volume = &*log_volume;
            let Self { hardening, plastic_strain, plastic_work, plastic_gradient, .. } = self;
            let (lame, support_radius, volume) = (&*lame, &*support_radius, &particles.volume);
            let rows = bonds.par_rows_mut().zip(basis.par_iter_mut()).zip(flows.par_iter());
            let state = hardening.par_iter_mut().zip(plastic_strain.par_iter_mut());
            let state = state.zip(plastic_work.par_iter_mut()).zip(plastic_gradient.par_iter_mut());
            rows.zip(state).with_min_len(MIN_ROWS).enumerate().for_each_init(
                RowLanes::new,
                |lanes, (i, (row, state))| {
                    let ((mut row, basis), flow) = row;
                    if flow.forgotten > 0.0 {
                        let particle = (support_radius[i], volume[i], lame.at(i));
                        let (mut map, mut dropped) = (flow.plastic, 0.0);
                        lanes.read(&row);
                        if relaxes {
                            map *= growth_to_even(&row, basis, log_volume, i, EVENING * flow.forgotten);
                            let inverse = map * gradients[i].inverse();
                            lanes.read_world(&row, x, i);
                            lanes.map_both(map * (1.0 - flow.forgotten), inverse * flow.forgotten);
                            *basis = rule.basis(lanes, particle);
                            if !basis.is_degenerate() {
                                (*basis, dropped) = rule.keep_gradient(lanes, particle, basis, inverse);
                            }
                        } else {
                            lanes.map(map);
                            *basis = rule.basis(lanes, particle);
                        }
                        rule.finish(lanes, &mut row, particle, basis, (origin, i));
                        let (((hardening, strain), work), gradient) = state;
                        *hardening += flow.hardening;
                        *strain += flow.strain;
                        *work += flow.work + dropped;
                        *gradient = flow.plastic * *gradient;
                    }
                },
            );
            let Self { bonds, flows, has_flowed, origin, .. } = &mut *self;
            flows.par_iter().with_min_len(512).map(|flow| flow.forgotten > 0.0).collect_into_vec(has_flowed);
            bonds.find_plain_rows(origin, |i| has_flowed[i]);
            bonds.copy_bonds(|i| has_flowed[i]);
            self.pace.flowed += largest;
            if self.params.mass_rule == MassRule::Running {
                self.run_masses(particles);
            }
            n_yielded
        })
    }

    /// Sets masses and volumes by Eq. 3, in the present state.
    fn run_masses(&mut self, particles: &mut Particles) {
        for i in 0..particles.len() {
            let scale = self.bodies[particles.body[i] as usize].volume_scale;
            let volume = scale * self.moment_volume(i);
            if volume > 0.0 {
                (particles.volume[i], particles.mass[i]) =
                    (volume, volume * particles.material[Property::Density].at(i));
            }
        }
        self.compute_bases(particles);
    }
}
