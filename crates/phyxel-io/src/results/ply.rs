//! Frames as binary little-endian PLY files: x y z, id, body, radius, then the requested columns.
//!
//! The element `vertex` has the particles. Point sets are further elements with x y z, body and their columns. A vector
//! column has three properties: `vx vy vz` for the velocity, `NAME_x NAME_y NAME_z` for others. Header
//! comments hold the time and the units. The reader accepts the files of this writer, with properties in any order.

use phyxel::frame::{Frame, FrameColumn};
use std::fmt::Write;

/// Particles that were read from a file, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParticleTable {
    /// Time of the frame (s).
    pub time: f64,
    /// World positions (m).
    pub position: Vec<[f32; 3]>,
    /// Stable ids.
    pub id: Vec<u32>,
    /// Index of the body of each particle.
    pub body: Vec<u32>,
    /// Half the local spacing (m).
    pub radius: Vec<f32>,
    /// The other columns.
    pub columns: Vec<ParticleColumn>,
    /// Points besides the particles.
    pub point_sets: Vec<PointSetTable>,
}

/// Named points of a frame that are not particles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointSetTable {
    /// Name of the set.
    pub name: String,
    /// World positions (m).
    pub position: Vec<[f32; 3]>,
    /// Index of the body, or of the obstacle, of each point.
    pub body: Vec<u32>,
    /// The other columns.
    pub columns: Vec<ParticleColumn>,
}

impl ParticleTable {
    /// Returns the rows of a column of vectors; `None` if there is no such column.
    pub fn vectors(&self, name: &str) -> Option<&[[f32; 3]]> {
        let is_wanted = |column: &&ParticleColumn| column.name == name && column.n_components == 3;
        self.columns.iter().find(is_wanted).map(|column| column.values.as_chunks().0)
    }
}

/// A column of a [`ParticleTable`].
#[derive(Clone, Debug, PartialEq)]
pub struct ParticleColumn {
    /// Name of the column, as requested in the scene.
    pub name: String,
    /// SI unit of the values; empty if the file does not name it.
    pub unit: String,
    /// Number of components: 1 for scalars, 3 for vectors.
    pub n_components: usize,
    /// Values, row after row.
    pub values: Vec<f32>,
}

/// Reason why a file cannot be read as a frame.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlyError {
    /// The file is not PLY, or not binary little-endian PLY.
    #[error("not a binary little-endian PLY file")]
    NotPly,
    /// The header cannot be understood.
    #[error("PLY header: {0}")]
    Header(String),
    /// A property or comment that every frame has is missing.
    #[error("not a frame of phyxel: there is no {0}")]
    Missing(&'static str),
    /// The file ends too early.
    #[error("the file is cut off: {expected} bytes of particles expected, {found} found")]
    Truncated {
        /// Size of the particles according to the header (bytes).
        expected: usize,
        /// Size of the data in the file (bytes).
        found: usize,
    },
}

/// Returns the names of the properties of a column.
fn property_names(name: &str, n_components: usize) -> Vec<String> {
    match (name, n_components) {
        ("velocity", 3) => ["vx", "vy", "vz"].map(str::to_owned).to_vec(),
        (_, 3) => ["x", "y", "z"].map(|axis| format!("{name}_{axis}")).to_vec(),
        _ => vec![name.to_owned()],
    }
}

/// Contents of a file, borrowed from a frame or a table.
struct Contents<'a> {
    time: f64,
    elements: Vec<Element<'a>>,
    comments: &'a [String],
}

/// One element of a file: rows of positions, integers, a radius if there is one, and columns.
struct Element<'a> {
    name: &'a str,
    position: &'a [[f32; 3]],
    integers: Vec<(&'static str, &'a [u32])>,
    radius: Option<&'a [f32]>,
    columns: Vec<ColumnContents<'a>>,
}

struct ColumnContents<'a> {
    name: &'a str,
    unit: &'a str,
    n_components: usize,
    values: &'a [f32],
}

/// Name of the element of the particles.
const PARTICLES: &str = "vertex";

/// Returns the bytes of the file of a frame.
pub fn encode(frame: &Frame) -> Vec<u8> {
    fn contents(columns: &[FrameColumn]) -> Vec<ColumnContents<'_>> {
        let all = columns.iter();
        all.map(|c| ColumnContents {
            name: &c.name,
            unit: c.unit,
            n_components: c.n_components,
            values: &c.values,
        })
        .collect()
    }
    let Frame { time, position, id, body, radius, columns, point_sets } = frame;
    let particles = Element::particles(position, id, body, radius, contents(columns));
    let sets = point_sets
        .iter()
        .map(|set| Element::set(&set.name, &set.position, &set.body, contents(&set.columns)));
    Contents { time: *time, elements: [particles].into_iter().chain(sets).collect(), comments: &[] }.bytes()
}

/// Returns the bytes of the file of a table, with additional comments in its header.
pub fn encode_table(table: &ParticleTable, comments: &[String]) -> Vec<u8> {
    fn contents(columns: &[ParticleColumn]) -> Vec<ColumnContents<'_>> {
        let all = columns.iter();
        all.map(|c| ColumnContents {
            name: &c.name,
            unit: &c.unit,
            n_components: c.n_components,
            values: &c.values,
        })
        .collect()
    }
    let ParticleTable { time, position, id, body, radius, columns, point_sets } = table;
    let particles = Element::particles(position, id, body, radius, contents(columns));
    let sets = point_sets
        .iter()
        .map(|set| Element::set(&set.name, &set.position, &set.body, contents(&set.columns)));
    Contents { time: *time, elements: [particles].into_iter().chain(sets).collect(), comments }.bytes()
}

impl<'a> Element<'a> {
    fn particles(
        position: &'a [[f32; 3]],
        id: &'a [u32],
        body: &'a [u32],
        radius: &'a [f32],
        columns: Vec<ColumnContents<'a>>,
    ) -> Self {
        let integers = vec![("id", id), ("body", body)];
        Self { name: PARTICLES, position, integers, radius: Some(radius), columns }
    }

    fn set(
        name: &'a str,
        position: &'a [[f32; 3]],
        body: &'a [u32],
        columns: Vec<ColumnContents<'a>>,
    ) -> Self {
        Self { name, position, integers: vec![("body", body)], radius: None, columns }
    }

    /// Returns the lines of the properties, each with its type.
    fn properties(&self) -> Vec<String> {
        let mut all = ["float x", "float y", "float z"].map(str::to_owned).to_vec();
        all.extend(self.integers.iter().map(|(name, _)| format!("int {name}")));
        all.extend(self.radius.iter().map(|_| "float radius".to_owned()));
        let columns = self.columns.iter().flat_map(|c| property_names(c.name, c.n_components));
        all.extend(columns.map(|name| format!("float {name}")));
        all
    }

    fn append_rows(&self, bytes: &mut Vec<u8>) {
        for row in 0..self.position.len() {
            self.position[row].iter().for_each(|x| bytes.extend_from_slice(&x.to_le_bytes()));
            self.integers.iter().for_each(|(_, values)| bytes.extend_from_slice(&values[row].to_le_bytes()));
            self.radius.iter().for_each(|radius| bytes.extend_from_slice(&radius[row].to_le_bytes()));
            for column in &self.columns {
                let n = column.n_components;
                let values = &column.values[row * n..(row + 1) * n];
                values.iter().for_each(|x| bytes.extend_from_slice(&x.to_le_bytes()));
            }
        }
    }
}

impl Contents<'_> {
    fn bytes(&self) -> Vec<u8> {
        let header = self.header();
        let size = |element: &Element<'_>| 4 * element.properties().len() * element.position.len();
        let mut bytes = Vec::with_capacity(header.len() + self.elements.iter().map(size).sum::<usize>());
        bytes.extend_from_slice(header.as_bytes());
        self.elements.iter().for_each(|element| element.append_rows(&mut bytes));
        bytes
    }

    fn header(&self) -> String {
        let mut text = String::from("ply\nformat binary_little_endian 1.0\n");
        // writing to a string cannot fail
        let mut line = |arguments: std::fmt::Arguments<'_>| {
            let _ = text.write_fmt(arguments);
            text.push('\n');
        };
        line(format_args!("comment phyxel particles, SI units, y up"));
        line(format_args!("comment time {:?} s", self.time));
        for element in &self.elements {
            for column in &element.columns {
                line(format_args!("comment unit {}{} {}", prefix(element.name), column.name, column.unit));
            }
        }
        for comment in self.comments {
            line(format_args!("comment {}", comment.replace(char::is_control, " ")));
        }
        for element in &self.elements {
            line(format_args!("element {} {}", element.name, element.position.len()));
            for property in element.properties() {
                line(format_args!("property {property}"));
            }
        }
        line(format_args!("end_header"));
        text
    }
}

/// Returns the prefix of a column's name in comments: nothing for particles, the name of the set for others.
fn prefix(element: &str) -> String {
    if element == PARTICLES { String::new() } else { format!("{element}.") }
}

/// Contents of a header.
#[derive(Default)]
struct Header {
    time: Option<f64>,
    units: Vec<(String, String)>,
    elements: Vec<ElementHeader>,
}

/// Element of a header.
struct ElementHeader {
    name: String,
    n_rows: usize,
    properties: Vec<String>,
    is_integer: Vec<bool>,
}

impl ElementHeader {
    fn stride(&self) -> usize {
        4 * self.properties.len()
    }
}

const END: &[u8] = b"end_header\n";

/// Reads a frame from the bytes of a file.
///
/// # Errors
/// When the bytes are no frame, or an incomplete one.
pub fn decode(bytes: &[u8]) -> Result<ParticleTable, PlyError> {
    decode_columns(bytes, &|_| true)
}

/// Reads a frame from the bytes of a file, with only the columns for which `is_wanted` returns true.
///
/// # Errors
/// When the bytes are no frame, or an incomplete one.
pub fn decode_columns(bytes: &[u8], is_wanted: &dyn Fn(&str) -> bool) -> Result<ParticleTable, PlyError> {
    let (text, mut rows) = split_header(bytes)?;
    let header = parse_header(text)?;
    if header.elements.first().is_none_or(|element| element.name != PARTICLES) {
        return Err(PlyError::Missing("vertex element"));
    }
    let too_many = || PlyError::Header("it announces too many rows".into());
    let size = |element: &ElementHeader| element.n_rows.checked_mul(element.stride());
    let sizes: Vec<usize> = header.elements.iter().map(size).collect::<Option<_>>().ok_or_else(too_many)?;
    let expected = sizes.iter().try_fold(0usize, |sum, size| sum.checked_add(*size)).ok_or_else(too_many)?;
    if rows.len() < expected {
        return Err(PlyError::Truncated { expected, found: rows.len() });
    }
    let mut table = ParticleTable::default();
    for (element, size) in header.elements.iter().zip(sizes) {
        let (own, others) = rows.split_at(size);
        rows = others;
        let own = Rows { header: &header, element, bytes: own };
        match element.name.as_str() {
            PARTICLES => table = ParticleTable { point_sets: table.point_sets, ..own.table(is_wanted)? },
            _ => table.point_sets.push(own.set()?),
        }
    }
    Ok(table)
}

/// Splits a file into the lines of its header, without the last, and the data after the header.
pub(super) fn split_header(bytes: &[u8]) -> Result<(&str, &[u8]), PlyError> {
    if !bytes.starts_with(b"ply\nformat binary_little_endian 1.0\n") {
        return Err(PlyError::NotPly);
    }
    let end = bytes.windows(END.len()).position(|window| window == END);
    let end = end.ok_or_else(|| PlyError::Header("it has no end".into()))?;
    let text = std::str::from_utf8(&bytes[..end]).map_err(|_| PlyError::Header("it is not text".into()))?;
    Ok((text, &bytes[end + END.len()..]))
}

fn parse_header(text: &str) -> Result<Header, PlyError> {
    let mut header = Header::default();
    let bad = |line: &str| PlyError::Header(format!("cannot read \"{line}\""));
    for line in text.lines().skip(2) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["comment", "time", time, "s"] => header.time = time.parse().ok(),
            ["comment", "unit", name, unit] => header.units.push(((*name).into(), (*unit).into())),
            ["comment" | "obj_info", ..] => {}
            ["element", name, count] if header.elements.iter().all(|element| element.name != *name) => {
                let n_rows = count.parse().map_err(|_| bad(line))?;
                let (properties, is_integer) = (Vec::new(), Vec::new());
                header.elements.push(ElementHeader { name: (*name).into(), n_rows, properties, is_integer });
            }
            ["property", kind @ ("float" | "float32" | "int" | "int32" | "uint" | "uint32"), name] => {
                let element = header.elements.last_mut().ok_or_else(|| bad(line))?;
                if element.properties.iter().any(|known| known == name) {
                    return Err(bad(line));
                }
                element.properties.push((*name).into());
                element.is_integer.push(!kind.starts_with("float"));
            }
            _ => return Err(bad(line)),
        }
    }
    Ok(header)
}

/// Rows of an element whose size was checked.
struct Rows<'a> {
    header: &'a Header,
    element: &'a ElementHeader,
    bytes: &'a [u8],
}

impl Rows<'_> {
    fn table(&self, is_wanted: &dyn Fn(&str) -> bool) -> Result<ParticleTable, PlyError> {
        Ok(ParticleTable {
            time: self.header.time.ok_or(PlyError::Missing("time comment"))?,
            position: self.positions()?,
            id: self.integers("id")?,
            body: self.integers("body")?,
            radius: self.floats("radius")?,
            columns: self.columns(&["x", "y", "z", "id", "body", "radius"], is_wanted)?,
            point_sets: Vec::new(),
        })
    }

    fn set(&self) -> Result<PointSetTable, PlyError> {
        Ok(PointSetTable {
            name: self.element.name.clone(),
            position: self.positions()?,
            body: self.integers("body")?,
            columns: self.columns(&["x", "y", "z", "body"], &|_| true)?,
        })
    }

    fn positions(&self) -> Result<Vec<[f32; 3]>, PlyError> {
        let [x, y, z] = ["x", "y", "z"].map(|axis| self.offset(axis).ok_or(PlyError::Missing(axis)));
        let [x, y, z] = [x?, y?, z?];
        let position = |row: &[u8]| [x, y, z].map(|offset| f32::from_le_bytes(word(row, offset)));
        Ok(self.rows().map(position).collect())
    }

    fn columns(
        &self,
        others: &[&'static str],
        is_wanted: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<ParticleColumn>, PlyError> {
        let mut taken: Vec<&str> = others.to_vec();
        let mut columns = Vec::new();
        for (name, is_integer) in self.element.properties.iter().zip(&self.element.is_integer) {
            if taken.contains(&name.as_str()) || *is_integer {
                continue;
            }
            let (column, parts) = self.parts(name);
            if is_wanted(column) {
                columns.push(self.column(column, &parts)?);
            }
            taken.extend(parts);
        }
        Ok(columns)
    }

    /// Returns the name of the column that a property belongs to, and all properties of this column.
    fn parts<'b>(&'b self, property: &'b str) -> (&'b str, Vec<&'b str>) {
        let properties = &self.element.properties;
        let vector = match property {
            "vx" | "vy" | "vz" => Some("velocity"),
            _ => ["_x", "_y", "_z"].iter().find_map(|ending| property.strip_suffix(ending)),
        };
        let find = |name: &String| properties.iter().find(|known| *known == name).map(String::as_str);
        let parts =
            vector.and_then(|name| property_names(name, 3).iter().map(find).collect::<Option<Vec<&str>>>());
        match (vector, parts) {
            (Some(name), Some(parts)) => (name, parts),
            _ => (property, vec![property]),
        }
    }

    fn column(&self, name: &str, parts: &[&str]) -> Result<ParticleColumn, PlyError> {
        let mut values = vec![0.0; parts.len() * self.element.n_rows];
        for (component, part) in parts.iter().enumerate() {
            let offset = self.offset(part);
            let offset = offset.ok_or_else(|| PlyError::Header(format!("there is no property {part}")))?;
            for (value, row) in values[component..].iter_mut().step_by(parts.len()).zip(self.rows()) {
                *value = f32::from_le_bytes(word(row, offset));
            }
        }
        let full_name = prefix(&self.element.name) + name;
        let found = self.header.units.iter().find(|unit| unit.0 == full_name);
        let unit = found.map_or(String::new(), |unit| unit.1.clone());
        Ok(ParticleColumn { name: name.to_owned(), unit, n_components: parts.len(), values })
    }

    fn rows(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes.chunks_exact(self.element.stride().max(1))
    }

    /// Returns the offset of a property in a row (bytes).
    fn offset(&self, name: &str) -> Option<usize> {
        Some(4 * self.element.properties.iter().position(|known| known == name)?)
    }

    fn words(&self, name: &str) -> Option<impl Iterator<Item = [u8; 4]>> {
        let offset = self.offset(name)?;
        Some(self.rows().map(move |row| word(row, offset)))
    }

    fn floats(&self, name: &'static str) -> Result<Vec<f32>, PlyError> {
        let words = self.words(name).ok_or(PlyError::Missing(name))?;
        Ok(words.map(f32::from_le_bytes).collect())
    }

    fn integers(&self, name: &'static str) -> Result<Vec<u32>, PlyError> {
        let words = self.words(name).ok_or(PlyError::Missing(name))?;
        Ok(words.map(u32::from_le_bytes).collect())
    }
}

/// Returns the four bytes at an offset of a row.
#[inline]
fn word(row: &[u8], offset: usize) -> [u8; 4] {
    [row[offset], row[offset + 1], row[offset + 2], row[offset + 3]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use phyxel::frame::PointSet;

    fn frame() -> Frame {
        let column = |name: &str, unit, n_components, values: &[f32]| FrameColumn {
            name: name.into(),
            unit,
            n_components,
            values: values.to_vec(),
        };
        Frame {
            time: 0.1,
            position: vec![[1.0, 2.0, 3.0], [4.0, -5.0, f32::MIN_POSITIVE]],
            id: vec![0, 7],
            body: vec![0, 1],
            radius: vec![0.5, 0.25],
            columns: vec![
                column("velocity", "m/s", 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
                column("stress", "Pa", 1, &[8.5, f32::NAN]),
                column("spin", "1/s", 3, &[0.0, 0.1, 0.2, 0.3, 0.4, 0.5]),
                column("side_x", "m", 1, &[9.0, 10.0]),
            ],
            point_sets: Vec::new(),
        }
    }

    /// Checks that point sets are elements of their own, with names and units that particles may have, too.
    #[test]
    fn point_sets_come_back_beside_the_particles() {
        let column = |name: &str, unit, n_components, values: &[f32]| FrameColumn {
            name: name.into(),
            unit,
            n_components,
            values: values.to_vec(),
        };
        let nodes = PointSet {
            name: "nodes".into(),
            position: vec![[1.0, 2.0, 3.0]; 3],
            body: vec![0, 1, 1],
            columns: vec![column("stress", "N", 1, &[1.0, 2.0, 3.0]), column("axis", "1", 3, &[0.5; 9])],
        };
        let empty = PointSet { name: "none".into(), ..PointSet::default() };
        let frame = Frame { point_sets: vec![nodes.clone(), empty], ..frame() };
        let bytes = encode(&frame);
        let table = decode(&bytes).unwrap();
        assert_eq!((table.id.len(), table.columns.len(), table.columns[1].unit.as_str()), (2, 4, "Pa"));
        assert_eq!(encode_table(&table, &[]), bytes, "what is read is written the same");
        let [read, none] = table.point_sets.as_slice() else { panic!("two sets") };
        assert_eq!((read.name.as_str(), &read.body, &read.position), ("nodes", &nodes.body, &nodes.position));
        assert_eq!((read.columns[0].unit.as_str(), read.columns[1].n_components), ("N", 3));
        assert_eq!((none.name.as_str(), none.body.len()), ("none", 0));
        let few = decode_columns(&bytes, &|name| name == "stress").unwrap();
        assert_eq!((few.columns.len(), few.point_sets.len()), (1, 2));
        assert!(matches!(decode(&bytes[..bytes.len() - 1]), Err(PlyError::Truncated { .. })));
    }

    #[test]
    fn frames_come_back_as_they_were() {
        let frame = frame();
        let table = decode(&encode(&frame)).unwrap();
        assert_eq!(table.time, 0.1);
        assert_eq!((&table.position, &table.id), (&frame.position, &frame.id));
        assert_eq!((&table.body, &table.radius), (&frame.body, &frame.radius));
        assert_eq!(table.columns.len(), 4);
        for (read, written) in table.columns.iter().zip(&frame.columns) {
            assert_eq!((read.name.as_str(), read.unit.as_str()), (written.name.as_str(), written.unit));
            assert_eq!(read.n_components, written.n_components);
            let bits = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&read.values), bits(&written.values), "{}", read.name);
        }
    }

    /// Checks the layout byte by byte, not by our own reader, because it is a contract with other programs.
    #[test]
    fn the_layout_is_that_of_the_contract() {
        let bytes = encode(&frame());
        let expected = "ply\nformat binary_little_endian 1.0\ncomment phyxel particles, SI units, y up\n\
            comment time 0.1 s\ncomment unit velocity m/s\ncomment unit stress Pa\ncomment unit spin 1/s\n\
            comment unit side_x m\nelement vertex 2\nproperty float x\nproperty float y\nproperty float z\n\
            property int id\nproperty int body\nproperty float radius\nproperty float vx\nproperty float vy\n\
            property float vz\nproperty float stress\nproperty float spin_x\nproperty float spin_y\n\
            property float spin_z\nproperty float side_x\nend_header\n";
        assert!(bytes.starts_with(expected.as_bytes()));
        let rows = &bytes[expected.len()..];
        assert_eq!(rows.len(), 2 * 4 * 14);
        let second = &rows[4 * 14..];
        assert_eq!(second[..4], 4.0f32.to_le_bytes());
        assert_eq!(second[12..16], 7i32.to_le_bytes());
        assert_eq!(second[24..28], 4.0f32.to_le_bytes());
    }

    #[test]
    fn properties_may_come_in_any_order() {
        let mut bytes = b"ply\nformat binary_little_endian 1.0\ncomment time 2.0 s\nelement vertex 1\n\
            property float radius\nproperty float vz\nproperty int body\nproperty float vx\nproperty float z\n\
            property float y\nproperty float x\nproperty int id\nproperty float vy\nend_header\n"
            .to_vec();
        let words: [&[u8; 4]; 9] = [
            &0.5f32.to_le_bytes(),
            &3.0f32.to_le_bytes(),
            &2u32.to_le_bytes(),
            &1.0f32.to_le_bytes(),
            &6.0f32.to_le_bytes(),
            &5.0f32.to_le_bytes(),
            &4.0f32.to_le_bytes(),
            &9u32.to_le_bytes(),
            &2.0f32.to_le_bytes(),
        ];
        words.iter().for_each(|word| bytes.extend_from_slice(*word));
        let table = decode(&bytes).unwrap();
        assert_eq!((table.position[0], table.id[0], table.body[0]), ([4.0, 5.0, 6.0], 9, 2));
        assert_eq!(table.columns[0].name, "velocity");
        assert_eq!(table.columns[0].values, [1.0, 2.0, 3.0]);
    }

    #[test]
    fn every_truncation_is_an_error() {
        let bytes = encode(&frame());
        for n_bytes in 0..bytes.len() {
            assert!(decode(&bytes[..n_bytes]).is_err(), "{n_bytes} of {} bytes", bytes.len());
        }
    }

    #[test]
    fn damage_in_the_header_is_no_panic() {
        let bytes = encode(&frame());
        for at in 0..bytes.len().min(520) {
            for byte in [0u8, b'9', b'\n', 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] = byte;
                let _ = decode(&damaged);
            }
        }
        let huge = String::from_utf8_lossy(&bytes[..400]).replace("vertex 2", "vertex 18446744073709551615");
        assert!(decode(huge.as_bytes()).is_err());
    }
}
