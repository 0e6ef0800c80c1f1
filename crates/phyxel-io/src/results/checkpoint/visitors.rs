//! The visitors that write all state of a world as bytes, and put it back.

use super::CheckpointError;
use phyxel::math::{Mat3, Vec3};
use phyxel::particles::{StateData, StateItem, StateVisitor};

pub(super) fn put_text(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
    bytes.extend_from_slice(text.as_bytes());
}

/// Name of a type, as in messages, its tag, and the bytes of a row.
fn kind(data: &StateData<'_>) -> (&'static str, u8, usize) {
    match data {
        StateData::Reals(_) => ("reals", 0, 8),
        StateData::Vectors(_) => ("vectors", 1, 24),
        StateData::Matrices(_) => ("matrices", 2, 72),
        StateData::Integers(_) => ("integers", 3, 4),
        StateData::Number(_) => ("number", 4, 8),
        StateData::Counter(_) => ("counter", 5, 8),
    }
}

#[derive(Default)]
pub(super) struct Writer(pub(super) Vec<u8>);

impl StateVisitor for Writer {
    fn visit(&mut self, item: StateItem<'_>) {
        let bytes = &mut self.0;
        [item.name, item.unit, item.set].iter().for_each(|text| put_text(bytes, text));
        let (_, tag, row_size) = kind(&item.data);
        let n_rows = match &item.data {
            StateData::Reals(v) => v.len(),
            StateData::Vectors(v) => v.len(),
            StateData::Matrices(v) => v.len(),
            StateData::Integers(v) => v.len(),
            StateData::Number(_) | StateData::Counter(_) => 1,
        };
        bytes.push(tag);
        bytes.extend_from_slice(&(n_rows as u64).to_le_bytes());
        bytes.reserve(n_rows * row_size);
        let mut put = |x: f64| bytes.extend_from_slice(&x.to_le_bytes());
        match item.data {
            StateData::Reals(v) => v.iter().copied().for_each(put),
            StateData::Vectors(v) => v.iter().flat_map(Vec3::to_array).for_each(put),
            StateData::Matrices(v) => v.iter().flat_map(Mat3::to_cols_array).for_each(put),
            StateData::Number(x) => put(*x),
            StateData::Integers(v) => v.iter().for_each(|x| bytes.extend_from_slice(&x.to_le_bytes())),
            StateData::Counter(x) => bytes.extend_from_slice(&x.to_le_bytes()),
        }
    }
}

/// Takes values from the front of some bytes.
pub(super) struct Cursor<'a>(pub(super) &'a [u8]);

impl<'a> Cursor<'a> {
    pub(super) fn take(&mut self, n_bytes: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(n_bytes)?;
        self.0 = rest;
        Some(taken)
    }

    pub(super) fn word(&mut self) -> Option<[u8; 4]> {
        self.take(4)?.first_chunk().copied()
    }

    pub(super) fn long(&mut self) -> Option<u64> {
        self.take(8)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
    }

    pub(super) fn text(&mut self) -> Option<&'a str> {
        let n_bytes = u32::from_le_bytes(self.word()?) as usize;
        std::str::from_utf8(self.take(n_bytes)?).ok()
    }
}

/// Compares the state with what is saved; `replace` puts it in place.
pub(super) struct Reader<'a> {
    cursor: Cursor<'a>,
    replace: bool,
    /// Name, set and rows of the items of the present group.
    group: Vec<(&'static str, &'static str, usize)>,
    problem: Option<String>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8], replace: bool) -> Self {
        Self { cursor: Cursor(bytes), replace, group: Vec::new(), problem: None }
    }

    pub(super) fn finish(self) -> Result<(), CheckpointError> {
        match self.problem {
            Some(problem) => Err(CheckpointError::Misfit(problem)),
            None if !self.cursor.0.is_empty() => {
                Err(CheckpointError::Misfit("it has more state than the scene".into()))
            }
            None => Ok(()),
        }
    }

    fn read(&mut self, item: StateItem<'_>) -> Result<(), String> {
        let (name, set) = (item.name, item.set);
        let ended = || format!("it ends before \"{name}\"");
        let found = [self.cursor.text(), self.cursor.text(), self.cursor.text()];
        let [Some(found_name), Some(found_unit), Some(found_set)] = found else { return Err(ended()) };
        if (found_name, found_unit, found_set) != (name, item.unit, set) {
            return Err(format!(
                "\"{name}\" [{}] is expected, \"{found_name}\" [{found_unit}] found",
                item.unit
            ));
        }
        let (kind_name, tag, row_size) = kind(&item.data);
        if self.cursor.take(1).ok_or_else(ended)? != [tag] {
            return Err(format!("\"{name}\" is not of type {kind_name}"));
        }
        let n_rows = self.cursor.long().and_then(|n| usize::try_from(n).ok()).ok_or_else(ended)?;
        let bytes =
            n_rows.checked_mul(row_size).and_then(|n_bytes| self.cursor.take(n_bytes)).ok_or_else(ended)?;
        self.check_rows(name, set, n_rows)?;
        match item.data {
            StateData::Number(_) | StateData::Counter(_) if n_rows != 1 => {
                return Err(format!("\"{name}\" has {n_rows} values in place of one"));
            }
            data if self.replace => replace(data, bytes),
            _ => {}
        }
        Ok(())
    }

    /// All arrays of a set have the same length, or are not made yet.
    fn check_rows(&mut self, name: &'static str, set: &'static str, n_rows: usize) -> Result<(), String> {
        if self.group.iter().any(|item| item.0 == name) {
            self.group.clear();
        }
        let other = self.group.iter().find(|item| item.1 == set && item.2 != 0);
        match other {
            Some(other) if !set.is_empty() && n_rows != 0 && other.2 != n_rows => {
                Err(format!("\"{name}\" has {n_rows} rows, \"{}\" {}", other.0, other.2))
            }
            _ => {
                self.group.push((name, set, n_rows));
                Ok(())
            }
        }
    }
}

fn real(bytes: &[u8]) -> f64 {
    bytes.first_chunk().map_or(f64::NAN, |bytes| f64::from_le_bytes(*bytes))
}

fn reals<const N: usize>(bytes: &[u8]) -> [f64; N] {
    std::array::from_fn(|k| real(&bytes[8 * k..]))
}

fn replace(data: StateData<'_>, bytes: &[u8]) {
    match data {
        StateData::Reals(v) => *v = bytes.chunks_exact(8).map(real).collect(),
        StateData::Vectors(v) => {
            *v = bytes.chunks_exact(24).map(|row| Vec3::from_array(reals(row))).collect()
        }
        StateData::Matrices(v) => {
            *v = bytes.chunks_exact(72).map(|row| Mat3::from_cols_array(&reals(row))).collect()
        }
        StateData::Integers(v) => {
            let integer = |row: &[u8]| row.first_chunk().map_or(0, |row| u32::from_le_bytes(*row));
            *v = bytes.chunks_exact(4).map(integer).collect();
        }
        StateData::Number(x) => *x = real(bytes),
        StateData::Counter(x) => *x = bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes)),
    }
}

impl StateVisitor for Reader<'_> {
    fn visit(&mut self, item: StateItem<'_>) {
        if self.problem.is_none() {
            self.problem = self.read(item).err();
        }
    }
}
