//! Contents of the prims: the attributes of point clouds and meshes, and their values in a frame.

use super::super::frame_selection::is_velocity;
use super::super::number::{push_f32, push_joined};
use super::super::{FrameSelection, SelectedFrame};
use super::{Names, quoted};
use crate::results::SurfaceTable;
use std::fmt::Write as _;

/// A USD prim: the point cloud or the mesh of a body.
pub(super) struct Prim {
    /// Name of the USD schema.
    pub(super) kind: &'static str,
    pub(super) body: usize,
    pub(super) name: String,
    /// Lines with the same value in all frames.
    pub(super) constants: Vec<&'static str>,
    pub(super) attributes: Vec<Attribute>,
    /// Names of the groups of faces, with the indices of their faces.
    pub(super) groups: Vec<(String, Vec<u32>)>,
}

/// An attribute of a prim: its declaration, and its value in a frame.
pub(super) struct Attribute {
    /// Type and name of the attribute.
    pub(super) declaration: String,
    /// Lines of metadata, written in parentheses after the declaration or value.
    pub(super) metadata: Vec<String>,
    pub(super) value: Value,
}

/// Data of a body that an attribute holds.
#[derive(Clone, Copy)]
pub(super) enum Value {
    /// Bounding box of the particles.
    Extent,
    Ids,
    Positions,
    Widths,
    /// A column of the frames.
    Column(usize),
    /// Data of the body's surface.
    Surface(Part),
}

/// Data of a surface that an attribute holds.
#[derive(Clone, Copy)]
pub(super) enum Part {
    Extent,
    FaceSizes,
    Corners,
    Positions,
    Normals,
    CornerNormals,
    Velocities,
    Uvs,
}

fn attribute(declaration: &str, metadata: &[&str], value: Value) -> Attribute {
    Attribute {
        declaration: declaration.to_owned(),
        metadata: metadata.iter().map(|&line| line.to_owned()).collect(),
        value,
    }
}

impl Prim {
    /// Returns the prims of all bodies; the first frame tells which surfaces and columns there are.
    pub(super) fn all(selection: &FrameSelection<'_>, first: &SelectedFrame) -> Vec<Self> {
        let mut prims = Vec::new();
        for (body, name) in selection.body_names().enumerate() {
            if let Some(surface) = &first.surfaces[body] {
                prims.push(Self::mesh(body, name, surface));
            }
            if selection.shows_particles(body) {
                prims.push(Self::points(body, name, selection));
            }
        }
        prims
    }

    fn points(body: usize, name: &str, selection: &FrameSelection<'_>) -> Self {
        let mut attributes = vec![
            attribute("float3[] extent", &[], Value::Extent),
            attribute("int64[] ids", &[], Value::Ids),
            attribute("point3f[] points", &[], Value::Positions),
            attribute("float[] widths", &["interpolation = \"vertex\""], Value::Widths),
            // ids once more as a primvar: Blender makes an attribute of it, but not of `ids`
            attribute("int[] primvars:id", &["interpolation = \"vertex\""], Value::Ids),
        ];
        let mut names = Names::default();
        names.identifier("id");
        for (place, column) in selection.columns().iter().enumerate() {
            if is_velocity(&column.name, column.n_components) {
                attributes.push(attribute("vector3f[] velocities", &[], Value::Column(place)));
                continue;
            }
            let kind = if column.n_components == 3 { "float3" } else { "float" };
            let declaration = format!("{kind}[] primvars:{}", names.identifier(&column.name));
            let unit = format!("customData = {{ string unit = {} }}", quoted(&column.unit));
            let metadata = ["interpolation = \"vertex\"", &unit];
            attributes.push(attribute(&declaration, &metadata, Value::Column(place)));
        }
        let (constants, groups) = (Vec::new(), Vec::new());
        Self { kind: "Points", body, name: name.to_owned(), constants, attributes, groups }
    }

    fn mesh(body: usize, name: &str, first: &SurfaceTable) -> Self {
        let part = |declaration: &str, metadata: &[&str], part| {
            attribute(declaration, metadata, Value::Surface(part))
        };
        let mut attributes = vec![
            part("float3[] extent", &[], Part::Extent),
            part("int[] faceVertexCounts", &[], Part::FaceSizes),
            part("int[] faceVertexIndices", &[], Part::Corners),
            part("point3f[] points", &[], Part::Positions),
        ];
        attributes.push(if first.corner_normals.is_empty() {
            part("normal3f[] normals", &["interpolation = \"vertex\""], Part::Normals)
        } else {
            part("normal3f[] normals", &["interpolation = \"faceVarying\""], Part::CornerNormals)
        });
        if !first.velocity.is_empty() {
            attributes.push(part("vector3f[] velocities", &[], Part::Velocities));
        }
        if !first.uvs.is_empty() {
            let metadata = ["interpolation = \"faceVarying\""];
            attributes.push(part("texCoord2f[] primvars:st", &metadata, Part::Uvs));
        }
        let faces_of = |group: usize| {
            let faces = first.face_groups.iter().enumerate();
            faces.filter(|(_, g)| **g as usize == group).map(|(face, _)| face as u32).collect()
        };
        let groups = first.group_names.iter().enumerate().map(|(k, name)| (name.clone(), faces_of(k)));
        let groups: Vec<(String, Vec<u32>)> = groups.collect();
        let mut constants =
            vec!["uniform token orientation = \"rightHanded\"", "uniform token subdivisionScheme = \"none\""];
        if !groups.is_empty() {
            constants.push("uniform token subsetFamily:materialBind:familyType = \"partition\"");
        }
        Self { kind: "Mesh", body, name: format!("{name}_surface"), constants, attributes, groups }
    }
}

impl Value {
    /// Returns the value in a frame as USD text, for a body whose particles are in these rows.
    pub(super) fn text(self, frame: &SelectedFrame, body: usize, rows: &[usize]) -> String {
        let particles = &frame.particles;
        let mut text = String::from("[");
        let each = rows.iter().copied();
        match self {
            Self::Extent => {
                let grown = each.map(|row| (particles.position[row], particles.radius[row]));
                push_extent(&mut text, grown);
            }
            Self::Ids => list(&mut text, each, |text, row| {
                // writing to a string cannot fail
                let _ = write!(text, "{}", particles.id[row]);
            }),
            Self::Positions => list(&mut text, each, |text, row| push_vector(text, &particles.position[row])),
            // a width is a diameter
            Self::Widths => list(&mut text, each, |text, row| push_f32(text, 2.0 * particles.radius[row])),
            Self::Column(place) => {
                let column = &particles.columns[place];
                let n = column.n_components;
                list(&mut text, each, |text, row| match &column.values[row * n..(row + 1) * n] {
                    [value] => push_f32(text, *value),
                    values => push_vector(text, values),
                });
            }
            Self::Surface(part) => {
                if let Some(surface) = &frame.surfaces[body] {
                    part.push(&mut text, surface);
                }
            }
        }
        text.push(']');
        text
    }
}

impl Part {
    fn push(self, text: &mut String, surface: &SurfaceTable) {
        let integer = |text: &mut String, value: &u32| {
            // writing to a string cannot fail
            let _ = write!(text, "{value}");
        };
        let vector = |text: &mut String, value: &[f32; 3]| push_vector(text, value);
        match self {
            Self::Extent => push_extent(text, surface.position.iter().map(|x| (*x, 0.0))),
            Self::FaceSizes => list(text, surface.face_sizes.iter(), integer),
            Self::Corners => list(text, surface.corners.iter(), integer),
            Self::Positions => list(text, surface.position.iter(), vector),
            Self::Normals => list(text, surface.normal.iter(), vector),
            Self::CornerNormals => list(text, surface.corner_normals.iter(), vector),
            Self::Velocities => list(text, surface.velocity.iter(), vector),
            Self::Uvs => list(text, surface.uvs.iter(), |text, uv| push_vector(text, uv)),
        }
    }
}

fn list<T>(text: &mut String, items: impl Iterator<Item = T>, mut push: impl FnMut(&mut String, T)) {
    for (place, item) in items.enumerate() {
        if place > 0 {
            text.push_str(", ");
        }
        push(text, item);
    }
}

fn push_vector(text: &mut String, values: &[f32]) {
    text.push('(');
    push_joined(text, values, ", ");
    text.push(')');
}

/// Appends the bounding box of balls; without balls, the empty range of USD, whose minimum exceeds its maximum.
fn push_extent(text: &mut String, balls: impl Iterator<Item = ([f32; 3], f32)>) {
    let mut extent = [[f32::MAX; 3], [f32::MIN; 3]];
    for (position, radius) in balls {
        for (axis, x) in position.iter().enumerate() {
            extent[0][axis] = extent[0][axis].min(x - radius);
            extent[1][axis] = extent[1][axis].max(x + radius);
        }
    }
    list(text, extent.iter(), |text, corner| push_vector(text, corner));
}
