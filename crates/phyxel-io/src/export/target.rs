//! Targets of exports: checked to be free, written under a temporary name, then renamed.

use super::{ExportError, ExportFormat, Written, write_file};
use crate::results::atomic::aside;
use crate::results::{Overwrite, ResultError};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

fn bad(path: &Path, problem: impl Into<String>) -> ExportError {
    ExportError::BadTarget { path: path.to_owned(), problem: problem.into() }
}

fn extension_of(path: &Path) -> Option<String> {
    path.extension().map(|extension| extension.to_string_lossy().to_lowercase())
}

/// Checks that the parent folder of a target exists, so that a typing error does not create folders.
fn check_parent(path: &Path) -> Result<(), ExportError> {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() && !parent.is_dir() => {
            Err(bad(path, format!("there is no folder {}: make it first", parent.display())))
        }
        _ => Ok(()),
    }
}

/// Checks that a single file may be written.
pub(super) fn check_file(
    format: &ExportFormat,
    path: &Path,
    overwrite: Overwrite,
) -> Result<(), ExportError> {
    if extension_of(path).as_deref() != Some(format.extension()) || path.file_stem().is_none() {
        return Err(bad(path, format!("the file must end in .{}", format.extension())));
    }
    check_parent(path)?;
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => Err(bad(path, "this is a folder; a file is to be written")),
        Ok(_) if overwrite == Overwrite::No => Err(ExportError::Exists(path.to_owned())),
        _ => Ok(()),
    }
}

/// Converts the error of a target that could not be created.
pub(super) fn refused(path: &Path, error: ResultError) -> ExportError {
    match error {
        ResultError::Io { source, .. } => ExportError::Unwritable { path: path.to_owned(), source },
        other => other.into(),
    }
}

/// A folder of files that is written under a temporary name and renamed at the end; if dropped before, it is removed.
pub(super) struct TargetFolder {
    path: PathBuf,
    aside: PathBuf,
    naming: Naming,
    overwrite: Overwrite,
    n_files: usize,
    n_bytes: u64,
    entry: Option<String>,
    is_named: bool,
}

/// Names of the files: NAME_0000.EXT, NAME_surface_BODY_0000.EXT and NAME.INDEX. NAME is the name of the folder itself,
/// so that sequences from several runs can be told apart and a folder of other files is never taken for an export.
struct Naming {
    stem: String,
    extensions: &'static [&'static str],
}

/// Text before the name of the body in the file name of a surface.
const SURFACE: &str = "surface_";

impl Naming {
    fn is_ours(&self, name: &str) -> bool {
        let Some(rest) = name.strip_prefix(&self.stem) else { return false };
        self.extensions.iter().any(|extension| {
            let Some(middle) = rest.strip_suffix(extension).and_then(|rest| rest.strip_suffix('.')) else {
                return false;
            };
            let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            let is_surface = |text: &str| {
                text.strip_prefix(SURFACE)
                    .and_then(|text| text.rsplit_once('_'))
                    .is_some_and(|(_, number)| is_number(number))
            };
            middle.is_empty()
                || middle.strip_prefix('_').is_some_and(|text| is_number(text) || is_surface(text))
        })
    }

    /// Returns the name of an entry of a folder that no export of this name wrote, if there is one.
    fn alien(&self, folder: &Path) -> io::Result<Option<String>> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if !entry.file_type()?.is_file() || !self.is_ours(&name) {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }
}

impl TargetFolder {
    pub(super) fn create(
        format: &ExportFormat,
        path: &Path,
        overwrite: Overwrite,
    ) -> Result<Self, ExportError> {
        let naming = check_folder(format, path, overwrite)?;
        let aside = aside(path);
        let refused = |source| ExportError::Unwritable { path: path.to_owned(), source };
        // removes the remains of an export that was killed
        if fs::symlink_metadata(&aside).is_ok() {
            remove_export(&aside, &naming).map_err(refused)?;
        }
        fs::create_dir(&aside).map_err(refused)?;
        Ok(Self {
            path: path.to_owned(),
            aside,
            naming,
            overwrite,
            n_files: 0,
            n_bytes: 0,
            entry: None,
            is_named: false,
        })
    }

    /// Returns the name of the file of a frame, or of the surface of a body in it if `body` is not empty.
    pub(super) fn frame_name(&self, body: &str, number: usize) -> String {
        let extension = self.naming.extensions.first().copied().unwrap_or_default();
        let surface = if body.is_empty() { String::new() } else { format!("{SURFACE}{body}_") };
        format!("{}_{surface}{number:04}.{extension}", self.naming.stem)
    }

    pub(super) fn index_name(&self) -> String {
        let extension = self.naming.extensions.last().copied().unwrap_or_default();
        format!("{}.{extension}", self.naming.stem)
    }

    /// Writes a file of the folder. The index file is the one to open first; without an index, the first written file.
    pub(super) fn write(
        &mut self,
        name: &str,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), ExportError> {
        let written = write_file(&self.aside.join(name), write);
        self.n_bytes += written.map_err(|source| ExportError::write(&self.path.join(name), source))?;
        self.n_files += 1;
        if self.entry.is_none() || name == self.index_name() {
            self.entry = Some(name.to_owned());
        }
        Ok(())
    }

    /// Renames the folder to its final name. An earlier export is removed only when the new one is complete.
    pub(super) fn finish(mut self) -> Result<Written, ExportError> {
        let failed = |source| ExportError::write(&self.path, source);
        let earlier = fs::symlink_metadata(&self.path).is_ok();
        let retired = aside(&aside(&self.path));
        if earlier {
            // checked again, because something else may have been put there meanwhile
            check_contents(&self.path, &self.naming, self.overwrite)?;
            if fs::symlink_metadata(&retired).is_ok() {
                remove_export(&retired, &self.naming).map_err(failed)?;
            }
            fs::rename(&self.path, &retired).map_err(failed)?;
        }
        if let Err(source) = fs::rename(&self.aside, &self.path) {
            if earlier {
                let _ = fs::rename(&retired, &self.path);
            }
            return Err(failed(source));
        }
        self.is_named = true;
        if earlier {
            remove_export(&retired, &self.naming).map_err(|source| ExportError::write(&retired, source))?;
        }
        let entry = self.entry.take().map_or_else(|| self.path.clone(), |name| self.path.join(name));
        Ok(Written { entry, n_files: self.n_files, n_bytes: self.n_bytes })
    }
}

impl Drop for TargetFolder {
    fn drop(&mut self) {
        if !self.is_named {
            let _ = fs::remove_dir_all(&self.aside);
        }
    }
}

/// Checks that a folder may be written, and returns the names of its files.
fn check_folder(format: &ExportFormat, path: &Path, overwrite: Overwrite) -> Result<Naming, ExportError> {
    let Some(stem) = path.file_name().map(|name| name.to_string_lossy().into_owned()) else {
        return Err(bad(path, "the folder to write needs a name of its own"));
    };
    if extension_of(path).is_some_and(|extension| format.extensions.contains(&extension.as_str())) {
        let better = path.with_extension("");
        return Err(bad(
            path,
            format!("format `{}` writes a folder of files: use -o {}", format.key, better.display()),
        ));
    }
    check_parent(path)?;
    let naming = Naming { stem, extensions: format.extensions };
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(naming),
        Err(source) => Err(ExportError::Unwritable { path: path.to_owned(), source }),
        Ok(found) if !found.is_dir() => Err(bad(path, "this is no folder; a folder is to be written")),
        Ok(_) => check_contents(path, &naming, overwrite).map(|()| naming),
    }
}

/// Checks that a folder is empty, or is an earlier export that may be overwritten; any other content is refused.
fn check_contents(path: &Path, naming: &Naming, overwrite: Overwrite) -> Result<(), ExportError> {
    let refused = |source| ExportError::Unwritable { path: path.to_owned(), source };
    if fs::read_dir(path).map_err(refused)?.next().is_none() {
        return Ok(());
    }
    match naming.alien(path).map_err(refused)? {
        Some(found) => Err(ExportError::NotAnExport { folder: path.to_owned(), found }),
        None if overwrite == Overwrite::No => Err(ExportError::Exists(path.to_owned())),
        None => Ok(()),
    }
}

/// Removes a folder if it holds only files of an export, otherwise fails.
fn remove_export(folder: &Path, naming: &Naming) -> io::Result<()> {
    match naming.alien(folder)? {
        None => fs::remove_dir_all(folder),
        Some(found) => {
            Err(io::Error::other(format!("`{}` is in the way: it holds `{found}`", folder.display())))
        }
    }
}
