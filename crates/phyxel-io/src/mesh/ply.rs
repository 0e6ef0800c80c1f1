//! Reader for PLY, as text or binary of either byte order.

use std::io::Cursor;

use phyxel::math::{Vec3, vec3};
use ply_rs_bw::parser::{Parser, Reader};
use ply_rs_bw::ply::{
    ElementDef, Encoding, Property, PropertyAccess, PropertyAccessResult, PropertyType, ScalarType,
};

use super::{MeshError, PolygonMesh};

fn corrupt(reason: impl std::fmt::Display) -> MeshError {
    MeshError::Corrupt { format: "PLY", reason: reason.to_string() }
}

/// One row of the file: a vertex, a face, or an element that is skipped.
#[derive(Debug, Default)]
struct Row {
    position: [Option<f64>; 3],
    normal: [Option<f64>; 3],
    uv: [Option<f64>; 2],
    corners: Vec<u32>,
    /// Texture coordinates of the corners, two numbers per corner.
    corner_uvs: Vec<f32>,
}

impl PropertyAccess for Row {
    fn new() -> Self {
        Self::default()
    }

    fn set_property(&mut self, name: &str, property: Property) -> PropertyAccessResult {
        match name {
            "x" => self.position[0] = scalar(&property),
            "y" => self.position[1] = scalar(&property),
            "z" => self.position[2] = scalar(&property),
            "nx" => self.normal[0] = scalar(&property),
            "ny" => self.normal[1] = scalar(&property),
            "nz" => self.normal[2] = scalar(&property),
            "s" | "u" | "texture_u" => self.uv[0] = scalar(&property),
            "t" | "v" | "texture_v" => self.uv[1] = scalar(&property),
            "vertex_indices" | "vertex_index" => self.corners = indices(&property),
            "texcoord" => self.corner_uvs = floats(property),
            _ => return PropertyAccessResult::Ignored,
        }
        PropertyAccessResult::Set
    }
}

fn scalar(property: &Property) -> Option<f64> {
    match *property {
        Property::Char(value) => Some(value.into()),
        Property::UChar(value) => Some(value.into()),
        Property::Short(value) => Some(value.into()),
        Property::UShort(value) => Some(value.into()),
        Property::Int(value) => Some(value.into()),
        Property::UInt(value) => Some(value.into()),
        Property::Float(value) => Some(value.into()),
        Property::Double(value) => Some(value),
        _ => None,
    }
}

fn floats(property: Property) -> Vec<f32> {
    match property {
        Property::ListFloat(values) => values,
        Property::ListDouble(values) => values.into_iter().map(|value| value as f32).collect(),
        _ => Vec::new(),
    }
}

/// Returns the indices of a list; a negative one becomes `u32::MAX`, which no mesh has, and is refused later.
fn indices(property: &Property) -> Vec<u32> {
    fn all<T: Copy + TryInto<u32>>(values: &[T]) -> Vec<u32> {
        values.iter().map(|&value| value.try_into().unwrap_or(u32::MAX)).collect()
    }
    match property {
        Property::ListChar(values) => all(values),
        Property::ListUChar(values) => all(values),
        Property::ListShort(values) => all(values),
        Property::ListUShort(values) => all(values),
        Property::ListInt(values) => all(values),
        Property::ListUInt(values) => all(values),
        _ => Vec::new(),
    }
}

pub(super) fn parse(bytes: &[u8]) -> Result<PolygonMesh, MeshError> {
    let mut reader = Reader::new(Cursor::new(bytes));
    let parser = Parser::<Row>::new();
    let header = parser.read_header(&mut reader).map_err(corrupt)?;
    let mut mesh = PolygonMesh::default();
    let (mut vertices, mut faces) = (Vec::new(), Vec::new());
    for (name, element) in &header.elements {
        let n_left = bytes.len().saturating_sub(reader.get_ref().position() as usize);
        check_count(element, header.encoding, n_left)?;
        let rows = parser.read_payload_for_element(&mut reader, element, &header).map_err(corrupt)?;
        match name.as_str() {
            "vertex" => vertices.extend(rows),
            "face" => faces.extend(rows),
            _ => {}
        }
    }
    for row in &vertices {
        let [Some(x), Some(y), Some(z)] = row.position else {
            return Err(corrupt("vertices need the properties x, y and z"));
        };
        mesh.vertices.push(vec3(x, y, z));
    }
    for Row { corners, corner_uvs, .. } in &faces {
        mesh.add_face(corners);
        // indices out of range are skipped here and refused later
        let of_corners = corners.iter().filter_map(|&corner| vertices.get(corner as usize));
        if let [_, ..] = corner_uvs.as_slice() {
            mesh.uvs.extend(corner_uvs.as_chunks().0);
        } else {
            let uvs = of_corners.clone().filter_map(|row| Some([row.uv[0]? as f32, row.uv[1]? as f32]));
            mesh.uvs.extend(uvs);
        }
        let normals = of_corners.filter_map(|row| match row.normal {
            [Some(x), Some(y), Some(z)] => Some(Vec3::new(x, y, z)),
            _ => None,
        });
        mesh.normals.extend(normals);
    }
    Ok(mesh)
}

/// Refuses a number of rows that the rest of the file cannot hold, before memory is allocated for them.
fn check_count(element: &ElementDef, encoding: Encoding, n_bytes_left: usize) -> Result<(), MeshError> {
    let row_size = match encoding {
        Encoding::Ascii => 1,
        _ => element.properties.values().map(|property| least_size(&property.data_type)).sum::<usize>(),
    };
    let n_needed = element.count.checked_mul(row_size.max(1));
    if n_needed.is_some_and(|n_needed| n_needed <= n_bytes_left) {
        return Ok(());
    }
    Err(corrupt(format!(
        "{} rows of \"{}\" are announced, but the file ends before",
        element.count, element.name
    )))
}

fn least_size(data_type: &PropertyType) -> usize {
    match data_type {
        PropertyType::Scalar(scalar) | PropertyType::List(scalar, _) => match scalar {
            ScalarType::Char | ScalarType::UChar => 1,
            ScalarType::Short | ScalarType::UShort => 2,
            ScalarType::Int | ScalarType::UInt | ScalarType::Float => 4,
            ScalarType::Double => 8,
        },
    }
}
