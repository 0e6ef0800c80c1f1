//! `phyxel resume`: continues from the last checkpoint, with the same bits.

use super::{print, run};
use crate::failure::Failure;
use crate::frame_loop::run_frames;
use crate::progress::Verbosity;
use crate::watch::Watch;
use crate::{interrupt, scene_source, threads};
use phyxel_io::results::{ContentDigest, Recorder, ResultFolder, Status};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  phyxel resume out/clay               to the end that was planned
  phyxel resume out/clay --frames 300  further, also after a run that is done";

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
    let mut info = folder.run_info()?;
    let digest = ContentDigest::of(folder.scene_text()?.as_bytes());
    let (frame, mut checkpoint) = folder.last_checkpoint(digest)?;
    let n_frames = args.frames.unwrap_or(info.n_frames);
    if n_frames <= frame && info.status == Status::Done {
        return print(&format!("nothing to do: {} has frame {frame} already\n", args.folder.display()));
    }
    if n_frames < frame {
        let text = format!("the last checkpoint is at frame {frame}; frame {n_frames} is there already");
        return Err(Failure::Usage(text));
    }
    interrupt::listen()?;
    threads::with_threads(args.threads, || {
        let mut source = scene_source::load(&folder.scene_path(), &[])?;
        checkpoint.restore(&mut source.world).map_err(|error| Failure::Run(error.to_string()))?;
        let ledger = folder.cut_back(frame, &mut info)?;
        info.status = Status::Running;
        info.n_frames = n_frames;
        info.n_threads = rayon::current_num_threads();
        let verbosity = Verbosity::from_flags(args.quiet, args.verbose);
        let mut plan = run::plan(&source, frame + 1, n_frames, info.tally.clone(), verbosity);
        plan.watch = Watch::of_table(&folder.ledger()?);
        if verbosity != Verbosity::Quiet {
            eprintln!("going on from frame {frame}");
        }
        let recorder = Recorder::start(folder, info, ledger)?;
        let report = run_frames(&plan, &mut source.world, &source.surfaces, recorder)?;
        run::conclude(&report, &args.folder, verbosity)
    })
}
