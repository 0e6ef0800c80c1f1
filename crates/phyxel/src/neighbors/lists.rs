//! Neighbour lists in compressed rows.

use rayon::prelude::*;
use std::ops::Range;

/// Directed neighbour lists i → j in compressed rows: row i is `indices[offsets[i]..offsets[i + 1]]`, ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Neighbors {
    offsets: Vec<u32>,
    indices: Vec<u32>,
}

/// Transposed lists: for each j, the bonds i → j, by ascending i.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reverse {
    offsets: Vec<u32>,
    bonds: Vec<u32>,
    owners: Vec<u32>,
}

const ROWS_PER_TASK: usize = 1024;
/// Number of rows that one task changes.
const ROWS_AT_ONCE: usize = 256;

impl Neighbors {
    /// Builds all rows in parallel; `fill` pushes the ascending neighbours of a row into an empty buffer.
    pub fn from_rows(n: usize, fill: impl Fn(usize, &mut Vec<u32>) + Sync) -> Self {
        let parts: Vec<(Vec<u32>, Vec<u32>)> = (0..n.div_ceil(ROWS_PER_TASK))
            .into_par_iter()
            .map(|task| {
                let rows = task * ROWS_PER_TASK..((task + 1) * ROWS_PER_TASK).min(n);
                let (mut lengths, mut flat, mut row) =
                    (Vec::with_capacity(rows.len()), Vec::new(), Vec::new());
                for i in rows {
                    row.clear();
                    fill(i, &mut row);
                    debug_assert!(row.is_sorted());
                    lengths.push(row.len() as u32);
                    flat.extend_from_slice(&row);
                }
                (lengths, flat)
            })
            .collect();
        let mut offsets = Vec::with_capacity(n + 1);
        let mut indices = Vec::with_capacity(parts.iter().map(|p| p.1.len()).sum());
        offsets.push(0);
        let mut end = 0u32;
        for (lengths, flat) in parts {
            for length in lengths {
                end += length;
                offsets.push(end);
            }
            indices.extend_from_slice(&flat);
        }
        Self { offsets, indices }
    }

    /// Returns the number of rows.
    pub fn n_rows(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Returns the number of directed bonds.
    pub fn n_bonds(&self) -> usize {
        self.indices.len()
    }

    /// Returns the index at which row i begins in per-bond arrays; for i = n, their length.
    pub fn first_bond(&self, i: usize) -> usize {
        self.offsets.get(i).map_or(0, |offset| *offset as usize)
    }

    /// Returns the range of row i in per-bond arrays.
    #[inline(always)]
    pub fn range(&self, i: usize) -> Range<usize> {
        self.offsets[i] as usize..self.offsets[i + 1] as usize
    }

    /// Returns the neighbours of i, ascending.
    #[inline(always)]
    pub fn row(&self, i: usize) -> &[u32] {
        &self.indices[self.range(i)]
    }

    /// Returns all neighbour indices, row after row.
    pub fn indices(&self) -> &[u32] {
        &self.indices
    }

    /// Iterates in parallel over the rows of a per-bond and a per-row array: (i, values of bonds, value of row).
    pub fn par_rows_mut<'a, T: Send, U: Send>(
        &'a self,
        bonds: &'a mut [T],
        each: &'a mut [U],
    ) -> impl ParallelIterator<Item = (usize, &'a mut [T], &'a mut U)> {
        let (n, mut rest, mut parts) = (self.n_rows(), bonds, Vec::new());
        for (first, own) in (0..n).step_by(ROWS_AT_ONCE).zip(each.chunks_mut(ROWS_AT_ONCE)) {
            let end = (first + ROWS_AT_ONCE).min(n);
            let (part, others) = rest.split_at_mut((self.offsets[end] - self.offsets[first]) as usize);
            parts.push((first, part, own));
            rest = others;
        }
        parts.into_par_iter().flat_map_iter(move |(first, mut part, own)| {
            own.iter_mut().enumerate().map(move |(k, own)| {
                let (row, others) = std::mem::take(&mut part).split_at_mut(self.range(first + k).len());
                part = others;
                (first + k, row, own)
            })
        })
    }

    /// Returns the index of the bond i → j, if there is one.
    pub fn find(&self, i: usize, j: usize) -> Option<usize> {
        let at = self.row(i).binary_search(&(j as u32)).ok()?;
        Some(self.offsets[i] as usize + at)
    }

    /// Returns the transposed lists, for sums over the bonds that end at a particle.
    pub fn reverse(&self) -> Reverse {
        let n = self.n_rows();
        let mut offsets = vec![0u32; n + 1];
        for &j in &self.indices {
            offsets[j as usize + 1] += 1;
        }
        for i in 0..n {
            offsets[i + 1] += offsets[i];
        }
        let mut next = offsets.clone();
        let (mut bonds, mut owners) = (vec![0u32; self.indices.len()], vec![0u32; self.indices.len()]);
        for i in 0..n {
            for b in self.range(i) {
                let slot = &mut next[self.indices[b] as usize];
                bonds[*slot as usize] = b as u32;
                owners[*slot as usize] = i as u32;
                *slot += 1;
            }
        }
        Reverse { offsets, bonds, owners }
    }

    /// Returns the lists with reverse bonds added: j is a neighbour of i whenever i is one of j.
    pub fn symmetrized(&self) -> Self {
        let reverse = self.reverse();
        Self::from_rows(self.n_rows(), |i, row| {
            row.extend_from_slice(self.row(i));
            row.extend(reverse.incoming(i).map(|(_, owner)| owner as u32));
            row.sort_unstable();
            row.dedup();
        })
    }
}

impl Reverse {
    /// Returns the bonds that end at j: (index of the bond in per-bond arrays, owner), by ascending owner.
    #[inline]
    pub fn incoming(&self, j: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        let range = self.offsets[j] as usize..self.offsets[j + 1] as usize;
        self.bonds[range.clone()].iter().zip(&self.owners[range]).map(|(&b, &i)| (b as usize, i as usize))
    }
}
