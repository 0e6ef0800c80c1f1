//! VTK PolyData, one XML file per frame with appended raw data, and a ParaView collection with the times.
//!
//! <https://docs.vtk.org/en/latest/vtk_file_formats/vtkxml_file_format.html>: after the underscore of `AppendedData`, at the
//! offset that an array announces, stand its number of bytes (UInt64, by `header_type`) and its bytes.

use super::take::is_velocity;
use super::{IndexEntry, Moment, Take};
use std::fmt::Write as _;
use std::io::{self, Write};

/// The arrays of a file: what the XML says of them, and their bytes.
#[derive(Default)]
struct Arrays {
    bytes: Vec<u8>,
}

impl Arrays {
    /// Appends an array and gives its element.
    fn add<const N: usize>(
        &mut self,
        kind: &str,
        name: &str,
        n_components: usize,
        values: impl ExactSizeIterator<Item = [u8; N]>,
    ) -> String {
        let offset = self.bytes.len();
        self.bytes.extend_from_slice(&((values.len() * N) as u64).to_le_bytes());
        self.bytes.reserve(values.len() * N);
        values.for_each(|value| self.bytes.extend_from_slice(&value));
        format!(
            "<DataArray type=\"{kind}\" Name=\"{}\" NumberOfComponents=\"{n_components}\" format=\"appended\" \
             offset=\"{offset}\"/>\n",
            escaped(name)
        )
    }

    fn floats(&mut self, name: &str, n_components: usize, values: &[f32]) -> String {
        self.add("Float32", name, n_components, values.iter().map(|value| value.to_le_bytes()))
    }

    fn integers(&mut self, name: &str, values: &[u32]) -> String {
        self.add("UInt32", name, 1, values.iter().map(|value| value.to_le_bytes()))
    }
}

pub(super) fn frame(take: &Take<'_>, moment: &Moment, out: &mut dyn Write) -> io::Result<()> {
    let particles = &moment.particles;
    let n_points = particles.id.len();
    // every particle is a cell of its own, so that it can be picked and thresholded; there are never 2^31 of them
    let cell = |number: usize| (number as i32).to_le_bytes();
    let mut arrays = Arrays::default();
    let points = arrays.floats("Points", 3, particles.position.as_flattened());
    let connectivity = arrays.add("Int32", "connectivity", 1, (0..n_points).map(cell));
    let offsets = arrays.add("Int32", "offsets", 1, (0..n_points).map(|row| cell(row + 1)));
    let mut data = arrays.integers("id", &particles.id);
    data += &arrays.integers("body", &particles.body);
    data += &arrays.floats("radius", 1, &particles.radius);
    for column in &particles.columns {
        data += &arrays.floats(&column.name, column.n_components, &column.values);
    }
    let time = arrays.add("Float64", "TimeValue", 1, std::iter::once(moment.time.to_le_bytes()));
    let vectors = particles.columns.iter().find(|column| is_velocity(&column.name, column.n_components));
    let vectors = vectors.map_or(String::new(), |column| format!(" Vectors=\"{}\"", escaped(&column.name)));
    let time = time.replacen("NumberOfComponents=\"1\"", "NumberOfTuples=\"1\"", 1);
    write!(
        out,
        "<?xml version=\"1.0\"?>\n\
         <VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n\
         <PolyData>\n<FieldData>\n{time}{}</FieldData>\n\
         <Piece NumberOfPoints=\"{n_points}\" NumberOfVerts=\"{n_points}\" NumberOfLines=\"0\" NumberOfStrips=\"0\" \
         NumberOfPolys=\"0\">\n\
         <Points>\n{points}</Points>\n<Verts>\n{connectivity}{offsets}</Verts>\n\
         <PointData{vectors}>\n{data}</PointData>\n</Piece>\n</PolyData>\n\
         <AppendedData encoding=\"raw\">\n_",
        body_names(take)
    )?;
    out.write_all(&arrays.bytes)?;
    out.write_all(b"\n</AppendedData>\n</VTKFile>\n")
}

/// An array of strings: their bytes as numbers, each string with a zero at its end.
fn body_names(take: &Take<'_>) -> String {
    let n_names = take.body_names().len();
    let mut text = format!(
        "<Array type=\"String\" Name=\"body_names\" NumberOfTuples=\"{n_names}\" format=\"ascii\">\n"
    );
    for name in take.body_names() {
        // writing to a string cannot fail
        for byte in name.bytes() {
            let _ = write!(text, "{byte} ");
        }
        text.push_str("0\n");
    }
    text + "</Array>\n"
}

pub(super) fn index(entries: &[IndexEntry], out: &mut dyn Write) -> io::Result<()> {
    write!(
        out,
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" byte_order=\"LittleEndian\">\n<Collection>\n"
    )?;
    for IndexEntry { name, time } in entries {
        writeln!(out, "<DataSet timestep=\"{time:?}\" group=\"\" part=\"0\" file=\"{}\"/>", escaped(name))?;
    }
    out.write_all(b"</Collection>\n</VTKFile>\n")
}

/// A text in an attribute of XML.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            c if c.is_control() => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}
