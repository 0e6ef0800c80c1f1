//! Lattices: particles in rows.

use rayon::prelude::*;

use super::super::aabb::Aabb;
use super::super::placement::PlacedShape;
use super::super::shape::Side;
use super::FillError;
use crate::math::{Real, Vec3, vec3};

/// Points of a lattice with perpendicular steps.
pub(super) struct Lattice {
    /// Position of the first point.
    origin: Vec3,
    /// Vectors from one point to the next, along each axis.
    steps: [Vec3; 3],
    counts: [usize; 3],
}

/// A block of lattice points, from `low` inclusive to `high` exclusive.
#[derive(Clone, Copy)]
struct Block {
    low: [usize; 3],
    high: [usize; 3],
}

/// Upper limit of a count, so that products and casts are safe.
const MAX_COUNT: Real = 1e6;
/// Largest number of points along an axis: a thin shape has few particles but a search through a lattice of its extent.
const MAX_ALONG: usize = 100_000;

impl Lattice {
    /// Creates cell-centred points of a box around the origin, with the cells stretched to fit the box.
    pub(super) fn fitted(size: Vec3, spacing: Real) -> Self {
        let counts = fitted_counts(size, spacing);
        let cell = size / vec3(counts[0] as Real, counts[1] as Real, counts[2] as Real);
        Self::around(Vec3::ZERO, Vec3::AXES, cell, counts)
    }

    /// Creates points with exactly this spacing, cell-centred around the middle of some bounds.
    pub(super) fn centered(bounds: &Aabb, spacing: Real) -> Self {
        let counts = [0, 1, 2].map(|axis| covering_count(bounds.size()[axis], spacing));
        Self::around(bounds.center(), Vec3::AXES, Vec3::splat(spacing), counts)
    }

    /// Creates points around a centre, with cells of these edges along three perpendicular axes.
    pub(super) fn around(center: Vec3, axes: [Vec3; 3], cell: Vec3, counts: [usize; 3]) -> Self {
        let steps = [0, 1, 2].map(|axis| cell[axis] * axes[axis]);
        let half = |axis: usize| 0.5 * (counts[axis] - 1) as Real * steps[axis];
        Self { origin: center - half(0) - half(1) - half(2), steps, counts }
    }

    pub(super) fn cell_volume(&self) -> Real {
        self.steps.iter().map(|step| step.length()).product()
    }

    fn position(&self, [x, y, z]: [usize; 3]) -> Vec3 {
        self.origin + x as Real * self.steps[0] + y as Real * self.steps[1] + z as Real * self.steps[2]
    }

    pub(super) fn check_limit(&self, limit: usize) -> Result<(), FillError> {
        let estimate = self.counts.iter().map(|&count| count as Real).product::<Real>();
        if estimate > limit as Real { Err(FillError::TooMany { estimate, limit }) } else { Ok(()) }
    }

    /// Returns every point, x fastest.
    pub(super) fn all(&self) -> Vec<Vec3> {
        let [n_x, n_y, n_z] = self.counts;
        let mut positions = Vec::with_capacity(n_x * n_y * n_z);
        for z in 0..n_z {
            for y in 0..n_y {
                positions.extend((0..n_x).map(|x| self.position([x, y, z])));
            }
        }
        positions
    }

    /// Returns the points inside a shape, in the order of blocks, which keeps neighbours near each other in memory.
    /// Blocks that the distance of their middle shows to be wholly inside or outside are decided at once.
    pub(super) fn inside(&self, shape: &PlacedShape, limit: usize) -> Result<Vec<Vec3>, FillError> {
        if self.counts.iter().any(|&count| count > MAX_ALONG) {
            return Err(FillError::TooLong { limit: MAX_ALONG });
        }
        let blocks = self.blocks_near(shape);
        let found: Vec<Vec<Vec3>> = blocks
            .par_iter()
            .map(|&block| {
                let mut positions = Vec::new();
                self.collect_inside(shape, block, limit, &mut positions);
                positions
            })
            .collect();
        let n_found: usize = found.iter().map(Vec::len).sum();
        if n_found > limit {
            return Err(FillError::TooMany { estimate: n_found as Real, limit });
        }
        Ok(found.concat())
    }

    /// Returns the blocks that may have points inside a shape, of 8³ points each, or of more points if there would be too
    /// many blocks. Cubes of 8³ blocks are asked first: most of them are empty if a shape is thin and slanting.
    fn blocks_near(&self, shape: &PlacedShape) -> Vec<Block> {
        let edge = self.counts.iter().map(|count| count.div_ceil(64)).fold(8, usize::max);
        let cubes = self.blocks(8 * edge);
        let is_empty: Vec<bool> =
            cubes.par_iter().map(|&cube| self.side(shape, cube) == Side::Outside).collect();
        let [n_x, n_y, _] = self.counts.map(|count| count.div_ceil(8 * edge));
        let mut blocks = self.blocks(edge);
        blocks.retain(|block| {
            let [x, y, z] = block.low.map(|low| low / (8 * edge));
            !is_empty[x + n_x * (y + n_y * z)]
        });
        blocks
    }

    /// Returns all blocks with this number of points along their edges, x fastest.
    fn blocks(&self, edge: usize) -> Vec<Block> {
        let [n_x, n_y, n_z] = self.counts.map(|count| count.div_ceil(edge));
        (0..n_x * n_y * n_z)
            .map(|index| {
                let place = [index % n_x, index / n_x % n_y, index / (n_x * n_y)];
                let low = place.map(|step| step * edge);
                Block { low, high: [0, 1, 2].map(|axis| (low[axis] + edge).min(self.counts[axis])) }
            })
            .collect()
    }

    /// Returns the side of a shape's surface that the ball around a block is on.
    fn side(&self, shape: &PlacedShape, block: Block) -> Side {
        let first = self.position(block.low);
        let last = self.position(block.high.map(|high| high - 1));
        let radius = 0.5 * first.distance(last) * (1.0 + 1e-9);
        shape.side_of_ball(0.5 * (first + last), radius)
    }

    fn collect_inside(&self, shape: &PlacedShape, block: Block, limit: usize, positions: &mut Vec<Vec3>) {
        let extent = [0, 1, 2].map(|axis| block.high[axis] - block.low[axis]);
        if extent == [1, 1, 1] {
            let position = self.position(block.low);
            if shape.contains(position) {
                positions.push(position);
            }
            return;
        }
        let side = self.side(shape, block);
        if side == Side::Outside || positions.len() > limit {
            return;
        }
        if side == Side::Inside {
            for z in block.low[2]..block.high[2] {
                for y in block.low[1]..block.high[1] {
                    positions.extend((block.low[0]..block.high[0]).map(|x| self.position([x, y, z])));
                }
            }
            return;
        }
        let longest = extent.iter().copied().fold(0, usize::max);
        let axis = (0..3).find(|&axis| extent[axis] == longest).unwrap_or(0);
        let middle = block.low[axis] + longest / 2;
        let (mut lower, mut upper) = (block, block);
        lower.high[axis] = middle;
        upper.low[axis] = middle;
        self.collect_inside(shape, lower, limit, positions);
        self.collect_inside(shape, upper, limit, positions);
    }
}

/// Returns the number of cells of a box along each axis that fits best, at least one.
pub(super) fn fitted_counts(size: Vec3, spacing: Real) -> [usize; 3] {
    [0, 1, 2].map(|axis| fitted_count(size[axis], spacing))
}

pub(super) fn fitted_count(length: Real, spacing: Real) -> usize {
    (length / spacing).round().clamp(1.0, MAX_COUNT) as usize
}

/// Returns the number of cells that cover a length.
pub(super) fn covering_count(length: Real, spacing: Real) -> usize {
    (length / spacing - 1e-9).ceil().clamp(1.0, MAX_COUNT) as usize
}
