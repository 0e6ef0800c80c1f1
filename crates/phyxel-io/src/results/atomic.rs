//! Files that are whole or not there.

use super::ResultError;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Ending of files that are not whole yet.
pub(crate) const ASIDE: &str = "tmp";

/// Whether a file must survive a loss of power, or only the end of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durability {
    /// Left to the system's cache.
    Process,
    /// On the disk before it takes its name.
    Power,
}

/// A file that is written aside in the same folder and then renamed: whoever looks sees the old file or the new one.
/// Dropped before, it is removed: what is left of it is useless, and on a full disk in the way.
#[derive(Debug)]
pub(crate) struct Aside {
    path: PathBuf,
    aside: PathBuf,
    file: File,
    is_named: bool,
}

impl Aside {
    /// Begins the file that is to be `path`.
    pub(crate) fn create(path: &Path) -> Result<Self, ResultError> {
        let aside = aside(path);
        // read, too, for what is only kept aside for a while
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&aside);
        let file = file.map_err(|source| ResultError::io("write", path, source))?;
        Ok(Self { path: path.to_owned(), aside, file, is_named: false })
    }

    /// Writes with `write`.
    pub(crate) fn write(
        &mut self,
        write: impl FnOnce(&mut File) -> std::io::Result<()>,
    ) -> Result<(), ResultError> {
        write(&mut self.file).map_err(|source| ResultError::io("write", &self.path, source))
    }

    /// The file itself, for writers that seek.
    pub(crate) fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Gives it its name.
    pub(crate) fn finish(mut self, durability: Durability) -> Result<(), ResultError> {
        let synced = if durability == Durability::Power { self.file.sync_all() } else { Ok(()) };
        let named = synced.and_then(|()| fs::rename(&self.aside, &self.path));
        self.is_named = named.is_ok();
        named.map_err(|source| ResultError::io("write", &self.path, source))
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        if !self.is_named {
            let _ = fs::remove_file(&self.aside);
        }
    }
}

/// Writes a whole file.
pub(crate) fn write_atomically(path: &Path, bytes: &[u8], durability: Durability) -> Result<(), ResultError> {
    let mut file = Aside::create(path)?;
    file.write(|out| out.write_all(bytes))?;
    file.finish(durability)
}

pub(crate) fn aside(path: &Path) -> PathBuf {
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
    fn a_file_that_is_never_finished_leaves_the_old_one() {
        let folder = TemporaryFolder::new("atomic_dropped");
        let path = folder.path().join("a.bin");
        write_atomically(&path, b"old", Durability::Process).unwrap();
        let mut file = Aside::create(&path).unwrap();
        file.write(|out| out.write_all(b"half")).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
        drop(file);
        assert_eq!(fs::read(&path).unwrap(), b"old");
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
