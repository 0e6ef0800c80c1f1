//! Handling of Ctrl-C: the first asks for an orderly end after the current frame, the second ends at once.

use crate::failure::{Failure, INTERRUPTED};
use std::sync::atomic::{AtomicUsize, Ordering};

static N_REQUESTS: AtomicUsize = AtomicUsize::new(0);

/// Starts to listen to Ctrl-C.
pub(crate) fn listen() -> Result<(), Failure> {
    listen_with("\nstopping after this frame; Ctrl-C again quits at once")
}

/// Starts to listen to Ctrl-C, with a message of its own for the first one.
pub(crate) fn listen_with(words: &'static str) -> Result<(), Failure> {
    let handler = move || {
        if N_REQUESTS.fetch_add(1, Ordering::SeqCst) == 0 {
            eprintln!("{words}");
        } else {
            std::process::exit(i32::from(INTERRUPTED));
        }
    };
    ctrlc::set_handler(handler).map_err(|error| Failure::Run(format!("cannot listen to Ctrl-C: {error}")))
}

/// Returns true if the user has asked for the end.
pub(crate) fn requested() -> bool {
    N_REQUESTS.load(Ordering::SeqCst) > 0
}
