//! Errors of the viewer.

use crate::results::ResultError;
use std::path::PathBuf;

/// Reason why a request for data of a result cannot be answered.
#[derive(Debug, thiserror::Error)]
pub enum ViewerError {
    /// The result cannot be read.
    #[error(transparent)]
    Result(#[from] ResultError),
    /// The result has no finished frames yet.
    #[error("{} has no finished frames yet: wait for the first one", .0.display())]
    NoFrames(PathBuf),
    /// The result has no such frame.
    #[error("there is no frame {index}: the result has {n_frames}, counted from 0")]
    NoSuchFrame {
        /// Index of the requested frame.
        index: usize,
        /// Number of frames of the result.
        n_frames: usize,
    },
    /// The frame has no such particle.
    #[error("there is no row {row}: the frame has {n_rows} particles, counted from 0")]
    NoSuchRow {
        /// Row of the requested particle.
        row: usize,
        /// Number of particles of the frame.
        n_rows: usize,
    },
    /// The frames have no column of this name.
    #[error(
        "the frames have no column `{0}`: add it to [output] columns = [...] in the scene and run it again"
    )]
    NoSuchColumn(String),
}
