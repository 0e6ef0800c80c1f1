//! Memory use of this process, if the system reports it.

/// Returns the largest resident memory so far (bytes), if the system reports it.
pub(crate) fn peak() -> Option<u64> {
    status_entry(&std::fs::read_to_string("/proc/self/status").ok()?, "VmHWM:")
}

/// Returns the memory that is available without swapping (bytes), if the system reports it.
pub(crate) fn available() -> Option<u64> {
    status_entry(&std::fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")
}

/// Returns an entry "NAME:   1234 kB" of a process status (bytes).
fn status_entry(status: &str, name: &str) -> Option<u64> {
    let rest = status.lines().find_map(|line| line.strip_prefix(name))?;
    let mut words = rest.split_whitespace();
    let kilobytes: u64 = words.next()?.parse().ok()?;
    (words.next() == Some("kB")).then_some(kilobytes * 1024)
}

/// Formats a size with the unit that suits it: "12.3 MB".
pub(crate) fn shown(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1000.0 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    if unit == 0 { format!("{bytes} B") } else { format!("{value:.1} {}", UNITS[unit]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_read_from_the_process_status() {
        let status = "Name:\tphyxel\nVmPeak:\t  999 kB\nVmHWM:\t    1234 kB\nVmRSS:\t 5 kB\n";
        assert_eq!(status_entry(status, "VmHWM:"), Some(1234 * 1024));
        assert_eq!(status_entry("VmHWM:\t12 pages\n", "VmHWM:"), None);
        assert_eq!(status_entry("", "VmHWM:"), None);
    }

    #[test]
    fn sizes_have_three_or_four_digits() {
        let shown: Vec<String> = [999, 1000, 12_340_000, 5_000_000_000].map(shown).to_vec();
        assert_eq!(shown, ["999 B", "1.0 kB", "12.3 MB", "5.0 GB"]);
    }
}
