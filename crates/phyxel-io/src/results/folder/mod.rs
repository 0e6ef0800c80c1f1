//! The result folder of a run: creating it, opening it, and reading and writing its files.

#[cfg(test)]
pub(super) mod tests;

use super::atomic::{Aside, Durability, aside, make_folder, sync_file, sync_folder, write_atomically};
use super::meshes::{check_mesh, mesh_files};
use super::removal::{are_remains, remove_file, remove_result, remove_unfinished};
use super::seal::{self, Seal};
use super::{
    BundledScene, ContentDigest, LedgerTable, LedgerWriter, ParticleTable, ResultError, RunInfo,
    SurfaceTable, ply,
};
use crate::scene::{ParseOptions, SceneError, SceneFile};
use phyxel::frame::Frame;
use phyxel::methods::CATALOGUE;
use std::fs::{self, File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

pub(super) const RUN_INFO: &str = "run.json";
pub(super) const SCENE: &str = "scene.toml";
pub(super) const LEDGER: &str = "ledger.csv";
pub(super) const FRAMES: &str = "frames";
pub(super) const CHECKPOINTS: &str = "checkpoint";
const MESHES: &str = "meshes";
pub(super) const LOCK: &str = ".lock";
/// Folders that a run writes; with the files above, all that is removed when another run replaces it.
pub(super) const WRITTEN_FOLDERS: [&str; 3] = [FRAMES, CHECKPOINTS, MESHES];

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
        let names: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        let is_free = names.is_empty() || are_remains(&names);
        match (is_free, looks_like_a_result(path), overwrite) {
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
        make_folder(path)?;
        let folder = Self { path: path.to_owned(), _lock: lock(path)? };
        remove_result(path)?;
        let n_folders = if scene.meshes.is_empty() { 2 } else { 3 };
        for name in &WRITTEN_FOLDERS[..n_folders] {
            let made = fs::create_dir(path.join(name));
            made.map_err(|source| ResultError::io("make", &path.join(name), source))?;
        }
        // whatever is lost with the power from here on, what is left is known as a result
        sync_folder(path)?;
        write_atomically(&path.join(SCENE), scene.text.as_bytes(), Durability::Power)?;
        for mesh in &scene.meshes {
            write_atomically(&path.join(&mesh.name), &mesh.bytes, Durability::Power)?;
        }
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
    /// When the scene or one of its meshes cannot be read, or is not what was run.
    pub fn scene_text(&self) -> Result<String, ResultError> {
        let bytes = self.read(SCENE)?;
        let digest = self.run_info()?.scene_digest;
        self.check_scene(&bytes, digest)?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        mesh_files(&text).iter().try_for_each(|file| check_mesh(&self.path.join(file)).map(drop))?;
        Ok(text)
    }

    pub(super) fn check_scene(&self, bytes: &[u8], digest: ContentDigest) -> Result<(), ResultError> {
        let problem = "it is not the scene that was run: it is damaged, or was changed since";
        let is_same = ContentDigest::of(bytes) == digest;
        if is_same { Ok(()) } else { Err(ResultError::damaged(&self.path.join(SCENE), problem)) }
    }

    /// Returns the path of the scene as it was run.
    pub fn scene_path(&self) -> PathBuf {
        self.path.join(SCENE)
    }

    /// Returns the metadata of the run.
    ///
    /// # Errors
    /// When the file cannot be read, or is damaged.
    pub fn run_info(&self) -> Result<RunInfo, ResultError> {
        let path = self.path.join(RUN_INFO);
        let bytes = self.read(RUN_INFO)?;
        seal::JSON.check(&path, &bytes)?;
        RunInfo::from_json(&String::from_utf8_lossy(&bytes))
            .map_err(|problem| ResultError::damaged(&path, problem))
    }

    /// Returns the ledger up to the last complete row.
    ///
    /// # Errors
    /// When the file cannot be read, is damaged, or has fewer rows than frames were listed.
    pub fn ledger(&self) -> Result<LedgerTable, ResultError> {
        // first the metadata: a run that is going on writes a row before it lists the frame
        let n_listed = self.run_info()?.frame_times.len();
        match self.sound_ledger(n_listed)? {
            (table, None) => Ok(table),
            (_, Some(problem)) => Err(ResultError::damaged(&self.path.join(LEDGER), problem)),
        }
    }

    /// Returns all rows of the ledger before the first damaged or missing one, and describes the damage. A last row
    /// that is not listed and has no end is being written, and left out.
    pub(super) fn sound_ledger(&self, n_listed: usize) -> Result<(LedgerTable, Option<String>), ResultError> {
        let text = String::from_utf8_lossy(&self.read(LEDGER)?).into_owned();
        let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
        if whole.is_empty() && n_listed == 0 {
            return Ok((LedgerTable::default(), None));
        }
        let (table, damage) = LedgerTable::parse_sound(whole);
        let n_rows = table.rows.len();
        let missing = || format!("{n_listed} rows are expected, {n_rows} are there");
        Ok((table, damage.or_else(|| (n_rows < n_listed).then(missing))))
    }

    pub(super) fn read(&self, name: &str) -> Result<Vec<u8>, ResultError> {
        let path = self.path.join(name);
        fs::read(&path).map_err(|source| ResultError::io("read", &path, source))
    }

    /// Returns the numbers of the existing frames, ascending.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn frame_numbers(&self) -> Result<Vec<usize>, ResultError> {
        numbered(&self.path.join(FRAMES), "particles_", ".ply")
    }

    /// Returns the numbers of the frames that exist or are listed as finished, ascending.
    ///
    /// # Errors
    /// When the folder or its metadata cannot be read.
    pub fn known_frames(&self) -> Result<Vec<usize>, ResultError> {
        let mut numbers = self.frame_numbers()?;
        // without metadata, the run has not begun
        if self.path.join(RUN_INFO).exists() {
            numbers.extend(0..self.run_info()?.frame_times.len());
        }
        numbers.sort_unstable();
        numbers.dedup();
        Ok(numbers)
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
        let bytes = read_sealed(&path)?;
        ply::decode_columns(&bytes, is_wanted).map_err(|source| ResultError::Frame { path, source })
    }

    /// Writes a frame.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_frame(&self, number: usize, frame: &Frame) -> Result<(), ResultError> {
        write_sealed(&self.frame_path(number), seal::PLY, &ply::encode(frame), Durability::Process)
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
        let bytes = read_sealed(&path)?;
        SurfaceTable::decode(&bytes).map_err(|source| ResultError::Frame { path, source })
    }

    /// Writes a body's surface in a frame.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_surface(&self, body: &str, number: usize, table: &SurfaceTable) -> Result<(), ResultError> {
        let path = self.surface_path(body, number);
        write_sealed(&path, seal::PLY, &table.encode(&[]), Durability::Process)
    }

    /// Writes a body's surface in a frame under a temporary name, so that earlier surfaces stay until all are made.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn prepare_surface(
        &self,
        body: &str,
        number: usize,
        table: &SurfaceTable,
    ) -> Result<(), ResultError> {
        let path = self.surface_path(body, number);
        let bytes = table.encode(&[]);
        let (opening, rest) = seal::PLY.put(&path, &bytes);
        let written = fs::write(aside(&path), [opening.as_bytes(), rest].concat());
        written.map_err(|source| ResultError::io("write", &path, source))
    }

    /// Returns the path that a prepared surface has until it takes its place.
    pub fn prepared_path(path: &Path) -> PathBuf {
        aside(path)
    }

    /// Puts a prepared surface into the place of the earlier one.
    ///
    /// # Errors
    /// When the file cannot be renamed.
    pub fn take_prepared_surface(&self, body: &str, number: usize) -> Result<(), ResultError> {
        let path = self.surface_path(body, number);
        fs::rename(aside(&path), &path).map_err(|source| ResultError::io("write", &path, source))
    }

    /// Removes everything that was prepared, or written in part.
    ///
    /// # Errors
    /// When a file cannot be removed.
    pub fn remove_unfinished(&self) -> Result<(), ResultError> {
        remove_unfinished(&self.path)
    }

    /// Writes frames and their names to the disk, so that they survive a loss of power.
    pub(super) fn sync_frames(&self, paths: &[PathBuf]) -> Result<(), ResultError> {
        paths.iter().try_for_each(|path| sync_file(path))?;
        sync_folder(&self.path.join(FRAMES))
    }

    /// Writes the metadata of the run in place of the old; they survive a loss of power.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_run_info(&self, info: &RunInfo) -> Result<(), ResultError> {
        let text = info.to_json();
        write_sealed(&self.path.join(RUN_INFO), seal::JSON, text.as_bytes(), Durability::Power)
    }

    /// Creates a new, empty ledger.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn new_ledger(&self) -> Result<LedgerWriter, ResultError> {
        LedgerWriter::create(&self.path.join(LEDGER))
    }
}

fn surface_prefix(body: &str) -> String {
    format!("surface_{body}_")
}

/// Reads the text of a scene as it was run.
pub(crate) fn parse_scene(text: &str) -> Result<SceneFile, SceneError> {
    let methods: Vec<(&str, bool)> =
        CATALOGUE.iter().map(|entry| (entry.key, entry.default_factory.is_some())).collect();
    SceneFile::parse(text, SCENE, &ParseOptions { methods: &methods, columns: None })
}

/// Reads a file that carries its checksum in a PLY header.
pub(super) fn read_sealed(path: &Path) -> Result<Vec<u8>, ResultError> {
    let bytes = fs::read(path).map_err(|source| ResultError::io("read", path, source))?;
    seal::PLY.check(path, &bytes)?;
    Ok(bytes)
}

fn write_sealed(path: &Path, seal: Seal, bytes: &[u8], durability: Durability) -> Result<(), ResultError> {
    let (opening, rest) = seal.put(path, bytes);
    let mut file = Aside::create(path)?;
    file.write(|out| out.write_all(opening.as_bytes()).and_then(|()| out.write_all(rest)))?;
    file.finish(durability)
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

/// Returns the numbers of the files PREFIX NUMBER SUFFIX in a folder, ascending.
pub(super) fn numbered(folder: &Path, prefix: &str, suffix: &str) -> Result<Vec<usize>, ResultError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|source| ResultError::io("read", folder, source))?,
    };
    let number = |name: &str| name.strip_prefix(prefix)?.strip_suffix(suffix)?.parse().ok();
    let mut numbers: Vec<usize> =
        entries.flatten().filter_map(|entry| number(&entry.file_name().to_string_lossy())).collect();
    numbers.sort_unstable();
    Ok(numbers)
}
