//! Reader for STL, as text or binary.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Cursor;

use phyxel::math::vec3;

use super::{MeshError, PolygonMesh};

fn corrupt(reason: impl std::fmt::Display) -> MeshError {
    MeshError::Corrupt { format: "STL", reason: reason.to_string() }
}

/// Sizes of the header of a binary file, before the triangles, and of each triangle (bytes).
const HEADER_SIZE: usize = 84;
const TRIANGLE_SIZE: usize = 50;

/// Reads an STL file, in which every triangle has its own vertices; vertices at the same position are merged.
pub(super) fn parse(bytes: &[u8]) -> Result<PolygonMesh, MeshError> {
    let bytes = unambiguous(bytes);
    let mut cursor = Cursor::new(bytes.as_ref());
    let mut mesh = PolygonMesh::default();
    let mut known = HashMap::new();
    for triangle in stl_io::create_stl_reader(&mut cursor).map_err(corrupt)? {
        let corners = triangle.map_err(corrupt)?.vertices.map(|stl_io::Vector([x, y, z])| {
            // adding 0 turns -0 into +0, so that both have the same bits
            *known.entry([x, y, z].map(|c| (c + 0.0).to_bits())).or_insert_with(|| {
                mesh.vertices.push(vec3(x.into(), y.into(), z.into()));
                mesh.vertices.len() as u32 - 1
            })
        });
        mesh.add_face(&corners);
    }
    Ok(mesh)
}

/// Rewrites the beginning of a file so that the reader recognizes text and binary correctly. The reader takes a file
/// that begins with "solid " for text, but some programs begin binary headers so, and others end the word with a line
/// break or write it in capitals; the size tells which files are binary.
fn unambiguous(bytes: &[u8]) -> Cow<'_, [u8]> {
    let begins_like_text = bytes.len() >= 5 && bytes[..5].eq_ignore_ascii_case(b"solid");
    if !begins_like_text {
        return Cow::from(bytes);
    }
    let mut rewritten = bytes.to_vec();
    if has_binary_size(bytes) {
        rewritten[..5].fill(b' ');
    } else {
        rewritten.make_ascii_lowercase();
        rewritten.splice(..5, *b"solid ");
    }
    Cow::from(rewritten)
}

fn has_binary_size(bytes: &[u8]) -> bool {
    let Some(&[a, b, c, d]) = bytes.get(HEADER_SIZE - 4..HEADER_SIZE) else {
        return false;
    };
    let n_triangles = u32::from_le_bytes([a, b, c, d]) as usize;
    Some(bytes.len()) == n_triangles.checked_mul(TRIANGLE_SIZE).and_then(|size| size.checked_add(HEADER_SIZE))
}
