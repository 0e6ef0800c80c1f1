//! Going on with a run: its checkpoints, the choice among them, and cutting the folder back to one.

use super::atomic::{Aside, Durability, make_folder, sync_folder};
use super::folder::{CHECKPOINTS, FRAMES, LEDGER, numbered};
use super::removal::remove_file;
use super::{
    Checkpoint, CheckpointHeader, ContentDigest, Damage, LedgerWriter, Part, ResultError, ResultFolder,
    RunInfo, Verification, write_checkpoint,
};
use phyxel::world::World;
use std::fs::File;
use std::path::PathBuf;

/// Number of checkpoints that are kept: if the last one is damaged, the one before it is whole.
const N_KEPT: usize = 2;

/// Checkpoint from which a run goes on, with the number of its frame.
pub type Start = (usize, Checkpoint<File>);

impl ResultFolder {
    /// Returns the place for checkpoints of a scene.
    pub(super) fn checkpoint_place(&self, scene_digest: ContentDigest) -> CheckpointPlace {
        CheckpointPlace { folder: self.path().join(CHECKPOINTS), scene_digest }
    }

    /// Renames a checkpoint to its final name, then removes the oldest ones.
    pub(super) fn finish_checkpoint(&self, file: Aside) -> Result<(), ResultError> {
        file.finish(Durability::Power)?;
        self.remove_checkpoints_but(N_KEPT)
    }

    /// Removes all checkpoints but the last few.
    pub(super) fn remove_checkpoints_but(&self, n_kept: usize) -> Result<(), ResultError> {
        let numbers = self.checkpoint_numbers()?;
        let n_old = numbers.len().saturating_sub(n_kept);
        numbers[..n_old].iter().try_for_each(|&frame| remove_file(&self.checkpoint_path(frame)))
    }

    pub(super) fn checkpoint_path(&self, frame: usize) -> PathBuf {
        self.path().join(CHECKPOINTS).join(checkpoint_name(frame))
    }

    fn checkpoint_numbers(&self) -> Result<Vec<usize>, ResultError> {
        numbered(&self.path().join(CHECKPOINTS), "frame_", ".state")
    }

    pub(super) fn open_checkpoint(&self, frame: usize) -> Result<Checkpoint<File>, ResultError> {
        let path = self.checkpoint_path(frame);
        let file = File::open(&path).map_err(|source| ResultError::io("read", &path, source))?;
        Checkpoint::open(file).map_err(|source| ResultError::Checkpoint { path, source })
    }

    /// Chooses the last whole checkpoint up to which everything else is whole, too; `None` is the start of the scene,
    /// if the run had not come further.
    ///
    /// # Errors
    /// When the scene or a mesh is damaged, all frames would have to be computed again, or the checkpoint belongs to
    /// another version.
    pub fn start(&self, verification: &mut Verification) -> Result<Option<Start>, ResultError> {
        self.check_inputs(verification)?;
        let end = verification.first_damaged_frame().unwrap_or(usize::MAX);
        let Some(&frame) = verification.checkpoints.iter().rfind(|&&frame| frame < end) else {
            let has_begun = verification.info.as_ref().is_none_or(|info| !info.frame_times.is_empty());
            return if has_begun { Err(ResultError::NoCheckpoint(self.path().to_owned())) } else { Ok(None) };
        };
        let checkpoint = self.open_checkpoint(frame)?;
        let path = self.checkpoint_path(frame);
        checkpoint
            .header()
            .check_version(&engine_version())
            .map_err(|source| ResultError::Checkpoint { path, source })?;
        Ok(Some((frame, checkpoint)))
    }

    /// Checks that scene and meshes are those that were run, without which nothing can be computed again.
    ///
    /// # Errors
    /// When one of them is damaged, or neither metadata nor checkpoints tell.
    pub fn check_inputs(&self, verification: &mut Verification) -> Result<(), ResultError> {
        let is_unknown = verification.scene_digest.is_none();
        let is_input = |damage: &Damage| match damage.part {
            Part::Scene | Part::Mesh => true,
            Part::RunInfo => is_unknown,
            _ => false,
        };
        match verification.damages.iter().position(is_input) {
            Some(at) => Err(verification.damages.swap_remove(at).error),
            None => Ok(()),
        }
    }

    /// Removes checkpoints that are damaged, which nobody can use.
    ///
    /// # Errors
    /// When a file cannot be removed.
    pub fn remove_damaged_checkpoints(&self, verification: &Verification) -> Result<(), ResultError> {
        let mut frames = verification.damages.iter().filter_map(|damage| match damage.part {
            Part::Checkpoint(frame) => Some(frame),
            _ => None,
        });
        frames.try_for_each(|frame| remove_file(&self.checkpoint_path(frame)))
    }

    /// Cuts everything back to a checkpoint's frame, or to nothing, and returns the ledger to continue with. `info` gets
    /// the times of the frames that stay, and is written first: what it lists is there at every moment.
    ///
    /// # Errors
    /// When a row of the ledger up to that frame is missing, or a file operation fails.
    pub fn cut_back(&self, frame: Option<usize>, info: &mut RunInfo) -> Result<LedgerWriter, ResultError> {
        let n_kept = frame.map_or(0, |frame| frame + 1);
        let path = self.path().join(LEDGER);
        (info.frame_times, info.frame_particles) = (Vec::new(), Vec::new());
        if n_kept > 0 {
            let (table, damage) = self.sound_ledger(n_kept)?;
            let whole = Some(table.rows.len()).filter(|n_rows| *n_rows >= n_kept);
            whole.ok_or_else(|| ResultError::damaged(&path, damage.unwrap_or_default()))?;
            let column = |name: &str| {
                let mut numbers = table.numbers(name);
                numbers.iter_mut().for_each(|numbers| numbers.truncate(n_kept));
                numbers.ok_or_else(|| ResultError::damaged(&path, format!("there is no column {name}")))
            };
            info.frame_times = column("time")?;
            info.frame_particles = column("particles")?.into_iter().map(|n| n as usize).collect();
        }
        self.write_run_info(info)?;
        self.remove_unfinished()?;
        self.remove_from(n_kept, info)?;
        match n_kept {
            0 => self.new_ledger(),
            n => LedgerWriter::cut_back(&path, n),
        }
    }

    /// Removes frames, surfaces and checkpoints from a frame on.
    pub(super) fn remove_from(&self, first: usize, info: &RunInfo) -> Result<(), ResultError> {
        let folders = [FRAMES, CHECKPOINTS].map(|name| self.path().join(name));
        folders.iter().try_for_each(|folder| make_folder(folder))?;
        let is_later = |number: &usize| *number >= first;
        for number in self.frame_numbers()?.into_iter().filter(is_later) {
            remove_file(&self.frame_path(number))?;
        }
        for body in &info.bodies {
            for number in self.surface_numbers(&body.name)?.into_iter().filter(is_later) {
                remove_file(&self.surface_path(&body.name, number))?;
            }
        }
        for number in self.checkpoint_numbers()?.into_iter().filter(is_later) {
            remove_file(&self.checkpoint_path(number))?;
        }
        folders.iter().try_for_each(|folder| sync_folder(folder))
    }
}

/// Folder for the checkpoints of a scene, with the digest of the scene.
#[derive(Clone, Debug)]
pub(super) struct CheckpointPlace {
    folder: PathBuf,
    scene_digest: ContentDigest,
}

impl CheckpointPlace {
    /// Writes the state of a world to a file, which still has its temporary name.
    pub(super) fn write(&self, frame: usize, world: &mut World) -> Result<Aside, ResultError> {
        let scene_digest = self.scene_digest;
        let header = CheckpointHeader { engine_version: engine_version(), scene_digest, frame: frame as u64 };
        let mut file = Aside::create(&self.folder.join(checkpoint_name(frame)))?;
        file.write(|out| write_checkpoint(world, &header, out))?;
        Ok(file)
    }
}

fn checkpoint_name(frame: usize) -> String {
    format!("frame_{frame:04}.state")
}

/// Returns the version of the engine, which is that of the workspace.
fn engine_version() -> String {
    let bits = ContentDigest::of(phyxel::BITS.as_bytes()).0 as u32;
    format!("{} (bits {bits:08x})", env!("CARGO_PKG_VERSION"))
}
