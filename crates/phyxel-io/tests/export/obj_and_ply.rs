//! Tests of OBJ and PLY exports, line by line and word by word.

use crate::support::*;
use phyxel_io::export::Geometry;
use phyxel_io::results::{SurfaceTable, ply};

#[test]
fn obj_has_an_object_of_points_per_body() {
    let frames = changing_frames();
    let place = Workplace::new();
    place.export(&frames, "obj", "..", "clay");
    for (number, frame) in frames.iter().enumerate() {
        let text = std::fs::read_to_string(place.path(&format!("clay/clay_{number:04}.obj"))).unwrap();
        // name, vertices and point numbers of each object
        let mut objects: Vec<(String, Vec<f32>, Vec<usize>)> = Vec::new();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (word, rest) = line.split_once(' ').unwrap();
            let words = rest.split(' ');
            match word {
                "o" => objects.push((rest.to_owned(), vec![], vec![])),
                "v" => objects.last_mut().unwrap().1.extend(words.map(|word| word.parse::<f32>().unwrap())),
                "p" => objects.last_mut().unwrap().2.extend(words.map(|word| word.parse::<usize>().unwrap())),
                other => panic!("{other}"),
            }
        }
        assert_eq!(objects.len(), 2);
        assert!(objects.iter().all(|object| !object.0.contains(' ')));
        let mut n_before = 0;
        for (body, (_, vertices, points)) in objects.iter().enumerate() {
            let rows = rows_of(frame, body as u32);
            assert_eq!(*vertices, positions(frame, &rows));
            assert_eq!(*points, (n_before + 1..=n_before + rows.len()).collect::<Vec<_>>());
            n_before += rows.len();
        }
        assert!(text.contains(&format!("# frame {number}, time {:?} s", frame.time)));
    }
}

#[test]
fn ply_has_the_rows_of_the_frames_and_the_names_of_bodies() {
    let frames = changing_frames();
    let place = Workplace::new();
    place.export(&frames, "ply", "2", "clay");
    assert_eq!(names_in(&place.path("clay")), ["clay_0002.ply"]);
    let bytes = std::fs::read(place.path("clay/clay_0002.ply")).unwrap();
    let mark = b"end_header\n";
    let end = bytes.windows(mark.len()).position(|window| window == mark).unwrap();
    let header = String::from_utf8(bytes[..end].to_vec()).unwrap();
    assert!(header.starts_with("ply\nformat binary_little_endian 1.0\n"));
    for (index, body) in BODIES.iter().enumerate() {
        assert!(header.contains(&format!("comment body {index} {body}\n")), "{header}");
    }
    let frame = &frames[2];
    let properties: Vec<(&str, &str)> = header
        .lines()
        .filter_map(|line| line.strip_prefix("property ").and_then(|rest| rest.split_once(' ')))
        .collect();
    let rows = &bytes[end + mark.len()..];
    let stride = 4 * properties.len();
    assert_eq!(rows.len(), stride * frame.id.len());
    let word = |row: usize, name: &str| -> (&str, [u8; 4]) {
        let place = properties.iter().position(|property| property.1 == name).unwrap();
        (properties[place].0, rows[row * stride + 4 * place..][..4].try_into().unwrap())
    };
    let velocities = column(frame, "velocity", &all_rows(frame));
    for row in all_rows(frame) {
        for axis in 0..3 {
            let bits = |value: f32| ("float", value.to_le_bytes());
            assert_eq!(word(row, ["x", "y", "z"][axis]), bits(frame.position[row][axis]));
            assert_eq!(word(row, ["vx", "vy", "vz"][axis]), bits(velocities[3 * row + axis]));
        }
        assert_eq!(word(row, "id"), ("int", frame.id[row].to_le_bytes()));
        assert_eq!(word(row, "body"), ("int", frame.body[row].to_le_bytes()));
        assert_eq!(word(row, "stress").1, column(frame, "stress", &[row])[0].to_le_bytes());
    }
    assert_eq!(ply::decode(&bytes).unwrap(), ply::decode(&ply::encode(frame)).unwrap());
}

/// Checks position, texture coordinates and normal of every corner of every face.
#[test]
fn obj_has_surfaces_with_texture_coordinates_normals_and_groups() {
    let place = Workplace::new();
    let surfaces = place.export_surfaces("obj", Geometry::Both, "clay");
    for (number, surface) in surfaces.iter().enumerate() {
        let text = std::fs::read_to_string(place.path(&format!("clay/clay_{number:04}.obj"))).unwrap();
        let rows = |key: &str| -> Vec<Vec<f32>> {
            let rows = text.lines().filter_map(|line| line.strip_prefix(&format!("{key} ")));
            rows.map(|row| row.split(' ').map(|x| x.parse().unwrap()).collect()).collect()
        };
        let (v, vt, vn) = (rows("v"), rows("vt"), rows("vn"));
        let mut group = "";
        let mut corner = 0;
        let mut faces = Vec::new();
        for line in text.lines() {
            if let Some(name) = line.strip_prefix("g ") {
                group = name;
            }
            let Some(face) = line.strip_prefix("f ") else { continue };
            let words: Vec<&str> = face.split(' ').collect();
            for word in &words {
                let index: Vec<usize> = word.split('/').map(|k| k.parse::<usize>().unwrap() - 1).collect();
                assert_eq!(v[index[0]], surface.position[surface.corners[corner] as usize]);
                assert_eq!(vt[index[1]], surface.uvs[corner]);
                assert_eq!(vn[index[2]], surface.corner_normals[corner]);
                corner += 1;
            }
            faces.push((words.len() as u32, group));
        }
        let names = ["wing_tip", "front"];
        let groups = surface.face_groups.iter().map(|&group| names[group as usize]);
        assert_eq!(faces, surface.face_sizes.iter().copied().zip(groups).collect::<Vec<_>>());
        assert_eq!(corner, surface.corners.len());
        assert!(text.contains("\no left_arm_surface\n") && text.contains("\no left_arm\n"));
        assert_eq!(v.len(), surface.position.len() + 5);
    }
}

#[test]
fn ply_has_files_of_surfaces() {
    let place = Workplace::new();
    let surfaces = place.export_surfaces("ply", Geometry::Surfaces, "clay");
    let names: Vec<String> = (0..4).map(|k| format!("clay_surface_left arm_{k:04}.ply")).collect();
    assert_eq!(names_in(&place.path("clay")), names);
    for (name, surface) in names.iter().zip(surfaces) {
        let bytes = std::fs::read(place.path(&format!("clay/{name}"))).unwrap();
        assert_eq!(SurfaceTable::decode(&bytes), Ok(surface));
    }
}
