//! Frames as binary little-endian PLY files: x y z, id, body, radius, then the requested columns.
//!
//! A vector column has three properties: `vx vy vz` for the velocity, `NAME_x NAME_y NAME_z` for others. Header
//! comments hold the time and the units. The reader accepts the files of this writer, with properties in any order.

use phyxel::frame::Frame;
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
    position: &'a [[f32; 3]],
    id: &'a [u32],
    body: &'a [u32],
    radius: &'a [f32],
    columns: Vec<ColumnContents<'a>>,
    comments: &'a [String],
}

struct ColumnContents<'a> {
    name: &'a str,
    unit: &'a str,
    n_components: usize,
    values: &'a [f32],
}

/// Returns the bytes of the file of a frame.
pub fn encode(frame: &Frame) -> Vec<u8> {
    let columns = frame.columns.iter().map(|column| ColumnContents {
        name: &column.name,
        unit: column.unit,
        n_components: column.n_components,
        values: &column.values,
    });
    let Frame { time, position, id, body, radius, .. } = frame;
    Contents { time: *time, position, id, body, radius, columns: columns.collect(), comments: &[] }.bytes()
}

/// Returns the bytes of the file of a table, with additional comments in its header.
pub fn encode_table(table: &ParticleTable, comments: &[String]) -> Vec<u8> {
    let columns = table.columns.iter().map(|column| ColumnContents {
        name: &column.name,
        unit: &column.unit,
        n_components: column.n_components,
        values: &column.values,
    });
    let ParticleTable { time, position, id, body, radius, .. } = table;
    Contents { time: *time, position, id, body, radius, columns: columns.collect(), comments }.bytes()
}

impl Contents<'_> {
    fn bytes(&self) -> Vec<u8> {
        let header = self.header();
        let n_floats: usize = self.columns.iter().map(|column| column.n_components).sum();
        let stride = 4 * (6 + n_floats);
        let mut bytes = Vec::with_capacity(header.len() + stride * self.id.len());
        bytes.extend_from_slice(header.as_bytes());
        for row in 0..self.id.len() {
            self.position[row].iter().for_each(|x| bytes.extend_from_slice(&x.to_le_bytes()));
            bytes.extend_from_slice(&self.id[row].to_le_bytes());
            bytes.extend_from_slice(&self.body[row].to_le_bytes());
            bytes.extend_from_slice(&self.radius[row].to_le_bytes());
            for column in &self.columns {
                let n = column.n_components;
                column.values[row * n..(row + 1) * n]
                    .iter()
                    .for_each(|x| bytes.extend_from_slice(&x.to_le_bytes()));
            }
        }
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
        for column in &self.columns {
            line(format_args!("comment unit {} {}", column.name, column.unit));
        }
        for comment in self.comments {
            line(format_args!("comment {}", comment.replace(char::is_control, " ")));
        }
        line(format_args!("element vertex {}", self.id.len()));
        for property in ["float x", "float y", "float z", "int id", "int body", "float radius"] {
            line(format_args!("property {property}"));
        }
        for name in self.columns.iter().flat_map(|column| property_names(column.name, column.n_components)) {
            line(format_args!("property float {name}"));
        }
        line(format_args!("end_header"));
        text
    }
}

/// Contents of a header.
#[derive(Default)]
struct Header {
    time: Option<f64>,
    units: Vec<(String, String)>,
    n_rows: Option<usize>,
    properties: Vec<String>,
    is_integer: Vec<bool>,
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
    let (text, rows) = split_header(bytes)?;
    let header = parse_header(text)?;
    let n_rows = header.n_rows.ok_or(PlyError::Missing("vertex element"))?;
    let stride = 4 * header.properties.len();
    let expected =
        n_rows.checked_mul(stride).ok_or_else(|| PlyError::Header("it announces too many rows".into()))?;
    if rows.len() < expected {
        return Err(PlyError::Truncated { expected, found: rows.len() });
    }
    Rows { header: &header, bytes: &rows[..expected], stride }.table(is_wanted)
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
            ["element", "vertex", count] if header.n_rows.is_none() => {
                header.n_rows = Some(count.parse().map_err(|_| bad(line))?);
            }
            ["property", kind @ ("float" | "float32" | "int" | "int32" | "uint" | "uint32"), name] => {
                if header.n_rows.is_none() || header.properties.iter().any(|known| known == name) {
                    return Err(bad(line));
                }
                header.properties.push((*name).into());
                header.is_integer.push(!kind.starts_with("float"));
            }
            _ => return Err(bad(line)),
        }
    }
    Ok(header)
}

/// Rows of a file whose size was checked.
struct Rows<'a> {
    header: &'a Header,
    bytes: &'a [u8],
    stride: usize,
}

impl Rows<'_> {
    fn table(&self, is_wanted: &dyn Fn(&str) -> bool) -> Result<ParticleTable, PlyError> {
        let [x, y, z] = ["x", "y", "z"].map(|axis| self.offset(axis).ok_or(PlyError::Missing(axis)));
        let [x, y, z] = [x?, y?, z?];
        let position = |row: &[u8]| [x, y, z].map(|offset| f32::from_le_bytes(word(row, offset)));
        let mut table = ParticleTable {
            time: self.header.time.ok_or(PlyError::Missing("time comment"))?,
            position: self.rows().map(position).collect(),
            id: self.integers("id")?,
            body: self.integers("body")?,
            radius: self.floats("radius")?,
            columns: Vec::new(),
        };
        let mut taken: Vec<&str> = vec!["x", "y", "z", "id", "body", "radius"];
        for (name, is_integer) in self.header.properties.iter().zip(&self.header.is_integer) {
            if taken.contains(&name.as_str()) || *is_integer {
                continue;
            }
            let (column, parts) = self.parts(name);
            if is_wanted(column) {
                table.columns.push(self.column(column, &parts)?);
            }
            taken.extend(parts);
        }
        Ok(table)
    }

    /// Returns the name of the column that a property belongs to, and all properties of this column.
    fn parts<'b>(&'b self, property: &'b str) -> (&'b str, Vec<&'b str>) {
        let properties = &self.header.properties;
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
        let mut values = vec![0.0; parts.len() * self.bytes.len() / self.stride.max(1)];
        for (component, part) in parts.iter().enumerate() {
            let offset = self.offset(part);
            let offset = offset.ok_or_else(|| PlyError::Header(format!("there is no property {part}")))?;
            for (value, row) in values[component..].iter_mut().step_by(parts.len()).zip(self.rows()) {
                *value = f32::from_le_bytes(word(row, offset));
            }
        }
        let unit =
            self.header.units.iter().find(|unit| unit.0 == name).map_or(String::new(), |unit| unit.1.clone());
        Ok(ParticleColumn { name: name.to_owned(), unit, n_components: parts.len(), values })
    }

    fn rows(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes.chunks_exact(self.stride.max(1))
    }

    /// Returns the offset of a property in a row (bytes).
    fn offset(&self, name: &str) -> Option<usize> {
        Some(4 * self.header.properties.iter().position(|known| known == name)?)
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
    use phyxel::frame::FrameColumn;

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
        }
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
