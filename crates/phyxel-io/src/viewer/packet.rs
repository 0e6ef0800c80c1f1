//! One moment as the page takes it: a header in JSON, then arrays that typed arrays are laid over without copying.
//!
//! ```text
//! "PHXF"  u32 length of the header, a multiple of 4  header (padded with spaces)  arrays, each at a multiple of 4
//! ```
//! Numbers are little-endian. The header says what stands where; offsets count from its end. In a compact packet, for files
//! that are to be small, floats are 16-bit shares of their range (`low`, `high`), and what is the same in many moments stands
//! aside, once, and is named by its number (`shared`).

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
    /// Stable ids; only compact packets have them, for there nobody can be asked later.
    pub id: &'a [u32],
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
            id: &frame.id,
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
            "bounds": bounds(self.position),
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
fn framed(header: &Value, arrays: &[u8]) -> Vec<u8> {
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

/// Arrays that are the same in many moments, each once.
#[derive(Debug, Default)]
pub(crate) struct SharedArrays {
    /// Bytes by number, until they are taken.
    pub(crate) fresh: Vec<(usize, Vec<u8>)>,
    n_arrays: usize,
    /// What each kind of array was last.
    last: Vec<(String, usize, Vec<u32>)>,
}

impl SharedArrays {
    /// The number of an array, a new one if it is not as before.
    fn number(&mut self, key: &str, values: &[u32]) -> usize {
        if let Some((_, number, _)) = self.last.iter().find(|(known, _, last)| known == key && last == values)
        {
            return *number;
        }
        let number = self.n_arrays;
        self.n_arrays += 1;
        self.fresh.push((number, values.iter().flat_map(|value| value.to_le_bytes()).collect()));
        self.last.retain(|(known, _, _)| known != key);
        self.last.push((key.to_owned(), number, values.to_vec()));
        number
    }
}

/// The arrays of a packet, one after the other.
#[derive(Default)]
struct Arrays<'a> {
    bytes: Vec<u8>,
    /// If the packet is to be compact.
    shared: Option<&'a mut SharedArrays>,
}

type Entry = Map<String, Value>;

impl Arrays<'_> {
    /// Appends an array and says what stands where.
    fn add<const N: usize>(
        &mut self,
        name: &str,
        kind: &str,
        n_components: usize,
        values: impl ExactSizeIterator<Item = [u8; N]>,
    ) -> Entry {
        let (offset, n_values) = (self.bytes.len(), values.len());
        self.bytes.resize(offset + (n_values * N).next_multiple_of(ALIGNMENT), 0);
        for (place, value) in self.bytes[offset..].chunks_exact_mut(N).zip(values) {
            place.copy_from_slice(&value);
        }
        let mut entry = entry(name, kind, n_components, n_values / n_components.max(1));
        entry.insert("offset".into(), offset.into());
        entry
    }

    fn floats(&mut self, name: &str, n_components: usize, values: &[f32]) -> Entry {
        if self.shared.is_some() && values.iter().all(|value| value.is_finite()) {
            return self.shares(name, n_components, values);
        }
        self.add(name, "f32", n_components, values.iter().map(|value| value.to_le_bytes()))
    }

    /// Floats as 16-bit shares of the range of each component.
    fn shares(&mut self, name: &str, n_components: usize, values: &[f32]) -> Entry {
        let of_component = |k: usize| values.iter().skip(k).step_by(n_components).copied();
        let low: Vec<f32> =
            (0..n_components).map(|k| of_component(k).fold(f32::INFINITY, f32::min)).collect();
        let high: Vec<f32> =
            (0..n_components).map(|k| of_component(k).fold(f32::NEG_INFINITY, f32::max)).collect();
        let share = |(place, value): (usize, &f32)| {
            let (low, high) = (f64::from(low[place % n_components]), f64::from(high[place % n_components]));
            let share = if high > low { (f64::from(*value) - low) / (high - low) } else { 0.0 };
            ((share * f64::from(u16::MAX)).round() as u16).to_le_bytes()
        };
        let mut entry = self.add(name, "u16", n_components, values.iter().enumerate().map(share));
        let finite = |ends: &[f32]| ends.iter().map(|end| if end.is_finite() { *end } else { 0.0 }).collect();
        let [low, high]: [Vec<f32>; 2] = [finite(&low), finite(&high)];
        entry.insert("low".into(), json!(low));
        entry.insert("high".into(), json!(high));
        entry
    }

    /// Bodies in a byte each, or two where there are many.
    fn bodies(&mut self, bodies: &[u32]) -> Value {
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
        let mut entry = self.floats("column", 1, &scalars);
        entry.insert("column".into(), column.name.into());
        entry.insert("range".into(), json!(whole_range(&scalars)));
        entry.insert("bulk".into(), json!(bulk_range(&scalars)));
        entry.into()
    }

    /// Whole numbers that seldom change; `key` tells apart what is compared with what.
    fn steady(&mut self, name: &str, key: &str, values: &[u32]) -> Value {
        match &mut self.shared {
            Some(shared) => {
                let mut entry = entry(name, "u32", 1, values.len());
                entry.insert("shared".into(), shared.number(key, values).into());
                entry.into()
            }
            None => self.add(name, "u32", 1, values.iter().map(|value| value.to_le_bytes())).into(),
        }
    }

    fn surface(&mut self, surface: &MomentSurface<'_>) -> Value {
        let list: [Value; 3] = [
            self.floats("position", 3, surface.position.as_flattened()).into(),
            self.floats("normal", 3, surface.normal.as_flattened()).into(),
            self.steady("index", &format!("index {}", surface.body), &surface.index),
        ];
        json!({ "body": surface.body, "arrays": list })
    }
}

fn entry(name: &str, kind: &str, n_components: usize, length: usize) -> Entry {
    let mut entry = Entry::new();
    entry.insert("name".into(), name.into());
    entry.insert("type".into(), kind.into());
    entry.insert("components".into(), n_components.into());
    entry.insert("length".into(), length.into());
    entry
}

/// Lowest and highest coordinates; none if there are no particles or one has no place.
fn bounds(positions: &[[f32; 3]]) -> Option<[[f32; 3]; 2]> {
    let (first, rest) = positions.split_first()?;
    let [low, high] = rest.iter().fold([*first; 2], |[low, high], x| {
        let axes = [0, 1, 2];
        [axes.map(|axis| low[axis].min(x[axis])), axes.map(|axis| high[axis].max(x[axis]))]
    });
    low.iter().chain(&high).all(|x| x.is_finite()).then_some([low, high])
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
