//! What a run shows while it goes on: a bar on terminals, lines if asked for, both on stderr.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;

/// How much is shown.
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
    /// From the flags -q and -v.
    pub(crate) fn from_flags(quiet: bool, verbose: bool) -> Self {
        match (quiet, verbose) {
            (true, _) => Self::Quiet,
            (_, true) => Self::Verbose,
            _ => Self::Normal,
        }
    }
}

/// What is told about a finished frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrameNews {
    /// Its number.
    pub(crate) frame: usize,
    /// (s)
    pub(crate) time: f64,
    /// Seconds that it took to compute.
    pub(crate) seconds: f64,
    /// Particles.
    pub(crate) n_particles: usize,
    /// Steps in it.
    pub(crate) n_steps: usize,
    /// (s)
    pub(crate) time_step: f64,
    /// Why it is not longer.
    pub(crate) reason: &'static str,
}

/// The bar of a run.
pub(crate) struct Progress {
    bar: ProgressBar,
    verbosity: Verbosity,
    n_frames: usize,
    /// Says what is going on, where there is more than one thing; with a blank at its end.
    label: String,
}

const TEMPLATE: &str = "{prefix}{wide_bar} frame {pos}/{len}  {msg}  {eta} left";

impl Progress {
    /// A bar from frame `first` to frame `n_frames`. The label stands before it; it may be empty.
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
            // a hidden bar swallows lines
            self.bar.suspend(|| eprintln!("{line}"));
        }
    }

    /// Shows that a frame is drawn.
    pub(crate) fn drawn(&self, frame: usize) {
        self.bar.set_position(frame as u64);
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
