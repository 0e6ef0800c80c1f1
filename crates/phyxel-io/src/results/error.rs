//! What can go wrong with a result folder.

use super::{CheckpointError, PlyError};
use std::io;
use std::path::{Path, PathBuf};

/// Why a result folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ResultError {
    /// The system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried: "write", "read", ...
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// There is a result already.
    #[error("{} holds the result of another run", .0.display())]
    Exists(PathBuf),
    /// There is something else.
    #[error("{} exists and is no result folder of phyxel; nothing in it was touched", .0.display())]
    NotAResult(PathBuf),
    /// There is a comparison already.
    #[error("{} holds another comparison", .0.display())]
    ComparisonExists(PathBuf),
    /// There is something else where a comparison was to be.
    #[error("{} exists and is no comparison of phyxel; nothing in it was touched", .0.display())]
    NotAComparison(PathBuf),
    /// Another process writes there.
    #[error("{} is being written by another run", .0.display())]
    Busy(PathBuf),
    /// Nothing to go on from.
    #[error("{} has no checkpoint to go on from", .0.display())]
    NoCheckpoint(PathBuf),
    /// A file does not say what it must.
    #[error("{}: {problem}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A frame cannot be read.
    #[error("{}: {source}", path.display())]
    Frame {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: PlyError,
    },
    /// A checkpoint cannot be used.
    #[error("{}: {source}", path.display())]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: CheckpointError,
    },
    /// The background writer ended without a word.
    #[error("the writer of results stopped unexpectedly")]
    WriterGone,
}

impl ResultError {
    pub(super) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { action, path: path.to_owned(), source }
    }

    pub(crate) fn damaged(path: &Path, problem: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), problem: problem.into() }
    }
}
