//! Tests of NPZ: a zip archive as described by PKWARE, with arrays as described by NumPy.

use crate::support::*;
use phyxel::frame::Frame;
use std::collections::BTreeMap;

/// A NumPy array: type, shape, bytes.
#[derive(Debug, PartialEq)]
struct Array {
    kind: String,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl Array {
    fn words<T>(&self, kind: &str, read: impl Fn([u8; 4]) -> T) -> Vec<T> {
        assert_eq!(self.kind, kind);
        self.bytes.chunks_exact(4).map(|word| read(word.try_into().unwrap())).collect()
    }

    fn floats(&self) -> Vec<f32> {
        self.words("<f4", f32::from_le_bytes)
    }

    fn integers(&self) -> Vec<u32> {
        self.words("<u4", u32::from_le_bytes)
    }

    fn doubles(&self) -> Vec<f64> {
        assert_eq!(self.kind, "<f8");
        self.bytes.chunks_exact(8).map(|word| f64::from_le_bytes(word.try_into().unwrap())).collect()
    }
}

fn number<const N: usize>(bytes: &[u8], at: usize) -> usize {
    (0..N).rev().fold(0, |value, place| value << 8 | usize::from(bytes[at + place]))
}

/// Computes the CRC-32 checksum bit by bit, as the standard defines it.
fn crc(bytes: &[u8]) -> u32 {
    let bit = |crc: u32, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), bit))
}

/// Returns the files of an archive, found from its end; both headers of each must agree.
fn unzip(bytes: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let end = bytes.len() - 22;
    assert_eq!(bytes[end..end + 4], *b"PK\x05\x06");
    let n_entries = number::<2>(bytes, end + 10);
    let mut at = number::<4>(bytes, end + 16);
    assert_eq!(at + number::<4>(bytes, end + 12), end);
    let mut files = BTreeMap::new();
    for _ in 0..n_entries {
        assert_eq!(bytes[at..at + 4], *b"PK\x01\x02");
        let (method, checksum) = (number::<2>(bytes, at + 10), number::<4>(bytes, at + 16));
        let (size, n_name) = (number::<4>(bytes, at + 24), number::<2>(bytes, at + 28));
        let local = number::<4>(bytes, at + 42);
        let name = &bytes[at + 46..at + 46 + n_name];
        assert_eq!((method, number::<4>(bytes, at + 20)), (0, size), "stored");
        assert_eq!(bytes[local..local + 4], *b"PK\x03\x04");
        assert_eq!(bytes[local + 14..local + 30], [&bytes[at + 16..at + 32]].concat()[..16]);
        let start = local + 30 + n_name + number::<2>(bytes, local + 28);
        assert_eq!(&bytes[local + 30..local + 30 + n_name], name);
        let data = &bytes[start..start + size];
        assert_eq!(crc(data) as usize, checksum);
        files.insert(String::from_utf8(name.to_vec()).unwrap(), data.to_vec());
        at += 46 + n_name + number::<2>(bytes, at + 30) + number::<2>(bytes, at + 32);
    }
    assert_eq!((at, files.len()), (end, n_entries), "every name once");
    files
}

fn array(bytes: &[u8]) -> Array {
    assert_eq!(bytes[..8], *b"\x93NUMPY\x01\x00");
    let length = number::<2>(bytes, 8);
    assert_eq!((10 + length) % 64, 0, "values are aligned");
    let header = std::str::from_utf8(&bytes[10..10 + length]).unwrap();
    assert!(header.ends_with('\n') && header.starts_with("{'descr': '"), "{header:?}");
    assert!(header.contains("'fortran_order': False"));
    let kind = header.split('\'').nth(3).unwrap().to_owned();
    let shape = &header[header.find("'shape': (").unwrap() + 10..header.rfind(')').unwrap()];
    let axes = shape.split(',').map(str::trim).filter(|axis| !axis.is_empty());
    let shape: Vec<usize> = axes.map(|axis| axis.parse().unwrap()).collect();
    // a tuple of one element has a trailing comma
    assert!(shape.len() != 1 || header.contains(",)"), "{header}");
    Array { kind, shape, bytes: bytes[10 + length..].to_vec() }
}

fn exported(frames: &[Frame], range: &str) -> BTreeMap<String, Array> {
    let place = Workplace::new();
    let written = place.export(frames, "npz", range, "a.npz");
    let bytes = std::fs::read(place.path("a.npz")).unwrap();
    assert_eq!((written.n_files, written.n_bytes), (1, bytes.len() as u64));
    let files = unzip(&bytes).into_iter();
    files.map(|(name, bytes)| (name.strip_suffix(".npy").unwrap().to_owned(), array(&bytes))).collect()
}

fn check_rest(arrays: &BTreeMap<String, Array>, frames: &[Frame], first: usize) {
    let times: Vec<f64> = frames.iter().map(|frame| frame.time).collect();
    assert_eq!(arrays["times"].doubles(), times);
    assert_eq!(arrays["frame_rate"].doubles(), [FRAME_RATE]);
    assert!(arrays["frame_rate"].shape.is_empty());
    assert_eq!(arrays["frames"].kind, "<i8");
    let numbers: Vec<i64> = arrays["frames"]
        .bytes
        .chunks_exact(8)
        .map(|word| i64::from_le_bytes(word.try_into().unwrap()))
        .collect();
    assert_eq!(numbers, (first as i64..(first + frames.len()) as i64).collect::<Vec<_>>());
    let length = BODIES[1].chars().count();
    let names = &arrays["body_names"];
    assert_eq!((names.kind.as_str(), names.shape.as_slice()), (format!("<U{length}").as_str(), &[2][..]));
    let read: Vec<String> = names
        .bytes
        .chunks_exact(4 * length)
        .map(|name| {
            let letters = name.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap()));
            letters.filter(|&letter| letter != 0).map(|letter| char::from_u32(letter).unwrap()).collect()
        })
        .collect();
    assert_eq!(read, BODIES);
}

#[test]
fn the_same_particles_in_all_frames_make_arrays_with_a_frame_axis() {
    let frames = &steady_frames()[1..];
    let arrays = exported(&steady_frames(), "1..");
    check_rest(&arrays, frames, 1);
    let all = |read: &dyn Fn(&Frame) -> Vec<f32>| frames.iter().flat_map(read).collect::<Vec<f32>>();
    let check = |name: &str, shape: &[usize], values: Vec<f32>| {
        assert_eq!(arrays[name].shape, shape, "{name}");
        assert_eq!(arrays[name].floats(), values, "{name}");
    };
    check("positions", &[3, 5, 3], all(&|frame| positions(frame, &all_rows(frame))));
    check("velocities", &[3, 5, 3], all(&|frame| column(frame, "velocity", &all_rows(frame))));
    check("stress", &[3, 5], all(&|frame| column(frame, "stress", &all_rows(frame))));
    check(
        "embedded_position",
        &[3, 5, 3],
        all(&|frame| column(frame, "embedded_position", &all_rows(frame))),
    );
    check("radii", &[3, 5], all(&|frame| frame.radius.clone()));
    assert_eq!((arrays["ids"].integers(), &arrays["ids"].shape), (frames[0].id.clone(), &vec![5]));
    assert_eq!(arrays["body"].integers(), frames[0].body);
}

#[test]
fn particles_that_change_make_arrays_per_frame() {
    let frames = changing_frames();
    let arrays = exported(&frames, "..");
    check_rest(&arrays, &frames, 0);
    assert!(!arrays.contains_key("positions") && !arrays.contains_key("ids"));
    for (number, frame) in frames.iter().enumerate() {
        let named = |name: &str| &arrays[&format!("{name}_{number:04}")];
        let (rows, n) = (all_rows(frame), frame.id.len());
        assert_eq!(
            (&named("positions").shape, named("positions").floats()),
            (&vec![n, 3], positions(frame, &rows))
        );
        assert_eq!(named("velocities").floats(), column(frame, "velocity", &rows));
        assert_eq!(named("stress").floats(), column(frame, "stress", &rows));
        assert_eq!(named("radii").floats(), frame.radius);
        assert_eq!(named("ids").integers(), frame.id);
        assert_eq!(named("body").integers(), frame.body);
    }
}
