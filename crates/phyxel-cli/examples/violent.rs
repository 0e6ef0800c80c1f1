//! Runs sixty random violent scenes from a seed and prints how each of them ended: clean, warned, stopped, or slow.
//! `cargo run --release -p phyxel-cli --example violent -- PHYXEL [SEED [COUNT [SECONDS]]]`, PHYXEL is the program.

#[path = "../tests/program/violent_scenes.rs"]
mod violent_scenes;

use phyxel_io::results::{LedgerTable, ResultFolder};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};
use violent_scenes::{ViolentScene, energy_missing, violent_scene};

/// Share of the energy exchanged that may be missing without a warning (percent).
const ALLOWED: f64 = 5.01;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(program) = arguments.first() else {
        eprintln!("name the program: target/release/phyxel");
        return ExitCode::from(2);
    };
    let number =
        |k: usize, default: u64| arguments.get(k).and_then(|text| text.parse().ok()).unwrap_or(default);
    let (seed, count, seconds) = (number(1, 1), number(2, 60), number(3, 60));
    let folder = std::env::temp_dir().join(format!("phyxel_violent_{}", std::process::id()));
    let mut counts = std::collections::BTreeMap::new();
    for k in 0..count as usize {
        let scene = violent_scene(seed, k);
        let end = run(program, &scene, &folder, Duration::from_secs(seconds));
        println!(
            "{:28} {:8} {:6.1} s {:7.2} %  {}",
            scene.name, end.word, end.seconds, end.missing, end.told
        );
        *counts.entry(end.word).or_insert(0) += 1;
    }
    let _ = std::fs::remove_dir_all(&folder);
    println!("{counts:?}");
    if counts.contains_key("SILENT") { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

struct End {
    word: &'static str,
    seconds: f64,
    /// Energy that appeared or vanished (percent).
    missing: f64,
    told: String,
}

fn run(program: &str, scene: &ViolentScene, folder: &std::path::Path, patience: Duration) -> End {
    let (path, result) = (folder.join("scene.toml"), folder.join("result"));
    std::fs::create_dir_all(folder).expect("a temporary folder");
    std::fs::write(&path, &scene.text).expect("a temporary file");
    let start = Instant::now();
    let log = std::fs::File::create(folder.join("log")).expect("a temporary file");
    let mut child = Command::new(program)
        .arg("run")
        .arg(&path)
        .arg("-o")
        .arg(&result)
        .arg("--force")
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .expect("the program starts");
    let code = loop {
        match child.try_wait().expect("the program's end") {
            Some(status) => break status.code(),
            None if start.elapsed() > patience => {
                let _ = child.kill();
                let _ = child.wait();
                break None;
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    let seconds = start.elapsed().as_secs_f64();
    let told = std::fs::read_to_string(folder.join("log")).unwrap_or_default();
    let ledger = ResultFolder::open(&result).ok().and_then(|folder| folder.ledger().ok());
    let missing = ledger.as_ref().map_or(0.0, energy_missing);
    let is_silent = ledger.is_some_and(|table| goes_wrong_in_silence(&table, missing, &told));
    let word = match code {
        Some(0) | None if is_silent => "SILENT",
        Some(0) if told.contains("warning") => "warned",
        Some(0) => "clean",
        Some(1) => "stopped",
        None => "slow",
        Some(_) => "REFUSED",
    };
    let first = told.lines().find(|line| !line.contains("lattice")).unwrap_or_default();
    End { word, seconds, missing, told: first.chars().take(110).collect() }
}

fn goes_wrong_in_silence(table: &LedgerTable, missing: f64, told: &str) -> bool {
    let volumes = table.numbers("least_volume_ratio").unwrap_or_default();
    (missing > ALLOWED && !told.contains("energy balance"))
        || (volumes.iter().any(|volume| *volume < 0.59) && !told.contains("loses its volume"))
}
