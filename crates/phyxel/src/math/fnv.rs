//! A digest that is the same on every machine.

use std::fmt;

/// Digest of bytes (FNV-1a, 64 bits).
#[derive(Clone, Copy, Debug)]
pub struct Fnv(pub u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }
}

impl Fnv {
    /// Adds bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        }
    }
}

impl fmt::Write for Fnv {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.add(text.as_bytes());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of the reference implementation (isthe.com/chongo/tech/comp/fnv).
    #[test]
    fn digests_are_those_of_fnv() {
        let of = |text: &str| {
            let mut digest = Fnv::default();
            digest.add(text.as_bytes());
            digest.0
        };
        assert_eq!(
            [of(""), of("a"), of("foobar")],
            [0xCBF2_9CE4_8422_2325, 0xAF63_DC4C_8601_EC8C, 0x8594_4171_F739_67E8]
        );
    }
}
