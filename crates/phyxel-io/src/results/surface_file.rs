//! Surfaces as binary little-endian PLY files: vertices with normals and velocities, then faces with data of corners.
//!
//! Texture coordinates and normals of corners are lists of a face (`texcoord` with two numbers per corner, `normals`
//! with three). The group of a face is the property `group`; header comments name the groups. The reader accepts only
//! files of this writer.

use super::PlyError;
use std::fmt::Write;

/// A surface at one moment. Seen from outside, the corners of a face are in counter-clockwise order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SurfaceTable {
    /// Time of the frame (s).
    pub time: f64,
    /// Positions of the vertices (m).
    pub position: Vec<[f32; 3]>,
    /// Unit normals, one per vertex.
    pub normal: Vec<[f32; 3]>,
    /// Velocities (m/s), one per vertex; empty if they are not known.
    pub velocity: Vec<[f32; 3]>,
    /// Number of corners of each face.
    pub face_sizes: Vec<u32>,
    /// Vertex index of each corner, face after face.
    pub corners: Vec<u32>,
    /// Texture coordinates, one per corner; empty if there are none.
    pub uvs: Vec<[f32; 2]>,
    /// Unit normals, one per corner, if the input mesh has such normals; else empty.
    pub corner_normals: Vec<[f32; 3]>,
    /// Index of each face's group in `group_names`; empty if there are no groups.
    pub face_groups: Vec<u32>,
    /// Names of the groups.
    pub group_names: Vec<String>,
}

/// Way in which a surface follows the matter of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SurfaceKind {
    /// The body's own mesh, which moves with the matter.
    Mesh,
    /// A skin around the particles, which is computed anew in every frame.
    Skin,
}

impl SurfaceKind {
    /// Returns the key of the kind in scenes.
    pub fn key(self) -> &'static str {
        match self {
            Self::Mesh => "mesh",
            Self::Skin => "skin",
        }
    }

    /// Returns the kind with this key, if there is one.
    pub fn of_key(key: &str) -> Option<Self> {
        [Self::Mesh, Self::Skin].into_iter().find(|kind| kind.key() == key)
    }
}

impl SurfaceTable {
    /// Returns the range of corners of each face.
    pub fn faces(&self) -> impl Iterator<Item = std::ops::Range<usize>> {
        self.face_sizes.iter().scan(0, |end, &size| {
            let start = *end;
            *end += size as usize;
            Some(start..*end)
        })
    }

    /// Returns the faces as triangles; each polygon is split into a fan.
    pub fn triangles(&self) -> Vec<[u32; 3]> {
        let mut triangles = Vec::with_capacity(self.face_sizes.len());
        for face in self.faces() {
            let corners = &self.corners[face];
            let rest = corners.get(1..).unwrap_or_default();
            triangles.extend(rest.windows(2).map(|pair| [corners[0], pair[0], pair[1]]));
        }
        triangles
    }

    /// Returns the bytes of a file, with additional comments in its header.
    pub fn encode(&self, comments: &[String]) -> Vec<u8> {
        // counts are single bytes if they fit, because some programs read no others
        let longest = 3 * self.face_sizes.iter().copied().max().unwrap_or(0);
        let is_small = longest <= u32::from(u8::MAX);
        let header = self.header(if is_small { "uchar" } else { "uint" }, comments);
        let n_numbers = 9 * self.position.len() + 6 * self.corners.len() + 2 * self.face_sizes.len();
        let mut bytes = Vec::with_capacity(header.len() + 4 * n_numbers);
        bytes.extend_from_slice(header.as_bytes());
        let count = |bytes: &mut Vec<u8>, n: usize| match is_small {
            true => bytes.push(n as u8),
            false => bytes.extend_from_slice(&(n as u32).to_le_bytes()),
        };
        for vertex in 0..self.position.len() {
            push_floats(&mut bytes, &self.position[vertex]);
            push_floats(&mut bytes, &self.normal[vertex]);
            if let Some(velocity) = self.velocity.get(vertex) {
                push_floats(&mut bytes, velocity);
            }
        }
        for (k, face) in self.faces().enumerate() {
            count(&mut bytes, face.len());
            self.corners[face.clone()].iter().for_each(|c| bytes.extend_from_slice(&c.to_le_bytes()));
            if !self.uvs.is_empty() {
                count(&mut bytes, 2 * face.len());
                self.uvs[face.clone()].iter().for_each(|uv| push_floats(&mut bytes, uv));
            }
            if !self.corner_normals.is_empty() {
                count(&mut bytes, 3 * face.len());
                self.corner_normals[face].iter().for_each(|normal| push_floats(&mut bytes, normal));
            }
            if let Some(group) = self.face_groups.get(k) {
                bytes.extend_from_slice(&group.to_le_bytes());
            }
        }
        bytes
    }

    fn header(&self, count: &str, comments: &[String]) -> String {
        let mut text = String::from("ply\nformat binary_little_endian 1.0\n");
        // writing to a string cannot fail
        let mut line = |arguments: std::fmt::Arguments<'_>| {
            let _ = text.write_fmt(arguments);
            text.push('\n');
        };
        line(format_args!("comment phyxel surface, SI units, y up"));
        line(format_args!("comment time {:?} s", self.time));
        for comment in comments {
            line(format_args!("comment {}", comment.replace(char::is_control, " ")));
        }
        for (k, name) in self.group_names.iter().enumerate() {
            line(format_args!("comment group {k} {}", name.replace(char::is_control, " ")));
        }
        line(format_args!("element vertex {}", self.position.len()));
        let velocity: &[&str] = if self.velocity.is_empty() { &[] } else { &["vx", "vy", "vz"] };
        for name in ["x", "y", "z", "nx", "ny", "nz"].iter().chain(velocity) {
            line(format_args!("property float {name}"));
        }
        line(format_args!("element face {}", self.face_sizes.len()));
        line(format_args!("property list {count} int vertex_indices"));
        if !self.uvs.is_empty() {
            line(format_args!("property list {count} float texcoord"));
        }
        if !self.corner_normals.is_empty() {
            line(format_args!("property list {count} float normals"));
        }
        if !self.face_groups.is_empty() {
            line(format_args!("property int group"));
        }
        line(format_args!("end_header"));
        text
    }

    /// Reads a surface from the bytes of a file.
    ///
    /// # Errors
    /// When the bytes are no surface, or an incomplete one.
    pub fn decode(bytes: &[u8]) -> Result<Self, PlyError> {
        let (text, rest) = super::ply::split_header(bytes)?;
        let header = Header::parse(text)?;
        let mut table = Self {
            time: header.time.ok_or(PlyError::Missing("time comment"))?,
            group_names: header.group_names,
            ..Self::default()
        };
        let mut reader = Reader { bytes: rest, at: 0, wide_counts: header.wide_counts };
        // every vertex and face has a minimum size: counts too large for the file are refused before allocation
        let n_floats = 6 + if header.has_velocity { 3 } else { 0 };
        let least = header.n_vertices.saturating_mul(4 * n_floats).saturating_add(header.n_faces);
        if least > rest.len() {
            return Err(PlyError::Truncated { expected: least, found: rest.len() });
        }
        for _ in 0..header.n_vertices {
            table.position.push(reader.floats()?);
            table.normal.push(reader.floats()?);
            if header.has_velocity {
                table.velocity.push(reader.floats()?);
            }
        }
        for _ in 0..header.n_faces {
            let size = reader.count()?;
            table.face_sizes.push(size as u32);
            for _ in 0..size {
                let corner = reader.integer()?;
                if corner as usize >= header.n_vertices {
                    return Err(PlyError::Header(format!("a face uses vertex {corner}, which is not there")));
                }
                table.corners.push(corner);
            }
            if header.has_uvs {
                reader.expect_count(2 * size)?;
                (0..size).try_for_each(|_| reader.floats().map(|uv| table.uvs.push(uv)))?;
            }
            if header.has_corner_normals {
                reader.expect_count(3 * size)?;
                (0..size).try_for_each(|_| reader.floats().map(|n| table.corner_normals.push(n)))?;
            }
            if header.has_groups {
                table.face_groups.push(reader.integer()?);
            }
        }
        if reader.at < rest.len() {
            return Err(PlyError::TooLong(rest.len() - reader.at));
        }
        if let Some(group) = table.face_groups.iter().find(|&&g| g as usize >= table.group_names.len()) {
            return Err(PlyError::Header(format!("a face is in group {group}, which has no name")));
        }
        Ok(table)
    }
}

fn push_floats(bytes: &mut Vec<u8>, values: &[f32]) {
    values.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
}

#[derive(Default)]
struct Header {
    time: Option<f64>,
    group_names: Vec<String>,
    n_vertices: usize,
    n_faces: usize,
    wide_counts: bool,
    has_velocity: bool,
    has_uvs: bool,
    has_corner_normals: bool,
    has_groups: bool,
}

impl Header {
    fn parse(text: &str) -> Result<Self, PlyError> {
        let mut header = Self::default();
        let mut properties = Vec::new();
        for line in text.lines().skip(2) {
            let bad = || PlyError::Header(format!("cannot read \"{line}\""));
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.as_slice() {
                ["comment", "time", time, "s"] => header.time = time.parse().ok(),
                ["comment", "group", _, ..] => {
                    let name = line.splitn(4, ' ').nth(3).unwrap_or_default();
                    header.group_names.push(name.to_owned());
                }
                ["comment", ..] => {}
                ["element", "vertex", count] => header.n_vertices = count.parse().map_err(|_| bad())?,
                ["element", "face", count] => header.n_faces = count.parse().map_err(|_| bad())?,
                ["property", "list", count @ ("uchar" | "uint"), "int" | "float", name] => {
                    header.wide_counts = *count == "uint";
                    properties.push((*name).to_owned());
                }
                ["property", "float" | "int", name] => properties.push((*name).to_owned()),
                _ => return Err(bad()),
            }
        }
        let has = |name: &str| properties.iter().any(|known| known == name);
        header.has_velocity = has("vx");
        (header.has_uvs, header.has_corner_normals) = (has("texcoord"), has("normals"));
        header.has_groups = has("group");
        let mut expected = vec!["x", "y", "z", "nx", "ny", "nz"];
        expected.extend(header.has_velocity.then_some(["vx", "vy", "vz"]).into_iter().flatten());
        expected.push("vertex_indices");
        let optional = [
            (header.has_uvs, "texcoord"),
            (header.has_corner_normals, "normals"),
            (header.has_groups, "group"),
        ];
        expected.extend(optional.into_iter().filter(|(is_there, _)| *is_there).map(|(_, name)| name));
        if properties != expected {
            return Err(PlyError::Header("its properties are not those of a surface of phyxel".into()));
        }
        Ok(header)
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    wide_counts: bool,
}

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], PlyError> {
        let cut_off = PlyError::Truncated { expected: self.at + N, found: self.bytes.len() };
        let bytes = self.bytes.get(self.at..self.at + N).and_then(|bytes| bytes.try_into().ok());
        self.at += N;
        bytes.ok_or(cut_off)
    }

    fn integer(&mut self) -> Result<u32, PlyError> {
        self.take().map(u32::from_le_bytes)
    }

    fn count(&mut self) -> Result<usize, PlyError> {
        if self.wide_counts { Ok(self.integer()? as usize) } else { Ok(self.take::<1>()?[0].into()) }
    }

    fn expect_count(&mut self, expected: usize) -> Result<(), PlyError> {
        let found = self.count()?;
        let problem = || PlyError::Header(format!("a face has {found} numbers instead of {expected}"));
        if found == expected { Ok(()) } else { Err(problem()) }
    }

    fn floats<const N: usize>(&mut self) -> Result<[f32; N], PlyError> {
        let mut values = [0.0; N];
        for value in &mut values {
            *value = f32::from_le_bytes(self.take()?);
        }
        Ok(values)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns a square and a triangle with all data that a surface can have.
    pub(crate) fn full_table() -> SurfaceTable {
        SurfaceTable {
            time: 0.25,
            position: vec![
                [0.0, 0.0, 0.0],
                [1.0, 0.0, 0.0],
                [1.0, 1.0, 0.0],
                [0.0, 1.0, 0.0],
                [2.0, 0.5, 0.25],
            ],
            normal: vec![[0.0, 0.0, 1.0]; 5],
            velocity: (0..5).map(|k| [k as f32, 0.5, -1.0]).collect(),
            face_sizes: vec![4, 3],
            corners: vec![0, 1, 2, 3, 1, 4, 2],
            uvs: (0..7).map(|k| [k as f32 / 8.0, 1.0 - k as f32 / 8.0]).collect(),
            corner_normals: (0..7).map(|k| [0.0, k as f32, 1.0]).collect(),
            face_groups: vec![1, 0],
            group_names: vec!["body side".into(), "front".into()],
        }
    }

    #[test]
    fn surfaces_come_back_as_they_were() {
        let full = full_table();
        let bare = SurfaceTable {
            velocity: Vec::new(),
            uvs: Vec::new(),
            corner_normals: Vec::new(),
            face_groups: Vec::new(),
            group_names: Vec::new(),
            ..full.clone()
        };
        // more corners than a single byte can count
        let wide = SurfaceTable {
            face_sizes: vec![100],
            corners: (0..100).map(|k| k % 5).collect(),
            ..bare.clone()
        };
        for table in [full, bare, wide, SurfaceTable::default()] {
            assert_eq!(SurfaceTable::decode(&table.encode(&["a\ncomment".into()])), Ok(table));
        }
    }

    /// Checks the layout byte by byte, not by our own reader, because it is a contract with other programs.
    #[test]
    fn the_layout_is_that_of_the_contract() {
        let bytes = full_table().encode(&[]);
        let expected = "ply\nformat binary_little_endian 1.0\ncomment phyxel surface, SI units, y up\n\
            comment time 0.25 s\ncomment group 0 body side\ncomment group 1 front\nelement vertex 5\n\
            property float x\nproperty float y\nproperty float z\nproperty float nx\nproperty float ny\n\
            property float nz\nproperty float vx\nproperty float vy\nproperty float vz\nelement face 2\n\
            property list uchar int vertex_indices\nproperty list uchar float texcoord\n\
            property list uchar float normals\nproperty int group\nend_header\n";
        assert!(bytes.starts_with(expected.as_bytes()));
        let rows = &bytes[expected.len()..];
        assert_eq!(rows.len(), 5 * 36 + 2 * (3 + 4) + 7 * (4 + 8 + 12));
        let face = &rows[5 * 36..];
        assert_eq!((face[0], &face[5..9]), (4, &1i32.to_le_bytes()[..]));
        assert_eq!((face[17], &face[18..22]), (8, &0.0f32.to_le_bytes()[..]));
        assert_eq!(&face[26..30], &(1.0f32 / 8.0).to_le_bytes()[..]);
    }

    #[test]
    fn polygons_are_cut_into_fans() {
        assert_eq!(full_table().triangles(), [[0, 1, 2], [0, 2, 3], [1, 4, 2]]);
    }

    #[test]
    fn damaged_files_are_errors() {
        let bytes = full_table().encode(&[]);
        for cut in 0..bytes.len() {
            assert!(SurfaceTable::decode(&bytes[..cut]).is_err(), "{cut}");
        }
        assert_eq!(SurfaceTable::decode(&[&bytes[..], b"x"].concat()), Err(PlyError::TooLong(1)));
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let many = text.replace("element vertex 5", "element vertex 4000000000");
        assert!(matches!(SurfaceTable::decode(many.as_bytes()), Err(PlyError::Truncated { .. })));
        let mut wrong = bytes.clone();
        let first_corner = bytes.len() - 2 * (3 + 4) - 7 * 24 + 1;
        wrong[first_corner] = 9;
        assert!(SurfaceTable::decode(&wrong).unwrap_err().to_string().contains("vertex 9"));
    }
}
