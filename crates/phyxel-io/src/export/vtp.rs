//! Export to VTK PolyData: one XML file per frame with appended raw data, and a ParaView collection with the times.
//!
//! Format: <https://docs.vtk.org/en/latest/vtk_file_formats/vtkxml_file_format.html>. The offset of an array counts
//! from the underscore of `AppendedData`; there its number of bytes (UInt64, by `header_type`) is followed by its
//! bytes.

use super::frame_selection::is_velocity;
use super::{FrameSelection, IndexEntry, SelectedFrame};
use crate::results::SurfaceTable;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Bytes of the arrays of a file; each added array returns its element for the XML part.
#[derive(Default)]
struct Arrays {
    bytes: Vec<u8>,
}

impl Arrays {
    /// Appends an array and returns its XML element.
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

    fn time(&mut self, time: f64) -> String {
        let array = self.add("Float64", "TimeValue", 1, std::iter::once(time.to_le_bytes()));
        array.replacen("NumberOfComponents=\"1\"", "NumberOfTuples=\"1\"", 1)
    }

    fn integers(&mut self, name: &str, values: &[u32]) -> String {
        self.add("UInt32", name, 1, values.iter().map(|value| value.to_le_bytes()))
    }
}

pub(super) fn frame(
    selection: &FrameSelection<'_>,
    selected: &SelectedFrame,
    out: &mut dyn Write,
) -> io::Result<()> {
    let particles = &selected.particles;
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
    let time = arrays.time(selected.time);
    let vectors = particles.columns.iter().find(|column| is_velocity(&column.name, column.n_components));
    let vectors = vectors.map_or(String::new(), |column| format!(" Vectors=\"{}\"", escaped(&column.name)));
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
        strings("body_names", selection.body_names())
    )?;
    out.write_all(&arrays.bytes)?;
    out.write_all(b"\n</AppendedData>\n</VTKFile>\n")
}

/// Writes a surface. If it has texture coordinates or normals per corner, every corner becomes a point, since VTK keeps
/// both per point.
pub(super) fn surface(table: &SurfaceTable, out: &mut dyn Write) -> io::Result<()> {
    let is_split = !table.uvs.is_empty() || !table.corner_normals.is_empty();
    let corners = || table.corners.iter().map(|&vertex| vertex as usize);
    // vertex of each point
    let points: Vec<usize> = if is_split { corners().collect() } else { (0..table.position.len()).collect() };
    let at_points = |values: &[[f32; 3]]| -> Vec<f32> { points.iter().flat_map(|&k| values[k]).collect() };
    let number = |number: usize| (number as i32).to_le_bytes();
    let mut arrays = Arrays::default();
    let positions = arrays.floats("Points", 3, &at_points(&table.position));
    let connectivity: Vec<usize> = if is_split { (0..points.len()).collect() } else { corners().collect() };
    let connectivity = arrays.add("Int32", "connectivity", 1, connectivity.into_iter().map(number));
    let ends: Vec<usize> = table.faces().map(|face| face.end).collect();
    let offsets = arrays.add("Int32", "offsets", 1, ends.iter().map(|&end| number(end)));
    let normals = if table.corner_normals.is_empty() {
        at_points(&table.normal)
    } else {
        table.corner_normals.as_flattened().to_vec()
    };
    let mut data = arrays.floats("Normals", 3, &normals);
    let mut active = String::from(" Normals=\"Normals\"");
    if !table.velocity.is_empty() {
        data += &arrays.floats("velocity", 3, &at_points(&table.velocity));
        active += " Vectors=\"velocity\"";
    }
    if !table.uvs.is_empty() {
        data += &arrays.floats("st", 2, table.uvs.as_flattened());
        active += " TCoords=\"st\"";
    }
    if is_split {
        let vertices: Vec<u32> = points.iter().map(|&vertex| vertex as u32).collect();
        data += &arrays.integers("vertex", &vertices);
    }
    let mut face_data = String::new();
    if !table.face_groups.is_empty() {
        face_data = arrays.integers("group", &table.face_groups);
    }
    let names = strings("group_names", table.group_names.iter().map(String::as_str));
    let names = if table.group_names.is_empty() { String::new() } else { names };
    let time = arrays.time(table.time);
    write!(
        out,
        "<?xml version=\"1.0\"?>\n\
         <VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n\
         <PolyData>\n<FieldData>\n{time}{names}</FieldData>\n\
         <Piece NumberOfPoints=\"{}\" NumberOfVerts=\"0\" NumberOfLines=\"0\" NumberOfStrips=\"0\" NumberOfPolys=\"{}\">\n\
         <Points>\n{positions}</Points>\n<Polys>\n{connectivity}{offsets}</Polys>\n\
         <PointData{active}>\n{data}</PointData>\n<CellData>\n{face_data}</CellData>\n</Piece>\n</PolyData>\n\
         <AppendedData encoding=\"raw\">\n_",
        points.len(),
        table.face_sizes.len()
    )?;
    out.write_all(&arrays.bytes)?;
    out.write_all(b"\n</AppendedData>\n</VTKFile>\n")
}

/// Returns the XML element of an array of strings: their bytes as numbers, each string with a zero at its end.
fn strings<'a>(array: &str, names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let n_names = names.len();
    let mut text =
        format!("<Array type=\"String\" Name=\"{array}\" NumberOfTuples=\"{n_names}\" format=\"ascii\">\n");
    for name in names {
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
    for IndexEntry { name, time, part } in entries {
        writeln!(
            out,
            "<DataSet timestep=\"{time:?}\" group=\"\" part=\"{part}\" file=\"{}\"/>",
            escaped(name)
        )?;
    }
    out.write_all(b"</Collection>\n</VTKFile>\n")
}

/// Escapes a text for an attribute of XML.
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
