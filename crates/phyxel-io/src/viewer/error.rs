//! What can go wrong with looking at a result.

use crate::results::ResultError;
use std::path::PathBuf;

/// Why a question about a result has no answer.
#[derive(Debug, thiserror::Error)]
pub enum ViewerError {
    /// The result cannot be read.
    #[error(transparent)]
    Result(#[from] ResultError),
    /// Nothing to see yet.
    #[error("{} has no finished frames yet: wait for the first one", .0.display())]
    NoFrames(PathBuf),
    /// A frame that is not there.
    #[error("there is no frame {index}: the result has {n_frames}, counted from 0")]
    NoSuchFrame {
        /// Asked for.
        index: usize,
        /// There.
        n_frames: usize,
    },
    /// A particle that is not there.
    #[error("there is no row {row}: the frame has {n_rows} particles, counted from 0")]
    NoSuchRow {
        /// Asked for.
        row: usize,
        /// There.
        n_rows: usize,
    },
    /// A column that is not there.
    #[error(
        "the frames have no column `{0}`: add it to [output] columns = [...] in the scene and run it again"
    )]
    NoSuchColumn(String),
}
