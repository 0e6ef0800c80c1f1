//! Connected components, by union-find.

/// Disjoint sets; the smallest member represents its set, so that the order of joining does not matter.
#[derive(Clone, Debug)]
pub struct Components {
    parent: Vec<u32>,
    n_sets: usize,
}

impl Components {
    /// Creates `n` sets of one member each.
    pub fn new(n: usize) -> Self {
        Self { parent: (0..n as u32).collect(), n_sets: n }
    }

    /// Returns the smallest member of the set of `i`.
    #[inline]
    pub fn root(&mut self, mut i: u32) -> u32 {
        while self.parent[i as usize] != i {
            let above = self.parent[self.parent[i as usize] as usize];
            self.parent[i as usize] = above;
            i = above;
        }
        i
    }

    /// Unites the sets of `i` and `j`.
    #[inline]
    pub fn join(&mut self, i: u32, j: u32) {
        self.join_all(i, [j]);
    }

    /// Unites the set of `i` with those of `others`.
    #[inline]
    pub fn join_all(&mut self, i: u32, others: impl IntoIterator<Item = u32>) {
        let mut a = self.root(i);
        for j in others {
            let b = self.root(j);
            if a != b {
                self.parent[a.max(b) as usize] = a.min(b);
                self.n_sets -= 1;
                a = a.min(b);
            }
        }
    }

    /// Returns the number of sets.
    pub fn n_sets(&self) -> usize {
        self.n_sets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_counted_and_stand_for_their_smallest_in_any_order() {
        let pairs = [(4, 1), (6, 5), (5, 4), (1, 6), (2, 3)];
        for shift in 0..pairs.len() {
            let mut components = Components::new(8);
            (0..pairs.len())
                .map(|k| pairs[(k + shift) % pairs.len()])
                .for_each(|(i, j)| components.join(i, j));
            assert_eq!(components.n_sets(), 4);
            assert_eq!([0, 1, 2, 3, 4, 5, 6, 7].map(|i| components.root(i)), [0, 1, 2, 2, 1, 1, 1, 7]);
        }
    }
}
