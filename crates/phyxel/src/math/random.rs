//! A small seeded generator (SplitMix64): the same numbers on every machine and for any number of threads.

use super::{Real, Vec3, vec3};

/// Seeded pseudo-random numbers.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// Creates a generator whose sequence depends on `seed` alone.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Creates generator number `stream` of a seed, so that rows of a parallel loop draw independently of their order.
    pub fn with_stream(seed: u64, stream: u64) -> Self {
        let mixed = Self::new(seed).bits();
        Self { state: mixed ^ stream.wrapping_mul(0xD1B5_4A32_D192_ED03) }
    }

    /// Returns the next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns a uniform number in `[0, 1)`.
    pub fn unit(&mut self) -> Real {
        (self.bits() >> 11) as Real / (1u64 << 53) as Real
    }

    /// Returns a uniform index in `0..count`; `count` must not be 0.
    pub fn index(&mut self, count: usize) -> usize {
        ((self.unit() * count as Real) as usize).min(count - 1)
    }

    /// Returns a uniform point in the cube `[-1, 1)³`.
    pub fn in_cube(&mut self) -> Vec3 {
        let mut next = || 2.0 * self.unit() - 1.0;
        vec3(next(), next(), next())
    }
}
