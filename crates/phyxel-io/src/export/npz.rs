//! Export to NumPy arrays in one .npz file.
//!
//! Format of an array: <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>. If all frames have the
//! same particles, an array has a frame axis, and `positions[:, k]` is the path of particle `ids[k]`. If particles are
//! split or merged, there is an array per frame: `positions_0000`, `ids_0000`, ...

use super::frame_selection::is_velocity;
use super::zip::{EntryNumber, Zip};
use super::{ExportError, FrameSelection, Outlet, SelectedFrame};
use crate::results::ParticleTable;
use std::fs::File;
use std::io;

/// Particle data that an array holds.
#[derive(Clone, Copy)]
enum Value {
    Positions,
    Radii,
    Ids,
    Bodies,
    /// A column of the frames.
    Column(usize),
}

/// An array of values per particle.
struct Field {
    name: String,
    /// Lengths of the axes after those of frames and particles.
    shape: Vec<usize>,
    value: Value,
}

impl Field {
    fn of_selection(selection: &FrameSelection<'_>) -> Vec<Self> {
        let field =
            |name: &str, shape: &[usize], value| Self { name: name.into(), shape: shape.into(), value };
        let mut fields = vec![
            field("ids", &[], Value::Ids),
            field("body", &[], Value::Bodies),
            field("positions", &[3], Value::Positions),
            field("radii", &[], Value::Radii),
        ];
        for (place, column) in selection.columns().iter().enumerate() {
            let is_velocity = is_velocity(&column.name, column.n_components);
            let name = if is_velocity { "velocities" } else { &column.name };
            let shape: &[usize] = if column.n_components == 1 { &[] } else { &[column.n_components] };
            fields.push(field(name, shape, Value::Column(place)));
        }
        fields
    }

    /// Returns true if the array is the same in all frames that have the same particles.
    fn is_fixed(&self) -> bool {
        matches!(self.value, Value::Ids | Value::Bodies)
    }

    fn kind(&self) -> &'static str {
        if self.is_fixed() { "<u4" } else { "<f4" }
    }

    fn bytes(&self, particles: &ParticleTable) -> Vec<u8> {
        let floats = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let integers = |values: &[u32]| values.iter().flat_map(|value| value.to_le_bytes()).collect();
        match self.value {
            Value::Positions => floats(particles.position.as_flattened()),
            Value::Radii => floats(&particles.radius),
            Value::Ids => integers(&particles.id),
            Value::Bodies => integers(&particles.body),
            Value::Column(place) => floats(&particles.columns[place].values),
        }
    }
}

pub(super) fn write(selection: &FrameSelection<'_>, outlet: &mut Outlet<'_>) -> Result<(), ExportError> {
    let fixed = fixed_particles(selection, outlet)?;
    let fields = Field::of_selection(selection);
    let path = outlet.path;
    let mut zip = Zip::new(&mut *outlet.file);
    let failed = |source| ExportError::write(path, source);
    let mut stacked = Vec::new();
    if let Some(first) = &fixed {
        for field in &fields {
            let frames: &[usize] = if field.is_fixed() { &[] } else { &[selection.n_frames()] };
            let shape = [frames, &[first.id.len()], &field.shape].concat();
            let entry = begin(&mut zip, &field.name, field.kind(), &shape).map_err(failed)?;
            if field.is_fixed() {
                zip.append(entry, &field.bytes(first)).map_err(failed)?;
            }
            stacked.push(entry);
        }
    }
    let mut times = Vec::new();
    for number in selection.numbers() {
        let frame = selection.frame(number)?;
        times.push(frame.time);
        let written = match &fixed {
            Some(_) => append_frame(&mut zip, &fields, &stacked, &frame),
            None => write_frame(&mut zip, &fields, &frame),
        };
        written.and_then(|()| write_sets(&mut zip, &frame)).map_err(failed)?;
        outlet.watch.frame_is_done()?;
    }
    write_rest(&mut zip, selection, &times).and_then(|()| zip.finish()).map_err(failed)
}

/// Returns the particles of the first frame if all frames have the same particles, otherwise `None`.
fn fixed_particles(
    selection: &FrameSelection<'_>,
    outlet: &mut Outlet<'_>,
) -> Result<Option<ParticleTable>, ExportError> {
    let mut numbers = selection.numbers();
    let Some(first) = numbers.next() else { return Ok(None) };
    let first = selection.frame(first)?.particles;
    for number in numbers {
        let other = selection.frame(number)?.particles;
        if other.id != first.id || other.body != first.body {
            return Ok(None);
        }
        outlet.watch.check()?;
    }
    Ok(Some(first))
}

/// Appends a frame to the arrays that hold all frames.
fn append_frame(
    zip: &mut Zip<&mut File>,
    fields: &[Field],
    entries: &[EntryNumber],
    frame: &SelectedFrame,
) -> io::Result<()> {
    let mut moving = fields.iter().zip(entries).filter(|(field, _)| !field.is_fixed());
    moving.try_for_each(|(field, &entry)| zip.append(entry, &field.bytes(&frame.particles)))
}

/// Writes a frame as separate arrays.
fn write_frame(zip: &mut Zip<&mut File>, fields: &[Field], frame: &SelectedFrame) -> io::Result<()> {
    for field in fields {
        let name = format!("{}_{:04}", field.name, frame.number);
        let shape = [&[frame.particles.id.len()], field.shape.as_slice()].concat();
        let entry = begin(zip, &name, field.kind(), &shape)?;
        zip.append(entry, &field.bytes(&frame.particles))?;
    }
    Ok(())
}

/// Writes the point sets of a frame as separate arrays, SET_FIELD_FRAME.
fn write_sets(zip: &mut Zip<&mut File>, frame: &SelectedFrame) -> io::Result<()> {
    for set in &frame.particles.point_sets {
        let n = set.body.len();
        let mut array = |field: &str, kind: &str, shape: &[usize], bytes: Vec<u8>| {
            let name = format!("{}_{field}_{:04}", set.name, frame.number);
            begin(zip, &name, kind, shape).and_then(|entry| zip.append(entry, &bytes))
        };
        let floats = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect();
        array("position", "<f4", &[n, 3], floats(set.position.as_flattened()))?;
        array("body", "<u4", &[n], set.body.iter().flat_map(|body| body.to_le_bytes()).collect())?;
        for column in &set.columns {
            let shape = [n, column.n_components];
            let shape = if column.n_components == 1 { &shape[..1] } else { &shape[..] };
            array(&column.name, "<f4", shape, floats(&column.values))?;
        }
    }
    Ok(())
}

/// Writes the arrays that are not per particle: times, frame numbers, frame rate and names of bodies.
fn write_rest(zip: &mut Zip<&mut File>, selection: &FrameSelection<'_>, times: &[f64]) -> io::Result<()> {
    let mut whole = |name: &str, kind: &str, shape: &[usize], bytes: Vec<u8>| {
        begin(zip, name, kind, shape).and_then(|entry| zip.append(entry, &bytes))
    };
    let doubles = |values: &[f64]| values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let numbers = selection.numbers().flat_map(|number| (number as i64).to_le_bytes());
    whole("times", "<f8", &[times.len()], doubles(times))?;
    whole("frames", "<i8", &[times.len()], numbers.collect())?;
    whole("frame_rate", "<f8", &[], doubles(&[selection.info().frame_rate]))?;
    // texts in UTF-32, padded with zeros to equal length
    let names: Vec<Vec<char>> = selection.body_names().map(|name| name.chars().collect()).collect();
    let length = names.iter().map(Vec::len).max().unwrap_or(0).max(1);
    let padded = names.iter().flat_map(|name| {
        let letters = name.iter().map(|&letter| u32::from(letter));
        letters.chain(std::iter::repeat(0)).take(length).flat_map(u32::to_le_bytes)
    });
    whole("body_names", &format!("<U{length}"), &[names.len()], padded.collect())
}

/// Creates the entry of an array, writes its header and reserves room for its values.
fn begin(zip: &mut Zip<&mut File>, name: &str, kind: &str, shape: &[usize]) -> io::Result<EntryNumber> {
    let header = header(kind, shape);
    let n_values: u64 = shape.iter().map(|&n| n as u64).product();
    let entry = zip.entry(format!("{name}.npy"), header.len() as u64 + n_values * value_size(kind))?;
    zip.append(entry, &header)?;
    Ok(entry)
}

/// Returns the size of a value of a kind such as `<f4` (bytes); each letter of a text has four bytes.
fn value_size(kind: &str) -> u64 {
    let number = kind[2..].parse().unwrap_or(0);
    if kind.starts_with("<U") { 4 * number } else { number }
}

/// Returns a header of version 1.0: magic, length, a Python dictionary, and blanks up to a multiple of 64 bytes.
fn header(kind: &str, shape: &[usize]) -> Vec<u8> {
    const PREFIX: usize = 10;
    const ALIGNMENT: usize = 64;
    let axes: Vec<String> = shape.iter().map(usize::to_string).collect();
    let shape = match axes.as_slice() {
        [only] => format!("({only},)"),
        axes => format!("({})", axes.join(", ")),
    };
    let mut text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
    let n_blanks = (PREFIX + text.len() + 1).next_multiple_of(ALIGNMENT) - (PREFIX + text.len() + 1);
    text.extend(std::iter::repeat_n(' ', n_blanks));
    text.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend_from_slice(&(text.len() as u16).to_le_bytes());
    bytes.extend_from_slice(text.as_bytes());
    bytes
}
