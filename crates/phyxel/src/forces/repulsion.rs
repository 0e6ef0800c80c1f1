//! Repulsion of particles that come too near, which a fit of the neighbours' motion does not detect.
//!
//! A pair nearer than its room s has the energy ½ k (s − r)². Rooms are at most [`MOST_ROOM`] of the spacing, less than
//! particles need to move around each other at the initial density, so that repulsion bears no load at rest. At the
//! start no particle is nearer than its room. Rooms shrink with elastic compression, because matter that only deforms
//! is not crowded.
//!   r distance (m)   k stiffness (N/m)

use crate::material::Lame;
use crate::math::{Real, Vec3, quick_cbrt};

/// Largest room of a particle (spacings).
pub const MOST_ROOM: Real = 0.8;
/// Largest room of a particle that never flows (spacings): its neighbours stay the same, and only motion that the fit
/// does not detect brings them together.
pub const ELASTIC_ROOM: Real = 0.6;
/// Smallest distance by which anything is divided, as a fraction of the room.
const LEAST_DISTANCE: Real = 1e-6;

/// Returns the room of a particle that starts with its nearest neighbour at the given distance (m).
pub fn room(nearest: Real, spacing: Real) -> Real {
    nearest.min(MOST_ROOM * spacing)
}

/// Returns the stiffness that a particle contributes to its pairs, for a fraction `share` of λ + 2µ (N/m).
#[inline(always)]
pub fn stiffness(share: Real, lame: Lame, volume: Real) -> Real {
    share * lame.p_wave_modulus() * quick_cbrt(volume)
}

/// A pair of particles: the distance that it keeps, and the stiffness.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// Room s (m).
    pub room: Real,
    /// Stiffness k (N/m).
    pub stiffness: Real,
}

impl Pair {
    /// Returns the force on the particle that the bond starts from (N).
    #[inline(always)]
    pub fn force(self, bond: Vec3) -> Vec3 {
        let squared = bond.length_squared();
        if squared >= self.room * self.room {
            return Vec3::ZERO;
        }
        let distance = squared.sqrt().max(LEAST_DISTANCE * self.room);
        bond * (self.stiffness * (1.0 - self.room / distance))
    }

    /// Returns the energy of the pair (J).
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
