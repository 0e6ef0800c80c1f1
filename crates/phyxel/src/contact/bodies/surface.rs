//! Which particles are at the surface of their matter, and which way is out.

use crate::math::{Real, Vec3};
use crate::neighbors::{Neighbors, VisitBonds};
use crate::particles::Particles;

/// Weighted mean of the directions to neighbours: 0 inside matter, 0.25 to 0.33 at a face, 0.43 to 0.54 at an edge, 0.64 to
/// 0.75 at a corner (lattices, by the lists of the three methods), less in a hollow corner.
const ONE_SIDED: Real = 0.2;
/// Up to the first it is a face, from the second on it is an edge.
const FACE_TO_EDGE: (Real, Real) = (0.34, 0.42);

/// For each particle at the surface a row with itself and those that it is bonded to; empty rows for others, and for balls. The bonds are those
/// without stress: strong strain inside matter must not look like a surface.
pub(super) fn surface_rows(
    n: usize,
    visit_bonds: VisitBonds<'_>,
    is_ball: impl Fn(usize) -> bool + Sync,
) -> Neighbors {
    Neighbors::from_rows(n, |i, row| {
        if is_ball(i) || bonds_lean(visit_bonds, i).1 < ONE_SIDED {
            return;
        }
        row.push(i as u32);
        visit_bonds(i, &mut |j, _| row.push(j as u32));
        row.sort_unstable();
    })
}

/// 1 on faces, 0 at edges and corners.
pub(super) fn flatness(visit_bonds: VisitBonds<'_>, i: usize) -> Real {
    let (face, edge) = FACE_TO_EDGE;
    ((edge - bonds_lean(visit_bonds, i).1) / (edge - face)).clamp(0.0, 1.0)
}

/// Unit vector away from those that a particle is bonded to, where they are now; 0 where they are on all sides.
pub(super) fn outward(particles: &Particles, row: &[u32], i: usize) -> Vec3 {
    let x = &particles.position;
    let (direction, one_sided) = lean(|visit| row.iter().for_each(|&j| visit(x[j as usize] - x[i])));
    if one_sided < 0.5 * ONE_SIDED { Vec3::ZERO } else { -direction }
}

fn bonds_lean(visit_bonds: VisitBonds<'_>, i: usize) -> (Vec3, Real) {
    lean(|visit| visit_bonds(i, &mut |_, bond| visit(bond)))
}

/// To which side bonds lean, and how much: 1 if all have the same direction or there are none.
fn lean(visit_all: impl Fn(&mut dyn FnMut(Vec3))) -> (Vec3, Real) {
    let mut longest: Real = 0.0;
    visit_all(&mut |bond| longest = longest.max(bond.length_squared()));
    // of the farthest there may be more that were not taken: they must not count
    let (mut direction, mut length) = (Vec3::ZERO, 0.0);
    visit_all(&mut |bond| {
        let squared = bond.length_squared();
        let weight = (1.0 - squared / longest.max(Real::MIN_POSITIVE)).powi(2);
        direction += bond * weight;
        length += squared.sqrt() * weight;
    });
    let one_sided = if length > 0.0 { direction.length() / length } else { 1.0 };
    (direction.normalize_or_zero(), one_sided)
}
