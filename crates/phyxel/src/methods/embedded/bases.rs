//! Bases of particles: weights and moments of their rest bonds, and rest bonds that keep F.

use super::{Basis, Embedded};
use crate::material::Lame;
use crate::math::{
    LANES, Lanes, Mat3, Real, Vec3, VectorLanes, cofactor, double_dot, exp, frobenius_norm, mapped,
    matrix_lanes, outer, symmetric_eigen, trace, vector_sum,
};
use crate::neighbors::{SLOTS, SlotRow};
use crate::particles::Particles;
use rayon::prelude::*;

/// A neighbourhood flatter than this (smallest over largest eigenvalue of A) is degenerate.
const FLATNESS: Real = 1e-3;
/// A neighbourhood with fewer bonds than this inside the support is degenerate.
const MIN_BONDS: Real = 8.0;
/// If 27 det A/(tr A)³ is larger than this, A is far from flat and its eigenvalues need not be computed.
const ROUND: Real = 0.05;
/// Largest correction of rest bonds that keeps F.
const LARGEST_CORRECTION: Real = 0.1;
/// Correction of rest bonds after which F is kept well enough.
const SMALL_CORRECTION: Real = 1e-4;
/// Largest number of corrections of the rest bonds of one particle.
const MOST_CORRECTIONS: usize = 5;
/// Smallest number of rows per parallel task.
const MIN_ROWS: usize = 128;
/// Length of the rest bonds in unused lanes, which is outside of any support (m).
const FAR: Real = 1e30;

/// Rest bonds, world bonds and weights of one particle in lanes.
pub(super) struct RowLanes {
    n_blocks: usize,
    rest: [VectorLanes; BLOCKS],
    world: [VectorLanes; BLOCKS],
    weights: [Lanes; BLOCKS],
}

const BLOCKS: usize = SLOTS / LANES;

impl RowLanes {
    /// Creates an empty row.
    pub(super) fn new() -> Self {
        Self {
            n_blocks: 0,
            rest: [VectorLanes::default(); BLOCKS],
            world: [VectorLanes::default(); BLOCKS],
            weights: [Lanes::default(); BLOCKS],
        }
    }

    /// Reads the rest bonds of a row.
    pub(super) fn read(&mut self, row: &SlotRow<'_>) {
        let n = row.len();
        self.n_blocks = n.div_ceil(LANES);
        for k in 0..self.n_blocks * LANES {
            let u = if k < n { row.vector(k) } else { Vec3::new(FAR, 0.0, 0.0) };
            put(&mut self.rest[k / LANES], k, u);
        }
    }

    /// Takes the differences of origins as the rest bonds of a row of particle i.
    fn read_differences(&mut self, row: &SlotRow<'_>, origin: &[Vec3], i: usize) {
        for (k, &j) in row.ends[..row.len()].iter().enumerate() {
            put(&mut self.rest[k / LANES], k, origin[j as usize] - origin[i]);
        }
    }

    /// Reads the world bonds of a row of particle i.
    pub(super) fn read_world(&mut self, row: &SlotRow<'_>, x: &[Vec3], i: usize) {
        let n = row.len();
        for k in 0..self.n_blocks * LANES {
            let bond = if k < n { x[row.ends[k] as usize] - x[i] } else { Vec3::ZERO };
            put(&mut self.world[k / LANES], k, bond);
        }
    }

    /// Writes the rest bonds to their row.
    fn write(&self, row: &mut SlotRow<'_>) {
        for k in 0..row.len() {
            row.vectors[k] = Vec3::from(self.rest[k / LANES].map(|lanes| lanes.0[k % LANES])).as_vec3();
        }
    }

    /// Writes the weights to their row.
    fn write_weights(&self, row: &mut SlotRow<'_>) {
        for k in 0..row.len() {
            row.weights[k] = self.weights[k / LANES].0[k % LANES] as f32;
        }
    }

    /// Maps the rest bonds, u ← M u, rounded as they are stored.
    #[inline(always)]
    pub(super) fn map(&mut self, m: Mat3) {
        let m = matrix_lanes(m);
        self.rest[..self.n_blocks].iter_mut().for_each(|u| *u = mapped(&m, u).map(Lanes::rounded));
    }

    /// Maps both bonds to rest bonds, u ← M u + N x, rounded as they are stored.
    #[inline(always)]
    pub(super) fn map_both(&mut self, m: Mat3, n: Mat3) {
        let (m, n) = (matrix_lanes(m), matrix_lanes(n));
        for (u, x) in self.rest[..self.n_blocks].iter_mut().zip(&self.world) {
            let (a, b) = (mapped(&m, u), mapped(&n, x));
            *u = std::array::from_fn(|k| (a[k] + b[k]).rounded());
        }
    }

    /// Weighs the bonds by the poly6 shape without its constant, which cancels in F, V and forces.
    #[inline(always)]
    fn weigh(&mut self, support: Real) {
        let (one, scale) = (Lanes::splat(1.0), Lanes::splat(1.0 / (support * support)));
        for (u, weight) in self.rest[..self.n_blocks].iter().zip(&mut self.weights) {
            let q = (one - (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]) * scale).map(|q| q.max(0.0));
            // as they are stored
            *weight = (q * q * q).rounded();
        }
    }

    /// Returns Σ w u uᵀ, Σ w u, Σ w and the number of bonds with a weight.
    #[inline(always)]
    fn moments(&self) -> (Mat3, Vec3, Real, Real) {
        let (mut diagonal, mut mixed) = (VectorLanes::default(), VectorLanes::default());
        let (mut first, mut sum, mut n_active) = (VectorLanes::default(), Lanes::default(), Lanes::default());
        for (u, w) in self.rest[..self.n_blocks].iter().zip(&self.weights) {
            n_active += w.map(|w| if w > 0.0 { 1.0 } else { 0.0 });
            sum += *w;
            for k in 0..3 {
                let weighted = u[k] * *w;
                first[k] += weighted;
                diagonal[k] += weighted * u[k];
                mixed[k] += weighted * u[(k + 1) % 3];
            }
        }
        let (diagonal, mixed) = (vector_sum(&diagonal), vector_sum(&mixed));
        let moment = Mat3::from_cols(
            Vec3::new(diagonal.x, mixed.x, mixed.z),
            Vec3::new(mixed.x, diagonal.y, mixed.y),
            Vec3::new(mixed.z, mixed.y, diagonal.z),
        );
        (moment, vector_sum(&first), sum.sum(), n_active.sum())
    }

    /// Returns Σ w x uᵀ and Σ w |x|².
    #[inline(always)]
    fn products(&self) -> (Mat3, Real) {
        let (mut columns, mut squares) = ([VectorLanes::default(); 3], Lanes::default());
        for ((u, x), w) in self.rest[..self.n_blocks].iter().zip(&self.world).zip(&self.weights) {
            for k in 0..3 {
                let weighted = x[k] * *w;
                squares += weighted * x[k];
                for (column, u) in columns.iter_mut().zip(u) {
                    column[k] += weighted * *u;
                }
            }
        }
        let [a, b, c] = columns.map(|column| vector_sum(&column));
        (Mat3::from_cols(a, b, c), squares.sum())
    }
}

#[inline(always)]
fn put(block: &mut VectorLanes, k: usize, v: Vec3) {
    for (lanes, x) in block.iter_mut().zip(v.to_array()) {
        lanes.0[k % LANES] = x;
    }
}

/// Rule by which a basis is computed from rest bonds.
#[derive(Clone, Copy)]
pub(super) struct BasisRule {
    stabilization: Real,
}

impl BasisRule {
    /// Weighs the rest bonds of a row and returns the basis, for a particle's support radius, volume and stiffness. A
    /// degenerate neighbourhood has no volume and no penalty, so that it causes no force.
    #[inline]
    pub(super) fn basis(self, row: &mut RowLanes, (support, volume, lame): (Real, Real, Lame)) -> Basis {
        row.weigh(support);
        let (moment, row_sum, weight_sum, n_active) = row.moments();
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

    /// Writes rest bonds and weights to their row. A basis follows from bonds and origins alone, whatever happened before:
    /// that of a plain row is of the exact differences of the origins.
    #[inline]
    pub(super) fn finish(
        self,
        lanes: &mut RowLanes,
        row: &mut SlotRow<'_>,
        particle: (Real, Real, Lame),
        basis: &mut Basis,
        (origin, i): (&[Vec3], usize),
    ) {
        lanes.write(row);
        if row.is_plain(origin, i) {
            lanes.read_differences(row, origin, i);
            *basis = self.basis(lanes, particle);
        }
        lanes.write_weights(row);
    }

    /// Corrects the rest bonds of a row by C = F_old⁻¹ F_new, so that F keeps its old value. Weights change with the
    /// bonds, hence the rounds. If a correction were large, or the last one not small, all rest bonds are set to those
    /// that F_old explains: a neighbourhood that determines F badly must not gain energy. Returns the basis and the
    /// energy of the residuals that this drops (J).
    pub(super) fn keep_gradient(
        self,
        row: &mut RowLanes,
        particle: (Real, Real, Lame),
        basis: &Basis,
        inverse_old: Mat3,
    ) -> (Basis, Real) {
        let (mut basis, mut unseen) = (*basis, 0.0);
        for _ in 0..MOST_CORRECTIONS {
            let (product, squares) = row.products();
            let gradient = product * basis.inverse_moment;
            let correction = inverse_old * gradient;
            let size = frobenius_norm(correction - Mat3::IDENTITY);
            unseen = 0.5 * basis.residual * (squares - double_dot(gradient, product)).max(0.0);
            if !(size < LARGEST_CORRECTION) {
                break;
            }
            row.map(correction);
            basis = self.basis(row, particle);
            if size < SMALL_CORRECTION || basis.is_degenerate() {
                return (basis, 0.0);
            }
        }
        row.map_both(Mat3::ZERO, inverse_old);
        (self.basis(row, particle), unseen)
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
    for ((&j, u), &w) in row.ends[..n].iter().zip(&row.vectors[..n]).zip(&row.weights[..n]) {
        let weighted = (log_volume[j as usize] - log_volume[i]) * Real::from(w);
        sum += weighted;
        moment += u.as_dvec3() * weighted;
    }
    let slope = basis.inverse_moment * basis.row_sum;
    let way = (sum - slope.dot(moment)) / (1.0 + basis.weight_sum - slope.dot(basis.row_sum));
    exp(-fraction / 3.0 * way)
}

impl Embedded {
    /// Returns the rule by which bases are computed.
    pub(super) fn basis_rule(&self) -> BasisRule {
        BasisRule { stabilization: self.params.stabilization }
    }

    /// Computes weights, moments and derived quantities of every particle.
    pub(super) fn compute_bases(&mut self, particles: &Particles) {
        let rule = self.basis_rule();
        let n = particles.len();
        self.basis.resize(n, Basis::default());
        let Self { bonds, basis, support_radius, lame, origin, .. } = self;
        let (lame, support_radius, volume) = (&*lame, &*support_radius, &particles.volume);
        let rows = bonds.par_rows_mut().zip(basis.par_iter_mut()).with_min_len(MIN_ROWS).enumerate();
        rows.for_each_init(RowLanes::new, |lanes, (i, (mut row, basis))| {
            let particle = (support_radius[i], volume[i], lame.at(i));
            lanes.read(&row);
            *basis = rule.basis(lanes, particle);
            rule.finish(lanes, &mut row, particle, basis, (origin, i));
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
        let row = self.bonds.vectors(i).zip(self.bonds.weights(i));
        row.fold((Mat3::ZERO, 0.0), |(moment, sum), (u, &w)| {
            let w = Real::from(w);
            (moment + outer(u * w, u), sum + w)
        })
    }

    /// Returns the volume √(det A/(Σ w)³), Jones 2014 Eq. 3, without a constant (m³).
    pub(super) fn moment_volume(&self, i: usize) -> Real {
        let (moment, sum) = self.moment(i);
        if sum > 0.0 { (moment.determinant().max(0.0) / (sum * sum * sum)).sqrt() } else { 0.0 }
    }
}
