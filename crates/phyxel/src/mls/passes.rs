//! The two passes over bonds that a gradient-based internal force needs: fit, then gather.
//!
//! For every particle i, the gradient of a field y is fitted by G_i = (Σ_j w_ij y_ij u_ijᵀ) A_i⁻¹, which causes a
//! stress T_i = V_i P_i.
//! With the residual r_ij = y_ij − G_i u_ij penalised by c_i/2 Σ_j w_ij |r_ij|², the exact negative gradient is
//!   f_i = Σ_j w_ij (M_i u_ij + c_i y_ij) + w_ji (M_j u_ij + c_j y_ij),   M_i = T_i A_i⁻¹ − c_i G_i,
//! because G_i is the minimiser of that same sum, so its own variation drops out. This is written for lists in which
//! u_ji = −u_ij; with directed bonds the second part is −w_ji (M_j u_ji + c_j y_ji) over the bonds that end at i. Both
//! parts are sums over rows of [`BondRows`]: gathers, no scatter, no atomics.
//!   u reference bond (m)   y field bond   w_ij weight of i's own support   A moment matrix

use crate::math::{Mat3, Real, Vec3, outer};
use crate::neighbors::{BondRows, Neighbors};
use rayon::prelude::*;

/// Vectors of the bonds of a fit. Implementations are inlined into the passes.
pub trait BondGeometry: Sync {
    /// Returns u_ij, the reference vector i → j of bond number `bond` or, in symmetric lists, of its reverse bond.
    fn reference(&self, bond: usize, i: usize, j: usize) -> Vec3;
    /// Returns y_ij, the difference of the field along the bond i → j.
    fn field(&self, i: usize, j: usize) -> Vec3;
}

/// Sums of the first pass for a particle.
#[derive(Clone, Copy, Debug)]
pub struct Fit {
    /// Sum Σ_j w_ij y_ij u_ijᵀ; times A⁻¹ it is the gradient.
    pub product: Mat3,
    /// Sum Σ_j w_ij y_ij.
    pub sum: Vec3,
}

/// Coefficients of a particle in the forces of its neighbours.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// Matrix M_i of the formula for f_i.
    pub carrier: Mat3,
    /// Stiffness c_i of the residual.
    pub residual: Real,
}

impl Default for Answer {
    /// Returns an answer without force. (The default matrix would be the identity.)
    fn default() -> Self {
        Self { carrier: Mat3::ZERO, residual: 0.0 }
    }
}

impl Answer {
    /// Returns Σ_j w_ij (M_i u_ij + c_i y_ij), the part of f_i that i itself causes. `reference_sum` is Σ_j w_ij u_ij.
    #[inline(always)]
    pub fn own_force(&self, reference_sum: Vec3, fit: &Fit) -> Vec3 {
        self.carrier * reference_sum + fit.sum * self.residual
    }
}

/// Symmetric lists with the two weights `[w_ij, w_ji]` of every bond: the bonds that end at i are in its own row.
#[derive(Clone, Copy, Debug)]
pub struct WeightedBonds<'a> {
    /// Symmetric lists: j is in row i whenever i is in row j.
    pub neighbors: &'a Neighbors,
    /// Weights `[w_ij, w_ji]` of each bond.
    pub weights: &'a [[f32; 2]],
}

impl WeightedBonds<'_> {
    #[inline(always)]
    fn row(&self, i: usize, side: usize) -> impl Iterator<Item = (usize, usize, Real)> {
        let range = self.neighbors.range(i);
        let row = range.clone().zip(&self.neighbors.indices()[range.clone()]).zip(&self.weights[range]);
        row.map(move |((bond, &j), weight)| (bond, j as usize, Real::from(weight[side])))
    }
}

impl BondRows for WeightedBonds<'_> {
    fn n_rows(&self) -> usize {
        self.neighbors.n_rows()
    }

    fn first_bond(&self, i: usize) -> usize {
        self.neighbors.first_bond(i)
    }

    #[inline(always)]
    fn own(&self, i: usize) -> impl Iterator<Item = (usize, usize, Real)> {
        self.row(i, 0)
    }

    #[inline(always)]
    fn incoming(&self, i: usize) -> impl Iterator<Item = (usize, usize, Real)> {
        self.row(i, 1)
    }
}

/// Symmetric lists with one weight per bond: w_ij = w_ji.
#[derive(Clone, Copy, Debug)]
pub struct EvenBonds<'a> {
    /// Symmetric lists: j is in row i whenever i is in row j.
    pub neighbors: &'a Neighbors,
    /// Weight w_ij of each bond.
    pub weights: &'a [f32],
}

impl BondRows for EvenBonds<'_> {
    fn n_rows(&self) -> usize {
        self.neighbors.n_rows()
    }

    fn first_bond(&self, i: usize) -> usize {
        self.neighbors.first_bond(i)
    }

    #[inline(always)]
    fn own(&self, i: usize) -> impl Iterator<Item = (usize, usize, Real)> {
        let range = self.neighbors.range(i);
        let row = range.clone().zip(&self.neighbors.indices()[range.clone()]).zip(&self.weights[range]);
        row.map(|((bond, &j), &weight)| (bond, j as usize, Real::from(weight)))
    }

    #[inline(always)]
    fn incoming(&self, i: usize) -> impl Iterator<Item = (usize, usize, Real)> {
        self.own(i)
    }
}

/// Smallest number of rows per task; scheduling fewer would cost more than computing them.
const MIN_ROWS: usize = 128;

/// Runs the first pass: fits every row. `answer` turns the fit into the particle's answer and the part of its force
/// that it causes itself, and may store another result in `aside`.
pub fn fit_gradient<T: Send>(
    bonds: &impl BondRows,
    geometry: &impl BondGeometry,
    answers: &mut [Answer],
    forces: &mut [Vec3],
    aside: &mut [T],
    answer: impl Fn(usize, Fit, &mut T) -> (Answer, Vec3) + Sync,
) {
    let rows = answers.par_iter_mut().zip(forces.par_iter_mut()).zip(aside.par_iter_mut());
    rows.with_min_len(MIN_ROWS).enumerate().for_each(|(i, ((out, force), aside))| {
        (*out, *force) = answer(i, fit_row(bonds, geometry, i), aside);
    });
}

/// Returns the fit of one row.
#[inline(always)]
pub fn fit_row(bonds: &impl BondRows, geometry: &impl BondGeometry, i: usize) -> Fit {
    let (mut product, mut sum) = (Mat3::ZERO, Vec3::ZERO);
    for (bond, j, weight) in bonds.own(i) {
        let y = geometry.field(i, j) * weight;
        sum += y;
        product += outer(y, geometry.reference(bond, i, j));
    }
    Fit { product, sum }
}

/// Returns the fit of one row, and Σ_j w_ij |y_ij|².
#[inline(always)]
pub fn fit_row_with_squares(bonds: &impl BondRows, geometry: &impl BondGeometry, i: usize) -> (Fit, Real) {
    let (mut product, mut sum, mut squares) = (Mat3::ZERO, Vec3::ZERO, 0.0);
    for (bond, j, weight) in bonds.own(i) {
        let field = geometry.field(i, j);
        let y = field * weight;
        sum += y;
        squares += field.dot(y);
        product += outer(y, geometry.reference(bond, i, j));
    }
    (Fit { product, sum }, squares)
}

/// Runs the second pass: adds Σ_j w_ji (M_j u_ij + c_j y_ij) to every force, as minus the same over the bonds j → i.
pub fn gather_answers(
    bonds: &impl BondRows,
    geometry: &impl BondGeometry,
    answers: &[Answer],
    forces: &mut [Vec3],
) {
    forces.par_iter_mut().with_min_len(MIN_ROWS).enumerate().for_each(|(i, force)| {
        let mut sum = *force;
        for (bond, j, weight) in bonds.incoming(i) {
            let given = &answers[j];
            let pair = given.carrier * geometry.reference(bond, j, i) + geometry.field(j, i) * given.residual;
            sum -= pair * weight;
        }
        *force = sum;
    });
}

/// Computes out_i = d_i x_i + Σ ω (x_i − x_j) over all bonds at i in both directions: graph Laplacian plus diagonal.
pub fn apply_laplacian(
    bonds: &impl BondRows,
    diagonal: impl Fn(usize) -> Real + Sync,
    x: &[Vec3],
    out: &mut [Vec3],
) {
    out.par_iter_mut().with_min_len(MIN_ROWS).enumerate().for_each(|(i, out)| {
        let mut sum = x[i] * diagonal(i);
        for (_, j, weight) in bonds.own(i).chain(bonds.incoming(i)) {
            sum += (x[i] - x[j]) * weight;
        }
        *out = sum;
    });
}
