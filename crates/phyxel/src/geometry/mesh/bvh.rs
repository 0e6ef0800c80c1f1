//! Bounding volume hierarchy: a binary tree of boxes over the triangles, split at the median to limit its depth.

use super::super::aabb::Aabb;
use super::{ClosestPoint, triangle};
use crate::math::{Real, Vec3};

/// Largest number of triangles in a leaf.
const LEAF_SIZE: usize = 4;
/// Largest number of nodes that wait during a search: one per level, and 2³² triangles make 31 levels.
const STACK_SIZE: usize = 64;

#[derive(Clone, Debug)]
pub(super) struct Node {
    bounds: Aabb,
    /// First triangle of a leaf in `Bvh::corners`, or the second child of an inner node (the first follows its parent).
    first: u32,
    /// Number of triangles; 0 in inner nodes.
    count: u32,
}

/// Kind of a node: a leaf with its range of triangles, or an inner node with its children.
pub(super) enum Kind {
    Leaf(std::ops::Range<usize>),
    Inner([usize; 2]),
}

#[derive(Clone, Debug)]
pub(super) struct Bvh {
    nodes: Vec<Node>,
    /// Triangle numbers in the order of the leaves.
    order: Vec<u32>,
    /// Corners of the triangles in the same order.
    pub(super) corners: Vec<[Vec3; 3]>,
}

impl Bvh {
    /// Builds a tree over at least one triangle; triangles that are lines are allowed.
    pub(super) fn new(corners: Vec<[Vec3; 3]>) -> Self {
        let n_triangles = corners.len();
        let centers: Vec<Vec3> = corners.iter().map(|[a, b, c]| (*a + *b + *c) / 3.0).collect();
        let mut order: Vec<u32> = (0..n_triangles as u32).collect();
        let mut nodes = Vec::with_capacity(n_triangles);
        build(&mut nodes, &mut order, 0, &corners, &centers);
        let corners = order.iter().map(|&triangle| corners[triangle as usize]).collect();
        Self { nodes, order, corners }
    }

    pub(super) fn bounds(&self) -> &Aabb {
        &self.nodes[0].bounds
    }

    pub(super) fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn kind(&self, node: usize) -> Kind {
        let Node { first, count, .. } = self.nodes[node];
        match count {
            0 => Kind::Inner([node + 1, first as usize]),
            _ => Kind::Leaf(first as usize..(first + count) as usize),
        }
    }

    pub(super) fn closest(&self, p: Vec3, max_distance: Real) -> Option<ClosestPoint> {
        let mut best_squared = max_distance * max_distance;
        let mut best = None;
        let mut stack = [(0usize, 0.0 as Real); STACK_SIZE];
        stack[0] = (0, self.nodes[0].bounds.distance_squared(p));
        let mut n_waiting = 1;
        while n_waiting > 0 {
            n_waiting -= 1;
            let (node, bound) = stack[n_waiting];
            if bound > best_squared {
                continue;
            }
            match self.kind(node) {
                Kind::Leaf(range) => {
                    for slot in range {
                        let point = triangle::closest_point(p, &self.corners[slot]);
                        let distance_squared = point.distance_squared(p);
                        if distance_squared < best_squared
                            || (best.is_none() && distance_squared <= best_squared)
                        {
                            best_squared = distance_squared;
                            best = Some((slot, point));
                        }
                    }
                }
                Kind::Inner(children) => {
                    let bounds = children.map(|child| self.nodes[child].bounds.distance_squared(p));
                    let near = usize::from(bounds[1] < bounds[0]);
                    // the nearer child is pushed last and so searched first
                    for child in [1 - near, near] {
                        if bounds[child] <= best_squared {
                            stack[n_waiting] = (children[child], bounds[child]);
                            n_waiting += 1;
                        }
                    }
                }
            }
        }
        best.map(|(slot, point)| ClosestPoint {
            point,
            triangle: self.order[slot] as usize,
            distance: best_squared.sqrt(),
        })
    }
}

/// Appends the tree over `order`, which is the part of the whole order that starts at `offset`.
fn build(nodes: &mut Vec<Node>, order: &mut [u32], offset: usize, corners: &[[Vec3; 3]], centers: &[Vec3]) {
    let bounds = Aabb::from_points(order.iter().flat_map(|&triangle| corners[triangle as usize]));
    let node = nodes.len();
    nodes.push(Node { bounds, first: offset as u32, count: order.len() as u32 });
    if order.len() <= LEAF_SIZE {
        return;
    }
    let spread = Aabb::from_points(order.iter().map(|&triangle| centers[triangle as usize])).size();
    let widest = spread.max_element();
    let axis = (0..3).find(|&axis| spread[axis] == widest).unwrap_or(0);
    let middle = order.len() / 2;
    order.select_nth_unstable_by(middle, |&a, &b| {
        centers[a as usize][axis].total_cmp(&centers[b as usize][axis]).then(a.cmp(&b))
    });
    let (left, right) = order.split_at_mut(middle);
    build(nodes, left, offset, corners, centers);
    let second = nodes.len() as u32;
    build(nodes, right, offset + middle, corners, centers);
    nodes[node].first = second;
    nodes[node].count = 0;
}
