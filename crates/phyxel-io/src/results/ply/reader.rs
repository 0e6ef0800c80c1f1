//! Reading of frames.

use super::{PARTICLES, ParticleColumn, ParticleTable, PlyError, PointSetTable, prefix, property_names};

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
    if rows.len() > expected {
        return Err(PlyError::TooLong(rows.len() - expected));
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
pub(in crate::results) fn split_header(bytes: &[u8]) -> Result<(&str, &[u8]), PlyError> {
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
            let own = values.iter_mut().skip(component).step_by(parts.len());
            own.zip(self.rows()).for_each(|(value, row)| *value = f32::from_le_bytes(word(row, offset)));
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
