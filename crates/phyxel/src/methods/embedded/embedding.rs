//! Embedded positions: the single shape that fits the rest bonds of all particles best.

use super::{Embedded, Embedding, Pace};
use crate::linear::Solved;
use crate::math::{Real, Vec3, square, sum_over};
use crate::methods::StepContext;
use crate::mls::Laplacian;
use crate::neighbors::BondRows;
use crate::particles::Particles;
use rayon::prelude::*;

/// An update is made after this many times the least number of steps even if the flow is small.
const LONG: u64 = 20;
/// Largest number of descent steps of the nonlinear embedding.
const MAX_DESCENTS: usize = 40;
/// The nonlinear embedding ends where the remaining force is this fraction of the force of bonds at a strain of 1.
const FORCE_TOLERANCE: Real = 1e-4;

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
        let Self { bonds, laplacian, viscous, embedded_position, params, .. } = self;
        let bonds = &*bonds;
        let (solver, right_side) = viscous.buffers();
        (solver.tolerance, solver.of_right_hand_side) = (params.embed_tolerance, true);
        solver.starts_preconditioned = false;
        laplacian.assemble(&bonds, |w| w * w);
        let weight = |w: Real| Laplacian::quantized(w * w);
        right_side.resize(bonds.n_rows(), Vec3::ZERO);
        right_side.par_iter_mut().with_min_len(128).enumerate().for_each(|(i, b)| {
            let own = bonds.own(i).map(|(bond, _, w)| bonds.vector(bond) * weight(w));
            let incoming = bonds.incoming(i).map(|(bond, _, w)| bonds.vector(bond) * weight(w));
            *b = incoming.sum::<Vec3>() - own.sum::<Vec3>();
        });
        let inverse = |i: usize| match laplacian.diagonal(i) {
            diagonal if diagonal > 0.0 => Vec3::splat(1.0 / diagonal),
            _ => Vec3::ZERO,
        };
        solver.solve(|x, out| laplacian.apply(x, out), inverse, right_side, embedded_position)
    }

    /// Finds the pose of least elastic energy, like the material space of Wicke 2010: conjugate gradients
    /// (Polak–Ribière) on the method's own energy with e in place of x, from the old positions. The step length along a
    /// direction comes from one more force evaluation, which is exact where the energy is quadratic.
    fn embed_by_energy(&mut self, particles: &Particles) -> Solved {
        let n = self.embedded_position.len();
        let mut e = std::mem::take(&mut self.embedded_position);
        let kept = self.force.clone();
        let inverse: Vec<Real> = (0..n)
            .map(|i| {
                let stiffness = self.lame.at(i).p_wave_modulus() * self.basis[i].volume;
                let h = self.support_radius[i];
                if stiffness > 0.0 { h * h / stiffness } else { 0.0 }
            })
            .collect();
        // scale of the forces of bonds that are stretched by their own length
        let scale = sum_over(n, |i| square(self.support_radius[i]) / inverse[i].max(Real::MIN_POSITIVE));
        let target = FORCE_TOLERANCE * FORCE_TOLERANCE * scale;
        let mut iterations = 0;
        self.forces_at(&e, particles);
        let mut force = self.force.clone();
        let product = |a: &[Vec3], b: &[Vec3]| sum_over(n, |i| a[i].dot(b[i]) * inverse[i]);
        let mut direction: Vec<Vec3> = (0..n).map(|i| force[i] * inverse[i]).collect();
        let mut rr = product(&force, &force);
        while rr > target && iterations < MAX_DESCENTS {
            let slope = sum_over(n, |i| force[i].dot(direction[i]));
            if !(slope > 0.0) {
                break;
            }
            // probes with the step length that the preconditioner suggests
            let probe: Vec<Vec3> = (0..n).map(|i| e[i] + direction[i]).collect();
            self.forces_at(&probe, particles);
            let curvature = slope - sum_over(n, |i| self.force[i].dot(direction[i]));
            let length = if curvature > 0.1 * slope { slope / curvature } else { 1.0 };
            (0..n).for_each(|i| e[i] += direction[i] * length);
            self.forces_at(&e, particles);
            iterations += 1;
            let next = product(&self.force, &self.force);
            let beta = ((next - product(&self.force, &force)) / rr).max(0.0);
            force.copy_from_slice(&self.force);
            (0..n).for_each(|i| direction[i] = force[i] * inverse[i] + direction[i] * beta);
            rr = next;
        }
        (self.embedded_position, self.force) = (e, kept);
        let relative_residual = (rr / scale.max(Real::MIN_POSITIVE)).sqrt();
        Solved { iterations, relative_residual, converged: rr <= target }
    }
}
