//! One moment as the page takes it: a header in JSON, then arrays that typed arrays are laid over without copying.
//!
//! ```text
//! "PHXF"  u32 length of the header, a multiple of 4  header (padded with spaces)  arrays, each at a multiple of 4
//! ```
//! Numbers are little-endian. The header says what stands where; offsets count from its end. In a compact packet, for files
//! that are to be small, floats are 16-bit shares of their range (`low`, `high`), and what is the same in many moments stands
//! aside, once, and is named by its number (`shared`).

use super::arrays::{ALIGNMENT, Arrays, SharedArrays};
use crate::results::{ParticleTable, SurfaceTable};
use phyxel::frame::Frame;
use serde_json::{Value, json};

/// The first bytes of every packet.
const MAGIC: &[u8; 4] = b"PHXF";

/// What is seen at one moment, wherever it is kept.
#[derive(Clone, Debug, Default)]
pub struct PageFrame<'a> {
    /// Its place in the sequence that the page plays.
    pub frame: usize,
    /// (s)
    pub time: f64,
    /// World positions (m).
    pub position: &'a [[f32; 3]],
    /// (m)
    pub radius: &'a [f32],
    /// Index of the body.
    pub body: &'a [u32],
    /// Stable ids; only compact packets have them, for there nobody can be asked later.
    pub id: &'a [u32],
    /// What the page asked for.
    pub columns: Vec<PageColumn<'a>>,
    /// Of the bodies that have one.
    pub surfaces: Vec<PageSurface<'a>>,
    /// Poses of the obstacles, column by column.
    pub obstacles: Vec<[f32; 16]>,
    /// The row of the ledger, in live runs.
    pub ledger: Option<Value>,
}

/// A column of the particles.
#[derive(Clone, Copy, Debug)]
pub struct PageColumn<'a> {
    /// As the page knows it.
    pub name: &'a str,
    /// 1 for scalars, 3 for vectors, which are sent as lengths.
    pub n_components: usize,
    /// Row after row.
    pub values: &'a [f32],
}

/// A surface, triangulated.
#[derive(Clone, Debug)]
pub struct PageSurface<'a> {
    /// Index of the body.
    pub body: usize,
    /// (m)
    pub position: &'a [[f32; 3]],
    /// One per vertex.
    pub normal: &'a [[f32; 3]],
    /// Three vertices per triangle, counter-clockwise from outside.
    pub index: Vec<u32>,
}

impl<'a> PageFrame<'a> {
    /// A moment of a running world, with those of the frame's columns that are named.
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

    /// A moment that was read, with all its columns.
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

    /// The bytes that are sent.
    pub fn encode(&self) -> Vec<u8> {
        self.encode_with(Arrays::default())
    }

    /// The same in about a third of the room; arrays that are as before go to `shared`.
    pub(crate) fn encode_compact(&self, shared: &mut SharedArrays) -> Vec<u8> {
        self.encode_with(Arrays { shared: Some(shared), ..Arrays::default() })
    }

    /// Lowest and highest coordinates of all that is seen; none if nothing is, or something has no place.
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
    /// The surface of a body; faces with more than three corners are cut into fans.
    pub fn of_table(body: usize, table: &'a SurfaceTable) -> Self {
        Self {
            body,
            position: &table.position,
            normal: &table.normal,
            index: table.triangles().into_flattened(),
        }
    }
}

/// Magic, length, header and arrays in one piece.
fn framed(header: &Value, arrays: &[u8]) -> Vec<u8> {
    let mut text = header.to_string();
    while !text.len().is_multiple_of(ALIGNMENT) {
        text.push(' ');
    }
    let mut bytes = Vec::with_capacity(8 + text.len() + arrays.len());
    bytes.extend_from_slice(MAGIC);
    // a header lists arrays, not particles: it never comes near 4 GiB
    bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
    bytes.extend_from_slice(text.as_bytes());
    bytes.extend_from_slice(arrays);
    bytes
}

impl<'a> PageColumn<'a> {
    /// One number per particle: the length of vectors.
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
