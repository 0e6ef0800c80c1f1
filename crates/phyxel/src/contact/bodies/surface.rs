//! Which particles are at the surface of their matter, and which way is out.

use super::VisitBonds;
use crate::math::{Real, Vec3};
use crate::neighbors::Neighbors;
use crate::particles::Particles;

/// Weighted mean of the directions to neighbours: 0 inside matter, 0.25 to 0.33 at a face, 0.43 to 0.54 at an edge, 0.64 to
/// 0.75 at a corner (lattices, by the lists of the three methods), less in a hollow corner.
const ONE_SIDED: Real = 0.12;
/// Up to the first it is a face, from the second on it is an edge.
const FACE_TO_EDGE: (Real, Real) = (0.34, 0.42);

/// For each particle at the surface a row with itself and those that it is bonded to; empty rows for others.
pub(super) fn surface_rows(particles: &Particles, visit_bonds: VisitBonds<'_>) -> Neighbors {
    Neighbors::from_rows(particles.len(), |i, row| {
        visit_bonds(i, &mut |j| row.push(j as u32));
        if one_sidedness(particles, row, i).is_none() {
            row.clear();
            return;
        }
        row.push(i as u32);
        row.sort_unstable();
    })
}

/// Which way is out at a particle.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outward {
    /// Unit vector away from those that the particle is bonded to; 0 where they are on all sides or there are none.
    pub(super) normal: Vec3,
    /// 1 on faces, 0 at edges and corners.
    pub(super) flatness: Real,
}

pub(super) fn outward(particles: &Particles, row: &[u32], i: usize) -> Outward {
    one_sidedness(particles, row, i).unwrap_or_default()
}

/// The normal of what is not inside.
fn one_sidedness(particles: &Particles, row: &[u32], i: usize) -> Option<Outward> {
    let x = &particles.position;
    let bonds = || row.iter().map(|&j| x[j as usize] - x[i]);
    let longest = bonds().map(Vec3::length_squared).fold(0.0, Real::max);
    // of the farthest there may be more that were not taken: they must not count
    let (mut direction, mut length) = (Vec3::ZERO, 0.0);
    for bond in bonds() {
        let squared = bond.length_squared();
        let weight = (1.0 - squared / longest.max(Real::MIN_POSITIVE)).powi(2);
        direction += bond * weight;
        length += squared.sqrt() * weight;
    }
    let one_sided = if length > 0.0 { direction.length() / length } else { 1.0 };
    (one_sided >= ONE_SIDED).then(|| Outward {
        normal: (-direction).normalize_or_zero(),
        flatness: ((FACE_TO_EDGE.1 - one_sided) / (FACE_TO_EDGE.1 - FACE_TO_EDGE.0)).clamp(0.0, 1.0),
    })
}
