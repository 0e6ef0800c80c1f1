//! Export to Wavefront OBJ: an object per body with its surface, or with its particles as vertices and point elements.
//! The format cannot hold other data of particles.

use super::number::push_joined;
use super::{FrameSelection, SelectedFrame};
use crate::results::SurfaceTable;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Point elements per line: few enough for readers with a limited line length (VTK: 100000 characters), many enough for
/// readers that complain about every line with points (Blender).
const POINTS_PER_LINE: usize = 1024;

pub(super) fn frame(
    selection: &FrameSelection<'_>,
    selected: &SelectedFrame,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "# phyxel, SI units, y up")?;
    writeln!(out, "# frame {}, time {:?} s", selected.number, selected.time)?;
    let mut counts = Counts::default();
    for (body, name) in selection.body_names().enumerate() {
        let name = one_word(name);
        if let Some(surface) = &selected.surfaces[body] {
            writeln!(out, "o {name}_surface")?;
            write_surface(surface, &mut counts, out)?;
        }
        if !selection.shows_particles(body) {
            continue;
        }
        writeln!(out, "o {name}")?;
        let rows = selected.rows_of(body);
        rows.iter().try_for_each(|&row| write_row("v", &selected.particles.position[row], out))?;
        let numbers: Vec<usize> = (counts.vertices + 1..=counts.vertices + rows.len()).collect();
        for chunk in numbers.chunks(POINTS_PER_LINE) {
            let words: Vec<String> = chunk.iter().map(usize::to_string).collect();
            writeln!(out, "p {}", words.join(" "))?;
        }
        counts.vertices += rows.len();
    }
    Ok(())
}

/// Numbers of elements written so far; indices in the file count from 1, over all objects.
#[derive(Default)]
struct Counts {
    vertices: usize,
    uvs: usize,
    normals: usize,
}

/// Replaces blanks and control characters by underscores, because a blank ends a name for some readers.
fn one_word(name: &str) -> String {
    name.replace(|c: char| c.is_whitespace() || c.is_control(), "_")
}

fn write_row(key: &str, values: &[f32], out: &mut dyn Write) -> io::Result<()> {
    let mut line = format!("{key} ");
    push_joined(&mut line, values, " ");
    line.push('\n');
    out.write_all(line.as_bytes())
}

fn write_surface(surface: &SurfaceTable, counts: &mut Counts, out: &mut dyn Write) -> io::Result<()> {
    let by_corner = !surface.corner_normals.is_empty();
    let normals = if by_corner { &surface.corner_normals } else { &surface.normal };
    surface.position.iter().try_for_each(|x| write_row("v", x, out))?;
    surface.uvs.iter().try_for_each(|uv| write_row("vt", uv, out))?;
    normals.iter().try_for_each(|normal| write_row("vn", normal, out))?;
    let mut group = None;
    let mut line = String::new();
    for (k, face) in surface.faces().enumerate() {
        if surface.face_groups.get(k) != group {
            group = surface.face_groups.get(k);
            let name = group.and_then(|&group| surface.group_names.get(group as usize));
            writeln!(out, "g {}", one_word(name.map_or("default", String::as_str)))?;
        }
        line.clear();
        line.push('f');
        for corner in face {
            let vertex = surface.corners[corner] as usize;
            let normal = counts.normals + 1 + if by_corner { corner } else { vertex };
            let uv =
                if surface.uvs.is_empty() { String::new() } else { (counts.uvs + 1 + corner).to_string() };
            // writing to a string cannot fail
            let _ = write!(line, " {}/{uv}/{normal}", counts.vertices + 1 + vertex);
        }
        line.push('\n');
        out.write_all(line.as_bytes())?;
    }
    counts.vertices += surface.position.len();
    counts.uvs += surface.uvs.len();
    counts.normals += normals.len();
    Ok(())
}
