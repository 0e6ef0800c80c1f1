//! Contact sheet and animation: the same camera, the same colours and the same time in all panels.

use super::measures::Measures;
use super::request::Request;
use super::{Args, MethodRun};
use crate::coloring::Coloring;
use crate::failure::{Failure, warn};
use crate::progress::Progress;
use crate::render::{Bounds, Picture, Quality, named_rows, render, side_by_side, write_gif, write_note};
use crate::staging::Staging;
use crate::{commands::render::evenly_spaced, interrupt, scene_source};
use phyxel_io::results::{ComparisonFolder, ParticleTable, ResultFolder};

/// Number of moments on the sheet.
const N_MOMENTS: usize = 6;
/// Number of panels beside each other in the animation.
const N_COLUMNS: usize = 3;
/// Most frames of the animation, so that it fits into memory. Longer runs skip frames; the playing speed is the same.
const MOST_FRAMES: usize = 600;
/// Largest size of the view over that of the run that stays together best. The camera ignores frames that need more:
/// the pieces of a run that explodes may be anywhere.
const LARGEST_OUTGROWTH: f32 = 3.0;

/// Drawing state of all panels.
struct Panels<'a> {
    runs: &'a [MethodRun],
    folders: Vec<ResultFolder>,
    staging: Staging,
    coloring: Coloring,
    size: (usize, usize),
    /// Frame and picture of the last panel drawn for each run.
    latest: Vec<Option<(usize, Picture)>>,
}

/// Draws and writes `sheet.png` and `compare.gif`.
pub(super) fn write(
    args: &Args,
    request: &Request,
    folder: &mut ComparisonFolder,
    runs: &[MethodRun],
    measures: &[Measures],
) -> Result<(), Failure> {
    let last = measures.iter().map(Measures::last_frame).max().unwrap_or(0);
    let every = (last + 1).div_ceil(MOST_FRAMES);
    let frames: Vec<usize> = (0..=last).step_by(every).collect();
    let moments = evenly_spaced(&frames, N_MOMENTS);
    let time_label = |frame: usize| format!("t = {:.3} s", frame as f64 / request.frame_rate);
    let mut panels = Panels::new(args, request, runs, measures, &moments)?;
    let progress = Progress::new(0, last, args.verbosity(), "drawing");
    let mut rows: Vec<(String, Vec<Picture>)> =
        runs.iter().map(|run| (run.method.to_owned(), Vec::new())).collect();
    let mut pages = Vec::with_capacity(frames.len());
    for &frame in &frames {
        if interrupt::requested() {
            progress.finish();
            let path = folder.path().display();
            return Err(Failure::Interrupted(format!(
                "interrupted while drawing; all runs, the table and the plots are in {path}, the pictures are not"
            )));
        }
        let row = panels.draw(frame)?;
        if moments.contains(&frame) {
            rows.iter_mut().zip(&row).for_each(|(row, panel)| row.1.push(panel.1.clone()));
        }
        pages.push(side_by_side(&row, N_COLUMNS, &time_label(frame), &request.title));
        progress.drawn(frame);
    }
    progress.finish();
    let heads: Vec<String> = moments.iter().map(|&frame| time_label(frame)).collect();
    folder.write("sheet.png", |path| named_rows(&rows, &heads, &request.title).write_png(path))?;
    folder.write("compare.gif", |path| write_gif(path, &pages, request.frame_rate / every as f64))?;
    Ok(())
}

impl<'a> Panels<'a> {
    fn new(
        args: &Args,
        request: &Request,
        runs: &'a [MethodRun],
        measures: &[Measures],
        moments: &[usize],
    ) -> Result<Self, Failure> {
        let folders =
            runs.iter().map(|run| ResultFolder::open(&run.folder)).collect::<Result<Vec<_>, _>>()?;
        let coloring = coloring(&args.color_by, &folders, measures, moments)?;
        let obstacles = match folders.first() {
            Some(folder) => scene_source::load_obstacles(folder)?.unwrap_or_else(|_| {
                warn("the obstacles are left out of the pictures: they cannot be read again");
                Vec::new()
            }),
            None => Vec::new(),
        };
        let last = measures.iter().map(Measures::last_frame).max().unwrap_or(0);
        let times: Vec<f64> = (0..=last).map(|frame| frame as f64 / request.frame_rate).collect();
        let aspect = coloring.clear_share() * args.size.0 as f32 / args.size.1 as f32;
        let bounds = framed(runs, measures);
        let staging = Staging::around(bounds, &times, obstacles, &args.camera.unwrap_or_default(), aspect);
        let latest = vec![None; runs.len()];
        Ok(Self { runs, folders, staging, coloring, size: args.size, latest })
    }

    /// Draws a labelled panel for each run. A run that has ended keeps its last picture, with a note.
    fn draw(&mut self, frame: usize) -> Result<Vec<(String, Picture)>, Failure> {
        let mut row = Vec::with_capacity(self.runs.len());
        for (k, run) in self.runs.iter().enumerate() {
            let is_there = self.folders[k].frame_path(frame).exists();
            let panel = match (&self.latest[k], is_there) {
                (Some((_, held)), false) => {
                    let mut held = held.clone();
                    write_note(&mut held, &run.failure().unwrap_or_else(|| "ended".into()));
                    held
                }
                _ => {
                    let table = self.folders[k].read_frame(frame)?;
                    let stage = self.staging.stage(&table, &[], &self.coloring);
                    let panel = render(&stage, self.size.0, self.size.1, Quality::Standard);
                    self.latest[k] = Some((frame, panel.clone()));
                    panel
                }
            };
            row.push((run.method.to_owned(), panel));
        }
        Ok(row)
    }
}

/// Builds a colouring with one range for all runs, from the moments of the sheet.
fn coloring(
    name: &str,
    folders: &[ResultFolder],
    measures: &[Measures],
    moments: &[usize],
) -> Result<Coloring, Failure> {
    if name == "body" {
        return Ok(Coloring::Body);
    }
    let mut tables: Vec<ParticleTable> = Vec::new();
    for (folder, measures) in folders.iter().zip(measures) {
        for &frame in moments.iter().filter(|&&frame| frame <= measures.last_frame()) {
            tables.push(folder.read_frame(frame)?);
        }
    }
    Coloring::new(name, None, &tables).map_err(Failure::Run)
}

/// Returns the box that the camera must show: all matter of all runs, without the scattered pieces of an exploded one.
fn framed(runs: &[MethodRun], measures: &[Measures]) -> Bounds {
    let union = |boxes: &mut dyn Iterator<Item = Bounds>| boxes.fold(Bounds::EMPTY, Bounds::union);
    let all = || measures.iter().flat_map(|one| one.moments.iter().map(|moment| moment.bounds));
    let starts = || measures.iter().filter_map(|one| one.moments.first()).map(|moment| moment.bounds);
    let done = runs.iter().zip(measures).filter(|(run, _)| run.failure().is_none());
    let done = done.map(|(_, one)| union(&mut one.moments.iter().map(|moment| moment.bounds)));
    let extent = |bounds: &Bounds| bounds.size().length();
    let smallest = done.min_by(|left, right| extent(left).total_cmp(&extent(right)));
    let sound = union(&mut starts().chain(smallest));
    let room = LARGEST_OUTGROWTH * extent(&sound);
    union(&mut all().filter(|one| extent(&sound.union(*one)) <= room)).union(sound)
}

#[cfg(test)]
mod tests {
    use super::super::measures::FrameMeasures;
    use super::*;
    use crate::frame_loop::Outcome;
    use phyxel::math::glam::Vec3;
    use phyxel_io::results::{LedgerTable, Tally};

    /// Builds a run of cubes with these half sides, one per frame.
    fn run(method: &'static str, sides: &[f32]) -> (MethodRun, Measures) {
        let moment = |side: &f32| FrameMeasures {
            time: 0.0,
            kinetic: 0.0,
            elastic: 0.0,
            gravity: 0.0,
            volume_ratio: 1.0,
            bounds: Bounds { min: Vec3::splat(-side), max: Vec3::splat(*side) },
            seconds: 0.0,
            steps: 0.0,
        };
        let run = MethodRun {
            method,
            folder: method.into(),
            outcome: Outcome::Done,
            tally: Tally::default(),
            frame_seconds: Vec::new(),
        };
        let moments = sides.iter().map(moment).collect();
        (run, Measures { moments, ledger: LedgerTable::default() })
    }

    #[test]
    fn the_camera_shows_all_runs_but_not_one_that_explodes() {
        let framed_side = |others: &[f32]| {
            let (runs, measures): (Vec<_>, Vec<_>) =
                [run("a", &[1.0, 1.5, 1.2]), run("b", others)].into_iter().unzip();
            framed(&runs, &measures).max.x
        };
        assert_eq!(framed_side(&[1.0, 2.5, 4.0]), 4.0);
        assert_eq!(framed_side(&[1.0, 2.5, 400.0]), 2.5);
    }
}
