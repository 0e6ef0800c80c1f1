//! Embedded positions: the single shape that fits the rest bonds of all particles best.

use super::{Basis, Embedded, Embedding, Pace, WorldBonds};
use crate::linear::Solved;
use crate::material::Lame;
use crate::math::{Mat3, Real, Vec3, polar, square, sum_over, symmetric_part, trace};
use crate::methods::StepContext;
use crate::mls::{Answer, Laplacian, PointAnswer, PointBonds, fit_row, gather_stored_answers};
use crate::neighbors::{BondRows, SlotBonds};
use crate::particles::Particles;
use rayon::prelude::*;

/// An update is made after this many times the least number of steps even if the flow is small.
const LONG: u64 = 20;
/// Largest number of passes over the bonds of a nonlinear embedding.
const MAX_PRODUCTS: usize = 80;
/// A Newton step reduces the forces of its quadratic model to this fraction at the least.
const LEAST_TOLERANCE: Real = 0.03;

impl Embedded {
    /// Counts a step and returns true if neighbours may have changed: much flow since the last update, or a little flow
    /// for a long time.
    pub(super) fn is_update_due(&mut self) -> bool {
        self.pace.n_steps += 1;
        let Pace { n_steps, flowed, .. } = self.pace;
        let least = self.params.embed_every as u64;
        let has_flowed = flowed > self.params.embed_flow || (flowed > 0.0 && n_steps >= LONG * least);
        self.params.embedding != Embedding::Off && n_steps >= least && has_flowed
    }

    /// Updates the embedded positions from the rest bonds.
    pub(super) fn embed(&mut self, particles: &Particles, ctx: &mut StepContext<'_>) -> Solved {
        ctx.timings.stage("embedding", || {
            let solved = match self.params.embedding {
                Embedding::Nonlinear => self.embed_by_energy(particles),
                Embedding::Linear | Embedding::Off => self.embed_by_least_squares(),
            };
            self.tallies.n_embedding_iterations += solved.iterations as u64;
            solved
        })
    }

    /// Minimises Σ_ij |w_ij (u_ij − e_ij)|² over all e_i, Jones 2014 Eq. 9, by its normal equations L e = b:
    ///   L_ii = Σ_j ω_ij + Σ_k ω_ki,   L_ij = −ω_ij − ω_ji,   b_i = Σ_k ω_ki u_ki − Σ_j ω_ij u_ij,   ω = w²
    /// Departs from the paper: Eq. 12 is right only for mutual lists with equal weights, and no particle is pinned. L
    /// has one null vector per connected piece, b lies in its range, and conjugate gradients that start from the old
    /// positions keep the mean of each piece.
    fn embed_by_least_squares(&mut self) -> Solved {
        // frees scratch buffers of the next step and data that the update recomputes, to make room for the Laplacian
        (self.flows, self.answers, self.gradients) = (Vec::new(), Vec::new(), Vec::new());
        let Self { bonds, laplacian, viscous, embedded_position, params, origin, .. } = self;
        let bonds = &*bonds;
        let (solver, right_side) = viscous.buffers();
        (solver.tolerance, solver.of_right_hand_side) = (params.embed_tolerance, true);
        solver.starts_preconditioned = false;
        laplacian.assemble(&bonds, |w| w * w);
        let weight = |w: Real| Laplacian::quantized(w * w);
        right_side.resize(bonds.n_rows(), Vec3::ZERO);
        right_side.par_iter_mut().with_min_len(128).enumerate().for_each(|(i, b)| {
            let rest = |bond: usize, owner: usize, end: usize| match bonds.is_plain(owner) {
                true => origin[end] - origin[owner],
                false => bonds.vector(bond),
            };
            let own = bonds.own(i).map(|(bond, j, w)| rest(bond, i, j) * weight(w));
            let incoming = bonds.incoming(i).map(|(bond, j, w)| rest(bond, j, i) * weight(w));
            *b = incoming.sum::<Vec3>() - own.sum::<Vec3>();
        });
        let inverse = |i: usize| match laplacian.diagonal(i) {
            diagonal if diagonal > 0.0 => Vec3::splat(1.0 / diagonal),
            _ => Vec3::ZERO,
        };
        solver.solve(|x, out| laplacian.apply(x, out), inverse, right_side, embedded_position)
    }

    /// Finds the pose of least elastic energy, like the material space of Wicke 2010: Newton's method on the method's own
    /// energy without repulsion, with e in place of x, from the old positions. The Hessian is that of linear elasticity
    /// in frames that the polar rotations of the present pose turn, which is positive and exact where stresses vanish.
    /// It ends where forces are `embed_tolerance` of those of bonds that are stretched by their own length.
    fn embed_by_energy(&mut self, particles: &Particles) -> Solved {
        let n = self.embedded_position.len();
        let Self { bonds, basis, origin, support_radius, bodies, lame, params, .. } = self;
        let Self { embedded_position: e, answers, gradients: rotations, viscous, .. } = self;
        let (lame, rows) = (&*lame, Rows { bonds, basis, origin });
        let stiffness = |i: usize| lame.at(i).p_wave_modulus() * basis[i].volume;
        let inverse = |i: usize| match stiffness(i) {
            stiffness if stiffness > 0.0 => square(support_radius[i]) / stiffness,
            _ => 0.0,
        };
        let scale = sum_over(n, stiffness);
        let target = square(params.embed_tolerance) * scale;
        let (solver, force) = viscous.buffers();
        (solver.of_right_hand_side, solver.starts_preconditioned) = (false, false);
        let (mut change, mut last, mut iterations) = (vec![Vec3::ZERO; n], Real::INFINITY, 0);
        force.resize(n, Vec3::ZERO);
        answers.resize(n, PointAnswer::default());
        rotations.resize(n, Mat3::IDENTITY);
        let rr = loop {
            rows.forces(e, (answers, rotations, force), |i, f, rotation| {
                *rotation = polar(f).0;
                bodies[particles.body[i] as usize].law.first_piola(lame.at(i), f)
            });
            iterations += 1;
            let rr = sum_over(n, |i| force[i].length_squared() * inverse(i));
            if rr <= target || iterations >= MAX_PRODUCTS || !rr.is_finite() {
                break rr;
            }
            if rr > last {
                // too far: halfway back
                change.iter_mut().for_each(|d| *d *= -0.5);
                last = Real::INFINITY;
            } else {
                solver.tolerance = (0.64 * target / rr).sqrt().max(LEAST_TOLERANCE);
                solver.first_product(n).fill(Vec3::ZERO);
                change.fill(Vec3::ZERO);
                let stiffness = |d: &[Vec3], out: &mut [Vec3]| {
                    rows.forces(d, (answers, rotations, out), |i, change, rotation| {
                        let Lame { lambda, mu } = lame.at(i);
                        let strain = symmetric_part(rotation.transpose() * change);
                        *rotation
                            * (strain * (2.0 * mu) + Mat3::from_diagonal(Vec3::splat(lambda * trace(strain))))
                    });
                    out.par_iter_mut().with_min_len(512).for_each(|force| *force = -*force);
                };
                let solved =
                    solver.solve_from_product(stiffness, |i| Vec3::splat(inverse(i)), force, &mut change);
                iterations += solved.iterations;
                last = rr;
            }
            e.iter_mut().zip(&change).for_each(|(e, d)| *e += *d);
        };
        let relative_residual = (rr / scale.max(Real::MIN_POSITIVE)).sqrt();
        Solved { iterations, relative_residual, converged: rr <= target }
    }
}

/// Bonds with what follows from them, as the passes of the nonlinear embedding read them.
struct Rows<'a> {
    bonds: &'a SlotBonds,
    basis: &'a [Basis],
    origin: &'a [Vec3],
}

impl Rows<'_> {
    /// Computes the forces of stresses P(i, gradient of the field, aside) and of the residual penalty (N).
    fn forces(
        &self,
        field: &[Vec3],
        (answers, aside, forces): (&mut [PointAnswer], &mut [Mat3], &mut [Vec3]),
        stress: impl Fn(usize, Mat3, &mut Mat3) -> Mat3 + Sync,
    ) {
        let Self { bonds, basis, origin } = *self;
        let points = PointBonds { references: origin, fields: field };
        let stored = WorldBonds { bonds, points };
        let rows = answers.par_iter_mut().zip(forces.par_iter_mut()).zip(aside.par_iter_mut());
        rows.with_min_len(128).enumerate().for_each(|(i, ((answer, force), aside))| {
            let own = &basis[i];
            if own.is_degenerate() {
                (*answer, *force) = (PointAnswer::default(), Vec3::ZERO);
                return;
            }
            let is_plain = bonds.is_plain(i);
            let fit = if is_plain { fit_row(&bonds, &points, i) } else { fit_row(&bonds, &stored, i) };
            let gradient = fit.product * own.inverse_moment;
            let stress = stress(i, gradient, aside) * own.volume;
            let given = Answer {
                carrier: stress * own.inverse_moment - gradient * own.residual,
                residual: own.residual,
            };
            *force = given.own_force(own.row_sum, &fit);
            *answer = if is_plain { points.answer(&given, i) } else { points.answer_of_stored(&given, i) };
        });
        gather_stored_answers(bonds, &points, answers, forces);
    }
}
