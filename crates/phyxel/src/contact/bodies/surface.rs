//! Detection of the particles at the surface of their matter, and of the outward direction there.

use crate::math::{Real, Vec3, square};
use crate::neighbors::{Neighbors, VisitBonds};
use crate::particles::Particles;

/// Length of the weighted mean of the directions to neighbours from which on a particle is at the surface. It is 0
/// inside matter, 0.25 to 0.33 at a face, 0.43 to 0.54 at an edge, 0.64 to 0.75 at a corner (lattices, with the lists
/// of the three methods), and less in a hollow corner.
const ONE_SIDED: Real = 0.2;
/// Lengths of the same mean up to which the surface is a face, and from which on it is an edge.
const FACE_TO_EDGE: (Real, Real) = (0.34, 0.42);

/// Returns for each particle at the surface a row with itself and the particles bonded to it; rows of other particles
/// and of balls are empty. Unstressed bonds are used: strong strain inside matter must not look like a surface.
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

/// Returns 1 on faces, 0 at edges and corners, and values between for the transition.
pub(super) fn flatness(visit_bonds: VisitBonds<'_>, i: usize) -> Real {
    let (face, edge) = FACE_TO_EDGE;
    ((edge - bonds_lean(visit_bonds, i).1) / (edge - face)).clamp(0.0, 1.0)
}

/// Returns the unit vector away from the present positions of the particles bonded to particle i; 0 if they are on all
/// sides.
pub(super) fn outward(particles: &Particles, row: &[u32], i: usize) -> Vec3 {
    let x = &particles.position;
    let (direction, one_sided) = lean(|visit| row.iter().for_each(|&j| visit(x[j as usize] - x[i])));
    if one_sided < 0.5 * ONE_SIDED { Vec3::ZERO } else { -direction }
}

fn bonds_lean(visit_bonds: VisitBonds<'_>, i: usize) -> (Vec3, Real) {
    lean(|visit| visit_bonds(i, &mut |_, bond| visit(bond)))
}

/// Returns the mean direction of bonds, and how one-sided they are: 1 if all have one direction or there are none.
fn lean(visit_all: impl Fn(&mut dyn FnMut(Vec3))) -> (Vec3, Real) {
    let mut longest: Real = 0.0;
    visit_all(&mut |bond| longest = longest.max(bond.length_squared()));
    // the farthest bonds get no weight: others of the same length may be missing from the list
    let (mut direction, mut length) = (Vec3::ZERO, 0.0);
    visit_all(&mut |bond| {
        let squared = bond.length_squared();
        let weight = square(1.0 - squared / longest.max(Real::MIN_POSITIVE));
        direction += bond * weight;
        length += squared.sqrt() * weight;
    });
    let one_sided = if length > 0.0 { direction.length() / length } else { 1.0 };
    (direction.normalize_or_zero(), one_sided)
}
