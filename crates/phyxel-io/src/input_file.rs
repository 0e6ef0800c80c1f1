//! Reading of whole files that users name, within a limit: a pipe, a device or a huge file is refused before it blocks the
//! program or fills its memory.

use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

/// Reads a regular file of at most `largest` bytes.
///
/// # Errors
/// If the path is not a regular file, if it is larger, or if it cannot be read.
pub fn read_file(path: &Path, largest: u64) -> Result<Vec<u8>> {
    // asked before opening: opening a pipe waits for a writer
    let about = std::fs::metadata(path)?;
    if about.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    if !about.is_file() {
        return Err(Error::other("this is a pipe or a device; save its content as a file first"));
    }
    // the length of some files of the system is 0, or grows while they are read
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(largest.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > largest {
        return Err(Error::other(format!("larger than the limit of {} MB", largest / 1_000_000)));
    }
    Ok(bytes)
}
