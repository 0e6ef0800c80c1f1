//! Table at the end of a run: the time by stage.

use crate::frame_loop::Report;
use crate::memory;
use crate::table::Table;

/// Formats seconds and share per stage, then the sums.
pub(crate) fn summary(report: &Report, n_threads: usize) -> String {
    let tally = &report.tally;
    let total = tally.wall_seconds.max(f64::MIN_POSITIVE);
    let mut table = Table::new(["stage", "seconds", "share"], &[1, 2]);
    let mut row = |name: &str, seconds: f64| {
        table.row([name.to_owned(), format!("{seconds:.3}"), format!("{:.1} %", 100.0 * seconds / total)]);
    };
    let mut known = 0.0;
    for (name, seconds) in &tally.stages {
        row(name, *seconds);
        known += seconds;
    }
    row("other", (total - known).max(0.0));
    row("total", tally.wall_seconds);
    let mut text = table.to_string();
    let per_step = 1e9 * tally.wall_seconds / (tally.particle_steps.max(1) as f64);
    text +=
        &format!("\n{} steps, {per_step:.0} ns per particle per step, {n_threads} threads", tally.n_steps);
    text += &format!("\nwriting took {:.3} s in the background", report.writing);
    if let Some(peak) = tally.peak_memory {
        text += &format!("\npeak memory {}", memory::shown(peak));
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame_loop::Outcome;
    use phyxel_io::results::Tally;

    #[test]
    fn shares_are_of_the_whole_and_steps_are_counted_per_particle() {
        let tally = Tally {
            stages: vec![("forces".into(), 1.0), ("contact".into(), 0.5)],
            n_steps: 100,
            particle_steps: 100_000,
            wall_seconds: 2.0,
            peak_memory: Some(3_000_000),
        };
        let text = summary(
            &Report {
                outcome: Outcome::Done,
                tally,
                frame_seconds: Vec::new(),
                writing: 0.25,
                warnings: Vec::new(),
                troubles: Vec::new(),
            },
            2,
        );
        for line in [
            "forces     1.000   50.0 %",
            "other      0.500   25.0 %",
            "20000 ns per particle",
            "3.0 MB",
            "0.250 s",
        ] {
            assert!(text.contains(line), "{line} is missing in\n{text}");
        }
    }
}
