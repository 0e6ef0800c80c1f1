//! Uniform grid by counting sort: each cell is a range of one array of point indices, in ascending order.

use crate::math::{Real, Vec3, cbrt};

/// Points sorted into the cells of a uniform grid.
#[derive(Clone, Debug)]
pub struct Grid {
    origin: Vec3,
    cell: Real,
    dims: [i64; 3],
    starts: Vec<u32>,
    sorted: Vec<u32>,
}

/// Largest number of cells per point: sparse clouds get larger cells instead of more memory.
const MAX_CELLS_PER_POINT: Real = 4.0;

impl Grid {
    /// Creates a grid with cells of `cell_size` (larger if the points are so sparse that the grid would be mostly
    /// empty). Points that are not finite are put into the first cell.
    pub fn new(points: &[Vec3], cell_size: Real) -> Self {
        let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        for &p in points.iter().filter(|p| p.is_finite()) {
            (low, high) = (low.min(p), high.max(p));
        }
        if !low.is_finite() {
            (low, high) = (Vec3::ZERO, Vec3::ZERO);
        }
        let extent = high - low;
        let budget = MAX_CELLS_PER_POINT * points.len() as Real + 64.0;
        let mut cell =
            if cell_size > 0.0 && cell_size.is_finite() { cell_size } else { extent.max_element().max(1.0) };
        let cells = |cell: Real| (extent / cell + Vec3::ONE).floor();
        while cells(cell).element_product() > budget {
            cell *= 1.26; // twice the volume
        }
        let n = cells(cell);
        let dims = [n.x as i64, n.y as i64, n.z as i64];
        let mut grid = Self { origin: low, cell, dims, starts: Vec::new(), sorted: Vec::new() };

        let codes: Vec<u32> = points.iter().map(|&p| grid.code(grid.cell_of(p)) as u32).collect();
        let mut starts = vec![0u32; (dims[0] * dims[1] * dims[2]) as usize + 1];
        for &code in &codes {
            starts[code as usize + 1] += 1;
        }
        for c in 1..starts.len() {
            starts[c] += starts[c - 1];
        }
        let mut next = starts.clone();
        let mut sorted = vec![0u32; points.len()];
        for (i, &code) in codes.iter().enumerate() {
            sorted[next[code as usize] as usize] = i as u32;
            next[code as usize] += 1;
        }
        (grid.starts, grid.sorted) = (starts, sorted);
        grid
    }

    /// Creates a grid with about two points per cell, for nearest-neighbour queries.
    pub fn for_density(points: &[Vec3]) -> Self {
        let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        for &p in points.iter().filter(|p| p.is_finite()) {
            (low, high) = (low.min(p), high.max(p));
        }
        let extent = (high - low).max(Vec3::splat(0.0));
        let longest = extent.max_element();
        // in a flat or thin cloud, only the directions that have extent count
        let filled = extent.max(Vec3::splat(longest * 1e-3));
        let cell = cbrt(2.0 * filled.element_product() / points.len().max(1) as Real);
        Self::new(points, cell)
    }

    /// Returns the edge length of a cell (m).
    pub fn cell_size(&self) -> Real {
        self.cell
    }

    /// Returns the point indices in the order of their cells.
    pub fn order(&self) -> &[u32] {
        &self.sorted
    }

    fn cell_of(&self, p: Vec3) -> [i64; 3] {
        let q = (p - self.origin) / self.cell;
        let clamp = |v: Real, n: i64| (v.floor() as i64).clamp(0, n - 1);
        [clamp(q.x, self.dims[0]), clamp(q.y, self.dims[1]), clamp(q.z, self.dims[2])]
    }

    fn code(&self, c: [i64; 3]) -> usize {
        ((c[2] * self.dims[1] + c[1]) * self.dims[0] + c[0]) as usize
    }

    /// Calls `visit` for every point in the cells that the ball touches: a superset of the points in the ball.
    #[inline]
    pub fn visit_ball(&self, center: Vec3, radius: Real, mut visit: impl FnMut(u32)) {
        let (low, high) = (self.cell_of(center - radius), self.cell_of(center + radius));
        for z in low[2]..=high[2] {
            for y in low[1]..=high[1] {
                let (first, last) = (self.code([low[0], y, z]), self.code([high[0], y, z]));
                let range = self.starts[first] as usize..self.starts[last + 1] as usize;
                self.sorted[range].iter().for_each(|&j| visit(j));
            }
        }
    }

    /// Finds the k nearest points for which `accept` is true, as (squared distance, index) in ascending order.
    pub fn nearest(
        &self,
        points: &[Vec3],
        center: Vec3,
        k: usize,
        accept: impl Fn(usize) -> bool,
        found: &mut Vec<(Real, u32)>,
    ) {
        found.clear();
        if k == 0 || points.is_empty() {
            return;
        }
        let c = self.cell_of(center);
        let last_ring = self.dims.iter().copied().max().unwrap_or(1);
        for ring in 0..=last_ring {
            self.visit_ring(c, ring, |j| {
                if accept(j as usize) {
                    insert_nearest(found, k, (center.distance_squared(points[j as usize]), j));
                }
            });
            // all points nearer than this have been visited
            let safe = self.distance_to_block_edge(center, c, ring);
            if found.len() == k && found[k - 1].0 <= safe * safe {
                break;
            }
        }
    }

    /// Returns the distance from a point to the nearest face of the block of cells within `ring` of `c`. For a point
    /// outside the grid, the block is reached from one side only, and 0 is safe.
    fn distance_to_block_edge(&self, p: Vec3, c: [i64; 3], ring: i64) -> Real {
        let mut nearest = Real::INFINITY;
        for axis in 0..3 {
            let low = self.origin[axis] + (c[axis] - ring) as Real * self.cell;
            let high = self.origin[axis] + (c[axis] + ring + 1) as Real * self.cell;
            // there are no points beyond the grid
            if c[axis] - ring > 0 {
                nearest = nearest.min(p[axis] - low);
            }
            if c[axis] + ring + 1 < self.dims[axis] {
                nearest = nearest.min(high - p[axis]);
            }
        }
        nearest.max(0.0)
    }

    fn visit_ring(&self, c: [i64; 3], ring: i64, mut visit: impl FnMut(u32)) {
        let range = |axis: usize| (c[axis] - ring).max(0)..=(c[axis] + ring).min(self.dims[axis] - 1);
        for z in range(2) {
            for y in range(1) {
                let on_face = (z - c[2]).abs() == ring || (y - c[1]).abs() == ring;
                let mut cell = |x: i64| {
                    let code = self.code([x, y, z]);
                    let points = self.starts[code] as usize..self.starts[code + 1] as usize;
                    self.sorted[points].iter().for_each(|&j| visit(j));
                };
                if on_face {
                    range(0).for_each(&mut cell);
                } else {
                    [c[0] - ring, c[0] + ring]
                        .into_iter()
                        .filter(|x| (0..self.dims[0]).contains(x))
                        .for_each(&mut cell);
                }
            }
        }
    }
}

#[inline]
fn insert_nearest(found: &mut Vec<(Real, u32)>, k: usize, candidate: (Real, u32)) {
    let before = |a: &(Real, u32), b: &(Real, u32)| a.0 < b.0 || (a.0 == b.0 && a.1 < b.1);
    if found.len() == k && !before(&candidate, &found[k - 1]) {
        return;
    }
    let place = found.partition_point(|f| before(f, &candidate));
    found.insert(place, candidate);
    found.truncate(k);
}
