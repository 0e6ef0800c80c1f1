//! A reader of packets that shares no code with the writer.

use serde_json::Value;

/// A parsed packet.
pub(crate) struct Packet {
    pub(crate) header: Value,
    arrays: Vec<u8>,
}

impl Packet {
    pub(crate) fn read(bytes: &[u8]) -> Self {
        assert_eq!(&bytes[..4], b"PHXF");
        let size = u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
        assert_eq!(size % 4, 0, "arrays must be aligned");
        let header: Value = serde_json::from_slice(&bytes[8..8 + size]).unwrap();
        Self { header, arrays: bytes[8 + size..].to_vec() }
    }

    /// Returns the header entry of a particle array, by name and column.
    pub(crate) fn entry(&self, name: &str, column: Option<&str>) -> Option<&Value> {
        let is_it = |entry: &&Value| entry["name"] == name && entry["column"].as_str() == column;
        self.header["arrays"].as_array().unwrap().iter().find(is_it)
    }

    /// Returns the numbers of an array, and the largest error of each.
    pub(crate) fn numbers(&self, entry: &Value) -> (Vec<f64>, f64) {
        let count = |key: &str| entry[key].as_u64().unwrap() as usize;
        let (offset, n_components) = (count("offset"), count("components"));
        assert_eq!(offset % 4, 0);
        let n_values = count("length") * n_components;
        let bytes = &self.arrays[offset..];
        let raw: Vec<f64> = match entry["type"].as_str().unwrap() {
            "f32" => words(bytes, n_values).map(|word| f64::from(f32::from_bits(word))).collect(),
            "u32" => words(bytes, n_values).map(f64::from).collect(),
            "u16" => bytes[..2 * n_values]
                .chunks(2)
                .map(|pair| f64::from(u16::from_le_bytes([pair[0], pair[1]])))
                .collect(),
            "u8" => bytes[..n_values].iter().map(|&byte| f64::from(byte)).collect(),
            other => panic!("unknown type {other}"),
        };
        let Some(low) = entry["low"].as_array() else { return (raw, 0.0) };
        let end = |ends: &Value, k: usize| ends[k % n_components].as_f64().unwrap();
        assert_eq!(low.len(), n_components);
        let span = |k: usize| end(&entry["high"], k) - end(&entry["low"], k);
        let numbers =
            raw.iter().enumerate().map(|(k, share)| end(&entry["low"], k) + span(k) * share / 65535.0);
        let error =
            (0..n_components).map(|k| 0.5001 * span(k) / 65535.0 + 1e-7 * span(k).abs()).fold(0.0, f64::max);
        (numbers.collect(), error)
    }

    /// Returns the numbers of a particle array, and the largest error of each.
    pub(crate) fn array(&self, name: &str, column: Option<&str>) -> (Vec<f64>, f64) {
        self.numbers(self.entry(name, column).unwrap_or_else(|| panic!("there is no {name} {column:?}")))
    }

    /// Returns the header entry of an array of a surface.
    pub(crate) fn of_surface(&self, surface: usize, name: &str) -> &Value {
        let arrays = self.header["surfaces"][surface]["arrays"].as_array().unwrap();
        arrays.iter().find(|entry| entry["name"] == name).unwrap()
    }
}

fn words(bytes: &[u8], n_words: usize) -> impl Iterator<Item = u32> {
    bytes[..4 * n_words].chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap()))
}

/// Checks that numbers agree with the expected ones within their error.
#[track_caller]
pub(crate) fn assert_near((found, error): (Vec<f64>, f64), expected: &[f32]) {
    assert_eq!(found.len(), expected.len());
    for (k, (found, expected)) in found.iter().zip(expected).enumerate() {
        let expected = f64::from(*expected);
        let is_right = (found - expected).abs() <= error + 1e-6 * expected.abs()
            || (found.is_nan() && expected.is_nan());
        assert!(is_right, "number {k}: {found} instead of {expected}, off by more than {error}");
    }
}
