//! Volumes of particles.

use rayon::prelude::*;

use super::Sample;
use super::nearest::CellGrid;
use crate::math::{Real, Vec3};

/// Neighbours whose mean distance measures a particle's room.
const N_NEAREST: usize = 10;

/// In proportion to the cells of the lattice.
pub(super) fn from_cells(samples: &[Sample], volume: Real) -> Vec<Real> {
    normalized(samples.iter().map(|sample| sample.cell_volume).collect(), volume)
}

/// In proportion to the cube of the mean distance to the nearest particles.
pub(super) fn from_distances(samples: &[Sample], volume: Real) -> Vec<Real> {
    let positions: Vec<Vec3> = samples.iter().map(|sample| sample.position).collect();
    let smallest = samples.iter().map(|sample| sample.spacing).fold(Real::INFINITY, Real::min);
    let grid = CellGrid::new(&positions, 1.5 * smallest);
    let rooms = (0..positions.len())
        .into_par_iter()
        .map_init(Vec::new, |distances_squared, point| {
            grid.nearest_k(point, N_NEAREST, distances_squared);
            let sum: Real = distances_squared.iter().map(|squared| squared.sqrt()).sum();
            (sum / distances_squared.len() as Real).powi(3)
        })
        .collect();
    normalized(rooms, volume)
}

/// Scaled so that the sum is the volume.
fn normalized(mut rooms: Vec<Real>, volume: Real) -> Vec<Real> {
    let total: Real = rooms.iter().sum();
    for room in &mut rooms {
        *room *= volume / total;
    }
    rooms
}
