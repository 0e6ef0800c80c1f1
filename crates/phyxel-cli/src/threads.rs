//! Thread pool that a command runs in. The library never starts one by itself.

use crate::failure::Failure;

/// Runs `work` with `n_threads` threads. Defaults to all cores.
pub(crate) fn with_threads<T: Send>(
    n_threads: Option<usize>,
    work: impl FnOnce() -> Result<T, Failure> + Send,
) -> Result<T, Failure> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads.unwrap_or(0)).build();
    let pool = pool.map_err(|error| Failure::Run(format!("cannot start the threads: {error}")))?;
    pool.install(work)
}

/// Parses a number of threads for clap.
pub(crate) fn parse_threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n_threads @ 1..=1024) => Ok(n_threads),
        _ => Err("a number from 1 to 1024 is expected".into()),
    }
}
