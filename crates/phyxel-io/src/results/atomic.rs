//! Files that are whole or not there.

use super::ResultError;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Ending of files that are not whole yet.
pub(super) const ASIDE: &str = "tmp";

/// Whether a file must survive a loss of power, or only the end of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Durability {
    /// Left to the system's cache.
    Process,
    /// On the disk before it takes its name.
    Power,
}

/// Writes a file aside in the same folder and renames it: whoever looks sees the old file or the new one.
pub(super) fn write_atomically(path: &Path, bytes: &[u8], durability: Durability) -> Result<(), ResultError> {
    let aside = aside(path);
    let written = write_aside(&aside, bytes, durability).and_then(|()| fs::rename(&aside, path));
    written.map_err(|source| {
        // what is left of it is useless, and on a full disk in the way
        let _ = fs::remove_file(&aside);
        ResultError::io("write", path, source)
    })
}

fn write_aside(aside: &Path, bytes: &[u8], durability: Durability) -> std::io::Result<()> {
    let mut file = File::create(aside)?;
    file.write_all(bytes)?;
    if durability == Durability::Power { file.sync_all() } else { Ok(()) }
}

fn aside(path: &Path) -> PathBuf {
    let mut name = path.file_name().map_or_else(OsString::new, OsString::from);
    name.push(".");
    name.push(ASIDE);
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::super::folder::tests::TemporaryFolder;
    use super::*;

    #[test]
    fn a_new_file_replaces_the_old_one_and_leaves_nothing_aside() {
        let folder = TemporaryFolder::new("atomic");
        let path = folder.path().join("a.bin");
        write_atomically(&path, b"old", Durability::Process).unwrap();
        write_atomically(&path, b"new", Durability::Power).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error_with_its_path() {
        let folder = TemporaryFolder::new("atomic_missing");
        let path = folder.path().join("missing/a.bin");
        let error = write_atomically(&path, b"x", Durability::Process).unwrap_err().to_string();
        assert!(error.contains("a.bin") && error.contains("write"), "{error}");
    }
}
