//! Tests of files that would take much time or memory, or read what they should not.

use super::*;

/// Repeated concatenation of 400,000 lines takes seconds, and grows with the square of their number.
#[test]
fn a_long_chain_of_continued_lines_is_read_in_linear_time() {
    let text = format!("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 {} 2 3\n", "\\\n".repeat(3_000_000));
    let begin = std::time::Instant::now();
    assert_eq!(read_bytes(text.as_bytes(), "obj").unwrap().triangles().len(), 1);
    assert!(begin.elapsed().as_secs() < 10, "{:?}", begin.elapsed());
}

#[test]
fn coordinates_that_frames_cannot_hold_are_refused() {
    let error = read_bytes(b"v 0 0 0\nv 1e300 0 0\nv 0 1 0\nf 1 2 3\n", "obj").unwrap_err();
    assert!(matches!(error, MeshError::TooFar { vertex: 1 }), "{error}");
}

/// Returns a glTF text of a triangle, with these nodes, of which the first is the scene, and its data at an address.
fn gltf_text(nodes: &str, uri: &str) -> String {
    format!(
        r#"{{"asset": {{"version": "2.0"}}, "scene": 0, "scenes": [{{"nodes": [0]}}], "nodes": [{nodes}],
        "meshes": [{{"primitives": [{{"attributes": {{"POSITION": 0}}}}]}}],
        "accessors": [{{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0]}}],
        "bufferViews": [{{"buffer": 0, "byteLength": 36}}], "buffers": [{{"byteLength": 36, "uri": "{uri}"}}]}}"#
    )
}

fn triangle_data() -> Vec<u8> {
    [[0.0f32, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
        .iter()
        .flatten()
        .flat_map(|x| x.to_le_bytes())
        .collect()
}

#[test]
fn nodes_that_share_their_children_do_not_fill_the_memory() {
    let data = format!("data:application/octet-stream;base64,{}", base64::encode(&triangle_data()));
    let nested = |depth: usize| {
        let shared: String = (1..=depth).map(|k| format!(r#"{{"children": [{k}, {k}]}}, "#)).collect();
        read_bytes(gltf_text(&format!(r#"{shared}{{"mesh": 0}}"#), &data).as_bytes(), "gltf")
    };
    assert_eq!(nested(10).unwrap().triangles().len(), 1024);
    for depth in [17, 19, 60] {
        let error = nested(depth).unwrap_err().to_string();
        assert!(error.contains("without instances"), "{error}");
    }
}

#[test]
fn gltf_data_is_read_from_beside_the_file_only() {
    let folder = std::env::temp_dir().join(format!("phyxel_beside_{}", std::process::id()));
    let inside = folder.join("inside");
    std::fs::create_dir_all(inside.join("below")).unwrap();
    for place in ["data.bin", "inside/data.bin", "inside/below/data.bin"] {
        std::fs::write(folder.join(place), triangle_data()).unwrap();
    }
    let read_from = |uri: &str| {
        let path = inside.join("a.gltf");
        std::fs::write(&path, gltf_text(r#"{"mesh": 0}"#, uri)).unwrap();
        read(&path)
    };
    for uri in ["data.bin", "./data.bin", "below/data.bin", "below%2Fdata.bin"] {
        assert!(read_from(uri).is_ok(), "{uri}");
    }
    let absolute = folder.join("data.bin").display().to_string();
    for uri in ["../data.bin", "%2e%2e/data.bin", "below/../../data.bin", &absolute] {
        let error = read_from(uri).unwrap_err().to_string();
        assert!(error.contains("not in its folder"), "{uri}: {error}");
    }
    #[cfg(unix)]
    {
        let link = inside.join("link.bin");
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink("../data.bin", &link).unwrap();
        let error = read_from("link.bin").unwrap_err().to_string();
        assert!(error.contains("not in its folder"), "{error}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn files_up_to_the_limit_are_read_and_larger_ones_refused() {
    let path = std::env::temp_dir().join(format!("phyxel_limit_{}", std::process::id()));
    std::fs::write(&path, b"12345").unwrap();
    assert_eq!(crate::read_file(&path, 5).unwrap(), b"12345");
    assert!(crate::read_file(&path, 4).unwrap_err().to_string().contains("limit"));
    std::fs::remove_file(&path).unwrap();
    assert!(crate::read_file(&std::env::temp_dir(), 5).is_err());
}

#[cfg(unix)]
#[test]
fn pipes_and_devices_are_refused_at_once() {
    let folder = std::env::temp_dir().join(format!("phyxel_pipe_{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let pipe = folder.join("pipe.obj");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    std::os::unix::fs::symlink("/dev/zero", folder.join("zero.obj")).unwrap();
    for path in [pipe, folder.join("zero.obj")] {
        let error = read(&path).unwrap_err().to_string();
        assert!(error.contains("a pipe or a device"), "{error}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
