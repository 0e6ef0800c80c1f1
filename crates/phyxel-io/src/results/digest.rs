//! Digest of bytes, which names meshes, ties a checkpoint to its scene, and finds damage. It does not protect against
//! deliberate forgery.

use std::fmt;
use std::str::FromStr;

/// Hash of bytes by FNV-1a with 128 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentDigest(pub u128);

const OFFSET_BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

impl ContentDigest {
    /// The digest of no bytes.
    pub(super) const EMPTY: Self = Self(OFFSET_BASIS);

    /// Returns the digest of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self::EMPTY.and(bytes)
    }

    /// Returns the digest of all bytes so far, followed by these.
    pub(super) fn and(self, bytes: &[u8]) -> Self {
        Self(bytes.iter().fold(self.0, |hash, &byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME)))
    }
}

impl fmt::Display for ContentDigest {
    /// Writes 32 hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl FromStr for ContentDigest {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        u128::from_str_radix(text, 16).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Test vectors of the FNV authors.
    #[test]
    fn digests_are_those_of_fnv_1a_128() {
        assert_eq!(ContentDigest::of(b"").to_string(), "6c62272e07bb014262b821756295c58d");
        assert_eq!(ContentDigest::of(b"a").to_string(), "d228cb696f1a8caf78912b704e4a8964");
        let digest = ContentDigest::of(b"foobar");
        assert_eq!(digest.to_string().parse(), Ok(digest));
        assert_eq!(ContentDigest::of(b"foo").and(b"bar"), digest);
    }
}
