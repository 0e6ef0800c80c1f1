//! Packet of one frame for the page: a header in JSON, then arrays that JavaScript uses in place as typed arrays.
//!
//! ```text
//! "PHXF"  u32 length of the header, a multiple of 4  header (padded with spaces)  arrays, each at a multiple of 4
//! ```
//! Numbers are little-endian. The header lists the arrays; their offsets count from its end. In a compact packet, for
//! small files, floats are 16-bit fractions of their range (`low`, `high`), and an array that is the same in many
//! frames is stored once outside of the packets and referred to by its number (`shared`).

use super::arrays::{ALIGNMENT, Arrays, SharedArrays};
use crate::results::{ParticleTable, SurfaceTable};
use phyxel::frame::Frame;
use serde_json::{Value, json};

/// First bytes of every packet.
const MAGIC: &[u8; 4] = b"PHXF";

/// Data of one frame that the page shows, borrowed from its source.
#[derive(Clone, Debug, Default)]
pub struct PageFrame<'a> {
    /// Index in the sequence of frames that the page plays.
    pub frame: usize,
    /// Time of the frame (s).
    pub time: f64,
    /// World positions (m).
    pub position: &'a [[f32; 3]],
    /// Radii of the particles (m).
    pub radius: &'a [f32],
    /// Index of the body of each particle.
    pub body: &'a [u32],
    /// Stable ids; only compact packets contain them, because their page has no server to ask later.
    pub id: &'a [u32],
    /// Columns that the page requested.
    pub columns: Vec<PageColumn<'a>>,
    /// Surfaces of the bodies that have one.
    pub surfaces: Vec<PageSurface<'a>>,
    /// Poses of the obstacles as 4×4 matrices, column by column.
    pub obstacles: Vec<[f32; 16]>,
    /// Row of the ledger, in live runs only.
    pub ledger: Option<Value>,
}

/// A column of the particles.
#[derive(Clone, Copy, Debug)]
pub struct PageColumn<'a> {
    /// Name of the column, as the page uses it.
    pub name: &'a str,
    /// Number of components: 1 for scalars, 3 for vectors, which are sent as lengths.
    pub n_components: usize,
    /// Values, row after row.
    pub values: &'a [f32],
}

/// Triangulated surface of a body.
#[derive(Clone, Debug)]
pub struct PageSurface<'a> {
    /// Index of the body.
    pub body: usize,
    /// Positions of the vertices (m).
    pub position: &'a [[f32; 3]],
    /// Normals, one per vertex.
    pub normal: &'a [[f32; 3]],
    /// Three vertices per triangle, counter-clockwise from outside.
    pub index: Vec<u32>,
}

impl<'a> PageFrame<'a> {
    /// Creates the data of a frame of a running world, with those of its columns that are named in `columns`.
    pub fn of_frame(frame_index: usize, frame: &'a Frame, columns: &[String]) -> Self {
        let all = frame.columns.iter();
        let all = all.map(|c| PageColumn { name: &c.name, n_components: c.n_components, values: &c.values });
        Self {
            frame: frame_index,
            time: frame.time,
            position: &frame.position,
            radius: &frame.radius,
            body: &frame.body,
            id: &frame.id,
            columns: all.filter(|column| columns.iter().any(|name| name == column.name)).collect(),
            ..Self::default()
        }
    }

    /// Creates the data of a frame that was read, with all its columns.
    pub fn of_table(frame_index: usize, table: &'a ParticleTable) -> Self {
        let all = table.columns.iter();
        let all = all.map(|c| PageColumn { name: &c.name, n_components: c.n_components, values: &c.values });
        Self {
            frame: frame_index,
            time: table.time,
            position: &table.position,
            radius: &table.radius,
            body: &table.body,
            id: &table.id,
            columns: all.collect(),
            ..Self::default()
        }
    }

    /// Returns the bytes of the packet.
    pub fn encode(&self) -> Vec<u8> {
        self.encode_with(Arrays::default())
    }

    /// Returns the bytes of a compact packet, about a third of the size; arrays that seldom change go to `shared`.
    pub(crate) fn encode_compact(&self, shared: &mut SharedArrays) -> Vec<u8> {
        self.encode_with(Arrays { shared: Some(shared), ..Arrays::default() })
    }

    /// Returns the lowest and highest coordinates of all positions; `None` if there are none or one is not finite.
    fn bounds(&self) -> Option<[[f32; 3]; 2]> {
        let all = self.surfaces.iter().map(|surface| surface.position).chain([self.position]);
        let mut bounds = [[f32::INFINITY; 3], [f32::NEG_INFINITY; 3]];
        for position in all.flatten() {
            for axis in 0..3 {
                bounds[0][axis] = bounds[0][axis].min(position[axis]);
                bounds[1][axis] = bounds[1][axis].max(position[axis]);
            }
        }
        bounds.as_flattened().iter().all(|x| x.is_finite()).then_some(bounds)
    }

    fn encode_with(&self, mut arrays: Arrays<'_>) -> Vec<u8> {
        let mut list = vec![
            arrays.floats("position", 3, self.position.as_flattened()).into(),
            arrays.floats("radius", 1, self.radius).into(),
            arrays.bodies(self.body),
        ];
        list.extend(self.columns.iter().map(|column| arrays.column(column)));
        if arrays.shared.is_some() {
            list.push(arrays.steady("id", "id", self.id));
        }
        let surfaces: Vec<Value> = self.surfaces.iter().map(|surface| arrays.surface(surface)).collect();
        let mut header = json!({
            "frame": self.frame,
            "time": self.time,
            "particles": self.position.len(),
            "bounds": self.bounds(),
            "arrays": list,
            "surfaces": surfaces,
            "obstacles": self.obstacles,
        });
        if let (Some(ledger), Some(map)) = (&self.ledger, header.as_object_mut()) {
            map.insert("ledger".into(), ledger.clone());
        }
        framed(&header, &arrays.bytes)
    }
}

impl<'a> PageSurface<'a> {
    /// Creates the surface of a body; faces with more than three corners are cut into fans.
    pub fn of_table(body: usize, table: &'a SurfaceTable) -> Self {
        Self {
            body,
            position: &table.position,
            normal: &table.normal,
            index: table.triangles().into_flattened(),
        }
    }
}

/// Joins magic, length, header and arrays to a packet.
fn framed(header: &Value, arrays: &[u8]) -> Vec<u8> {
    let mut text = header.to_string();
    while !text.len().is_multiple_of(ALIGNMENT) {
        text.push(' ');
    }
    let mut bytes = Vec::with_capacity(8 + text.len() + arrays.len());
    bytes.extend_from_slice(MAGIC);
    // a header lists arrays, not particles, so it is always much smaller than 4 GiB
    bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
    bytes.extend_from_slice(text.as_bytes());
    bytes.extend_from_slice(arrays);
    bytes
}

impl<'a> PageColumn<'a> {
    /// Returns one number per particle: the value of a scalar, or the length of a vector.
    pub(crate) fn scalars(&self) -> std::borrow::Cow<'a, [f32]> {
        match self.n_components {
            0 | 1 => self.values.into(),
            n => self.values.chunks_exact(n).map(length).collect::<Vec<f32>>().into(),
        }
    }
}

fn length(vector: &[f32]) -> f32 {
    vector.iter().map(|x| x * x).sum::<f32>().sqrt()
}
