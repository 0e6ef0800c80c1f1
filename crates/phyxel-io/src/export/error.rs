//! Errors of an export.

use crate::results::ResultError;
use std::io;
use std::path::{Path, PathBuf};

/// Reason why an export was not written.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The result cannot be read.
    #[error(transparent)]
    Result(#[from] ResultError),
    /// There is no format with this key.
    #[error("there is no format `{key}`: {help}")]
    UnknownFormat {
        /// The requested key.
        key: String,
        /// Remedy: the nearest key, or a list of all keys.
        help: String,
    },
    /// The text is not a range of frames.
    #[error("`{0}` is no range of frames: write 10..40, 10.., ..40 or 10; the last one is included")]
    BadRange(String),
    /// The result has no finished frames yet.
    #[error("{} has no finished frames yet", .0.display())]
    NoFrames(PathBuf),
    /// The result has no frame with this number.
    #[error("there is no frame {number}: the result has {first} to {last}")]
    NoSuchFrame {
        /// Number of the requested frame.
        number: usize,
        /// Number of the first frame of the result.
        first: usize,
        /// Number of the last frame of the result.
        last: usize,
    },
    /// Surfaces were requested, but no body has one.
    #[error(
        "no body of {} has a surface: ask for one in the scene ([bodies.surface]) and run it again, or make skins with \
         `phyxel surface`",
        .0.display()
    )]
    NoSurfaces(PathBuf),
    /// The name of the target does not suit the format.
    #[error("{}: {problem}", path.display())]
    BadTarget {
        /// The target.
        path: PathBuf,
        /// The problem and its remedy.
        problem: String,
    },
    /// The target exists already.
    #[error("{} exists already", .0.display())]
    Exists(PathBuf),
    /// The target folder holds something that no export wrote.
    #[error(
        "{} holds `{found}`, which no export wrote there; nothing in it was touched: choose another folder",
        folder.display()
    )]
    NotAnExport {
        /// The target.
        folder: PathBuf,
        /// Name of the entry that no export wrote.
        found: String,
    },
    /// The target cannot be inspected or created.
    #[error("cannot write {}: {source}", path.display())]
    Unwritable {
        /// The target.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// Writing failed after the target was created.
    #[error("cannot write {}: {source}; nothing was left there", path.display())]
    Write {
        /// The target.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The caller stopped the export.
    #[error("interrupted; nothing was written")]
    Interrupted,
}

impl ExportError {
    pub(super) fn write(path: &Path, source: io::Error) -> Self {
        Self::Write { path: path.to_owned(), source }
    }

    /// Returns true if the request itself was refused, false if reading, writing or an interruption ended the export.
    pub fn is_bad_request(&self) -> bool {
        !matches!(self, Self::Result(_) | Self::Write { .. } | Self::Interrupted)
    }
}
