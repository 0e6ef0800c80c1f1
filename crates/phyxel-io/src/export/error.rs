//! What can go wrong with an export.

use crate::results::ResultError;
use std::io;
use std::path::{Path, PathBuf};

/// Why an export was not written.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The result cannot be read.
    #[error(transparent)]
    Result(#[from] ResultError),
    /// No such format.
    #[error("there is no format `{key}`: {help}")]
    UnknownFormat {
        /// What was asked for.
        key: String,
        /// What there is.
        help: String,
    },
    /// Not a range of frames.
    #[error("`{0}` is no range of frames: write 10..40, 10.., ..40 or 10; the last one is included")]
    BadRange(String),
    /// Nothing to export yet.
    #[error("{} has no finished frames yet", .0.display())]
    NoFrames(PathBuf),
    /// A frame that is not there.
    #[error("there is no frame {number}: the result has {first} to {last}")]
    NoSuchFrame {
        /// Asked for.
        number: usize,
        /// There.
        first: usize,
        /// There.
        last: usize,
    },
    /// Nothing to show of surfaces.
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
        /// What is wrong, and what would be right.
        problem: String,
    },
    /// There is something already.
    #[error("{} exists already", .0.display())]
    Exists(PathBuf),
    /// There is something that no export wrote.
    #[error(
        "{} holds `{found}`, which no export wrote there; nothing in it was touched: choose another folder",
        folder.display()
    )]
    NotAnExport {
        /// The target.
        folder: PathBuf,
        /// A file in it.
        found: String,
    },
    /// The target cannot even be begun.
    #[error("cannot write {}: {source}", path.display())]
    Unwritable {
        /// The target.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Writing failed on the way.
    #[error("cannot write {}: {source}; nothing was left there", path.display())]
    Write {
        /// The target.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The caller stopped it.
    #[error("interrupted; nothing was written")]
    Interrupted,
}

impl ExportError {
    pub(super) fn write(path: &Path, source: io::Error) -> Self {
        Self::Write { path: path.to_owned(), source }
    }

    /// Whether the request was wrong, and not what happened on the way.
    pub fn is_bad_request(&self) -> bool {
        !matches!(self, Self::Result(_) | Self::Write { .. } | Self::Interrupted)
    }
}
