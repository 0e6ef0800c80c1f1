//! Commands of the program, one file each.

mod bench;
mod check;
mod compare;
mod export;
mod list;
mod render;
mod resume;
mod run;
mod schema;
mod surface;
mod verify;
mod view;

use crate::failure::Failure;
use clap::{Parser, Subcommand};

const EXAMPLES: &str = "\
Examples:
  phyxel check scene.toml                              what will happen, and how long it takes
  phyxel run scene.toml                                writes ./out/scene
  phyxel run scene.toml --set duration=0.5 -o /tmp/a   the same, changed
  phyxel resume out/scene                              goes on where it stopped
  phyxel verify out/scene                              names every damaged file
  phyxel render out/scene -o scene.gif                 an animation
  phyxel render out/scene -o sheet.png --sheet 9       nine moments on one page
  phyxel surface out/scene                             closed surfaces around the particles
  phyxel view out/scene                                in the browser; with scene.toml, a live run
  phyxel export out/scene --format usd -o scene.usda   for Blender and Houdini
  phyxel compare scene.toml --methods A,B -o out/both  the same scene by two methods

Exit codes: 0 done, 1 the run failed, 2 bad arguments or a bad scene, 130 interrupted.";

/// Simulates deformable matter (clay, jelly, sand, cloth) as points, from a scene file.
#[derive(Debug, Parser)]
#[command(name = "phyxel", version, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(run::Args),
    Check(check::Args),
    Compare(compare::Args),
    Resume(resume::Args),
    Render(render::Args),
    Surface(surface::Args),
    Verify(verify::Args),
    View(view::Args),
    Export(export::Args),
    List(list::Args),
    Schema(schema::Args),
    Bench(bench::Args),
}

impl Command {
    pub(crate) fn run(self) -> Result<(), Failure> {
        match self {
            Self::Run(args) => run::run(&args),
            Self::Check(args) => check::run(&args),
            Self::Compare(args) => compare::run(&args),
            Self::Resume(args) => resume::run(&args),
            Self::Render(args) => render::run(&args),
            Self::Surface(args) => surface::run(&args),
            Self::Verify(args) => verify::run(&args),
            Self::View(args) => view::run(&args),
            Self::Export(args) => export::run(&args),
            Self::List(args) => list::run(&args),
            Self::Schema(args) => schema::run(&args),
            Self::Bench(args) => bench::run(&args),
        }
    }
}

/// Prints a result on stdout. A reader that has closed the pipe (`| head`) is not an error.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    use std::io::Write;
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::Run(format!("cannot write to the standard output: {error}")))
        }
        _ => Ok(()),
    }
}
