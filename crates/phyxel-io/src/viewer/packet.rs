//! One moment as the page takes it: a header in JSON, then arrays that typed arrays are laid over without copying.
//!
//! ```text
//! "PHXF"  u32 length of the header, a multiple of 4  header (padded with spaces)  arrays, each at a multiple of 4
//! ```
//! Numbers are little-endian. The header says what stands where; offsets count from its end.

use crate::results::{ParticleTable, SurfaceTable};
use phyxel::frame::Frame;
use serde_json::{Map, Value, json};

/// The first bytes of every packet.
const MAGIC: &[u8; 4] = b"PHXF";
/// Arrays begin at multiples of this. [bytes]
const ALIGNMENT: usize = 4;

/// What is seen at one moment, wherever it is kept.
#[derive(Clone, Debug, Default)]
pub struct Moment<'a> {
    /// Its place in the sequence that the page plays.
    pub frame: usize,
    /// [s]
    pub time: f64,
    /// World positions. [m]
    pub position: &'a [[f32; 3]],
    /// [m]
    pub radius: &'a [f32],
    /// Index of the body.
    pub body: &'a [u32],
    /// What the page asked for.
    pub columns: Vec<MomentColumn<'a>>,
    /// Of the bodies that have one.
    pub surfaces: Vec<MomentSurface<'a>>,
    /// Poses of the obstacles, column by column.
    pub obstacles: Vec<[f32; 16]>,
    /// The row of the ledger, in live runs.
    pub ledger: Option<Value>,
}

/// A column of the particles.
#[derive(Clone, Copy, Debug)]
pub struct MomentColumn<'a> {
    /// As the page knows it.
    pub name: &'a str,
    /// 1 for scalars, 3 for vectors, which are sent as lengths.
    pub n_components: usize,
    /// Row after row.
    pub values: &'a [f32],
}

/// A surface, triangulated.
#[derive(Clone, Debug)]
pub struct MomentSurface<'a> {
    /// Index of the body.
    pub body: usize,
    /// [m]
    pub position: &'a [[f32; 3]],
    /// One per vertex.
    pub normal: &'a [[f32; 3]],
    /// Three vertices per triangle, counter-clockwise from outside.
    pub index: Vec<u32>,
}

impl<'a> Moment<'a> {
    /// A moment of a running world, with those of the frame's columns that are named.
    pub fn of_frame(frame_index: usize, frame: &'a Frame, columns: &[String]) -> Self {
        let all = frame.columns.iter();
        let all =
            all.map(|c| MomentColumn { name: &c.name, n_components: c.n_components, values: &c.values });
        Self {
            frame: frame_index,
            time: frame.time,
            position: &frame.position,
            radius: &frame.radius,
            body: &frame.body,
            columns: all.filter(|column| columns.iter().any(|name| name == column.name)).collect(),
            ..Self::default()
        }
    }

    /// A moment that was read, with all its columns.
    pub fn of_table(frame_index: usize, table: &'a ParticleTable) -> Self {
        let all = table.columns.iter();
        let all =
            all.map(|c| MomentColumn { name: &c.name, n_components: c.n_components, values: &c.values });
        Self {
            frame: frame_index,
            time: table.time,
            position: &table.position,
            radius: &table.radius,
            body: &table.body,
            columns: all.collect(),
            ..Self::default()
        }
    }

    /// The bytes that are sent.
    pub fn encode(&self) -> Vec<u8> {
        let mut arrays = Arrays::default();
        let mut list = vec![
            arrays.floats("position", 3, self.position.as_flattened()),
            arrays.floats("radius", 1, self.radius),
            arrays.bodies(self.body),
        ];
        list.extend(self.columns.iter().map(|column| arrays.column(column)));
        let surfaces: Vec<Value> = self.surfaces.iter().map(|surface| arrays.surface(surface)).collect();
        let mut header = json!({
            "frame": self.frame,
            "time": self.time,
            "particles": self.position.len(),
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

impl<'a> MomentSurface<'a> {
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
pub(crate) fn framed(header: &Value, arrays: &[u8]) -> Vec<u8> {
    let mut text = header.to_string();
    while text.len() % ALIGNMENT != 0 {
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

/// The arrays of a packet, one after the other.
#[derive(Default)]
pub(crate) struct Arrays {
    pub(crate) bytes: Vec<u8>,
}

impl Arrays {
    /// Appends an array and says what stands where.
    pub(crate) fn add<const N: usize>(
        &mut self,
        name: &str,
        kind: &str,
        n_components: usize,
        values: impl ExactSizeIterator<Item = [u8; N]>,
    ) -> Map<String, Value> {
        let (offset, n_values) = (self.bytes.len(), values.len());
        self.bytes.resize(offset + (n_values * N).next_multiple_of(ALIGNMENT), 0);
        for (place, value) in self.bytes[offset..].chunks_exact_mut(N).zip(values) {
            place.copy_from_slice(&value);
        }
        let entry = json!({
            "name": name,
            "type": kind,
            "components": n_components,
            "length": n_values / n_components.max(1),
            "offset": offset,
        });
        entry.as_object().cloned().unwrap_or_default()
    }

    fn floats(&mut self, name: &str, n_components: usize, values: &[f32]) -> Value {
        self.add(name, "f32", n_components, values.iter().map(|value| value.to_le_bytes())).into()
    }

    /// Bodies in a byte each, or two where there are many.
    pub(crate) fn bodies(&mut self, bodies: &[u32]) -> Value {
        let values = bodies.iter();
        if bodies.iter().all(|&body| body <= u32::from(u8::MAX)) {
            self.add("body", "u8", 1, values.map(|&body| [body as u8])).into()
        } else {
            let last = u32::from(u16::MAX);
            self.add("body", "u16", 1, values.map(|&body| (body.min(last) as u16).to_le_bytes())).into()
        }
    }

    fn column(&mut self, column: &MomentColumn<'_>) -> Value {
        let scalars = column.scalars();
        let mut entry = self.add("column", "f32", 1, scalars.iter().map(|value| value.to_le_bytes()));
        entry.insert("column".into(), column.name.into());
        let (whole, bulk) = (whole_range(&scalars), bulk_range(&scalars));
        entry.insert("range".into(), json!(whole));
        entry.insert("bulk".into(), json!(bulk));
        entry.into()
    }

    fn surface(&mut self, surface: &MomentSurface<'_>) -> Value {
        let list = [
            self.floats("position", 3, surface.position.as_flattened()),
            self.floats("normal", 3, surface.normal.as_flattened()),
            self.add("index", "u32", 1, surface.index.iter().map(|corner| corner.to_le_bytes())).into(),
        ];
        json!({ "body": surface.body, "arrays": list })
    }
}

impl<'a> MomentColumn<'a> {
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

/// Smallest and largest finite value.
pub(crate) fn whole_range(values: &[f32]) -> Option<[f32; 2]> {
    let finite = values.iter().filter(|value| value.is_finite());
    let [low, high] =
        finite.fold([f32::INFINITY, f32::NEG_INFINITY], |[low, high], &v| [low.min(v), high.max(v)]);
    (low <= high).then_some([low, high])
}

/// Share of the values at each end that may lie beyond the colours: a few extreme particles must not darken all others.
const CUT: f64 = 0.002;
/// Cells of the histogram that finds them.
const N_CELLS: usize = 512;

/// The range of all finite values but a few extreme ones, as fine as a cell of the histogram.
pub(crate) fn bulk_range(values: &[f32]) -> Option<[f32; 2]> {
    let [low, high] = whole_range(values)?;
    let scale = N_CELLS as f32 / (high - low);
    if !scale.is_finite() {
        return Some([low, high]);
    }
    let mut counts = [0usize; N_CELLS];
    let mut n_finite = 0;
    for value in values.iter().filter(|value| value.is_finite()) {
        counts[(((value - low) * scale) as usize).min(N_CELLS - 1)] += 1;
        n_finite += 1;
    }
    let cut = (CUT * f64::from(n_finite)) as usize;
    let skipped = |cells: &mut dyn Iterator<Item = &usize>| {
        let mut sum = 0;
        cells
            .take_while(|&&count| {
                sum += count;
                sum <= cut
            })
            .count()
    };
    let below = skipped(&mut counts.iter());
    let above = skipped(&mut counts.iter().rev());
    Some([low + below as f32 / scale, high - above as f32 / scale])
}
