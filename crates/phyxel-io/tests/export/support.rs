//! Functions that create results by hand and export them.

use phyxel::frame::{Frame, FrameColumn};
use phyxel_io::export::{ExportError, ExportFormat, FrameSelection, Geometry, Written, export};
use phyxel_io::results::{
    BodyInfo, ContentDigest, LedgerTable, Overwrite, ResultFolder, RunInfo, Status, SurfaceKind,
    SurfaceTable, Tally,
};
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

pub(crate) const FRAME_RATE: f64 = 24.0;
/// Names with characters that are difficult for the formats.
pub(crate) const BODIES: [&str; 2] = ["left arm", "<ball> & \"Söhne\""];

/// A folder of a single test, removed when the test ends.
pub(crate) struct Workplace(PathBuf);

impl Workplace {
    pub(crate) fn new() -> Self {
        static N_MADE: AtomicUsize = AtomicUsize::new(0);
        let number = N_MADE.fetch_add(1, Ordering::SeqCst);
        let path = std::env::temp_dir().join(format!("phyxel_export_{}_{number}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Returns the names of all files and folders in the workplace.
    pub(crate) fn names(&self) -> Vec<String> {
        names_in(&self.0)
    }

    /// Creates a result with these frames.
    pub(crate) fn result(&self, frames: &[Frame]) -> ResultFolder {
        let path = self.path("result");
        fs::create_dir_all(path.join("frames")).unwrap();
        fs::write(path.join("scene.toml"), "").unwrap();
        fs::create_dir_all(path.join("checkpoint")).unwrap();
        let folder = ResultFolder::open(&path).unwrap();
        folder.write_run_info(&info(frames)).unwrap();
        for (number, frame) in frames.iter().enumerate() {
            folder.write_frame(number, frame).unwrap();
        }
        let rows = frames.iter().map(|frame| vec![format!("{:?}", frame.time), frame.id.len().to_string()]);
        let ledger = LedgerTable { columns: vec!["time".into(), "particles".into()], rows: rows.collect() };
        fs::write(path.join("ledger.csv"), ledger.to_text()).unwrap();
        folder
    }

    /// Creates a result whose first body has a mesh as its surface, with one surface per frame.
    pub(crate) fn result_with_surfaces(&self, frames: &[Frame], surfaces: &[SurfaceTable]) -> ResultFolder {
        let folder = self.result(frames);
        let mut info = folder.run_info().unwrap();
        info.bodies[0].surface = Some(SurfaceKind::Mesh);
        folder.write_run_info(&info).unwrap();
        for (number, surface) in surfaces.iter().enumerate() {
            folder.write_surface(BODIES[0], number, surface).unwrap();
        }
        folder
    }

    /// Exports all frames with surfaces, expects success and returns the surfaces.
    pub(crate) fn export_surfaces(&self, key: &str, geometry: Geometry, name: &str) -> Vec<SurfaceTable> {
        let (frames, surfaces) = (steady_frames(), surfaces());
        let folder = self.result_with_surfaces(&frames, &surfaces);
        let selection =
            FrameSelection::open(&folder, "..".parse().unwrap()).unwrap().with_geometry(geometry).unwrap();
        write(&selection, key, &self.path(name), Overwrite::No).unwrap();
        surfaces
    }

    /// Exports some frames and expects success.
    pub(crate) fn export(&self, frames: &[Frame], key: &str, range: &str, name: &str) -> Written {
        let folder = self.result(frames);
        let selection = FrameSelection::open(&folder, range.parse().unwrap()).unwrap();
        write(&selection, key, &self.path(name), Overwrite::No).unwrap()
    }
}

impl Drop for Workplace {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

pub(crate) fn write(
    selection: &FrameSelection<'_>,
    key: &str,
    path: &Path,
    overwrite: Overwrite,
) -> Result<Written, ExportError> {
    let format = ExportFormat::find(key).unwrap();
    export(selection, format, path, overwrite, &mut |_| ControlFlow::Continue(()))
}

fn info(frames: &[Frame]) -> RunInfo {
    let body = |name: &str| BodyInfo {
        name: name.into(),
        method: "some".into(),
        material: "jelly".into(),
        n_particles: 3,
        surface: None,
    };
    RunInfo {
        version: "0.1.0".into(),
        scene_digest: ContentDigest::of(b""),
        title: "A \"test\"".into(),
        methods: vec!["some".into()],
        bodies: BODIES.map(body).to_vec(),
        columns: vec![],
        frame_rate: FRAME_RATE,
        n_frames: frames.len(),
        frame_times: frames.iter().map(|frame| frame.time).collect(),
        frame_particles: frames.iter().map(|frame| frame.id.len()).collect(),
        status: Status::Running,
        n_threads: 1,
        tally: Tally::default(),
    }
}

/// Returns four surfaces: a square and a triangle that share an edge, with all data that a surface can have. The last
/// one has no square.
pub(crate) fn surfaces() -> Vec<SurfaceTable> {
    let one = |number: usize| {
        let shift = number as f32 / 3.0;
        SurfaceTable {
            time: number as f64 / FRAME_RATE,
            position: [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [2.0, 0.5]]
                .map(|[x, y]| [x + shift, y, shift])
                .to_vec(),
            normal: vec![[0.0, 0.0, 1.0]; 5],
            velocity: (0..5).map(|k| [k as f32, shift, -1.0]).collect(),
            face_sizes: vec![4, 3],
            corners: vec![0, 1, 2, 3, 1, 4, 2],
            uvs: (0..7).map(|k| [k as f32 / 7.0, 1.0 - k as f32 / 9.0]).collect(),
            corner_normals: (0..7).map(|k| if k < 4 { [0.0, 0.0, 1.0] } else { [0.6, 0.0, 0.8] }).collect(),
            face_groups: vec![1, 0],
            group_names: vec!["wing tip".into(), "front".into()],
        }
    };
    let mut all: Vec<SurfaceTable> = (0..4).map(one).collect();
    let last = &mut all[3];
    last.face_sizes.remove(0);
    last.face_groups.remove(0);
    last.corners.drain(..4);
    last.uvs.drain(..4);
    last.corner_normals.drain(..4);
    all
}

/// Returns a frame with particles of these ids; odd ids belong to the second body. All values differ.
pub(crate) fn frame(number: usize, ids: &[u32]) -> Frame {
    let value = |id: u32, offset: f32| 0.1 * id as f32 + number as f32 / 3.0 + offset;
    let scalars = |offset: f32| ids.iter().map(move |&id| value(id, offset)).collect::<Vec<f32>>();
    let vectors = |offset: f32| -> Vec<f32> {
        let vector = |&id: &u32| [value(id, offset), -value(id, offset), value(id, offset) * 1e-9];
        ids.iter().flat_map(vector).collect()
    };
    let column = |name: &str, unit, n_components, values| FrameColumn {
        name: name.into(),
        unit,
        n_components,
        values,
    };
    Frame {
        time: number as f64 / FRAME_RATE,
        position: vectors(1.0).chunks_exact(3).map(|x| [x[0], x[1], x[2]]).collect(),
        id: ids.to_vec(),
        body: ids.iter().map(|id| id % 2).collect(),
        radius: ids.iter().map(|&id| 0.01 * (1 + id) as f32).collect(),
        columns: vec![
            column("velocity", "m/s", 3, vectors(2.0)),
            column("stress", "Pa", 1, scalars(3.0)),
            column("embedded_position", "m", 3, vectors(4.0)),
        ],
        point_sets: Vec::new(),
    }
}

/// Returns frames with the same particles.
pub(crate) fn steady_frames() -> Vec<Frame> {
    (0..4).map(|number| frame(number, &[0, 1, 2, 5, 8])).collect()
}

/// Returns frames between which particles split and merge: also at a constant number, and until a body has none.
pub(crate) fn changing_frames() -> Vec<Frame> {
    let ids: [&[u32]; 4] = [&[0, 1, 2, 5], &[0, 1, 2, 6], &[0, 1, 2, 3, 6, 7], &[0, 2, 6]];
    ids.iter().enumerate().map(|(number, ids)| frame(number, ids)).collect()
}

/// Returns the rows of a body.
pub(crate) fn rows_of(frame: &Frame, body: u32) -> Vec<usize> {
    (0..frame.id.len()).filter(|&row| frame.body[row] == body).collect()
}

/// Returns the values of a column at some rows.
pub(crate) fn column(frame: &Frame, name: &str, rows: &[usize]) -> Vec<f32> {
    let column = frame.columns.iter().find(|column| column.name == name).unwrap();
    let n = column.n_components;
    rows.iter().flat_map(|row| column.values[row * n..(row + 1) * n].to_vec()).collect()
}

pub(crate) fn all_rows(frame: &Frame) -> Vec<usize> {
    (0..frame.id.len()).collect()
}

pub(crate) fn positions(frame: &Frame, rows: &[usize]) -> Vec<f32> {
    rows.iter().flat_map(|&row| frame.position[row]).collect()
}
