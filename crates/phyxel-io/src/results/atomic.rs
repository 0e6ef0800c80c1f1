//! Files that appear under their name only when they are complete.

use super::ResultError;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Ending of files that are not complete yet.
pub(crate) const ASIDE: &str = "tmp";

/// Kind of failure that a finished file must survive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durability {
    /// End of this process: the data may still be in the system's cache.
    Process,
    /// Loss of power: the data is on the disk before the file is renamed.
    Power,
}

/// A file that is written under a temporary name in the same folder and then renamed, so that readers see either the
/// old file or the new one. If dropped before, it is removed, since an incomplete file is useless and takes space on a
/// full disk.
#[derive(Debug)]
pub(crate) struct Aside {
    path: PathBuf,
    aside: PathBuf,
    file: File,
    is_named: bool,
}

impl Aside {
    /// Creates the temporary file that is to be renamed to `path`.
    pub(crate) fn create(path: &Path) -> Result<Self, ResultError> {
        let aside = aside(path);
        // readable, too, for temporary files that are read back and never renamed
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&aside);
        let file = file.map_err(|source| ResultError::io("write", path, source))?;
        Ok(Self { path: path.to_owned(), aside, file, is_named: false })
    }

    /// Calls `write` with the file; its error is returned with the path.
    pub(crate) fn write(
        &mut self,
        write: impl FnOnce(&mut File) -> std::io::Result<()>,
    ) -> Result<(), ResultError> {
        write(&mut self.file).map_err(|source| ResultError::io("write", &self.path, source))
    }

    /// Returns the file itself, for writers that seek.
    pub(crate) fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Renames the file to its final name.
    pub(crate) fn finish(mut self, durability: Durability) -> Result<(), ResultError> {
        let synced = if durability == Durability::Power { self.file.sync_all() } else { Ok(()) };
        let named = synced.and_then(|()| fs::rename(&self.aside, &self.path));
        self.is_named = named.is_ok();
        named.map_err(|source| ResultError::io("write", &self.path, source))?;
        #[cfg(test)]
        journal::note_named(&self.path, durability == Durability::Power);
        match self.path.parent() {
            Some(folder) if durability == Durability::Power => sync_folder(folder),
            _ => Ok(()),
        }
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        if !self.is_named {
            let _ = fs::remove_file(&self.aside);
        }
    }
}

/// Writes a whole file under a temporary name, then renames it.
pub(crate) fn write_atomically(path: &Path, bytes: &[u8], durability: Durability) -> Result<(), ResultError> {
    let mut file = Aside::create(path)?;
    file.write(|out| out.write_all(bytes))?;
    file.finish(durability)
}

/// Writes the data of a file that was renamed before to the disk.
pub(super) fn sync_file(path: &Path) -> Result<(), ResultError> {
    let synced = File::options().write(true).open(path).and_then(|file| file.sync_all());
    #[cfg(test)]
    journal::note(journal::Done::Synced, path);
    synced.map_err(|source| ResultError::io("write", path, source))
}

/// Writes the names in a folder to the disk: files that were created, renamed and removed stay so when power is lost.
/// Where folders cannot be opened as files, the system does this by itself.
pub(super) fn sync_folder(path: &Path) -> Result<(), ResultError> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let synced = if cfg!(unix) { File::open(path).and_then(|folder| folder.sync_all()) } else { Ok(()) };
    #[cfg(test)]
    journal::note(journal::Done::Synced, path);
    match synced {
        // file systems that cannot do this, such as some on networks
        Err(error) if error.kind() == std::io::ErrorKind::InvalidInput => Ok(()),
        synced => synced.map_err(|source| ResultError::io("write", path, source)),
    }
}

/// Makes a folder with all folders above it, so that they survive a loss of power.
pub(super) fn make_folder(path: &Path) -> Result<(), ResultError> {
    let new: Vec<&Path> = path.ancestors().take_while(|above| !above.exists()).collect();
    fs::create_dir_all(path).map_err(|source| ResultError::io("make", path, source))?;
    new.into_iter().filter_map(Path::parent).try_for_each(sync_folder)
}

pub(crate) fn aside(path: &Path) -> PathBuf {
    let mut name = path.file_name().map_or_else(OsString::new, OsString::from);
    name.push(".");
    name.push(ASIDE);
    path.with_file_name(name)
}

/// Operations on files and folders, in order, for tests of what survives a loss of power.
#[cfg(test)]
pub(super) mod journal {
    use std::path::{Path, PathBuf};
    use std::sync::Mutex;

    #[derive(Clone, Debug, PartialEq)]
    pub(in super::super) enum Done {
        /// The file got its name, with this content.
        Named(Vec<u8>),
        /// The data of the file, or the names in the folder, are on the disk.
        Synced,
    }

    static JOURNAL: Mutex<Vec<(Done, PathBuf)>> = Mutex::new(Vec::new());

    pub(in super::super) fn note(done: Done, path: &Path) {
        JOURNAL.lock().unwrap().push((done, path.to_owned()));
    }

    pub(super) fn note_named(path: &Path, is_synced: bool) {
        note(Done::Named(std::fs::read(path).unwrap()), path);
        if is_synced {
            note(Done::Synced, path);
        }
    }

    /// Returns what was done in a folder.
    pub(in super::super) fn inside(folder: &Path) -> Vec<(Done, PathBuf)> {
        JOURNAL.lock().unwrap().iter().filter(|done| done.1.starts_with(folder)).cloned().collect()
    }
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
