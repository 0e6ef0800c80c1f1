//! A small seeded generator: the same numbers on every machine, for any order of evaluation.

use crate::math::{Real, Vec3, vec3};

/// SplitMix64 (Steele, Lea and Flood 2014): 64 bits of state, one multiply-xor round per number.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    state: u64,
}

impl Random {
    /// Generator number `stream` of a seed, so that rows of a parallel loop draw independently of their order.
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        let mut random = Self { state: seed };
        let mixed = random.next_bits();
        Self { state: mixed ^ stream.wrapping_mul(0xD1B5_4A32_D192_ED03) }
    }

    pub(crate) fn next_bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// Uniform in [0, 1).
    pub(crate) fn unit(&mut self) -> Real {
        (self.next_bits() >> 11) as Real * (0.5 as Real).powi(53)
    }

    /// Uniform in the cube [-1, 1)³.
    pub(crate) fn in_cube(&mut self) -> Vec3 {
        let mut coordinate = || 2.0 * self.unit() - 1.0;
        vec3(coordinate(), coordinate(), coordinate())
    }

    /// Uniform among 0..count; `count` must not be 0.
    pub(crate) fn index(&mut self, count: usize) -> usize {
        ((self.unit() * count as Real) as usize).min(count - 1)
    }
}
