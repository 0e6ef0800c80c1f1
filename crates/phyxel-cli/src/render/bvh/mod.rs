//! A bounding volume hierarchy: the tree that finds the primitives that a ray hits.
//!
//! The tree is built by the surface-area heuristic over bins, in parallel over disjoint halves, so that it does not
//! depend on the number of threads; then pairs of levels are merged, so that one node has four children.

mod build;

use phyxel::math::glam::Vec3;

use super::bounds::Bounds;

/// Number of children of a node: one vector instruction tests them all.
const WIDTH: usize = 4;
/// Largest number of waiting boxes: `build` makes 36 heuristic levels and at most 32 halvings of a 32-bit count;
/// each level leaves at most three boxes waiting.
const STACK_SIZE: usize = 3 * 68 + 2;

/// A straight line from a point into a direction.
pub(super) struct Ray {
    pub(super) origin: Vec3,
    /// Unit vector.
    pub(super) direction: Vec3,
    inverse: [f32; 3],
    /// Face of a box that the ray meets first on each axis: 0 the lower, 1 the upper.
    first_face: [usize; 3],
}

impl Ray {
    pub(super) fn new(origin: Vec3, direction: Vec3) -> Self {
        // Division by zero is avoided: 0 · ∞ in the box test would be NaN.
        let inverse = direction.to_array().map(|d| 1.0 / if d.abs() < 1e-18 { 1e-18 } else { d });
        Self { origin, direction, inverse, first_face: inverse.map(|i| usize::from(i < 0.0)) }
    }

    pub(super) fn at(&self, distance: f32) -> Vec3 {
        self.origin + self.direction * distance
    }

    /// Returns the distances at which the ray enters four boxes; ∞ for a box that it misses or meets beyond `reach`.
    #[inline(always)]
    fn enters(&self, faces: &Faces, reach: f32) -> [f32; WIDTH] {
        let mut enter = [0.0f32; WIDTH];
        let mut leave = [reach; WIDTH];
        for axis in 0..3 {
            let near = &faces[axis][self.first_face[axis]];
            let far = &faces[axis][1 - self.first_face[axis]];
            let (origin, inverse) = (self.origin[axis], self.inverse[axis]);
            for lane in 0..WIDTH {
                let (enters, leaves) = ((near[lane] - origin) * inverse, (far[lane] - origin) * inverse);
                // Plain comparisons become one vector instruction; f32::max would also handle NaN.
                enter[lane] = if enters > enter[lane] { enters } else { enter[lane] };
                leave[lane] = if leaves < leave[lane] { leaves } else { leave[lane] };
            }
        }
        for lane in 0..WIDTH {
            enter[lane] = if enter[lane] <= leave[lane] { enter[lane] } else { f32::INFINITY };
        }
        enter
    }
}

/// Object that the tree can hold.
pub(super) trait Primitive: Copy + Send + Sync {
    fn bounds(&self) -> Bounds;
    /// Returns the distance of the first hit in front of the ray's origin and below `reach`.
    fn intersect(&self, ray: &Ray, reach: f32) -> Option<f32>;
}

/// Lower and upper faces of four boxes on each axis.
type Faces = [[[f32; WIDTH]; 2]; 3];

/// Four children with their boxes and contents.
struct Node {
    faces: Faces,
    /// Leaf: index of the first primitive. Inner node: index of the node.
    links: [u32; WIDTH],
    /// Number of primitives of a leaf, 0 for an inner node or an empty child.
    counts: [u32; WIDTH],
}

/// Primitives sorted into a tree.
pub(super) struct Bvh<P> {
    nodes: Vec<Node>,
    primitives: Vec<P>,
}

impl<P: Primitive> Bvh<P> {
    pub(super) fn build(primitives: Vec<P>) -> Self {
        let (nodes, primitives) = build::build(primitives);
        Self { nodes, primitives }
    }

    /// Returns the distance and the primitive of the nearest hit before `reach`.
    pub(super) fn nearest(&self, ray: &Ray, reach: f32, stack: &mut Stack) -> Option<(f32, &P)> {
        let mut best = None;
        let mut limit = reach;
        self.traverse(ray, reach, stack, |primitive, limit_of_nodes| {
            if let Some(distance) = primitive.intersect(ray, limit) {
                limit = distance;
                *limit_of_nodes = distance;
                best = Some((distance, primitive));
            }
            false
        });
        best
    }

    /// Returns true if anything is hit before `reach`.
    pub(super) fn is_blocked(&self, ray: &Ray, reach: f32, stack: &mut Stack) -> bool {
        let mut is_hit = false;
        self.traverse(ray, reach, stack, |primitive, _| {
            is_hit = primitive.intersect(ray, reach).is_some();
            is_hit
        });
        is_hit
    }

    /// Visits the primitives along a ray, near boxes first. `visit` may lower the limit, and returns true to end.
    #[inline]
    fn traverse<'a>(
        &'a self,
        ray: &Ray,
        reach: f32,
        Stack(stack): &mut Stack,
        mut visit: impl FnMut(&'a P, &mut f32) -> bool,
    ) {
        if self.nodes.is_empty() {
            return;
        }
        let mut limit = reach;
        stack[0] = Waiting::default();
        let mut n_waiting = 1;
        while n_waiting > 0 {
            n_waiting -= 1;
            let Waiting { link, count, enter } = stack[n_waiting];
            if enter > limit {
                continue;
            }
            if count > 0 {
                for primitive in &self.primitives[link as usize..(link + count) as usize] {
                    if visit(primitive, &mut limit) {
                        return;
                    }
                }
                continue;
            }
            let node = &self.nodes[link as usize];
            let enters = ray.enters(&node.faces, limit);
            let bottom = n_waiting;
            for lane in 0..WIDTH {
                if enters[lane] == f32::INFINITY {
                    continue;
                }
                // Insertion keeps the nearest on top.
                let child = Waiting { link: node.links[lane], count: node.counts[lane], enter: enters[lane] };
                let mut place = n_waiting;
                while place > bottom && stack[place - 1].enter < child.enter {
                    stack[place] = stack[place - 1];
                    place -= 1;
                }
                stack[place] = child;
                n_waiting += 1;
            }
        }
    }
}

/// Box that the ray enters and that was not examined yet.
#[derive(Clone, Copy, Default)]
struct Waiting {
    link: u32,
    count: u32,
    enter: f32,
}

/// Working memory of a walk. Clearing it for every ray would take a quarter of the time of a picture.
pub(super) struct Stack([Waiting; STACK_SIZE]);

impl Stack {
    pub(super) fn new() -> Self {
        Self([Waiting::default(); STACK_SIZE])
    }
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
            let mut stack = Stack::new();
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
                    let found = tree.nearest(&ray, reach, &mut stack).map_or(f32::INFINITY, |hit| hit.0);
                    assert_eq!(found, expected);
                    assert_eq!(tree.is_blocked(&ray, reach, &mut stack), expected < f32::INFINITY);
                    n_hits += usize::from(expected < f32::INFINITY);
                }
            }
            assert!(n_hits > 0);
        }
    }

    #[test]
    fn an_empty_tree_is_never_hit() {
        let tree = Bvh::<Ball>::build(Vec::new());
        assert!(tree.nearest(&Ray::new(Vec3::ZERO, Vec3::X), f32::INFINITY, &mut Stack::new()).is_none());
    }
}
