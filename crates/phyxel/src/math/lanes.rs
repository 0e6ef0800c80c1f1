//! Numbers that are computed side by side.

use super::{Mat3, Real, Vec3};
use std::ops::{Add, AddAssign, Mul, Sub};

/// Number of numbers that are computed side by side.
pub const LANES: usize = 2;

/// Numbers that are computed side by side, which compilers turn into the vector instructions of the machine. Sums over
/// lanes have a fixed order, so that bits do not depend on these instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(align(16))]
pub struct Lanes(pub [Real; LANES]);

impl Lanes {
    /// Returns the same number in all lanes.
    #[inline(always)]
    pub fn splat(x: Real) -> Self {
        Self([x; LANES])
    }

    /// Returns the function of each number.
    #[inline(always)]
    pub fn map(self, f: impl Fn(Real) -> Real) -> Self {
        Self(self.0.map(f))
    }

    /// Returns the numbers rounded to single precision.
    #[inline(always)]
    pub fn rounded(self) -> Self {
        self.map(|x| Real::from(x as f32))
    }

    /// Returns the sum over the lanes.
    #[inline(always)]
    pub fn sum(self) -> Real {
        let [a, b] = self.0;
        a + b
    }
}

macro_rules! lane_by_lane {
    ($trait:ident, $method:ident, $operator:tt) => {
        impl $trait for Lanes {
            type Output = Self;

            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(std::array::from_fn(|k| self.0[k] $operator other.0[k]))
            }
        }
    };
}
lane_by_lane!(Add, add, +);
lane_by_lane!(Sub, sub, -);
lane_by_lane!(Mul, mul, *);

impl AddAssign for Lanes {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// Vectors in lanes, component by component.
pub type VectorLanes = [Lanes; 3];

/// Returns M v.
#[inline(always)]
pub fn mapped(m: &[[Lanes; 3]; 3], v: &VectorLanes) -> VectorLanes {
    std::array::from_fn(|row| m[0][row] * v[0] + m[1][row] * v[1] + m[2][row] * v[2])
}

/// Returns the matrix in all lanes, column by column.
#[inline(always)]
pub fn matrix_lanes(m: Mat3) -> [[Lanes; 3]; 3] {
    m.to_cols_array_2d().map(|column| column.map(Lanes::splat))
}

/// Returns the sum over the lanes.
#[inline(always)]
pub fn vector_sum(v: &VectorLanes) -> Vec3 {
    Vec3::from(v.map(Lanes::sum))
}
