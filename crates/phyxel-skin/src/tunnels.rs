//! Tunnels through matter that are one node of the lattice wide, and small pockets: gaps between
//! particles, not shapes of the matter.

use crate::lattice::Lattice;
use phyxel::neighbors::Components;
use rayon::prelude::*;

/// Largest number of nodes in a pocket.
const LARGEST_POCKET: usize = 32;
/// Rounds of filling pockets.
const POCKET_ROUNDS: usize = 6;

/// Nodes outside of matter that have neighbours inside, each with its neighbours.
pub(crate) struct Border<'a, Inside> {
    is_inside: &'a Inside,
    /// Entries sorted by node and neighbour: a node, a neighbour, and the first node of the same tetrahedron that is on
    /// the neighbour's side.
    entries: Vec<[u32; 3]>,
}

impl<'a, Inside: Fn(u32) -> bool + Sync> Border<'a, Inside> {
    pub(crate) fn new(lattice: &Lattice, is_inside: &'a Inside) -> Self {
        let mut is_beside = vec![false; lattice.nodes.len()];
        for nodes in lattice.tetrahedra(|nodes| nodes.iter().any(|&node| is_inside(node))) {
            nodes.into_iter().for_each(|node| is_beside[node as usize] |= !is_inside(node));
        }
        let around = lattice.tetrahedra(|nodes| nodes.iter().any(|&node| is_beside[node as usize]));
        let is_beside = &is_beside;
        let of_tetrahedron = |&nodes: &[u32; 4]| {
            (0..4).filter(move |&k| is_beside[nodes[k] as usize]).flat_map(move |k| {
                let others = [1, 2, 3].map(|step| nodes[(k + step) % 4]);
                others.map(|other| {
                    let alike = others.into_iter().find(|&first| is_inside(first) == is_inside(other));
                    [nodes[k], other, alike.unwrap_or(other)]
                })
            })
        };
        let mut entries: Vec<[u32; 3]> = around.par_iter().flat_map_iter(of_tetrahedron).collect();
        entries.par_sort_unstable();
        Self { is_inside, entries }
    }

    /// Returns the nodes at which a tunnel is one node wide, in ascending order. More than a third of their neighbours
    /// are inside, and the neighbours outside are not connected around them, so that filling the node closes the
    /// tunnel. Slits are not found (the neighbours outside form a ring there), nor the mouths of tunnels and pits in a
    /// face (fewer neighbours are inside there).
    pub(crate) fn tunnels(&self) -> Vec<u32> {
        self.nodes(|neighbours| {
            let outside: Vec<[u32; 2]> =
                neighbours.iter().filter(|row| !(self.is_inside)(row[1])).map(|&[_, a, b]| [a, b]).collect();
            let (n_outside, n_pieces) = pieces(&outside);
            n_pieces > 1 && 2 * count(neighbours, self.is_inside)[0] > n_outside
        })
    }

    /// Returns the nodes of small pockets, in ascending order: the bottoms of pits and the
    /// narrow places of tunnels up to two nodes wide. More than half of their neighbours are inside or filled, and at
    /// most [`LARGEST_POCKET`] of them are connected. Slits and inner edges have such nodes too, but more of them in
    /// one piece. Pits are filled from their bottoms, in [`POCKET_ROUNDS`] rounds.
    pub(crate) fn pockets(&self) -> Vec<u32> {
        let mut filled: Vec<u32> = Vec::new();
        for _ in 0..POCKET_ROUNDS {
            let is_filled = |node: u32| filled.binary_search(&node).is_ok();
            let nodes = self.nodes(|neighbours| {
                let [n_inside, n] = count(neighbours, |node| (self.is_inside)(node) || is_filled(node));
                9 * n_inside > 5 * n && !is_filled(neighbours[0][0])
            });
            let found = self.small_pieces(&nodes);
            if found.is_empty() {
                break;
            }
            filled.extend(found);
            filled.sort_unstable();
        }
        filled
    }

    /// Returns those of the nodes, which are ascending, that are connected to few others.
    fn small_pieces(&self, nodes: &[u32]) -> Vec<u32> {
        let number = |node: u32| nodes.binary_search(&node).ok().map(|k| k as u32);
        let mut pieces = Components::new(nodes.len());
        for (k, &node) in nodes.iter().enumerate() {
            let first = self.entries.partition_point(|entry| entry[0] < node);
            let own = self.entries[first..].iter().take_while(|entry| entry[0] == node);
            pieces.join_all(k as u32, own.filter_map(|entry| number(entry[1])));
        }
        let piece: Vec<u32> = (0..nodes.len() as u32).map(|k| pieces.root(k)).collect();
        let mut sizes = vec![0; nodes.len()];
        piece.iter().for_each(|&k| sizes[k as usize] += 1);
        let is_small = |k: &usize| sizes[piece[*k] as usize] <= LARGEST_POCKET;
        (0..nodes.len()).filter(is_small).map(|k| nodes[k]).collect()
    }

    fn nodes(&self, is_found: impl Fn(&[[u32; 3]]) -> bool + Sync) -> Vec<u32> {
        let of_nodes: Vec<&[[u32; 3]]> = self.entries.chunk_by(|a, b| a[0] == b[0]).collect();
        of_nodes.par_iter().filter(|neighbours| is_found(neighbours)).map(|n| n[0][0]).collect()
    }
}

/// Returns how many of a node's neighbours are inside, and how many it has.
fn count(neighbours: &[[u32; 3]], is_inside: impl Fn(u32) -> bool) -> [usize; 2] {
    let each = neighbours.chunk_by(|a, b| a[1] == b[1]);
    each.fold([0, 0], |[inside, all], same| [inside + usize::from(is_inside(same[0][1])), all + 1])
}

/// Returns the number of nodes in connected pairs, and the number of pieces that they form.
fn pieces(pairs: &[[u32; 2]]) -> (usize, usize) {
    let mut nodes: Vec<u32> = pairs.iter().flatten().copied().collect();
    nodes.sort_unstable();
    nodes.dedup();
    let number = |node: u32| nodes.binary_search(&node).unwrap_or_default() as u32;
    let mut pieces = Components::new(nodes.len());
    pairs.iter().for_each(|&[a, b]| pieces.join(number(a), number(b)));
    (nodes.len(), pieces.n_sets())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lattice::Place;

    /// Returns the tunnels and the pockets of a plate of 20 × 20 × 5 nodes without those for which `is_gap` is true, by
    /// their positions in it.
    fn found(is_gap: impl Fn(Place) -> bool + Sync) -> [Vec<Place>; 2] {
        let place = |k: u32| [20 + k % 24, 20 + k / 24 % 24, 20 + k / 576];
        let lattice = Lattice::new((0..24 * 24 * 9).into_par_iter().map(place), 5);
        let at = |node: u32| lattice.nodes[node as usize].map(|x| x.wrapping_sub(22));
        let is_inside = |node: u32| {
            let [x, y, z] = at(node);
            x < 20 && y < 20 && z < 5 && !is_gap([x, y, z])
        };
        let border = Border::new(&lattice, &is_inside);
        [border.tunnels(), border.pockets()].map(|nodes| nodes.into_iter().map(at).collect())
    }

    #[test]
    fn only_narrow_tunnels_and_small_pockets_are_found() {
        let none = Vec::<Place>::new();
        assert_eq!(found(|_| false), [none.clone(), none.clone()]);
        // a straight tunnel through the plate: all its nodes are found, because any of them would close it
        let [tunnels, _] = found(|[x, y, _]| [x, y] == [9, 9]);
        assert_eq!(tunnels.len(), 5);
        // a pit is filled from its bottom
        let [tunnels, pockets] = found(|[x, y, z]| [x, y] == [9, 9] && z > 1);
        assert!(tunnels.len() < 3 && pockets.contains(&[9, 9, 2]), "{tunnels:?} {pockets:?}");
        let [_, pockets] = found(|[x, y, z]| (9..11).contains(&x) && (9..11).contains(&y) && z > 1);
        assert!(pockets.iter().any(|place| place[2] == 2), "{pockets:?}");
        // of wider tunnels at most some nodes at inner edges are found, of slits their ends
        let [tunnels, pockets] = found(|[x, y, _]| (8..12).contains(&x) && (8..12).contains(&y));
        let is_at_edge = |&[x, y, _]: &Place| [8, 11].contains(&x) && [8, 11].contains(&y);
        assert!(tunnels.is_empty() && pockets.iter().all(is_at_edge), "{pockets:?}");
        let [tunnels, pockets] = found(|[x, y, _]| x == 9 && (3..16).contains(&y));
        assert!(tunnels.is_empty() && pockets.iter().all(|place| [3, 15].contains(&place[1])), "{pockets:?}");
    }
}
