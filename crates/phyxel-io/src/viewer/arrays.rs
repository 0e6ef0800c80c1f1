//! Arrays of a packet: their entries in the header, and their bytes.

use super::packet::{PageColumn, PageSurface};
use serde_json::{Map, Value, json};

/// Alignment of arrays (bytes): they begin at multiples of this.
pub(super) const ALIGNMENT: usize = 4;

/// Arrays that are the same in many frames, stored once each.
#[derive(Debug, Default)]
pub(crate) struct SharedArrays {
    /// Numbers and bytes of the new arrays, which the caller takes out.
    pub(crate) fresh: Vec<(usize, Vec<u8>)>,
    n_arrays: usize,
    /// Key, number and values of the last array of each kind.
    last: Vec<(String, usize, Vec<u32>)>,
}

impl SharedArrays {
    /// Returns the number of an array: that of the last one if it is equal, otherwise a new one.
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

/// Bytes of the arrays of a packet, one after the other.
#[derive(Default)]
pub(super) struct Arrays<'a> {
    pub(super) bytes: Vec<u8>,
    /// Store of shared arrays; present if the packet is compact.
    pub(super) shared: Option<&'a mut SharedArrays>,
}

pub(super) type Entry = Map<String, Value>;

impl Arrays<'_> {
    /// Appends an array and returns its entry for the header.
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

    pub(super) fn floats(&mut self, name: &str, n_components: usize, values: &[f32]) -> Entry {
        if self.shared.is_some() && values.iter().all(|value| value.is_finite()) {
            return self.shares(name, n_components, values);
        }
        self.add(name, "f32", n_components, values.iter().map(|value| value.to_le_bytes()))
    }

    /// Appends floats as 16-bit fractions of the range of each component.
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

    /// Appends the indices of bodies as one byte each, or two if there are many bodies.
    pub(super) fn bodies(&mut self, bodies: &[u32]) -> Value {
        let values = bodies.iter();
        if bodies.iter().all(|&body| body <= u32::from(u8::MAX)) {
            self.add("body", "u8", 1, values.map(|&body| [body as u8])).into()
        } else {
            let last = u32::from(u16::MAX);
            self.add("body", "u16", 1, values.map(|&body| (body.min(last) as u16).to_le_bytes())).into()
        }
    }

    pub(super) fn column(&mut self, column: &PageColumn<'_>) -> Value {
        let scalars = column.scalars();
        let mut entry = self.floats("column", 1, &scalars);
        entry.insert("column".into(), column.name.into());
        entry.insert("range".into(), json!(whole_range(&scalars)));
        entry.insert("bulk".into(), json!(bulk_range(&scalars)));
        entry.into()
    }

    /// Appends integers that seldom change; in a compact packet, they are shared with earlier ones of the same `key`.
    pub(super) fn steady(&mut self, name: &str, key: &str, values: &[u32]) -> Value {
        match &mut self.shared {
            Some(shared) => {
                let mut entry = entry(name, "u32", 1, values.len());
                entry.insert("shared".into(), shared.number(key, values).into());
                entry.into()
            }
            None => self.add(name, "u32", 1, values.iter().map(|value| value.to_le_bytes())).into(),
        }
    }

    pub(super) fn surface(&mut self, surface: &PageSurface<'_>) -> Value {
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

/// Returns the smallest and largest finite value; `None` if there are no finite values.
fn whole_range(values: &[f32]) -> Option<[f32; 2]> {
    let finite = values.iter().filter(|value| value.is_finite());
    let [low, high] =
        finite.fold([f32::INFINITY, f32::NEG_INFINITY], |[low, high], &v| [low.min(v), high.max(v)]);
    (low <= high).then_some([low, high])
}

/// Fraction of values at each end left out of the range of colours, so that a few extreme particles do not darken all
/// others.
const CUT: f64 = 0.002;
/// Number of cells of the histogram that finds these values.
const N_CELLS: usize = 512;

/// Returns the range of all finite values except a few extreme ones, with the resolution of the histogram.
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
