//! `phyxel bench`: nanoseconds per particle per step, by stage, size and number of threads.
//!
//! An elastic block falls onto a floor with friction; the steps around the impact are timed. Every measurement runs in
//! its own process, so that the peak of memory is its own, too. `--paper` runs the timed scenes of a paper instead,
//! `--peers` a scene that other programs were measured on.

mod block;
mod jones;
mod peers;

use super::print;
use crate::failure::Failure;
use crate::scene_source;
use crate::table::Table;
use crate::threads;
use phyxel::methods::built_methods;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::Command;

const EXAMPLES: &str = "\
Examples:
  phyxel bench --particles 20000 --threads 1,2,4 --json bench.json
  phyxel bench --method METHOD                 by another method; `phyxel list methods` names all
  phyxel bench --paper jones-2014              seconds per frame and stages beside the paper's tables
  phyxel bench --paper jones-2014 --figures 5
  phyxel bench --peers --threads 1             a falling cube beside what other programs need for it";

/// Measures nanoseconds per particle per step on an elastic block that falls onto a floor.
///
/// With `--paper jones-2014`: seconds per frame of the paper's timed scenes, beside its Tables I and II. With `--peers`:
/// CPU seconds per frame of one scene by every method, beside those of other programs.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Key of the method that drives the block; the first of `phyxel list methods` by default.
    #[arg(long, value_name = "METHOD", value_parser = parse_method)]
    method: Option<String>,
    /// Sizes of the block, rounded to whole cubes.
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "5000,20000,100000", value_parser = parse_particles)]
    particles: Vec<usize>,
    /// Numbers of threads; 1 and all cores by default.
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = threads::parse_threads)]
    threads: Vec<usize>,
    /// Steps that are timed.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    steps: u32,
    /// Writes the measurements to a file, too.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Runs the timed scenes of a paper instead of the block.
    #[arg(long, value_name = "PAPER", value_parser = ["jones-2014"], conflicts_with_all = ["particles", "steps", "method"])]
    paper: Option<String>,
    /// The paper's figures to run: 2, 5, 7, 8.
    #[arg(long, value_name = "N,...", value_delimiter = ',', requires = "paper", value_parser = parse_figure)]
    figures: Vec<u32>,
    /// Runs a falling cube, elastic and plastic, by every method or by `--method`, beside figures of other programs.
    #[arg(long, conflicts_with_all = ["particles", "steps", "paper"])]
    peers: bool,
    /// The case of a paper or beside peers that `one` measures.
    #[arg(long, hide = true)]
    case: Option<String>,
    /// One measurement in this process, as JSON on stdout.
    #[arg(long, hide = true)]
    one: bool,
}

impl Args {
    /// Returns the key of the method that drives the block.
    fn method(&self) -> Result<&str, Failure> {
        let method = self.method.as_deref().or_else(|| built_methods().next().map(|entry| entry.key));
        method.ok_or_else(|| Failure::Usage("no method is built in this version".into()))
    }
}

fn parse_particles(text: &str) -> Result<usize, String> {
    match text.trim().parse() {
        Ok(n_particles @ 8..=20_000_000) => Ok(n_particles),
        _ => Err("a number from 8 to 20000000 is expected".into()),
    }
}

fn parse_method(text: &str) -> Result<String, String> {
    let built: Vec<&str> = scene_source::methods().into_iter().filter(|entry| entry.1).map(|e| e.0).collect();
    let unknown = || format!("these can be measured: {}", built.join(", "));
    if built.contains(&text) { Ok(text.to_owned()) } else { Err(unknown()) }
}

fn parse_figure(text: &str) -> Result<u32, String> {
    let figure = text.trim().parse().ok().filter(|n| jones::CASES.iter().any(|case| case.figure == *n));
    figure.ok_or_else(|| "a figure with a scene here is expected: 2, 5, 7 or 8".into())
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    if args.one {
        return one(args);
    }
    let all = std::thread::available_parallelism().map_or(1, usize::from);
    let mut n_threads = match &args.paper {
        _ if !args.threads.is_empty() => args.threads.clone(),
        None => vec![1, all],
        Some(_) => vec![all],
    };
    if args.peers && args.threads.is_empty() {
        n_threads = vec![all];
    }
    n_threads.dedup();
    let mut measured = Vec::new();
    if args.paper.is_some() {
        let wanted = |figure| args.figures.is_empty() || args.figures.contains(&figure);
        for case in jones::CASES.iter().filter(|case| wanted(case.figure)) {
            for &threads in &n_threads {
                measured.push(in_child(&format!("case {}", case.key), threads, &["--case", case.key])?);
            }
        }
    } else if args.peers {
        let is_wanted = |case: &peers::Case| args.method.as_ref().is_none_or(|method| case.method == method);
        for case in peers::Case::all().into_iter().filter(is_wanted) {
            for &threads in &n_threads {
                measured.push(in_child(&case.key(), threads, &["--peers", "--case", &case.key()])?);
            }
        }
    } else {
        for &particles in &args.particles {
            for &threads in &n_threads {
                let (size, steps) = (particles.to_string(), args.steps.to_string());
                let own = ["--particles", &size, "--steps", &steps, "--method", args.method()?];
                measured.push(in_child(&format!("{particles} particles"), threads, &own)?);
            }
        }
    }
    if let Some(path) = &args.json {
        let mut report = json!({ "version": env!("CARGO_PKG_VERSION"), "runs": measured });
        if let Some(paper) = &args.paper {
            report["paper"] = json!(paper);
        }
        let written = serde_json::to_string_pretty(&report).map_err(std::io::Error::from);
        let written = written.and_then(|text| std::fs::write(path, text + "\n"));
        written.map_err(|error| Failure::Run(format!("cannot write {}: {error}", path.display())))?;
    }
    if args.paper.is_some() {
        return print(&jones::report(&measured));
    }
    if args.peers {
        return print(&peers::report(&measured));
    }
    print(&format!(
        "ns per particle per step, method \"{}\", {} steps around the impact\n\n{}",
        args.method()?,
        args.steps,
        table(&measured)
    ))
}

fn one(args: &Args) -> Result<(), Failure> {
    let value = threads::with_threads(args.threads.first().copied(), || {
        match (&args.case, args.particles.first()) {
            (Some(key), _) if args.peers => {
                let case = peers::Case::all().into_iter().find(|case| case.key() == *key);
                case.ok_or_else(|| Failure::Usage(format!("there is no case {key}")))?.measure()
            }
            (Some(key), _) => {
                let case = jones::CASES.iter().find(|case| case.key == key);
                case.ok_or_else(|| Failure::Usage(format!("there is no case {key}")))?.measure()
            }
            (None, Some(&particles)) => block::measure(args.method()?, particles, args.steps as usize),
            (None, None) => Err(Failure::Usage("one size is expected".into())),
        }
    })?;
    print(&format!("{value}\n"))
}

/// Runs one measurement in a child process.
fn in_child(what: &str, threads: usize, arguments: &[&str]) -> Result<Value, Failure> {
    eprintln!("{what}, {threads} threads ...");
    let failed = |text: String| Failure::Run(format!("{what}, {threads} threads: {text}"));
    let program = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    let mut command = Command::new(program);
    command.args(["bench", "--one", "--threads", &threads.to_string()]).args(arguments);
    let output = command.stderr(std::process::Stdio::inherit()).output();
    let output = output.map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed("the measurement failed".into()));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| failed(error.to_string()))
}

fn table(measured: &[Value]) -> Table {
    let mut stages: Vec<&str> = Vec::new();
    let stage_names =
        measured.iter().filter_map(|run| run["stages"].as_object()).flat_map(|stages| stages.keys());
    for name in stage_names {
        if !stages.contains(&name.as_str()) {
            stages.push(name);
        }
    }
    let head = ["particles", "threads"].into_iter().chain(stages.iter().copied());
    let head: Vec<String> = head.chain(["total", "speed-up", "peak B/particle"]).map(str::to_owned).collect();
    let mut table = Table::right_aligned(head.len());
    table.row(head);
    for run in measured {
        let cell = |value: &Value, digits: usize| {
            value.as_f64().map_or_else(String::new, |v| format!("{v:.digits$}"))
        };
        let mut row = vec![run["particles"].to_string(), run["threads"].to_string()];
        row.extend(stages.iter().map(|stage| cell(&run["stages"][stage], 1)));
        row.push(cell(&run["total"], 1));
        row.push(speed_up(run, measured).map_or_else(String::new, |ratio| format!("{ratio:.2}")));
        row.push(cell(&run["peak_bytes_per_particle"], 0));
        table.row(row);
    }
    table
}

/// Returns the speed relative to the first measurement of the same size.
fn speed_up(run: &Value, measured: &[Value]) -> Option<f64> {
    let first = measured.iter().find(|other| other["particles"] == run["particles"])?;
    Some(first["total"].as_f64()? / run["total"].as_f64()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speed_up_is_against_the_first_of_the_same_size() {
        let run = |particles: u64, threads: u64, total: f64| json!({ "particles": particles, "threads": threads, "total": total, "stages": { "forces": total / 2.0 } });
        let measured = [run(8, 1, 10.0), run(27, 1, 100.0), run(8, 2, 4.0)];
        let text = table(&measured).to_string();
        assert!(text.lines().nth(3).unwrap().contains("2.50"), "{text}");
        assert!(text.lines().next().unwrap().contains("forces"));
    }

    #[test]
    fn a_measurement_has_times_for_every_stage() {
        for method in built_methods().map(|entry| entry.key) {
            let value = block::measure(method, 64, 5).unwrap();
            assert_eq!(value["particles"], 64);
            assert!(value["total"].as_f64().unwrap() > 0.0);
            let stages: f64 = value["stages"].as_object().unwrap().values().filter_map(Value::as_f64).sum();
            assert!(stages > 0.0 && stages <= value["total"].as_f64().unwrap());
            assert!(
                value["floor_force"].as_f64().unwrap() > 0.0,
                "{method}: the block must be in contact when it is timed"
            );
        }
    }
}
