//! Writing of frames.

use super::{PARTICLES, ParticleColumn, ParticleTable, prefix, property_names};
use phyxel::frame::{Frame, FrameColumn};
use std::fmt::Write;

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
