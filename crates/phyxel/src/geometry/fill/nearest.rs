//! Neighbour search for filling, on the engine's grid.

use crate::math::{Real, Vec3};
use crate::neighbors::Grid;

/// Points, sorted into the cells of a grid.
pub(super) struct CellGrid<'a> {
    points: &'a [Vec3],
    grid: Grid,
}

impl<'a> CellGrid<'a> {
    /// Sorts points into cells of at least this size.
    pub(super) fn new(points: &'a [Vec3], cell_size: Real) -> Self {
        Self { points, grid: Grid::new(points, cell_size) }
    }

    /// Visits every point within a radius, in a fixed order: `visit(point number, offset from p, distance²)`.
    pub(super) fn visit_within(&self, p: Vec3, radius: Real, mut visit: impl FnMut(usize, Vec3, Real)) {
        self.grid.visit_ball(p, radius, |member| {
            let offset = self.points[member as usize] - p;
            let distance_squared = offset.length_squared();
            if distance_squared <= radius * radius {
                visit(member as usize, offset, distance_squared);
            }
        });
    }
}
