//! Selection of the frames and geometry of a result that are exported.

use super::{ExportError, FrameRange};
use crate::results::{ParticleColumn, ParticleTable, ResultError, ResultFolder, RunInfo, SurfaceTable};
use std::ops::RangeInclusive;
use std::path::Path;

/// Name of the column that motion blur is computed from.
const VELOCITY: &str = "velocity";

/// Selected frames of a result, read one at a time, with the data that all of them share.
#[derive(Debug)]
pub struct FrameSelection<'a> {
    folder: &'a ResultFolder,
    info: RunInfo,
    numbers: RangeInclusive<usize>,
    columns: Vec<ColumnHead>,
    geometry: Geometry,
}

/// Selects which geometry of a body is exported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Geometry {
    /// The surface of the body, or its particles if it has no surface.
    #[default]
    Seen,
    /// Only the particles of the body.
    Particles,
    /// Only the surface of the body.
    Surfaces,
    /// The particles of the body, and its surface if it has one.
    Both,
}

/// Name, unit and size of a column, without its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnHead {
    /// Name of the column, as requested in the scene.
    pub name: String,
    /// SI unit of the values.
    pub unit: String,
    /// Number of components: 1 for scalars, 3 for vectors.
    pub n_components: usize,
}

/// Exported data of one frame.
#[derive(Clone, Debug)]
pub struct SelectedFrame {
    /// Number of the frame.
    pub number: usize,
    /// Time of the frame (s).
    pub time: f64,
    /// Particles in order of id; all frames of a selection have the same columns.
    pub particles: ParticleTable,
    /// Surface of each body; `None` if the body has no surface or it is not exported.
    pub surfaces: Vec<Option<SurfaceTable>>,
}

impl<'a> FrameSelection<'a> {
    /// Chooses frames of a result, which may still be growing.
    ///
    /// # Errors
    /// When there are no frames, a requested frame is missing, or the result cannot be read.
    pub fn open(folder: &'a ResultFolder, range: FrameRange) -> Result<Self, ExportError> {
        let known = folder.known_frames()?;
        let (Some(&first), Some(&last)) = (known.first(), known.last()) else {
            return Err(ExportError::NoFrames(folder.path().to_owned()));
        };
        let (begin, end) = range.within(first, last)?;
        let numbers = folder.frame_numbers()?;
        if let Some(missing) = (begin..=end).find(|number| numbers.binary_search(number).is_err()) {
            return Err(ResultError::damaged(&folder.frame_path(missing), "this frame is missing").into());
        }
        let info = folder.run_info()?;
        let columns = heads(&folder.read_frame(begin)?.columns);
        Ok(Self { folder, info, numbers: begin..=end, columns, geometry: Geometry::Particles })
    }

    /// Chooses the exported geometry of the bodies; without this call, only particles are exported.
    ///
    /// # Errors
    /// When surfaces are asked for and no body has one, or some are missing.
    pub fn with_geometry(mut self, geometry: Geometry) -> Result<Self, ExportError> {
        self.geometry = geometry;
        let bodies: Vec<usize> = (0..self.info.bodies.len()).filter(|&k| self.shows_surface(k)).collect();
        if geometry == Geometry::Surfaces && bodies.is_empty() {
            return Err(ExportError::NoSurfaces(self.folder.path().to_owned()));
        }
        for body in bodies {
            let name = &self.info.bodies[body].name;
            let there = self.folder.surface_numbers(name)?;
            if let Some(missing) = self.numbers().find(|number| there.binary_search(number).is_err()) {
                let problem = "this surface is missing; make it with `phyxel surface`";
                return Err(ResultError::damaged(&self.folder.surface_path(name, missing), problem).into());
            }
        }
        Ok(self)
    }

    /// Returns true if the surface of a body is exported.
    pub fn shows_surface(&self, body: usize) -> bool {
        self.geometry != Geometry::Particles && self.info.bodies[body].surface.is_some()
    }

    /// Returns true if the particles of a body are exported.
    pub fn shows_particles(&self, body: usize) -> bool {
        match self.geometry {
            Geometry::Particles | Geometry::Both => true,
            Geometry::Surfaces => false,
            Geometry::Seen => self.info.bodies[body].surface.is_none(),
        }
    }

    /// Returns the indices of the bodies whose particles are exported.
    pub(super) fn bodies_of_particles(&self) -> impl Iterator<Item = usize> {
        (0..self.info.bodies.len()).filter(|&body| self.shows_particles(body))
    }

    /// Returns the path of the result folder.
    pub(super) fn folder_path(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the metadata of the run.
    pub fn info(&self) -> &RunInfo {
        &self.info
    }

    /// Returns the numbers of the selected frames.
    pub fn numbers(&self) -> RangeInclusive<usize> {
        self.numbers.clone()
    }

    /// Returns the number of selected frames.
    pub fn n_frames(&self) -> usize {
        1 + self.numbers.end() - self.numbers.start()
    }

    /// Returns the columns of every frame, including the velocity if there is one.
    pub fn columns(&self) -> &[ColumnHead] {
        &self.columns
    }

    /// Returns true if the frames have velocities.
    pub fn has_velocities(&self) -> bool {
        self.columns.iter().any(|column| is_velocity(&column.name, column.n_components))
    }

    /// Returns the names of the bodies; particles refer to a body by its index in this list.
    pub fn body_names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.info.bodies.iter().map(|body| body.name.as_str())
    }

    /// Reads a frame.
    ///
    /// # Errors
    /// When the frame cannot be read, or its bodies or columns do not match the selection.
    pub fn frame(&self, number: usize) -> Result<SelectedFrame, ExportError> {
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
        let surface = |body: usize| {
            let name = &self.info.bodies[body].name;
            self.shows_surface(body).then(|| self.folder.read_surface(name, number)).transpose()
        };
        let surfaces = (0..n_bodies).map(surface).collect::<Result<_, _>>()?;
        Ok(SelectedFrame { number, time: particles.time, particles, surfaces })
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

impl SelectedFrame {
    /// Keeps only the particles of the bodies for which `is_kept` returns true.
    pub(super) fn keep_particles(&mut self, is_kept: impl Fn(usize) -> bool) {
        let ParticleTable { position, id, body, radius, columns, .. } = &mut self.particles;
        let rows: Vec<usize> = (0..id.len()).filter(|&row| is_kept(body[row] as usize)).collect();
        if rows.len() == id.len() {
            return;
        }
        fn taken<T: Clone>(values: &mut Vec<T>, rows: &[usize], n: usize) {
            *values = rows.iter().flat_map(|&row| values[row * n..(row + 1) * n].iter().cloned()).collect();
        }
        taken(position, &rows, 1);
        taken(id, &rows, 1);
        taken(body, &rows, 1);
        taken(radius, &rows, 1);
        columns.iter_mut().for_each(|column| taken(&mut column.values, &rows, column.n_components));
    }

    /// Returns the rows of the particles of a body, in order of id.
    pub(super) fn rows_of(&self, body: usize) -> Vec<usize> {
        let bodies = &self.particles.body;
        (0..bodies.len()).filter(|&row| bodies[row] as usize == body).collect()
    }
}
