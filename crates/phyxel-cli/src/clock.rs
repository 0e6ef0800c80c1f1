//! The clock that the engine is lent: it has none of its own.

use std::sync::OnceLock;
use std::time::Instant;

/// Seconds since the first call.
pub(crate) fn seconds() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64()
}
