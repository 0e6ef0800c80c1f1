//! Weighted graph Laplacians of directed bonds, with both directions of a pair in one entry.

use crate::math::{Real, Vec3};
use crate::neighbors::BondRows;
use rayon::prelude::*;

/// Matrix L with L_ij = −(ω_ij + ω_ji) and rows that sum up to 0, in compressed rows for many products with vectors.
#[derive(Clone, Debug, Default)]
pub struct Laplacian {
    offsets: Vec<u32>,
    ends: Vec<u32>,
    /// Weights ω_ij + ω_ji, exact: see [`Laplacian::quantized`].
    weights: Vec<f32>,
    diagonal: Vec<Real>,
}

/// Smallest number of rows per task of a product.
const MIN_ROWS: usize = 128;
/// Number of rows that one task builds.
const ROWS_PER_TASK: usize = 512;
/// Number of entries per row for which memory is reserved; growing on demand would take up to twice as much.
const TYPICAL_ENTRIES: usize = 40;
/// Number of tasks whose rows are built before they are joined.
const TASKS_AT_ONCE: usize = 32;
/// Resolution of weights: they are multiples of 1/RESOLUTION, so that f32 holds the sum of two up to 1 exactly.
const RESOLUTION: Real = (1 << 20) as Real;

/// Entries of some rows.
#[derive(Default)]
struct Part {
    lengths: Vec<u32>,
    ends: Vec<u32>,
    weights: Vec<f32>,
    diagonal: Vec<Real>,
}

impl Laplacian {
    /// Returns the nearest weight that L holds exactly, for weights from 0 to 1.
    #[inline(always)]
    pub fn quantized(weight: Real) -> Real {
        (weight * RESOLUTION + 0.5) as u32 as Real * (1.0 / RESOLUTION)
    }

    /// Fills L from bonds whose rows are sorted at both ends, with weights ω = `weight(w)`.
    pub fn assemble(&mut self, bonds: &impl BondRows, weight: impl Fn(Real) -> Real + Sync) {
        let n = bonds.n_rows();
        let weight = |w: Real| Self::quantized(weight(w));
        let row_part = |task: usize| {
            let mut part = Part::default();
            for i in task * ROWS_PER_TASK..((task + 1) * ROWS_PER_TASK).min(n) {
                let before = part.ends.len();
                let mut own = bonds.own(i).map(|(_, j, w)| (j, weight(w))).peekable();
                let mut incoming = bonds.incoming(i).map(|(_, j, w)| (j, weight(w))).peekable();
                let mut diagonal = 0.0;
                loop {
                    let j = match (own.peek(), incoming.peek()) {
                        (Some(a), Some(b)) => a.0.min(b.0),
                        (Some(a), None) => a.0,
                        (None, Some(b)) => b.0,
                        (None, None) => break,
                    };
                    let mut both = own.next_if(|bond| bond.0 == j).map_or(0.0, |bond| bond.1);
                    both += incoming.next_if(|bond| bond.0 == j).map_or(0.0, |bond| bond.1);
                    if both > 0.0 {
                        part.ends.push(j as u32);
                        part.weights.push(both as f32);
                        diagonal += both;
                    }
                }
                part.lengths.push((part.ends.len() - before) as u32);
                part.diagonal.push(diagonal);
            }
            part
        };
        self.offsets.clear();
        self.offsets.push(0);
        self.ends.clear();
        self.weights.clear();
        self.diagonal.clear();
        self.ends.reserve(n * TYPICAL_ENTRIES);
        self.weights.reserve(n * TYPICAL_ENTRIES);
        // batch by batch, because all parts at once would double the memory
        let n_tasks = n.div_ceil(ROWS_PER_TASK);
        let mut end = 0;
        for batch in (0..n_tasks).step_by(TASKS_AT_ONCE) {
            let tasks = batch..(batch + TASKS_AT_ONCE).min(n_tasks);
            let parts: Vec<Part> = tasks.into_par_iter().map(row_part).collect();
            for part in parts {
                for length in part.lengths {
                    end += length;
                    self.offsets.push(end);
                }
                self.ends.extend_from_slice(&part.ends);
                self.weights.extend_from_slice(&part.weights);
                self.diagonal.extend_from_slice(&part.diagonal);
            }
        }
    }

    /// Returns the diagonal entry L_ii.
    #[inline(always)]
    pub fn diagonal(&self, i: usize) -> Real {
        self.diagonal[i]
    }

    /// Computes out = L x.
    pub fn apply(&self, x: &[Vec3], out: &mut [Vec3]) {
        out.par_iter_mut().with_min_len(MIN_ROWS).enumerate().for_each(|(i, out)| {
            let range = self.offsets[i] as usize..self.offsets[i + 1] as usize;
            let mut sum = x[i] * self.diagonal[i];
            for (&j, &w) in self.ends[range.clone()].iter().zip(&self.weights[range]) {
                sum -= x[j as usize] * Real::from(w);
            }
            *out = sum;
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Random;
    use crate::mls::apply_laplacian;
    use crate::neighbors::{SLOTS, SlotBonds};

    /// Compares products with sums over bonds; the product with a constant must be zero.
    #[test]
    fn assembled_products_are_those_of_the_bonds() {
        let (n, mut random) = (200, Random::new(12));
        let mut bonds = SlotBonds::new(n);
        for i in 0..n {
            let mut row: Vec<(u32, Vec3)> = Vec::new();
            for _ in 0..random.index(SLOTS) {
                let j = random.index(n) as u32;
                if j as usize != i && row.iter().all(|b| b.0 != j) {
                    row.push((j, Vec3::ZERO));
                }
            }
            bonds.row_mut(i).set(&mut row);
            let weights = bonds.row_mut(i).weights;
            weights.iter_mut().for_each(|w| *w = Laplacian::quantized(random.unit()) as f32);
        }
        bonds.index_incoming();
        bonds.copy_bonds(|_| true);
        let mut laplacian = Laplacian::default();
        laplacian.assemble(&&bonds, |w| w);
        let x: Vec<Vec3> = (0..n).map(|_| random.in_cube()).collect();
        let (mut out, mut oracle) = (vec![Vec3::ZERO; n], vec![Vec3::ZERO; n]);
        laplacian.apply(&x, &mut out);
        apply_laplacian(&&bonds, |_| 0.0, &x, &mut oracle);
        assert!(out.iter().zip(&oracle).all(|(a, b)| (*a - *b).length() < 1e-12));
        laplacian.apply(&vec![Vec3::ONE; n], &mut out);
        assert!(out.iter().all(|a| a.length() < 1e-12));
    }
}
