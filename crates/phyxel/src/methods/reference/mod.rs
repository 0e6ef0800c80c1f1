//! The reference-shape method: elastic solids that remember one rest shape.
//! [Mueller2004] Secs. 2–3: Point Based Animation of Elastic, Plastic and Melting Objects.
//!
//! Total Lagrangian: neighbours and weights live in the rest shape and never change. Not here yet: plasticity, absorbing
//! the deformation, melting (Sec. 4), surfaces (Sec. 5).
//!
//! Departures, each with the paper's behaviour one setting away: true E and ν (the paper's strain is twice Green's);
//! volumes that add up to the body's (`volume_rule`); a smaller support (`support_factor`); a penalty on motion that the
//! fit cannot see (`stabilization`); a guard against inversion that leaves small strains alone in place of Eq. 7
//! (`inversion_guard`, `volume_stiffness`); viscosity from the rate of strain.

mod params;
mod prepare;
mod stability;
#[cfg(test)]
mod tests;

pub use params::{Params, Support, VolumeRule};

use super::{Change, ColumnInfo, Energies, Method, StepContext, StepError, StepReport, TimeStepLimit};
use crate::contact::Contacts;
use crate::forces::{Viscosity, ViscousBonds};
use crate::linear::Solved;
use crate::material::{Lame, Parameter, StVenantKirchhoff, VolumeGuard, VolumeStiffness};
use crate::math::{Mat3, Real, Vec3, double_dot, sum_over, trace};
use crate::mls::{Answer, BondGeometry, WeightedBonds, fit_gradient, gather_answers};
use crate::neighbors::Neighbors;
use crate::particles::{Carry, PARTICLES, Particles, StateData, StateItem, StateVisitor};
use rayon::prelude::*;

/// Volume ratio under which the guard against inversion acts: far beyond what E and ν are measured at.
const GUARD_ONSET: Real = 0.6;
/// Volume ratios are not taken smaller than this where something is divided by them or dissipates in them.
const LEAST_VOLUME_RATIO: Real = 0.1;

/// The method's state, what is derived from the rest shape, and scratch.
#[derive(Debug)]
pub struct Reference {
    params: Params,
    // state
    rest_position: Vec<Vec3>,
    support_radius: Vec<Real>,
    // matter
    lame: LameParameter,
    viscosity: Parameter,
    // derived from the rest shape
    rest: RestShape,
    // of the present shape: always those of the particles' positions, since a step ends with them
    gradients: Vec<Mat3>,
    answers: Vec<Answer>,
    force: Vec<Vec3>,
    viscous: Viscosity,
}

/// λ and µ per particle or for all. [Pa]
#[derive(Clone, Debug)]
struct LameParameter {
    lambda: Parameter,
    mu: Parameter,
    youngs_modulus: Parameter,
}

impl LameParameter {
    #[inline(always)]
    fn at(&self, i: usize) -> Lame {
        Lame { lambda: self.lambda.at(i), mu: self.mu.at(i) }
    }
}

/// What only depends on the rest shape.
#[derive(Clone, Debug, Default)]
struct RestShape {
    /// Symmetric lists. The bond u_ij is the rest position of j minus that of i: no slower than a stored vector per bond,
    /// and 24 bytes less for each.
    neighbors: Neighbors,
    /// [w_ij, w_ji]: i's weight of j and j's weight of i, 0 outside a support. Any positive weights are exact for
    /// affine motion, so f32 costs no accuracy.
    weights: Vec<[f32; 2]>,
    particles: Vec<RestParticle>,
    /// Particles whose neighbours span no space: they get no elastic force.
    degenerate: Vec<u32>,
    /// Highest frequency of the undeformed bodies [rad/s], and the particle that shakes most in it.
    highest_frequency: Real,
    fastest: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct RestParticle {
    /// A_i⁻¹ [1/m²]
    inverse_moment: Mat3,
    /// Σ_j w_ij u_ij [m]
    row_sum: Vec3,
    /// c_i, stiffness of the residual penalty [N/m]
    residual: Real,
    /// V_i, or 0 where the neighbourhood is degenerate: no elastic force. [m³]
    volume: Real,
}

struct RestBonds<'a> {
    rest_positions: &'a [Vec3],
    positions: &'a [Vec3],
}

impl BondGeometry for RestBonds<'_> {
    #[inline(always)]
    fn reference(&self, _bond: usize, i: usize, j: usize) -> Vec3 {
        self.rest_positions[j] - self.rest_positions[i]
    }

    #[inline(always)]
    fn field(&self, i: usize, j: usize) -> Vec3 {
        self.positions[j] - self.positions[i]
    }
}

impl Method for Reference {
    /// Leapfrog (kick, drift, kick). [Mueller2004] Sec. 3.6.
    fn step(
        &mut self,
        particles: &mut Particles,
        ctx: &mut StepContext<'_>,
    ) -> Result<StepReport, StepError> {
        let half = 0.5 * ctx.time_step;
        self.kick(particles, ctx, half);
        meet(particles, ctx, |contacts, particles| contacts.settle_before_moving(particles));
        let solved = self.damp(particles, ctx);
        drift(particles, ctx);
        self.compute_forces(particles, ctx);
        ctx.fields.time += ctx.time_step;
        self.kick(particles, ctx, half);
        meet(particles, ctx, |contacts, particles| contacts.settle(particles));
        Ok(StepReport {
            iterations: solved.iterations,
            n_unconverged: usize::from(!solved.converged),
            n_yielded: 0,
        })
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

    fn doubts(&self, _particles: &Particles) -> Vec<String> {
        let n = self.rest.degenerate.len();
        let doubt = || {
            format!(
                "{n} particles have neighbours in one plane or line only and get no elastic force: thin parts need two layers, a smaller spacing"
            )
        };
        if n > 0 { vec![doubt()] } else { Vec::new() }
    }

    fn columns(&self) -> &'static [ColumnInfo] {
        &[
            ColumnInfo { name: "stress", unit: "Pa", about: "von Mises equivalent of the Cauchy stress" },
            ColumnInfo {
                name: "pressure",
                unit: "Pa",
                about: "minus a third of the trace of the Cauchy stress",
            },
            ColumnInfo { name: "volume_ratio", unit: "1", about: "current volume over rest volume, det F" },
            ColumnInfo { name: "stretch", unit: "1", about: "largest principal stretch" },
        ]
    }

    fn column(&self, name: &str, _particles: &Particles) -> Option<Vec<Real>> {
        let value: fn(&Self, usize, Mat3) -> Real = match name {
            "stress" => |method, i, f| von_mises(method.cauchy_stress(i, f)),
            "pressure" => |method, i, f| -trace(method.cauchy_stress(i, f)) / 3.0,
            "volume_ratio" => |_, _, f| f.determinant(),
            "stretch" => |_, _, f| crate::math::svd(f).sigma.x,
            _ => return None,
        };
        Some(self.gradients.par_iter().enumerate().map(|(i, &f)| value(self, i, f)).collect())
    }

    fn counters(&self) -> Vec<(&'static str, Real)> {
        vec![("degenerate", self.rest.degenerate.len() as Real)]
    }
}

/// What touches obstacles or is held gets its velocity from them. Comes last before particles move, after everything
/// that changes velocities: else friction would creep.
fn meet(
    particles: &mut Particles,
    ctx: &mut StepContext<'_>,
    settle: impl FnOnce(&mut Contacts<'_>, &mut Particles),
) {
    let StepContext { timings, contacts, grips, .. } = ctx;
    timings.stage("contact", || {
        settle(contacts, particles);
        grips.lead_velocities(particles);
    });
}

/// x ← x + Δt v, then out of obstacles and to the grips.
fn drift(particles: &mut Particles, ctx: &mut StepContext<'_>) {
    let StepContext { timings, contacts, grips, time_step, .. } = ctx;
    timings.stage("integrate", || {
        let Particles { position, velocity, .. } = particles;
        position
            .par_iter_mut()
            .zip(velocity.par_iter())
            .with_min_len(512)
            .for_each(|(x, v)| *x += *v * *time_step);
    });
    timings.stage("contact", || {
        contacts.resolve(particles);
        grips.place(particles);
    });
}

impl Reference {
    /// v ← v + Δt (f/m + g).
    fn kick(&self, particles: &mut Particles, ctx: &mut StepContext<'_>, duration: Real) {
        let StepContext { timings, fields, .. } = ctx;
        let decay = fields.decay(duration);
        timings.stage("integrate", || {
            let Particles { position, velocity, mass, .. } = particles;
            velocity.par_iter_mut().with_min_len(512).enumerate().for_each(|(i, v)| {
                // drag first: what holds a particle must not feel drag on a motion that it prevents
                *v = *v * decay + (self.force[i] / mass[i] + fields.acceleration(position[i], *v)) * duration;
            });
        });
    }

    /// Implicit viscosity over the whole step; held particles move with their grips.
    fn damp(&mut self, particles: &mut Particles, ctx: &mut StepContext<'_>) -> Solved {
        if self.viscosity.is_zero() {
            return Solved { iterations: 0, relative_residual: 0.0, converged: true };
        }
        let Self { viscous, rest, gradients, viscosity, params, .. } = self;
        let StepContext { timings, grips, time_step, .. } = ctx;
        let before = particles.momentum();
        let solved = timings.stage("viscosity", || {
            let Particles { position, velocity, mass, volume, .. } = particles;
            let bonds = ViscousBonds {
                bonds: rest.weighted_bonds(),
                positions: position,
                volumes: &|i| volume[i] * gradients[i].determinant().max(LEAST_VOLUME_RATIO),
                viscosity,
                residual_share: params.stabilization,
            };
            let free =
                |inverse_mass: &mut [Vec3]| grips.visit_held(|i, held| inverse_mass[i] *= Vec3::ONE - held);
            let solved = viscous.solve(&bonds, mass, free, *time_step, velocity);
            if grips.hold_anything() {
                // a held particle keeps its velocity: its grip takes the viscous impulse
                let gained = sum_over::<Vec3, _>(mass.len(), |i| velocity[i] * mass[i]) - before;
                let force = viscous.forces(&bonds, velocity);
                grips.book(gained, |i| force[i] * -*time_step);
            }
            solved
        });
        meet(particles, ctx, |contacts, particles| contacts.settle_before_moving(particles));
        solved
    }

    /// F_i, P_i and the forces of the present shape.
    fn compute_forces(&mut self, particles: &Particles, ctx: &mut StepContext<'_>) {
        let timings = &mut *ctx.timings;
        timings.stage("deformation", || self.fit(&particles.position));
        timings.stage("forces", || self.gather(&particles.position));
    }

    /// Forces without a clock, for what is not a step.
    fn forces_at(&mut self, positions: &[Vec3]) {
        self.fit(positions);
        self.gather(positions);
    }

    /// F_i = (Σ_j w_ij x_ij u_ijᵀ) A_i⁻¹, then stress. [Mueller2004] Eqs. 15, 24, in true units.
    ///   x_ij world bond [m]   u_ij rest bond [m]   w_ij weight [1]   A_i moment matrix [m²]
    fn fit(&mut self, positions: &[Vec3]) {
        let Self { rest_position, rest, lame, params, answers, force, gradients, .. } = self;
        let geometry = RestBonds { rest_positions: rest_position, positions };
        let stress = Stress { lame, params };
        fit_gradient(rest.weighted_bonds(), &geometry, answers, force, gradients, |i, fit, gradient| {
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

    /// f_i from the answers of its neighbours. [Mueller2004] Eqs. 18–25.
    fn gather(&mut self, positions: &[Vec3]) {
        let geometry = RestBonds { rest_positions: &self.rest_position, positions };
        gather_answers(self.rest.weighted_bonds(), &geometry, &self.answers, &mut self.force);
    }

    fn stress(&self) -> Stress<'_> {
        Stress { lame: &self.lame, params: &self.params }
    }

    /// The bonds of particle i: w_ij, u_ij and x_ij.
    fn row<'a>(&'a self, positions: &'a [Vec3], i: usize) -> impl Iterator<Item = (Real, Vec3, Vec3)> + 'a {
        let neighbors = &self.rest.neighbors;
        neighbors.row(i).iter().zip(&self.rest.weights[neighbors.range(i)]).map(move |(&j, w)| {
            let j = j as usize;
            (Real::from(w[0]), self.rest_position[j] - self.rest_position[i], positions[j] - positions[i])
        })
    }

    /// Σ_i V_i Ψ(F_i) and the energy of the residual penalty. [J]
    fn elastic_energy(&self, positions: &[Vec3], gradients: &[Mat3]) -> Real {
        sum_over(positions.len(), |i| {
            let (p, f) = (&self.rest.particles[i], gradients[i]);
            let residual: Real =
                self.row(positions, i).map(|(w, u, x)| w * (x - f * u).length_squared()).sum();
            p.volume * self.stress().energy_density(i, f) + 0.5 * p.residual * residual
        })
    }

    fn cauchy_stress(&self, i: usize, f: Mat3) -> Mat3 {
        let det = f.determinant();
        let ratio = if det.abs() < LEAST_VOLUME_RATIO { LEAST_VOLUME_RATIO } else { det };
        self.stress().first_piola(i, f) * f.transpose() * (1.0 / ratio)
    }
}

impl RestShape {
    fn weighted_bonds(&self) -> WeightedBonds<'_> {
        WeightedBonds { neighbors: &self.neighbors, weights: &self.weights }
    }
}

/// Energy and stress of a particle: St Venant–Kirchhoff, the guard against inversion, and Eq. 7 if asked for.
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

/// Σ n nᵀ over the directions that a degenerate neighbourhood does not span: no strain is seen there, F n = n.
fn dropped_directions(inverse_moment: Mat3) -> Mat3 {
    let (values, axes) = crate::math::symmetric_eigen(inverse_moment);
    let dropped = |k: usize| if values[k] <= 1e-12 * values.x { 1.0 } else { 0.0 };
    let seen_not = Vec3::new(dropped(0), dropped(1), dropped(2));
    let seen_not = if values.x > 0.0 { seen_not } else { Vec3::ONE };
    axes * Mat3::from_diagonal(seen_not) * axes.transpose()
}

/// √(3/2) |dev σ|
fn von_mises(stress: Mat3) -> Real {
    let deviator = stress - Mat3::IDENTITY * (trace(stress) / 3.0);
    (1.5 * double_dot(deviator, deviator)).sqrt()
}
