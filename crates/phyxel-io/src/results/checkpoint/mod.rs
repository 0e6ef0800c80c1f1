//! Checkpoints: every array of the engine's state in full precision.
//!
//! ```text
//! magic, format version, engine version, scene digest, frame
//! zstd: per item name, unit, set, type, length, raw little-endian values, in the order of `World::visit_state`
//! digest of all bytes before
//! ```
//!
//! The state is compressed while it is visited and restored while it is decompressed. It is a large part of the memory
//! of a run, so no copy of it is ever held.

mod visitors;

use super::ContentDigest;
use phyxel::world::World;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use visitors::{Reader, Writer, put_text, take_long, take_text, take_word};

const MAGIC: &[u8; 8] = b"PHYXELCP";
const FORMAT_VERSION: u32 = 5;
/// Level of zstd, chosen for speed, because the state is large and changes all the time.
const COMPRESSION_LEVEL: i32 = 1;
/// Size of the pieces that are compressed or read at once (bytes).
const CHUNK: usize = 1 << 16;
/// Size of the digest at the end of the file (bytes).
const DIGEST_SIZE: u64 = 16;

/// Version, scene and frame that a checkpoint belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointHeader {
    /// Version of the engine that wrote the checkpoint; another version might continue with other bits.
    pub engine_version: String,
    /// Digest of the scene as it was run.
    pub scene_digest: ContentDigest,
    /// Number of the frame at which the checkpoint was taken.
    pub frame: u64,
}

/// Reason why a checkpoint cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointError {
    /// The file is not a checkpoint.
    #[error("not a checkpoint of phyxel")]
    NotACheckpoint,
    /// The checkpoint has another format version.
    #[error("a checkpoint of format {0}; this program reads format {FORMAT_VERSION}")]
    Format(u32),
    /// The checkpoint is cut off, or bits have changed.
    #[error("the checkpoint is damaged: {0}")]
    Damaged(&'static str),
    /// The system cannot read the file.
    #[error("the checkpoint cannot be read: {0}")]
    Unreadable(String),
    /// The state in the checkpoint does not fit this world.
    #[error("the checkpoint does not fit the scene: {0}")]
    Misfit(String),
    /// The checkpoint was written by another version.
    #[error(
        "the checkpoint was written by phyxel {found}; version {expected} would not continue with the same bits"
    )]
    OtherVersion {
        /// Version in the checkpoint.
        found: String,
        /// Version of this program.
        expected: String,
    },
}

impl CheckpointHeader {
    /// Checks that a checkpoint can be continued by this version.
    ///
    /// # Errors
    /// When the checkpoint belongs to another version.
    pub fn check_version(&self, engine_version: &str) -> Result<(), CheckpointError> {
        if self.engine_version != engine_version {
            let (found, expected) = (self.engine_version.clone(), engine_version.to_owned());
            return Err(CheckpointError::OtherVersion { found, expected });
        }
        Ok(())
    }
}

/// Writer that passes bytes on and computes their digest.
struct Digesting<W> {
    out: W,
    digest: ContentDigest,
}

impl<W: Write> Write for Digesting<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n_written = self.out.write(bytes)?;
        self.digest = self.digest.and(&bytes[..n_written]);
        Ok(n_written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Writes the state of a world as a checkpoint.
///
/// # Errors
/// When `out` cannot be written.
pub fn write_checkpoint(world: &mut World, header: &CheckpointHeader, out: impl Write) -> io::Result<()> {
    write_state(header, out, |state| {
        let mut writer = Writer::new(state);
        world.visit_state(&mut writer);
        writer.finish()
    })
}

fn write_state(
    header: &CheckpointHeader,
    out: impl Write,
    state: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = Digesting { out: BufWriter::with_capacity(CHUNK, out), digest: ContentDigest::EMPTY };
    out.write_all(MAGIC)?;
    out.write_all(&FORMAT_VERSION.to_le_bytes())?;
    put_text(&mut out, &header.engine_version)?;
    out.write_all(&header.scene_digest.0.to_le_bytes())?;
    out.write_all(&header.frame.to_le_bytes())?;
    let encoder = zstd::stream::write::Encoder::new(out, COMPRESSION_LEVEL)?;
    let mut encoder = BufWriter::with_capacity(CHUNK, encoder);
    state(&mut encoder)?;
    let encoder = encoder.into_inner().map_err(io::IntoInnerError::into_error)?;
    let Digesting { mut out, digest } = encoder.finish()?;
    out.write_all(&digest.0.to_le_bytes())?;
    out.flush()
}

/// A checkpoint whose digest was found to be right.
#[derive(Debug)]
pub struct Checkpoint<R> {
    source: R,
    header: CheckpointHeader,
    /// Offsets of the start and end of the compressed state (bytes).
    state: std::ops::Range<u64>,
}

impl<R: Read + Seek> Checkpoint<R> {
    /// Reads the header and checks the digest of all bytes.
    ///
    /// # Errors
    /// When the source is no checkpoint, or a damaged one.
    pub fn open(mut source: R) -> Result<Self, CheckpointError> {
        let mut magic = [0; MAGIC.len()];
        match source.read_exact(&mut magic) {
            Ok(()) if magic == *MAGIC => {}
            Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => return Err(unreadable(&error)),
            _ => return Err(CheckpointError::NotACheckpoint),
        }
        let version = take_word(&mut source).map(u32::from_le_bytes).map_err(|error| cut_off(&error))?;
        if version != FORMAT_VERSION {
            return Err(CheckpointError::Format(version));
        }
        let end = check_digest(&mut source)?;
        let start = (MAGIC.len() + size_of::<u32>()) as u64;
        let mut read = || {
            source.seek(SeekFrom::Start(start))?;
            let engine_version = take_text(&mut source)?;
            let mut digest = [0; 16];
            source.read_exact(&mut digest)?;
            let scene_digest = ContentDigest(u128::from_le_bytes(digest));
            let frame = take_long(&mut source)?;
            Ok((CheckpointHeader { engine_version, scene_digest, frame }, source.stream_position()?))
        };
        let (header, start) = read().map_err(|error: io::Error| cut_off(&error))?;
        Ok(Self { source, header, state: start..end })
    }

    /// Returns the version, scene and frame that the checkpoint belongs to.
    pub fn header(&self) -> &CheckpointHeader {
        &self.header
    }

    /// Copies the state into a newly built world of the same scene, and rebuilds all data derived from it.
    ///
    /// # Errors
    /// When the state does not fit the world, which then stays unchanged, except for the events that had happened. Only
    /// a source that fails or changes between the first and the second reading, or values that cannot be (an index that
    /// points nowhere), leave an unusable world.
    pub fn restore(&mut self, world: &mut World) -> Result<(), CheckpointError> {
        for replace in [false, true] {
            self.source.seek(SeekFrom::Start(self.state.start)).map_err(|error| unreadable(&error))?;
            let compressed = self.source.by_ref().take(self.state.end.saturating_sub(self.state.start));
            let decoder = zstd::stream::read::Decoder::new(compressed).map_err(|error| unreadable(&error))?;
            let mut reader = Reader::new(io::BufReader::with_capacity(CHUNK, decoder), replace);
            world.visit_state(&mut reader);
            reader.finish()?;
        }
        world.restored().map_err(|error| CheckpointError::Misfit(error.to_string()))
    }
}

fn unreadable(error: &io::Error) -> CheckpointError {
    CheckpointError::Unreadable(error.to_string())
}

fn cut_off(error: &io::Error) -> CheckpointError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData => {
            CheckpointError::Damaged("it is cut off")
        }
        _ => unreadable(error),
    }
}

/// Checks the digest at the end of the source, and returns its offset (bytes).
fn check_digest(source: &mut (impl Read + Seek)) -> Result<u64, CheckpointError> {
    let mut find = || {
        let n_bytes = source.seek(SeekFrom::End(0))?;
        let Some(end) = n_bytes.checked_sub(DIGEST_SIZE) else { return Ok(None) };
        source.seek(SeekFrom::Start(0))?;
        let mut chunk = vec![0; CHUNK];
        let (mut digest, mut n_left) = (ContentDigest::EMPTY, end);
        while n_left > 0 {
            let part = &mut chunk[..n_left.min(CHUNK as u64) as usize];
            source.read_exact(part)?;
            digest = digest.and(part);
            n_left -= part.len() as u64;
        }
        let mut found = [0; DIGEST_SIZE as usize];
        source.read_exact(&mut found)?;
        Ok((u128::from_le_bytes(found) == digest.0).then_some(end))
    };
    let wrong = CheckpointError::Damaged("its digest is wrong, so it is cut off or bits have changed");
    find().map_err(|error: io::Error| cut_off(&error))?.ok_or(wrong)
}

#[cfg(test)]
mod tests {
    use super::super::recorder::tests::block_world;
    use super::*;
    use phyxel::particles::PARTICLES;

    fn header() -> CheckpointHeader {
        CheckpointHeader {
            engine_version: "0.1.0".into(),
            scene_digest: ContentDigest::of(b"scene"),
            frame: 3,
        }
    }

    fn bytes_of(world: &mut World) -> Vec<u8> {
        let mut bytes = Vec::new();
        write_checkpoint(world, &header(), &mut bytes).unwrap();
        bytes
    }

    fn open(bytes: &[u8]) -> Result<Checkpoint<io::Cursor<&[u8]>>, CheckpointError> {
        Checkpoint::open(io::Cursor::new(bytes))
    }

    /// Checks that a world that is saved, loaded and continued has the same bits as one that was never stopped.
    #[test]
    fn a_restored_world_continues_with_the_same_bits() {
        let mut world = block_world(4);
        for frame in 1..=6 {
            world.advance_to(f64::from(frame) / 60.0).unwrap();
        }
        let bytes = bytes_of(&mut world);
        for frame in 7..=12 {
            world.advance_to(f64::from(frame) / 60.0).unwrap();
        }
        let mut checkpoint = open(&bytes).unwrap();
        assert_eq!(*checkpoint.header(), header());
        let mut restored = block_world(4);
        let fresh = restored.digest();
        checkpoint.restore(&mut restored).unwrap();
        assert_ne!(restored.digest(), fresh, "nothing was restored");
        for frame in 7..=12 {
            restored.advance_to(f64::from(frame) / 60.0).unwrap();
        }
        assert_eq!(restored.digest(), world.digest());
        assert_eq!(restored.ledger(), world.ledger());
    }

    #[test]
    fn every_truncation_and_changed_byte_is_found() {
        let bytes = bytes_of(&mut block_world(2));
        for n_bytes in 0..bytes.len() {
            assert!(open(&bytes[..n_bytes]).is_err(), "{n_bytes} of {}", bytes.len());
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            assert!(open(&damaged).is_err(), "byte {at}");
        }
    }

    #[test]
    fn state_that_does_not_fit_is_refused_and_the_world_left_alone() {
        let mut world = block_world(2);
        let before = world.digest();
        let mut whole = Vec::new();
        let mut writer = Writer::new(&mut whole);
        world.visit_state(&mut writer);
        writer.finish().unwrap();
        let cut = whole[..whole.len() - 1].to_vec();
        let longer = [whole.as_slice(), &[0]].concat();
        let position = whole.windows(8).position(|window| window == b"position").unwrap();
        let mut renamed = whole.clone();
        renamed[position] = b'q';
        // the length of the first array of positions, after name, unit, set and type
        let mut endless = whole.clone();
        let length = position + 8 + (4 + 1) + (4 + PARTICLES.len()) + 1;
        endless[length..length + 8].copy_from_slice(&(u64::MAX / 24).to_le_bytes());
        for (bad, word) in [(cut, "ends"), (longer, "more state"), (renamed, "qosition"), (endless, "rows")] {
            let mut bytes = Vec::new();
            write_state(&header(), &mut bytes, |state| state.write_all(&bad)).unwrap();
            let error = open(&bytes).unwrap().restore(&mut world).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
            assert_eq!(world.digest(), before);
        }
    }

    /// Checks that a file that fails after it was opened is reported as damaged, not as one of another scene.
    #[test]
    fn what_cannot_be_decompressed_is_damaged_and_a_full_disk_an_error() {
        let mut world = block_world(2);
        let mut bytes = Vec::new();
        write_state(&header(), &mut bytes, |state| state.write_all(&[7; 100])).unwrap();
        let mut checkpoint = open(&bytes).unwrap();
        checkpoint.state.end -= 3;
        let before = world.digest();
        assert!(checkpoint.restore(&mut world).is_err());
        checkpoint.state.start += 2;
        assert!(matches!(checkpoint.restore(&mut world), Err(CheckpointError::Damaged(_))));
        assert_eq!(world.digest(), before);
        let mut full = [0u8; 64];
        assert!(write_checkpoint(&mut world, &header(), full.as_mut_slice()).is_err());
    }

    #[test]
    fn other_versions_are_told_apart() {
        let header = header();
        assert!(header.check_version("0.1.0").is_ok());
        assert!(matches!(header.check_version("0.2.0"), Err(CheckpointError::OtherVersion { .. })));
        assert_eq!(open(b"ply\n").err(), Some(CheckpointError::NotACheckpoint));
    }
}
