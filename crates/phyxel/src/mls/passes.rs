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
use crate::neighbors::{BondRows, Neighbors, SlotBonds};
use rayon::prelude::*;

/// Bonds of a fit: the field is a difference of points along all bonds, the reference vector along those for which none
/// is stored. Implementations are inlined into the passes.
pub trait BondGeometry: Sync {
    /// Returns the points.
    fn points(&self) -> PointBonds<'_>;

    /// Returns the reference vector of bond number `bond` of particle `owner`, if it is not the difference of points.
    #[inline(always)]
    fn stored(&self, _bond: usize, _owner: usize) -> Option<Vec3> {
        None
    }
}

/// Bonds that are differences of points: u_ij = p_j − p_i, y_ij = q_j − q_i.
#[derive(Clone, Copy, Debug)]
pub struct PointBonds<'a> {
    /// Reference points p_i.
    pub references: &'a [Vec3],
    /// Field q_i.
    pub fields: &'a [Vec3],
}

impl BondGeometry for PointBonds<'_> {
    #[inline(always)]
    fn points(&self) -> PointBonds<'_> {
        *self
    }
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

/// Answer of a particle at (p_i, q_i): M_i (column after column), c_i and M_i p_i + c_i q_i. Where bonds are differences of
/// points, the answers to a particle at (p, q) add up to M p + c q − offset with the weighted sums M, c and offset over its
/// neighbours, which needs neither their points nor a product of matrices for each bond.
#[derive(Clone, Copy, Debug)]
pub struct PointAnswer([Real; 13]);

impl Default for PointAnswer {
    fn default() -> Self {
        Self([0.0; 13])
    }
}

impl PointAnswer {
    #[inline(always)]
    fn new(answer: &Answer, reference: Vec3, field: Vec3) -> Self {
        let mut all = [0.0; 13];
        all[..9].copy_from_slice(&answer.carrier.to_cols_array());
        all[9] = answer.residual;
        let offset = answer.carrier * reference + field * answer.residual;
        all[10..].copy_from_slice(&offset.to_array());
        Self(all)
    }

    #[inline(always)]
    fn add_weighted(&mut self, other: &Self, weight: Real) {
        for (sum, x) in self.0.iter_mut().zip(&other.0) {
            *sum += x * weight;
        }
    }

    /// Adds the weighted answer of a particle whose reference vectors are stored, all but its part of that vector, which is
    /// returned.
    #[inline(always)]
    fn add_stored(&mut self, other: &Self, weighted: Vec3, weight: Real) -> Vec3 {
        for (sum, x) in self.0[9..].iter_mut().zip(&other.0[9..]) {
            *sum += x * weight;
        }
        other.carried(weighted)
    }

    #[inline(always)]
    fn vector(&self, k: usize) -> Vec3 {
        Vec3::new(self.0[k], self.0[k + 1], self.0[k + 2])
    }

    /// Returns M u.
    #[inline(always)]
    fn carried(&self, u: Vec3) -> Vec3 {
        self.vector(0) * u.x + self.vector(3) * u.y + self.vector(6) * u.z
    }

    /// Returns M p + c q − offset.
    #[inline(always)]
    fn at(&self, reference: Vec3, field: Vec3) -> Vec3 {
        self.carried(reference) + field * self.0[9] - self.vector(10)
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
    points: &PointBonds<'_>,
    answers: &mut [PointAnswer],
    forces: &mut [Vec3],
    aside: &mut [T],
    answer: impl Fn(usize, Fit, &mut T) -> (Answer, Vec3) + Sync,
) {
    let rows = answers.par_iter_mut().zip(forces.par_iter_mut()).zip(aside.par_iter_mut());
    rows.with_min_len(MIN_ROWS).enumerate().for_each(|(i, ((out, force), aside))| {
        let (given, own) = answer(i, fit_row(bonds, points, i), aside);
        (*out, *force) = (points.answer(&given, i), own);
    });
}

impl PointBonds<'_> {
    /// Returns a particle's answer in the form that [`gather_answers`] adds up.
    #[inline(always)]
    pub fn answer(&self, answer: &Answer, i: usize) -> PointAnswer {
        PointAnswer::new(answer, self.references[i], self.fields[i])
    }

    /// Returns the same for a particle whose reference vectors are stored.
    #[inline(always)]
    pub fn answer_of_stored(&self, answer: &Answer, i: usize) -> PointAnswer {
        PointAnswer::new(answer, Vec3::ZERO, self.fields[i])
    }
}

/// Returns the fit of one row.
#[inline(always)]
pub fn fit_row(bonds: &impl BondRows, geometry: &impl BondGeometry, i: usize) -> Fit {
    let (mut product, mut sum) = (Mat3::ZERO, Vec3::ZERO);
    visit_row(bonds, geometry, i, |_, u, y, weight| {
        let y = y * weight;
        sum += y;
        product += outer(y, u);
    });
    Fit { product, sum }
}

/// Further sums over the bonds of a particle.
#[derive(Clone, Copy, Debug, Default)]
pub struct Squares {
    /// Sum Σ_j w_ij |y_ij|².
    pub sum: Real,
    /// Smallest |y_ij|².
    pub least: Real,
    /// Bonds with |y_ij| under the mean of both rooms, a bit each.
    pub near: u32,
}

/// Returns the fit of one row, and further sums over it. Which bonds are near is found for given rooms of the points, in
/// rows of up to 32 bonds.
#[inline(always)]
pub fn fit_row_with_squares(
    bonds: &impl BondRows,
    geometry: &impl BondGeometry,
    i: usize,
    rooms: Option<&[Real]>,
) -> (Fit, Squares) {
    let (mut product, mut sum) = (Mat3::ZERO, Vec3::ZERO);
    let mut squares = Squares { least: Real::INFINITY, ..Squares::default() };
    let mut bit = 1;
    visit_row(bonds, geometry, i, |j, u, field, weight| {
        let y = field * weight;
        sum += y;
        let squared = field.length_squared();
        squares.sum += squared * weight;
        squares.least = squares.least.min(squared);
        if let Some(rooms) = rooms {
            let room = rooms[i] + rooms[j];
            squares.near |= if 4.0 * squared < room * room { bit } else { 0 };
            bit <<= 1;
        }
        product += outer(y, u);
    });
    (Fit { product, sum }, squares)
}

/// Visits j, u_ij, y_ij and w_ij of the bonds of particle i.
#[inline(always)]
fn visit_row(
    bonds: &impl BondRows,
    geometry: &impl BondGeometry,
    i: usize,
    mut visit: impl FnMut(usize, Vec3, Vec3, Real),
) {
    let PointBonds { references, fields } = geometry.points();
    let (p, q) = (references[i], fields[i]);
    for (bond, j, weight) in bonds.own(i) {
        let u = geometry.stored(bond, i).unwrap_or_else(|| references[j] - p);
        visit(j, u, fields[j] - q, weight);
    }
}

/// Runs the second pass: adds Σ_j w_ji (M_j u_ij + c_j y_ij) to every force, as minus the same over the bonds j → i.
pub fn gather_answers(
    bonds: &impl BondRows,
    points: &PointBonds<'_>,
    answers: &[PointAnswer],
    forces: &mut [Vec3],
) {
    forces.par_iter_mut().with_min_len(MIN_ROWS).enumerate().for_each(|(i, force)| {
        let mut sum = PointAnswer::default();
        for (_, j, weight) in bonds.incoming(i) {
            sum.add_weighted(&answers[j], weight);
        }
        *force -= sum.at(points.references[i], points.fields[i]);
    });
}

/// Does the same where the reference vectors of rows that are not plain are stored: their answers are those of
/// [`PointBonds::answer_of_stored`].
pub fn gather_stored_answers(
    bonds: &SlotBonds,
    points: &PointBonds<'_>,
    answers: &[PointAnswer],
    forces: &mut [Vec3],
) {
    if bonds.are_plain() {
        return gather_answers(&bonds, points, answers, forces);
    }
    forces.par_iter_mut().with_min_len(MIN_ROWS).enumerate().for_each(|(i, force)| {
        let (mut sum, mut others) = (PointAnswer::default(), Vec3::ZERO);
        for (j, weight, stored) in bonds.incoming_vectors(i) {
            match stored {
                None => sum.add_weighted(&answers[j], weight),
                Some(u) => others += sum.add_stored(&answers[j], u * weight, weight),
            }
        }
        *force -= sum.at(points.references[i], points.fields[i]) + others;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::vec3;

    /// Checks that sums over answers give the forces that the bonds give one by one, far from the origin, too.
    #[test]
    fn answers_of_points_add_up_to_those_of_bonds() {
        let n = 40usize;
        let wave = |i: usize, k: usize| ((7 * i + 3 * k) as Real).sin();
        let neighbors = Neighbors::from_rows(n, |i, row| {
            row.extend((0..n as u32).filter(|&j| (1..5).contains(&j.abs_diff(i as u32))));
        });
        let weights: Vec<[f32; 2]> =
            (0..neighbors.n_bonds()).map(|bond| [0.5, 0.3 + 0.01 * (bond % 7) as f32]).collect();
        let bonds = WeightedBonds { neighbors: &neighbors, weights: &weights };
        for far in [0.0, 1e4] {
            let at = |i: usize, k: usize| vec3(wave(i, k) + far, wave(i, k + 1), wave(i, k + 2) - far);
            let references: Vec<Vec3> = (0..n).map(|i| at(i, 0)).collect();
            let fields: Vec<Vec3> = (0..n).map(|i| at(i, 5)).collect();
            let points = PointBonds { references: &references, fields: &fields };
            let column = |i: usize, k: usize| vec3(wave(i, k), wave(i, k + 1), wave(i, k + 2));
            let answer = |i: usize| Answer {
                carrier: Mat3::from_cols(column(i, 11), column(i, 17), column(i, 23)),
                residual: 1.0 + wave(i, 29),
            };
            let one_by_one: Vec<Answer> = (0..n).map(answer).collect();
            let summed: Vec<PointAnswer> = (0..n).map(|i| points.answer(&one_by_one[i], i)).collect();
            let (mut expected, mut found) = (vec![Vec3::X; n], vec![Vec3::X; n]);
            for (i, force) in expected.iter_mut().enumerate() {
                for (_, j, weight) in bonds.incoming(i) {
                    let given = &one_by_one[j];
                    let (u, y) = (references[i] - references[j], fields[i] - fields[j]);
                    *force -= (given.carrier * u + y * given.residual) * weight;
                }
            }
            gather_answers(&bonds, &points, &summed, &mut found);
            for (expected, found) in expected.iter().zip(&found) {
                assert!(expected.distance(*found) < 1e-13 * (1.0 + far), "{expected} {found}");
            }
        }
    }
}
