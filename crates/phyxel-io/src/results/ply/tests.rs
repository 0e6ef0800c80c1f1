//! Tests of the layout and of damaged files.

use super::*;
use phyxel::frame::{Frame, FrameColumn, PointSet};

fn frame() -> Frame {
    let column = |name: &str, unit, n_components, values: &[f32]| FrameColumn {
        name: name.into(),
        unit,
        n_components,
        values: values.to_vec(),
    };
    Frame {
        time: 0.1,
        position: vec![[1.0, 2.0, 3.0], [4.0, -5.0, f32::MIN_POSITIVE]],
        id: vec![0, 7],
        body: vec![0, 1],
        radius: vec![0.5, 0.25],
        columns: vec![
            column("velocity", "m/s", 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
            column("stress", "Pa", 1, &[8.5, f32::NAN]),
            column("spin", "1/s", 3, &[0.0, 0.1, 0.2, 0.3, 0.4, 0.5]),
            column("side_x", "m", 1, &[9.0, 10.0]),
        ],
        point_sets: Vec::new(),
    }
}

/// Checks that point sets are elements of their own, with names and units that particles may have, too.
#[test]
fn point_sets_come_back_beside_the_particles() {
    let column = |name: &str, unit, n_components, values: &[f32]| FrameColumn {
        name: name.into(),
        unit,
        n_components,
        values: values.to_vec(),
    };
    let nodes = PointSet {
        name: "nodes".into(),
        position: vec![[1.0, 2.0, 3.0]; 3],
        body: vec![0, 1, 1],
        columns: vec![column("stress", "N", 1, &[1.0, 2.0, 3.0]), column("axis", "1", 3, &[0.5; 9])],
    };
    let empty = PointSet { name: "none".into(), ..PointSet::default() };
    let frame = Frame { point_sets: vec![nodes.clone(), empty], ..frame() };
    let bytes = encode(&frame);
    let table = decode(&bytes).unwrap();
    assert_eq!((table.id.len(), table.columns.len(), table.columns[1].unit.as_str()), (2, 4, "Pa"));
    assert_eq!(encode_table(&table, &[]), bytes, "what is read is written the same");
    let [read, none] = table.point_sets.as_slice() else { panic!("two sets") };
    assert_eq!((read.name.as_str(), &read.body, &read.position), ("nodes", &nodes.body, &nodes.position));
    assert_eq!((read.columns[0].unit.as_str(), read.columns[1].n_components), ("N", 3));
    assert_eq!((none.name.as_str(), none.body.len()), ("none", 0));
    let few = decode_columns(&bytes, &|name| name == "stress").unwrap();
    assert_eq!((few.columns.len(), few.point_sets.len()), (1, 2));
    assert!(matches!(decode(&bytes[..bytes.len() - 1]), Err(PlyError::Truncated { .. })));
}

#[test]
fn frames_come_back_as_they_were() {
    let frame = frame();
    let table = decode(&encode(&frame)).unwrap();
    assert_eq!(table.time, 0.1);
    assert_eq!((&table.position, &table.id), (&frame.position, &frame.id));
    assert_eq!((&table.body, &table.radius), (&frame.body, &frame.radius));
    assert_eq!(table.columns.len(), 4);
    for (read, written) in table.columns.iter().zip(&frame.columns) {
        assert_eq!((read.name.as_str(), read.unit.as_str()), (written.name.as_str(), written.unit));
        assert_eq!(read.n_components, written.n_components);
        let bits = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&read.values), bits(&written.values), "{}", read.name);
    }
}

/// Checks the layout byte by byte, not by our own reader, because it is a contract with other programs.
#[test]
fn the_layout_is_that_of_the_contract() {
    let bytes = encode(&frame());
    let expected = "ply\nformat binary_little_endian 1.0\ncomment phyxel particles, SI units, y up\n\
        comment time 0.1 s\ncomment unit velocity m/s\ncomment unit stress Pa\ncomment unit spin 1/s\n\
        comment unit side_x m\nelement vertex 2\nproperty float x\nproperty float y\nproperty float z\n\
        property int id\nproperty int body\nproperty float radius\nproperty float vx\nproperty float vy\n\
        property float vz\nproperty float stress\nproperty float spin_x\nproperty float spin_y\n\
        property float spin_z\nproperty float side_x\nend_header\n";
    assert!(bytes.starts_with(expected.as_bytes()));
    let rows = &bytes[expected.len()..];
    assert_eq!(rows.len(), 2 * 4 * 14);
    let second = &rows[4 * 14..];
    assert_eq!(second[..4], 4.0f32.to_le_bytes());
    assert_eq!(second[12..16], 7i32.to_le_bytes());
    assert_eq!(second[24..28], 4.0f32.to_le_bytes());
}

#[test]
fn properties_may_come_in_any_order() {
    let mut bytes = b"ply\nformat binary_little_endian 1.0\ncomment time 2.0 s\nelement vertex 1\n\
        property float radius\nproperty float vz\nproperty int body\nproperty float vx\nproperty float z\n\
        property float y\nproperty float x\nproperty int id\nproperty float vy\nend_header\n"
        .to_vec();
    let words: [&[u8; 4]; 9] = [
        &0.5f32.to_le_bytes(),
        &3.0f32.to_le_bytes(),
        &2u32.to_le_bytes(),
        &1.0f32.to_le_bytes(),
        &6.0f32.to_le_bytes(),
        &5.0f32.to_le_bytes(),
        &4.0f32.to_le_bytes(),
        &9u32.to_le_bytes(),
        &2.0f32.to_le_bytes(),
    ];
    words.iter().for_each(|word| bytes.extend_from_slice(*word));
    let table = decode(&bytes).unwrap();
    assert_eq!((table.position[0], table.id[0], table.body[0]), ([4.0, 5.0, 6.0], 9, 2));
    assert_eq!(table.columns[0].name, "velocity");
    assert_eq!(table.columns[0].values, [1.0, 2.0, 3.0]);
}

#[test]
fn every_truncation_is_an_error() {
    let bytes = encode(&frame());
    for n_bytes in 0..bytes.len() {
        assert!(decode(&bytes[..n_bytes]).is_err(), "{n_bytes} of {} bytes", bytes.len());
    }
}

#[test]
fn damage_in_the_header_is_no_panic() {
    let bytes = encode(&frame());
    for at in 0..bytes.len().min(520) {
        for byte in [0u8, b'9', b'\n', 0xff] {
            let mut damaged = bytes.clone();
            damaged[at] = byte;
            let _ = decode(&damaged);
        }
    }
    let huge = String::from_utf8_lossy(&bytes[..400]).replace("vertex 2", "vertex 18446744073709551615");
    assert!(decode(huge.as_bytes()).is_err());
}

#[test]
fn a_frame_without_particles_may_have_columns_of_vectors() {
    let mut empty = Frame { position: vec![], id: vec![], body: vec![], radius: vec![], ..frame() };
    empty.columns.iter_mut().for_each(|column| column.values.clear());
    empty.point_sets.clear();
    assert!(empty.columns.iter().any(|column| column.n_components == 3));
    assert_eq!(decode(&encode(&empty)).unwrap().id.len(), 0);
}

#[test]
fn bytes_after_the_data_are_an_error() {
    assert_eq!(decode(&[&encode(&frame())[..], b"x"].concat()), Err(PlyError::TooLong(1)));
}
