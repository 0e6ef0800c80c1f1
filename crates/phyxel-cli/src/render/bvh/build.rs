//! Construction of the tree from primitives.

use phyxel::math::glam::Vec3;

use super::super::bounds::Bounds;
use super::{Node, Primitive, WIDTH};

/// Number of bins that are candidate cuts of a node.
const N_BINS: usize = 16;
/// Largest number of primitives that is not worth another cut.
const LEAF_SIZE: usize = 3;
/// Depth after which cuts go through the middle, which bounds the depth of the tree.
const HEURISTIC_DEPTH: usize = 36;
/// Number of primitives below which a second thread does not pay.
const PARALLEL_SIZE: usize = 8192;

/// Node of the binary tree from which the tree with four children per node is made. The left child follows its parent.
struct Half {
    bounds: Bounds,
    /// Leaf: first primitive. Inner node: distance to the right child.
    link: u32,
    /// Primitives of a leaf, 0 for an inner node.
    count: u32,
}

struct Entry<P> {
    bounds: Bounds,
    center: Vec3,
    primitive: P,
}

/// Returns the nodes of the tree, the root first, and the primitives in the order of its leaves.
pub(super) fn build<P: Primitive>(primitives: Vec<P>) -> (Vec<Node>, Vec<P>) {
    let entry = |primitive: P| {
        let bounds = primitive.bounds();
        Entry { bounds, center: bounds.center(), primitive }
    };
    let mut entries: Vec<Entry<P>> = primitives.into_iter().map(entry).collect();
    let mut nodes = Vec::new();
    if !entries.is_empty() {
        let mut halves = Vec::with_capacity(entries.len());
        grow(&mut entries, 0, 0, &mut halves);
        gather(&halves, 0, &mut nodes);
    }
    (nodes, entries.into_iter().map(|entry| entry.primitive).collect())
}

/// Turns a subtree of the binary tree into nodes of up to four children; returns the index of its root.
fn gather(halves: &[Half], top: usize, nodes: &mut Vec<Node>) -> u32 {
    let mut children = vec![top];
    while children.len() < WIDTH {
        // The largest box is entered most often, so it is the one to open.
        let open = (0..children.len()).filter(|&k| halves[children[k]].count == 0).max_by(|&a, &b| {
            halves[children[a]].bounds.half_area().total_cmp(&halves[children[b]].bounds.half_area())
        });
        let Some(open) = open else { break };
        let half = children.swap_remove(open);
        children.extend([half + 1, half + halves[half].link as usize]);
    }
    let place = nodes.len();
    let nowhere = [[f32::INFINITY; WIDTH], [f32::NEG_INFINITY; WIDTH]];
    nodes.push(Node { faces: [nowhere; 3], links: [0; WIDTH], counts: [0; WIDTH] });
    for (lane, &child) in children.iter().enumerate() {
        let half = &halves[child];
        let link = if half.count > 0 { half.link } else { gather(halves, child, nodes) };
        let node = &mut nodes[place];
        (node.links[lane], node.counts[lane]) = (link, half.count);
        for axis in 0..3 {
            node.faces[axis][0][lane] = half.bounds.min[axis];
            node.faces[axis][1][lane] = half.bounds.max[axis];
        }
    }
    place as u32
}

/// Appends the subtree of `entries`, whose first primitive has the index `base`.
fn grow<P: Primitive>(entries: &mut [Entry<P>], base: usize, depth: usize, nodes: &mut Vec<Half>) {
    let all = entries.iter().fold(Bounds::EMPTY, |all, entry| all.union(entry.bounds));
    let place = nodes.len();
    nodes.push(Half { bounds: all, link: base as u32, count: entries.len() as u32 });
    if entries.len() <= LEAF_SIZE {
        return;
    }
    let middle = cut(entries, depth);
    let (left, right) = entries.split_at_mut(middle);
    if left.len() + right.len() >= PARALLEL_SIZE {
        let (mut left_nodes, mut right_nodes) = (Vec::new(), Vec::new());
        rayon::join(
            || grow(left, base, depth + 1, &mut left_nodes),
            || grow(right, base + middle, depth + 1, &mut right_nodes),
        );
        nodes.append(&mut left_nodes);
        nodes[place].link = (nodes.len() - place) as u32;
        nodes.append(&mut right_nodes);
    } else {
        grow(left, base, depth + 1, nodes);
        nodes[place].link = (nodes.len() - place) as u32;
        grow(right, base + middle, depth + 1, nodes);
    }
    nodes[place].count = 0;
}

/// Sorts the entries to both sides of the best cut, and returns the number at the left: at least one, never all.
fn cut<P: Primitive>(entries: &mut [Entry<P>], depth: usize) -> usize {
    let half = entries.len() / 2;
    let (low, high) = entries
        .iter()
        .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), e| (low.min(e.center), high.max(e.center)));
    let extent = high - low;
    let axis = extent.max_position();
    let scale = N_BINS as f32 / extent[axis];
    if depth < HEURISTIC_DEPTH && scale.is_finite() {
        let bin_of = |center: Vec3| (((center[axis] - low[axis]) * scale) as usize).min(N_BINS - 1);
        let best = best_bin(entries, bin_of);
        let mut middle = 0;
        for k in 0..entries.len() {
            if bin_of(entries[k].center) <= best {
                entries.swap(k, middle);
                middle += 1;
            }
        }
        if middle > 0 && middle < entries.len() {
            return middle;
        }
    }
    entries.select_nth_unstable_by(half, |a, b| a.center[axis].total_cmp(&b.center[axis]));
    half
}

/// Returns the last bin of the left side in the cut with the least expected cost.
fn best_bin<P>(entries: &[Entry<P>], bin_of: impl Fn(Vec3) -> usize) -> usize {
    let mut bins = [(Bounds::EMPTY, 0usize); N_BINS];
    for entry in entries {
        let bin = &mut bins[bin_of(entry.center)];
        bin.0 = bin.0.union(entry.bounds);
        bin.1 += 1;
    }
    let mut right_cost = [0.0f32; N_BINS];
    let mut sweep = (Bounds::EMPTY, 0usize);
    for k in (1..N_BINS).rev() {
        sweep = (sweep.0.union(bins[k].0), sweep.1 + bins[k].1);
        right_cost[k - 1] = sweep.0.half_area() * sweep.1 as f32;
    }
    let mut best = (f32::INFINITY, N_BINS / 2);
    sweep = (Bounds::EMPTY, 0);
    for k in 0..N_BINS - 1 {
        sweep = (sweep.0.union(bins[k].0), sweep.1 + bins[k].1);
        let cost = sweep.0.half_area() * sweep.1 as f32 + right_cost[k];
        if cost < best.0 {
            best = (cost, k);
        }
    }
    best.1
}
