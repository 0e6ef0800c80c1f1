//! Wavefront OBJ.

use std::borrow::Cow;

use phyxel::math::vec3;

use super::{MeshError, Soup, polygon};

fn corrupt(reason: impl std::fmt::Display) -> MeshError {
    MeshError::Corrupt { format: "OBJ", reason: reason.to_string() }
}

pub(super) fn parse(bytes: &[u8]) -> Result<Soup, MeshError> {
    let text = positions_and_faces(&String::from_utf8_lossy(bytes));
    let options = tobj::LoadOptions { ignore_points: true, ignore_lines: true, ..Default::default() };
    let no_materials = |_: &std::path::Path| Ok(Default::default());
    let (models, _) = tobj::load_obj_buf(&mut text.as_bytes(), &options, no_materials).map_err(corrupt)?;
    let mut soup = Soup::default();
    for model in &models {
        add_model(&model.mesh, &mut soup)?;
    }
    Ok(soup)
}

/// Only vertex positions and faces, and of faces only the position indices: a wrong texture or normal index, or a material file
/// that is not there, is no reason to refuse a shape. Lines that end in a backslash go on in the next.
fn positions_and_faces(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let mut line = Cow::from(line);
        while let Some(begun) = line.trim_end().strip_suffix('\\') {
            line = Cow::from(format!("{begun} {}", lines.next().unwrap_or_default()));
        }
        let mut words = line.split('#').next().unwrap_or_default().split_whitespace();
        match words.next() {
            Some("v") => kept.push_str(&words.take(3).fold("v".to_owned(), |line, word| line + " " + word)),
            Some("f") => {
                kept.push('f');
                for word in words {
                    kept.push(' ');
                    kept.push_str(word.split('/').next().unwrap_or_default());
                }
            }
            _ => continue,
        }
        kept.push('\n');
    }
    kept
}

fn add_model(mesh: &tobj::Mesh, soup: &mut Soup) -> Result<(), MeshError> {
    let first = u32::try_from(soup.vertices.len()).map_err(corrupt)?;
    let positions = mesh.positions.chunks_exact(3);
    soup.vertices.extend(positions.map(|position| vec3(position[0], position[1], position[2])));
    let mut indices = mesh.indices.iter().map(|index| index.saturating_add(first));
    if mesh.face_arities.is_empty() {
        let indices: Vec<u32> = indices.collect();
        soup.triangles.extend(indices.chunks_exact(3).map(|corners| [corners[0], corners[1], corners[2]]));
        return Ok(());
    }
    for &n_corners in &mesh.face_arities {
        let corners: Vec<u32> = indices.by_ref().take(n_corners as usize).collect();
        polygon::triangulate(&corners, &soup.vertices, &mut soup.triangles);
    }
    Ok(())
}
