//! `phyxel export`: surfaces and particles of a result for other programs.

use super::print;
use crate::failure::{Failure, warn};
use crate::progress::{Progress, Verbosity};
use crate::table::Table;
use crate::{interrupt, memory};
use clap::ValueEnum;
use phyxel_io::export::{
    EXPORT_FORMATS, ExportError, ExportFormat, FrameRange, FrameSelection, Geometry, export,
};
use phyxel_io::results::{Overwrite, ResultFolder};
use phyxel_io::scene::listed;
use std::ops::ControlFlow;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  phyxel export out/clay --format usd -o clay.usda                  for Blender and Houdini
  phyxel export out/clay --format vtp -o clay --frames 10..40       for ParaView: the folder clay with clay.pvd
  phyxel export out/clay --format npz -o clay.npz --force           for Python; replaces an earlier clay.npz
  phyxel export out/clay --format html -o clay.html                 one file to show around: it plays in any browser";

/// Writes the surfaces and particles of a result for other programs, with their velocities for motion blur.
#[derive(Debug, clap::Args)]
#[command(after_help = help())]
pub(crate) struct Args {
    /// The result folder; its run may still be going on.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// One of the formats below.
    #[arg(long, value_name = "FORMAT", value_parser = parse_format)]
    format: &'static ExportFormat,
    /// File to write, with the format's ending, or a folder for the formats with a file per frame.
    #[arg(short, long, value_name = "PATH")]
    output: PathBuf,
    /// Frames A to B, both included; A.., ..B or one number, too. All by default; frame 0 is the start.
    #[arg(long, value_name = "A..B", value_parser = parse_range)]
    frames: Option<FrameRange>,
    /// Geometry of the bodies that is exported.
    #[arg(long, value_enum, default_value_t)]
    geometry: Exported,
    /// Replaces an earlier export.
    #[arg(long)]
    force: bool,
    /// Shows nothing but errors.
    #[arg(short, long)]
    quiet: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Exported {
    /// The surface of each body, or its particles if it has none.
    #[default]
    Seen,
    /// Particles of all bodies.
    Particles,
    /// Surfaces only.
    Surfaces,
    /// Particles of all bodies, and surfaces.
    Both,
}

impl From<Exported> for Geometry {
    fn from(exported: Exported) -> Self {
        match exported {
            Exported::Seen => Self::Seen,
            Exported::Particles => Self::Particles,
            Exported::Surfaces => Self::Surfaces,
            Exported::Both => Self::Both,
        }
    }
}

fn help() -> String {
    let mut table = Table::new(["format", "files", "what is written", "read by"], &[]);
    for format in EXPORT_FORMATS {
        let cells = [format.key, &format.endings(), format.about, format.programs];
        table.row(cells.map(str::to_owned));
    }
    format!("Formats:\n{table}\n{EXAMPLES}")
}

fn parse_format(key: &str) -> Result<&'static ExportFormat, String> {
    ExportFormat::find(key).map_err(|error| error.to_string())
}

fn parse_range(text: &str) -> Result<FrameRange, String> {
    text.parse().map_err(|error: ExportError| error.to_string())
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    if args.geometry == Exported::Surfaces && !args.format.has_surfaces {
        let able = EXPORT_FORMATS.iter().filter(|format| format.has_surfaces).map(|format| format.key);
        let able = listed(able.collect::<Vec<_>>(), "and");
        return Err(Failure::Usage(format!(
            "format `{}` has no surfaces; {able} have them",
            args.format.key
        )));
    }
    let folder = ResultFolder::open(&args.folder)?;
    let selection = FrameSelection::open(&folder, args.frames.unwrap_or_default())?
        .with_geometry(args.geometry.into())?;
    interrupt::listen()?;
    let verbosity = Verbosity::from_flags(args.quiet, false);
    let overwrite = if args.force { Overwrite::Yes } else { Overwrite::No };
    let progress = Progress::new(0, selection.n_frames(), verbosity, "exporting");
    let mut tell = |n_done: usize| {
        progress.drawn(n_done);
        if interrupt::requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let written = export(&selection, args.format, &args.output, overwrite, &mut tell);
    progress.finish();
    let written = written?;
    if args.quiet {
        return Ok(());
    }
    if let Some(warning) = warning(args.format, &selection, written.n_bytes) {
        warn(&warning);
    }
    let (first, last) = selection.numbers().into_inner();
    let frames = if first == last { format!("frame {first}") } else { format!("frames {first} to {last}") };
    let files = if written.n_files == 1 { String::new() } else { format!("{} files, ", written.n_files) };
    print(&format!("{}: {frames}, {files}{}\n", written.entry.display(), memory::shown(written.n_bytes)))
}

/// Size of a page above which it takes long to load and to send (bytes).
const LARGE_PAGE: u64 = 100 << 20;

/// Returns a warning about a slow page or about missing velocities, if there is one.
fn warning(format: &ExportFormat, selection: &FrameSelection<'_>, n_bytes: u64) -> Option<String> {
    if format.is_page() {
        return (n_bytes > LARGE_PAGE).then(|| {
            "a page of this size takes long to load; --frames A..B exports fewer frames, and `phyxel view` shows all of \
             them without a copy"
                .to_owned()
        });
    }
    if !format.has_velocities {
        let others: Vec<&str> =
            EXPORT_FORMATS.iter().filter(|other| other.has_velocities).map(|other| other.key).collect();
        return Some(format!(
            "format `{}` has no velocities, so that other programs cannot blur motion; {} have them",
            format.key,
            listed(others, "and")
        ));
    }
    (!selection.has_velocities()).then(|| {
        "the frames have no velocities, so that other programs cannot blur motion: add \"velocity\" to [output] columns \
         = [...] in the scene and run it again"
            .to_owned()
    })
}
