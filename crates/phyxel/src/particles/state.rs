//! Access to state: each array is listed once; checkpoints, reordering, splitting, merging and digests are visitors.

use super::Parameter;
use crate::math::{Fnv, Mat3, Real, ShortVec3, Vec3};

/// Name of the set of single numbers that decide which items follow them. A visitor that compares all state before it
/// replaces any must replace these at once.
pub const LAYOUT: &str = "layout";

/// One array (or number) of state, with the information that visitors need.
pub struct StateItem<'a> {
    /// Name, unique within a group.
    pub name: &'static str,
    /// SI unit, "1" for none.
    pub unit: &'static str,
    /// Set whose members are the rows; "" for single numbers.
    pub set: &'static str,
    /// Effect of splitting and merging on the data.
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
    /// One vector in single precision per row.
    ShortVectors(&'a mut Vec<ShortVec3>),
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

/// Effect of a split or a merge on a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carry {
    /// Intensive value: it is copied; a merge keeps that of the first member.
    Copy,
    /// Intensive value: a merge takes the mass-weighted mean.
    Mean,
    /// Extensive value: a split shares it, a merge adds it up.
    Sum,
    /// Index into the named set: it follows the members of that set.
    Index(&'static str),
}

/// A visitor of all state.
pub trait StateVisitor {
    /// Receives one state item. It is called once per item, always in the same order.
    fn visit(&mut self, item: StateItem<'_>);
}

/// Digest of all bits of the state (FNV-1a, 64 bits): equal states have equal digests, on every machine. Zeros count
/// without their sign, and every NaN as the same one: `max` and failed operations leave those bits to the processor.
#[derive(Clone, Copy, Debug)]
pub struct Digest(pub u64);

impl Default for Digest {
    fn default() -> Self {
        Self(Fnv::default().0)
    }
}

impl Digest {
    fn add(&mut self, bits: u64) {
        let mut digest = Fnv(self.0);
        digest.add(&bits.to_le_bytes());
        self.0 = digest.0;
    }

    fn add_real(&mut self, x: &Real) {
        self.add(if x.is_nan() { Real::NAN } else { x + 0.0 }.to_bits());
    }
}

impl StateVisitor for Digest {
    fn visit(&mut self, item: StateItem<'_>) {
        match item.data {
            StateData::Reals(v) => v.iter().for_each(|x| self.add_real(x)),
            StateData::Vectors(v) => v.iter().flat_map(Vec3::to_array).for_each(|x| self.add_real(&x)),
            StateData::ShortVectors(v) => {
                v.iter().flat_map(ShortVec3::to_array).for_each(|x| self.add_real(&Real::from(x)));
            }
            StateData::Matrices(v) => v.iter().flat_map(Mat3::to_cols_array).for_each(|x| self.add_real(&x)),
            StateData::Integers(v) => v.iter().for_each(|&x| self.add(u64::from(x))),
            StateData::Parameter(parameter) => {
                parameter.values().iter().for_each(|x| self.add_real(x));
            }
            StateData::Number(x) => self.add_real(x),
            StateData::Counter(x) => self.add(*x),
        }
    }
}
