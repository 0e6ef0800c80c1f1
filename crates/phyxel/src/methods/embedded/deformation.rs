//! Deformation, plastic flow and forces: the passes of a step over the bonds.

use super::{Basis, BodyFacts, Embedded, Flow, MassRule, WorldBonds};
use crate::forces::repulsion;
use crate::material::{FlowRule, Lame, LameParameter, Past, Property, Unseen, Yielding, can_flow};
use crate::math::{
    CHUNK, Mat3, Quat, Real, Svd, Vec3, cbrt, cofactor, double_dot, exp, frobenius_norm, ln, max_over, outer,
    polar, scaled_columns, smallest_eigenvalue, sum_over, symmetric_eigen, trace,
};
use crate::methods::flow_step::FlowStep;
use crate::methods::{ElasticEnergy, LEAST_VOLUME_RATIO, StepContext};
use crate::mls::{
    Answer, PointAnswer, PointBonds, Squares, fit_row, fit_row_with_squares, gather_stored_answers,
};
use crate::neighbors::{BondRows, SlotRow};
use crate::particles::Particles;
use rayon::prelude::*;

/// A neighbourhood flatter than this (smallest over largest eigenvalue of A) is degenerate.
const FLATNESS: Real = 1e-3;
/// A neighbourhood with fewer bonds than this inside the support is degenerate.
const MIN_BONDS: usize = 8;
/// If 27 det A/(tr A)³ is larger than this, A is far from flat and its eigenvalues need not be computed.
const ROUND: Real = 0.05;
/// Largest correction of rest bonds that keeps F.
const LARGEST_CORRECTION: Real = 0.1;
/// Correction of rest bonds after which F is kept well enough.
const SMALL_CORRECTION: Real = 1e-4;
/// Largest number of corrections of the rest bonds of one particle.
const MOST_CORRECTIONS: usize = 5;
/// Fraction of the volume differences between neighbours that is removed where residuals are removed: the noise of
/// single particles disappears within many steps, the gradients that carry weight stay.
const EVENING: Real = 0.03;
/// Smallest number of rows per parallel task.
const MIN_ROWS: usize = 128;

/// Data needed to compute stress and flow from deformation gradients.
struct Response<'a> {
    particles: &'a Particles,
    lame: &'a LameParameter,
    bodies: &'a [BodyFacts],
    hardening: &'a [Real],
    plastic_strain: &'a [Real],
    /// Step and meaning of the flow rates; `None`: nothing flows.
    flow: Option<(FlowStep<'a>, FlowRule)>,
    /// True if rest frames rotate with the flow.
    turns: bool,
}

/// Returns a fraction of a rotation.
fn turned(rotation: Mat3, fraction: Real) -> Mat3 {
    Mat3::from_quat(Quat::IDENTITY.slerp(Quat::from_mat3(&rotation), fraction))
}

impl Response<'_> {
    /// Returns P of a particle that does not flow.
    #[inline(always)]
    fn elastic(&self, i: usize, f: Mat3) -> Mat3 {
        self.bodies[self.particles.body[i] as usize].law.first_piola(self.lame.at(i), f)
    }

    /// Returns P and the flow of a particle with deformation gradient F. Jones 2014 Eqs. 4, 6, 7.
    /// The von Mises stress at the end of the last step is replaced by that at the end of this one if time passes.
    /// In matter that flows, P is the derivative of Ψ(F F_p⁻¹), P(s_e) F_p⁻ᵀ, with the bonds before the flow.
    #[inline]
    fn of(&self, i: usize, f: Mat3, volume: Real, unseen: Real, shear_stress: &mut Real) -> (Mat3, Flow) {
        let BodyFacts { law, measure, .. } = self.bodies[self.particles.body[i] as usize];
        let lame = self.lame.at(i);
        let (step, rule) = self.flow.unwrap_or((FlowStep::NONE, FlowRule::default()));
        let time_step = step.duration;
        let yielding = step.yielding(i, Yielding::at(&self.particles.material, i, measure, rule));
        if yielding.flow_rate == 0.0 {
            return (self.elastic(i, f), Flow::NONE);
        }
        let yielding =
            Yielding { flow_rate: if self.flow.is_some() { yielding.flow_rate } else { 0.0 }, ..yielding };
        let forgotten = |flowed: Real| {
            let density = self.particles.material[Property::Density].at(i);
            let unseen = Unseen {
                energy_density: unseen / volume,
                sound_rate: || (lame.p_wave_modulus() / density).sqrt() / cbrt(volume),
            };
            yielding.forgotten(unseen, lame, flowed, self.hardening[i], time_step)
        };
        let lost = |forgotten: Real| unseen * forgotten * (2.0 - forgotten);
        if let Some(elastic) = yielding.answer_unyielded((law, lame), f, self.hardening[i]) {
            if self.flow.is_some() {
                *shear_stress = elastic.shear_stress;
            }
            let (forgotten, mut flow) = (forgotten(0.0), Flow::NONE);
            if forgotten > 0.0 {
                let plastic = if self.turns { turned(elastic.rotation, forgotten) } else { Mat3::IDENTITY };
                flow = Flow { plastic, forgotten, work: lost(forgotten), ..flow };
            }
            // what never flowed repels nothing
            if self.plastic_strain[i] > 0.0 {
                flow.least_stretch = smallest_eigenvalue(elastic.stretch);
            }
            return (elastic.stress, flow);
        }
        let past = Past { accumulated: self.hardening[i], shear_stress: *shear_stress };
        let answer = yielding.answer((law, lame), f, past, time_step);
        if self.flow.is_some() {
            *shear_stress = answer.shear_stress;
        }
        let flowed = answer.flow.map_or(0.0, |flow| flow.fraction);
        let forgotten = if answer.svd.sigma.z > 0.0 { forgotten(flowed) } else { 0.0 };
        let lost = lost(forgotten);
        let (Svd { u, sigma, v }, stress) = (answer.svd, answer.stress);
        let spin =
            if self.turns && forgotten > 0.0 { turned(u * v.transpose(), forgotten) } else { Mat3::IDENTITY };
        let Some(flowed) = answer.flow else {
            let none = Flow { plastic: spin, forgotten, work: lost, least_stretch: sigma.z, ..Flow::NONE };
            return (scaled_columns(u, stress) * v.transpose(), none);
        };
        let flow = Flow {
            plastic: spin * scaled_columns(v, flowed.plastic) * v.transpose(),
            fraction: flowed.fraction,
            forgotten,
            hardening: flowed.hardening,
            strain: flowed.strain,
            work: volume * flowed.work + lost * flowed.share,
            least_stretch: flowed.elastic.min_element(),
        };
        (scaled_columns(u, stress / flowed.plastic) * v.transpose(), flow)
    }
}

impl Embedded {
    /// Computes F_i, flow, P_i and the forces of the present shape.
    pub(super) fn compute_forces(&mut self, particles: &Particles, ctx: &mut StepContext<'_>) {
        let StepContext { timings, contacts, time_step, .. } = ctx;
        let step = can_flow(&particles.material).then(|| FlowStep::new(contacts, *time_step));
        timings.stage("deformation", || self.fit(&particles.position, particles, step));
        timings.stage("forces", || self.gather(&particles.position, particles));
    }

    /// Computes forces without flow and without timings, for use outside a step.
    pub(super) fn forces_at(&mut self, positions: &[Vec3], particles: &Particles) {
        self.fit(positions, particles, None);
        self.gather(positions, particles);
    }

    /// Fits F_i = (Σ_j w_ij x_ij u_ijᵀ) A_i⁻¹, Jones 2014 Eq. 2, then computes stress and flow.
    ///   x_ij world bond (m)   u_ij rest bond (m)   w_ij weight (1)   A_i moment matrix (m²)
    /// A degenerate neighbourhood has no deformation and causes no force.
    fn fit(&mut self, positions: &[Vec3], particles: &Particles, step: Option<FlowStep<'_>>) {
        let Self { bonds, basis, answers, force, gradients, flows, lame, bodies, params, .. } = self;
        let Self { hardening, plastic_strain, shear_stress, closest, .. } = self;
        let (bonds, basis) = (&*bonds, &*basis);
        let points = PointBonds { references: &self.origin, fields: positions };
        let stored = WorldBonds { bonds, points };
        let flow = step.map(|step| (step, params.flow_rule));
        let can_flow = can_flow(&particles.material);
        let turns = params.stabilization > 0.0;
        let response = Response { particles, lame, bodies, hardening, plastic_strain, flow, turns };
        let rows = answers.par_iter_mut().zip(force.par_iter_mut()).zip(gradients.par_iter_mut());
        let rows =
            rows.zip(flows.par_iter_mut()).zip(shear_stress.par_iter_mut().zip(closest.par_iter_mut()));
        rows.with_min_len(MIN_ROWS).enumerate().for_each(|(i, row)| {
            let ((((answer, force), gradient), flow), (shear_stress, closest)) = row;
            let own = &basis[i];
            if own.is_degenerate() {
                (*answer, *force, *gradient) = (PointAnswer::default(), Vec3::ZERO, Mat3::IDENTITY);
                (*flow, *closest) = (Flow::NONE, 0.0);
                return;
            }
            let is_plain = bonds.is_plain(i);
            let (fit, squares) = match (can_flow || !is_plain, is_plain) {
                (false, _) => (fit_row(&bonds, &points, i), Squares::default()),
                (true, true) => fit_row_with_squares(&bonds, &points, i),
                (true, false) => fit_row_with_squares(&bonds, &stored, i),
            };
            let f = fit.product * own.inverse_moment;
            *closest = squares.least;
            let (stress, forgotten) = if can_flow {
                let unseen = 0.5 * own.residual * (squares.sum - double_dot(f, fit.product)).max(0.0);
                let (stress, flowed) = response.of(i, f, own.volume, unseen, shear_stress);
                *flow = flowed;
                (stress, flowed.forgotten)
            } else {
                (response.elastic(i, f), 0.0)
            };
            let residual = own.residual * (1.0 - forgotten);
            *gradient = f;
            let given = Answer { carrier: stress * own.inverse_moment * own.volume - f * residual, residual };
            (*answer, *force) = match is_plain {
                true => (points.answer(&given, i), given.own_force(own.row_sum, &fit)),
                false => (points.answer_of_stored(&given, i), given.own_force(squares.rounded, &fit)),
            };
        });
    }

    /// Adds to each f_i the answers of the particles that list i. Jones 2014 Eq. 5.
    fn gather(&mut self, positions: &[Vec3], particles: &Particles) {
        let points = PointBonds { references: &self.origin, fields: positions };
        gather_stored_answers(&self.bonds, &points, &self.answers, &mut self.force);
        self.push_apart(positions, particles);
    }

    /// Adds the repulsion between particles that have flowed: each of the bonds between two particles carries half of
    /// it. Particles that never flowed are held by their rest bonds. Rooms only grow where matter flows,
    /// and after updates of the neighbourhoods: rooms that followed every vibration would drive it, because no force
    /// answers for their growth.
    fn push_apart(&mut self, positions: &[Vec3], particles: &Particles) {
        if self.params.repulsion == 0.0 || !can_flow(&particles.material) {
            return;
        }
        let mut reach = std::mem::take(&mut self.reach);
        let is_updated = self.pace.n_steps == 0;
        reach.par_iter_mut().with_min_len(512).enumerate().for_each(|(i, reach)| {
            let Flow { forgotten, least_stretch, .. } = self.flows[i];
            let now = self.reach_of(i, least_stretch);
            let may_grow = is_updated || forgotten > 0.0 || *reach == 0.0;
            *reach = if may_grow { now } else { reach.min(now) };
        });
        self.reach = reach;
        let farthest = max_over(self.reach.len(), |i| self.reach[i]).map_or(0.0, |m| m.0);
        if farthest == 0.0 {
            return;
        }
        // few particles are crowded: of the others, and of bonds of others, no position needs to be read
        let mut is_crowded = std::mem::take(&mut self.is_crowded);
        let rows = self.reach.par_iter().zip(self.closest.par_iter()).with_min_len(512);
        rows.map(|(reach, closest)| *reach > 0.0 && *closest < (reach + farthest) * (reach + farthest))
            .collect_into_vec(&mut is_crowded);
        let mut force = std::mem::take(&mut self.force);
        let (bonds, this) = (&&self.bonds, &*self);
        force.par_iter_mut().with_min_len(MIN_ROWS).enumerate().for_each(|(i, force)| {
            if this.reach[i] == 0.0 {
                return;
            }
            let mut push = |j: usize| {
                let bond = positions[j] - positions[i];
                if let Some(pair) = this.crowding(i, j, bond) {
                    *force += pair.force(bond);
                }
            };
            if is_crowded[i] {
                bonds.own(i).for_each(|(_, j, _)| push(j));
            }
            bonds.incoming(i).filter(|(_, j, _)| is_crowded[*j]).for_each(|(_, j, _)| push(j));
        });
        (self.force, self.is_crowded) = (force, is_crowded);
    }

    /// Returns half the room of a particle, 0 if it never flowed. Rooms shrink with elastic compression (m).
    fn reach_of(&self, i: usize, least_stretch: Real) -> Real {
        if self.plastic_strain[i] > 0.0 { 0.5 * self.room[i] * least_stretch.clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Returns half of the repulsion of two near particles, because each of the two bonds between them adds it.
    #[inline(always)]
    fn crowding(&self, i: usize, j: usize, bond: Vec3) -> Option<repulsion::Pair> {
        let room = self.reach[i] + self.reach[j];
        if bond.length_squared() >= room * room || self.reach[j] == 0.0 {
            return None;
        }
        let share = 0.25 * self.params.repulsion;
        let of = |i: usize| repulsion::stiffness(share, self.lame.at(i), self.basis[i].volume);
        Some(repulsion::Pair { room, stiffness: of(i) + of(j) })
    }

    /// Returns the repulsion energy of particle i's bonds (J).
    fn crowding_energy(&self, positions: &[Vec3], i: usize) -> Real {
        if self.reach.get(i).is_none_or(|reach| *reach == 0.0) {
            return 0.0;
        }
        let bonds = self.bonds.ends(i).iter().map(|&j| (j as usize, positions[j as usize] - positions[i]));
        bonds.filter_map(|(j, bond)| Some(self.crowding(i, j, bond)?.energy(bond))).sum()
    }

    fn points<'a>(&'a self, positions: &'a [Vec3]) -> PointBonds<'a> {
        PointBonds { references: &self.origin, fields: positions }
    }

    /// Computes F_i from the present bonds and the given positions.
    pub(super) fn refit(&mut self, positions: &[Vec3]) {
        let mut gradients = std::mem::take(&mut self.gradients);
        gradients.resize(positions.len(), Mat3::IDENTITY);
        let rows = gradients.par_iter_mut().with_min_len(MIN_ROWS).enumerate();
        rows.for_each(|(i, gradient)| *gradient = self.fit_one(positions, i));
        self.gradients = gradients;
    }

    fn fit_one(&self, positions: &[Vec3], i: usize) -> Mat3 {
        let own = &self.basis[i];
        if own.is_degenerate() {
            return Mat3::IDENTITY;
        }
        let geometry = WorldBonds { bonds: &self.bonds, points: self.points(positions) };
        fit_row(&&self.bonds, &geometry, i).product * own.inverse_moment
    }

    /// Returns F_i and the energy c/2 Σ_j w_ij |x_ij − F_i u_ij|² of the residual penalty (J). F minimises that sum,
    /// which therefore is Σ_j w_ij |x_ij|² − F : Σ_j w_ij x_ij u_ijᵀ.
    fn fit_with_residual(&self, positions: &[Vec3], i: usize) -> (Mat3, Real) {
        let own = &self.basis[i];
        if own.is_degenerate() {
            return (Mat3::IDENTITY, 0.0);
        }
        let geometry = WorldBonds { bonds: &self.bonds, points: self.points(positions) };
        let (fit, squares) = fit_row_with_squares(&&self.bonds, &geometry, i);
        let f = fit.product * own.inverse_moment;
        let residual = (squares.sum - double_dot(f, fit.product)).max(0.0);
        (f, 0.5 * own.residual * residual)
    }

    /// Returns Ψ of a deformation gradient in the material of particle i (J/m³).
    fn energy_density(&self, body: &[u32], i: usize, f: Mat3) -> Real {
        self.bodies[body[i] as usize].law.energy_density(self.lame.at(i), f)
    }

    /// Returns Σ_i V_i Ψ(F_i) and the energies of the residual penalty and of the repulsion, for present bonds and the given
    /// positions (J).
    pub(super) fn elastic_energy(&self, positions: &[Vec3], body: &[u32]) -> ElasticEnergy {
        sum_over(positions.len(), |i| {
            let (f, residual) = self.fit_with_residual(positions, i);
            let repulsion = self.crowding_energy(positions, i);
            let density = |f| self.energy_density(body, i, f);
            let strain = ElasticEnergy::of_strain(self.basis[i].volume, f, density);
            ElasticEnergy { residual, repulsion, ..strain }
        })
    }

    /// Does the same as [`Embedded::refit`] and returns the elastic energy (J).
    pub(super) fn refit_with_energy(&mut self, positions: &[Vec3], body: &[u32]) -> Real {
        let mut gradients = std::mem::take(&mut self.gradients);
        gradients.resize(positions.len(), Mat3::IDENTITY);
        let partial: Vec<Real> = gradients
            .par_chunks_mut(CHUNK)
            .enumerate()
            .map(|(chunk, gradients)| {
                gradients.iter_mut().enumerate().fold(0.0, |sum, (k, gradient)| {
                    let i = chunk * CHUNK + k;
                    let (f, residual) = self.fit_with_residual(positions, i);
                    *gradient = f;
                    sum + (self.basis[i].volume * self.energy_density(body, i, f) + residual)
                })
            })
            .collect();
        self.gradients = gradients;
        partial.into_iter().sum()
    }

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
            let Self { bonds, basis, support_radius, lame, flows, gradients, log_volume, .. } = self;
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
            rows.zip(state).with_min_len(MIN_ROWS).enumerate().for_each(|(i, (row, state))| {
                let ((mut row, basis), flow) = row;
                if flow.forgotten > 0.0 {
                    let particle = (support_radius[i], volume[i], lame.at(i));
                    let inverse = gradients[i].inverse();
                    let mut map = flow.plastic;
                    if relaxes {
                        map *= growth_to_even(&row, basis, log_volume, i, EVENING * flow.forgotten);
                        let n = row.len();
                        for (&j, u) in row.ends[..n].iter().zip(&mut row.vectors[..n]) {
                            *u = u.lerp(inverse * (x[j as usize] - x[i]), flow.forgotten);
                        }
                    }
                    *basis = rule.basis(&mut row, particle, |u| map * u);
                    let mut dropped = 0.0;
                    if relaxes && !basis.is_degenerate() {
                        let inverse = map * inverse;
                        (*basis, dropped) = rule.keep_gradient(&mut row, particle, basis, inverse, (x, i));
                    }
                    let (((hardening, strain), work), gradient) = state;
                    *hardening += flow.hardening;
                    *strain += flow.strain;
                    *work += flow.work + dropped;
                    *gradient = flow.plastic * *gradient;
                }
            });
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

    /// Returns the rule by which bases are computed.
    pub(super) fn basis_rule(&self) -> BasisRule {
        BasisRule { stabilization: self.params.stabilization }
    }

    /// Computes weights, moments and derived quantities of every particle.
    pub(super) fn compute_bases(&mut self, particles: &Particles) {
        let rule = self.basis_rule();
        let n = particles.len();
        self.basis.resize(n, Basis::default());
        let Self { bonds, basis, support_radius, lame, .. } = self;
        let (lame, support_radius, volume) = (&*lame, &*support_radius, &particles.volume);
        let rows = bonds.par_rows_mut().zip(basis.par_iter_mut()).with_min_len(MIN_ROWS).enumerate();
        rows.for_each(|(i, (mut row, basis))| {
            *basis = rule.basis(&mut row, (support_radius[i], volume[i], lame.at(i)), |u| u);
        });
        self.bonds.find_plain_rows(&self.origin, |_| true);
        self.bonds.copy_bonds(|_| true);
    }

    /// Returns the number of particles whose neighbourhoods are degenerate.
    pub(super) fn n_degenerate(&self) -> usize {
        self.basis.iter().filter(|basis| basis.is_degenerate()).count()
    }

    /// Returns A_i and Σ_j w_ij.
    pub(super) fn moment(&self, i: usize) -> (Mat3, Real) {
        let row = self.bonds.vectors(i).iter().zip(self.bonds.weights(i));
        row.fold((Mat3::ZERO, 0.0), |(moment, sum), (&u, &w)| {
            let w = Real::from(w);
            (moment + outer(u * w, u), sum + w)
        })
    }

    /// Returns the volume √(det A/(Σ w)³), Jones 2014 Eq. 3, without a constant (m³).
    pub(super) fn moment_volume(&self, i: usize) -> Real {
        let (moment, sum) = self.moment(i);
        if sum > 0.0 { (moment.determinant().max(0.0) / (sum * sum * sum)).sqrt() } else { 0.0 }
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

/// Returns the growth factor of a particle's rest bonds that moves ln det F by a fraction towards the value of its
/// neighbourhood: the value at the particle of a linear fit to the neighbours and itself. A uniform pressure gradient
/// stays.
pub(super) fn growth_to_even(
    row: &SlotRow<'_>,
    basis: &Basis,
    log_volume: &[Real],
    i: usize,
    fraction: Real,
) -> Real {
    if basis.is_degenerate() {
        return 1.0;
    }
    let n = row.len();
    let (mut sum, mut moment) = (0.0, Vec3::ZERO);
    for ((&j, &u), &w) in row.ends[..n].iter().zip(&row.vectors[..n]).zip(&row.weights[..n]) {
        let weighted = (log_volume[j as usize] - log_volume[i]) * Real::from(w);
        sum += weighted;
        moment += u * weighted;
    }
    let slope = basis.inverse_moment * basis.row_sum;
    let way = (sum - slope.dot(moment)) / (1.0 + basis.weight_sum - slope.dot(basis.row_sum));
    exp(-fraction / 3.0 * way)
}

/// Rule by which a basis is computed from rest bonds.
#[derive(Clone, Copy)]
pub(super) struct BasisRule {
    stabilization: Real,
}

impl BasisRule {
    /// Maps the rest bonds of a row, writes their weights and returns the basis, for a particle's support radius,
    /// volume and stiffness. The kernel's constant is omitted, because it cancels in F, V and forces. A degenerate
    /// neighbourhood has no volume and no penalty, so that it causes no force.
    #[inline]
    pub(super) fn basis(
        self,
        row: &mut SlotRow<'_>,
        (support, volume, lame): (Real, Real, Lame),
        map: impl Fn(Vec3) -> Vec3,
    ) -> Basis {
        let n = row.len();
        let scale = 1.0 / (support * support);
        let (mut diagonal, mut mixed) = (Vec3::ZERO, Vec3::ZERO);
        let (mut row_sum, mut weight_sum, mut n_active) = (Vec3::ZERO, 0.0, 0);
        for (vector, weight) in row.vectors[..n].iter_mut().zip(&mut row.weights[..n]) {
            let u = map(*vector);
            *vector = u;
            // the poly6 shape
            let q = (1.0 - u.length_squared() * scale).max(0.0);
            *weight = (q * q * q) as f32;
            let w = Real::from(*weight);
            let weighted = u * w;
            n_active += usize::from(w > 0.0);
            weight_sum += w;
            row_sum += weighted;
            diagonal += weighted * u;
            mixed += weighted * Vec3::new(u.y, u.z, u.x);
        }
        let moment = Mat3::from_cols(
            Vec3::new(diagonal.x, mixed.x, mixed.z),
            Vec3::new(mixed.x, diagonal.y, mixed.y),
            Vec3::new(mixed.z, mixed.y, diagonal.z),
        );
        let (det, size) = (moment.determinant(), trace(moment));
        let is_round = 27.0 * det > ROUND * size * size * size;
        let is_flat = || {
            let values = symmetric_eigen(moment).0;
            !(values.z > FLATNESS * values.x)
        };
        if n_active < MIN_BONDS || (!is_round && is_flat()) {
            return Basis::default();
        }
        let stiffness = self.stabilization * lame.p_wave_modulus() * volume;
        let inverse_moment = cofactor(moment) * (1.0 / det);
        Basis { inverse_moment, row_sum, residual: stiffness / size, volume, weight_sum }
    }

    /// Corrects the rest bonds of a row by C = F_old⁻¹ F_new, so that F keeps its old value. Weights change with the
    /// bonds, hence the rounds. If a correction were large, or the last one not small, all rest bonds are set to those
    /// that F_old explains: a neighbourhood that determines F badly must not gain energy. Returns the basis and the
    /// energy of the residuals that this drops (J).
    pub(super) fn keep_gradient(
        self,
        row: &mut SlotRow<'_>,
        particle: (Real, Real, Lame),
        basis: &Basis,
        inverse_old: Mat3,
        (x, i): (&[Vec3], usize),
    ) -> (Basis, Real) {
        let n = row.len();
        let (mut basis, mut unseen) = (*basis, 0.0);
        for _ in 0..MOST_CORRECTIONS {
            let (mut product, mut squares) = (Mat3::ZERO, 0.0);
            for ((&j, &u), &w) in row.ends[..n].iter().zip(&row.vectors[..n]).zip(&row.weights[..n]) {
                let bond = x[j as usize] - x[i];
                let weighted = bond * Real::from(w);
                product += outer(weighted, u);
                squares += bond.dot(weighted);
            }
            let gradient = product * basis.inverse_moment;
            let correction = inverse_old * gradient;
            let size = frobenius_norm(correction - Mat3::IDENTITY);
            unseen = 0.5 * basis.residual * (squares - double_dot(gradient, product)).max(0.0);
            if !(size < LARGEST_CORRECTION) {
                break;
            }
            basis = self.basis(row, particle, |u| correction * u);
            if size < SMALL_CORRECTION || basis.is_degenerate() {
                return (basis, 0.0);
            }
        }
        for (&j, u) in row.ends[..n].iter().zip(&mut row.vectors[..n]) {
            *u = inverse_old * (x[j as usize] - x[i]);
        }
        (self.basis(row, particle, |u| u), unseen)
    }
}
