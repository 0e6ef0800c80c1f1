//! `phyxel bench`: nanoseconds per particle per step, by stage, size and number of threads.
//!
//! An elastic block falls onto a floor with friction; the steps around the impact are timed. Every measurement is a
//! process of its own, so that its peak of memory is its own, too.

mod block;

use super::print;
use crate::failure::Failure;
use crate::table::Table;
use crate::threads;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::Command;

/// Measures nanoseconds per particle per step on an elastic block that falls onto a floor.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  phyxel bench --particles 20000 --threads 1,2,4 --json bench.json")]
pub(crate) struct Args {
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
    /// One measurement in this process, as JSON on stdout.
    #[arg(long, hide = true)]
    one: bool,
}

fn parse_particles(text: &str) -> Result<usize, String> {
    match text.trim().parse() {
        Ok(n_particles @ 8..=20_000_000) => Ok(n_particles),
        _ => Err("a number from 8 to 20000000 is expected".into()),
    }
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    if args.one {
        return one(args);
    }
    let all = std::thread::available_parallelism().map_or(1, usize::from);
    let mut n_threads = if args.threads.is_empty() { vec![1, all] } else { args.threads.clone() };
    n_threads.dedup();
    let mut measured = Vec::new();
    for &particles in &args.particles {
        for &threads in &n_threads {
            eprintln!("{particles} particles, {threads} threads ...");
            measured.push(in_child(particles, threads, args.steps)?);
        }
    }
    if let Some(path) = &args.json {
        let text =
            serde_json::to_string_pretty(&json!({ "version": env!("CARGO_PKG_VERSION"), "runs": measured }));
        let written = text.map_err(std::io::Error::from).and_then(|text| std::fs::write(path, text + "\n"));
        written.map_err(|error| Failure::Run(format!("cannot write {}: {error}", path.display())))?;
    }
    print(&format!(
        "ns per particle per step, {} steps around the impact\n\n{}",
        args.steps,
        table(&measured)
    ))
}

fn one(args: &Args) -> Result<(), Failure> {
    let (Some(&particles), n_threads) = (args.particles.first(), args.threads.first().copied()) else {
        return Err(Failure::Usage("one size is expected".into()));
    };
    let value = threads::with_threads(n_threads, || block::measure(particles, args.steps as usize))?;
    print(&format!("{value}\n"))
}

fn in_child(particles: usize, threads: usize, steps: u32) -> Result<Value, Failure> {
    let failed = |text: String| Failure::Run(format!("{particles} particles, {threads} threads: {text}"));
    let program = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    let mut command = Command::new(program);
    command.args([
        "bench",
        "--one",
        "--particles",
        &particles.to_string(),
        "--threads",
        &threads.to_string(),
    ]);
    command.args(["--steps", &steps.to_string()]).stderr(std::process::Stdio::inherit());
    let output = command.output().map_err(|error| failed(error.to_string()))?;
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

/// Against the first measurement of the same size.
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
        let value = block::measure(64, 5).unwrap();
        assert_eq!(value["particles"], 64);
        assert!(value["total"].as_f64().unwrap() > 0.0);
        let stages: f64 = value["stages"].as_object().unwrap().values().filter_map(Value::as_f64).sum();
        assert!(stages > 0.0 && stages <= value["total"].as_f64().unwrap());
        assert!(
            value["floor_force"].as_f64().unwrap() > 0.0,
            "the block must be in contact when it is timed"
        );
    }
}
