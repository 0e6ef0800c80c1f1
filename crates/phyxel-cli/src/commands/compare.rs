//! `phyxel compare`: one scene by several methods, side by side.

mod extent;
mod measures;
mod pictures;
mod plots;
mod request;
mod table;

use super::print;
use super::render::parse_size;
use super::run::{parse_override, plan, record};
use crate::failure::{Failure, warn};
use crate::frame_loop::Outcome;
use crate::progress::Verbosity;
use crate::render::CameraOptions;
use crate::scene_source::number;
use crate::{interrupt, threads};
use measures::Measures;
use phyxel::methods::built_methods;
use phyxel_io::results::{ComparisonFolder, Overwrite, Tally};
use phyxel_io::scene::listed;
use request::Request;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Examples; FIRST and SECOND stand for the names of two methods.
const EXAMPLES: &str = "\
Examples:
  phyxel compare jelly.toml --methods FIRST,SECOND -o out/jelly
  phyxel compare jelly.toml --methods FIRST,SECOND -o out/jelly --frames 30 --color-by stress
  phyxel compare jelly.toml --methods FIRST,SECOND -o out/jelly --set methods.SECOND.safety=0.2

Each method has its own settings: the tables [methods.NAME] of the scene, and --set methods.NAME.KEY=VALUE.
The folder then has a result folder per method (for `render` and `resume`), sheet.png, compare.gif, summary.csv,
series.csv and plots.svg. A run that fails does not stop the others; the exit code is then 1.";

/// Returns the examples with the first two methods that are built.
fn examples() -> String {
    let mut keys = built_methods().map(|entry| entry.key);
    let (first, second) = (keys.next().unwrap_or("FIRST"), keys.next().unwrap_or("SECOND"));
    EXAMPLES.replace("FIRST", first).replace("SECOND", second)
}

/// Runs a scene by several methods and shows them side by side: pictures in step, a table, plots.
#[derive(Debug, clap::Args)]
#[command(after_help = examples())]
pub(crate) struct Args {
    /// The scene file.
    #[arg(value_name = "SCENE.toml")]
    scene: PathBuf,
    /// The methods, two or more; each drives all bodies in a run of its own.
    #[arg(long, value_name = "A,B,...", value_delimiter = ',', required = true)]
    methods: Vec<String>,
    /// Folder for the results.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Number of the last frame, in place of the scene's duration. Frame 0 is the start.
    #[arg(long, value_name = "N")]
    frames: Option<usize>,
    /// Threads; all cores by default.
    #[arg(long, value_name = "N", value_parser = threads::parse_threads)]
    threads: Option<usize>,
    /// Changes a key of the scene; an empty value removes it.
    #[arg(long, value_name = "KEY=VALUE", value_parser = parse_override)]
    set: Vec<(String, String)>,
    /// A column of the frames, or `body`; a colour means the same in all panels.
    #[arg(long, value_name = "COLUMN", default_value = "body")]
    color_by: String,
    /// Size of a panel in pixels.
    #[arg(long, value_name = "WxH", value_parser = parse_size, default_value = "360x270")]
    size: (usize, usize),
    /// The view, as for `render`: azimuth, elevation, zoom, fov (degrees), distance (m), target=x:y:z (m).
    #[arg(long, value_name = "KEY=VALUE,...", allow_hyphen_values = true)]
    camera: Option<CameraOptions>,
    /// Replaces an earlier comparison.
    #[arg(long)]
    force: bool,
    /// Shows nothing but errors.
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,
    /// Shows a line per frame.
    #[arg(short, long)]
    verbose: bool,
}

impl Args {
    fn overwrite(&self) -> Overwrite {
        if self.force { Overwrite::Yes } else { Overwrite::No }
    }

    fn verbosity(&self) -> Verbosity {
        Verbosity::from_flags(self.quiet, self.verbose)
    }
}

/// A method's finished run.
struct MethodRun {
    method: &'static str,
    folder: PathBuf,
    outcome: Outcome,
    tally: Tally,
    /// Wall time of each frame, beginning with the first (s).
    frame_seconds: Vec<f64>,
}

impl MethodRun {
    /// Returns a short text of the failure, for pictures and tables.
    fn failure(&self) -> Option<String> {
        match &self.outcome {
            Outcome::Failed(error) => Some(format!("failed at {} s", number(error.time))),
            Outcome::Stopped(frame, _) => Some(format!("stopped after frame {frame}")),
            Outcome::Done | Outcome::Interrupted(_) => None,
        }
    }

    /// Returns the method's name and the failure, if there is one.
    fn label(&self) -> String {
        let failure = self.failure().map(|failure| format!(" ({failure})"));
        format!("{}{}", self.method, failure.unwrap_or_default())
    }

    fn to_json(&self) -> Value {
        let (status, why) = match &self.outcome {
            Outcome::Done => ("done", None),
            Outcome::Interrupted(_) => ("interrupted", None),
            Outcome::Failed(error) => ("failed", Some(error.to_string())),
            Outcome::Stopped(_, trouble) => ("failed", Some(trouble.clone())),
        };
        json!({
            "method": self.method,
            "status": status,
            "why": why,
            "steps": self.tally.n_steps,
            "wall_seconds": self.tally.wall_seconds,
        })
    }
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    interrupt::listen()?;
    threads::with_threads(args.threads, || {
        let request = request::check(args)?;
        if !args.quiet {
            request.warnings.iter().for_each(|warning| warn(warning));
            request.notes.iter().for_each(|note| eprintln!("{note}"));
        }
        let mut folder = ComparisonFolder::create(&args.output, args.overwrite(), &request.methods)?;
        let mut runs = Vec::new();
        for &method in &request.methods {
            runs.push(run_method(args, &request, &folder, method)?);
            if let Some(Outcome::Interrupted(frame)) = runs.last().map(|run| &run.outcome) {
                folder.write_marker(&marker("interrupted", &request, &runs))?;
                return Err(interrupted(&folder, method, *frame));
            }
        }
        let measures = runs.iter().map(Measures::read).collect::<Result<Vec<_>, _>>()?;
        write_numbers(&mut folder, &request, &runs, &measures)?;
        if args.verbosity() != Verbosity::Quiet {
            print(&table::shown(&runs, &measures))?;
        }
        pictures::write(args, &request, &mut folder, &runs, &measures)?;
        let is_whole = runs.iter().all(|run| run.failure().is_none());
        folder.write_marker(&marker(if is_whole { "done" } else { "failed" }, &request, &runs))?;
        conclude(args, &folder, &runs)
    })
}

fn run_method(
    args: &Args,
    request: &Request,
    folder: &ComparisonFolder,
    method: &'static str,
) -> Result<MethodRun, Failure> {
    // built here, not in advance: the worlds of all methods at once might not fit into memory
    let mut source = request.scene.with_method(method)?.0.build()?;
    let mut plan = plan(&source, 0, request.n_frames, Tally::default(), args.verbosity());
    plan.label = method.to_owned();
    let path = folder.run_path(method);
    let report = record(&mut source, &plan, &path, args.overwrite())?;
    if !args.quiet {
        report.troubles.iter().for_each(|warning| warn(&format!("`{method}`: {warning}")));
    }
    Ok(MethodRun {
        method,
        folder: path,
        outcome: report.outcome,
        tally: report.tally,
        frame_seconds: report.frame_seconds,
    })
}

/// Writes the table, the values over time, and their plots.
fn write_numbers(
    folder: &mut ComparisonFolder,
    request: &Request,
    runs: &[MethodRun],
    measures: &[Measures],
) -> Result<(), Failure> {
    let texts = [
        ("summary.csv", table::csv(runs, measures)),
        ("series.csv", measures::csv(runs, measures)),
        ("plots.svg", plots::page(&request.title, runs, measures)),
    ];
    for (name, text) in texts {
        folder.write(name, |path| std::fs::write(path, text))?;
    }
    Ok(())
}

fn marker(status: &str, request: &Request, runs: &[MethodRun]) -> Value {
    let runs: Vec<Value> = runs.iter().map(MethodRun::to_json).collect();
    json!({
        "status": status,
        "title": request.title,
        "frame_rate": request.frame_rate,
        "n_frames": request.n_frames,
        "runs": runs,
    })
}

fn interrupted(folder: &ComparisonFolder, method: &str, frame: usize) -> Failure {
    let path = folder.path().display();
    Failure::Interrupted(format!(
        "interrupted in `{method}` after frame {frame}; the runs so far are in {path}\n  \
         go on with this run:  phyxel resume {}\n  compare anew:         the same command with --force",
        folder.run_path(method).display()
    ))
}

/// Reports the end of a comparison.
fn conclude(args: &Args, folder: &ComparisonFolder, runs: &[MethodRun]) -> Result<(), Failure> {
    let path = folder.path().display();
    let failed: Vec<(&str, &Outcome)> =
        runs.iter().filter(|run| run.failure().is_some()).map(|run| (run.method, &run.outcome)).collect();
    if failed.is_empty() {
        return if args.quiet { Ok(()) } else { print(&format!("comparison in {path}\n")) };
    }
    let mut text = format!("{} of {} runs failed", failed.len(), runs.len());
    for (method, outcome) in &failed {
        match outcome {
            Outcome::Failed(error) => text += &format!("\n  `{method}` {error}"),
            Outcome::Stopped(frame, trouble) => {
                text += &format!("\n  `{method}` stopped after frame {frame}: {trouble}");
            }
            Outcome::Done | Outcome::Interrupted(_) => {}
        }
    }
    let done: Vec<&str> = runs.iter().filter(|run| run.failure().is_none()).map(|run| run.method).collect();
    if !done.is_empty() {
        text += &format!("\n  done: {}", listed(done, "and"));
    }
    Err(Failure::Run(format!("{text}\n  all frames, pictures and tables are in {path}")))
}
