//! Tests of result folders as the page plays them.

use super::packet::{Packet, assert_near};
use phyxel::frame::{Frame, FrameColumn};
use phyxel::methods::built_methods;
use phyxel_io::results::{
    BodyInfo, ContentDigest, LedgerTable, ResultFolder, RunInfo, Status, SurfaceKind, SurfaceTable, Tally,
    ply,
};
use phyxel_io::viewer::{PageFrame, Replay, ViewerError, particle_of_frame};
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A scene; METHOD stands for the key of a method.
const SCENE: &str = r#"
title = "Test"
method = "METHOD"
duration = "1 s"
[materials.jelly]
density = 1000
youngs_modulus = "1 kPa"
poisson_ratio = 0.3
[[bodies]]
name = "a"
material = "jelly"
shape.box = { size = [1, 1, 1] }
spacing = 0.5
[[obstacles]]
name = "floor"
shape.half_space = { normal = [0, 1, 0] }
position = [0, -2, 0]
[[obstacles]]
name = "slope"
shape.half_space = { normal = [1, 1, 0] }
[[obstacles]]
name = "ball"
shape.sphere = { radius = 0.5 }
motion = [ { time = 0 }, { time = "1 s", translation = [0, 3, 0], rotation = { axis = [0, 1, 0], angle = "90 deg" } } ]
[[obstacles]]
name = "room"
shape.box = { size = [9, 9, 9] }
inside = true
"#;

/// A result folder of a single test, removed when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(n_frames: usize) -> Self {
        static N_MADE: AtomicUsize = AtomicUsize::new(0);
        let number = N_MADE.fetch_add(1, Ordering::SeqCst);
        let path = std::env::temp_dir().join(format!("phyxel_viewer_{}_{number}", std::process::id()));
        fs::create_dir_all(path.join("frames")).unwrap();
        let scene = SCENE.replace("METHOD", built_methods().next().unwrap().key);
        fs::create_dir_all(path.join("checkpoint")).unwrap();
        fs::write(path.join("scene.toml"), &scene).unwrap();
        let scene_digest = ContentDigest::of(scene.as_bytes());
        ResultFolder::open(&path).unwrap().write_run_info(&RunInfo { scene_digest, ..info() }).unwrap();
        let folder = Self(path);
        (0..n_frames).for_each(|number| folder.add_frame(number));
        folder
    }

    fn add_frame(&self, number: usize) {
        ResultFolder::open(&self.0).unwrap().write_frame(number, &frame(number)).unwrap();
        let columns = ["time", "time_step_reason", "kinetic_energy", "elastic_energy", "floor_force_y"];
        let cells = |row: usize| {
            [format!("{row}.0"), "stiffness, here".into(), format!("{row}.5"), "".into(), "-3.0".into()]
        };
        let rows = (0..=number).map(|row| cells(row).to_vec()).collect();
        let ledger = LedgerTable { columns: columns.map(str::to_owned).to_vec(), rows };
        fs::write(self.0.join("ledger.csv"), ledger.to_text()).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn info() -> RunInfo {
    let body = |name: &str, surface| BodyInfo {
        name: name.into(),
        method: "some".into(),
        material: "jelly".into(),
        n_particles: 2,
        surface,
    };
    RunInfo {
        version: "0.1.0".into(),
        scene_digest: ContentDigest::of(b""),
        title: "Test".into(),
        methods: vec!["some".into()],
        bodies: vec![body("a", None), body("b", Some(SurfaceKind::Mesh))],
        columns: vec![],
        frame_rate: 24.0,
        n_frames: 4,
        frame_times: vec![],
        frame_particles: vec![],
        status: Status::Running,
        n_threads: 1,
        tally: Tally::default(),
    }
}

fn frame(number: usize) -> Frame {
    let shift = number as f32;
    let column = |name: &str, unit, n_components, values| FrameColumn {
        name: name.into(),
        unit,
        n_components,
        values,
    };
    Frame {
        time: f64::from(shift) * 0.25,
        position: vec![[0.1 + shift, 0.2, 0.3], [1.1, 1.2, -1.3], [0.0, 0.5, 0.1 * shift]],
        id: vec![3, 5, 8],
        body: vec![0, 1, 0],
        radius: vec![0.1, 0.2, 0.3],
        columns: vec![
            column("velocity", "m/s", 3, vec![3.0, 4.0, 0.0, 0.0, 0.0, -2.0, 1.0, 2.0, 2.0 + shift]),
            column("stress", "Pa", 1, vec![f32::NAN, -7.5, 1e9 + shift]),
        ],
        point_sets: Vec::new(),
    }
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

#[test]
fn packets_say_what_the_frames_say_with_the_asked_columns_only() {
    let folder = Folder::new(3);
    let replay = Replay::open(&folder.0).unwrap();
    assert_eq!(replay.n_frames(), 3);
    let packet = Packet::read(&replay.packet(2, &names(&["velocity"])).unwrap());
    let truth = frame(2);
    assert_eq!((packet.header["frame"].as_u64(), packet.header["particles"].as_u64()), (Some(2), Some(3)));
    assert_eq!(packet.header["time"].as_f64(), Some(0.5));
    assert_eq!(packet.entry("position", None).unwrap()["type"], "f32");
    assert_near(packet.array("position", None), truth.position.as_flattened());
    assert_near(packet.array("radius", None), &truth.radius);
    assert_eq!(packet.array("body", None).0, [0.0, 1.0, 0.0]);
    assert_near(packet.array("column", Some("velocity")), &[5.0, 2.0, 21f32.sqrt()]);
    assert!(packet.entry("column", Some("stress")).is_none());
    let bounds = &packet.header["bounds"];
    assert_eq!((bounds[0][2].as_f64().unwrap() as f32, bounds[1][0].as_f64().unwrap() as f32), (-1.3, 2.1));
    let stress = Packet::read(&replay.packet(0, &names(&["stress"])).unwrap());
    assert_near(stress.array("column", Some("stress")), &[f32::NAN, -7.5, 1e9]);
    assert_eq!(stress.entry("column", Some("stress")).unwrap()["range"][0], -7.5);
}

#[test]
fn questions_without_an_answer_are_refused() {
    let folder = Folder::new(1);
    let replay = Replay::open(&folder.0).unwrap();
    assert!(matches!(replay.packet(1, &[]), Err(ViewerError::NoSuchFrame { index: 1, n_frames: 1 })));
    let error = replay.packet(0, &names(&["temperature"])).unwrap_err().to_string();
    assert!(error.contains("temperature") && error.contains("[output]"), "{error}");
    assert!(matches!(replay.particle(0, 3), Err(ViewerError::NoSuchRow { row: 3, n_rows: 3 })));
    assert!(matches!(Replay::open(&Folder::new(0).0), Err(ViewerError::NoFrames(_))));
    fs::write(folder.0.join("frames/particles_0000.ply"), &ply::encode(&frame(0))[..200]).unwrap();
    assert!(replay.packet(0, &[]).is_err());
    assert!(Replay::open(&std::env::temp_dir()).unwrap_err().to_string().contains("no result folder"));
}

#[test]
fn particles_answer_with_all_their_numbers() {
    let folder = Folder::new(2);
    let answer = Replay::open(&folder.0).unwrap().particle(1, 1).unwrap();
    assert_eq!((answer["id"].as_u64(), answer["body"].as_str()), (Some(5), Some("b")));
    let names: Vec<&str> =
        answer["values"].as_array().unwrap().iter().map(|v| v["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["position", "radius", "velocity", "stress"]);
    assert_eq!(answer["values"][2]["value"].as_array().unwrap().len(), 3);
    assert_eq!(answer["values"][3]["value"][0].as_f64(), Some(-7.5));
    let live = particle_of_frame(1, 1, &frame(1), &["a".into(), "b".into()]).unwrap();
    assert_eq!(live, answer, "a live run answers like a replay");
    assert!(particle_of_frame(1, 9, &frame(1), &[]).is_none());
}

#[test]
fn a_live_frame_makes_the_same_packet_as_a_recorded_one() {
    let folder = Folder::new(2);
    let columns = names(&["velocity", "stress"]);
    let recorded = Packet::read(&Replay::open(&folder.0).unwrap().packet(1, &columns).unwrap());
    let frame = frame(1);
    let live = Packet::read(&PageFrame::of_frame(1, &frame, &columns).encode());
    assert_eq!(live.header["arrays"], recorded.header["arrays"]);
    for column in ["velocity", "stress"] {
        let bits = |packet: &Packet| {
            packet.array("column", Some(column)).0.iter().map(|x| x.to_bits()).collect::<Vec<_>>()
        };
        assert_eq!(bits(&live), bits(&recorded));
    }
}

#[test]
fn the_introduction_has_bodies_columns_ledger_and_obstacles() {
    let folder = Folder::new(3);
    let info = Replay::open(&folder.0).unwrap().info();
    assert_eq!((info["type"].as_str(), info["mode"].as_str()), (Some("info"), Some("replay")));
    assert_eq!((info["frames"].as_u64(), info["frame_rate"].as_f64()), (Some(3), Some(24.0)));
    assert_eq!(
        (info["bodies"][1]["name"].as_str(), info["bodies"][1]["surface"].as_str()),
        (Some("b"), Some("mesh"))
    );
    assert_eq!(
        (info["columns"][0]["name"].as_str(), info["columns"][0]["unit"].as_str()),
        (Some("velocity"), Some("m/s"))
    );
    assert_eq!(info["columns"][0]["range"][0].as_f64(), Some(2.0), "over the frames");
    let high = info["columns"][0]["range"][1].as_f64().unwrap();
    assert!((high - 5.0).abs() < 1e-6, "the longest of all frames is 5: {high}");
    let ledger = &info["ledger"];
    let heads: Vec<&str> =
        ledger["columns"].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap()).collect();
    assert_eq!(heads, ["time", "kinetic_energy", "elastic_energy", "floor_force_y"], "words are no columns");
    assert_eq!(ledger["columns"][3]["unit"], "N");
    assert_eq!(ledger["rows"][2].to_string(), "[2.0,2.5,null,-3.0]");
    let obstacles = &info["obstacles"];
    assert_eq!(
        (obstacles[0]["kind"].as_str(), obstacles[0]["height"].as_f64()),
        (Some("ground"), Some(-2.0))
    );
    assert_eq!(obstacles[1]["kind"], "plane");
    assert!((obstacles[1]["normal"][0].as_f64().unwrap() - 0.5f64.sqrt()).abs() < 1e-12);
    assert_eq!(
        (obstacles[2]["kind"].as_str(), obstacles[2]["inside"].as_bool()),
        (Some("mesh"), Some(false))
    );
    assert_eq!((obstacles[3]["kind"].as_str(), obstacles[3]["inside"].as_bool()), (Some("mesh"), Some(true)));
    let vertices: Vec<f64> =
        obstacles[2]["vertices"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
    assert!(vertices.chunks(3).all(|v| (v.iter().map(|x| x * x).sum::<f64>().sqrt() - 0.5).abs() < 1e-6));
    let low = &info["bounds"][0];
    assert!((low[0].as_f64().unwrap() + 0.3).abs() < 1e-6, "particles have radii: {low}");
}

#[test]
fn obstacles_are_where_they_are_at_that_time() {
    let folder = Folder::new(3);
    let replay = Replay::open(&folder.0).unwrap();
    let poses = |index: usize| Packet::read(&replay.packet(index, &[]).unwrap()).header["obstacles"].clone();
    let identity = "[1.0,0.0,0.0,0.0,0.0,1.0,0.0,0.0,0.0,0.0,1.0,0.0,0.0,0.0,0.0,1.0]";
    assert_eq!((poses(0).as_array().unwrap().len(), poses(2)[0].to_string()), (4, identity.to_owned()));
    let half_way: Vec<f64> = poses(2)[2].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
    // at 0.5 s: half of the way up, rotated by 45 degrees about y, so that x goes to (c, 0, -c)
    let c = 0.5f64.sqrt();
    for (k, expected) in [(0, c), (1, 0.0), (2, -c), (8, c), (12, 0.0), (13, 1.5), (15, 1.0)] {
        assert!((half_way[k] - expected).abs() < 1e-6, "element {k}: {half_way:?}");
    }
}

#[test]
fn surfaces_are_cut_into_triangles() {
    let folder = Folder::new(2);
    let table = SurfaceTable {
        position: vec![[0.0; 3], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]],
        normal: vec![[0.0, 0.0, 1.0]; 4],
        face_sizes: vec![4, 3],
        corners: vec![0, 1, 2, 3, 2, 1, 0],
        ..SurfaceTable::default()
    };
    ResultFolder::open(&folder.0).unwrap().write_surface("b", 1, &table).unwrap();
    let replay = Replay::open(&folder.0).unwrap();
    let without = Packet::read(&replay.packet(0, &[]).unwrap());
    assert_eq!(without.header["surfaces"].as_array().unwrap().len(), 0, "not written yet");
    let packet = Packet::read(&replay.packet(1, &[]).unwrap());
    assert_eq!(packet.header["surfaces"][0]["body"], 1);
    assert_eq!(
        packet.numbers(packet.of_surface(0, "index")).0,
        [0.0, 1.0, 2.0, 0.0, 2.0, 3.0, 2.0, 1.0, 0.0]
    );
    assert_near(packet.numbers(packet.of_surface(0, "position")), table.position.as_flattened());
    assert_near(packet.numbers(packet.of_surface(0, "normal")), table.normal.as_flattened());
}

#[test]
fn a_growing_folder_tells_its_news() {
    let folder = Folder::new(1);
    let mut replay = Replay::open(&folder.0).unwrap();
    assert!(replay.refresh().unwrap().is_none());
    folder.add_frame(1);
    folder.add_frame(2);
    let news = replay.refresh().unwrap().unwrap();
    assert_eq!((news["type"].as_str(), news["frames"].as_u64()), (Some("frames"), Some(3)));
    assert_eq!((news["ledger_first"].as_u64(), news["ledger_rows"].as_array().unwrap().len()), (Some(1), 2));
    assert!(replay.packet(2, &[]).is_ok());
    fs::remove_file(folder.0.join("ledger.csv")).unwrap();
    let notes = replay.info()["notes"].to_string();
    assert!(notes.contains("no plots"), "a lost ledger is no reason to see nothing: {notes}");
}

#[test]
fn a_few_extreme_particles_do_not_set_the_range_of_colours() {
    let mut values: Vec<f32> = (0..2000).map(|k| k as f32 * 1e-3).collect();
    values[500] = 1e6;
    let frame = Frame {
        position: vec![[0.0; 3]; 2000],
        id: (0..2000).collect(),
        body: vec![0; 2000],
        radius: vec![0.1; 2000],
        columns: vec![FrameColumn { name: "stress".into(), unit: "Pa", n_components: 1, values }],
        ..Frame::default()
    };
    let packet = Packet::read(&PageFrame::of_frame(0, &frame, &names(&["stress"])).encode());
    let entry = packet.entry("column", Some("stress")).unwrap();
    assert_eq!(entry["range"][1].as_f64(), Some(1e6));
    // the extreme particle may extend the bulk of the values by at most one cell of the histogram
    assert!(entry["bulk"][1].as_f64().unwrap() <= 2000.0, "{entry}");
}
