//! Tunnels through matter that are one node of the lattice wide: gaps between particles, narrower than their spacing.

use crate::lattice::Lattice;
use phyxel::neighbors::Components;
use rayon::prelude::*;

/// Returns the nodes outside of matter at which a tunnel is one node wide, in ascending order. More than a third of
/// their neighbours are inside, and the neighbours outside are not connected around them, so that filling the node
/// closes the tunnel. Slits are not found (the neighbours outside form a ring there), nor the mouths of tunnels and
/// pits in a face (fewer neighbours are inside there).
pub(crate) fn narrowest(lattice: &Lattice, is_inside: impl Fn(u32) -> bool + Sync) -> Vec<u32> {
    let mut is_beside = vec![false; lattice.nodes.len()];
    for nodes in lattice.tetrahedra(|nodes| nodes.iter().any(|&node| is_inside(node))) {
        nodes.into_iter().for_each(|node| is_beside[node as usize] |= !is_inside(node));
    }
    let around = lattice.tetrahedra(|nodes| nodes.iter().any(|&node| is_beside[node as usize]));
    let (is_beside, is_inside) = (&is_beside, &is_inside);
    // each entry: a node, a neighbour, and the first node of the same tetrahedron that is on the neighbour's side
    let neighbours = |&nodes: &[u32; 4]| {
        (0..4).filter(move |&k| is_beside[nodes[k] as usize]).flat_map(move |k| {
            let others = [1, 2, 3].map(|step| nodes[(k + step) % 4]);
            others.map(|other| {
                let alike = others.into_iter().find(|&first| is_inside(first) == is_inside(other));
                [nodes[k], other, alike.unwrap_or(other)]
            })
        })
    };
    let mut neighbours: Vec<[u32; 3]> = around.par_iter().flat_map_iter(neighbours).collect();
    neighbours.par_sort_unstable();
    let of_nodes: Vec<&[[u32; 3]]> = neighbours.chunk_by(|a, b| a[0] == b[0]).collect();
    let is_narrow = |neighbours: &&&[[u32; 3]]| {
        let n_inside = neighbours.chunk_by(|a, b| a[1] == b[1]).filter(|same| is_inside(same[0][1])).count();
        let outside: Vec<[u32; 2]> =
            neighbours.iter().filter(|row| !is_inside(row[1])).map(|&[_, a, b]| [a, b]).collect();
        let (n_outside, n_pieces) = pieces(&outside);
        n_pieces > 1 && 2 * n_inside > n_outside
    };
    of_nodes.par_iter().filter(is_narrow).map(|neighbours| neighbours[0][0]).collect()
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

    /// Tests a plate of 20 × 20 × 5 nodes without those for which `is_gap` is true, by their positions in it.
    fn found(is_gap: impl Fn(Place) -> bool + Sync) -> Vec<Place> {
        let place = |k: u32| [20 + k % 24, 20 + k / 24 % 24, 20 + k / 576];
        let lattice = Lattice::new((0..24 * 24 * 9).into_par_iter().map(place), 5);
        let at = |node: u32| lattice.nodes[node as usize].map(|x| x.wrapping_sub(22));
        let is_inside = |node: u32| {
            let [x, y, z] = at(node);
            x < 20 && y < 20 && z < 5 && !is_gap([x, y, z])
        };
        narrowest(&lattice, is_inside).into_iter().map(at).collect()
    }

    #[test]
    fn only_tunnels_of_one_node_are_found() {
        assert_eq!(found(|_| false), Vec::<Place>::new());
        // a straight tunnel through the plate: all its nodes are found, because any of them would close it
        assert_eq!(found(|[x, y, _]| [x, y] == [9, 9]).len(), 5);
        // wider tunnels, slits and pits are not found
        assert!(found(|[x, y, _]| (8..12).contains(&x) && (8..12).contains(&y)).is_empty());
        assert!(found(|[x, y, _]| x == 9 && (3..16).contains(&y)).is_empty());
        assert!(found(|[x, y, z]| [x, y] == [9, 9] && z > 3).is_empty());
    }
}
