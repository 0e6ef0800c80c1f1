//! Division of space into tetrahedra that are small where particles are small, without cracks between sizes.
//!
//! A cube is divided into six tetrahedra around a diagonal. A tetrahedron is halved at the middle of an edge: first the
//! diagonals of cubes, then those of faces, then the cubes' edges; three halvings make the tetrahedra of cubes of half
//! the size (Maubach 1995, newest-vertex bisection). If all tetrahedra around an edge are halved together or not at
//! all, the division has no cracks. A node is the middle of exactly one edge, so that a division is given by its set of
//! nodes. It has no cracks if with each node it contains the nodes that create the tetrahedra around its edge
//! ([`parents`]).
//!
//! Nodes have integer coordinates, in cells of the smallest size (level 0); cells of level k are 2^k as large.

use rayon::prelude::*;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Position in cells of level 0.
pub(crate) type Place = [u32; 3];

/// Number of bits of a coordinate.
pub(crate) const BITS: u32 = 20;

/// Returns a place as one number that sorts like its coordinates.
fn key(place: Place) -> u64 {
    place.into_iter().fold(0, |key, x| key << BITS | u64::from(x))
}

fn place(key: u64) -> Place {
    [2 * BITS, BITS, 0].map(|shift| (key >> shift) as u32 & ((1 << BITS) - 1))
}

/// Nodes of a division of space.
pub(crate) struct Lattice {
    /// Nodes in ascending order of their keys.
    pub(crate) nodes: Vec<Place>,
    index: HashMap<u64, u32, BuildHasherDefault<Mixer>>,
    /// Level of the undivided cubes.
    top: u32,
}

impl Lattice {
    /// Builds the coarsest division that has the given nodes. Cubes of level `top` without nodes are undivided.
    pub(crate) fn new(seeds: impl ParallelIterator<Item = Place>, top: u32) -> Self {
        let mut stages: Vec<Vec<u64>> = vec![Vec::new(); 3 * top as usize + 1];
        let seeds: Vec<u64> = seeds.map(key).collect();
        for seed in in_order(seeds) {
            stages[stage(place(seed), top)].push(seed);
        }
        // all parents of a node are in the next stage
        for k in 1..stages.len() {
            let parents = stages[k - 1].par_iter().flat_map_iter(|&node| parents(place(node)).map(key));
            let parents: Vec<u64> = parents.collect();
            stages[k].extend(parents);
            stages[k] = in_order(std::mem::take(&mut stages[k]));
        }
        let centers: Vec<u64> = stages.iter().rev().nth(1).cloned().unwrap_or_default();
        let corners = root_cubes(&centers, top).into_iter().flat_map(|cube| corners(cube, top));
        let keys = in_order(stages.into_iter().flatten().chain(corners.map(key)).collect());
        let index = keys.iter().enumerate().map(|(i, &key)| (key, i as u32)).collect();
        Self { nodes: keys.into_iter().map(place).collect(), index, top }
    }

    /// Returns the number of a node.
    pub(crate) fn find(&self, place: Place) -> Option<u32> {
        self.index.get(&key(place)).copied()
    }

    /// Returns the tetrahedra for which `keep` is true, in an order that depends on nothing else. Corners are numbers
    /// of nodes; seen from the first, the others go counter-clockwise about the outward direction.
    pub(crate) fn tetrahedra(&self, keep: impl Fn([u32; 4]) -> bool + Sync) -> Vec<[u32; 4]> {
        let half = 1 << (self.top - 1);
        let is_center = |node: &&Place| stage(**node, self.top) == 3 * self.top as usize - 1;
        let centers: Vec<u64> = self.nodes.iter().filter(is_center).map(|&node| key(node)).collect();
        debug_assert!(centers.iter().all(|&center| place(center).iter().all(|x| x % (2 * half) == half)));
        let cubes = root_cubes(&centers, self.top);
        let of_cube = |&cube: &Place| {
            let mut found = Vec::new();
            for path in PATHS {
                if let Some(tetrahedron) = self.root(cube, path) {
                    self.descend(tetrahedron, 0, &keep, &mut found);
                }
            }
            found
        };
        cubes.par_iter().flat_map_iter(of_cube).collect()
    }

    /// Returns a tetrahedron of an undivided cube: from its corner with even coordinates (in cells of its level) along
    /// the axes in the given order to the one with odd coordinates.
    fn root(&self, cube: Place, path: [usize; 3]) -> Option<[Corner; 4]> {
        let size = 1 << self.top;
        let (even, odd) = (|x: u32| x + (x & size), |x: u32| x + size - (x & size));
        let mut at = cube.map(even);
        let mut corners = [Corner { place: at, node: self.find(at)? }; 4];
        for (axis, corner) in path.into_iter().zip(&mut corners[1..]) {
            at[axis] = odd(cube[axis]);
            *corner = Corner { place: at, node: self.find(at)? };
        }
        Some(corners)
    }

    /// Halves a tetrahedron as long as the middle of the current edge is a node. `turn` selects this edge: 0 a cube's
    /// diagonal (first to last corner), 1 a face's (first to third), 2 a cube's edge (first to second).
    fn descend(
        &self,
        [a, b, c, d]: [Corner; 4],
        turn: u32,
        keep: &impl Fn([u32; 4]) -> bool,
        found: &mut Vec<[u32; 4]>,
    ) {
        let end = [d, c, b][turn as usize];
        let middle = [0, 1, 2].map(|k| a.place[k].midpoint(end.place[k]));
        // the smallest cells cannot be halved
        let is_whole = (0..3).all(|k| (a.place[k] ^ end.place[k]) & 1 == 0);
        let Some(node) = is_whole.then(|| self.find(middle)).flatten() else {
            let nodes = [a, b, c, d].map(|corner| corner.node);
            if keep(nodes) {
                found.push(if is_right_handed([a, b, c, d]) {
                    nodes
                } else {
                    [nodes[0], nodes[2], nodes[1], nodes[3]]
                });
            }
            return;
        };
        let m = Corner { place: middle, node };
        let halves = match turn {
            0 => [[a, b, c, m], [d, c, b, m]],
            1 => [[a, b, m, d], [c, b, m, d]],
            _ => [[a, m, c, d], [b, m, c, d]],
        };
        for half in halves {
            self.descend(half, (turn + 1) % 3, keep, found);
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Corner {
    place: Place,
    node: u32,
}

/// All orders of the three axes.
const PATHS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

fn is_right_handed([a, b, c, d]: [Corner; 4]) -> bool {
    let [b, c, d] = [b, c, d].map(|p| [0, 1, 2].map(|k| i64::from(p.place[k]) - i64::from(a.place[k])));
    let cross = |k: usize| c[(k + 1) % 3] * d[(k + 2) % 3] - c[(k + 2) % 3] * d[(k + 1) % 3];
    (0..3).map(|k| b[k] * cross(k)).sum::<i64>() > 0
}

/// Returns the level of the smallest cells that have a node at a place: the largest power of two in all coordinates.
fn level(place: Place) -> u32 {
    (place[0] | place[1] | place[2]).trailing_zeros()
}

/// Returns a number that is larger for parents: three per level, for the middles of edges, of faces and of cubes (of
/// the next level), and the last one for the corners of undivided cubes.
fn stage(place: Place, top: u32) -> usize {
    let level = level(place);
    if level >= top {
        return 3 * top as usize;
    }
    let n_odd: u32 = place.iter().map(|x| x >> level & 1).sum();
    (3 * level + n_odd - 1) as usize
}

/// Returns the nodes that are required for any tetrahedron to have the edge whose middle is this node.
fn parents(place: Place) -> impl Iterator<Item = Place> {
    let size = 1u32 << level(place);
    let is_odd = place.map(|x| x & size != 0);
    let n_odd = is_odd.iter().filter(|&&odd| odd).count();
    let moved = move |axis: usize, up: bool| {
        let mut moved = place;
        moved[axis] = if up { moved[axis] + size } else { moved[axis] - size };
        moved
    };
    // for a cube: the corners of it that are middles of edges, with one coordinate odd in cells of twice the size
    let of_cube = move |axis: usize| {
        let mut corner = place.map(|x| x - size + ((x - size) & (2 * size)));
        corner[axis] = place[axis] + size - ((place[axis] - size) & (2 * size));
        corner
    };
    (0..3).flat_map(move |axis| {
        let (first, second) = match (n_odd, is_odd[axis]) {
            (3, _) => (Some(of_cube(axis)), None),
            // for a face: the middles of the cubes on both sides; for an edge: the middles of the four faces around it
            (_, false) => (Some(moved(axis, false)), Some(moved(axis, true))),
            _ => (None, None),
        };
        first.into_iter().chain(second)
    })
}

/// Returns the cubes of level `top` around the given middles, and the cubes beside them, in order.
fn root_cubes(centers: &[u64], top: u32) -> Vec<Place> {
    let size = 1u32 << top;
    let around = |&center: &u64| {
        let cube = place(center).map(|x| x - size / 2);
        (0..27u32).map(move |k| {
            key([0, 1, 2].map(|axis| cube[axis] + [k / 9, k / 3 % 3, k % 3][axis] * size - size))
        })
    };
    in_order(centers.iter().flat_map(around).collect()).into_iter().map(place).collect()
}

/// Returns the corners of a cube of a level.
pub(crate) fn corners(cube: Place, level: u32) -> impl Iterator<Item = Place> {
    (0..8u32).map(move |k| [0, 1, 2].map(|axis| cube[axis] + ((k >> axis & 1) << level)))
}

/// Sorts the keys in ascending order and removes duplicates.
fn in_order(mut keys: Vec<u64>) -> Vec<u64> {
    keys.par_sort_unstable();
    keys.dedup();
    keys
}

/// Hasher that spreads the bits of one number (Steele 2014, SplitMix64).
#[derive(Default)]
pub(crate) struct Mixer(u64);

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(self.0 << 8 ^ u64::from(byte)));
    }

    fn write_u64(&mut self, x: u64) {
        let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        self.0 = x ^ (x >> 31);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOP: u32 = 4;

    fn lattice_of(seeds: &[Place]) -> Lattice {
        Lattice::new(seeds.par_iter().copied(), TOP)
    }

    fn six_volumes(lattice: &Lattice, nodes: [u32; 4]) -> i64 {
        let [a, b, c, d] = nodes.map(|node| lattice.nodes[node as usize].map(i64::from));
        let [b, c, d] = [b, c, d].map(|p| [0, 1, 2].map(|k| p[k] - a[k]));
        let cross = |k: usize| c[(k + 1) % 3] * d[(k + 2) % 3] - c[(k + 2) % 3] * d[(k + 1) % 3];
        (0..3).map(|k| b[k] * cross(k)).sum()
    }

    /// Each triangle between tetrahedra belongs to two of them, and they fill the undivided cubes: no gaps.
    #[test]
    fn tetrahedra_fill_space_without_cracks() {
        // single nodes of all kinds and a block of small cells beside large ones
        let block = (0..125).map(|k| [33 + k % 5, 41 + k / 5 % 5, 50 + k / 25]);
        for seeds in
            [vec![[40, 40, 40]], vec![[33, 37, 45]], vec![[36, 35, 48], [50, 50, 50]], block.collect()]
        {
            let lattice = lattice_of(&seeds);
            assert!(seeds.iter().all(|&seed| lattice.find(seed).is_some()));
            let tetrahedra = lattice.tetrahedra(|_| true);
            let mut sides: HashMap<[u32; 3], usize> = HashMap::new();
            for t in &tetrahedra {
                assert!(six_volumes(&lattice, *t) > 0);
                for left_out in 0..4 {
                    let mut side: Vec<u32> = (0..4).filter(|&k| k != left_out).map(|k| t[k]).collect();
                    side.sort_unstable();
                    *sides.entry([side[0], side[1], side[2]]).or_default() += 1;
                }
            }
            // sides that belong to one tetrahedron form the outside, which consists of faces of undivided cubes
            let outside = sides.iter().filter(|(_, n)| **n == 1);
            for (side, _) in outside {
                let places = side.map(|node| lattice.nodes[node as usize]);
                let is_flat =
                    |axis: usize| places.iter().all(|p| p[axis] == places[0][axis] && p[axis] % 16 == 0);
                assert!((0..3).any(is_flat), "a crack at {places:?}");
            }
            assert!(sides.values().all(|&n| n <= 2));
            let filled: i64 = tetrahedra.iter().map(|&t| six_volumes(&lattice, t)).sum();
            assert_eq!(filled % (6 * 16i64.pow(3)), 0, "whole cubes");
        }
    }

    #[test]
    fn parents_are_of_the_next_stage() {
        for k in 0..4096u32 {
            let node = [32 + k % 16, 32 + k / 16 % 16, 32 + k / 256];
            if stage(node, TOP) < 3 * TOP as usize {
                assert!(parents(node).count() >= 2);
                assert!(parents(node).all(|parent| stage(parent, TOP) == stage(node, TOP) + 1), "{node:?}");
            }
        }
    }
}
