//! Checksums that files carry in themselves, in a line that other programs skip, so that a file and its checksum are
//! always written, copied and removed together.
//!
//! A file begins with a fixed opening and the line of the checksum. The checksum is the CRC-32 (that of zlib and PNG)
//! of the file's name, followed by all bytes after that line: a file in the place of another is found, too.

use super::ResultError;
use std::path::Path;

/// Place of the checksum in a kind of file: fixed text around eight hexadecimal digits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seal {
    /// First bytes of the files without a checksum; those with one have them, too.
    opening: &'static str,
    /// Text of the line before and after the digits.
    around: [&'static str; 2],
}

/// Seal of frames: a comment of the PLY header.
pub(crate) const PLY: Seal =
    Seal { opening: "ply\nformat binary_little_endian 1.0\n", around: ["comment checksum ", "\n"] };
/// Seal of `run.json`: its first entry.
pub(crate) const JSON: Seal = Seal { opening: "{\n", around: ["  \"checksum\": \"", "\",\n"] };

impl Seal {
    /// Splits the bytes of a file into its sealed opening and the rest, to be written one after the other.
    pub(super) fn put<'a>(self, path: &Path, bytes: &'a [u8]) -> (String, &'a [u8]) {
        let Self { opening, around: [before, after] } = self;
        let Some(rest) = bytes.strip_prefix(opening.as_bytes()) else { return (String::new(), bytes) };
        (format!("{opening}{before}{}{after}", digits(checksum(path, rest))), rest)
    }

    /// Checks the bytes of a file that was read.
    ///
    /// # Errors
    /// When the checksum is missing or wrong.
    pub(super) fn check(self, path: &Path, bytes: &[u8]) -> Result<(), ResultError> {
        let Self { opening, around: [before, after] } = self;
        let opened =
            bytes.strip_prefix(opening.as_bytes()).and_then(|rest| rest.strip_prefix(before.as_bytes()));
        let split = opened.and_then(|rest| rest.split_first_chunk::<8>());
        let found = split.and_then(|(found, rest)| Some((found, rest.strip_prefix(after.as_bytes())?)));
        let problem = match found {
            _ if bytes.is_empty() => "the file is empty",
            None => "its beginning is damaged, or it was not written by this version",
            Some((found, rest)) if digits(checksum(path, rest)).as_bytes() != found => {
                "its checksum is wrong: bytes were changed, lost or added"
            }
            Some(_) => return Ok(()),
        };
        Err(ResultError::damaged(path, problem))
    }
}

fn checksum(path: &Path, rest: &[u8]) -> u32 {
    let name = path.file_name().map_or_else(Default::default, |name| name.to_string_lossy());
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(name.as_bytes());
    hasher.update(rest);
    hasher.finalize()
}

/// Returns a checksum as it stands in files.
pub(super) fn digits(checksum: u32) -> String {
    format!("{checksum:08x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealed(seal: Seal, path: &Path, bytes: &[u8]) -> Vec<u8> {
        let (opening, rest) = seal.put(path, bytes);
        [opening.as_bytes(), rest].concat()
    }

    /// The value of zlib for "a.plyelement vertex 0\nend_header\n".
    #[test]
    fn the_checksum_is_that_of_zlib() {
        let path = Path::new("frames/a.ply");
        let text = "ply\nformat binary_little_endian 1.0\nelement vertex 0\nend_header\n";
        let expected =
            "ply\nformat binary_little_endian 1.0\ncomment checksum CRC\nelement vertex 0\nend_header\n";
        let bytes = sealed(PLY, path, text.as_bytes());
        assert_eq!(String::from_utf8(bytes).unwrap(), expected.replace("CRC", "f3318bdb"));
    }

    #[test]
    fn every_change_is_found() {
        let path = Path::new("run.json");
        let bytes = sealed(JSON, path, b"{\n  \"a\": 1\n}\n");
        assert!(JSON.check(path, &bytes).is_ok());
        for at in 0..bytes.len() {
            assert!(JSON.check(path, &bytes[..at]).is_err(), "cut at {at}");
            for bit in 0..8 {
                let mut changed = bytes.clone();
                changed[at] ^= 1 << bit;
                assert!(JSON.check(path, &changed).is_err(), "bit {bit} of byte {at}");
            }
        }
        assert!(JSON.check(path, &[&bytes[..], b"\n"].concat()).is_err(), "one byte more");
        assert!(JSON.check(Path::new("other.json"), &bytes).is_err(), "the file of another name");
    }
}
