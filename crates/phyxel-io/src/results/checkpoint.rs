//! Checkpoints: every array of the engine's state in full precision.
//!
//! ```text
//! magic, format version, engine version, scene digest, frame, length of the state, compressed length
//! zstd: per item name, unit, set, type, length, raw little-endian values, in the order of `World::visit_state`
//! digest of all bytes before
//! ```

use super::ContentDigest;
use phyxel::math::{Mat3, Vec3};
use phyxel::particles::{StateData, StateItem, StateVisitor};
use phyxel::world::World;
use std::io::Read;

const MAGIC: &[u8; 8] = b"PHYXELCP";
const FORMAT_VERSION: u32 = 1;
/// The state is large and changes all the time: speed counts.
const COMPRESSION_LEVEL: i32 = 1;

/// What a checkpoint belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointHeader {
    /// Version of the engine that wrote it. Another one need not continue with the same bits.
    pub engine_version: String,
    /// Digest of the scene as run.
    pub scene_digest: ContentDigest,
    /// The frame that it was taken at.
    pub frame: u64,
}

/// Why a checkpoint cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointError {
    /// Something else.
    #[error("not a checkpoint of phyxel")]
    NotACheckpoint,
    /// Another format.
    #[error("a checkpoint of format {0}; this program reads format {FORMAT_VERSION}")]
    Format(u32),
    /// Cut off, or bits have changed.
    #[error("the checkpoint is damaged: {0}")]
    Damaged(&'static str),
    /// Its state is not that of this world.
    #[error("the checkpoint does not fit the scene: {0}")]
    Misfit(String),
    /// Of another scene.
    #[error("the checkpoint was taken of another scene (digest {found}, expected {expected})")]
    OtherScene {
        /// Digest in the checkpoint.
        found: ContentDigest,
        /// Digest of the scene.
        expected: ContentDigest,
    },
    /// Of another version.
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
    /// Whether a checkpoint can be continued by this version on this scene.
    ///
    /// # Errors
    /// When it is of another scene or version.
    pub fn check(&self, engine_version: &str, scene_digest: ContentDigest) -> Result<(), CheckpointError> {
        if self.scene_digest != scene_digest {
            return Err(CheckpointError::OtherScene { found: self.scene_digest, expected: scene_digest });
        }
        if self.engine_version != engine_version {
            let (found, expected) = (self.engine_version.clone(), engine_version.to_owned());
            return Err(CheckpointError::OtherVersion { found, expected });
        }
        Ok(())
    }
}

/// The state of a world as bytes, uncompressed: quick to take between two frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot(Vec<u8>);

impl Snapshot {
    /// Takes the state of a world.
    pub fn take(world: &mut World) -> Self {
        let mut writer = Writer::default();
        world.visit_state(&mut writer);
        Self(writer.0)
    }

    /// Size of the state. [bytes]
    pub fn n_bytes(&self) -> usize {
        self.0.len()
    }

    /// Puts the state into a world of the same scene and rebuilds what is derived from it.
    ///
    /// # Errors
    /// When the state is not of such a world, which is then left as it was.
    pub fn restore(&self, world: &mut World) -> Result<(), CheckpointError> {
        for replace in [false, true] {
            let mut reader = Reader::new(&self.0, replace);
            world.visit_state(&mut reader);
            reader.finish()?;
        }
        world.restored();
        Ok(())
    }

    /// The bytes of a file.
    ///
    /// # Errors
    /// When the compressor fails.
    pub fn encode(&self, header: &CheckpointHeader) -> std::io::Result<Vec<u8>> {
        let compressed = zstd::bulk::compress(&self.0, COMPRESSION_LEVEL)?;
        let mut bytes = Vec::with_capacity(compressed.len() + 128);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
        put_text(&mut bytes, &header.engine_version);
        bytes.extend_from_slice(&header.scene_digest.0.to_le_bytes());
        bytes.extend_from_slice(&header.frame.to_le_bytes());
        bytes.extend_from_slice(&(self.0.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&(compressed.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&compressed);
        let digest = ContentDigest::of(&bytes);
        bytes.extend_from_slice(&digest.0.to_le_bytes());
        Ok(bytes)
    }

    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// When they are no checkpoint, or a damaged one.
    pub fn decode(bytes: &[u8]) -> Result<(CheckpointHeader, Self), CheckpointError> {
        let mut cursor = Cursor(bytes);
        if cursor.take(MAGIC.len()) != Some(MAGIC) {
            return Err(CheckpointError::NotACheckpoint);
        }
        let cut_off = || CheckpointError::Damaged("it is cut off");
        let version = cursor.word().map(u32::from_le_bytes).ok_or_else(cut_off)?;
        if version != FORMAT_VERSION {
            return Err(CheckpointError::Format(version));
        }
        let (content, digest) = bytes.split_last_chunk::<16>().ok_or_else(cut_off)?;
        if ContentDigest::of(content).0 != u128::from_le_bytes(*digest) {
            return Err(CheckpointError::Damaged(
                "its digest is wrong, so it is cut off or bits have changed",
            ));
        }
        let mut header = || {
            let engine_version = cursor.text()?.to_owned();
            let scene_digest = ContentDigest(u128::from_le_bytes(*cursor.take(16)?.first_chunk()?));
            let frame = cursor.long()?;
            Some((CheckpointHeader { engine_version, scene_digest, frame }, cursor.long()?, cursor.long()?))
        };
        let (header, n_bytes, n_compressed) = header().ok_or_else(cut_off)?;
        let compressed =
            cursor.take(usize::try_from(n_compressed).unwrap_or(usize::MAX)).ok_or_else(cut_off)?;
        Ok((header, Self(decompress(compressed, n_bytes)?)))
    }
}

/// Never grows over the announced length, whatever the bytes say.
fn decompress(compressed: &[u8], n_bytes: u64) -> Result<Vec<u8>, CheckpointError> {
    let bad = |_| CheckpointError::Damaged("it cannot be decompressed");
    let mut state = Vec::new();
    let decoder = zstd::stream::read::Decoder::new(compressed).map_err(bad)?;
    decoder.take(n_bytes.saturating_add(1)).read_to_end(&mut state).map_err(bad)?;
    if state.len() as u64 != n_bytes {
        return Err(CheckpointError::Damaged("the state has another length than announced"));
    }
    Ok(state)
}

fn put_text(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
    bytes.extend_from_slice(text.as_bytes());
}

/// Name of a type, as in messages, its tag, and the bytes of a row.
fn kind(data: &StateData<'_>) -> (&'static str, u8, usize) {
    match data {
        StateData::Reals(_) => ("reals", 0, 8),
        StateData::Vectors(_) => ("vectors", 1, 24),
        StateData::Matrices(_) => ("matrices", 2, 72),
        StateData::Integers(_) => ("integers", 3, 4),
        StateData::Number(_) => ("number", 4, 8),
        StateData::Counter(_) => ("counter", 5, 8),
    }
}

#[derive(Default)]
struct Writer(Vec<u8>);

impl StateVisitor for Writer {
    fn visit(&mut self, item: StateItem<'_>) {
        let bytes = &mut self.0;
        [item.name, item.unit, item.set].iter().for_each(|text| put_text(bytes, text));
        let (_, tag, row_size) = kind(&item.data);
        let n_rows = match &item.data {
            StateData::Reals(v) => v.len(),
            StateData::Vectors(v) => v.len(),
            StateData::Matrices(v) => v.len(),
            StateData::Integers(v) => v.len(),
            StateData::Number(_) | StateData::Counter(_) => 1,
        };
        bytes.push(tag);
        bytes.extend_from_slice(&(n_rows as u64).to_le_bytes());
        bytes.reserve(n_rows * row_size);
        let mut put = |x: f64| bytes.extend_from_slice(&x.to_le_bytes());
        match item.data {
            StateData::Reals(v) => v.iter().copied().for_each(put),
            StateData::Vectors(v) => v.iter().flat_map(Vec3::to_array).for_each(put),
            StateData::Matrices(v) => v.iter().flat_map(Mat3::to_cols_array).for_each(put),
            StateData::Number(x) => put(*x),
            StateData::Integers(v) => v.iter().for_each(|x| bytes.extend_from_slice(&x.to_le_bytes())),
            StateData::Counter(x) => bytes.extend_from_slice(&x.to_le_bytes()),
        }
    }
}

/// Takes values from the front of some bytes.
struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn take(&mut self, n_bytes: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(n_bytes)?;
        self.0 = rest;
        Some(taken)
    }

    fn word(&mut self) -> Option<[u8; 4]> {
        self.take(4)?.first_chunk().copied()
    }

    fn long(&mut self) -> Option<u64> {
        self.take(8)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
    }

    fn text(&mut self) -> Option<&'a str> {
        let n_bytes = u32::from_le_bytes(self.word()?) as usize;
        std::str::from_utf8(self.take(n_bytes)?).ok()
    }
}

/// Compares the state with what is saved; `replace` puts it in place.
struct Reader<'a> {
    cursor: Cursor<'a>,
    replace: bool,
    /// Name, set and rows of the items of the present group.
    group: Vec<(&'static str, &'static str, usize)>,
    problem: Option<String>,
}

impl<'a> Reader<'a> {
    fn new(bytes: &'a [u8], replace: bool) -> Self {
        Self { cursor: Cursor(bytes), replace, group: Vec::new(), problem: None }
    }

    fn finish(self) -> Result<(), CheckpointError> {
        match self.problem {
            Some(problem) => Err(CheckpointError::Misfit(problem)),
            None if !self.cursor.0.is_empty() => {
                Err(CheckpointError::Misfit("it has more state than the scene".into()))
            }
            None => Ok(()),
        }
    }

    fn read(&mut self, item: StateItem<'_>) -> Result<(), String> {
        let (name, set) = (item.name, item.set);
        let ended = || format!("it ends before \"{name}\"");
        let found = [self.cursor.text(), self.cursor.text(), self.cursor.text()];
        let [Some(found_name), Some(found_unit), Some(found_set)] = found else { return Err(ended()) };
        if (found_name, found_unit, found_set) != (name, item.unit, set) {
            return Err(format!(
                "\"{name}\" [{}] is expected, \"{found_name}\" [{found_unit}] found",
                item.unit
            ));
        }
        let (kind_name, tag, row_size) = kind(&item.data);
        if self.cursor.take(1).ok_or_else(ended)? != [tag] {
            return Err(format!("\"{name}\" is not of type {kind_name}"));
        }
        let n_rows = self.cursor.long().and_then(|n| usize::try_from(n).ok()).ok_or_else(ended)?;
        let bytes =
            n_rows.checked_mul(row_size).and_then(|n_bytes| self.cursor.take(n_bytes)).ok_or_else(ended)?;
        self.check_rows(name, set, n_rows)?;
        match item.data {
            StateData::Number(_) | StateData::Counter(_) if n_rows != 1 => {
                return Err(format!("\"{name}\" has {n_rows} values in place of one"));
            }
            data if self.replace => replace(data, bytes),
            _ => {}
        }
        Ok(())
    }

    /// All arrays of a set have the same length, or are not made yet.
    fn check_rows(&mut self, name: &'static str, set: &'static str, n_rows: usize) -> Result<(), String> {
        if self.group.iter().any(|item| item.0 == name) {
            self.group.clear();
        }
        let other = self.group.iter().find(|item| item.1 == set && item.2 != 0);
        match other {
            Some(other) if !set.is_empty() && n_rows != 0 && other.2 != n_rows => {
                Err(format!("\"{name}\" has {n_rows} rows, \"{}\" {}", other.0, other.2))
            }
            _ => {
                self.group.push((name, set, n_rows));
                Ok(())
            }
        }
    }
}

fn real(bytes: &[u8]) -> f64 {
    bytes.first_chunk().map_or(f64::NAN, |bytes| f64::from_le_bytes(*bytes))
}

fn reals<const N: usize>(bytes: &[u8]) -> [f64; N] {
    std::array::from_fn(|k| real(&bytes[8 * k..]))
}

fn replace(data: StateData<'_>, bytes: &[u8]) {
    match data {
        StateData::Reals(v) => *v = bytes.chunks_exact(8).map(real).collect(),
        StateData::Vectors(v) => {
            *v = bytes.chunks_exact(24).map(|row| Vec3::from_array(reals(row))).collect()
        }
        StateData::Matrices(v) => {
            *v = bytes.chunks_exact(72).map(|row| Mat3::from_cols_array(&reals(row))).collect()
        }
        StateData::Integers(v) => {
            let integer = |row: &[u8]| row.first_chunk().map_or(0, |row| u32::from_le_bytes(*row));
            *v = bytes.chunks_exact(4).map(integer).collect();
        }
        StateData::Number(x) => *x = real(bytes),
        StateData::Counter(x) => *x = bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes)),
    }
}

impl StateVisitor for Reader<'_> {
    fn visit(&mut self, item: StateItem<'_>) {
        if self.problem.is_none() {
            self.problem = self.read(item).err();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::recorder::tests::block_world;
    use super::*;

    fn header() -> CheckpointHeader {
        CheckpointHeader {
            engine_version: "0.1.0".into(),
            scene_digest: ContentDigest::of(b"scene"),
            frame: 3,
        }
    }

    /// Save, load into a fresh world and continue: every bit of the state is that of the run that was never stopped.
    #[test]
    fn a_restored_world_continues_with_the_same_bits() {
        let mut world = block_world(4);
        for frame in 1..=6 {
            world.advance_to(f64::from(frame) / 60.0).unwrap();
        }
        let bytes = Snapshot::take(&mut world).encode(&header()).unwrap();
        for frame in 7..=12 {
            world.advance_to(f64::from(frame) / 60.0).unwrap();
        }
        let (read, snapshot) = Snapshot::decode(&bytes).unwrap();
        assert_eq!(read, header());
        let mut restored = block_world(4);
        let fresh = restored.digest();
        snapshot.restore(&mut restored).unwrap();
        assert_ne!(restored.digest(), fresh, "nothing was restored");
        for frame in 7..=12 {
            restored.advance_to(f64::from(frame) / 60.0).unwrap();
        }
        assert_eq!(restored.digest(), world.digest());
        assert_eq!(restored.ledger(), world.ledger());
    }

    #[test]
    fn every_truncation_and_changed_byte_is_found() {
        let bytes = Snapshot::take(&mut block_world(2)).encode(&header()).unwrap();
        for n_bytes in 0..bytes.len() {
            assert!(Snapshot::decode(&bytes[..n_bytes]).is_err(), "{n_bytes} of {}", bytes.len());
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            assert!(Snapshot::decode(&damaged).is_err(), "byte {at}");
        }
    }

    #[test]
    fn state_that_does_not_fit_is_refused_and_the_world_left_alone() {
        let mut world = block_world(2);
        let before = world.digest();
        let whole = Snapshot::take(&mut world).0;
        let cut = Snapshot(whole[..whole.len() - 1].to_vec());
        let longer = Snapshot([whole.as_slice(), &[0]].concat());
        let position = whole.windows(8).position(|window| window == b"position").unwrap();
        let mut renamed = whole.clone();
        renamed[position] = b'q';
        for (bad, word) in [(cut, "ends"), (longer, "more state"), (Snapshot(renamed), "qosition")] {
            let error = bad.restore(&mut world).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
            assert_eq!(world.digest(), before);
        }
    }

    #[test]
    fn other_scenes_and_versions_are_told_apart() {
        let header = header();
        assert!(header.check("0.1.0", ContentDigest::of(b"scene")).is_ok());
        assert!(matches!(
            header.check("0.1.0", ContentDigest::of(b"other")),
            Err(CheckpointError::OtherScene { .. })
        ));
        assert!(matches!(
            header.check("0.2.0", ContentDigest::of(b"scene")),
            Err(CheckpointError::OtherVersion { .. })
        ));
        assert_eq!(Snapshot::decode(b"ply\n"), Err(CheckpointError::NotACheckpoint));
    }
}
