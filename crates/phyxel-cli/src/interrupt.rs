//! Requests to stop: Ctrl-C, and the signals of a system that shuts down (SIGTERM) or a terminal that is closed (SIGHUP). The
//! first asks for an orderly end after the current frame, the second ends at once.

use crate::failure::{Failure, INTERRUPTED};
use std::sync::atomic::{AtomicUsize, Ordering};

static N_REQUESTS: AtomicUsize = AtomicUsize::new(0);

/// Starts to listen to requests.
pub(crate) fn listen() -> Result<(), Failure> {
    listen_with("\nstopping after this frame; Ctrl-C again quits at once")
}

/// Starts to listen to requests, with a message of its own for the first one.
pub(crate) fn listen_with(words: &'static str) -> Result<(), Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::Run(format!("cannot listen to Ctrl-C: {error}"));
    ctrlc::set_handler(move || take_request(words)).map_err(|error| failed(&error))?;
    listen_to_signals(words).map_err(|error| failed(&error))
}

fn take_request(words: &str) {
    if N_REQUESTS.fetch_add(1, Ordering::SeqCst) == 0 {
        // a closed terminal cannot be written to
        let _ = std::io::Write::write_all(&mut std::io::stderr(), format!("{words}\n").as_bytes());
    } else {
        std::process::exit(i32::from(INTERRUPTED));
    }
}

/// Listens to SIGTERM, and to SIGHUP if it is not ignored, as under `nohup`.
#[cfg(unix)]
fn listen_to_signals(words: &'static str) -> std::io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGTERM};
    let wanted = [SIGTERM, SIGHUP].into_iter().filter(|&signal| !is_ignored(signal));
    let mut signals = signal_hook::iterator::Signals::new(wanted)?;
    let listener = move || signals.forever().for_each(|_| take_request(words));
    std::thread::Builder::new().name("phyxel-signals".into()).spawn(listener).map(drop)
}

#[cfg(not(unix))]
fn listen_to_signals(_: &'static str) -> std::io::Result<()> {
    Ok(())
}

/// Returns true if the process was started with a signal ignored, where the system tells it.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}

/// Returns true if the end has been asked for.
pub(crate) fn requested() -> bool {
    N_REQUESTS.load(Ordering::SeqCst) > 0
}
