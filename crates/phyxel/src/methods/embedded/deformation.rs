//! Deformation, stress and forces: the passes of a step over the bonds.

use super::{BodyFacts, Embedded, Flow, WorldBonds};
use crate::forces::repulsion;
use crate::material::{FlowRule, LameParameter, Past, Property, Unseen, Yielding, can_flow};
use crate::math::{
    CHUNK, Mat3, Quat, Real, Svd, Vec3, double_dot, quick_cbrt, scaled_columns, smallest_eigenvalue, sum_over,
};
use crate::methods::flow_step::FlowStep;
use crate::methods::{ElasticEnergy, StepContext};
use crate::mls::{
    Answer, PointAnswer, PointBonds, Squares, fit_row, fit_row_with_squares, gather_stored_answers,
};
use crate::neighbors::BondRows;
use crate::particles::Particles;
use rayon::prelude::*;

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

/// Returns a fraction of a rotation, up to the cube of its angle.
#[inline]
fn turned(rotation: Mat3, fraction: Real) -> Mat3 {
    Mat3::from_quat(Quat::IDENTITY.lerp(Quat::from_mat3(&rotation), fraction))
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
                sound_rate: || (lame.p_wave_modulus() / density).sqrt() / quick_cbrt(volume),
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
        let Self { hardening, plastic_strain, shear_stress, near, room, .. } = self;
        let (bonds, basis) = (&*bonds, &*basis);
        let points = PointBonds { references: &self.origin, fields: positions };
        let stored = WorldBonds { bonds, points };
        let flow = step.map(|step| (step, params.flow_rule));
        let can_flow = can_flow(&particles.material);
        let turns = params.stabilization > 0.0;
        let response = Response { particles, lame, bodies, hardening, plastic_strain, flow, turns };
        let rows = answers.par_iter_mut().zip(force.par_iter_mut()).zip(gradients.par_iter_mut());
        let rows = rows.zip(flows.par_iter_mut()).zip(shear_stress.par_iter_mut().zip(near.par_iter_mut()));
        rows.with_min_len(MIN_ROWS).enumerate().for_each(|(i, row)| {
            let ((((answer, force), gradient), flow), (shear_stress, near)) = row;
            let own = &basis[i];
            if own.is_degenerate() {
                (*answer, *force, *gradient) = (PointAnswer::default(), Vec3::ZERO, Mat3::IDENTITY);
                (*flow, *near) = (Flow::NONE, 0);
                return;
            }
            let is_plain = bonds.is_plain(i);
            let (fit, squares) = match (can_flow || !is_plain, is_plain) {
                (false, _) => (fit_row(&bonds, &points, i), Squares::default()),
                (true, true) => fit_row_with_squares(&bonds, &points, i, Some(room)),
                (true, false) => fit_row_with_squares(&bonds, &stored, i, Some(room)),
            };
            let f = fit.product * own.inverse_moment;
            *near = squares.near;
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
                false => (points.answer_of_stored(&given, i), given.own_force(own.row_sum, &fit)),
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
            // of most bonds no position needs to be read
            let is_near =
                |bond: usize, owner: usize| this.near[owner] >> (bond - bonds.first_bond(owner)) & 1 == 1;
            if this.near[i] != 0 {
                bonds.own(i).filter(|(bond, ..)| is_near(*bond, i)).for_each(|(_, j, _)| push(j));
            }
            bonds.incoming(i).filter(|(bond, j, _)| is_near(*bond, *j)).for_each(|(_, j, _)| push(j));
        });
        self.force = force;
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
        let (bonds, points) = (&&self.bonds, self.points(positions));
        let fit = match self.bonds.is_plain(i) {
            true => fit_row(bonds, &points, i),
            false => fit_row(bonds, &WorldBonds { bonds, points }, i),
        };
        fit.product * own.inverse_moment
    }

    /// Returns F_i and the energy c/2 Σ_j w_ij |x_ij − F_i u_ij|² of the residual penalty (J). F minimises that sum,
    /// which therefore is Σ_j w_ij |x_ij|² − F : Σ_j w_ij x_ij u_ijᵀ.
    fn fit_with_residual(&self, positions: &[Vec3], i: usize) -> (Mat3, Real) {
        let own = &self.basis[i];
        if own.is_degenerate() {
            return (Mat3::IDENTITY, 0.0);
        }
        let (bonds, points) = (&&self.bonds, self.points(positions));
        let (fit, squares) = match self.bonds.is_plain(i) {
            true => fit_row_with_squares(bonds, &points, i, None),
            false => fit_row_with_squares(bonds, &WorldBonds { bonds, points }, i, None),
        };
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
}
