//! The two passes over bonds that a gradient-based internal force needs: fit, then gather.
//!
//! For every particle i a field y is fitted by G_i = (Σ_j w_ij y_ij u_ijᵀ) A_i⁻¹ and answered by a stress T_i = V_i P_i.
//! With the residual r_ij = y_ij − G_i u_ij penalised by c_i/2 Σ_j w_ij |r_ij|², the exact negative gradient is
//!   f_i = Σ_j w_ij (M_i u_ij + c_i y_ij) + w_ji (M_j u_ij + c_j y_ij),   M_i = T_i A_i⁻¹ − c_i G_i,
//! because G_i is the minimiser of that same sum, so its own variation drops out. Bonds come in pairs with
//! u_ji = −u_ij and y_ji = −y_ij, so row i alone has all it needs: a gather, no scatter, no atomics.
//!   u reference bond [m]   y field bond   w_ij weight of i's own support   A moment matrix

use crate::math::{Mat3, Real, Vec3, outer};
use crate::neighbors::Neighbors;
use rayon::prelude::*;

/// What a bond of a fit consists of. Implementations are inlined into the passes.
pub trait BondGeometry: Sync {
    /// u_ij of bond number `bond`, which is i → j.
    fn reference(&self, bond: usize, i: usize, j: usize) -> Vec3;
    /// y_ij
    fn field(&self, i: usize, j: usize) -> Vec3;
}

/// What the first pass finds for a particle.
#[derive(Clone, Copy, Debug)]
pub struct Fit {
    /// Σ_j w_ij y_ij u_ijᵀ; times A⁻¹ it is the gradient.
    pub product: Mat3,
    /// Σ_j w_ij y_ij
    pub sum: Vec3,
}

/// What a particle gives to the forces of its neighbours.
#[derive(Clone, Copy, Debug, Default)]
pub struct Answer {
    /// M_i
    pub carrier: Mat3,
    /// c_i
    pub residual: Real,
}

impl Answer {
    /// Σ_j w_ij (M_i u_ij + c_i y_ij): the part of f_i that i itself causes. `reference_sum` is Σ_j w_ij u_ij.
    #[inline(always)]
    pub fn own_force(&self, reference_sum: Vec3, fit: &Fit) -> Vec3 {
        self.carrier * reference_sum + fit.sum * self.residual
    }
}

/// Symmetric lists with the two weights [w_ij, w_ji] of every bond.
#[derive(Clone, Copy, Debug)]
pub struct WeightedBonds<'a> {
    /// j is in row i whenever i is in row j.
    pub neighbors: &'a Neighbors,
    /// [w_ij, w_ji]
    pub weights: &'a [[f32; 2]],
}

/// Rows that one task takes at least: less costs more to hand out than to compute.
const MIN_ROWS: usize = 128;

/// First pass: fits every row. `answer` turns the fit into the particle's answer and the part of its force that it
/// causes itself, and may leave something aside.
pub fn fit_gradient<T: Send>(
    bonds: WeightedBonds<'_>,
    geometry: &impl BondGeometry,
    answers: &mut [Answer],
    forces: &mut [Vec3],
    aside: &mut [T],
    answer: impl Fn(usize, Fit, &mut T) -> (Answer, Vec3) + Sync,
) {
    let rows = answers.par_iter_mut().zip(forces.par_iter_mut()).zip(aside.par_iter_mut());
    rows.with_min_len(MIN_ROWS).enumerate().for_each(|(i, ((out, force), aside))| {
        let range = bonds.neighbors.range(i);
        let (mut product, mut sum) = (Mat3::ZERO, Vec3::ZERO);
        let row = &bonds.neighbors.indices()[range.clone()];
        for ((bond, &j), weight) in range.clone().zip(row).zip(&bonds.weights[range]) {
            let j = j as usize;
            let y = geometry.field(i, j) * Real::from(weight[0]);
            sum += y;
            product += outer(y, geometry.reference(bond, i, j));
        }
        (*out, *force) = answer(i, Fit { product, sum }, aside);
    });
}

/// Second pass: adds Σ_j w_ji (M_j u_ij + c_j y_ij) to every force.
pub fn gather_answers(
    bonds: WeightedBonds<'_>,
    geometry: &impl BondGeometry,
    answers: &[Answer],
    forces: &mut [Vec3],
) {
    forces.par_iter_mut().with_min_len(MIN_ROWS).enumerate().for_each(|(i, force)| {
        let range = bonds.neighbors.range(i);
        let mut sum = *force;
        let row = &bonds.neighbors.indices()[range.clone()];
        for ((bond, &j), weight) in range.clone().zip(row).zip(&bonds.weights[range]) {
            let j = j as usize;
            let given = &answers[j];
            let pair = given.carrier * geometry.reference(bond, i, j) + geometry.field(i, j) * given.residual;
            sum += pair * Real::from(weight[1]);
        }
        *force = sum;
    });
}
