//! Readers for mesh files: OBJ, PLY, STL and glTF.
//!
//! A mesh read as a solid ([`read`]) has triangles, and vertices at the same position are merged. A mesh read as a
//! surface that moves with a body ([`read_both`]) keeps its vertices, polygons, texture coordinates, normals and
//! groups. Colours and materials are skipped. Files come from other programs: anything wrong in them is an error, never
//! a panic.

pub(crate) mod base64;
pub(crate) mod gltf_file;
mod obj;
mod ply;
mod polygon;
mod polygon_mesh;
mod stl;

pub use polygon_mesh::PolygonMesh;

use std::path::{Path, PathBuf};

use phyxel::geometry::{TriangleMesh, TriangleMeshError};

/// Largest mesh file (bytes).
pub const LARGEST_FILE: u64 = 2_000_000_000;
/// Largest magnitude of a coordinate (m): squares of larger ones do not fit into the 32-bit numbers of frames.
const LARGEST_COORDINATE: f64 = crate::scene::LARGEST_NUMBER;

/// Extensions of the files that can be read.
pub const EXTENSIONS: [&str; 5] = ["obj", "ply", "stl", "gltf", "glb"];

/// Reason why a mesh could not be read.
#[derive(Debug, thiserror::Error)]
pub enum MeshError {
    /// There is no such file.
    #[error("there is no file {}", path.display())]
    Missing {
        /// The requested file.
        path: PathBuf,
    },
    /// The file exists but cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The requested file.
        path: PathBuf,
        /// Error of the system.
        source: std::io::Error,
    },
    /// The extension is not that of a mesh file.
    #[error("a mesh file cannot end in \"{extension}\"; known are .{}", EXTENSIONS.join(", ."))]
    UnknownExtension {
        /// The extension, without dot.
        extension: String,
    },
    /// The file has no content.
    #[error("the mesh file is empty")]
    Empty,
    /// The content breaks the rules of its format.
    #[error("not a correct {format} file: {reason}")]
    Corrupt {
        /// Name of the format.
        format: &'static str,
        /// Description of the problem.
        reason: String,
    },
    /// There are no faces.
    #[error("the {format} file has no faces: points and lines alone are not a mesh")]
    NoTriangles {
        /// Name of the format.
        format: &'static str,
    },
    /// A coordinate is larger than frames can hold.
    #[error("vertex {vertex} is farther than {LARGEST_COORDINATE:e} m from the origin; scale the mesh down")]
    TooFar {
        /// Number of the vertex.
        vertex: usize,
    },
    /// The content is well-formed but not a mesh.
    #[error(transparent)]
    Invalid(#[from] TriangleMeshError),
}

/// Reads a mesh file as a solid; its extension tells the format. A glTF file may refer to files beside it.
pub fn read(path: &Path) -> Result<TriangleMesh, MeshError> {
    let (format, mesh) = load(path)?;
    mesh.to_triangle_mesh(format)
}

/// Reads a mesh file with its polygons, texture coordinates, normals and groups, and as a solid.
pub fn read_both(path: &Path) -> Result<(PolygonMesh, TriangleMesh), MeshError> {
    let (format, mesh) = load(path)?;
    let solid = mesh.to_triangle_mesh(format)?;
    Ok((mesh, solid))
}

fn load(path: &Path) -> Result<(&'static str, PolygonMesh), MeshError> {
    let extension =
        path.extension().map_or_else(String::new, |extension| extension.to_string_lossy().to_lowercase());
    check_extension(&extension)?;
    parse(&read_file(path)?, &extension, path.parent())
}

/// Reads a mesh file, or a file that belongs to it.
fn read_file(path: &Path) -> Result<Vec<u8>, MeshError> {
    crate::read_file(path, LARGEST_FILE).map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound => MeshError::Missing { path: path.to_owned() },
        _ => MeshError::Unreadable { path: path.to_owned(), source },
    })
}

/// Reads a mesh from memory. The extension, without dot, tells the format; glTF must hold its data itself.
pub fn read_bytes(bytes: &[u8], extension: &str) -> Result<TriangleMesh, MeshError> {
    let extension = extension.to_lowercase();
    check_extension(&extension)?;
    let (format, mesh) = parse(bytes, &extension, None)?;
    mesh.to_triangle_mesh(format)
}

fn check_extension(extension: &str) -> Result<(), MeshError> {
    match EXTENSIONS.contains(&extension) {
        true => Ok(()),
        false => Err(MeshError::UnknownExtension { extension: extension.to_owned() }),
    }
}

fn parse(
    bytes: &[u8],
    extension: &str,
    folder: Option<&Path>,
) -> Result<(&'static str, PolygonMesh), MeshError> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(MeshError::Empty);
    }
    let (format, mut mesh) = match extension {
        "obj" => ("OBJ", obj::parse(bytes)?),
        "ply" => ("PLY", ply::parse(bytes)?),
        "stl" => ("STL", stl::parse(bytes)?),
        _ => ("glTF", gltf_file::parse(bytes, folder)?),
    };
    if let Some(vertex) = mesh.vertices.iter().position(|v| v.abs().max_element() > LARGEST_COORDINATE) {
        return Err(MeshError::TooFar { vertex });
    }
    mesh.drop_incomplete();
    Ok((format, mesh))
}

#[cfg(test)]
mod limit_tests;
#[cfg(test)]
mod tests;
