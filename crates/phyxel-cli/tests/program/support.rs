//! Support for the tests: folders, scenes and calls of the program.

use phyxel::frame::{Frame, FrameColumn};
use phyxel::methods::built_methods;
use phyxel_io::results::{ParticleColumn, ParticleTable, ResultFolder, RunInfo};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Folder for one test, removed at its end.
pub(crate) struct Workplace(PathBuf);

impl Workplace {
    /// Creates a new folder with a scene in it; see [`with_any_method`].
    pub(crate) fn new(scene: &str) -> Self {
        static N_MADE: AtomicUsize = AtomicUsize::new(0);
        let number = N_MADE.fetch_add(1, Ordering::SeqCst);
        let path = std::env::temp_dir().join(format!("phyxel_program_{}_{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        let place = Self(path);
        place.add_scene("scene.toml", scene);
        place
    }

    /// Writes a scene into the folder; see [`with_any_method`].
    pub(crate) fn add_scene(&self, name: &str, scene: &str) {
        std::fs::write(self.path(name), with_any_method(scene)).unwrap();
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_phyxel"));
        command.args(arguments).current_dir(&self.0).stdin(Stdio::null());
        command
    }

    pub(crate) fn phyxel(&self, arguments: &[&str]) -> Ended {
        Ended::from(self.command(arguments).output().unwrap())
    }

    /// Runs the program and expects success.
    pub(crate) fn succeed(&self, arguments: &[&str]) -> Ended {
        let ended = self.phyxel(arguments);
        assert_eq!(ended.code, Some(0), "{arguments:?}: {}", ended.stderr);
        ended
    }

    pub(crate) fn info(&self, folder: &str) -> RunInfo {
        ResultFolder::open(&self.path(folder)).unwrap().run_info().unwrap()
    }
}

impl Drop for Workplace {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Result of a finished program.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let ended =
            Self { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) };
        assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
        ended
    }
}

/// Adds copies of the last frame to a result, which make a long run of a short one.
pub(crate) fn repeat_last_frame(folder: &Path, n_frames: usize) {
    let folder = ResultFolder::open(folder).unwrap();
    let last = *folder.frame_numbers().unwrap().last().unwrap();
    let frame = frame_of(folder.read_frame(last).unwrap());
    (last + 1..n_frames).for_each(|number| folder.write_frame(number, &frame).unwrap());
}

/// Returns a frame that was read, to be written again.
pub(crate) fn frame_of(table: ParticleTable) -> Frame {
    let ParticleTable { time, position, id, body, radius, columns, .. } = table;
    let column = |column: ParticleColumn| {
        let ParticleColumn { name, unit, n_components, values } = column;
        FrameColumn { name, unit: unit.leak(), n_components, values }
    };
    let columns = columns.into_iter().map(column).collect();
    Frame { time, position, id, body, radius, columns, point_sets: Vec::new() }
}

/// Returns all frames and the ledger: the files that must have the same bytes.
pub(crate) fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut contents = BTreeMap::from([("ledger".into(), std::fs::read(folder.join("ledger.csv")).unwrap())]);
    for entry in std::fs::read_dir(folder.join("frames")).unwrap().map(Result::unwrap) {
        let name = entry.file_name().to_string_lossy().into_owned();
        contents.insert(name, std::fs::read(entry.path()).unwrap());
    }
    contents
}

/// Compares two results; fails on the first difference, without printing the bytes.
pub(crate) fn assert_same_contents(left: &Path, right: &Path) {
    let (left, right) = (contents(left), contents(right));
    assert_eq!(left.keys().collect::<Vec<_>>(), right.keys().collect::<Vec<_>>());
    for (name, bytes) in &left {
        assert!(*bytes == right[name], "{name} differs");
    }
}

/// Returns a scene with METHOD replaced by the first method that is built.
pub(crate) fn with_any_method(scene: &str) -> String {
    scene.replace("METHOD", built_methods().next().unwrap().key)
}

/// Returns a method that cannot flow, if there is one.
pub(crate) fn elastic_method() -> Option<&'static str> {
    built_methods().find(|entry| entry.abilities.flows.is_empty()).map(|entry| entry.key)
}

/// Returns the last method that can flow.
pub(crate) fn flowing_method() -> &'static str {
    let flowing = built_methods().filter(|entry| !entry.abilities.flows.is_empty());
    flowing.last().expect("a method that can flow").key
}

/// Scene of a soft rotating block that falls onto a floor: contact, friction and viscosity all act. METHOD stands for
/// the key of a method.
pub(crate) const BLOCK: &str = r#"
title = "Block"
method = "METHOD"
duration = "0.4 s"
frame_rate = 100

[materials.jelly]
density = 1000
youngs_modulus = "50 kPa"
poisson_ratio = 0.3
viscosity = "2 Pa.s"

[[bodies]]
name = "block"
material = "jelly"
shape.box = { size = [0.5, 0.5, 0.5] }
rotation = { axis = [0, 0, 1], angle = "10 deg" }
position = [0, 0.35, 0]
spacing = "10 cm"
velocity = [0.5, -2, 0]
angular_velocity = [0, 1, 0]

[[obstacles]]
name = "floor"
shape.half_space = { normal = [0, 1, 0] }
friction = 0.4

[output]
columns = ["velocity", "stress"]
checkpoint_every = 7
"#;
