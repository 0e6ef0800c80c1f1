//! `phyxel run`: from a scene to a result folder.

use super::print;
use crate::failure::{Failure, warn};
use crate::frame_loop::{Outcome, Plan, Report, run_frames};
use crate::progress::Verbosity;
use crate::scene_source::{self, SceneSource};
use crate::watch::Watch;
use crate::{interrupt, summary, threads};
use phyxel_io::results::{Overwrite, Recorder, ResultFolder, RunInfo, Status, Tally};
use phyxel_io::scene::description::OnTrouble;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  phyxel run scenes/tutorials/01_jelly_drop.toml
  phyxel run clay.toml -o /tmp/clay --frames 30 --threads 4
  phyxel run clay.toml --set materials.clay.youngs_modulus=\"2 MPa\" --set bodies.bar.spacing=0.02

Ctrl-C (or SIGTERM, SIGHUP) finishes the current frame and writes a checkpoint: `phyxel resume` goes on from there with the
same bits. After a loss of power it goes on from the last checkpoint.";

/// Runs a scene and writes a result folder.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The scene file.
    #[arg(value_name = "SCENE.toml")]
    scene: PathBuf,
    /// Folder for the result; `out` and the name of the scene by default.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Number of the last frame, in place of the scene's duration. Frame 0 is the start.
    #[arg(long, value_name = "N")]
    frames: Option<usize>,
    /// Threads; all cores by default. The result has the same bits for any number.
    #[arg(long, value_name = "N", value_parser = threads::parse_threads)]
    threads: Option<usize>,
    /// Changes a key of the scene; an empty value removes it.
    #[arg(long, value_name = "KEY=VALUE", value_parser = parse_override)]
    set: Vec<(String, String)>,
    /// Replaces an existing result.
    #[arg(long)]
    force: bool,
    /// Shows nothing but errors.
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,
    /// Shows a line per frame.
    #[arg(short, long)]
    verbose: bool,
}

pub(super) fn parse_override(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("KEY=VALUE is expected")?;
    Ok((key.trim().to_owned(), value.to_owned()))
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let default = || Path::new("out").join(scene_source::scene_name(&args.scene));
    let output = args.output.clone().unwrap_or_else(default);
    let overwrite = if args.force { Overwrite::Yes } else { Overwrite::No };
    // checked before the work, which may take long
    ResultFolder::check_free(&output, overwrite)?;
    interrupt::listen()?;
    threads::with_threads(args.threads, || {
        let mut source = scene_source::load(&args.scene, &args.set)?;
        source.warnings().iter().for_each(|warning| warn(warning));
        let verbosity = Verbosity::from_flags(args.quiet, args.verbose);
        let n_frames = args.frames.unwrap_or_else(|| source.scene.n_frames());
        let plan = plan(&source, 0, n_frames, Tally::default(), verbosity);
        let report = record(&mut source, &plan, &output, overwrite)?;
        conclude(&report, &output, verbosity)
    })
}

/// Computes a scene from its start into a new result folder.
pub(super) fn record(
    source: &mut SceneSource,
    plan: &Plan,
    output: &Path,
    overwrite: Overwrite,
) -> Result<Report, Failure> {
    let info = new_info(source, plan.last_frame);
    let folder = ResultFolder::create(output, overwrite, &source.bundle)?;
    let ledger = folder.new_ledger()?;
    let recorder = Recorder::start(folder, info, ledger)?;
    Ok(run_frames(plan, &mut source.world, &source.surfaces, recorder)?)
}

/// Plans the frames to compute of a scene.
pub(super) fn plan(
    source: &SceneSource,
    first_frame: usize,
    last_frame: usize,
    earlier: Tally,
    verbosity: Verbosity,
) -> Plan {
    let output = &source.scene.output;
    Plan {
        first_frame,
        last_frame,
        frame_rate: source.scene.frame_rate,
        columns: output.columns.clone(),
        checkpoint_every: output.checkpoint_every,
        earlier,
        watch: Watch::default(),
        stops_on_trouble: source.scene.on_trouble == OnTrouble::Stop,
        verbosity,
        label: String::new(),
    }
}

/// Returns the metadata of a run that begins.
pub(super) fn new_info(source: &SceneSource, n_frames: usize) -> RunInfo {
    RunInfo {
        version: env!("CARGO_PKG_VERSION").into(),
        scene_digest: source.digest(),
        title: source.title.clone(),
        methods: source.methods(),
        bodies: source.bodies.clone(),
        columns: source.scene.output.columns.clone(),
        frame_rate: source.scene.frame_rate,
        n_frames,
        frame_times: Vec::new(),
        frame_particles: Vec::new(),
        status: Status::Running,
        n_threads: rayon::current_num_threads(),
        tally: Tally::default(),
    }
}

/// Reports the end of a run.
pub(super) fn conclude(report: &Report, output: &Path, verbosity: Verbosity) -> Result<(), Failure> {
    let resume = format!("phyxel resume {}", output.display());
    if let Some(first) = report.warnings.first() {
        let others = report.warnings.len() - 1;
        warn(&if others > 0 { format!("{first} (and {others} more)") } else { first.clone() });
    }
    if verbosity != Verbosity::Quiet && !matches!(report.outcome, Outcome::Stopped(..)) {
        report.troubles.iter().for_each(|warning| warn(warning));
    }
    match &report.outcome {
        Outcome::Done if verbosity == Verbosity::Quiet => Ok(()),
        Outcome::Done => {
            let table = summary::summary(report, rayon::current_num_threads());
            print(&format!("{table}result in {}\n", output.display()))
        }
        Outcome::Interrupted(frame) => {
            Err(Failure::Interrupted(format!("interrupted after frame {frame}; go on with: {resume}")))
        }
        Outcome::Stopped(frame, trouble) => Err(Failure::Run(format!(
            "stopped after frame {frame}: {trouble}.\n  everything up to this frame is in {}",
            output.display()
        ))),
        Outcome::Failed(error) => Err(Failure::Run(format!(
            "the run failed {error}.\n  everything up to the last frame before is in {}",
            output.display()
        ))),
    }
}
