//! Export to USD text (.usda): one `Xform` with a `Mesh` prim per surface and a `Points` prim per body, animated by
//! time samples.
//!
//! A time code is the number of a frame. The text has all samples of an attribute together, but frames are read one
//! after the other: samples are first written to a temporary file beside the target and then copied in the order of the
//! text, so that at most one frame is in memory. An attribute that never changes is written once, without time samples.

mod prims;

use super::{ExportError, FrameSelection, Outlet};
use crate::results::atomic::Aside;
use prims::{Attribute, Prim};
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};

const ROOT: &str = "phyxel";
/// Name of the scope that holds the materials of groups.
const MATERIALS: &str = "materials";

pub(super) fn write(selection: &FrameSelection<'_>, outlet: &mut Outlet<'_>) -> Result<(), ExportError> {
    let mut prims: Vec<Prim> = Vec::new();
    let mut spool = Spool::create(outlet)?;
    for number in selection.numbers() {
        let frame = selection.frame(number)?;
        if prims.is_empty() {
            prims = Prim::all(selection, &frame);
        }
        let attributes = prims.iter().flat_map(|prim| prim.attributes.iter().map(move |a| (prim, a)));
        let mut rows = (usize::MAX, Vec::new());
        for (track, (prim, attribute)) in attributes.enumerate() {
            // prims are in the order of the bodies, so that the rows of each body are searched once
            if rows.0 != prim.body {
                rows = (prim.body, frame.rows_of(prim.body));
            }
            let text = attribute.value.text(&frame, prim.body, &rows.1);
            spool.add(track, text).map_err(|source| outlet.failed(source))?;
        }
        outlet.watch.frame_is_done()?;
    }
    assemble(selection, &prims, &mut spool, outlet.file).map_err(|source| outlet.failed(source))
}

/// Temporary file of samples, in the order in which they are added; it is removed when dropped.
struct Spool {
    aside: Aside,
    n_bytes: u64,
    tracks: Vec<Track>,
}

/// The samples of one attribute of one prim.
#[derive(Default)]
struct Track {
    /// Offset and length of each sample in the file (bytes); equal samples that follow each other are stored once.
    places: Vec<(u64, usize)>,
    last: String,
}

impl Track {
    fn is_constant(&self) -> bool {
        self.places.iter().all(|place| Some(place) == self.places.first())
    }
}

impl Spool {
    fn create(outlet: &Outlet<'_>) -> Result<Self, ExportError> {
        let mut name = outlet.path.file_name().unwrap_or_default().to_owned();
        name.push(".samples");
        let aside = Aside::create(&outlet.path.with_file_name(name))?;
        Ok(Self { aside, n_bytes: 0, tracks: Vec::new() })
    }

    fn add(&mut self, track: usize, text: String) -> io::Result<()> {
        if self.tracks.len() <= track {
            self.tracks.resize_with(track + 1, Track::default);
        }
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

fn assemble(
    selection: &FrameSelection<'_>,
    prims: &[Prim],
    spool: &mut Spool,
    file: &mut File,
) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 18, file);
    let info = selection.info();
    let (first, last) = (selection.numbers().start().to_owned(), selection.numbers().end().to_owned());
    write!(
        out,
        "#usda 1.0\n(\n    defaultPrim = \"{ROOT}\"\n    doc = {}\n    endTimeCode = {last}\n    framesPerSecond = {rate}\n    \
         metersPerUnit = 1\n    startTimeCode = {first}\n    timeCodesPerSecond = {rate}\n    upAxis = \"Y\"\n)\n\n\
         def Xform \"{ROOT}\" (\n    kind = \"component\"\n)\n{{\n",
        quoted(&info.title),
        rate = info.frame_rate,
    )?;
    let mut names = Names::default();
    names.identifier(MATERIALS);
    let mut materials = Names::default();
    let mut tracks = std::mem::take(&mut spool.tracks).into_iter();
    for prim in prims {
        let body = &info.bodies[prim.body];
        writeln!(
            out,
            "    def {} \"{}\" (\n        customData = {{ string name = {}; string material = {}; string method = {} }}\n    )\n    {{",
            prim.kind,
            names.identifier(&prim.name),
            quoted(&body.name),
            quoted(&body.material),
            quoted(&body.method)
        )?;
        let mut groups = Names::default();
        prim.constants.iter().try_for_each(|line| writeln!(out, "        {line}"))?;
        for attribute in &prim.attributes {
            let track = tracks.next().unwrap_or_default();
            write_attribute(attribute, &track, selection, spool, &mut out)?;
        }
        for (group, faces) in &prim.groups {
            let faces: Vec<String> = faces.iter().map(u32::to_string).collect();
            let material = materials.identifier(&format!("{}_{group}", body.name));
            write!(
                out,
                "        def GeomSubset \"{}\" (\n            prepend apiSchemas = [\"MaterialBindingAPI\"]\n            \
                 customData = {{ string name = {} }}\n        )\n        {{\n            \
                 uniform token elementType = \"face\"\n            uniform token familyName = \"materialBind\"\n            \
                 int[] indices = [{}]\n            rel material:binding = </{ROOT}/{MATERIALS}/{material}>\n        }}\n",
                groups.identifier(group),
                quoted(group),
                faces.join(", ")
            )?;
        }
        writeln!(out, "    }}")?;
    }
    if !materials.taken.is_empty() {
        // the materials are empty: programs make a material slot of each, for the user to fill
        writeln!(out, "    def Scope \"{MATERIALS}\"\n    {{")?;
        for name in &materials.taken {
            writeln!(out, "        def Material \"{name}\"\n        {{\n        }}")?;
        }
        writeln!(out, "    }}")?;
    }
    out.write_all(b"}\n")?;
    out.flush()
}

fn write_attribute(
    attribute: &Attribute,
    track: &Track,
    selection: &FrameSelection<'_>,
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
    for (number, &place) in selection.numbers().zip(&track.places) {
        write!(out, "            {number}: ")?;
        spool.copy(place, out)?;
        writeln!(out, ",")?;
    }
    writeln!(out, "        }}")
}

/// Identifiers of USD in use, so that every new one is unique.
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

/// Returns a text as a quoted USD string.
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
