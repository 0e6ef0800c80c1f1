//! What is exported: some frames of a result.

use super::{ExportError, FrameRange};
use crate::results::{ParticleColumn, ParticleTable, ResultError, ResultFolder, RunInfo};
use std::ops::RangeInclusive;
use std::path::Path;

/// The column that motion blur is made of.
const VELOCITY: &str = "velocity";

/// Some frames of a result, read one at a time, and what is the same in all of them.
#[derive(Debug)]
pub struct Take<'a> {
    folder: &'a ResultFolder,
    info: RunInfo,
    numbers: RangeInclusive<usize>,
    columns: Vec<ColumnHead>,
}

/// A column without its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnHead {
    /// As asked for in the scene.
    pub name: String,
    /// SI unit.
    pub unit: String,
    /// 1 for scalars, 3 for vectors.
    pub n_components: usize,
}

/// What is exported of one frame.
#[derive(Clone, Debug)]
pub struct Moment {
    /// Of the frame.
    pub number: usize,
    /// [s]
    pub time: f64,
    /// Rows in order of id. Every take has the same columns in all of its frames.
    pub particles: ParticleTable,
}

impl<'a> Take<'a> {
    /// Chooses frames of a result, which may still be growing.
    ///
    /// # Errors
    /// When there are no frames, not the ones asked for, or the result cannot be read.
    pub fn open(folder: &'a ResultFolder, range: FrameRange) -> Result<Self, ExportError> {
        let numbers = folder.frame_numbers()?;
        let (Some(&first), Some(&last)) = (numbers.first(), numbers.last()) else {
            return Err(ExportError::NoFrames(folder.path().to_owned()));
        };
        let (begin, end) = range.within(first, last)?;
        if let Some(missing) = (begin..=end).find(|number| numbers.binary_search(number).is_err()) {
            return Err(ResultError::damaged(&folder.frame_path(missing), "this frame is missing").into());
        }
        let info = folder.run_info()?;
        let columns = heads(&folder.read_frame(begin)?.columns);
        Ok(Self { folder, info, numbers: begin..=end, columns })
    }

    /// Where the result is.
    pub(super) fn folder_path(&self) -> &Path {
        self.folder.path()
    }

    /// What is known of the run.
    pub fn info(&self) -> &RunInfo {
        &self.info
    }

    /// Numbers of the frames.
    pub fn numbers(&self) -> RangeInclusive<usize> {
        self.numbers.clone()
    }

    /// How many frames.
    pub fn n_frames(&self) -> usize {
        1 + self.numbers.end() - self.numbers.start()
    }

    /// The columns of every frame, the velocity among them.
    pub fn columns(&self) -> &[ColumnHead] {
        &self.columns
    }

    /// Whether the frames have velocities.
    pub fn has_velocities(&self) -> bool {
        self.columns.iter().any(|column| is_velocity(&column.name, column.n_components))
    }

    /// Names of the bodies; particles refer to them by their places.
    pub fn body_names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.info.bodies.iter().map(|body| body.name.as_str())
    }

    /// Reads a frame.
    ///
    /// # Errors
    /// When it cannot be read, or does not fit the others.
    pub fn moment(&self, number: usize) -> Result<Moment, ExportError> {
        let particles = self.folder.read_frame(number)?;
        let damaged = |problem: String| ResultError::damaged(&self.folder.frame_path(number), problem);
        let n_bodies = self.info.bodies.len();
        if let Some(body) = particles.body.iter().find(|&&body| body as usize >= n_bodies) {
            return Err(
                damaged(format!("a particle belongs to body {body}, but the run has {n_bodies}")).into()
            );
        }
        if heads(&particles.columns) != self.columns {
            return Err(damaged("its columns are not those of the other frames".into()).into());
        }
        Ok(Moment { number, time: particles.time, particles })
    }
}

fn heads(columns: &[ParticleColumn]) -> Vec<ColumnHead> {
    let head = |column: &ParticleColumn| ColumnHead {
        name: column.name.clone(),
        unit: column.unit.clone(),
        n_components: column.n_components,
    };
    columns.iter().map(head).collect()
}

pub(super) fn is_velocity(name: &str, n_components: usize) -> bool {
    name == VELOCITY && n_components == 3
}

impl Moment {
    /// Rows of the particles of a body, in order of id.
    pub(super) fn rows_of(&self, body: usize) -> Vec<usize> {
        let bodies = &self.particles.body;
        (0..bodies.len()).filter(|&row| bodies[row] as usize == body).collect()
    }
}
