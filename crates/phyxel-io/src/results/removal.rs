//! Removal of results, and of what is left of runs that ended early. Whatever is lost on the way, what is left is known as
//! remains of a run, so that another run may replace it.

use super::ResultError;
use super::atomic::{ASIDE, aside, sync_folder};
use super::folder::{LEDGER, LOCK, RUN_INFO, SCENE, WRITTEN_FOLDERS};
use std::fs;
use std::path::{Path, PathBuf};

/// Returns true if a folder has nothing but the remains of a run that ended before it had a scene, or while it was
/// removed: the lock, empty folders, temporary files.
pub(super) fn are_remains(paths: &[PathBuf]) -> bool {
    let is_empty = |path: &Path| fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
    let named = |path: &Path, name: &str| path.file_name().is_some_and(|own| own == name);
    let is_remains = |path: &PathBuf| {
        let is_folder = WRITTEN_FOLDERS.iter().any(|name| named(path, name));
        is_aside(path) || named(path, LOCK) || (is_folder && is_empty(path))
    };
    paths.iter().any(|path| named(path, LOCK)) && paths.iter().all(is_remains)
}

/// Removes what a run wrote: the metadata first, so that nothing is listed that is gone, and the scene last, so that what
/// is left is known as a result.
pub(super) fn remove_result(path: &Path) -> Result<(), ResultError> {
    remove_unfinished(path)?;
    remove_file(&path.join(RUN_INFO))?;
    sync_folder(path)?;
    let folders = WRITTEN_FOLDERS.map(|name| path.join(name));
    for folder in folders.iter().filter(|folder| folder.exists()) {
        let entries = fs::read_dir(folder).map_err(|source| ResultError::io("read", folder, source))?;
        for entry in entries.flatten().map(|entry| entry.path()) {
            let removed = if entry.is_dir() { fs::remove_dir_all(&entry) } else { fs::remove_file(&entry) };
            removed.map_err(|source| ResultError::io("remove", &entry, source))?;
        }
        sync_folder(folder)?;
    }
    [LEDGER, SCENE].iter().try_for_each(|name| remove_file(&path.join(name)))?;
    sync_folder(path)?;
    for folder in folders.iter().filter(|folder| folder.exists()) {
        fs::remove_dir(folder).map_err(|source| ResultError::io("remove", folder, source))?;
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
pub(super) fn remove_unfinished(path: &Path) -> Result<(), ResultError> {
    let files = [RUN_INFO, SCENE, LEDGER].map(|name| aside(&path.join(name)));
    files.iter().try_for_each(|file| remove_file(file))?;
    for entries in WRITTEN_FOLDERS.iter().filter_map(|name| fs::read_dir(path.join(name)).ok()) {
        let mut paths = entries.flatten().map(|entry| entry.path()).filter(|path| is_aside(path));
        paths.try_for_each(|path| remove_file(&path))?;
    }
    Ok(())
}

fn is_aside(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == ASIDE)
}
