//! The result folder of a run: creating it, opening it, and cutting it back to its checkpoint.

use super::atomic::{ASIDE, Aside, Durability, write_atomically};
use super::{
    BundledScene, Checkpoint, CheckpointHeader, ContentDigest, LedgerTable, LedgerWriter, ParticleTable,
    ResultError, RunInfo, SurfaceTable, ply, write_checkpoint,
};
use phyxel::frame::Frame;
use phyxel::world::World;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

const RUN_INFO: &str = "run.json";
const SCENE: &str = "scene.toml";
const LEDGER: &str = "ledger.csv";
const FRAMES: &str = "frames";
const CHECKPOINTS: &str = "checkpoint";
const MESHES: &str = "meshes";
const LOCK: &str = ".lock";
/// Files that a run writes; together with `WRITTEN_FOLDERS`, all that is removed when another run replaces it.
const WRITTEN_FILES: [&str; 4] = [RUN_INFO, SCENE, LEDGER, LOCK];
const WRITTEN_FOLDERS: [&str; 3] = [FRAMES, CHECKPOINTS, MESHES];

/// Selects how the result of an earlier run is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overwrite {
    /// The earlier result is kept and the new run refused.
    No,
    /// The earlier result is removed.
    Yes,
}

/// A result folder; if opened for writing, it is locked until dropped.
#[derive(Debug)]
pub struct ResultFolder {
    path: PathBuf,
    /// Lock file, held open and never read.
    _lock: Option<File>,
}

impl ResultFolder {
    /// Checks that a new run may write to `path`; nothing is changed.
    ///
    /// # Errors
    /// When `path` holds a result that must not be overwritten, or something that is no result.
    pub fn check_free(path: &Path, overwrite: Overwrite) -> Result<(), ResultError> {
        let entries = match fs::read_dir(path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {
                return Err(ResultError::NotAResult(path.to_owned()));
            }
            Err(error) => return Err(ResultError::io("read", path, error)),
        };
        // a folder with only the lock file remains of a run that ended before it wrote anything
        let is_empty = entries.flatten().all(|entry| entry.file_name() == LOCK);
        match (is_empty, looks_like_a_result(path), overwrite) {
            (true, _, _) | (false, true, Overwrite::Yes) => Ok(()),
            (false, true, Overwrite::No) => Err(ResultError::Exists(path.to_owned())),
            (false, false, _) => Err(ResultError::NotAResult(path.to_owned())),
        }
    }

    /// Creates the folder of a new run, with its scene and meshes.
    ///
    /// # Errors
    /// As [`ResultFolder::check_free`], or when another run writes to the folder, or a file operation fails.
    pub fn create(path: &Path, overwrite: Overwrite, scene: &BundledScene) -> Result<Self, ResultError> {
        Self::check_free(path, overwrite)?;
        let make =
            |path: &Path| fs::create_dir_all(path).map_err(|source| ResultError::io("make", path, source));
        make(path)?;
        let folder = Self { path: path.to_owned(), _lock: lock(path)? };
        remove_result(path)?;
        make(&path.join(FRAMES))?;
        make(&path.join(CHECKPOINTS))?;
        if !scene.meshes.is_empty() {
            make(&path.join(MESHES))?;
        }
        for mesh in &scene.meshes {
            write_atomically(&path.join(&mesh.name), &mesh.bytes, Durability::Process)?;
        }
        write_atomically(&path.join(SCENE), scene.text.as_bytes(), Durability::Process)?;
        Ok(folder)
    }

    /// Removes the files that a run wrote, and the folder if nothing else is in it.
    ///
    /// # Errors
    /// When the folder is no result, another run writes to it, or a file operation fails.
    pub fn remove(path: &Path) -> Result<(), ResultError> {
        let folder = Self::open_to_write(path)?;
        remove_result(path)?;
        drop(folder);
        remove_file(&path.join(LOCK))?;
        // fails if the user put other files there, which stay
        let _ = fs::remove_dir(path);
        Ok(())
    }

    /// Opens a result to continue its run.
    ///
    /// # Errors
    /// When the folder is no result, or another run writes to it.
    pub fn open_to_write(path: &Path) -> Result<Self, ResultError> {
        let folder = Self::open(path)?;
        Ok(Self { _lock: lock(path)?, ..folder })
    }

    /// Opens a result for reading, also while a run writes it.
    ///
    /// # Errors
    /// When the folder is no result.
    pub fn open(path: &Path) -> Result<Self, ResultError> {
        let found = fs::metadata(path).map_err(|source| ResultError::io("open", path, source))?;
        if !found.is_dir() || !looks_like_a_result(path) {
            return Err(ResultError::NotAResult(path.to_owned()));
        }
        Ok(Self { path: path.to_owned(), _lock: None })
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the text of the scene as it was run.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn scene_text(&self) -> Result<String, ResultError> {
        self.read_text(SCENE)
    }

    /// Returns the path of the scene as it was run.
    pub fn scene_path(&self) -> PathBuf {
        self.path.join(SCENE)
    }

    /// Returns the metadata of the run.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn run_info(&self) -> Result<RunInfo, ResultError> {
        let damaged = |problem| ResultError::damaged(&self.path.join(RUN_INFO), problem);
        RunInfo::from_json(&self.read_text(RUN_INFO)?).map_err(damaged)
    }

    /// Returns the ledger up to the last complete row.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn ledger(&self) -> Result<LedgerTable, ResultError> {
        let text = self.read_text(LEDGER)?;
        let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
        LedgerTable::parse(whole).map_err(|problem| ResultError::damaged(&self.path.join(LEDGER), problem))
    }

    fn read_text(&self, name: &str) -> Result<String, ResultError> {
        let path = self.path.join(name);
        fs::read_to_string(&path).map_err(|source| ResultError::io("read", &path, source))
    }

    /// Returns the numbers of the existing frames, ascending.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn frame_numbers(&self) -> Result<Vec<usize>, ResultError> {
        numbered(&self.path.join(FRAMES), "particles_", ".ply")
    }

    /// Returns the path of a frame.
    pub fn frame_path(&self, number: usize) -> PathBuf {
        self.path.join(FRAMES).join(format!("particles_{number:04}.ply"))
    }

    /// Reads a frame.
    ///
    /// # Errors
    /// When the file is missing or incomplete.
    pub fn read_frame(&self, number: usize) -> Result<ParticleTable, ResultError> {
        self.read_frame_columns(number, &|_| true)
    }

    /// Reads a frame with only the columns for which `is_wanted` returns true.
    ///
    /// # Errors
    /// When the file is missing or incomplete.
    pub fn read_frame_columns(
        &self,
        number: usize,
        is_wanted: &dyn Fn(&str) -> bool,
    ) -> Result<ParticleTable, ResultError> {
        let path = self.frame_path(number);
        let bytes = fs::read(&path).map_err(|source| ResultError::io("read", &path, source))?;
        ply::decode_columns(&bytes, is_wanted).map_err(|source| ResultError::Frame { path, source })
    }

    pub(super) fn write_frame(&self, number: usize, frame: &Frame) -> Result<(), ResultError> {
        write_atomically(&self.frame_path(number), &ply::encode(frame), Durability::Process)
    }

    /// Returns the path of a body's surface in a frame.
    pub fn surface_path(&self, body: &str, number: usize) -> PathBuf {
        self.path.join(FRAMES).join(format!("{}{number:04}.ply", surface_prefix(body)))
    }

    /// Returns the numbers of the frames in which a body has a surface, ascending.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn surface_numbers(&self, body: &str) -> Result<Vec<usize>, ResultError> {
        numbered(&self.path.join(FRAMES), &surface_prefix(body), ".ply")
    }

    /// Reads a body's surface in a frame.
    ///
    /// # Errors
    /// When the file is missing or incomplete.
    pub fn read_surface(&self, body: &str, number: usize) -> Result<SurfaceTable, ResultError> {
        let path = self.surface_path(body, number);
        let bytes = fs::read(&path).map_err(|source| ResultError::io("read", &path, source))?;
        SurfaceTable::decode(&bytes).map_err(|source| ResultError::Frame { path, source })
    }

    /// Writes a body's surface in a frame.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_surface(&self, body: &str, number: usize, table: &SurfaceTable) -> Result<(), ResultError> {
        write_atomically(&self.surface_path(body, number), &table.encode(&[]), Durability::Process)
    }

    /// Writes the metadata of the run in place of the old.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_run_info(&self, info: &RunInfo) -> Result<(), ResultError> {
        write_atomically(&self.path.join(RUN_INFO), info.to_json().as_bytes(), Durability::Process)
    }

    /// Creates a new, empty ledger.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn new_ledger(&self) -> Result<LedgerWriter, ResultError> {
        LedgerWriter::create(&self.path.join(LEDGER))
    }

    /// Returns the place for checkpoints of a scene.
    pub(super) fn checkpoint_place(&self, scene_digest: ContentDigest) -> CheckpointPlace {
        CheckpointPlace { folder: self.path.join(CHECKPOINTS), scene_digest }
    }

    /// Renames a checkpoint to its final name, then removes all others.
    pub(super) fn finish_checkpoint(&self, frame: usize, file: Aside) -> Result<(), ResultError> {
        file.finish(Durability::Power)?;
        for other in self.checkpoint_numbers()?.into_iter().filter(|&other| other != frame) {
            remove_file(&self.checkpoint_path(other))?;
        }
        Ok(())
    }

    fn checkpoint_path(&self, frame: usize) -> PathBuf {
        self.path.join(CHECKPOINTS).join(checkpoint_name(frame))
    }

    fn checkpoint_numbers(&self) -> Result<Vec<usize>, ResultError> {
        numbered(&self.path.join(CHECKPOINTS), "frame_", ".state")
    }

    /// Opens the last checkpoint and returns it with the number of its frame.
    ///
    /// # Errors
    /// When there is no checkpoint, or it is damaged or belongs to another scene or version.
    pub fn last_checkpoint(
        &self,
        scene_digest: ContentDigest,
    ) -> Result<(usize, Checkpoint<File>), ResultError> {
        let frame = self.checkpoint_numbers()?.pop();
        let frame = frame.ok_or_else(|| ResultError::NoCheckpoint(self.path.clone()))?;
        let path = self.checkpoint_path(frame);
        let file = File::open(&path).map_err(|source| ResultError::io("read", &path, source))?;
        let opened = Checkpoint::open(file).and_then(|checkpoint| {
            checkpoint.header().check(&engine_version(), scene_digest)?;
            Ok(checkpoint)
        });
        let checkpoint = opened.map_err(|source| ResultError::Checkpoint { path, source })?;
        Ok((frame, checkpoint))
    }

    /// Cuts frames, ledger and `info` back to a checkpoint's frame, and returns the ledger to continue with.
    ///
    /// # Errors
    /// When a frame or a row of the ledger up to that frame is missing.
    pub fn cut_back(&self, frame: usize, info: &mut RunInfo) -> Result<LedgerWriter, ResultError> {
        for name in WRITTEN_FOLDERS {
            remove_aside(&self.path.join(name))?;
        }
        remove_aside(&self.path)?;
        let numbers = self.frame_numbers()?;
        if let Some(missing) = (0..=frame).find(|number| numbers.binary_search(number).is_err()) {
            return Err(ResultError::damaged(&self.frame_path(missing), "this frame is missing"));
        }
        // the ledger is cut last, because it tells how many frames there are
        for later in numbers.into_iter().filter(|&number| number > frame) {
            remove_file(&self.frame_path(later))?;
        }
        for body in &info.bodies {
            for later in self.surface_numbers(&body.name)?.into_iter().filter(|&number| number > frame) {
                remove_file(&self.surface_path(&body.name, later))?;
            }
        }
        let path = self.path.join(LEDGER);
        let (writer, table) = LedgerWriter::cut_back(&path, frame + 1)?;
        let column = |name: &str| {
            table
                .numbers(name)
                .ok_or_else(|| ResultError::damaged(&path, format!("there is no column {name}")))
        };
        info.frame_times = column("time")?;
        info.frame_particles = column("particles")?.into_iter().map(|n| n as usize).collect();
        Ok(writer)
    }
}

/// Folder for the checkpoints of a scene, with the digest of the scene.
#[derive(Clone, Debug)]
pub(super) struct CheckpointPlace {
    folder: PathBuf,
    scene_digest: ContentDigest,
}

impl CheckpointPlace {
    /// Writes the state of a world to a file, which still has its temporary name.
    pub(super) fn write(&self, frame: usize, world: &mut World) -> Result<Aside, ResultError> {
        let scene_digest = self.scene_digest;
        let header = CheckpointHeader { engine_version: engine_version(), scene_digest, frame: frame as u64 };
        let mut file = Aside::create(&self.folder.join(checkpoint_name(frame)))?;
        file.write(|out| write_checkpoint(world, &header, out))?;
        Ok(file)
    }
}

fn surface_prefix(body: &str) -> String {
    format!("surface_{body}_")
}

fn checkpoint_name(frame: usize) -> String {
    format!("frame_{frame:04}.state")
}

/// Returns the version of the engine, which is that of the workspace.
fn engine_version() -> String {
    let bits = ContentDigest::of(phyxel::BITS.as_bytes()).0 as u32;
    format!("{} (bits {bits:08x})", env!("CARGO_PKG_VERSION"))
}

/// Returns true if the folder has a scene and at least the metadata or both data folders of a run.
fn looks_like_a_result(path: &Path) -> bool {
    let has = |name: &str| path.join(name).exists();
    has(SCENE) && (has(RUN_INFO) || (has(FRAMES) && has(CHECKPOINTS)))
}

fn lock(path: &Path) -> Result<Option<File>, ResultError> {
    let lock_path = path.join(LOCK);
    let file = File::create(&lock_path).map_err(|source| ResultError::io("write", &lock_path, source))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Err(ResultError::Busy(path.to_owned())),
        // on a file system without locks, the folder is written without one
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

fn remove_result(path: &Path) -> Result<(), ResultError> {
    for name in WRITTEN_FILES.iter().filter(|&&name| name != LOCK) {
        remove_file(&path.join(name))?;
    }
    for folder in WRITTEN_FOLDERS.map(|name| path.join(name)) {
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(ResultError::io("remove", &folder, error));
            }
            _ => {}
        }
    }
    Ok(())
}

pub(super) fn remove_file(path: &Path) -> Result<(), ResultError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(ResultError::io("remove", path, error))
        }
        _ => Ok(()),
    }
}

/// Removes temporary files that were incomplete when a run ended.
fn remove_aside(folder: &Path) -> Result<(), ResultError> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    let is_aside = |path: &PathBuf| path.extension().is_some_and(|extension| extension == ASIDE);
    entries.flatten().map(|entry| entry.path()).filter(is_aside).try_for_each(|path| remove_file(&path))
}

/// Returns the numbers of the files PREFIX NUMBER SUFFIX in a folder, ascending.
fn numbered(folder: &Path, prefix: &str, suffix: &str) -> Result<Vec<usize>, ResultError> {
    let entries = fs::read_dir(folder).map_err(|source| ResultError::io("read", folder, source))?;
    let number = |name: &str| name.strip_prefix(prefix)?.strip_suffix(suffix)?.parse().ok();
    let mut numbers: Vec<usize> =
        entries.flatten().filter_map(|entry| number(&entry.file_name().to_string_lossy())).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::run_info::tests::info;
    use super::*;

    /// A temporary folder for one test, removed when dropped.
    pub(in super::super) struct TemporaryFolder(PathBuf);

    impl TemporaryFolder {
        pub(in super::super) fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("phyxel_{name}_{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        pub(in super::super) fn path(&self) -> &Path {
            &self.0
        }
    }

    impl Drop for TemporaryFolder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    pub(in super::super) fn scene() -> BundledScene {
        let mesh = super::super::MeshCopy { name: "meshes/1.obj".into(), bytes: b"o".to_vec() };
        BundledScene { text: "title = \"x\"\n".into(), meshes: vec![mesh] }
    }

    #[test]
    fn an_existing_result_is_refused_or_replaced_but_nothing_else_is_removed() {
        let temporary = TemporaryFolder::new("folder");
        let path = temporary.path().join("out");
        let folder = ResultFolder::create(&path, Overwrite::No, &scene()).unwrap();
        folder.write_run_info(&info()).unwrap();
        fs::write(path.join("frames/particles_0000.ply"), b"x").unwrap();
        fs::write(path.join("notes.txt"), b"mine").unwrap();
        drop(folder);
        assert!(matches!(ResultFolder::create(&path, Overwrite::No, &scene()), Err(ResultError::Exists(_))));
        assert!(path.join("frames/particles_0000.ply").exists());
        let folder = ResultFolder::create(&path, Overwrite::Yes, &scene()).unwrap();
        assert!(folder.frame_numbers().unwrap().is_empty());
        assert_eq!(fs::read(path.join("notes.txt")).unwrap(), b"mine");
        assert_eq!(fs::read(path.join("meshes/1.obj")).unwrap(), b"o");
        folder.write_run_info(&info()).unwrap();
        assert!(matches!(ResultFolder::remove(&path), Err(ResultError::Busy(_))));
        drop(folder);
        ResultFolder::remove(&path).unwrap();
        assert_eq!(fs::read_dir(&path).unwrap().count(), 1, "the notes stay");
    }

    #[test]
    fn what_is_no_result_is_never_touched() {
        let temporary = TemporaryFolder::new("folder_other");
        fs::create_dir(temporary.path().join("frames")).unwrap();
        fs::write(temporary.path().join("frames/photo.jpg"), b"photo").unwrap();
        for overwrite in [Overwrite::No, Overwrite::Yes] {
            let refused = ResultFolder::create(temporary.path(), overwrite, &scene());
            assert!(matches!(refused, Err(ResultError::NotAResult(_))));
        }
        assert_eq!(fs::read(temporary.path().join("frames/photo.jpg")).unwrap(), b"photo");
        assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 1);
        assert!(matches!(ResultFolder::open(temporary.path()), Err(ResultError::NotAResult(_))));
        let file = temporary.path().join("frames/photo.jpg");
        assert!(matches!(ResultFolder::check_free(&file, Overwrite::Yes), Err(ResultError::NotAResult(_))));
    }

    #[test]
    fn two_runs_cannot_write_to_one_folder() {
        let temporary = TemporaryFolder::new("folder_lock");
        let path = temporary.path().join("out");
        let first = ResultFolder::create(&path, Overwrite::No, &scene()).unwrap();
        first.write_run_info(&info()).unwrap();
        assert!(matches!(ResultFolder::open_to_write(&path), Err(ResultError::Busy(_))));
        assert!(matches!(ResultFolder::create(&path, Overwrite::Yes, &scene()), Err(ResultError::Busy(_))));
        assert!(first.run_info().is_ok(), "the refused run removed something");
        assert!(ResultFolder::open(&path).is_ok(), "looking is always allowed");
        drop(first);
        assert!(ResultFolder::open_to_write(&path).is_ok());
    }
}
