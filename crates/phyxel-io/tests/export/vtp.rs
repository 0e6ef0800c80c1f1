//! Tests of VTP exports: the XML and its appended data are read as VTK describes the format.

use crate::support::*;
use phyxel_io::export::Geometry;
use std::collections::BTreeMap;

/// A data array: type, number of components, bytes.
type Array = (String, usize, Vec<u8>);

/// Returns the value of an attribute of an XML element.
fn attribute(element: &str, name: &str) -> Option<String> {
    let start = element.find(&format!(" {name}=\""))? + name.len() + 3;
    let value = &element[start..start + element[start..].find('"')?];
    let plain = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&")];
    Some(plain.iter().fold(value.to_owned(), |text, (escaped, sign)| text.replace(escaped, sign)))
}

/// Returns all XML elements with a name.
fn elements<'a>(xml: &'a str, name: &str) -> Vec<&'a str> {
    let start = format!("<{name} ");
    xml.match_indices(&start).map(|(at, _)| &xml[at..at + xml[at..].find('>').unwrap()]).collect()
}

/// Returns the text before the data, and the arrays by name.
fn read(bytes: &[u8]) -> (String, BTreeMap<String, Array>) {
    let mark = b"<AppendedData encoding=\"raw\">\n_";
    let at = bytes.windows(mark.len()).position(|window| window == mark).unwrap();
    let xml = String::from_utf8(bytes[..at].to_vec()).unwrap();
    let data = &bytes[at + mark.len()..];
    let mut arrays = BTreeMap::new();
    for element in elements(&xml, "DataArray") {
        assert_eq!(attribute(element, "format").as_deref(), Some("appended"));
        let offset: usize = attribute(element, "offset").unwrap().parse().unwrap();
        let size = u64::from_le_bytes(data[offset..offset + 8].try_into().unwrap()) as usize;
        let n_components =
            attribute(element, "NumberOfComponents").map_or(1, |number| number.parse().unwrap());
        let array = (attribute(element, "type").unwrap(), n_components, data[offset + 8..][..size].to_vec());
        arrays.insert(attribute(element, "Name").unwrap(), array);
    }
    assert!(data.ends_with(b"\n</AppendedData>\n</VTKFile>\n"));
    (xml, arrays)
}

fn floats((kind, _, bytes): &Array) -> Vec<f32> {
    assert_eq!(kind, "Float32");
    bytes.chunks_exact(4).map(|word| f32::from_le_bytes(word.try_into().unwrap())).collect()
}

fn integers((kind, _, bytes): &Array) -> Vec<u32> {
    assert!(kind == "UInt32" || kind == "Int32", "{kind}");
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

#[test]
fn every_frame_has_points_cells_data_and_its_time() {
    let frames = changing_frames();
    let place = Workplace::new();
    let written = place.export(&frames, "vtp", "1..3", "clay");
    assert_eq!(written.entry, place.path("clay/clay.pvd"));
    assert_eq!(written.n_files, 4);
    let names = ["clay.pvd", "clay_0001.vtp", "clay_0002.vtp", "clay_0003.vtp"];
    assert_eq!(names_in(&place.path("clay")), names);
    let mut n_bytes = std::fs::metadata(place.path("clay/clay.pvd")).unwrap().len();
    for (number, frame) in frames.iter().enumerate().skip(1) {
        let bytes = std::fs::read(place.path(&format!("clay/clay_{number:04}.vtp"))).unwrap();
        n_bytes += bytes.len() as u64;
        let (xml, arrays) = read(&bytes);
        let rows = all_rows(frame);
        let root = elements(&xml, "VTKFile")[0];
        for (name, value) in [("type", "PolyData"), ("byte_order", "LittleEndian"), ("header_type", "UInt64")]
        {
            assert_eq!(attribute(root, name).as_deref(), Some(value));
        }
        let piece = elements(&xml, "Piece")[0];
        for name in ["NumberOfPoints", "NumberOfVerts"] {
            assert_eq!(attribute(piece, name), Some(rows.len().to_string()));
        }
        assert_eq!(floats(&arrays["Points"]), positions(frame, &rows));
        assert_eq!(integers(&arrays["connectivity"]), (0..rows.len() as u32).collect::<Vec<_>>());
        assert_eq!(integers(&arrays["offsets"]), (1..=rows.len() as u32).collect::<Vec<_>>());
        assert_eq!(integers(&arrays["id"]), frame.id);
        assert_eq!(integers(&arrays["body"]), frame.body);
        assert_eq!(floats(&arrays["radius"]), frame.radius);
        for (name, n_components) in [("velocity", 3), ("stress", 1), ("embedded_position", 3)] {
            assert_eq!(arrays[name].1, n_components);
            assert_eq!(floats(&arrays[name]), column(frame, name, &rows), "{name}");
        }
        assert_eq!(arrays["TimeValue"].2, frame.time.to_le_bytes());
        assert_eq!(attribute(elements(&xml, "PointData")[0], "Vectors").as_deref(), Some("velocity"));
        assert_eq!(body_names(&xml), BODIES);
    }
    assert_eq!(written.n_bytes, n_bytes);
}

/// Returns the names of the bodies. VTK stores strings as character codes that end with a zero.
fn body_names(xml: &str) -> Vec<String> {
    let array = &xml[xml.find("<Array type=\"String\" Name=\"body_names\"").unwrap()..];
    let text = &array[array.find('>').unwrap() + 1..array.find("</Array>").unwrap()];
    let bytes: Vec<u8> = text.split_whitespace().map(|word| word.parse().unwrap()).collect();
    let words = bytes.strip_suffix(&[0]).unwrap().split(|&byte| byte == 0);
    words.map(|word| String::from_utf8(word.to_vec()).unwrap()).collect()
}

#[test]
fn the_collection_names_files_and_times() {
    let frames = steady_frames();
    let place = Workplace::new();
    place.export(&frames, "vtp", "..", "a & b");
    let xml = std::fs::read_to_string(place.path("a & b/a & b.pvd")).unwrap();
    assert_eq!(attribute(elements(&xml, "VTKFile")[0], "type").as_deref(), Some("Collection"));
    let sets = elements(&xml, "DataSet");
    assert_eq!(sets.len(), frames.len());
    for (set, frame) in sets.iter().zip(&frames) {
        assert_eq!(attribute(set, "timestep").unwrap().parse(), Ok(frame.time));
        let file = attribute(set, "file").unwrap();
        assert!(place.path("a & b").join(&file).is_file(), "{file}");
    }
}

/// Checks surfaces in the collection. VTK has texture coordinates and normals at points: each corner becomes a point.
#[test]
fn surfaces_are_files_of_polygons_in_the_collection() {
    let place = Workplace::new();
    let surfaces = place.export_surfaces("vtp", Geometry::Seen, "clay");
    let index = std::fs::read_to_string(place.path("clay/clay.pvd")).unwrap();
    let parts: Vec<(String, String)> = elements(&index, "DataSet")
        .iter()
        .map(|e| (attribute(e, "file").unwrap(), attribute(e, "part").unwrap()))
        .collect();
    assert_eq!(parts.len(), 8);
    assert_eq!(parts[1], ("clay_surface_left arm_0000.vtp".into(), "1".into()));
    for (number, surface) in surfaces.iter().enumerate() {
        let name = format!("clay/clay_surface_left arm_{number:04}.vtp");
        let (xml, arrays) = read(&std::fs::read(place.path(&name)).unwrap());
        let piece = elements(&xml, "Piece")[0];
        assert_eq!(attribute(piece, "NumberOfPoints"), Some(surface.corners.len().to_string()));
        assert_eq!(attribute(piece, "NumberOfPolys"), Some(surface.face_sizes.len().to_string()));
        let at_corners = |values: &[[f32; 3]]| -> Vec<f32> {
            surface.corners.iter().flat_map(|&vertex| values[vertex as usize]).collect()
        };
        assert_eq!(floats(&arrays["Points"]), at_corners(&surface.position));
        assert_eq!(floats(&arrays["velocity"]), at_corners(&surface.velocity));
        assert_eq!(floats(&arrays["Normals"]), surface.corner_normals.as_flattened());
        assert_eq!(floats(&arrays["st"]), surface.uvs.as_flattened());
        assert_eq!(integers(&arrays["vertex"]), surface.corners);
        assert_eq!(integers(&arrays["connectivity"]), (0..surface.corners.len() as u32).collect::<Vec<_>>());
        let ends = surface.face_sizes.iter().scan(0, |end, size| {
            *end += size;
            Some(*end)
        });
        assert_eq!(integers(&arrays["offsets"]), ends.collect::<Vec<_>>());
        assert_eq!(integers(&arrays["group"]), surface.face_groups);
        assert_eq!(arrays["TimeValue"].2, surface.time.to_le_bytes());
        // the other body is still exported as particles
        let (xml, _) = read(&std::fs::read(place.path(&format!("clay/clay_{number:04}.vtp"))).unwrap());
        assert_eq!(attribute(elements(&xml, "Piece")[0], "NumberOfPoints"), Some("2".into()));
    }
}
