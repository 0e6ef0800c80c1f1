//! Replay of a result folder in the page, also while the folder grows.

use super::arrays::{SharedArrays, bulk_range};
use super::packet::{PageFrame, PageSurface};
use super::particle::particle_of_table;
use super::{PageBounds, PageColumnInfo, PageInfo, Scenery, ViewerError, ledger, page_bounds, page_middle};
use crate::results::{LedgerTable, ParticleTable, ResultFolder, RunInfo, SurfaceTable, parse_scene};
use serde_json::{Value, json};
use std::path::Path;

/// Number of frames that are read at the start to find the ranges of colours.
const N_SAMPLES: usize = 5;
/// Largest file of a frame (bytes) for reading these; else only the first frame is read, so that it is shown soon.
const LARGE_FRAME: u64 = 40 << 20;

/// A result folder that the page plays.
#[derive(Debug)]
pub struct Replay {
    folder: ResultFolder,
    run: RunInfo,
    body_names: Vec<String>,
    /// Numbers of the frames, ascending; the page counts the frames from 0.
    numbers: Vec<usize>,
    columns: Vec<Column>,
    bounds: PageBounds,
    scenery: Scenery,
    notes: Vec<String>,
    /// Number of rows of the ledger at the last message; later rows are new to every page.
    n_ledger_rows: usize,
}

/// Selects the bodies whose particles and surfaces are shown.
#[derive(Debug)]
pub(crate) struct Selection {
    pub(crate) particles: Vec<bool>,
    pub(crate) surfaces: Vec<bool>,
}

impl Selection {
    fn keep_particles(&self, table: &mut ParticleTable) {
        if self.particles.iter().all(|&is_kept| is_kept) {
            return;
        }
        let bodies = std::mem::take(&mut table.body);
        let is_kept = |body: u32| self.particles.get(body as usize).copied().unwrap_or(true);
        let rows: Vec<usize> = (0..bodies.len()).filter(|&row| is_kept(bodies[row])).collect();
        table.position = rows.iter().map(|&row| table.position[row]).collect();
        table.id = rows.iter().map(|&row| table.id[row]).collect();
        table.radius = rows.iter().map(|&row| table.radius[row]).collect();
        table.body = rows.iter().map(|&row| bodies[row]).collect();
        for column in &mut table.columns {
            let n = column.n_components;
            let values = rows.iter().flat_map(|row| &column.values[row * n..(row + 1) * n]);
            column.values = values.copied().collect();
        }
    }
}

/// A column that particles can be coloured by.
#[derive(Debug)]
struct Column {
    name: String,
    unit: String,
    n_components: usize,
    /// Range of the values over the frames that were read.
    range: Option<[f32; 2]>,
}

impl Column {
    fn info(&self) -> PageColumnInfo<'_> {
        let Self { name, unit, n_components, range } = self;
        PageColumnInfo { name, unit, n_components: *n_components, range: *range }
    }
}

impl Replay {
    /// Opens a result folder, which may still be growing.
    ///
    /// # Errors
    /// When the folder is no result, cannot be read, or has no frames yet.
    pub fn open(path: &Path) -> Result<Self, ViewerError> {
        let folder = ResultFolder::open(path)?;
        let numbers = folder.known_frames()?;
        let mut replay = Self::of_frames(folder, numbers)?;
        replay.sample_ranges()?;
        Ok(replay)
    }

    /// Creates the replay of some frames of a result folder.
    pub(crate) fn of_frames(folder: ResultFolder, numbers: Vec<usize>) -> Result<Self, ViewerError> {
        let Some(&first) = numbers.first() else {
            return Err(ViewerError::NoFrames(folder.path().to_owned()));
        };
        let run = folder.run_info()?;
        let table = folder.read_frame(first)?;
        let bounds = page_bounds(&table.position, &table.radius);
        let mut notes = Vec::new();
        let text = folder.scene_text()?;
        let obstacles = parse_scene(&text).and_then(|scene| scene.obstacles(folder.path()));
        let scenery = match obstacles {
            Ok(obstacles) => Scenery::new(obstacles, page_middle(bounds)),
            Err(_) => {
                notes.push(
                    "The obstacles are left out: this version cannot read the scene of this result.".into(),
                );
                Scenery::default()
            }
        };
        let body_names = run.bodies.iter().map(|body| body.name.clone()).collect();
        let columns = columns(&table);
        let n_ledger_rows = folder.ledger().map_or(0, |ledger| ledger.rows.len());
        let mut replay =
            Self { folder, run, body_names, numbers, columns, bounds, scenery, notes, n_ledger_rows };
        replay.widen_ranges(&table);
        Ok(replay)
    }

    /// Reads some frames to find the range of each column.
    fn sample_ranges(&mut self) -> Result<(), ViewerError> {
        let size =
            std::fs::metadata(self.folder.frame_path(self.numbers[0])).map_or(u64::MAX, |file| file.len());
        let last = self.numbers.len() - 1;
        if size <= LARGE_FRAME && !self.columns.is_empty() {
            let mut places: Vec<usize> = (1..N_SAMPLES).map(|k| last * k / (N_SAMPLES - 1)).collect();
            places.dedup();
            for place in places.into_iter().filter(|&place| place > 0) {
                let table = self.folder.read_frame(self.numbers[place])?;
                self.widen_ranges(&table);
            }
        }
        Ok(())
    }

    fn widen_ranges(&mut self, table: &ParticleTable) {
        let page_frame = PageFrame::of_table(0, table);
        for found in &page_frame.columns {
            let Some(column) = self.columns.iter_mut().find(|column| column.name == found.name) else {
                continue;
            };
            column.range = union(column.range, bulk_range(&found.scalars()));
        }
    }

    /// Returns the number of frames to play.
    pub fn n_frames(&self) -> usize {
        self.numbers.len()
    }

    /// Returns the message that describes the result to a page.
    pub fn info(&self) -> Value {
        let mut notes = self.notes.clone();
        // the ledger of a run that has just begun is empty; the frames are shown even if it is damaged
        let mut ledger = self.folder.ledger().unwrap_or_else(|error| {
            if self.numbers.len() > 1 {
                notes.push(format!("There are no plots: {error}."));
            }
            LedgerTable::default()
        });
        // row k belongs to frame k
        let (first, last) = (self.numbers[0], self.numbers[self.numbers.len() - 1]);
        ledger.rows.truncate(last + 1);
        ledger.rows.drain(..first.min(ledger.rows.len()));
        let ledger = ledger::table_json(&ledger);
        let columns: Vec<PageColumnInfo<'_>> = self.columns.iter().map(Column::info).collect();
        let info = PageInfo {
            mode: "replay",
            title: &self.run.title,
            version: &self.run.version,
            n_frames: self.numbers.len(),
            first_frame: self.numbers[0],
            frame_rate: self.run.frame_rate,
            bodies: &self.run.bodies,
            columns: &columns,
            bounds: self.bounds,
            scenery: &self.scenery,
            ledger: &ledger,
            notes: &notes,
        };
        info.to_json()
    }

    /// Returns the packet of a frame, with the named columns.
    ///
    /// # Errors
    /// When there is no such frame or column, or the frame cannot be read.
    pub fn packet(&self, index: usize, columns: &[String]) -> Result<Vec<u8>, ViewerError> {
        let number = self.number(index)?;
        if let Some(unknown) =
            columns.iter().find(|name| !self.columns.iter().any(|known| known.name == **name))
        {
            return Err(ViewerError::NoSuchColumn(unknown.clone()));
        }
        let is_wanted = |name: &str| columns.iter().any(|wanted| wanted == name);
        let table = self.folder.read_frame_columns(number, &is_wanted)?;
        let surfaces = self.surfaces(number)?;
        Ok(self.page_frame(index, &table, &surfaces).encode())
    }

    /// Returns the compact packet of a frame, with all columns; widens the ranges of colours by those of this frame.
    pub(crate) fn compact_packet(
        &mut self,
        index: usize,
        selection: &Selection,
        shared: &mut SharedArrays,
    ) -> Result<Vec<u8>, ViewerError> {
        let number = self.number(index)?;
        let mut table = self.folder.read_frame(number)?;
        selection.keep_particles(&mut table);
        self.widen_ranges(&table);
        let mut surfaces = self.surfaces(number)?;
        surfaces.retain(|(body, _)| selection.surfaces[*body]);
        Ok(self.page_frame(index, &table, &surfaces).encode_compact(shared))
    }

    fn page_frame<'a>(
        &self,
        index: usize,
        table: &'a ParticleTable,
        surfaces: &'a [(usize, SurfaceTable)],
    ) -> PageFrame<'a> {
        let mut page_frame = PageFrame::of_table(index, table);
        page_frame.surfaces =
            surfaces.iter().map(|(body, table)| PageSurface::of_table(*body, table)).collect();
        page_frame.obstacles = self.scenery.poses(table.time);
        page_frame
    }

    /// Reads the surfaces of a frame, with the indices of their bodies; surfaces that are not written yet are left out.
    fn surfaces(&self, number: usize) -> Result<Vec<(usize, SurfaceTable)>, ViewerError> {
        let mut surfaces = Vec::new();
        for (index, body) in self.run.bodies.iter().enumerate().filter(|(_, body)| body.surface.is_some()) {
            if self.folder.surface_path(&body.name, number).exists() {
                surfaces.push((index, self.folder.read_surface(&body.name, number)?));
            }
        }
        Ok(surfaces)
    }

    /// Returns the values of a particle.
    ///
    /// # Errors
    /// When there is no such frame or row, or the frame cannot be read.
    pub fn particle(&self, index: usize, row: usize) -> Result<Value, ViewerError> {
        let table = self.folder.read_frame(self.number(index)?)?;
        particle_of_table(index, row, &table, &self.body_names)
            .ok_or(ViewerError::NoSuchRow { row, n_rows: table.id.len() })
    }

    /// Checks for new frames; if there are any, returns the message that tells it to the page.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn refresh(&mut self) -> Result<Option<Value>, ViewerError> {
        let numbers = self.folder.frame_numbers()?;
        if numbers.len() <= self.numbers.len() {
            return Ok(None);
        }
        let ledger = self.folder.ledger().unwrap_or_default();
        let first_row = std::mem::replace(&mut self.n_ledger_rows, ledger.rows.len());
        self.numbers = numbers;
        Ok(Some(json!({
            "type": "frames",
            "frames": self.numbers.len(),
            "ledger_first": first_row,
            "ledger_rows": ledger::rows_from(&ledger, first_row),
        })))
    }

    fn number(&self, index: usize) -> Result<usize, ViewerError> {
        let n_frames = self.numbers.len();
        self.numbers.get(index).copied().ok_or(ViewerError::NoSuchFrame { index, n_frames })
    }
}

fn columns(table: &ParticleTable) -> Vec<Column> {
    let column = |column: &crate::results::ParticleColumn| Column {
        name: column.name.clone(),
        unit: column.unit.clone(),
        n_components: column.n_components,
        range: None,
    };
    table.columns.iter().map(column).collect()
}

fn union(a: Option<[f32; 2]>, b: Option<[f32; 2]>) -> Option<[f32; 2]> {
    match (a, b) {
        (Some(a), Some(b)) => Some([a[0].min(b[0]), a[1].max(b[1])]),
        (a, b) => a.or(b),
    }
}
