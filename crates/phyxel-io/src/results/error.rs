//! Errors of a result folder.

use super::{CheckpointError, PlyError};
use std::io;
use std::path::{Path, PathBuf};

/// Reason why a result folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ResultError {
    /// A file operation failed.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// Verb of the operation: "write", "read", ...
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The folder holds a result already.
    #[error("{} holds the result of another run", .0.display())]
    Exists(PathBuf),
    /// The path exists and is no result folder.
    #[error("{} exists and is no result folder of phyxel; nothing in it was touched", .0.display())]
    NotAResult(PathBuf),
    /// The folder holds a comparison already.
    #[error("{} holds another comparison", .0.display())]
    ComparisonExists(PathBuf),
    /// The path exists and is no comparison.
    #[error("{} exists and is no comparison of phyxel; nothing in it was touched", .0.display())]
    NotAComparison(PathBuf),
    /// Another process is writing to the folder.
    #[error("{} is being written by another run", .0.display())]
    Busy(PathBuf),
    /// The folder has no checkpoint to continue from.
    #[error("{} has no whole checkpoint with whole frames up to it", .0.display())]
    NoCheckpoint(PathBuf),
    /// A file is missing, or its content is wrong.
    #[error("{}: {problem}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Description of the problem.
        problem: String,
    },
    /// A frame cannot be read.
    #[error("{}: {source}", path.display())]
    Frame {
        /// The file.
        path: PathBuf,
        /// Problem with its content.
        source: PlyError,
    },
    /// A checkpoint cannot be used.
    #[error("{}: {source}", path.display())]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// Problem with the checkpoint.
        source: CheckpointError,
    },
    /// The background writer ended without reporting an error.
    #[error("the writer of results stopped unexpectedly")]
    WriterGone,
}

impl ResultError {
    /// Returns the result folder of a damaged file, if the error tells of one.
    pub fn damaged_folder(&self) -> Option<&Path> {
        let (Self::Damaged { path, .. } | Self::Frame { path, .. } | Self::Checkpoint { path, .. }) = self
        else {
            return None;
        };
        let folder = path.parent()?;
        let is_inner = super::folder::WRITTEN_FOLDERS.iter().any(|name| folder.ends_with(name));
        if is_inner { folder.parent() } else { Some(folder) }
    }

    pub(super) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { action, path: path.to_owned(), source }
    }

    pub(crate) fn damaged(path: &Path, problem: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), problem: problem.into() }
    }
}
