//! Directed bonds that change during a simulation: rows of slots, edited in place.

use super::{BondRows, SLOTS};
use crate::math::{Real, ShortVec3, Vec3};
use rayon::prelude::*;

/// Directed bonds i → j in rows of up to [`SLOTS`], each with a reference vector in single
/// precision and a weight. Row i is
/// `i * SLOTS..i * SLOTS + count`, its ends ascending; the rest of the row is unused.
#[derive(Clone, Debug, Default)]
pub struct SlotBonds {
    counts: Vec<u32>,
    ends: Vec<u32>,
    vectors: Vec<ShortVec3>,
    weights: Vec<f32>,
    /// Offsets of the bonds that end at j: `incoming[offsets[j]..offsets[j + 1]]`, ascending.
    offsets: Vec<u32>,
    incoming: Vec<u32>,
    /// Weights of those bonds in the same order, so that gathers read memory in order.
    incoming_weights: Vec<f32>,
    /// Reference vectors of those bonds whose rows are not plain (m); empty if all rows are plain.
    incoming_vectors: Vec<ShortVec3>,
    /// True for rows whose reference vectors are the rounded differences of positions that the caller has, whose exact
    /// differences hold then: these are quicker to read ([`SlotBonds::find_plain_rows`]).
    is_plain: Vec<bool>,
}

/// One row of bonds, to be changed.
#[derive(Debug)]
pub struct SlotRow<'a> {
    /// Number of bonds in use.
    pub count: &'a mut u32,
    /// Particles at which the bonds end.
    pub ends: &'a mut [u32],
    /// Reference vectors (m).
    pub vectors: &'a mut [ShortVec3],
    /// Weights (1).
    pub weights: &'a mut [f32],
}

impl SlotRow<'_> {
    /// Returns the number of bonds in use.
    #[inline(always)]
    pub fn len(&self) -> usize {
        *self.count as usize
    }

    /// Returns true if no bond is in use.
    pub fn is_empty(&self) -> bool {
        *self.count == 0
    }

    /// Returns the reference vector in slot k (m).
    #[inline(always)]
    pub fn vector(&self, k: usize) -> Vec3 {
        self.vectors[k].as_dvec3()
    }

    /// Changes the reference vectors in use.
    pub fn map_vectors(&mut self, map: impl Fn(Vec3) -> Vec3) {
        let n = self.len();
        self.vectors[..n].iter_mut().for_each(|u| *u = map(u.as_dvec3()).as_vec3());
    }

    /// Returns true if the reference vectors of row i are the rounded differences of origins.
    pub fn is_plain(&self, origins: &[Vec3], i: usize) -> bool {
        are_differences(&self.ends[..self.len()], self.vectors, origins, i)
    }

    /// Replaces the bonds by the given ones, sorted by their ends; those over [`SLOTS`] are left out.
    pub fn set(&mut self, bonds: &mut [(u32, Vec3)]) {
        bonds.sort_unstable_by_key(|bond| bond.0);
        let n = bonds.len().min(SLOTS);
        for (k, &(end, vector)) in bonds[..n].iter().enumerate() {
            (self.ends[k], self.vectors[k]) = (end, vector.as_vec3());
        }
        *self.count = n as u32;
    }
}

/// Returns true if the vectors from i to the ends are the rounded differences of origins.
#[inline]
fn are_differences(ends: &[u32], vectors: &[ShortVec3], origins: &[Vec3], i: usize) -> bool {
    ends.iter().zip(vectors).all(|(&j, u)| *u == (origins[j as usize] - origins[i]).as_vec3())
}

impl SlotBonds {
    /// Creates `n` empty rows.
    pub fn new(n: usize) -> Self {
        let mut bonds = Self::default();
        bonds.resize(n);
        bonds
    }

    /// Removes rows at the end, or appends empty rows.
    pub fn resize(&mut self, n: usize) {
        self.counts.resize(n, 0);
        self.ends.resize(n * SLOTS, 0);
        self.vectors.resize(n * SLOTS, ShortVec3::ZERO);
        self.weights.resize(n * SLOTS, 0.0);
        self.is_plain.resize(n, false);
    }

    /// Returns the number of bonds of row i.
    #[inline(always)]
    pub fn count(&self, i: usize) -> usize {
        self.counts[i] as usize
    }

    /// Returns the number of all bonds.
    pub fn n_bonds(&self) -> usize {
        self.counts.iter().map(|&c| c as usize).sum()
    }

    /// Returns the particles at which the bonds of row i end, ascending.
    #[inline(always)]
    pub fn ends(&self, i: usize) -> &[u32] {
        &self.ends[i * SLOTS..i * SLOTS + self.count(i)]
    }

    /// Returns the ends of all slots and the counts of all rows; a copy of them can be searched while rows change.
    pub fn ends_and_counts(&self) -> (&[u32], &[u32]) {
        (&self.ends, &self.counts)
    }

    /// Returns the reference vectors of row i (m).
    #[inline(always)]
    pub fn vectors(&self, i: usize) -> impl ExactSizeIterator<Item = Vec3> + Clone + '_ {
        self.vectors[i * SLOTS..i * SLOTS + self.count(i)].iter().map(|u| u.as_dvec3())
    }

    /// Returns the weights of row i.
    #[inline(always)]
    pub fn weights(&self, i: usize) -> &[f32] {
        &self.weights[i * SLOTS..i * SLOTS + self.count(i)]
    }

    /// Returns the reference vector of a bond (m).
    #[inline(always)]
    pub fn vector(&self, bond: usize) -> Vec3 {
        self.vectors[bond].as_dvec3()
    }

    /// Returns the index of the bond i → j, if there is one.
    pub fn find(&self, i: usize, j: usize) -> Option<usize> {
        let at = self.ends(i).binary_search(&(j as u32)).ok()?;
        Some(i * SLOTS + at)
    }

    /// Returns row i, to be changed. After a change of ends, [`SlotBonds::index_incoming`] must be called.
    pub fn row_mut(&mut self, i: usize) -> SlotRow<'_> {
        let range = i * SLOTS..(i + 1) * SLOTS;
        SlotRow {
            count: &mut self.counts[i],
            ends: &mut self.ends[range.clone()],
            vectors: &mut self.vectors[range.clone()],
            weights: &mut self.weights[range],
        }
    }

    /// Iterates in parallel over all rows, to be changed.
    pub fn par_rows_mut(&mut self) -> impl IndexedParallelIterator<Item = SlotRow<'_>> {
        let rows = self.counts.par_iter_mut().zip(self.ends.par_chunks_mut(SLOTS));
        let rows = rows.zip(self.vectors.par_chunks_mut(SLOTS)).zip(self.weights.par_chunks_mut(SLOTS));
        rows.map(|(((count, ends), vectors), weights)| SlotRow { count, ends, vectors, weights })
    }

    /// Builds the lists of the bonds that end at each particle. Then [`SlotBonds::copy_bonds`] must be called.
    pub fn index_incoming(&mut self) {
        let n = self.counts.len();
        let mut offsets = std::mem::take(&mut self.offsets);
        offsets.clear();
        offsets.resize(n + 2, 0);
        // shifted by one more, so that the offsets are right after filling
        for i in 0..n {
            self.ends(i).iter().for_each(|&j| offsets[j as usize + 2] += 1);
        }
        for j in 2..n + 2 {
            offsets[j] += offsets[j - 1];
        }
        let mut incoming = std::mem::take(&mut self.incoming);
        incoming.clear();
        incoming.resize(offsets[n + 1] as usize, 0);
        for i in 0..n {
            for (k, &j) in self.ends(i).iter().enumerate() {
                let slot = &mut offsets[j as usize + 1];
                incoming[*slot as usize] = (i * SLOTS + k) as u32;
                *slot += 1;
            }
        }
        (self.offsets, self.incoming) = (offsets, incoming);
    }

    /// Renews the copies of the bonds whose owners have changed, after the plain rows were found.
    pub fn copy_bonds(&mut self, is_changed: impl Fn(usize) -> bool + Sync) {
        let n_copied = if self.are_plain() { 0 } else { self.incoming.len() };
        self.incoming_weights.resize(self.incoming.len(), 0.0);
        if n_copied == 0 {
            self.incoming_vectors = Vec::new();
        }
        self.incoming_vectors.resize(n_copied, ShortVec3::ZERO);
        let Self { incoming, incoming_weights, incoming_vectors, weights, vectors, is_plain, .. } = self;
        let copies = incoming_weights.par_iter_mut().zip(incoming.par_iter()).with_min_len(4096);
        if n_copied == 0 {
            copies.for_each(|(weight, &bond)| {
                if is_changed(bond as usize / SLOTS) {
                    *weight = weights[bond as usize];
                }
            });
            return;
        }
        copies.zip(incoming_vectors.par_iter_mut()).for_each(|((weight, &bond), vector)| {
            let owner = bond as usize / SLOTS;
            if is_changed(owner) {
                *weight = weights[bond as usize];
                if !is_plain[owner] {
                    *vector = vectors[bond as usize];
                }
            }
        });
    }

    /// Finds which of the rows that have changed have reference vectors that are the rounded differences of `origins`. Forces
    /// depend on it in their last bits, so it must follow from bonds and origins alone, not from what happened before.
    pub fn find_plain_rows(&mut self, origins: &[Vec3], is_changed: impl Fn(usize) -> bool + Sync) {
        let mut is_plain = std::mem::take(&mut self.is_plain);
        is_plain.par_iter_mut().with_min_len(512).enumerate().for_each(|(i, is_plain)| {
            if is_changed(i) {
                *is_plain = are_differences(self.ends(i), &self.vectors[i * SLOTS..], origins, i);
            }
        });
        self.is_plain = is_plain;
    }

    /// Returns true if the reference vectors of row i are the differences of the origins.
    #[inline(always)]
    pub fn is_plain(&self, i: usize) -> bool {
        self.is_plain[i]
    }

    /// Returns true if that holds for all rows.
    pub fn are_plain(&self) -> bool {
        self.is_plain.iter().all(|plain| *plain)
    }

    /// Iterates over the bonds that end at j and their owners, both ascending.
    #[inline(always)]
    pub fn incoming_bonds(&self, j: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        let range = self.offsets[j] as usize..self.offsets[j + 1] as usize;
        self.incoming[range].iter().map(|&bond| (bond as usize, bond as usize / SLOTS))
    }

    /// Iterates over the bonds j → i: (j, weight, reference vector unless row j is plain).
    #[inline(always)]
    pub fn incoming_vectors(&self, i: usize) -> impl Iterator<Item = (usize, Real, Option<Vec3>)> {
        let first = self.offsets[i] as usize;
        self.incoming(i).enumerate().map(move |(k, (_, owner, weight))| {
            let vector = || self.incoming_vectors[first + k].as_dvec3();
            (owner, weight, (!self.is_plain[owner]).then(vector))
        })
    }

    /// Returns counts, ends and vectors of all slots, used or not, for visitors that save and load them. After loading,
    /// [`SlotBonds::restore`] must be called.
    pub fn arrays_mut(&mut self) -> (&mut Vec<u32>, &mut Vec<u32>, &mut Vec<ShortVec3>) {
        (&mut self.counts, &mut self.ends, &mut self.vectors)
    }

    /// Makes loaded arrays consistent, whatever they hold. Weights must be computed afterwards.
    pub fn restore(&mut self) {
        let n = self.counts.len();
        self.resize(n);
        for i in 0..n {
            let mut row = self.row_mut(i);
            let mut used: Vec<(u32, Vec3)> =
                (0..row.len().min(SLOTS)).map(|k| (row.ends[k], row.vector(k))).collect();
            if used.iter().any(|bond| bond.0 as usize >= n) || !used.is_sorted_by_key(|bond| bond.0) {
                used.retain(|bond| (bond.0 as usize) < n);
                row.set(&mut used);
            }
            *row.count = (*row.count).min(SLOTS as u32);
        }
        self.index_incoming();
    }

    fn copy_row(&mut self, from: usize, to: usize) {
        if from != to {
            self.counts[to] = self.counts[from];
            self.ends.copy_within(from * SLOTS..(from + 1) * SLOTS, to * SLOTS);
            self.vectors.copy_within(from * SLOTS..(from + 1) * SLOTS, to * SLOTS);
        }
    }

    /// Rearranges rows in place: new row k is old row `rows[k]`. Of the first `n_sorted` old rows, those that stay must
    /// keep their order; later ones may go anywhere. Ends become `place[end]`, ascending; bonds to a place of `u32::MAX` are
    /// dropped. Weights and incoming bonds must be computed afterwards.
    pub fn rearrange(&mut self, rows: &[usize], n_sorted: usize, place: &[u32]) {
        let slots = |row: usize| row * SLOTS..row * SLOTS + self.count(row);
        let later: Vec<(u32, Vec<u32>, Vec<ShortVec3>)> = (n_sorted..self.counts.len())
            .map(|row| (self.counts[row], self.ends(row).to_vec(), self.vectors[slots(row)].to_vec()))
            .collect();
        (self.incoming, self.incoming_weights, self.incoming_vectors) = (Vec::new(), Vec::new(), Vec::new());
        self.is_plain.clear();
        let mut n_kept = 0;
        for &from in rows.iter().filter(|&&from| from < n_sorted) {
            self.copy_row(from, n_kept);
            n_kept += 1;
        }
        self.resize(rows.len().max(n_kept));
        for (to, &from) in rows.iter().enumerate().rev() {
            if from < n_sorted {
                n_kept -= 1;
                self.copy_row(n_kept, to);
            } else {
                let (count, ends, vectors) = &later[from - n_sorted];
                let row = self.row_mut(to);
                *row.count = *count;
                row.ends[..ends.len()].copy_from_slice(ends);
                row.vectors[..vectors.len()].copy_from_slice(vectors);
            }
        }
        self.par_rows_mut().with_min_len(64).for_each_init(Vec::new, |bonds, mut row| {
            bonds.clear();
            let moved = (0..row.len()).map(|k| (place[row.ends[k] as usize], row.vector(k)));
            bonds.extend(moved.filter(|bond| bond.0 != u32::MAX));
            row.set(bonds);
        });
    }
}

/// Rows with the bonds' own weights.
impl BondRows for SlotBonds {
    fn n_rows(&self) -> usize {
        self.counts.len()
    }

    fn first_bond(&self, i: usize) -> usize {
        i * SLOTS
    }

    #[inline(always)]
    fn own(&self, i: usize) -> impl Iterator<Item = (usize, usize, Real)> {
        let row = self.ends(i).iter().zip(self.weights(i)).enumerate();
        row.map(move |(k, (&j, &w))| (i * SLOTS + k, j as usize, Real::from(w)))
    }

    #[inline(always)]
    fn incoming(&self, i: usize) -> impl Iterator<Item = (usize, usize, Real)> {
        let range = self.offsets[i] as usize..self.offsets[i + 1] as usize;
        let bonds = self.incoming[range.clone()].iter().zip(&self.incoming_weights[range]);
        bonds.map(|(&bond, &weight)| (bond as usize, bond as usize / SLOTS, Real::from(weight)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Random;

    fn random_bonds(n: usize) -> SlotBonds {
        let mut random = Random::new(5);
        let mut bonds = SlotBonds::new(n);
        for i in 0..n {
            let mut row: Vec<(u32, Vec3)> = Vec::new();
            for _ in 0..random.index(SLOTS + 5) {
                let j = random.index(n);
                if j != i && !row.iter().any(|b| b.0 as usize == j) {
                    row.push((j as u32, random.in_cube()));
                }
            }
            bonds.row_mut(i).set(&mut row);
            bonds.row_mut(i).weights.iter_mut().for_each(|w| *w = random.unit() as f32);
        }
        bonds.index_incoming();
        bonds.copy_bonds(|_| true);
        bonds
    }

    #[test]
    fn incoming_bonds_are_all_that_end_there() {
        let n = 60;
        let bonds = random_bonds(n);
        for j in 0..n {
            let expected: Vec<(usize, usize)> =
                (0..n).filter_map(|i| bonds.find(i, j).map(|bond| (bond, i))).collect();
            assert_eq!(bonds.incoming_bonds(j).collect::<Vec<_>>(), expected);
            let weights: Vec<Real> = bonds.incoming(j).map(|b| b.2).collect();
            assert!(expected.iter().zip(weights).all(|(b, w)| Real::from(bonds.weights[b.0]) == w));
        }
        assert!((0..n).all(|i| bonds.ends(i).is_sorted() && bonds.count(i) <= SLOTS));
    }

    #[test]
    fn plain_rows_are_those_with_exact_differences() {
        let (mut bonds, mut random) = (random_bonds(40), Random::new(9));
        let origins: Vec<Vec3> = (0..40).map(|_| random.in_cube()).collect();
        for i in 0..40 {
            let row = bonds.row_mut(i);
            for k in 0..row.len() {
                row.vectors[k] = (origins[row.ends[k] as usize] - origins[i]).as_vec3();
            }
        }
        let i = (0..40).find(|&i| bonds.count(i) > 3).unwrap();
        bonds.row_mut(i).vectors[2].y += 1e-6;
        bonds.find_plain_rows(&origins, |_| true);
        assert!((0..40).all(|k| bonds.is_plain(k) == (k != i)));
        // rows are looked at where they changed, and may become plain again
        bonds.row_mut(i).vectors[2] = (origins[bonds.ends(i)[2] as usize] - origins[i]).as_vec3();
        let other = (0..40).find(|&k| k != i && bonds.count(k) > 3).unwrap();
        bonds.row_mut(other).vectors[0].x += 1e-6;
        bonds.find_plain_rows(&origins, |k| k == i);
        assert!((0..40).all(|k| bonds.is_plain(k)));
        bonds.find_plain_rows(&origins, |k| k == other);
        assert!((0..40).all(|k| bonds.is_plain(k) == (k != other)));
    }

    /// Compares rows that were dropped, moved and inserted with rows built anew.
    #[test]
    fn rearranged_rows_are_those_asked_for() {
        let (n, n_later) = (50, 6);
        let old = random_bonds(n + n_later);
        let mut random = Random::new(8);
        let mut rows = Vec::new();
        let mut later = n..n + n_later;
        for i in 0..n {
            if random.unit() < 0.8 {
                rows.push(i);
            }
            if random.unit() < 0.2 {
                rows.extend(later.next());
            }
        }
        let mut place = vec![0u32; n + n_later];
        rows.iter().enumerate().for_each(|(k, &row)| place[row] = k as u32);
        let mut bonds = old.clone();
        bonds.rearrange(&rows, n, &place);
        for (k, &row) in rows.iter().enumerate() {
            let mut expected: Vec<(u32, Vec3)> =
                old.ends(row).iter().map(|&end| place[end as usize]).zip(old.vectors(row)).collect();
            expected.sort_unstable_by_key(|bond| bond.0);
            assert_eq!(bonds.ends(k), expected.iter().map(|b| b.0).collect::<Vec<_>>());
        }
        assert_eq!(bonds.n_rows(), rows.len());
    }

    #[test]
    fn nonsense_that_was_loaded_is_made_consistent() {
        let mut bonds = random_bonds(10);
        let (counts, ends, vectors) = bonds.arrays_mut();
        counts[3] = 99;
        ends[5] = 1234;
        vectors.truncate(40);
        bonds.restore();
        assert!((0..10).all(|i| bonds.count(i) <= SLOTS && bonds.ends(i).iter().all(|&j| j < 10)));
    }
}
