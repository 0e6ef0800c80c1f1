//! Reader for Wavefront OBJ: positions, faces, texture coordinates, normals, groups. Lines, curves and materials are
//! skipped.

use std::borrow::Cow;
use std::collections::HashMap;

use phyxel::math::{Vec3, vec3};

use super::{MeshError, PolygonMesh};

fn corrupt(reason: impl std::fmt::Display) -> MeshError {
    MeshError::Corrupt { format: "OBJ", reason: reason.to_string() }
}

#[derive(Default)]
struct Parser {
    mesh: PolygonMesh,
    uvs: Vec<[f32; 2]>,
    normals: Vec<Vec3>,
    /// Groups of faces by `g`, `usemtl` and `o`, in this order of preference.
    names: [Names; 3],
    has_uvs: bool,
    has_normals: bool,
    /// True if a texture coordinate or its index is invalid; all are then left out, but the shape is not refused.
    bad_uvs: bool,
    bad_normals: bool,
}

/// Names of the groups of one kind, and the group of each face.
#[derive(Default)]
struct Names {
    known: HashMap<String, u32>,
    list: Vec<String>,
    current: Option<u32>,
    faces: Vec<Option<u32>>,
}

impl Names {
    fn begin(&mut self, name: String) {
        let n = self.list.len() as u32;
        let index = *self.known.entry(name.clone()).or_insert(n);
        if index == n {
            self.list.push(name);
        }
        self.current = Some(index);
    }
}

pub(super) fn parse(bytes: &[u8]) -> Result<PolygonMesh, MeshError> {
    let text = String::from_utf8_lossy(bytes);
    let mut parser = Parser::default();
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        // a line that ends in a backslash continues on the next one
        let mut line = Cow::from(line);
        while let Some(n_kept) = line.trim_end().strip_suffix('\\').map(str::len) {
            let begun = line.to_mut();
            begun.truncate(n_kept);
            begun.push(' ');
            begun.push_str(lines.next().unwrap_or_default().1.trim_start());
        }
        let line = line.split('#').next().unwrap_or_default();
        parser.line(line).map_err(|reason| corrupt(format!("line {}: {reason}", number + 1)))?;
    }
    Ok(parser.finish())
}

impl Parser {
    fn line(&mut self, line: &str) -> Result<(), String> {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => {
                let [x, y, z] = numbers(words)?;
                self.mesh.vertices.push(vec3(x, y, z));
            }
            Some("vt") => match numbers::<2>(words) {
                Ok([u, v]) => self.uvs.push([u as f32, v as f32]),
                Err(_) => self.bad_uvs = true,
            },
            Some("vn") => match numbers(words) {
                Ok([x, y, z]) => self.normals.push(vec3(x, y, z)),
                Err(_) => self.bad_normals = true,
            },
            Some("f") => self.face(words)?,
            Some("g") => self.names[0].begin(words.collect::<Vec<_>>().join(" ")),
            Some("usemtl") => self.names[1].begin(words.collect::<Vec<_>>().join(" ")),
            Some("o") => self.names[2].begin(words.collect::<Vec<_>>().join(" ")),
            _ => {}
        }
        Ok(())
    }

    fn face<'a>(&mut self, words: impl Iterator<Item = &'a str>) -> Result<(), String> {
        let mut n_corners = 0;
        for word in words {
            let mut parts = word.split('/');
            let vertex = parts.next().unwrap_or_default();
            let n_vertices = self.mesh.vertices.len();
            let missing = || format!("there is no vertex \"{vertex}\"; {n_vertices} are before this line");
            let vertex = resolve(vertex, n_vertices).ok_or_else(missing)?;
            self.mesh.corners.push(vertex as u32);
            let mut optional = |n: usize| match parts.next().filter(|part| !part.is_empty()) {
                Some(part) => (resolve(part, n), resolve(part, n).is_none()),
                None => (None, false),
            };
            let (uv, is_bad) = optional(self.uvs.len());
            self.bad_uvs |= is_bad;
            self.has_uvs |= uv.is_some();
            self.mesh.uvs.push(uv.map_or([0.0; 2], |index| self.uvs[index]));
            let (normal, is_bad) = optional(self.normals.len());
            self.bad_normals |= is_bad || normal.is_none();
            self.has_normals |= normal.is_some();
            self.mesh.normals.push(normal.map_or(Vec3::ZERO, |index| self.normals[index]));
            n_corners += 1;
        }
        self.mesh.face_sizes.push(n_corners);
        self.names.iter_mut().for_each(|names| names.faces.push(names.current));
        Ok(())
    }

    fn finish(self) -> PolygonMesh {
        let mut mesh = self.mesh;
        if !self.has_uvs || self.bad_uvs {
            mesh.uvs.clear();
        }
        if !self.has_normals || self.bad_normals {
            mesh.normals.clear();
        }
        if let Some(mut names) = self.names.into_iter().find(|names| !names.list.is_empty()) {
            // group of the faces before the first name
            if names.faces.contains(&None) {
                names.begin("default".into());
            }
            let rest = names.current.unwrap_or(0);
            mesh.face_groups = names.faces.iter().map(|group| group.unwrap_or(rest)).collect();
            mesh.group_names = names.list;
        }
        mesh
    }
}

fn numbers<'a, const N: usize>(words: impl Iterator<Item = &'a str>) -> Result<[f64; N], String> {
    let mut values = [0.0; N];
    let mut words = words.fuse();
    for value in &mut values {
        let word = words.next().ok_or_else(|| format!("{N} numbers are needed"))?;
        *value = word.parse().map_err(|_| format!("\"{word}\" is not a number"))?;
    }
    Ok(values)
}

/// Converts an index that counts from 1, or backwards from -1; `None` if it is out of range.
fn resolve(word: &str, n: usize) -> Option<usize> {
    let index: i64 = word.parse().ok()?;
    let index = if index > 0 { index - 1 } else { n as i64 + index };
    usize::try_from(index).ok().filter(|&index| index < n && word != "0")
}
