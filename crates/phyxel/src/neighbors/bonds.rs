//! Bonds: neighbour lists together with the reference vector that each bond stores.

use super::Neighbors;
use crate::math::Vec3;
use rayon::prelude::*;

/// Directed bonds i → j, each with its reference vector; lists and vectors always match.
/// Methods differ in where they search for neighbours and in which vector a bond stores.
#[derive(Clone, Debug, Default)]
pub struct Bonds {
    neighbors: Neighbors,
    vectors: Vec<Vec3>,
}

impl Bonds {
    /// Creates bonds with `first(i, j)` as reference vectors.
    pub fn new(neighbors: Neighbors, first: impl Fn(usize, usize) -> Vec3 + Sync) -> Self {
        let mut bonds = Self::default();
        bonds.renew(neighbors, first);
        bonds
    }

    /// Replaces the lists: surviving bonds keep their vectors, new ones get `first(i, j)`.
    pub fn renew(&mut self, fresh: Neighbors, first: impl Fn(usize, usize) -> Vec3 + Sync) {
        let old = &*self;
        let rows: Vec<Vec<Vec3>> = (0..fresh.n_rows().div_ceil(1024))
            .into_par_iter()
            .map(|task| {
                let rows = task * 1024..((task + 1) * 1024).min(fresh.n_rows());
                let bond = |i: usize, j: usize| {
                    let survivor = (i < old.neighbors.n_rows()).then(|| old.neighbors.find(i, j)).flatten();
                    survivor.map_or_else(|| first(i, j), |b| old.vectors[b])
                };
                rows.flat_map(|i| fresh.row(i).iter().map(move |&j| (i, j as usize)))
                    .map(|(i, j)| bond(i, j))
                    .collect()
            })
            .collect();
        self.vectors = rows.concat();
        self.neighbors = fresh;
    }

    /// Returns the neighbour lists.
    #[inline(always)]
    pub fn neighbors(&self) -> &Neighbors {
        &self.neighbors
    }

    /// Returns the reference vectors, one per bond, row after row (m).
    #[inline(always)]
    pub fn vectors(&self) -> &[Vec3] {
        &self.vectors
    }

    /// Returns the reference vectors, to be changed in place (plastic flow).
    pub fn vectors_mut(&mut self) -> &mut [Vec3] {
        &mut self.vectors
    }
}
