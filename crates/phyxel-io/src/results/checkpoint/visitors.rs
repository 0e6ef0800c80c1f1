//! Visitors that write the state of a world as bytes, and restore it.

use super::{CHUNK, CheckpointError};
use phyxel::math::{Mat3, ShortVec3, Vec3};
use phyxel::particles::{LAYOUT, Parameter, StateData, StateItem, StateVisitor};
use std::io::{self, ErrorKind, Read, Write};

/// Largest length of a text (bytes); names and versions are shorter, so a longer one means damage.
const MAX_TEXT: u32 = 1024;

pub(super) fn put_text(out: &mut impl Write, text: &str) -> io::Result<()> {
    out.write_all(&(text.len() as u32).to_le_bytes())?;
    out.write_all(text.as_bytes())
}

pub(super) fn take_word(input: &mut impl Read) -> io::Result<[u8; 4]> {
    let mut bytes = [0; 4];
    input.read_exact(&mut bytes)?;
    Ok(bytes)
}

pub(super) fn take_long(input: &mut impl Read) -> io::Result<u64> {
    let mut bytes = [0; 8];
    input.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

pub(super) fn take_text(input: &mut impl Read) -> io::Result<String> {
    let n_bytes = u32::from_le_bytes(take_word(input)?);
    if n_bytes > MAX_TEXT {
        return Err(ErrorKind::InvalidData.into());
    }
    let mut bytes = vec![0; n_bytes as usize];
    input.read_exact(&mut bytes)?;
    String::from_utf8(bytes).map_err(|_| ErrorKind::InvalidData.into())
}

/// Returns the name of a type for messages, its tag, and the size of a row (bytes).
fn kind(data: &StateData<'_>) -> (&'static str, u8, usize) {
    match data {
        StateData::Reals(_) => ("reals", 0, 8),
        StateData::Vectors(_) => ("vectors", 1, 24),
        StateData::Matrices(_) => ("matrices", 2, 72),
        StateData::Integers(_) => ("integers", 3, 4),
        StateData::Number(_) => ("number", 4, 8),
        StateData::Counter(_) => ("counter", 5, 8),
        StateData::Parameter(_) => ("parameter", 6, 8),
        StateData::ShortVectors(_) => ("short vectors", 7, 12),
    }
}

/// Visitor that writes every item, until the first failure.
pub(super) struct Writer<W> {
    out: W,
    failure: Option<io::Error>,
}

impl<W: Write> Writer<W> {
    pub(super) fn new(out: W) -> Self {
        Self { out, failure: None }
    }

    pub(super) fn finish(self) -> io::Result<()> {
        self.failure.map_or(Ok(()), Err)
    }

    fn write(&mut self, item: StateItem<'_>) -> io::Result<()> {
        let out = &mut self.out;
        [item.name, item.unit, item.set].iter().try_for_each(|text| put_text(out, text))?;
        let (_, tag, _) = kind(&item.data);
        let n_rows = match &item.data {
            StateData::Reals(v) => v.len(),
            StateData::Vectors(v) => v.len(),
            StateData::ShortVectors(v) => v.len(),
            StateData::Matrices(v) => v.len(),
            StateData::Integers(v) => v.len(),
            StateData::Parameter(parameter) => parameter.values().len(),
            StateData::Number(_) | StateData::Counter(_) => 1,
        };
        out.write_all(&[tag])?;
        out.write_all(&(n_rows as u64).to_le_bytes())?;
        let mut put = |x: f64| out.write_all(&x.to_le_bytes());
        match item.data {
            StateData::Reals(v) => v.iter().copied().try_for_each(put),
            StateData::Vectors(v) => v.iter().flat_map(Vec3::to_array).try_for_each(put),
            StateData::Matrices(v) => v.iter().flat_map(Mat3::to_cols_array).try_for_each(put),
            StateData::Parameter(parameter) => parameter.values().iter().copied().try_for_each(put),
            StateData::Number(x) => put(*x),
            StateData::ShortVectors(v) => {
                v.iter().flat_map(ShortVec3::to_array).try_for_each(|x| out.write_all(&x.to_le_bytes()))
            }
            StateData::Integers(v) => v.iter().try_for_each(|x| out.write_all(&x.to_le_bytes())),
            StateData::Counter(x) => out.write_all(&x.to_le_bytes()),
        }
    }
}

impl<W: Write> StateVisitor for Writer<W> {
    fn visit(&mut self, item: StateItem<'_>) {
        if self.failure.is_none() {
            self.failure = self.write(item).err();
        }
    }
}

/// Visitor that compares the layout of the state with the saved one; with `replace`, it also restores the values.
pub(super) struct Reader<R> {
    input: R,
    replace: bool,
    /// Name, set and number of rows of the items of the current group.
    group: Vec<(&'static str, &'static str, usize)>,
    problem: Option<CheckpointError>,
}

impl<R: Read> Reader<R> {
    pub(super) fn new(input: R, replace: bool) -> Self {
        Self { input, replace, group: Vec::new(), problem: None }
    }

    pub(super) fn finish(mut self) -> Result<(), CheckpointError> {
        if let Some(problem) = self.problem {
            return Err(problem);
        }
        match self.input.read_exact(&mut [0]) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(()),
            Err(error) => Err(broken(&error)),
            Ok(()) => Err(CheckpointError::Misfit("it has more state than the scene".into())),
        }
    }

    fn read(&mut self, item: StateItem<'_>) -> Result<(), CheckpointError> {
        let (name, set) = (item.name, item.set);
        let misfit = |problem| Err(CheckpointError::Misfit(problem));
        let ended = |error: io::Error| match error.kind() {
            ErrorKind::UnexpectedEof | ErrorKind::InvalidData => {
                CheckpointError::Misfit(format!("it ends before \"{name}\""))
            }
            _ => broken(&error),
        };
        let mut text = || take_text(&mut self.input).map_err(ended);
        let (found_name, found_unit, found_set) = (text()?, text()?, text()?);
        if (found_name.as_str(), found_unit.as_str(), found_set.as_str()) != (name, item.unit, set) {
            return misfit(format!(
                "\"{name}\" [{}] is expected, \"{found_name}\" [{found_unit}] found",
                item.unit
            ));
        }
        let (kind_name, tag, row_size) = kind(&item.data);
        let mut found_tag = [0];
        self.input.read_exact(&mut found_tag).map_err(ended)?;
        if found_tag != [tag] {
            return misfit(format!("\"{name}\" is not of type {kind_name}"));
        }
        let n_rows = take_long(&mut self.input).map_err(ended)?;
        let too_long = || ended(ErrorKind::UnexpectedEof.into());
        let n_rows = usize::try_from(n_rows).map_err(|_| too_long())?;
        let n_bytes = n_rows.checked_mul(row_size).ok_or_else(too_long)?;
        let is_one_for_all = n_rows == 1 && matches!(item.data, StateData::Parameter(_));
        if !is_one_for_all {
            self.check_rows(name, set, n_rows).map_err(CheckpointError::Misfit)?;
        }
        match item.data {
            StateData::Number(_) | StateData::Counter(_) if n_rows != 1 => {
                misfit(format!("\"{name}\" has {n_rows} values in place of one"))
            }
            // items of the layout decide which items follow, so they are always restored
            data if self.replace || set == LAYOUT => replace(data, &mut self.input, n_rows).map_err(ended),
            _ => skip(&mut self.input, n_bytes as u64).map_err(ended),
        }
    }

    /// Checks that all arrays of a set have the same length, or are empty because they do not exist yet.
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

/// Replaces all rows by rows from the input. The first reading has checked that the input has that many.
fn replace_rows<T, const N: usize>(
    rows: &mut Vec<T>,
    input: &mut impl Read,
    n_rows: usize,
    row: impl Fn(&[u8; N]) -> T,
) -> io::Result<()> {
    rows.clear();
    rows.reserve_exact(n_rows);
    let mut chunk = vec![0; CHUNK / N * N];
    while rows.len() < n_rows {
        let part = &mut chunk[..((n_rows - rows.len()) * N).min(CHUNK / N * N)];
        input.read_exact(part)?;
        rows.extend(part.as_chunks().0.iter().map(&row));
    }
    Ok(())
}

fn skip(input: &mut impl Read, n_bytes: u64) -> io::Result<()> {
    let n_skipped = io::copy(&mut input.take(n_bytes), &mut io::sink())?;
    if n_skipped == n_bytes { Ok(()) } else { Err(ErrorKind::UnexpectedEof.into()) }
}

fn replace(data: StateData<'_>, input: &mut impl Read, n_rows: usize) -> io::Result<()> {
    match data {
        StateData::Reals(v) => replace_rows(v, input, n_rows, |row: &[u8; 8]| real(row)),
        StateData::Vectors(v) => {
            replace_rows(v, input, n_rows, |row: &[u8; 24]| Vec3::from_array(reals(row)))
        }
        StateData::Matrices(v) => {
            replace_rows(v, input, n_rows, |row: &[u8; 72]| Mat3::from_cols_array(&reals(row)))
        }
        StateData::ShortVectors(v) => replace_rows(v, input, n_rows, |row: &[u8; 12]| {
            let word = |k: usize| f32::from_le_bytes([row[k], row[k + 1], row[k + 2], row[k + 3]]);
            ShortVec3::new(word(0), word(4), word(8))
        }),
        StateData::Integers(v) => replace_rows(v, input, n_rows, |row: &[u8; 4]| u32::from_le_bytes(*row)),
        StateData::Parameter(parameter) => {
            let mut values = Vec::new();
            replace_rows(&mut values, input, n_rows, |row: &[u8; 8]| real(row))?;
            *parameter = Parameter::from_values(values);
            Ok(())
        }
        StateData::Number(x) => {
            *x = f64::from_bits(take_long(input)?);
            Ok(())
        }
        StateData::Counter(x) => {
            *x = take_long(input)?;
            Ok(())
        }
    }
}

/// Converts an error of the decompressor or of the system.
fn broken(error: &io::Error) -> CheckpointError {
    match error.raw_os_error() {
        Some(_) => CheckpointError::Unreadable(error.to_string()),
        None => CheckpointError::Damaged("it cannot be decompressed"),
    }
}

impl<R: Read> StateVisitor for Reader<R> {
    fn visit(&mut self, item: StateItem<'_>) {
        if self.problem.is_none() {
            self.problem = self.read(item).err();
        }
    }
}
