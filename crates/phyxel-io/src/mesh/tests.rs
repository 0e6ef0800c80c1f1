//! Tests of every format with the same cube, and with files that are truncated, damaged or made of noise.

use std::fmt::Write;

use super::*;
use phyxel::math::{Real, vec3};

/// A cube of edge 1 around (0.5, 0.5, 0.5).
const CORNERS: [[f32; 3]; 8] = [
    [0.0, 0.0, 0.0],
    [1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [1.0, 1.0, 0.0],
    [0.0, 0.0, 1.0],
    [1.0, 0.0, 1.0],
    [0.0, 1.0, 1.0],
    [1.0, 1.0, 1.0],
];
const QUADS: [[u32; 4]; 6] =
    [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];

fn triangles() -> impl Iterator<Item = [u32; 3]> {
    QUADS.into_iter().flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]])
}

fn obj() -> Vec<u8> {
    let mut text = "# a cube\nmtllib missing.mtl\no cube\n".to_owned();
    for [x, y, z] in CORNERS {
        writeln!(text, "v {x} {y} {z} 1.0").unwrap();
    }
    text += "vt 0 0\nusemtl none\ns off\n";
    for (index, quad) in QUADS.iter().enumerate() {
        match index {
            // all ways to name a vertex: plain, with texture and normal, from the end, over two lines
            0 => writeln!(text, "f {} {} \\\n {} {}", quad[0] + 1, quad[1] + 1, quad[2] + 1, quad[3] + 1)
                .unwrap(),
            1 => {
                let [a, b, c, d] = quad.map(|corner| i64::from(corner) - 8);
                writeln!(text, "f {a} {b} {c} {d}").unwrap();
            }
            _ => {
                let [a, b, c, d] = quad.map(|corner| corner + 1);
                writeln!(text, "f {a}/1/77 {b}//3 {c}/-99 {d}").unwrap();
            }
        }
    }
    text.into_bytes()
}

fn stl_text() -> Vec<u8> {
    let mut text = "solid cube\n".to_owned();
    for triangle in triangles() {
        text += "facet normal 0 0 0\n outer loop\n";
        for [x, y, z] in triangle.map(|corner| CORNERS[corner as usize]) {
            writeln!(text, "  vertex {x} {y} {z}").unwrap();
        }
        text += " endloop\nendfacet\n";
    }
    (text + "endsolid cube\n").into_bytes()
}

fn stl_binary(header: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; 80];
    bytes[..header.len()].copy_from_slice(header);
    bytes.extend(12u32.to_le_bytes());
    for triangle in triangles() {
        bytes.extend([0; 12]);
        for value in triangle.into_iter().flat_map(|corner| CORNERS[corner as usize]) {
            bytes.extend(value.to_le_bytes());
        }
        bytes.extend([0; 2]);
    }
    bytes
}

fn ply_header(format: &str) -> String {
    format!(
        "ply\nformat {format} 1.0\ncomment a cube\nelement vertex 8\nproperty float x\nproperty float y\n\
         property uchar red\nproperty float z\nelement face 6\nproperty list uchar int vertex_indices\nend_header\n"
    )
}

fn ply_text() -> Vec<u8> {
    let mut text = ply_header("ascii");
    for [x, y, z] in CORNERS {
        writeln!(text, "{x} {y} 255 {z}").unwrap();
    }
    for [a, b, c, d] in QUADS {
        writeln!(text, "4 {a} {b} {c} {d}").unwrap();
    }
    text.into_bytes()
}

fn ply_binary(big_endian: bool) -> Vec<u8> {
    let format = if big_endian { "binary_big_endian" } else { "binary_little_endian" };
    let mut bytes = ply_header(format).into_bytes();
    let put = |bytes: &mut Vec<u8>, value: [u8; 4]| {
        let mut value = value;
        if big_endian {
            value.reverse();
        }
        bytes.extend(value);
    };
    for [x, y, z] in CORNERS {
        put(&mut bytes, x.to_le_bytes());
        put(&mut bytes, y.to_le_bytes());
        bytes.push(255);
        put(&mut bytes, z.to_le_bytes());
    }
    for quad in QUADS {
        bytes.push(4);
        quad.into_iter().for_each(|corner| put(&mut bytes, corner.to_le_bytes()));
    }
    bytes
}

/// Returns a glTF buffer with positions and 16-bit indices.
fn gltf_data() -> Vec<u8> {
    let mut data: Vec<u8> = CORNERS.iter().flatten().flat_map(|value| value.to_le_bytes()).collect();
    data.extend(triangles().flatten().flat_map(|corner| (corner as u16).to_le_bytes()));
    data
}

/// Returns a scene of two nodes: the parent moves by 10 along x, the child doubles and mirrors in z.
fn gltf_json(buffer: &str) -> String {
    let length = gltf_data().len();
    format!(
        r#"{{"asset": {{"version": "2.0"}}, "scene": 0, "scenes": [{{"nodes": [0]}}],
        "nodes": [{{"children": [1], "translation": [10, 0, 0]}}, {{"mesh": 0, "scale": [2, 2, -2]}}],
        "meshes": [{{"primitives": [{{"attributes": {{"POSITION": 0}}, "indices": 1}}]}}],
        "accessors": [
            {{"bufferView": 0, "componentType": 5126, "count": 8, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 1]}},
            {{"bufferView": 1, "componentType": 5123, "count": 36, "type": "SCALAR"}}],
        "bufferViews": [{{"buffer": 0, "byteLength": 96}}, {{"buffer": 0, "byteOffset": 96, "byteLength": 72}}],
        "buffers": [{{{buffer} "byteLength": {length}}}]}}"#
    )
}

fn base64_encoded(bytes: &[u8]) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits =
            group.iter().fold(0u32, |bits, &byte| bits << 8 | u32::from(byte)) << (8 * (3 - group.len()));
        for digit in 0..=group.len() {
            text.push(DIGITS[(bits >> (18 - 6 * digit) & 63) as usize] as char);
        }
        text.extend(std::iter::repeat_n('=', 3 - group.len()));
    }
    text
}

fn gltf() -> Vec<u8> {
    let data = base64_encoded(&gltf_data());
    gltf_json(&format!(r#""uri": "data:application/octet-stream;base64,{data}","#)).into_bytes()
}

fn glb() -> Vec<u8> {
    let mut json = gltf_json("").into_bytes();
    json.resize(json.len().next_multiple_of(4), b' ');
    let data = gltf_data();
    let mut bytes = b"glTF".to_vec();
    bytes.extend(2u32.to_le_bytes());
    bytes.extend((12 + 8 + json.len() as u32 + 8 + data.len() as u32).to_le_bytes());
    for (kind, content) in [(b"JSON", json), (b"BIN\0", data)] {
        bytes.extend((content.len() as u32).to_le_bytes());
        bytes.extend(kind);
        bytes.extend(content);
    }
    bytes
}

fn files() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("obj", obj()),
        ("stl", stl_text()),
        ("stl", stl_binary(b"made by a program")),
        ("stl", stl_binary(b"solid but binary")),
        ("ply", ply_text()),
        ("ply", ply_binary(false)),
        ("ply", ply_binary(true)),
        ("gltf", gltf()),
        ("glb", glb()),
    ]
}

/// Returns pseudo-random bits by SplitMix64.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed ^ (mixed >> 29)
}

#[test]
fn every_format_gives_the_same_closed_cube() {
    for (extension, bytes) in files() {
        let mesh = read_bytes(&bytes, extension).unwrap_or_else(|error| panic!("{extension}: {error}"));
        assert_eq!(mesh.vertices().len(), 8, "{extension}");
        assert_eq!(mesh.triangles().len(), 12, "{extension}");
        assert!(mesh.is_closed(), "{extension}");
        let is_gltf = extension.starts_with("gl");
        let volume: Real = if is_gltf { 8.0 } else { 1.0 };
        assert!((mesh.signed_volume() - volume).abs() < 1e-12, "{extension}: {}", mesh.signed_volume());
        let center = if is_gltf { vec3(11.0, 1.0, -1.0) } else { vec3(0.5, 0.5, 0.5) };
        assert!(mesh.bounds().center().distance(center) < 1e-12, "{extension}");
    }
}

#[test]
fn text_coordinates_keep_double_precision() {
    let text = "v 0.1 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    assert_eq!(read_bytes(text.as_bytes(), "obj").unwrap().vertices()[0].x, 0.1);
}

#[test]
fn cut_files_are_errors_not_panics() {
    for (extension, bytes) in files() {
        let mut n_refused = 0;
        for length in 0..bytes.len() {
            n_refused += usize::from(read_bytes(&bytes[..length], extension).is_err());
        }
        // text formats without an end mark may be cut between faces and are then still meshes
        assert!(n_refused > bytes.len() / 2, "{extension}: {n_refused} of {}", bytes.len());
    }
}

#[test]
fn damaged_files_are_errors_or_meshes_not_panics() {
    let mut state = 7;
    for (extension, bytes) in files() {
        for _ in 0..1500 {
            let mut damaged = bytes.clone();
            for _ in 0..=random(&mut state) % 4 {
                let at = random(&mut state) as usize % damaged.len();
                damaged[at] = match random(&mut state) % 4 {
                    0 => b'9',
                    1 => b'-',
                    2 => 0xff,
                    _ => random(&mut state) as u8,
                };
            }
            let _ = read_bytes(&damaged, extension);
        }
    }
}

#[test]
fn noise_is_refused() {
    let mut state = 1;
    for extension in EXTENSIONS {
        for length in [1, 7, 84, 133, 134, 500] {
            for _ in 0..50 {
                let noise: Vec<u8> = (0..length).map(|_| random(&mut state) as u8).collect();
                assert!(read_bytes(&noise, extension).is_err(), "{extension} of {length}");
            }
        }
    }
}

#[test]
fn announced_counts_are_not_believed() {
    let header = "ply\nformat binary_little_endian 1.0\nelement vertex 99999999999999\nend_header\n";
    assert!(matches!(read_bytes(header.as_bytes(), "ply"), Err(MeshError::Corrupt { .. })));
    let mut stl = vec![0; 80];
    stl.extend(u32::MAX.to_le_bytes());
    assert!(matches!(read_bytes(&stl, "stl"), Err(MeshError::Corrupt { .. })));
    let huge = String::from_utf8(gltf()).unwrap().replace("\"count\": 8", "\"count\": 99999999999");
    assert!(matches!(read_bytes(huge.as_bytes(), "gltf"), Err(MeshError::Corrupt { .. })));
}

#[test]
fn nodes_that_contain_each_other_end() {
    let ring =
        String::from_utf8(gltf()).unwrap().replace(r#""mesh": 0, "scale""#, r#""children": [0], "scale""#);
    assert!(matches!(read_bytes(ring.as_bytes(), "gltf"), Err(MeshError::Corrupt { .. })));
}

#[test]
fn binary_header_that_counts_less_than_itself_is_refused() {
    let mut bytes = glb();
    bytes[8..12].copy_from_slice(&3u32.to_le_bytes());
    assert!(matches!(read_bytes(&bytes, "glb"), Err(MeshError::Corrupt { .. })));
}

#[test]
fn errors_say_what_is_wrong() {
    let message = |bytes: &[u8], extension: &str| read_bytes(bytes, extension).unwrap_err().to_string();
    assert!(message(b"x", "fbx").contains(".obj, .ply, .stl, .gltf, .glb"));
    for extension in EXTENSIONS {
        assert!(message(b" \n", extension).contains("empty"));
    }
    assert!(message(b"v 0 0 0\nv 1 0 0\n", "obj").contains("no faces"));
    assert!(message(b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n", "obj").contains("OBJ"));
    assert!(message(b"v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "obj").contains("finite"));
    let path = Path::new("no such folder/thing.obj");
    assert!(matches!(read(path), Err(MeshError::Missing { .. })));
    assert!(matches!(read(Path::new("thing")), Err(MeshError::UnknownExtension { .. })));
}

#[test]
fn files_are_read_from_disk_with_the_data_beside_them() {
    let folder = std::env::temp_dir().join(format!("phyxel mesh test {}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("cube.OBJ"), obj()).unwrap();
    std::fs::write(folder.join("cube.gltf"), gltf_json(r#""uri": "the%20data.bin","#)).unwrap();
    let without_data = read(&folder.join("cube.gltf"));
    std::fs::write(folder.join("the data.bin"), gltf_data()).unwrap();
    let with_data = read(&folder.join("cube.gltf"));
    let upper_case = read(&folder.join("cube.OBJ"));
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(matches!(without_data, Err(MeshError::Missing { .. })));
    assert_eq!(with_data.unwrap().triangles().len(), 12);
    assert_eq!(upper_case.unwrap().triangles().len(), 12);
}

/// Checks that the data of corners is kept in every format that has it, and left out if it is damaged.
#[test]
fn texture_coordinates_normals_and_groups_are_kept() {
    let square = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 2 0 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 0.25\nvn 0 0 2\nvn 0 1 0\n";
    let faces = "g front side\nf 1/1/1 2/2/1 3/3/1 4/4/1\ng back\nf 2/1/2 5/2/2 3/-1/-1\n";
    let (_, mesh) = parse(format!("{square}{faces}").as_bytes(), "obj", None).unwrap();
    assert_eq!((mesh.vertices.len(), &mesh.face_sizes[..]), (5, &[4, 3][..]));
    assert_eq!(mesh.corners, [0, 1, 2, 3, 1, 4, 2]);
    let expected = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.25], [0.0, 0.0], [1.0, 0.0], [0.0, 0.25]];
    assert_eq!(mesh.uvs, expected);
    assert_eq!(mesh.normals[0], vec3(0.0, 0.0, 1.0));
    assert_eq!(mesh.normals[6], vec3(0.0, 1.0, 0.0));
    assert_eq!(mesh.group_names, ["front side", "back"]);
    assert_eq!(mesh.face_groups, [0, 1]);
    // a wrong index is no reason to refuse the shape
    let (_, mesh) = parse(format!("{square}f 1/1/1 2/9/1 3/3/1\n").as_bytes(), "obj", None).unwrap();
    assert!(mesh.uvs.is_empty() && mesh.normals.len() == 3 && mesh.group_names.is_empty());

    let ply = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n\
        property float nx\nproperty float ny\nproperty float nz\nproperty float s\nproperty float t\nelement face 1\n\
        property list uchar int vertex_indices\nend_header\n0 0 0 0 0 1 0.5 0.25\n1 0 0 0 0 1 1 0\n0 1 0 0 0 1 0 1\n3 0 1 2\n";
    let (_, mesh) = parse(ply.as_bytes(), "ply", None).unwrap();
    assert_eq!(mesh.uvs, [[0.5, 0.25], [1.0, 0.0], [0.0, 1.0]]);
    assert_eq!(mesh.normals, [vec3(0.0, 0.0, 1.0); 3]);
    let by_corner = ply
        .replace("vertex_indices\n", "vertex_indices\nproperty list uchar float texcoord\n")
        .replace("3 0 1 2", "3 0 1 2 6 0 0 0.5 0 0 0.5");
    let (_, mesh) = parse(by_corner.as_bytes(), "ply", None).unwrap();
    assert_eq!(mesh.uvs, [[0.0, 0.0], [0.5, 0.0], [0.0, 0.5]]);

    // positions, normals, texture coordinates from the top; the node mirrors in x
    let values =
        [0.0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0]
            .into_iter()
            .chain([0.0, 0.0, 1.0, 0.25, 0.0, 1.0]);
    let data: Vec<u8> = values.flat_map(f32::to_le_bytes).collect();
    let gltf = format!(
        r#"{{"asset": {{"version": "2.0"}}, "scene": 0, "scenes": [{{"nodes": [0]}}],
        "nodes": [{{"name": "leaf", "mesh": 0, "scale": [-2, 1, 1]}}],
        "meshes": [{{"primitives": [{{"attributes": {{"POSITION": 0, "NORMAL": 1, "TEXCOORD_0": 2}}}}]}}],
        "accessors": [
            {{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0]}},
            {{"bufferView": 1, "componentType": 5126, "count": 3, "type": "VEC3"}},
            {{"bufferView": 2, "componentType": 5126, "count": 3, "type": "VEC2"}}],
        "bufferViews": [{{"buffer": 0, "byteLength": 36}}, {{"buffer": 0, "byteOffset": 36, "byteLength": 36}},
            {{"buffer": 0, "byteOffset": 72, "byteLength": 24}}],
        "buffers": [{{"uri": "data:application/octet-stream;base64,{}", "byteLength": 96}}]}}"#,
        base64_encoded(&data)
    );
    let (_, mesh) = parse(gltf.as_bytes(), "gltf", None).unwrap();
    assert_eq!(mesh.corners, [0, 2, 1]);
    assert_eq!(mesh.uvs, [[0.0, 1.0], [0.0, 0.0], [1.0, 0.75]]);
    assert_eq!(mesh.normals, [vec3(-1.0, 0.0, 0.0); 3]);
    assert_eq!(mesh.group_names, ["leaf"]);
}
