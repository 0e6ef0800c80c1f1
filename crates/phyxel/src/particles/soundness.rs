//! Check of state that was loaded from elsewhere, before anything is derived from it.

use super::{Carry, StateData, StateItem, StateVisitor};
use crate::math::{Mat3, Vec3};

/// Error: state that was loaded cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct StateError(pub String);

/// Visitor that finds columns of different lengths, indices that point nowhere, and values that are not finite.
#[derive(Debug, Default)]
pub(crate) struct Soundness {
    /// Size of each set, with the column that told it; empty for sets whose members are not state.
    sizes: Vec<(&'static str, &'static str, usize)>,
    /// Name, set and largest value of each column of indices.
    indices: Vec<(&'static str, &'static str, u32)>,
    problem: Option<String>,
}

impl Soundness {
    /// Creates the check of state that refers to sets of these sizes, whose members are not state themselves.
    pub(crate) fn new(outside: &[(&'static str, usize)]) -> Self {
        Self { sizes: outside.iter().map(|&(set, n)| (set, "", n)).collect(), ..Self::default() }
    }

    /// Returns the first problem as an error.
    pub(crate) fn finish(self) -> Result<(), StateError> {
        let size = |set: &str| self.sizes.iter().find(|known| known.0 == set).map_or(0, |known| known.2);
        let is_lost = |index: &&(&str, &'static str, u32)| index.2 as usize >= size(index.1);
        let lost = self.indices.iter().find(is_lost).map(|&(name, set, largest)| {
            format!("\"{name}\" refers to number {largest} of {} {set}", size(set))
        });
        self.problem.or(lost).map_or(Ok(()), |problem| Err(StateError(problem)))
    }

    fn see_rows(&mut self, name: &'static str, set: &'static str, n: usize) {
        match self.sizes.iter().find(|known| known.0 == set) {
            Some(&(_, other, size)) if size != n => {
                let other = if other.is_empty() { set } else { other };
                self.problem = Some(format!("\"{name}\" has {n} rows, \"{other}\" {size}"));
            }
            Some(_) => {}
            None => self.sizes.push((set, name, n)),
        }
    }
}

impl StateVisitor for Soundness {
    fn visit(&mut self, item: StateItem<'_>) {
        if self.problem.is_some() {
            return;
        }
        let StateItem { name, set, carry, .. } = item;
        let (n_rows, is_finite) = match &item.data {
            StateData::Reals(v) => (v.len(), v.iter().all(|x| !x.is_nan())),
            StateData::Vectors(v) => (v.len(), v.iter().all(|x| Vec3::is_finite(*x))),
            StateData::ShortVectors(v) => (v.len(), v.iter().all(|x| x.is_finite())),
            StateData::Matrices(v) => (v.len(), v.iter().all(Mat3::is_finite)),
            StateData::Integers(v) => (v.len(), true),
            StateData::Parameter(p) if p.values().len() != 1 => (p.values().len(), true),
            // one for all, or none of a set
            StateData::Parameter(_) | StateData::Counter(_) => return,
            StateData::Number(x) => (1, !x.is_nan()),
        };
        if !is_finite {
            self.problem = Some(format!("\"{name}\" has values that are not finite"));
        } else if !set.is_empty() {
            self.see_rows(name, set, n_rows);
        }
        if let (Carry::Index(other), StateData::Integers(v)) = (carry, &item.data)
            && let Some(&largest) = v.iter().max()
        {
            self.indices.push((name, other, largest));
        }
    }
}
