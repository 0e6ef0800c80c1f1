//! Display of a run's progress: a bar on terminals, lines on request, both on stderr.

use crate::failure::warn;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;

/// Amount of output on the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verbosity {
    /// Only errors.
    Quiet,
    /// A bar on terminals.
    Normal,
    /// A line per frame, too.
    Verbose,
}

impl Verbosity {
    /// Returns the level for the flags -q and -v.
    pub(crate) fn from_flags(quiet: bool, verbose: bool) -> Self {
        match (quiet, verbose) {
            (true, _) => Self::Quiet,
            (_, true) => Self::Verbose,
            _ => Self::Normal,
        }
    }
}

/// Facts about a finished frame that are displayed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrameNews {
    /// Number of the frame.
    pub(crate) frame: usize,
    /// Simulated time (s).
    pub(crate) time: f64,
    /// Wall time of the frame (s).
    pub(crate) seconds: f64,
    /// Number of particles.
    pub(crate) n_particles: usize,
    /// Number of steps in the frame.
    pub(crate) n_steps: usize,
    /// Length of the time step (s).
    pub(crate) time_step: f64,
    /// Reason why the time step is not longer.
    pub(crate) reason: &'static str,
}

/// Progress bar of a run.
pub(crate) struct Progress {
    bar: ProgressBar,
    verbosity: Verbosity,
    n_frames: usize,
    /// Name of the current activity, if there are several; ends with a blank.
    label: String,
}

const TEMPLATE: &str = "{prefix}{wide_bar} frame {pos}/{len}  {msg}  {eta} left";

impl Progress {
    /// Creates a bar from frame `first` to frame `n_frames`. The label stands before the bar; it may be empty.
    pub(crate) fn new(first: usize, n_frames: usize, verbosity: Verbosity, label: &str) -> Self {
        let is_shown = verbosity != Verbosity::Quiet && std::io::stderr().is_terminal();
        let target = if is_shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(n_frames as u64), target);
        if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
            bar.set_style(style);
        }
        let label = if label.is_empty() { String::new() } else { format!("{label} ") };
        bar.set_prefix(label.clone());
        bar.set_position(first as u64);
        bar.reset_eta();
        if is_shown {
            bar.enable_steady_tick(Duration::from_millis(250));
        }
        Self { bar, verbosity, n_frames, label }
    }

    /// Shows a finished frame.
    pub(crate) fn frame(&self, news: FrameNews) {
        let FrameNews { frame, time, seconds, n_particles, n_steps, time_step, reason } = news;
        self.bar.set_position(frame as u64);
        self.bar
            .set_message(format!("{seconds:.2} s/frame  {n_particles} particles  step {time_step:.2e} s"));
        if self.verbosity == Verbosity::Verbose {
            let line = format!(
                "{}frame {frame}/{}  t = {time:.4} s  {n_steps} steps of {time_step:.3e} s ({reason})  {seconds:.3} s",
                self.label, self.n_frames
            );
            // `println` of a hidden bar would print nothing
            self.bar.suspend(|| eprintln!("{line}"));
        }
    }

    /// Shows a warning at once, above the bar.
    pub(crate) fn warn(&self, text: &str) {
        if self.verbosity != Verbosity::Quiet {
            self.bar.suspend(|| warn(&format!("{}{text}", self.label)));
        }
    }

    /// Moves the bar to a finished frame.
    pub(crate) fn drawn(&self, frame: usize) {
        self.bar.set_position(frame as u64);
    }

    /// Removes the bar.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
