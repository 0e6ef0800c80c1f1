//! Tests of the page with embedded data, by an independent reader.

use super::packet::{Packet, assert_near};
use super::support::*;
use flate2::read::ZlibDecoder;
use phyxel::frame::Frame;
use phyxel_io::export::{FrameSelection, Geometry};
use phyxel_io::results::{Overwrite, ResultFolder, SurfaceTable};
use serde_json::Value;
use std::fs;
use std::io::Read;

/// Returns the text of an element of the page.
fn element<'a>(page: &'a str, id: &str) -> Option<&'a str> {
    let start = page.find(&format!("id=\"{id}\">"))?;
    let text = &page[start..];
    Some(&text[text.find('>')? + 1..text.find("</script>")?])
}

fn unpacked(page: &str, id: &str) -> Vec<u8> {
    let value = |digit: u8| match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => panic!("{digit} is no base64"),
    };
    let text = element(page, id).unwrap_or_else(|| panic!("there is no {id}"));
    let digits: Vec<u8> = text.trim_end_matches('=').bytes().map(value).collect();
    let mut packed = Vec::new();
    for (k, pair) in digits.windows(2).enumerate() {
        match k % 4 {
            0 => packed.push(pair[0] << 2 | pair[1] >> 4),
            1 => packed.push(pair[0] << 4 | pair[1] >> 2),
            2 => packed.push(pair[0] << 6 | pair[1]),
            _ => {}
        }
    }
    let mut bytes = Vec::new();
    ZlibDecoder::new(packed.as_slice()).read_to_end(&mut bytes).unwrap();
    bytes
}

fn info(page: &str) -> Value {
    serde_json::from_str(element(page, "phyxel-info").unwrap()).unwrap()
}

fn whole_numbers(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

fn check_frame(page: &str, index: usize, frame: &Frame) {
    let packet = Packet::read(&unpacked(page, &format!("phyxel-frame-{index}")));
    assert_eq!(packet.header["frame"].as_u64(), Some(index as u64));
    assert_eq!(packet.header["time"].as_f64(), Some(frame.time));
    let rows = all_rows(frame);
    assert_eq!(packet.entry("position", None).unwrap()["type"], "u16", "to be small");
    assert_near(packet.array("position", None), &positions(frame, &rows));
    assert_near(packet.array("radius", None), &frame.radius);
    assert_near(packet.array("column", Some("stress")), &column(frame, "stress", &rows));
    let lengths: Vec<f32> = column(frame, "velocity", &rows)
        .chunks(3)
        .map(|v| v.iter().map(|x| x * x).sum::<f32>().sqrt())
        .collect();
    assert_near(packet.array("column", Some("velocity")), &lengths);
    let bodies: Vec<u32> = packet.array("body", None).0.iter().map(|&body| body as u32).collect();
    assert_eq!(bodies, frame.body);
    let ids = packet.entry("id", None).unwrap()["shared"].as_u64().unwrap();
    assert_eq!(whole_numbers(&unpacked(page, &format!("phyxel-shared-{ids}"))), frame.id);
}

#[test]
fn every_frame_is_in_the_page() {
    let place = Workplace::new();
    let frames = changing_frames();
    let written = place.export(&frames, "html", "..", "clay.html");
    assert_eq!((written.n_files, written.n_bytes), (1, fs::metadata(&written.entry).unwrap().len()));
    let page = fs::read_to_string(&written.entry).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
    for (index, frame) in frames.iter().enumerate() {
        check_frame(&page, index, frame);
    }
    let info = info(&page);
    assert_eq!((info["frames"].as_u64(), info["title"].as_str()), (Some(4), Some("A \"test\"")));
    assert_eq!(info["bodies"][1]["name"], BODIES[1], "with its < and >");
    assert!(element(&page, "phyxel-frame-4").is_none());
    // the page is text that a browser reads as one document
    let data = &page[page.find("phyxel-shared-0").unwrap()..page.find("phyxel-info").unwrap()];
    assert_eq!(data.matches("<script").count(), data.matches("</script>").count());
}

#[test]
fn ranges_of_colours_are_those_of_all_frames() {
    let place = Workplace::new();
    let frames = steady_frames();
    let page = fs::read_to_string(place.export(&frames, "html", "..", "a.html").entry).unwrap();
    let range = &info(&page)["columns"][1]["range"];
    let all: Vec<f32> = frames.iter().flat_map(|frame| column(frame, "stress", &all_rows(frame))).collect();
    let (low, high) = all.iter().fold((f32::MAX, f32::MIN), |(low, high), &v| (low.min(v), high.max(v)));
    assert!((range[0].as_f64().unwrap() - f64::from(low)).abs() < 1e-5, "{range} {low}");
    assert!((range[1].as_f64().unwrap() - f64::from(high)).abs() < 1e-5, "{range} {high}");
}

#[test]
fn ids_that_do_not_change_stand_there_once_and_some_frames_are_enough() {
    let place = Workplace::new();
    let frames = steady_frames();
    let page = fs::read_to_string(place.export(&frames, "html", "1..2", "a.html").entry).unwrap();
    check_frame(&page, 0, &frames[1]);
    check_frame(&page, 1, &frames[2]);
    let info = info(&page);
    assert_eq!((info["frames"].as_u64(), info["first_frame"].as_u64()), (Some(2), Some(1)));
    assert!(element(&page, "phyxel-shared-0").is_some() && element(&page, "phyxel-shared-1").is_none());
}

#[test]
fn values_that_are_no_numbers_keep_their_bits() {
    let place = Workplace::new();
    let mut frame = frame(0, &[0, 1, 2]);
    frame.columns[1].values[1] = f32::NAN;
    let page = fs::read_to_string(place.export(&[frame.clone()], "html", "..", "a.html").entry).unwrap();
    let packet = Packet::read(&unpacked(&page, "phyxel-frame-0"));
    assert_eq!(packet.entry("column", Some("stress")).unwrap()["type"], "f32");
    assert_near(packet.array("column", Some("stress")), &frame.columns[1].values);
}

#[test]
fn triangles_that_do_not_change_stand_there_once() {
    let place = Workplace::new();
    let frames = steady_frames();
    let folder: ResultFolder = place.result(&frames);
    let surface = |shift: f32| SurfaceTable {
        position: vec![[shift, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, shift]],
        normal: vec![[0.0, 0.0, 1.0], [0.6, 0.0, 0.8], [0.0, -0.6, 0.8]],
        face_sizes: vec![3],
        corners: vec![0, 1, 2],
        ..SurfaceTable::default()
    };
    let mut run = folder.run_info().unwrap();
    run.bodies[0].surface = Some(phyxel_io::results::SurfaceKind::Mesh);
    folder.write_run_info(&run).unwrap();
    for number in 0..frames.len() {
        let mut table = surface(number as f32);
        if number == 3 {
            table.corners = vec![0, 2, 1];
        }
        folder.write_surface(BODIES[0], number, &table).unwrap();
    }
    let page = |geometry, name: &str| {
        let selection =
            FrameSelection::open(&folder, "..".parse().unwrap()).unwrap().with_geometry(geometry).unwrap();
        let written = write(&selection, "html", &place.path(name), Overwrite::No).unwrap();
        fs::read_to_string(written.entry).unwrap()
    };
    let counts = |page: &str| {
        let header = Packet::read(&unpacked(page, "phyxel-frame-0")).header;
        (header["particles"].as_u64().unwrap(), header["surfaces"].as_array().unwrap().len())
    };
    assert_eq!(counts(&page(Geometry::Particles, "particles.html")), (5, 0));
    assert_eq!(counts(&page(Geometry::Surfaces, "surfaces.html")), (0, 1));
    let seen = page(Geometry::Seen, "seen.html");
    assert_eq!(counts(&seen), (2, 1), "ids 1 and 5 are of the body without a surface");
    let packet = Packet::read(&unpacked(&seen, "phyxel-frame-0"));
    let rows = rows_of(&frames[0], 1);
    assert_near(packet.array("position", None), &positions(&frames[0], &rows));
    assert_near(packet.array("column", Some("stress")), &column(&frames[0], "stress", &rows));
    let page = page(Geometry::Both, "both.html");
    assert_eq!(counts(&page), (5, 1));
    let packets: Vec<Packet> =
        (0..4).map(|k| Packet::read(&unpacked(&page, &format!("phyxel-frame-{k}")))).collect();
    let numbers: Vec<u64> =
        packets.iter().map(|packet| packet.of_surface(0, "index")["shared"].as_u64().unwrap()).collect();
    assert!(numbers[0] == numbers[2] && numbers[2] != numbers[3], "{numbers:?}");
    assert_eq!(whole_numbers(&unpacked(&page, &format!("phyxel-shared-{}", numbers[3]))), [0, 2, 1]);
    for (k, packet) in packets.iter().enumerate() {
        let truth = surface(k as f32);
        assert_near(packet.numbers(packet.of_surface(0, "position")), truth.position.as_flattened());
        assert_near(packet.numbers(packet.of_surface(0, "normal")), truth.normal.as_flattened());
    }
}
