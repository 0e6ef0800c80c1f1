//! Reader for glTF 2.0, as text (.gltf) or binary (.glb).
//!
//! The reader takes all triangle primitives of the default scene, with the transforms of their nodes. Buffers may be in
//! the file, in a data URI or in a file beside it. Sparse and compressed accessors are refused, skins and morph targets
//! ignored.

use std::path::{Component, Path};

use gltf::accessor::{DataType, Dimensions};
use gltf::mesh::Mode;
use gltf::{Accessor, Gltf, Node, Primitive, Semantic};
use phyxel::math::{Mat3, Vec3, vec3};

use super::{MeshError, PolygonMesh, base64};

fn corrupt(reason: impl std::fmt::Display) -> MeshError {
    MeshError::Corrupt { format: "glTF", reason: reason.to_string() }
}

/// Largest number of nodes, primitives, vertices, corners and letters of names that a file may have by using its data
/// several times; each byte of data adds one. A small file whose nodes share or contain each other would else never end.
const MAX_REPEATED: usize = 1_000_000;
/// Largest depth of nodes inside nodes.
const MAX_DEPTH: usize = 256;

/// Transform of a node: x ↦ matrix x + offset.
#[derive(Clone, Copy)]
struct Transform {
    matrix: Mat3,
    offset: Vec3,
}

struct Document<'a> {
    buffers: Vec<Vec<u8>>,
    mesh: PolygonMesh,
    /// Number of nodes, primitives, vertices, corners and letters that may still be added.
    n_left: usize,
    gltf: &'a Gltf,
}

pub(super) fn parse(bytes: &[u8], folder: Option<&Path>) -> Result<PolygonMesh, MeshError> {
    check_binary_length(bytes)?;
    let unchecked = Gltf::from_slice_without_validation(bytes).map_err(corrupt)?;
    check_attributes(&unchecked)?;
    let document = gltf::Document::from_json(unchecked.document.into_json()).map_err(corrupt)?;
    let gltf = Gltf { document, blob: unchecked.blob };
    let buffers =
        gltf.buffers().map(|buffer| load_buffer(&gltf, &buffer, folder)).collect::<Result<Vec<_>, _>>()?;
    let n_left = MAX_REPEATED + buffers.iter().map(Vec::len).sum::<usize>();
    let mut document = Document { buffers, mesh: PolygonMesh::default(), n_left, gltf: &gltf };
    document.add_scene()?;
    Ok(document.mesh)
}

/// Checks that the length in a binary header includes the header itself; the parser relies on that.
fn check_binary_length(bytes: &[u8]) -> Result<(), MeshError> {
    const HEADER_SIZE: u32 = 12;
    if !bytes.starts_with(b"glTF") {
        return Ok(());
    }
    match bytes.get(8..12) {
        Some(&[a, b, c, d]) if u32::from_le_bytes([a, b, c, d]) >= HEADER_SIZE => Ok(()),
        _ => Err(corrupt("the binary header is damaged")),
    }
}

/// Checks that all attributes name accessors that exist; the parser's own validation relies on that.
fn check_attributes(gltf: &Gltf) -> Result<(), MeshError> {
    let root = gltf.as_json();
    let mut primitives = root.meshes.iter().flat_map(|mesh| &mesh.primitives);
    let exist = primitives.all(|primitive| {
        primitive.attributes.values().all(|accessor| accessor.value() < root.accessors.len())
    });
    if exist { Ok(()) } else { Err(corrupt("a mesh uses an accessor that does not exist")) }
}

fn load_buffer(gltf: &Gltf, buffer: &gltf::Buffer<'_>, folder: Option<&Path>) -> Result<Vec<u8>, MeshError> {
    let uri = match buffer.source() {
        gltf::buffer::Source::Bin => {
            return gltf.blob.clone().ok_or_else(|| corrupt("the binary part is missing"));
        }
        gltf::buffer::Source::Uri(uri) => uri,
    };
    if let Some(data) = uri.strip_prefix("data:") {
        let (_, encoded) = data.split_once(";base64,").ok_or_else(|| corrupt("a data URI is not base64"))?;
        return base64::decode(encoded).ok_or_else(|| corrupt("a data URI is not correct base64"));
    }
    if uri.contains(':') {
        return Err(corrupt(format!(
            "the buffer address {uri} cannot be read; put the file beside this one"
        )));
    }
    let folder = folder.ok_or_else(|| corrupt(format!("the data is in another file, {uri}")))?;
    read_beside(folder, uri)
}

/// Reads a file that a glTF file in `folder` names. It must be in that folder or below: a mesh from elsewhere shall not make
/// the program read, and copy into results, any other file of the user.
pub(crate) fn read_beside(folder: &Path, uri: &str) -> Result<Vec<u8>, MeshError> {
    let outside = || {
        let uri: String = uri.chars().take(100).collect();
        corrupt(format!("its data is in {uri}, which is not in its folder; put the file beside this one"))
    };
    let name = percent_decoded(uri);
    if !Path::new(&name).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
        return Err(outside());
    }
    // a path without folder is in the current one
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let path = folder.join(name);
    if let (Ok(real), Ok(folder)) = (path.canonicalize(), folder.canonicalize())
        && !real.starts_with(folder)
    {
        return Err(outside());
    }
    super::read_file(&path)
}

/// Decodes the characters that a URI writes as %XX, such as %20 for a blank.
pub(crate) fn percent_decoded(uri: &str) -> String {
    let bytes = uri.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = uri.get(at + 1..at + 3).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (bytes[at], code) {
            (b'%', Some(code)) => {
                decoded.push(code);
                at += 3;
            }
            (byte, _) => {
                decoded.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

impl Transform {
    const IDENTITY: Self = Self { matrix: Mat3::IDENTITY, offset: Vec3::ZERO };

    fn of(node: &Node<'_>) -> Self {
        let [x, y, z, w] = node.transform().matrix().map(|[x, y, z, _]| vec3(x.into(), y.into(), z.into()));
        Self { matrix: Mat3::from_cols(x, y, z), offset: w }
    }

    fn then_inside(&self, parent: &Self) -> Self {
        Self { matrix: parent.matrix * self.matrix, offset: parent.matrix * self.offset + parent.offset }
    }
}

impl Document<'_> {
    fn add_scene(&mut self) -> Result<(), MeshError> {
        let gltf = self.gltf;
        match gltf.default_scene().or_else(|| gltf.scenes().next()) {
            Some(scene) => scene.nodes().try_for_each(|node| self.add_node(&node, &Transform::IDENTITY, 0)),
            // without scenes the file is a library of meshes, which have no transforms
            None => gltf.meshes().try_for_each(|mesh| self.add_mesh(&mesh, None, &Transform::IDENTITY)),
        }
    }

    /// Counts what is added, and refuses more than is left.
    fn count(&mut self, n_added: usize) -> Result<(), MeshError> {
        let too_many =
            "its nodes contain each other or repeat its meshes too often; export it without instances";
        self.n_left = self.n_left.checked_sub(n_added).ok_or_else(|| corrupt(too_many))?;
        Ok(())
    }

    fn add_node(&mut self, node: &Node<'_>, parent: &Transform, depth: usize) -> Result<(), MeshError> {
        self.count(1)?;
        if depth > MAX_DEPTH {
            return Err(corrupt("nodes contain each other"));
        }
        let transform = Transform::of(node).then_inside(parent);
        if let Some(mesh) = node.mesh() {
            self.add_mesh(&mesh, node.name(), &transform)?;
        }
        node.children().try_for_each(|child| self.add_node(&child, &transform, depth + 1))
    }

    /// Adds the mesh of a node as a group of faces, named like the node.
    fn add_mesh(
        &mut self,
        mesh: &gltf::Mesh<'_>,
        node: Option<&str>,
        transform: &Transform,
    ) -> Result<(), MeshError> {
        let group = self.mesh.group_names.len() as u32;
        let name = node.or(mesh.name()).map_or_else(|| format!("mesh_{group}"), str::to_owned);
        self.count(name.len())?;
        self.mesh.group_names.push(name);
        mesh.primitives().try_for_each(|primitive| self.add_primitive(&primitive, transform))?;
        self.mesh.face_groups.resize(self.mesh.face_sizes.len(), group);
        Ok(())
    }

    fn add_primitive(&mut self, primitive: &Primitive<'_>, transform: &Transform) -> Result<(), MeshError> {
        self.count(1)?;
        let Some(positions) = primitive.get(&Semantic::Positions) else {
            return Ok(());
        };
        if !matches!(primitive.mode(), Mode::Triangles | Mode::TriangleStrip | Mode::TriangleFan) {
            return Ok(());
        }
        self.count(positions.count() + primitive.indices().map_or(0, |indices| indices.count()))?;
        let first = u32::try_from(self.mesh.vertices.len()).map_err(corrupt)?;
        let positions = self.read_vectors(&positions)?;
        let normals = primitive.get(&Semantic::Normals).map(|n| self.read_vectors(&n)).transpose()?;
        let uvs = primitive.get(&Semantic::TexCoords(0)).map(|uvs| self.read_uvs(&uvs)).transpose()?;
        let corners: Vec<u32> = match primitive.indices() {
            Some(indices) => self.read_indices(&indices)?,
            None => (0..u32::try_from(positions.len()).map_err(corrupt)?).collect(),
        };
        let place = |position: Vec3| transform.matrix * position + transform.offset;
        self.mesh.vertices.extend(positions.into_iter().map(place));
        // a reflection turns triangles inside out, but not their normals
        let is_mirrored = transform.matrix.determinant() < 0.0;
        let turn = phyxel::math::cofactor(transform.matrix) * if is_mirrored { -1.0 } else { 1.0 };
        for [a, b, c] in triangles(primitive.mode(), &corners) {
            let face = if is_mirrored { [a, c, b] } else { [a, b, c] };
            self.mesh.add_face(&face.map(|corner| corner.saturating_add(first)));
            // indices out of range are skipped here and refused later
            let of_face = |list: &[Vec3]| {
                face.iter().filter_map(|&i| list.get(i as usize).copied()).collect::<Vec<_>>()
            };
            self.mesh
                .normals
                .extend(of_face(normals.as_deref().unwrap_or_default()).into_iter().map(|n| turn * n));
            let uvs = uvs.as_deref().unwrap_or_default();
            // v counts from the top of an image in glTF, from the bottom in most other programs
            let uvs = face.iter().filter_map(|&i| uvs.get(i as usize)).map(|[u, v]| [*u, 1.0 - v]);
            self.mesh.uvs.extend(uvs);
        }
        Ok(())
    }

    /// Reads texture coordinates, which are floats, or integers that map to the range 0 to 1.
    fn read_uvs(&self, accessor: &Accessor<'_>) -> Result<Vec<[f32; 2]>, MeshError> {
        if accessor.dimensions() != Dimensions::Vec2 {
            return Err(corrupt("texture coordinates must be two numbers each"));
        }
        let float = |b: &[u8]| f32::from_le_bytes([b[0], b[1], b[2], b[3]]);
        let short = |b: &[u8]| f32::from(u16::from_le_bytes([b[0], b[1]])) / f32::from(u16::MAX);
        let byte = |b: u8| f32::from(b) / f32::from(u8::MAX);
        match accessor.data_type() {
            DataType::F32 => self.read_elements(accessor, 8, |b| [float(b), float(&b[4..])]),
            DataType::U16 => self.read_elements(accessor, 4, |b| [short(b), short(&b[2..])]),
            DataType::U8 => self.read_elements(accessor, 2, |b| [byte(b[0]), byte(b[1])]),
            _ => Err(corrupt("texture coordinates must be floats or unsigned integers")),
        }
    }

    fn read_vectors(&self, accessor: &Accessor<'_>) -> Result<Vec<Vec3>, MeshError> {
        if accessor.data_type() != DataType::F32 || accessor.dimensions() != Dimensions::Vec3 {
            return Err(corrupt("positions and normals must be three floats each"));
        }
        let float = |bytes: &[u8]| f64::from(f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
        let position = |bytes: &[u8]| vec3(float(bytes), float(&bytes[4..]), float(&bytes[8..]));
        self.read_elements(accessor, 12, position)
    }

    fn read_indices(&self, accessor: &Accessor<'_>) -> Result<Vec<u32>, MeshError> {
        match accessor.data_type() {
            DataType::U8 => self.read_elements(accessor, 1, |bytes| bytes[0].into()),
            DataType::U16 => {
                self.read_elements(accessor, 2, |bytes| u16::from_le_bytes([bytes[0], bytes[1]]).into())
            }
            DataType::U32 => self.read_elements(accessor, 4, |bytes| {
                u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
            }),
            _ => Err(corrupt("indices must be unsigned integers")),
        }
    }

    /// Reads the elements of an accessor, each from `size` bytes; every offset is checked.
    fn read_elements<T>(
        &self,
        accessor: &Accessor<'_>,
        size: usize,
        element: impl Fn(&[u8]) -> T,
    ) -> Result<Vec<T>, MeshError> {
        if accessor.sparse().is_some() {
            return Err(corrupt("sparse accessors are not supported; export without them"));
        }
        let view =
            accessor.view().ok_or_else(|| corrupt("compressed meshes are not supported; export without"))?;
        let past_end = || corrupt(format!("accessor {} reaches past the end of its data", accessor.index()));
        let buffer = self.buffers.get(view.buffer().index()).ok_or_else(past_end)?;
        let view_end = view.offset().checked_add(view.length()).ok_or_else(past_end)?;
        let bytes = buffer.get(view.offset()..view_end).ok_or_else(past_end)?;
        let stride = view.stride().unwrap_or(size);
        if stride < size {
            return Err(corrupt(format!("the elements of accessor {} overlap", accessor.index())));
        }
        let last = accessor.count().saturating_sub(1).checked_mul(stride);
        let end =
            last.and_then(|last| last.checked_add(accessor.offset())).and_then(|last| last.checked_add(size));
        if accessor.count() == 0 {
            return Ok(Vec::new());
        }
        let bytes = bytes.get(accessor.offset()..end.ok_or_else(past_end)?).ok_or_else(past_end)?;
        Ok(bytes.chunks(stride).map(|chunk| element(&chunk[..size.min(chunk.len())])).collect())
    }
}

fn triangles(mode: Mode, corners: &[u32]) -> Vec<[u32; 3]> {
    match mode {
        Mode::TriangleStrip => corners
            .windows(3)
            .enumerate()
            .map(|(step, window)| match step % 2 {
                0 => [window[0], window[1], window[2]],
                _ => [window[1], window[0], window[2]],
            })
            .collect(),
        Mode::TriangleFan => corners
            .get(1..)
            .unwrap_or_default()
            .windows(2)
            .map(|pair| [corners[0], pair[0], pair[1]])
            .collect(),
        _ => corners.chunks_exact(3).map(|corners| [corners[0], corners[1], corners[2]]).collect(),
    }
}
