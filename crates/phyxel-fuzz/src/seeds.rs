//! Small inputs that the readers accept: written here, or by the program's own writers.

use crate::targets::world;
use phyxel::methods::built_methods;
use phyxel_io::results::{
    BodyInfo, CheckpointHeader, ContentDigest, LedgerWriter, RunInfo, Status, SurfaceTable, Tally, ply,
    write_checkpoint,
};
use std::sync::OnceLock;

/// A scene with something of most tables; its world is small. METHOD stands for the key of a method.
const SCENE: &str = r#"title = "seed"
method = "METHOD"
duration = "0.1 s"
frame_rate = 30

[materials.clay]
density = "1000 kg/m3"
youngs_modulus = { inside = { sphere = { radius = 0.2 } }, value = "1 MPa", outside = 2e5 }
poisson_ratio = 0.3

[[bodies]]
name = "block"
material = "clay"
shape.box = { size = [0.3, "20 cm", 0.3] }
position = [0, 0.5, 0]
rotation = { axis = [0, 1, 0], angle = "30 deg" }
spacing = 0.1
velocity = [0, -1, 0]

[[grips]]
name = "hand"
body = "block"
select = { box = { min = [-1, 0.5, -1], max = [1, 1, 1] } }
motion = [{ time = 0 }, { time = 0.1, translation = [0, 0.1, 0] }]
release = 0.05

[[obstacles]]
shape.union = [{ half_space = { normal = [0, 1, 0] } }, { sphere = { radius = 0.1 }, position = [1, 0, 0] }]
friction = "stick"

[[forces]]
drag = 0.1
until = 0.05

[[events]]
time = 0.03
gravity = [0, 0, 0]

[output]
columns = ["velocity"]
"#;

/// Returns the scene for one of the methods.
pub(crate) fn scene(method: &str) -> String {
    SCENE.replace("METHOD", method)
}

/// Returns the keys of all methods.
pub(crate) fn methods() -> Vec<&'static str> {
    built_methods().map(|entry| entry.key).collect()
}

pub(crate) fn scenes() -> Vec<Vec<u8>> {
    let short = "duration = 1\n[materials.m]\nbased_on = \"modelling clay\"\nplasticity.flow_rate = 40\n[[bodies]]\nmethod = \"METHOD\"\nname = \"a\"\n\
        material = \"m\"\nshape.star = { radius = 1, inner_radius = 0.5, height = 1 }\nparticles = 100\nsurface = { kind = \"skin\" }\n";
    let (first, last) = (methods()[0], methods()[methods().len() - 1]);
    texts(&[&scene(first), &short.replace("METHOD", last)])
}

pub(crate) fn quantities() -> Vec<Vec<u8>> {
    texts(&["\u{1}0.5 cm", "\u{3}1e3 kg/m/s^2", "\u{4}-3.5 m/s", "\u{5}90 °", "\u{2}2 min", "\u{0}12 %"])
}

pub(crate) fn overrides() -> Vec<Vec<u8>> {
    texts(&[
        "bodies.block.spacing=0.15\nmaterials.clay.density=\"900 kg/m3\"",
        "bodies.block.velocity.1=-3\nbodies.0.shape.box.size.2=0.25\ngrips.hand.release=",
    ])
}

pub(crate) fn obj_files() -> Vec<Vec<u8>> {
    let tetrahedron = "o a\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvt 0 0\nvn 0 0 -1\nf 1/1/1 3/1/1 2/1/1\nf 1 2 4\nf -4 -1 -2\n";
    let square = "v 0 0 0\nv 1 0 0\nv 1 1 0 # corner\nv 0.2 0.3 0\nv 0 1 0\nusemtl m\nf 1 2 \\\n 3 4 5\n";
    texts(&[tetrahedron, square])
}

pub(crate) fn ply_files() -> Vec<Vec<u8>> {
    let header = |format: &str| {
        format!(
            "ply\nformat {format} 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n\
             element face 2\nproperty list uchar int vertex_indices\nend_header\n"
        )
    };
    let text = header("ascii") + "0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 1 2\n4 0 1 2 3\n";
    let mut binary = header("binary_little_endian").into_bytes();
    let corners = [0.0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    binary.extend(corners.iter().flat_map(|x| x.to_le_bytes()));
    for face in [[0i32, 1, 2], [0, 2, 3]] {
        binary.push(3);
        binary.extend(face.iter().flat_map(|index| index.to_le_bytes()));
    }
    vec![text.into_bytes(), binary]
}

pub(crate) fn stl_files() -> Vec<Vec<u8>> {
    let text = "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid a\n";
    let mut binary = vec![0; 80];
    binary.extend(1u32.to_le_bytes());
    let numbers = [0.0f32, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    binary.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
    binary.extend([0, 0]);
    vec![text.as_bytes().to_vec(), binary]
}

pub(crate) fn gltf_files() -> Vec<Vec<u8>> {
    let json = |buffer: &str| {
        format!(
            r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0]}}],
            "nodes":[{{"children":[1],"scale":[2,2,2]}},{{"mesh":0,"translation":[1,0,0],"name":"n"}}],
            "meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}},"indices":1}}]}}],
            "accessors":[{{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3","min":[0,0,0],"max":[1,1,0]}},
            {{"bufferView":1,"componentType":5121,"count":3,"type":"SCALAR"}}],
            "bufferViews":[{{"buffer":0,"byteLength":36}},{{"buffer":0,"byteOffset":36,"byteLength":3}}],
            "buffers":[{{"byteLength":40{buffer}}}]}}"#
        )
    };
    let data = "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAAAAECAA==";
    let text = json(&format!(r#","uri":"data:application/octet-stream;base64,{data}""#));
    let mut part = json("").into_bytes();
    part.resize(part.len().next_multiple_of(4), b' ');
    let corners = [0.0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    let mut blob: Vec<u8> = corners.iter().flat_map(|x| x.to_le_bytes()).collect();
    blob.extend([0, 1, 2, 0]);
    let size = |n: usize| (n as u32).to_le_bytes();
    let mut binary = [&b"glTF"[..], &size(2), &size(12 + 16 + part.len() + blob.len())].concat();
    binary.extend([&size(part.len()), &b"JSON"[..], &part].concat());
    binary.extend([&size(blob.len()), &b"BIN\0"[..], &blob].concat());
    vec![text.into_bytes(), binary]
}

pub(crate) fn frames() -> Vec<Vec<u8>> {
    let world = world(methods()[0]);
    vec![ply::encode(&world.frame(&[])), ply::encode(&world.frame(&["velocity", "stress"]))]
}

pub(crate) fn surfaces() -> Vec<Vec<u8>> {
    let plain = SurfaceTable {
        time: 0.5,
        position: vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        normal: vec![[0.0, 0.0, 1.0]; 4],
        face_sizes: vec![3, 4],
        corners: vec![0, 1, 2, 0, 1, 2, 3],
        ..SurfaceTable::default()
    };
    let full = SurfaceTable {
        velocity: vec![[1.0, 2.0, 3.0]; 4],
        uvs: vec![[0.5, 0.25]; 7],
        corner_normals: vec![[0.0, 1.0, 0.0]; 7],
        face_groups: vec![0, 1],
        group_names: vec!["a".into(), "b c".into()],
        ..plain.clone()
    };
    vec![plain.encode(&[]), full.encode(&["comment".to_owned()])]
}

pub(crate) fn checkpoints() -> Vec<Vec<u8>> {
    checkpoint_of(methods()[0]).into_iter().collect()
}

fn checkpoint_of(method: &str) -> Option<Vec<u8>> {
    let mut world = world(method);
    let header =
        CheckpointHeader { engine_version: "0".into(), scene_digest: ContentDigest::of(b"scene"), frame: 3 };
    let mut bytes = Vec::new();
    write_checkpoint(&mut world, &header, &mut bytes).ok().map(|()| bytes)
}

/// Returns the header of a checkpoint and its state, uncompressed.
fn checkpoint_parts(method: &str) -> Option<(Vec<u8>, Vec<u8>)> {
    const MAGIC_OF_ZSTD: [u8; 4] = 0xfd2f_b528_u32.to_le_bytes();
    const DIGEST_SIZE: usize = 16;
    let file = checkpoint_of(method)?;
    let start = file.windows(4).position(|bytes| bytes == MAGIC_OF_ZSTD)?;
    let compressed = file.get(start..file.len() - DIGEST_SIZE)?;
    Some((file[..start].to_vec(), zstd::stream::decode_all(compressed).ok()?))
}

/// Returns the header of a checkpoint.
pub(crate) fn checkpoint_header() -> &'static [u8] {
    static HEADER: OnceLock<Vec<u8>> = OnceLock::new();
    HEADER.get_or_init(|| checkpoint_parts(methods()[0]).unwrap_or_default().0)
}

/// Returns states of all methods, each behind the number of its method.
pub(crate) fn states() -> Vec<Vec<u8>> {
    let numbered = |(k, method): (usize, &&str)| Some([vec![k as u8], checkpoint_parts(method)?.1].concat());
    methods().iter().enumerate().filter_map(numbered).collect()
}

pub(crate) fn run_infos() -> Vec<Vec<u8>> {
    let body = BodyInfo {
        name: "block".into(),
        method: methods()[0].into(),
        material: "clay".into(),
        n_particles: 8,
        surface: None,
    };
    let running = RunInfo {
        version: "0".into(),
        scene_digest: ContentDigest::of(b"scene"),
        title: "seed".into(),
        methods: vec![methods()[0].into()],
        bodies: vec![body],
        columns: vec!["velocity".into()],
        frame_rate: 30.0,
        n_frames: 3,
        frame_times: vec![0.0, 0.03],
        frame_particles: vec![8, 8],
        status: Status::Running,
        n_threads: 2,
        tally: Tally { stages: vec![("forces".into(), 0.5)], n_steps: 9, ..Tally::default() },
    };
    let failed = RunInfo { status: Status::Failed("why".into()), ..running.clone() };
    texts(&[&running.to_json(), &failed.to_json()])
}

pub(crate) fn ledgers() -> Vec<Vec<u8>> {
    let path = std::env::temp_dir().join(format!("phyxel_fuzz_ledger_{}.csv", std::process::id()));
    let ledger = world(methods()[0]).ledger();
    let write = || LedgerWriter::create(&path)?.append(&ledger).and(Ok(()));
    let bytes = write().ok().and_then(|()| std::fs::read(&path).ok());
    let _ = std::fs::remove_file(&path);
    bytes.into_iter().collect()
}

pub(crate) fn messages() -> Vec<Vec<u8>> {
    texts(&[
        r#"{"type":"frame","index":12,"columns":["speed"]}"#,
        r#"{"type":"set","body":"a","key":"viscosity","value":2e5}"#,
        r#"{"type":"drag","row":7,"frame":3,"to":[1,2,3.5]}"#,
        r#"{"type":"gravity","value":[0,-9.81,0]}"#,
    ])
}

fn texts(all: &[&str]) -> Vec<Vec<u8>> {
    all.iter().map(|text| text.as_bytes().to_vec()).collect()
}
