//! Reference searches that check every pair: slow and obviously right, for tests.

use super::{Neighbors, Points};
use crate::math::Real;

/// Returns the same lists as [`super::within_radius`].
pub fn within_radius(points: Points<'_>, radius: impl Fn(usize) -> Real + Sync) -> Neighbors {
    let n = points.positions.len();
    Neighbors::from_rows(n, |i, row| {
        row.extend((0..n as u32).filter(|&j| {
            let j = j as usize;
            let near = points.positions[i].distance_squared(points.positions[j]) < radius(i) * radius(i);
            j != i && near && points.see_each_other(i, j)
        }));
    })
}

/// Returns the same lists as [`super::nearest`].
pub fn nearest(points: Points<'_>, k: usize) -> Neighbors {
    let n = points.positions.len();
    Neighbors::from_rows(n, |i, row| {
        let mut all: Vec<(Real, u32)> = (0..n)
            .filter(|&j| j != i && points.see_each_other(i, j))
            .map(|j| (points.positions[i].distance_squared(points.positions[j]), j as u32))
            .collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        row.extend(all.iter().take(k).map(|&(_, j)| j));
        row.sort_unstable();
    })
}
