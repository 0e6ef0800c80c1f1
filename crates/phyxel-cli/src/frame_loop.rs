//! Loop over the frames that `run`, `resume` and `compare` share.

use crate::progress::{FrameNews, Progress, Verbosity};
use crate::surfaces::Surfaces;
use crate::watch::Watch;
use crate::{clock, interrupt, memory};
use phyxel::world::{World, WorldError};
use phyxel_io::results::{Recorder, ResultError, Status, Tally};

/// Frames to compute and to write, and the settings for this.
pub(crate) struct Plan {
    /// First frame to compute; 0 writes the start, too.
    pub(crate) first_frame: usize,
    /// Last frame to compute.
    pub(crate) last_frame: usize,
    /// Frame rate (1/s).
    pub(crate) frame_rate: f64,
    /// Columns of the frames.
    pub(crate) columns: Vec<String>,
    /// Number of frames between checkpoints.
    pub(crate) checkpoint_every: usize,
    /// Steps and times of earlier parts of the run.
    pub(crate) earlier: Tally,
    /// Watch over the frames before the first.
    pub(crate) watch: Watch,
    /// True if the run ends at the first frame that goes wrong.
    pub(crate) stops_on_trouble: bool,
    /// Amount of output on the terminal.
    pub(crate) verbosity: Verbosity,
    /// Text before the progress bar; may be empty.
    pub(crate) label: String,
}

/// End of the loop.
pub(crate) enum Outcome {
    /// All frames were computed.
    Done,
    /// The user stopped the run after this frame.
    Interrupted(usize),
    /// The simulation could not continue.
    Failed(Box<WorldError>),
    /// Something went wrong, and the scene asks to stop then or going on is hopeless: the frame, and what went wrong.
    Stopped(usize, String),
}

/// Result of the loop.
pub(crate) struct Report {
    /// End of the loop.
    pub(crate) outcome: Outcome,
    /// Steps and times of this part of the run.
    pub(crate) tally: Tally,
    /// Wall time of each frame, beginning with the first computed one (s).
    pub(crate) frame_seconds: Vec<f64>,
    /// Wall time of writing in the background (s).
    pub(crate) writing: f64,
    /// Problems besides the simulation.
    pub(crate) warnings: Vec<String>,
    /// Warnings about what went wrong, one sentence each.
    pub(crate) troubles: Vec<String>,
}

struct FrameLoop<'a> {
    plan: &'a Plan,
    world: &'a mut World,
    surfaces: &'a Surfaces,
    recorder: Recorder,
    start: f64,
    tally: Tally,
    frame_seconds: Vec<f64>,
    /// Time for making frames (s); `surfacing`, `checkpoints`, `waiting`: for surfaces, checkpoints and the disk.
    snapshots: f64,
    surfacing: f64,
    warnings: Vec<String>,
    watch: Watch,
    /// Troubles that began in the last frame, one sentence each.
    news: Vec<String>,
    checkpoints: f64,
    waiting: f64,
    /// Frame of the last checkpoint of this part of the run.
    saved: Option<usize>,
}

/// Computes and records the frames of a plan.
///
/// # Errors
/// Fails if results cannot be written.
pub(crate) fn run_frames(
    plan: &Plan,
    world: &mut World,
    surfaces: &Surfaces,
    recorder: Recorder,
) -> Result<Report, ResultError> {
    let start = clock::seconds();
    let mut frames = FrameLoop {
        plan,
        world,
        surfaces,
        recorder,
        start,
        tally: Tally::default(),
        frame_seconds: Vec::new(),
        snapshots: 0.0,
        surfacing: 0.0,
        warnings: Vec::new(),
        watch: plan.watch.clone(),
        news: Vec::new(),
        checkpoints: 0.0,
        waiting: 0.0,
        saved: None,
    };
    let progress = Progress::new(plan.first_frame, plan.last_frame, plan.verbosity, &plan.label);
    let outcome = frames.all_frames(&progress);
    progress.finish();
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(error) => {
            frames.close_tally();
            let total = frames.tally.after(&plan.earlier);
            // if the writer itself has failed, it has recorded the reason
            let _ = frames.recorder.finish(Status::Failed(error.to_string()), total);
            return Err(error);
        }
    };
    let status = match &outcome {
        Outcome::Done => Status::Done,
        Outcome::Interrupted(_) => Status::Interrupted,
        Outcome::Failed(error) => Status::Failed(error.to_string()),
        Outcome::Stopped(_, trouble) => Status::Failed(trouble.clone()),
    };
    frames.close_tally();
    let total = frames.tally.after(&plan.earlier);
    let writing = frames.recorder.finish(status, total)?;
    Ok(Report {
        outcome,
        tally: frames.tally,
        frame_seconds: frames.frame_seconds,
        writing,
        warnings: frames.warnings,
        troubles: frames.watch.later_warnings(plan.first_frame),
    })
}

impl FrameLoop<'_> {
    fn all_frames(&mut self, progress: &Progress) -> Result<Outcome, ResultError> {
        let plan = self.plan;
        if plan.first_frame == 0 {
            self.record(0)?;
            self.news.iter().for_each(|news| progress.warn(news));
            self.checkpoint(0)?;
        }
        let mut last = plan.first_frame.saturating_sub(1);
        for frame in plan.first_frame.max(1)..=plan.last_frame {
            if interrupt::requested() {
                // the signal came after the check at the end of the last frame
                if last >= plan.first_frame {
                    self.checkpoint(last)?;
                }
                return Ok(Outcome::Interrupted(last));
            }
            let start = clock::seconds();
            if let Err(error) = self.world.advance_to(frame as f64 / plan.frame_rate) {
                return Ok(Outcome::Failed(Box::new(error)));
            }
            let news = self.record(frame)?;
            let is_last = frame == plan.last_frame;
            let is_stopped = interrupt::requested();
            let is_troubled = (plan.stops_on_trouble && !self.news.is_empty()) || self.watch.is_hopeless();
            if is_last || is_stopped || is_troubled || frame % plan.checkpoint_every.max(1) == 0 {
                self.checkpoint(frame)?;
            }
            let seconds = clock::seconds() - start;
            self.frame_seconds.push(seconds);
            progress.frame(FrameNews { seconds, ..news });
            if is_troubled {
                let news = std::mem::take(&mut self.news);
                let all = || self.watch.warnings(|frame| format!("frame {frame}"));
                let troubles = if news.is_empty() { all() } else { news };
                return Ok(Outcome::Stopped(frame, troubles.join(";\n  ")));
            }
            self.news.iter().for_each(|news| progress.warn(news));
            if is_stopped && !is_last {
                return Ok(Outcome::Interrupted(frame));
            }
            last = frame;
        }
        Ok(Outcome::Done)
    }

    fn record(&mut self, frame: usize) -> Result<FrameNews, ResultError> {
        let start = clock::seconds();
        let columns: Vec<&str> = self.plan.columns.iter().map(String::as_str).collect();
        let snapshot = self.world.frame(&columns);
        let ledger = self.world.ledger();
        let news = FrameNews {
            frame,
            time: ledger.time,
            seconds: 0.0,
            n_particles: ledger.n_particles,
            n_steps: ledger.n_steps,
            time_step: ledger.time_step,
            reason: ledger.time_step_reason,
        };
        self.news = self.watch.see(frame, &ledger);
        self.tally.n_steps += ledger.n_steps as u64;
        self.tally.particle_steps += (ledger.n_steps * ledger.n_particles) as u64;
        self.snapshots += clock::seconds() - start;
        let start = clock::seconds();
        let (surfaces, problems) = self.surfaces.now(self.world);
        self.warnings.extend(problems.into_iter().map(|problem| format!("frame {frame}: {problem}")));
        self.surfacing += clock::seconds() - start;
        self.close_tally();
        let total = self.tally.after(&self.plan.earlier);
        let start = clock::seconds();
        self.recorder.frame(frame, snapshot, surfaces, ledger, total)?;
        self.waiting += clock::seconds() - start;
        Ok(news)
    }

    /// Writes the checkpoint of a frame, if it is not there yet.
    fn checkpoint(&mut self, frame: usize) -> Result<(), ResultError> {
        if self.saved == Some(frame) {
            return Ok(());
        }
        self.saved = Some(frame);
        let start = clock::seconds();
        self.recorder.checkpoint(frame, self.world)?;
        self.checkpoints += clock::seconds() - start;
        Ok(())
    }

    /// Updates the tally to the current time.
    fn close_tally(&mut self) {
        let stages =
            self.world.timings().stages().iter().map(|(name, seconds)| ((*name).to_owned(), *seconds));
        let surfaces = (!self.surfaces.is_empty()).then_some(("surfaces", self.surfacing));
        let own = [
            ("frames and ledger", self.snapshots),
            ("checkpoints", self.checkpoints),
            ("waiting for the disk", self.waiting),
        ];
        let own = surfaces.into_iter().chain(own).map(|(name, seconds)| (name.to_owned(), seconds));
        self.tally.stages = stages.chain(own).collect();
        self.tally.wall_seconds = clock::seconds() - self.start;
        self.tally.peak_memory = memory::peak();
    }
}
