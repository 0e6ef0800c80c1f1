//! State is listed once; checkpoint, reorder, split and merge, and digests are visitors of that list.

use super::Parameter;
use crate::math::{Mat3, Real, Vec3};

/// Set of single numbers that decide which items follow them: a visitor that compares state before it replaces any
/// replaces these at once.
pub const LAYOUT: &str = "layout";

/// One array (or number) of state, with what a visitor must know about it.
pub struct StateItem<'a> {
    /// Unique within a group.
    pub name: &'static str,
    /// SI unit, "1" for none.
    pub unit: &'static str,
    /// The set whose members the rows are; "" for single numbers.
    pub set: &'static str,
    /// What splitting and merging do to it.
    pub carry: Carry,
    /// The data itself.
    pub data: StateData<'a>,
}

/// The data of a state item.
pub enum StateData<'a> {
    /// One number per row.
    Reals(&'a mut Vec<Real>),
    /// One vector per row.
    Vectors(&'a mut Vec<Vec3>),
    /// One matrix per row.
    Matrices(&'a mut Vec<Mat3>),
    /// One integer per row.
    Integers(&'a mut Vec<u32>),
    /// One number per row, or one for all of them.
    Parameter(&'a mut Parameter),
    /// A single number.
    Number(&'a mut Real),
    /// A single counter.
    Counter(&'a mut u64),
}

/// What a split or a merge does to a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carry {
    /// Intensive: copied; a merge keeps the first one's.
    Copy,
    /// Intensive: mass-weighted mean of what merges.
    Mean,
    /// Extensive: shared by what splits, added up in what merges.
    Sum,
    /// Indices into the named set: follow its members.
    Index(&'static str),
}

/// Something that walks over all state.
pub trait StateVisitor {
    /// Called once per item, always in the same order.
    fn visit(&mut self, item: StateItem<'_>);
}

/// A digest of every bit of the state (FNV-1a, 64 bits): equal states have equal digests.
#[derive(Clone, Copy, Debug)]
pub struct Digest(pub u64);

impl Default for Digest {
    fn default() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }
}

impl Digest {
    fn add(&mut self, bits: u64) {
        for byte in bits.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        }
    }
}

impl StateVisitor for Digest {
    fn visit(&mut self, item: StateItem<'_>) {
        match item.data {
            StateData::Reals(v) => v.iter().for_each(|x| self.add(x.to_bits())),
            StateData::Vectors(v) => v.iter().flat_map(Vec3::to_array).for_each(|x| self.add(x.to_bits())),
            StateData::Matrices(v) => {
                v.iter().flat_map(Mat3::to_cols_array).for_each(|x| self.add(x.to_bits()))
            }
            StateData::Integers(v) => v.iter().for_each(|&x| self.add(u64::from(x))),
            StateData::Parameter(parameter) => {
                parameter.values().iter().for_each(|x| self.add(x.to_bits()));
            }
            StateData::Number(x) => self.add(x.to_bits()),
            StateData::Counter(x) => self.add(*x),
        }
    }
}
