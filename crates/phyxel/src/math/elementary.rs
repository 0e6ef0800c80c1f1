//! Elementary functions with the same bits on every machine.
//!
//! The standard library leaves these to the C library of the system, whose last bits depend on its version and on what
//! the processor can do (glibc has variants with fused products); powers with whole exponents it leaves to the
//! compiler. Here they are sums and products in a fixed order (`libm`), which IEEE 754 rounds in one way only.
//! Square roots and rounding are exact everywhere and stay with the standard library.

use super::Real;

/// Returns e to the power of x.
#[inline]
pub fn exp(x: Real) -> Real {
    libm::exp(x)
}

/// Returns the natural logarithm; NaN below zero.
#[inline]
pub fn ln(x: Real) -> Real {
    libm::log(x)
}

/// Returns the logarithm to the base 2; NaN below zero.
#[inline]
pub fn log2(x: Real) -> Real {
    libm::log2(x)
}

/// Returns the cube root, correctly rounded, with the sign of x.
#[inline]
pub fn cbrt(x: Real) -> Real {
    libm::cbrt(x)
}

/// Returns the cube root of a positive, normal number within a few units of the last place, for particle loops: three of
/// Halley's steps from a third of the exponent.
#[inline]
pub fn quick_cbrt(x: Real) -> Real {
    // bits of 1.0, of which a third is taken away
    const TWO_THIRDS_OF_ONE: u64 = 0x3ff0_0000_0000_0000 / 3 * 2;
    let mut root = Real::from_bits(x.to_bits() / 3 + TWO_THIRDS_OF_ONE);
    for _ in 0..3 {
        let cubed = root * root * root;
        root *= (cubed + 2.0 * x) / (2.0 * cubed + x);
    }
    root
}

/// Returns x to the power of y; whole powers are cheaper by [`power`].
#[inline]
pub fn pow(x: Real, y: Real) -> Real {
    libm::pow(x, y)
}

/// Returns the length of (x, y), also where the squares leave the range of numbers.
#[inline]
pub fn hypot(x: Real, y: Real) -> Real {
    libm::hypot(x, y)
}

/// Returns the sine of an angle (rad).
#[inline]
pub fn sin(angle: Real) -> Real {
    libm::sin(angle)
}

/// Returns the cosine of an angle (rad).
#[inline]
pub fn cos(angle: Real) -> Real {
    libm::cos(angle)
}

/// Returns the angle with the cosine x (rad), from 0 to π; NaN outside of [-1, 1].
#[inline]
pub fn acos(x: Real) -> Real {
    libm::acos(x)
}

/// Returns the angle of the direction (x, y) (rad), from -π to π.
#[inline]
pub fn atan2(y: Real, x: Real) -> Real {
    libm::atan2(y, x)
}

/// Returns x².
#[inline(always)]
pub fn square(x: Real) -> Real {
    x * x
}

/// Returns x³.
#[inline(always)]
pub fn cube(x: Real) -> Real {
    x * x * x
}

/// Returns xⁿ, by squaring: the products are the same in every build.
#[inline]
pub fn power(mut x: Real, mut n: u32) -> Real {
    let mut product = 1.0;
    loop {
        if n & 1 == 1 {
            product *= x;
        }
        n >>= 1;
        if n == 0 {
            return product;
        }
        x *= x;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Random;

    #[test]
    fn the_quick_cube_root_is_right_to_the_last_places() {
        let mut random = Random::new(27);
        for _ in 0..10_000 {
            let x = exp(200.0 * (random.unit() - 0.5));
            assert!((quick_cbrt(x) / cbrt(x) - 1.0).abs() < 1e-15, "{x:e}");
        }
    }
}
