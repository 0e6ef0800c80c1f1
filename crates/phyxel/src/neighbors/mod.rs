//! Neighbour search: a counting-sort grid, neighbour lists in compressed rows, and bonds with a reference vector.
//! Lists are sorted by index, so that sums over them have a fixed order.

mod bonds;
pub mod brute_force;
mod components;
mod grid;
mod lists;
mod slots;
#[cfg(test)]
mod tests;

pub use bonds::Bonds;
pub use components::Components;
pub use grid::Grid;
pub use lists::{Neighbors, Reverse};
pub use slots::{SlotBonds, SlotRow};

use crate::math::{Real, Vec3};
use rayon::prelude::*;

/// Capacity of a row of [`SlotBonds`]: the largest number of neighbours in Jones 2014 Sec. 3.6.
pub const SLOTS: usize = 32;

/// Function that calls back with every particle bonded to a given one, and with the stress-free vector of the bond.
pub(crate) type VisitBonds<'a> = &'a (dyn Fn(usize, &mut dyn FnMut(usize, Vec3)) + Sync);

/// Weighted bonds that can be iterated from both ends, so that contributions of other particles can be gathered.
/// Implementations are inlined into the passes.
pub trait BondRows: Sync {
    /// Returns the number of particles.
    fn n_rows(&self) -> usize;
    /// Returns the index of the first bond of row i; for i = n, the length of per-bond arrays.
    fn first_bond(&self, i: usize) -> usize;
    /// Iterates over the bonds i → j: (index of the bond, j, weight).
    fn own(&self, i: usize) -> impl Iterator<Item = (usize, usize, Real)>;
    /// Iterates over the bonds j → i: (index of the bond, j, weight).
    fn incoming(&self, i: usize) -> impl Iterator<Item = (usize, usize, Real)>;
}

impl<B: BondRows> BondRows for &B {
    fn n_rows(&self) -> usize {
        (*self).n_rows()
    }

    fn first_bond(&self, i: usize) -> usize {
        (*self).first_bond(i)
    }

    #[inline(always)]
    fn own(&self, i: usize) -> impl Iterator<Item = (usize, usize, Real)> {
        (*self).own(i)
    }

    #[inline(always)]
    fn incoming(&self, i: usize) -> impl Iterator<Item = (usize, usize, Real)> {
        (*self).incoming(i)
    }
}

/// Points of a search. Points with different keys are never neighbours (bodies in rest space).
#[derive(Clone, Copy, Debug)]
pub struct Points<'a> {
    /// Positions of the points (m).
    pub positions: &'a [Vec3],
    /// One key per point; empty if all points have the same key.
    pub keys: &'a [u32],
}

impl<'a> Points<'a> {
    /// Creates points that may all be neighbours.
    pub fn new(positions: &'a [Vec3]) -> Self {
        Self { positions, keys: &[] }
    }

    #[inline]
    fn see_each_other(&self, i: usize, j: usize) -> bool {
        self.keys.is_empty() || self.keys[i] == self.keys[j]
    }
}

/// Returns for each point i all j ≠ i with |x_j − x_i| < radius(i), sorted by index; not symmetric if radii differ.
pub fn within_radius(points: Points<'_>, radius: impl Fn(usize) -> Real + Sync) -> Neighbors {
    let n = points.positions.len();
    let largest = crate::math::max_over(n, &radius).map_or(1.0, |(r, _)| r);
    let grid = Grid::new(points.positions, largest);
    Neighbors::from_rows(n, |i, row| {
        let (center, r) = (points.positions[i], radius(i));
        grid.visit_ball(center, r, |j| {
            let j = j as usize;
            if j != i && points.see_each_other(i, j) && center.distance_squared(points.positions[j]) < r * r {
                row.push(j as u32);
            }
        });
        row.sort_unstable();
    })
}

/// Returns for each point i its k nearest others (fewer if there are not so many), sorted by index.
/// Of equal distances, the smaller index is taken.
pub fn nearest(points: Points<'_>, k: usize) -> Neighbors {
    let n = points.positions.len();
    let grid = Grid::for_density(points.positions);
    Neighbors::from_rows(n, |i, row| {
        let mut found = Vec::with_capacity(k + 1);
        grid.nearest(
            points.positions,
            points.positions[i],
            k,
            |j| j != i && points.see_each_other(i, j),
            &mut found,
        );
        row.extend(found.iter().map(|&(_, j)| j));
        row.sort_unstable();
    })
}

/// Returns the mean distance of each point to its k nearest others; 0 for a point that has none.
pub fn mean_nearest_distance(points: Points<'_>, k: usize) -> Vec<Real> {
    let grid = Grid::for_density(points.positions);
    (0..points.positions.len())
        .into_par_iter()
        .map_init(Vec::new, |found, i| {
            found.clear();
            grid.nearest(
                points.positions,
                points.positions[i],
                k,
                |j| j != i && points.see_each_other(i, j),
                found,
            );
            found.iter().map(|&(d, _)| d.sqrt()).sum::<Real>() / found.len().max(1) as Real
        })
        .collect()
}
