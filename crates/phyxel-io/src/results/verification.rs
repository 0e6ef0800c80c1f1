//! Check of every file of a result folder.

use super::checkpoint::Checkpoint;
use super::folder::{CHECKPOINTS, LEDGER, RUN_INFO, SCENE, numbered, parse_scene, read_sealed};
use super::meshes::{check_mesh, mesh_files};
use super::{ContentDigest, LedgerTable, ResultError, ResultFolder, RunInfo, SurfaceTable, ply};
use std::collections::BTreeSet;
use std::path::Path;

/// Part of a result that is damaged or missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// `run.json`.
    RunInfo,
    /// `scene.toml`.
    Scene,
    /// A mesh of the scene.
    Mesh,
    /// The ledger, from this row on.
    Ledger {
        /// Number of the first damaged row, which is that of its frame.
        row: usize,
    },
    /// The particles of a frame.
    Frame(usize),
    /// The surface of a body in a frame.
    Surface {
        /// Name of the body.
        body: String,
        /// Number of the frame.
        frame: usize,
        /// True if the run writes it, false if it was made afterwards.
        is_of_run: bool,
    },
    /// The checkpoint of a frame.
    Checkpoint(usize),
}

/// A damaged or missing part of a result.
#[derive(Debug)]
pub struct Damage {
    /// The part.
    pub part: Part,
    /// The file and what is wrong with it.
    pub error: ResultError,
}

/// State of all files of a result.
#[derive(Debug, Default)]
pub struct Verification {
    /// Metadata of the run, if they are whole.
    pub info: Option<RunInfo>,
    /// Digest of the scene, if it is known to be the one that was run.
    pub scene_digest: Option<ContentDigest>,
    /// Frames of the checkpoints that are whole, ascending.
    pub checkpoints: Vec<usize>,
    /// Everything that is not whole.
    pub damages: Vec<Damage>,
    /// Number of files that were read.
    pub n_files: usize,
    /// Size of these files (bytes).
    pub n_bytes: u64,
    /// Rows of the ledger that are whole.
    ledger: LedgerTable,
}

impl Verification {
    /// Returns the first frame whose particles, surfaces or ledger row are not whole, if there is one.
    pub fn first_damaged_frame(&self) -> Option<usize> {
        let frame = |damage: &Damage| match damage.part {
            Part::Frame(frame) | Part::Ledger { row: frame } => Some(frame),
            Part::Surface { frame, is_of_run: true, .. } => Some(frame),
            _ => None,
        };
        self.damages.iter().filter_map(frame).min()
    }

    fn see(&mut self, part: Part, found: Result<u64, ResultError>) {
        match found {
            Ok(n_bytes) => (self.n_files, self.n_bytes) = (self.n_files + 1, self.n_bytes + n_bytes),
            Err(error) => self.damages.push(Damage { part, error }),
        }
    }

    /// Returns the number of frames that must be there: those that are listed, and those up to a whole checkpoint.
    fn n_promised(&self) -> usize {
        let n_listed = self.info.as_ref().map_or(0, |info| info.frame_times.len());
        n_listed.max(self.checkpoints.last().map_or(0, |frame| frame + 1))
    }
}

impl ResultFolder {
    /// Reads every file of the result, which may still be growing, and finds what is damaged or missing.
    ///
    /// # Errors
    /// When a folder cannot be read.
    pub fn verify(&self) -> Result<Verification, ResultError> {
        let mut all = Verification::default();
        let info = self.run_info().and_then(|info| {
            all.info = Some(info);
            size_of(&self.path().join(RUN_INFO))
        });
        all.see(Part::RunInfo, info);
        self.verify_checkpoints(&mut all)?;
        let of_run = self.verify_scene(&mut all);
        match self.sound_ledger(all.n_promised()) {
            Ok((table, damage)) => {
                let damaged = damage.map(|problem| ResultError::damaged(&self.path().join(LEDGER), problem));
                let row = table.rows.len();
                all.ledger = table;
                all.see(Part::Ledger { row }, damaged.map_or(Ok(0), Err));
            }
            Err(error) => all.see(Part::Ledger { row: 0 }, Err(error)),
        }
        self.verify_frames(&mut all)?;
        self.verify_surfaces(&mut all, &of_run)?;
        Ok(all)
    }

    /// Checks the checkpoints, which tell the digest of the scene if the metadata do not.
    fn verify_checkpoints(&self, all: &mut Verification) -> Result<(), ResultError> {
        let known = all.info.as_ref().map(|info| info.scene_digest);
        for frame in numbered(&self.path().join(CHECKPOINTS), "frame_", ".state")? {
            let path = self.checkpoint_path(frame);
            let found = self.open_checkpoint(frame).and_then(|checkpoint| {
                check_header(&path, &checkpoint, frame, known)?;
                all.scene_digest = Some(checkpoint.header().scene_digest);
                all.checkpoints.push(frame);
                size_of(&path)
            });
            all.see(Part::Checkpoint(frame), found);
        }
        all.scene_digest = known.or(all.scene_digest);
        Ok(())
    }

    /// Checks the scene and its meshes; returns the bodies whose surfaces the run writes.
    fn verify_scene(&self, all: &mut Verification) -> Vec<String> {
        let bytes = self.read(SCENE);
        let bytes = bytes.and_then(|bytes| match all.scene_digest {
            Some(digest) => self.check_scene(&bytes, digest).map(|()| bytes),
            None => Ok(bytes),
        });
        let text =
            bytes.as_ref().map(|bytes| String::from_utf8_lossy(bytes).into_owned()).unwrap_or_default();
        all.see(Part::Scene, bytes.map(|bytes| bytes.len() as u64));
        for file in mesh_files(&text) {
            all.see(Part::Mesh, check_mesh(&self.path().join(file)));
        }
        let bodies = parse_scene(&text).map(|file| file.scene.bodies).unwrap_or_default();
        bodies.into_iter().filter(|body| body.surface.is_some()).map(|body| body.name).collect()
    }

    fn verify_frames(&self, all: &mut Verification) -> Result<(), ResultError> {
        let numbers = self.frame_numbers()?;
        let n_expected = all.n_promised().max(all.ledger.rows.len());
        let times = all.ledger.numbers("time").unwrap_or_default();
        let counts = all.ledger.numbers("particles").unwrap_or_default();
        let expected: BTreeSet<usize> = numbers.iter().copied().chain(0..n_expected).collect();
        for number in expected {
            let path = self.frame_path(number);
            if numbers.binary_search(&number).is_err() {
                all.see(Part::Frame(number), Err(ResultError::damaged(&path, "this frame is missing")));
                continue;
            }
            let found = read_sealed(&path).and_then(|bytes| {
                let table = ply::decode_columns(&bytes, &|_| false);
                let table = table.map_err(|source| ResultError::Frame { path: path.clone(), source })?;
                let row = times.get(number).zip(counts.get(number));
                if row.is_some_and(|(&time, &count)| time != table.time || count != table.id.len() as f64) {
                    return Err(ResultError::damaged(
                        &path,
                        "its time or number of particles is not that of the ledger",
                    ));
                }
                Ok(bytes.len() as u64)
            });
            all.see(Part::Frame(number), found);
        }
        Ok(())
    }

    fn verify_surfaces(&self, all: &mut Verification, of_run: &[String]) -> Result<(), ResultError> {
        let bodies = all.info.iter().flat_map(|info| info.bodies.iter().map(|body| body.name.clone()));
        let bodies: BTreeSet<String> = bodies.chain(of_run.iter().cloned()).collect();
        let n_promised = all.n_promised();
        for body in bodies {
            let is_of_run = of_run.contains(&body);
            let numbers = self.surface_numbers(&body)?.into_iter();
            let expected = if is_of_run { 0..n_promised } else { 0..0 };
            for frame in numbers.chain(expected).collect::<BTreeSet<usize>>() {
                let path = self.surface_path(&body, frame);
                let decoded = |bytes: Vec<u8>| match SurfaceTable::decode(&bytes) {
                    Ok(_) => Ok(bytes.len() as u64),
                    Err(source) => Err(ResultError::Frame { path: path.clone(), source }),
                };
                let found = read_sealed(&path).and_then(decoded);
                all.see(Part::Surface { body: body.clone(), frame, is_of_run }, found);
            }
        }
        Ok(())
    }
}

/// Checks that a checkpoint belongs to its name, and to the scene if it is known.
fn check_header<R>(
    path: &Path,
    checkpoint: &Checkpoint<R>,
    frame: usize,
    known: Option<ContentDigest>,
) -> Result<(), ResultError>
where
    R: std::io::Read + std::io::Seek,
{
    let header = checkpoint.header();
    if header.frame != frame as u64 {
        return Err(ResultError::damaged(path, format!("it is the checkpoint of frame {}", header.frame)));
    }
    match known {
        Some(digest) if digest != header.scene_digest => {
            Err(ResultError::damaged(path, "it is the checkpoint of another scene"))
        }
        _ => Ok(()),
    }
}

fn size_of(path: &Path) -> Result<u64, ResultError> {
    let size = std::fs::metadata(path).map(|file| file.len());
    size.map_err(|source| ResultError::io("read", path, source))
}
