//! Signed distance stored on a regular grid: a fast replacement for shapes with slow queries, such as meshes.
//!
//! Far from the surface, where queries are slowest and nobody needs every node, blocks of cells are interpolated from
//! their corners.

use rayon::prelude::*;

use super::aabb::Aabb;
use super::shape::Shape;
use crate::math::{Fnv, Real, Vec3, vec3};
use std::fmt::{Debug, Write};

/// Signed distance of a shape on the nodes of a grid in the shape's own frame, interpolated trilinearly.
#[derive(Clone, Debug)]
pub struct DistanceGrid {
    origin: Vec3,
    cell_size: Real,
    /// Number of nodes along each axis.
    counts: [usize; 3],
    /// Distances at the nodes, x fastest, z slowest; single precision to save memory.
    values: Vec<f32>,
    /// Bounding box of the shape itself, without margin.
    shape_bounds: Aabb,
}

/// Reason why a distance grid cannot be computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DistanceGridError {
    /// The shape is infinite.
    #[error("an infinite shape has no distance grid")]
    Infinite,
    /// The cell size or the margin is invalid.
    #[error(
        "the cell size must be positive and the margin not negative, both finite: got {cell_size} and {margin}"
    )]
    BadSize {
        /// Requested cell size (m).
        cell_size: Real,
        /// Requested margin (m).
        margin: Real,
    },
}

/// A place that keeps the nodes of grids between runs: computing them takes seconds.
pub trait GridStore: Debug + Send + Sync {
    /// Returns the values that were kept under a key.
    fn load(&self, key: u64) -> Option<Vec<f32>>;

    /// Keeps values under a key, if possible.
    fn keep(&self, key: u64, values: &[f32]);
}

/// Keeps nothing.
#[derive(Clone, Copy, Debug)]
pub struct NoStore;

impl GridStore for NoStore {
    fn load(&self, _key: u64) -> Option<Vec<f32>> {
        None
    }

    fn keep(&self, _key: u64, _values: &[f32]) {}
}

/// Number of this way to compute nodes; one that gives other values must have another number.
const WAY: u64 = 1;

impl DistanceGrid {
    /// Computes the grid of a shape. It extends beyond the shape by `margin` and one more cell. If that takes more than
    /// `max_nodes` nodes of 4 bytes, the cells are enlarged until it fits; [`DistanceGrid::cell_size`] returns the size
    /// used. Nodes are exact up to the distance `exact` and eight cells from the surface of a closed shape; farther ones
    /// have the right sign and may be nearer to 0 than the true distance, by up to seven cells. Nodes that are in the
    /// store are not computed.
    pub fn bake(
        shape: &Shape,
        cell_size: Real,
        margin: Real,
        exact: Real,
        max_nodes: usize,
        store: &dyn GridStore,
    ) -> Result<Self, DistanceGridError> {
        if !(cell_size > 0.0 && margin >= 0.0 && (cell_size + margin).is_finite()) {
            return Err(DistanceGridError::BadSize { cell_size, margin });
        }
        let shape_bounds = shape.bounds().ok_or(DistanceGridError::Infinite)?;
        let bounds = shape_bounds.grown(margin);
        let mut cell_size = cell_size;
        let n_nodes = |cell_size: Real| node_counts(&bounds, cell_size).element_product();
        while n_nodes(cell_size) > max_nodes.max(64) as Real {
            cell_size *= 1.05;
        }
        let counts = node_counts(&bounds, cell_size);
        let origin = bounds.center() - 0.5 * cell_size * (counts - Vec3::ONE);
        let counts = [counts.x as usize, counts.y as usize, counts.z as usize];
        let n_nodes = counts[0] * counts[1] * counts[2];
        let key = key(shape, cell_size, margin, exact);
        if let Some(values) = store.load(key).filter(|values| values.len() == n_nodes) {
            return Ok(Self { origin, cell_size, counts, values, shape_bounds });
        }
        let nodes = Nodes { shape, origin, cell_size };
        // at a hole, the sign changes far from any surface, which corners of blocks may not show
        let mut is_closed = true;
        shape.visit_meshes(&mut |mesh| is_closed &= mesh.is_closed());
        let blocks = is_closed.then(|| Blocks::new(&nodes, counts, exact));
        let rows: Vec<Vec<f32>> = (0..counts[1] * counts[2])
            .into_par_iter()
            .map(|row| {
                let mut walk = Walk::new(&nodes);
                let node = |x: usize| [x, row % counts[1], row / counts[1]];
                let far = |x: usize| blocks.as_ref().and_then(|blocks| blocks.far_value(node(x)));
                (0..counts[0]).map(|x| far(x).unwrap_or_else(|| walk.value(node(x)))).collect()
            })
            .collect();
        let values = rows.concat();
        store.keep(key, &values);
        Ok(Self { origin, cell_size, counts, values, shape_bounds })
    }

    /// Returns the edge of a cell (m); larger than requested if the limit on nodes required it.
    pub fn cell_size(&self) -> Real {
        self.cell_size
    }

    /// Returns the number of stored values.
    pub fn n_nodes(&self) -> usize {
        self.values.len()
    }

    /// Returns the box in which values are interpolated.
    pub fn bounds(&self) -> Aabb {
        let n_cells =
            vec3((self.counts[0] - 1) as Real, (self.counts[1] - 1) as Real, (self.counts[2] - 1) as Real);
        Aabb { min: self.origin, max: self.origin + self.cell_size * n_cells }
    }

    /// Returns the signed distance; outside of the grid, that to the shape's box: positive, never above the true one.
    pub fn signed_distance(&self, p: Vec3) -> Real {
        self.signed_distance_and_gradient(p).0
    }

    /// Returns the signed distance and its gradient, which is not a unit vector: shorter near edges and medial axes.
    pub fn signed_distance_and_gradient(&self, p: Vec3) -> (Real, Vec3) {
        let Some((base, part)) = self.cell(p) else {
            let nearest = p.clamp(self.shape_bounds.min, self.shape_bounds.max);
            let distance = p.distance(nearest);
            return (distance, (p - nearest).try_normalize().unwrap_or(Vec3::Y));
        };
        let stride = [1, self.counts[0], self.counts[0] * self.counts[1]];
        let corner = |x: usize, y: usize, z: usize| {
            Real::from(self.values[base + x * stride[0] + y * stride[1] + z * stride[2]])
        };
        let mix = |a: Real, b: Real, t: Real| a + t * (b - a);
        // interpolation along x on the four edges of the cell, then along y, then along z
        let edges = [[0, 0], [1, 0], [0, 1], [1, 1]].map(|[y, z]| (corner(0, y, z), corner(1, y, z)));
        let on_x = edges.map(|(low, high)| mix(low, high, part.x));
        let slopes = edges.map(|(low, high)| high - low);
        let on_y = [mix(on_x[0], on_x[1], part.y), mix(on_x[2], on_x[3], part.y)];
        let gradient = vec3(
            mix(mix(slopes[0], slopes[1], part.y), mix(slopes[2], slopes[3], part.y), part.z),
            mix(on_x[1] - on_x[0], on_x[3] - on_x[2], part.z),
            on_y[1] - on_y[0],
        );
        (mix(on_y[0], on_y[1], part.z), gradient / self.cell_size)
    }

    /// Returns the first node of the cell that holds a point, and the position in the cell from 0 to 1; `None` outside
    /// of the grid.
    fn cell(&self, p: Vec3) -> Option<(usize, Vec3)> {
        let place = (p - self.origin) / self.cell_size;
        let last =
            vec3((self.counts[0] - 1) as Real, (self.counts[1] - 1) as Real, (self.counts[2] - 1) as Real);
        if !(place.cmpge(Vec3::ZERO).all() && place.cmple(last).all()) {
            return None;
        }
        let index = place.floor().min(last - Vec3::ONE);
        let base = index.x as usize + self.counts[0] * (index.y as usize + self.counts[1] * index.z as usize);
        Some((base, place - index))
    }
}

/// Returns a key of everything that nodes depend on.
fn key(shape: &Shape, cell_size: Real, margin: Real, exact: Real) -> u64 {
    let mut digest = Fnv::default();
    write!(digest, "{WAY} {cell_size:?} {margin:?} {exact:?} {shape:?}").expect("a digest takes any text");
    shape.visit_meshes(&mut |mesh| {
        let coordinates = mesh.vertices().iter().flat_map(Vec3::to_array);
        coordinates.for_each(|x| digest.add(&x.to_le_bytes()));
        mesh.triangles().iter().flatten().for_each(|vertex| digest.add(&vertex.to_le_bytes()));
    });
    digest.0
}

/// Returns the number of nodes along each axis, with at least one cell beyond the bounds.
fn node_counts(bounds: &Aabb, cell_size: Real) -> Vec3 {
    (bounds.size() / cell_size).ceil() + Vec3::splat(3.0)
}

/// Nodes of a grid and the shape whose distances they get.
struct Nodes<'a> {
    shape: &'a Shape,
    origin: Vec3,
    cell_size: Real,
}

/// A walk from node to node. The nearest triangle of the previous node limits the search, and the sign is only computed
/// anew when the walk leaves the ball in which it cannot change.
struct Walk<'a> {
    nodes: &'a Nodes<'a>,
    last: Vec3,
    triangle: usize,
    same_sign_for: Real,
    sign: Real,
}

impl<'a> Walk<'a> {
    fn new(nodes: &'a Nodes<'a>) -> Self {
        Self { nodes, last: nodes.origin, triangle: 0, same_sign_for: 0.0, sign: 1.0 }
    }

    /// Returns the distance at a node.
    fn value(&mut self, [x, y, z]: [usize; 3]) -> f32 {
        let Nodes { shape, origin, cell_size } = *self.nodes;
        let position = origin + cell_size * vec3(x as Real, y as Real, z as Real);
        let Shape::Mesh(mesh) = shape else { return shape.signed_distance(position) as f32 };
        let closest = mesh.closest_point_near(position, self.triangle);
        self.triangle = closest.triangle;
        self.same_sign_for -= position.distance(self.last);
        self.last = position;
        if self.same_sign_for <= 0.0 {
            let clearance = mesh.signed_clearance(position, closest.distance);
            self.sign = if clearance < 0.0 { -1.0 } else { 1.0 };
            self.same_sign_for = clearance.abs();
        }
        (self.sign * closest.distance) as f32
    }
}

/// Number of cells along the edge of a block.
const BLOCK: usize = 4;
/// Diagonal of a block (cells).
const DIAGONAL: Real = 1.732_050_807_568_877_2 * BLOCK as Real;
/// Distance from the surface beyond which blocks are interpolated (cells).
const FAR: Real = 8.0;

/// Exact distances at the corners of blocks.
struct Blocks {
    /// Number of nodes along each axis, and of corners.
    nodes: [usize; 3],
    corners: [usize; 3],
    values: Vec<f32>,
    cell_size: Real,
    /// Distance at all corners beyond which a block is far (m).
    far: Real,
}

impl Blocks {
    fn new(nodes: &Nodes<'_>, counts: [usize; 3], exact: Real) -> Self {
        let corners = counts.map(|count| (count - 1).div_ceil(BLOCK) + 1);
        let rows: Vec<Vec<f32>> = (0..corners[1] * corners[2])
            .into_par_iter()
            .map(|row| {
                let mut walk = Walk::new(nodes);
                let corner = |x: usize| [x, row % corners[1], row / corners[1]];
                let node = |x: usize| [0, 1, 2].map(|axis| (BLOCK * corner(x)[axis]).min(counts[axis] - 1));
                (0..corners[0]).map(|x| walk.value(node(x))).collect()
            })
            .collect();
        let cell_size = nodes.cell_size;
        let far = exact + (FAR + 0.5 * DIAGONAL) * cell_size;
        Self { nodes: counts, corners, values: rows.concat(), cell_size, far }
    }

    /// Returns the value at a node of a far block, interpolated from the corners; `None` in other blocks.
    ///
    /// The second derivatives of a distance d are at most 1/d (it is that to a point, or less), so that between corners
    /// it is at most diagonal² / 8d below the interpolation, which is taken off.
    fn far_value(&self, node: [usize; 3]) -> Option<f32> {
        let block = [0, 1, 2].map(|axis| (node[axis] / BLOCK).min(self.corners[axis] - 2));
        let corner = |bits: usize| {
            let [x, y, z] = [0, 1, 2].map(|axis| block[axis] + (bits >> axis & 1));
            Real::from(self.values[x + self.corners[0] * (y + self.corners[1] * z)])
        };
        let sign = corner(0).signum();
        let least = (0..8).map(|bits| sign * corner(bits)).fold(Real::INFINITY, Real::min);
        if !(least > self.far) {
            return None;
        }
        let part = [0, 1, 2].map(|axis| {
            let low = BLOCK * block[axis];
            let length = (self.nodes[axis] - 1 - low).min(BLOCK);
            (node[axis] - low) as Real / length as Real
        });
        let share = |bits: usize| -> Real {
            (0..3).map(|axis| if bits >> axis & 1 == 1 { part[axis] } else { 1.0 - part[axis] }).product()
        };
        let interpolated: Real = (0..8).map(|bits| share(bits) * sign * corner(bits)).sum();
        let diagonal = DIAGONAL * self.cell_size;
        let sag = diagonal * diagonal / (8.0 * (least - 0.5 * diagonal));
        Some((sign * (interpolated - sag)) as f32)
    }
}

#[cfg(test)]
mod tests {
    use super::super::TriangleMesh;
    use super::*;
    use crate::math::Random;
    use std::sync::{Arc, Mutex};

    fn assert_follows(shape: &Shape, grid: &DistanceGrid, tolerance: Real) {
        let mut random = Random::with_stream(3, 0);
        let bounds = grid.bounds();
        for _ in 0..4000 {
            let p = bounds.center() + random.in_cube() * 0.5 * bounds.size();
            let (exact, baked) = (shape.signed_distance(p), grid.signed_distance(p));
            assert!((exact - baked).abs() < tolerance, "{p}: {exact} but {baked}");
        }
    }

    #[test]
    fn baked_distance_follows_the_exact_one() {
        let torus = Shape::Torus { radius: 1.0, tube_radius: 0.4 };
        let grid = DistanceGrid::bake(&torus, 0.05, 0.2, 1.0, 1 << 20, &NoStore).unwrap();
        assert_eq!(grid.cell_size(), 0.05);
        assert_follows(&torus, &grid, 0.03);
        let mesh = Shape::Mesh(Arc::new(torus.triangulate(40).unwrap()));
        let grid = DistanceGrid::bake(&mesh, 0.05, 0.2, 1.0, 1 << 20, &NoStore).unwrap();
        assert_follows(&mesh, &grid, 0.03);
    }

    /// Compares every node with the distance that is asked for directly.
    #[test]
    fn nodes_are_exact_near_the_surface_and_not_too_large_far_from_it() {
        let star = Shape::Star { points: 5, radius: 1.0, inner_radius: 0.4, height: 0.6 };
        let mesh = |shape: &Shape| Shape::Mesh(Arc::new(shape.triangulate(20).unwrap()));
        let both = Shape::Union(vec![mesh(&Shape::Sphere { radius: 0.8 }).into(), mesh(&star).into()]);
        for (shape, exact) in [(mesh(&Shape::Sphere { radius: 1.0 }), 0.0), (mesh(&star), 0.3), (both, 0.0)] {
            let grid = DistanceGrid::bake(&shape, 0.03, 0.5, exact, 1 << 22, &NoStore).unwrap();
            let cell = grid.cell_size;
            let mut n_far = 0;
            for (index, &value) in grid.values.iter().enumerate().step_by(7) {
                let (x, rest) = (index % grid.counts[0], index / grid.counts[0]);
                let node = vec3(x as Real, (rest % grid.counts[1]) as Real, (rest / grid.counts[1]) as Real);
                let expected = shape.signed_distance(grid.origin + cell * node);
                let value = Real::from(value);
                if expected.abs() <= exact + FAR * cell {
                    assert!((expected - value).abs() < 1e-6, "{expected} {value}");
                } else {
                    let part = expected.signum() * value;
                    assert!(part < expected.abs() + 1e-6, "{expected} {value}");
                    assert!(part > expected.abs() - 7.0 * cell, "{expected} {value}");
                    n_far += usize::from((expected - value).abs() > 1e-6);
                }
            }
            assert!(n_far > 1000, "only {n_far} nodes were interpolated");
        }
    }

    /// An open mesh has no far nodes: each is asked for.
    #[test]
    fn nodes_of_open_meshes_are_exact() {
        let ball = Shape::Sphere { radius: 1.0 }.triangulate(20).unwrap();
        let open = TriangleMesh::try_new(ball.vertices().to_vec(), ball.triangles()[3..].to_vec()).unwrap();
        let mesh = Shape::Mesh(Arc::new(open));
        let grid = DistanceGrid::bake(&mesh, 0.05, 0.0, 0.0, 1 << 20, &NoStore).unwrap();
        for (index, &value) in grid.values.iter().enumerate() {
            let (x, rest) = (index % grid.counts[0], index / grid.counts[0]);
            let node = vec3(x as Real, (rest % grid.counts[1]) as Real, (rest / grid.counts[1]) as Real);
            let exact = mesh.signed_distance(grid.origin + grid.cell_size * node);
            assert!((exact - Real::from(value)).abs() < 1e-6);
        }
    }

    #[test]
    fn gradient_is_the_slope_of_the_value() {
        let shape = Shape::Cone { radius: 0.6, height: 1.0 };
        let grid = DistanceGrid::bake(&shape, 0.07, 0.1, 0.0, 1 << 20, &NoStore).unwrap();
        let p = vec3(0.1234, 0.0817, -0.2345);
        let step = 1e-6;
        let gradient = grid.signed_distance_and_gradient(p).1;
        for axis in 0..3 {
            let offset = step * Vec3::AXES[axis];
            let slope = (grid.signed_distance(p + offset) - grid.signed_distance(p - offset)) / (2.0 * step);
            assert!((slope - gradient[axis]).abs() < 1e-6);
        }
    }

    #[test]
    fn outside_the_distance_is_positive_and_not_too_large() {
        let shape = Shape::Sphere { radius: 1.0 };
        let grid = DistanceGrid::bake(&shape, 0.1, 0.3, 0.0, 1 << 20, &NoStore).unwrap();
        for p in [vec3(3.0, 0.0, 0.0), vec3(2.0, 2.0, -2.0), vec3(0.0, -1.9, 0.5)] {
            let distance = grid.signed_distance(p);
            assert!(distance > 0.0 && distance <= shape.signed_distance(p));
        }
    }

    #[test]
    fn memory_limit_makes_cells_larger_and_says_so() {
        let grid =
            DistanceGrid::bake(&Shape::Sphere { radius: 1.0 }, 0.001, 0.1, 0.0, 10_000, &NoStore).unwrap();
        assert!(grid.n_nodes() <= 10_000);
        assert!(grid.cell_size() > 0.05);
    }

    #[test]
    fn infinite_shapes_and_bad_sizes_are_refused() {
        let ground = Shape::HalfSpace { normal: Vec3::Y, offset: 0.0 };
        assert_eq!(
            DistanceGrid::bake(&ground, 0.1, 0.1, 0.0, 1000, &NoStore).unwrap_err(),
            DistanceGridError::Infinite
        );
        assert!(DistanceGrid::bake(&Shape::Sphere { radius: 1.0 }, 0.0, 0.1, 0.0, 1000, &NoStore).is_err());
    }

    /// Checks that grids of other shapes, sizes and meshes are told apart, and that kept nodes give the same grid.
    #[test]
    fn kept_nodes_give_the_same_grid_and_no_other_one() {
        #[derive(Debug, Default)]
        struct Kept(Mutex<Vec<(u64, Vec<f32>)>>);
        impl GridStore for Kept {
            fn load(&self, key: u64) -> Option<Vec<f32>> {
                self.0.lock().unwrap().iter().find(|kept| kept.0 == key).map(|kept| kept.1.clone())
            }

            fn keep(&self, key: u64, values: &[f32]) {
                self.0.lock().unwrap().push((key, values.to_vec()));
            }
        }
        let store = Kept::default();
        let sphere = |radius: Real| Shape::Mesh(Arc::new(Shape::Sphere { radius }.triangulate(12).unwrap()));
        let bake = |radius: Real, cell: Real| {
            DistanceGrid::bake(&sphere(radius), cell, 0.1, 0.0, 1 << 20, &store).unwrap()
        };
        let first = bake(1.0, 0.1);
        let n_kept = || store.0.lock().unwrap().len();
        assert_eq!(bake(1.0, 0.1).values, first.values);
        assert_eq!(n_kept(), 1);
        bake(1.0 + 1e-12, 0.1);
        bake(1.0, 0.1 + 1e-12);
        assert_eq!(n_kept(), 3);
        // values that do not fit are computed again
        store.0.lock().unwrap()[0].1.pop();
        assert_eq!(bake(1.0, 0.1).values, first.values);
    }
}
