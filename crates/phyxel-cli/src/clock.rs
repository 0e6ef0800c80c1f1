//! Clock that the program passes to the engine, which has no clock of its own.

use std::sync::OnceLock;
use std::time::Instant;

/// Returns the seconds since the first call.
pub(crate) fn seconds() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64()
}
