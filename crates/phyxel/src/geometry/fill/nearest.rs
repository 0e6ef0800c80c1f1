//! Points sorted into cells, for the few neighbour questions that filling asks.

use super::super::aabb::Aabb;
use crate::math::{Real, Vec3};

/// Points in the cells of a grid.
pub(super) struct CellGrid<'a> {
    points: &'a [Vec3],
    origin: Vec3,
    cell_size: Real,
    counts: [usize; 3],
    /// Where each cell begins in `members`; one more than there are cells.
    starts: Vec<u32>,
    members: Vec<u32>,
}

impl<'a> CellGrid<'a> {
    /// Sorts points into cells of at least this size, and no more cells than a few per point.
    pub(super) fn new(points: &'a [Vec3], cell_size: Real) -> Self {
        let bounds = Aabb::from_points(points.iter().copied());
        let n_cells = |size: Real| (bounds.size() / size).floor() + Vec3::ONE;
        let mut cell_size = cell_size;
        while n_cells(cell_size).element_product() > 8.0 * points.len() as Real + 64.0 {
            cell_size *= 1.25;
        }
        let counts = n_cells(cell_size);
        let counts = [counts.x as usize, counts.y as usize, counts.z as usize];
        let mut grid = Self {
            points,
            origin: bounds.min,
            cell_size,
            counts,
            starts: vec![0; counts[0] * counts[1] * counts[2] + 1],
            members: vec![0; points.len()],
        };
        grid.sort();
        grid
    }

    fn sort(&mut self) {
        let cells: Vec<usize> = self.points.iter().map(|&point| self.index(self.cell(point))).collect();
        for &cell in &cells {
            self.starts[cell + 1] += 1;
        }
        for cell in 1..self.starts.len() {
            self.starts[cell] += self.starts[cell - 1];
        }
        let mut next = self.starts.clone();
        for (point, &cell) in cells.iter().enumerate() {
            self.members[next[cell] as usize] = point as u32;
            next[cell] += 1;
        }
    }

    fn cell(&self, point: Vec3) -> [usize; 3] {
        let place = (point - self.origin) / self.cell_size;
        // A negative number becomes 0 in the cast.
        [0, 1, 2].map(|axis| (place[axis] as usize).min(self.counts[axis] - 1))
    }

    fn index(&self, [x, y, z]: [usize; 3]) -> usize {
        x + self.counts[0] * (y + self.counts[1] * z)
    }

    /// Every point within a radius, in a fixed order: `visit(point number, offset from p, distance²)`.
    pub(super) fn visit_within(&self, p: Vec3, radius: Real, mut visit: impl FnMut(usize, Vec3, Real)) {
        let low = self.cell(p - Vec3::splat(radius));
        let high = self.cell(p + Vec3::splat(radius));
        for z in low[2]..=high[2] {
            for y in low[1]..=high[1] {
                let row =
                    self.starts[self.index([low[0], y, z])]..self.starts[self.index([high[0], y, z]) + 1];
                for &member in &self.members[row.start as usize..row.end as usize] {
                    let offset = self.points[member as usize] - p;
                    let distance_squared = offset.length_squared();
                    if distance_squared <= radius * radius {
                        visit(member as usize, offset, distance_squared);
                    }
                }
            }
        }
    }

    /// Squared distances from point number `point` to its `count` nearest others, ascending; fewer if there are not so many.
    pub(super) fn nearest_k(&self, point: usize, count: usize, distances_squared: &mut Vec<Real>) {
        let count = count.min(self.points.len() - 1);
        let mut radius = self.cell_size;
        loop {
            distances_squared.clear();
            self.visit_within(self.points[point], radius, |other, _, distance_squared| {
                if other != point {
                    distances_squared.push(distance_squared);
                }
            });
            if distances_squared.len() >= count {
                break;
            }
            radius *= 1.5;
        }
        distances_squared.sort_unstable_by(Real::total_cmp);
        distances_squared.truncate(count);
    }
}
