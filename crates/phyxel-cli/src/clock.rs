//! Clock that the program passes to the engine, which has no clock of its own.

use std::sync::OnceLock;
use std::time::Instant;

/// Returns the seconds since the first call.
pub(crate) fn seconds() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64()
}

/// Ticks per second in which Linux counts the CPU time of processes, on every machine.
const TICKS: f64 = 100.0;

/// Returns the CPU seconds that all threads of this process have used, if the system reports it.
pub(crate) fn cpu_seconds() -> Option<f64> {
    cpu_ticks(&std::fs::read_to_string("/proc/self/stat").ok()?).map(|ticks| ticks as f64 / TICKS)
}

/// Returns the sum of user and system time in a line of /proc/PID/stat. The name of the process may contain anything, so
/// fields are counted from its closing parenthesis.
fn cpu_ticks(stat: &str) -> Option<u64> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    Some(fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_is_read_from_the_process_statistics() {
        let stat = "26370 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 1200 34 0 0 20 0 3 0 99 1 2";
        assert_eq!(cpu_ticks(stat), Some(1234));
        assert_eq!(cpu_ticks("nothing"), None);
    }
}
