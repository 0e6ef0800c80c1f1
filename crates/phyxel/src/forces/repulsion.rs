//! Repulsion of particles that crowd: a fit of the neighbours' motion does not see when two of them come together.
//!
//! A pair nearer than its room s has the energy ½ k (s − r)². Rooms are at most [`MOST_ROOM`] of the spacing, less than what
//! particles need to find their way around each other at the density of the start, so that repulsion bears no load at rest. At the
//! start nobody is nearer than its room. Where matter is squeezed elastically, rooms shrink with it: what only deforms is not
//! crowded.
//!   r distance (m)   k stiffness (N/m)

use crate::material::Lame;
use crate::math::{Real, Vec3};

/// Room of a particle at the most (spacings).
pub const MOST_ROOM: Real = 0.8;
/// Room of a particle that never flows at the most: its neighbours stay, and only motion that the fit does not see brings them
/// together (spacings).
pub const ELASTIC_ROOM: Real = 0.5;
/// Distances are not taken smaller than this share of the room where something is divided by them.
const LEAST_DISTANCE: Real = 1e-6;

/// Room of a particle that starts with its nearest neighbour at the given distance (m).
pub fn room(nearest: Real, spacing: Real) -> Real {
    nearest.min(MOST_ROOM * spacing)
}

/// Stiffness that a particle brings to its pairs, for a share of λ + 2µ (N/m).
#[inline(always)]
pub fn stiffness(share: Real, lame: Lame, volume: Real) -> Real {
    share * lame.p_wave_modulus() * volume.cbrt()
}

/// A pair of particles: the distance that it keeps and how firmly.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// s (m)
    pub room: Real,
    /// k (N/m)
    pub stiffness: Real,
}

impl Pair {
    /// Force on the particle that the bond starts from (N).
    #[inline(always)]
    pub fn force(self, bond: Vec3) -> Vec3 {
        let squared = bond.length_squared();
        if squared >= self.room * self.room {
            return Vec3::ZERO;
        }
        let distance = squared.sqrt().max(LEAST_DISTANCE * self.room);
        bond * (self.stiffness * (1.0 - self.room / distance))
    }

    /// Energy of the pair (J).
    #[inline(always)]
    pub fn energy(self, bond: Vec3) -> Real {
        let overlap = (self.room - bond.length()).max(0.0);
        0.5 * self.stiffness * overlap * overlap
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::vec3;

    #[test]
    fn force_is_the_slope_of_the_energy_and_ends_at_the_room() {
        let pair = Pair { room: 0.1, stiffness: 3.0 };
        let bond = vec3(0.02, -0.05, 0.03);
        for axis in 0..3 {
            let at = |d: Real| {
                let mut moved = bond;
                moved[axis] += d;
                pair.energy(moved)
            };
            // the bond gets shorter as its first end moves along it
            let slope = (at(1e-7) - at(-1e-7)) / 2e-7;
            assert!((pair.force(bond)[axis] - slope).abs() < 1e-8, "{axis}");
        }
        assert!(pair.force(bond).dot(bond) < 0.0, "it pushes away");
        assert_eq!(pair.force(vec3(0.1, 0.0, 0.0)), Vec3::ZERO);
        assert!(pair.force(Vec3::ZERO).is_finite());
        assert_eq!((room(0.9, 1.0), room(0.5, 1.0)), (MOST_ROOM, 0.5));
    }
}
