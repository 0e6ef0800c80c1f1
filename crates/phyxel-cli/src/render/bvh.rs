//! A bounding volume hierarchy: the tree that finds what a ray hits.
//!
//! Built by the surface-area heuristic over bins, in parallel over disjoint halves, so that the tree does not depend on
//! the number of threads. Nodes lie in depth-first order: the left child follows its parent.

use phyxel::math::glam::Vec3;

use super::bounds::Bounds;

/// Candidate cuts per node.
const N_BINS: usize = 16;
/// Primitives that are not worth another cut.
const LEAF_SIZE: usize = 3;
/// Depth after which cuts go through the middle, which bounds the depth of the tree.
const HEURISTIC_DEPTH: usize = 36;
/// 36 heuristic levels and at most 32 halvings of a 32-bit count stay below this.
const STACK_SIZE: usize = 72;
/// Below this a second thread does not pay.
const PARALLEL_SIZE: usize = 8192;

/// A straight line from a point into a direction.
pub(super) struct Ray {
    pub(super) origin: Vec3,
    /// Unit vector.
    pub(super) direction: Vec3,
    inverse: Vec3,
}

impl Ray {
    pub(super) fn new(origin: Vec3, direction: Vec3) -> Self {
        // Never a division by zero: 0 · ∞ in the box test would be NaN.
        let inverse = direction.to_array().map(|d| 1.0 / if d.abs() < 1e-18 { 1e-18 } else { d });
        Self { origin, direction, inverse: Vec3::from_array(inverse) }
    }

    pub(super) fn at(&self, distance: f32) -> Vec3 {
        self.origin + self.direction * distance
    }

    /// Where the ray enters the box, ∞ if it misses it or if that is beyond `reach`.
    #[inline]
    fn enters(&self, bounds: &Bounds, reach: f32) -> f32 {
        let low = (bounds.min - self.origin) * self.inverse;
        let high = (bounds.max - self.origin) * self.inverse;
        let near = low.min(high);
        let far = low.max(high);
        let enter = near.x.max(near.y).max(near.z.max(0.0));
        let leave = far.x.min(far.y).min(far.z.min(reach));
        if enter <= leave { enter } else { f32::INFINITY }
    }
}

/// What the tree can hold.
pub(super) trait Primitive: Copy + Send + Sync {
    fn bounds(&self) -> Bounds;
    /// Distance of the first hit in front of the ray's origin and below `reach`.
    fn intersect(&self, ray: &Ray, reach: f32) -> Option<f32>;
}

struct Node {
    bounds: Bounds,
    /// Leaf: first primitive. Inner node: distance to the right child.
    link: u32,
    /// Primitives of a leaf, 0 for an inner node.
    count: u32,
}

/// Primitives sorted into a tree.
pub(super) struct Bvh<P> {
    nodes: Vec<Node>,
    primitives: Vec<P>,
}

struct Entry<P> {
    bounds: Bounds,
    center: Vec3,
    primitive: P,
}

impl<P: Primitive> Bvh<P> {
    pub(super) fn build(primitives: Vec<P>) -> Self {
        let entry = |primitive: P| {
            let bounds = primitive.bounds();
            Entry { bounds, center: bounds.center(), primitive }
        };
        let mut entries: Vec<Entry<P>> = primitives.into_iter().map(entry).collect();
        let mut nodes = Vec::with_capacity(entries.len());
        if !entries.is_empty() {
            grow(&mut entries, 0, 0, &mut nodes);
        }
        Self { nodes, primitives: entries.into_iter().map(|entry| entry.primitive).collect() }
    }

    /// The nearest hit before `reach`: its distance and the primitive.
    pub(super) fn nearest(&self, ray: &Ray, reach: f32) -> Option<(f32, &P)> {
        let mut best = None;
        let mut limit = reach;
        self.traverse(ray, reach, |primitive, limit_of_nodes| {
            if let Some(distance) = primitive.intersect(ray, limit) {
                limit = distance;
                *limit_of_nodes = distance;
                best = Some((distance, primitive));
            }
            false
        });
        best
    }

    /// Whether anything is hit before `reach`.
    pub(super) fn is_blocked(&self, ray: &Ray, reach: f32) -> bool {
        let mut is_hit = false;
        self.traverse(ray, reach, |primitive, _| {
            is_hit = primitive.intersect(ray, reach).is_some();
            is_hit
        });
        is_hit
    }

    /// Visits the primitives along a ray, near nodes first; `visit` may lower the limit, and ends the walk with true.
    #[inline]
    fn traverse<'a>(&'a self, ray: &Ray, reach: f32, mut visit: impl FnMut(&'a P, &mut f32) -> bool) {
        let mut limit = reach;
        let Some(root) = self.nodes.first() else { return };
        if ray.enters(&root.bounds, limit) == f32::INFINITY {
            return;
        }
        let mut stack = [(0u32, 0.0f32); STACK_SIZE];
        let mut n_waiting = 0;
        let mut at = 0usize;
        loop {
            let node = &self.nodes[at];
            if node.count > 0 {
                let first = node.link as usize;
                for primitive in &self.primitives[first..first + node.count as usize] {
                    if visit(primitive, &mut limit) {
                        return;
                    }
                }
            } else {
                let (left, right) = (at + 1, at + node.link as usize);
                let enter_left = ray.enters(&self.nodes[left].bounds, limit);
                let enter_right = ray.enters(&self.nodes[right].bounds, limit);
                let (near, far, enter_near, enter_far) = if enter_left <= enter_right {
                    (left, right, enter_left, enter_right)
                } else {
                    (right, left, enter_right, enter_left)
                };
                if enter_near < f32::INFINITY {
                    if enter_far < f32::INFINITY {
                        stack[n_waiting] = (far as u32, enter_far);
                        n_waiting += 1;
                    }
                    at = near;
                    continue;
                }
            }
            loop {
                if n_waiting == 0 {
                    return;
                }
                n_waiting -= 1;
                let (node, enter) = stack[n_waiting];
                if enter <= limit {
                    at = node as usize;
                    break;
                }
            }
        }
    }
}

/// Appends the subtree of `entries`, whose first primitive has the index `base`.
fn grow<P: Primitive>(entries: &mut [Entry<P>], base: usize, depth: usize, nodes: &mut Vec<Node>) {
    let all = entries.iter().fold(Bounds::EMPTY, |all, entry| all.union(entry.bounds));
    let place = nodes.len();
    nodes.push(Node { bounds: all, link: base as u32, count: entries.len() as u32 });
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

/// Sorts the entries to both sides of the best cut, and returns how many are left of it: never none, never all.
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

/// The last bin of the left side in the cut with the least expected cost.
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

#[cfg(test)]
mod tests {
    use phyxel::math::glam::vec3;

    use super::super::sampling::hashed_unit;
    use super::super::shapes::Ball;
    use super::*;

    fn cloud(n_balls: usize, spread: f32) -> Vec<Ball> {
        let unit = |k: usize| hashed_unit(k as u32) * 2.0 - 1.0;
        (0..n_balls)
            .map(|k| Ball {
                center: vec3(unit(3 * k), unit(3 * k + 1), unit(3 * k + 2)) * spread,
                radius: 0.02 + 0.03 * unit(7 * k).abs(),
                color: [(k % 256) as u8, (k / 256) as u8, 0],
            })
            .collect()
    }

    #[test]
    fn finds_the_same_hits_as_trying_all() {
        for (n_balls, spread) in [(1, 1.0), (2, 1.0), (700, 1.0), (500, 0.0), (10_000, 1.0)] {
            let balls = cloud(n_balls, spread);
            let tree = Bvh::build(balls.clone());
            let mut n_hits = 0;
            for k in 0..300u32 {
                let unit = |i: u32| hashed_unit(100_000 + 5 * k + i) * 2.0 - 1.0;
                let aimed_at = balls[k as usize % n_balls].center;
                let target = aimed_at + vec3(unit(2), unit(3), unit(4)) * 0.05;
                let origin = vec3(3.0 * unit(0), 3.0 * unit(1), 3.0);
                let ray = Ray::new(origin, (target - origin).normalize());
                for reach in [f32::INFINITY, 2.5] {
                    let expected = balls
                        .iter()
                        .filter_map(|ball| ball.intersect(&ray, reach))
                        .fold(f32::INFINITY, f32::min);
                    let found = tree.nearest(&ray, reach).map_or(f32::INFINITY, |hit| hit.0);
                    assert_eq!(found, expected);
                    assert_eq!(tree.is_blocked(&ray, reach), expected < f32::INFINITY);
                    n_hits += usize::from(expected < f32::INFINITY);
                }
            }
            assert!(n_hits > 0);
        }
    }

    #[test]
    fn an_empty_tree_is_never_hit() {
        let tree = Bvh::<Ball>::build(Vec::new());
        assert!(tree.nearest(&Ray::new(Vec3::ZERO, Vec3::X), f32::INFINITY).is_none());
    }
}
