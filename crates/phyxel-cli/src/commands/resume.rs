//! `phyxel resume`: continues from the last checkpoint, with the same bits.

use super::{print, run};
use crate::failure::{Failure, warn};
use crate::frame_loop::run_frames;
use crate::progress::Verbosity;
use crate::watch::Watch;
use crate::{interrupt, scene_source, threads};
use phyxel_io::results::{Damage, Part, Recorder, ResultFolder, RunInfo, Start, Status, Tally, Verification};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  phyxel resume out/clay               to the end that was planned
  phyxel resume out/clay --frames 300  further, also after a run that is done
  phyxel resume out/clay --from-start  computes all frames again, where no checkpoint is left before a damaged one

Every file is checked first (see `phyxel verify`); frames from the first damaged one on are computed again.";

/// Continues a run from its last checkpoint, with the same bits as a run that was never stopped.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The result folder.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Number of the last frame; the planned one by default.
    #[arg(long, value_name = "N")]
    frames: Option<usize>,
    /// Computes all frames again, from the scene in the folder.
    #[arg(long)]
    from_start: bool,
    /// Threads; all cores by default.
    #[arg(long, value_name = "N", value_parser = threads::parse_threads)]
    threads: Option<usize>,
    /// Shows nothing but errors.
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,
    /// Shows a line per frame.
    #[arg(short, long)]
    verbose: bool,
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let folder = ResultFolder::open_to_write(&args.folder)?;
    let mut verification = folder.verify()?;
    let start = if args.from_start {
        folder.check_inputs(&mut verification)?;
        None
    } else {
        folder.start(&mut verification)?
    };
    let frame = start.as_ref().map(|start| start.0);
    let is_whole = verification.first_damaged_frame().is_none() && verification.info.is_some();
    tell_damages(&verification, frame, args.quiet);
    folder.remove_damaged_checkpoints(&verification)?;
    let n_planned = args.frames.or(verification.info.as_ref().map(|info| info.n_frames));
    if let (Some(frame), Some(n_frames)) = (frame, n_planned) {
        let is_done = verification.info.as_ref().is_some_and(|info| info.status == Status::Done);
        if n_frames <= frame && is_done && is_whole {
            return print(&format!("nothing to do: {} has frame {frame} already\n", args.folder.display()));
        }
        if n_frames < frame {
            let text = format!("the last checkpoint is at frame {frame}; frame {n_frames} is there already");
            return Err(Failure::Usage(text));
        }
    }
    interrupt::listen()?;
    threads::with_threads(args.threads, || compute(args, folder, verification.info, start, n_planned))
}

/// Computes the frames after a checkpoint, or all; metadata that are lost are made anew.
fn compute(
    args: &Args,
    folder: ResultFolder,
    info: Option<RunInfo>,
    start: Option<Start>,
    n_planned: Option<usize>,
) -> Result<(), Failure> {
    let mut source = scene_source::load(&folder.scene_path(), &[])?;
    let n_frames = n_planned.unwrap_or_else(|| source.scene.n_frames());
    let mut info = info.unwrap_or_else(|| run::new_info(&source, n_frames));
    info.status = Status::Running;
    info.n_frames = n_frames;
    info.n_threads = rayon::current_num_threads();
    let mut frame = None;
    match start {
        Some((number, mut checkpoint)) => {
            checkpoint.restore(&mut source.world).map_err(|error| Failure::Run(error.to_string()))?;
            frame = Some(number);
        }
        None => info.tally = Tally::default(),
    }
    let ledger = folder.cut_back(frame, &mut info)?;
    let verbosity = Verbosity::from_flags(args.quiet, args.verbose);
    let first_frame = frame.map_or(0, |frame| frame + 1);
    let mut plan = run::plan(&source, first_frame, n_frames, info.tally.clone(), verbosity);
    plan.watch = Watch::of_table(&folder.ledger()?);
    if verbosity != Verbosity::Quiet {
        eprintln!("{}", frame.map_or("starting".into(), |frame| format!("going on from frame {frame}")));
    }
    let recorder = Recorder::start(folder, info, ledger)?;
    let report = run_frames(&plan, &mut source.world, &source.surfaces, recorder)?;
    run::conclude(&report, &args.folder, verbosity)
}

/// Warns of what is damaged up to the frames that are computed again, and of what is not made again.
fn tell_damages(verification: &Verification, frame: Option<usize>, is_quiet: bool) {
    let n_listed = verification.info.as_ref().map_or(usize::MAX, |info| info.frame_times.len());
    let is_told = |damage: &&Damage| match &damage.part {
        // frames after those that are listed were being written when the run ended
        Part::Frame(number) | Part::Ledger { row: number } => *number < n_listed,
        Part::Surface { frame, is_of_run, .. } => *frame < n_listed || !is_of_run,
        _ => true,
    };
    let is_kept = |damage: &Damage| match &damage.part {
        Part::Surface { frame: number, is_of_run, .. } => !is_of_run && Some(*number) <= frame,
        _ => false,
    };
    for damage in verification.damages.iter().filter(is_told) {
        let remedy = match damage.part {
            _ if is_kept(damage) => "make it again with `phyxel surface`",
            _ if is_quiet => continue,
            Part::Checkpoint(_) => "it is removed",
            _ => "it is made again",
        };
        warn(&format!("{}; {remedy}", damage.error));
    }
}
