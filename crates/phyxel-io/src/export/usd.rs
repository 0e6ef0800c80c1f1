//! USD as text (.usda): a `Points` prim per body below one `Xform`, animated by time samples.
//!
//! A time code is the number of a frame. The text has all samples of an attribute together, the frames have all attributes
//! of a moment together: samples are spooled to a file beside the target, one after the other, and then put in their order,
//! so that no more than a frame is ever in memory. An attribute that never changes is written once, without time samples.

use super::number::{push_f32, push_joined};
use super::take::is_velocity;
use super::{ExportError, Moment, Outlet, Take};
use crate::results::ParticleTable;
use crate::results::atomic::Aside;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};

const ROOT: &str = "phyxel";

/// An attribute of a prim: its declaration, and its value in a moment.
struct Attribute {
    /// Type and name.
    declaration: String,
    /// Lines between the parentheses behind it.
    metadata: Vec<String>,
    value: Value,
}

/// What of the particles an attribute shows.
#[derive(Clone, Copy)]
enum Value {
    Extent,
    Ids,
    Positions,
    Widths,
    /// A column of the frames.
    Column(usize),
}

pub(super) fn write(take: &Take<'_>, outlet: &mut Outlet<'_>) -> Result<(), ExportError> {
    let attributes = attributes(take);
    let mut spool = Spool::create(outlet, take.body_names().len() * attributes.len())?;
    for number in take.numbers() {
        let moment = take.moment(number)?;
        for body in 0..take.body_names().len() {
            let rows = moment.rows_of(body);
            for (place, attribute) in attributes.iter().enumerate() {
                let text = attribute.value.text(&moment, &rows);
                let track = body * attributes.len() + place;
                spool.add(track, text).map_err(|source| outlet.failed(source))?;
            }
        }
        outlet.watch.frame_is_done()?;
    }
    assemble(take, &attributes, &mut spool, outlet.file).map_err(|source| outlet.failed(source))
}

fn attributes(take: &Take<'_>) -> Vec<Attribute> {
    let attribute = |declaration: &str, metadata: &[&str], value| Attribute {
        declaration: declaration.to_owned(),
        metadata: metadata.iter().map(|&line| line.to_owned()).collect(),
        value,
    };
    let mut attributes = vec![
        attribute("float3[] extent", &[], Value::Extent),
        attribute("int64[] ids", &[], Value::Ids),
        attribute("point3f[] points", &[], Value::Positions),
        attribute("float[] widths", &["interpolation = \"vertex\""], Value::Widths),
        // once more as a primvar: Blender makes an attribute of it, and none of `ids`
        attribute("int[] primvars:id", &["interpolation = \"vertex\""], Value::Ids),
    ];
    let mut names = Names::default();
    names.identifier("id");
    for (place, column) in take.columns().iter().enumerate() {
        if is_velocity(&column.name, column.n_components) {
            attributes.push(attribute("vector3f[] velocities", &[], Value::Column(place)));
            continue;
        }
        let kind = if column.n_components == 3 { "float3" } else { "float" };
        let declaration = format!("{kind}[] primvars:{}", names.identifier(&column.name));
        let unit = format!("customData = {{ string unit = {} }}", quoted(&column.unit));
        let metadata = ["interpolation = \"vertex\"", &unit];
        attributes.push(attribute(&declaration, &metadata, Value::Column(place)));
    }
    attributes
}

impl Value {
    /// The value in a moment, for some of its particles.
    fn text(self, moment: &Moment, rows: &[usize]) -> String {
        let particles = &moment.particles;
        let mut text = String::from("[");
        match self {
            Self::Extent => {
                let [low, high] = extent(particles, rows);
                push_vector(&mut text, &low);
                text.push_str(", ");
                push_vector(&mut text, &high);
            }
            Self::Ids => list(&mut text, rows, |text, row| {
                // writing to a string cannot fail
                let _ = write!(text, "{}", particles.id[row]);
            }),
            Self::Positions => list(&mut text, rows, |text, row| push_vector(text, &particles.position[row])),
            // a width is a diameter
            Self::Widths => list(&mut text, rows, |text, row| push_f32(text, 2.0 * particles.radius[row])),
            Self::Column(place) => {
                let column = &particles.columns[place];
                let n = column.n_components;
                list(&mut text, rows, |text, row| match &column.values[row * n..(row + 1) * n] {
                    [value] => push_f32(text, *value),
                    values => push_vector(text, values),
                });
            }
        }
        text.push(']');
        text
    }
}

fn list(text: &mut String, rows: &[usize], mut push: impl FnMut(&mut String, usize)) {
    for (place, &row) in rows.iter().enumerate() {
        if place > 0 {
            text.push_str(", ");
        }
        push(text, row);
    }
}

fn push_vector(text: &mut String, values: &[f32]) {
    text.push('(');
    push_joined(text, values, ", ");
    text.push(')');
}

/// The box around particles with their radii; for none of them the empty range of USD, which is upside down.
fn extent(particles: &ParticleTable, rows: &[usize]) -> [[f32; 3]; 2] {
    let mut extent = [[f32::MAX; 3], [f32::MIN; 3]];
    for &row in rows {
        let radius = particles.radius[row];
        for (axis, x) in particles.position[row].iter().enumerate() {
            extent[0][axis] = extent[0][axis].min(x - radius);
            extent[1][axis] = extent[1][axis].max(x + radius);
        }
    }
    extent
}

/// Samples in a file, in the order in which they come. It is removed in the end.
struct Spool {
    aside: Aside,
    n_bytes: u64,
    tracks: Vec<Track>,
}

/// The samples of one attribute of one prim.
#[derive(Default)]
struct Track {
    /// Where each sample is: offset and length. Equal samples that follow each other are there once.
    places: Vec<(u64, usize)>,
    last: String,
}

impl Track {
    fn is_constant(&self) -> bool {
        self.places.iter().all(|place| Some(place) == self.places.first())
    }
}

impl Spool {
    fn create(outlet: &Outlet<'_>, n_tracks: usize) -> Result<Self, ExportError> {
        let mut name = outlet.path.file_name().unwrap_or_default().to_owned();
        name.push(".samples");
        let aside = Aside::create(&outlet.path.with_file_name(name))?;
        let tracks = std::iter::repeat_with(Track::default).take(n_tracks).collect();
        Ok(Self { aside, n_bytes: 0, tracks })
    }

    fn add(&mut self, track: usize, text: String) -> io::Result<()> {
        let track = &mut self.tracks[track];
        let place = match track.places.last() {
            Some(&place) if track.last == text => place,
            _ => {
                let place = (self.n_bytes, text.len());
                self.aside.file().write_all(text.as_bytes())?;
                self.n_bytes += text.len() as u64;
                place
            }
        };
        track.places.push(place);
        track.last = text;
        Ok(())
    }

    fn copy(&mut self, (offset, length): (u64, usize), out: &mut dyn Write) -> io::Result<()> {
        let file = self.aside.file();
        file.seek(SeekFrom::Start(offset))?;
        let n_copied = io::copy(&mut file.take(length as u64), out)?;
        if n_copied == length as u64 { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}

fn assemble(take: &Take<'_>, attributes: &[Attribute], spool: &mut Spool, file: &mut File) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 18, file);
    let info = take.info();
    let (first, last) = (take.numbers().start().to_owned(), take.numbers().end().to_owned());
    write!(
        out,
        "#usda 1.0\n(\n    defaultPrim = \"{ROOT}\"\n    doc = {}\n    endTimeCode = {last}\n    framesPerSecond = {rate}\n    \
         metersPerUnit = 1\n    startTimeCode = {first}\n    timeCodesPerSecond = {rate}\n    upAxis = \"Y\"\n)\n\n\
         def Xform \"{ROOT}\" (\n    kind = \"component\"\n)\n{{\n",
        quoted(&info.title),
        rate = info.frame_rate,
    )?;
    let mut names = Names::default();
    for (body, name) in take.body_names().enumerate() {
        writeln!(
            out,
            "    def Points \"{}\" (\n        customData = {{ string name = {}; string material = {}; string method = {} }}\n    )\n    {{",
            names.identifier(name),
            quoted(name),
            quoted(&info.bodies[body].material),
            quoted(&info.bodies[body].method)
        )?;
        for (place, attribute) in attributes.iter().enumerate() {
            let track = std::mem::take(&mut spool.tracks[body * attributes.len() + place]);
            write_attribute(attribute, &track, take, spool, &mut out)?;
        }
        writeln!(out, "    }}")?;
    }
    out.write_all(b"}\n")?;
    out.flush()
}

fn write_attribute(
    attribute: &Attribute,
    track: &Track,
    take: &Take<'_>,
    spool: &mut Spool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let declaration = &attribute.declaration;
    let metadata = match attribute.metadata.as_slice() {
        [] => String::new(),
        lines => format!(" (\n            {}\n        )", lines.join("\n            ")),
    };
    if let (true, Some(&place)) = (track.is_constant(), track.places.first()) {
        write!(out, "        {declaration} = ")?;
        spool.copy(place, out)?;
        return writeln!(out, "{metadata}");
    }
    // metadata and time samples cannot stand in one declaration
    if !metadata.is_empty() {
        writeln!(out, "        {declaration}{metadata}")?;
    }
    writeln!(out, "        {declaration}.timeSamples = {{")?;
    for (number, &place) in take.numbers().zip(&track.places) {
        write!(out, "            {number}: ")?;
        spool.copy(place, out)?;
        writeln!(out, ",")?;
    }
    writeln!(out, "        }}")
}

/// Names that are identifiers of USD, each once.
#[derive(Default)]
struct Names {
    taken: Vec<String>,
}

impl Names {
    fn identifier(&mut self, name: &str) -> String {
        let mut base: String =
            name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        if base.is_empty() || base.starts_with(|c: char| c.is_ascii_digit()) {
            base.insert(0, '_');
        }
        let numbered = (2..).map(|number| format!("{base}_{number}"));
        let free = std::iter::once(base.clone()).chain(numbered).find(|name| !self.taken.contains(name));
        let identifier = free.unwrap_or(base);
        self.taken.push(identifier.clone());
        identifier
    }
}

/// A string in quotes.
fn quoted(text: &str) -> String {
    let mut safe = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => safe.extend(['\\', c]),
            c if c.is_control() => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_identifiers_that_differ() {
        let mut names = Names::default();
        let made = ["left arm", "left-arm", "2nd", "", "Körper"].map(|name| names.identifier(name));
        assert_eq!(made, ["left_arm", "left_arm_2", "_2nd", "_", "K_rper"]);
        assert_eq!(quoted("a \"b\" \\ \n"), "\"a \\\"b\\\" \\\\  \"");
    }
}
