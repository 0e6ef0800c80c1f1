//! Volumes of particles.

use super::Sample;
use crate::math::{Real, Vec3, cube};
use crate::neighbors::{Points, mean_nearest_distance};

/// Number of neighbours whose mean distance measures the volume of a particle.
const N_NEAREST: usize = 10;

/// Returns volumes in proportion to the cells of the lattice.
pub(super) fn from_cells(samples: &[Sample], volume: Real) -> Vec<Real> {
    normalized(samples.iter().map(|sample| sample.cell_volume).collect(), volume)
}

/// Returns volumes in proportion to the cube of the mean distance to the nearest particles.
pub(super) fn from_distances(samples: &[Sample], volume: Real) -> Vec<Real> {
    let positions: Vec<Vec3> = samples.iter().map(|sample| sample.position).collect();
    let distances = mean_nearest_distance(Points::new(&positions), N_NEAREST);
    let rooms = distances.into_iter().map(cube).collect();
    normalized(rooms, volume)
}

/// Scales the values so that their sum is the volume.
fn normalized(mut rooms: Vec<Real>, volume: Real) -> Vec<Real> {
    let total: Real = rooms.iter().sum();
    for room in &mut rooms {
        *room *= volume / total;
    }
    rooms
}
