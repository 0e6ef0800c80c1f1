//! Recorder, which writes results in the background while the next frame is computed.

#[cfg(test)]
pub(super) mod tests;

use super::atomic::Aside;
use super::continuation::CheckpointPlace;
use super::{LedgerWriter, ResultError, ResultFolder, RunInfo, Status, SurfaceTable, Tally};
use phyxel::frame::Frame;
use phyxel::world::{Ledger, World};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Number of frames that may wait for the disk: enough to bridge short delays, few enough not to fill the memory.
const QUEUE: usize = 2;
/// Time after which frames are written to the disk for good and listed, also without a checkpoint. Doing this for each
/// frame would slow down runs with short ones.
const SYNC_INTERVAL: Duration = Duration::from_secs(10);

enum Job {
    Frame {
        number: usize,
        frame: Frame,
        /// Surfaces with the names of their bodies.
        surfaces: Vec<(String, SurfaceTable)>,
        ledger: Box<Ledger>,
        tally: Tally,
    },
    Checkpoint(Aside),
    Finish {
        status: Status,
        tally: Tally,
    },
}

/// Hands frames, ledger rows and checkpoints to a thread that writes them in order.
///
/// A checkpoint gets its final name when all frames and rows up to it are on the disk, and `run.json` lists frames when they
/// are, so that both are true also after a loss of power.
#[derive(Debug)]
pub struct Recorder {
    checkpoints: CheckpointPlace,
    sender: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<Result<f64, ResultError>>>,
}

impl Recorder {
    /// Starts the writer, which also keeps `info` up to date on the disk from then on.
    ///
    /// # Errors
    /// When `run.json` cannot be written.
    pub fn start(folder: ResultFolder, info: RunInfo, ledger: LedgerWriter) -> Result<Self, ResultError> {
        folder.write_run_info(&info)?;
        let checkpoints = folder.checkpoint_place(info.scene_digest);
        let (sender, receiver) = sync_channel(QUEUE);
        // a run that goes on has a checkpoint at its last frame
        let n_saved = info.frame_times.len();
        let mut writer = Writer {
            folder,
            info,
            ledger,
            unlisted: Vec::new(),
            unsynced: Vec::new(),
            n_saved,
            last_sync: Instant::now(),
            busy: Duration::ZERO,
        };
        let thread =
            std::thread::Builder::new().name("phyxel-writer".into()).spawn(move || writer.run(&receiver));
        let thread = thread.map_err(|source| ResultError::Io {
            action: "start",
            path: "the writer".into(),
            source,
        })?;
        Ok(Self { checkpoints, sender: Some(sender), thread: Some(thread) })
    }

    /// Queues a frame, the surfaces of bodies by name, and a row of the ledger for writing; waits if the queue is full.
    ///
    /// # Errors
    /// When something that was queued before could not be written.
    pub fn frame(
        &mut self,
        number: usize,
        frame: Frame,
        surfaces: Vec<(String, SurfaceTable)>,
        ledger: Ledger,
        tally: Tally,
    ) -> Result<(), ResultError> {
        self.send(Job::Frame { number, frame, surfaces, ledger: Box::new(ledger), tally })
    }

    /// Writes the state at a frame that was queued before; not in the background, because that would need a copy.
    ///
    /// # Errors
    /// When the state, or something that was queued before, could not be written.
    pub fn checkpoint(&mut self, frame: usize, world: &mut World) -> Result<(), ResultError> {
        let file = self.checkpoints.write(frame, world)?;
        self.send(Job::Checkpoint(file))
    }

    /// Waits until everything is written, and returns the time that writing took (s).
    ///
    /// # Errors
    /// When something could not be written.
    pub fn finish(mut self, status: Status, tally: Tally) -> Result<f64, ResultError> {
        self.send(Job::Finish { status, tally })?;
        self.join()
    }

    fn send(&mut self, job: Job) -> Result<(), ResultError> {
        let sent = self.sender.as_ref().is_some_and(|sender| sender.send(job).is_ok());
        // the writer ends early only if it failed
        if sent { Ok(()) } else { self.join().and(Err(ResultError::WriterGone)) }
    }

    fn join(&mut self) -> Result<f64, ResultError> {
        self.sender = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(result)) => result,
            Some(Err(_)) | None => Err(ResultError::WriterGone),
        }
    }
}

impl Drop for Recorder {
    /// Waits until everything in the queue is written, also when a run ends early.
    fn drop(&mut self) {
        let _ = self.join();
    }
}

struct Writer {
    folder: ResultFolder,
    info: RunInfo,
    ledger: LedgerWriter,
    /// Time and number of particles of the frames that are not known to be on the disk.
    unlisted: Vec<(f64, usize)>,
    /// Files of these frames.
    unsynced: Vec<PathBuf>,
    /// Number of frames up to the last checkpoint.
    n_saved: usize,
    last_sync: Instant,
    busy: Duration,
}

impl Writer {
    fn run(&mut self, jobs: &Receiver<Job>) -> Result<f64, ResultError> {
        while let Ok(job) = jobs.recv() {
            let start = Instant::now();
            if let Err(error) = self.write(job) {
                self.record_failure(&error);
                return Err(error);
            }
            self.busy += start.elapsed();
        }
        Ok(self.busy.as_secs_f64())
    }

    fn write(&mut self, job: Job) -> Result<(), ResultError> {
        match job {
            Job::Frame { number, frame, surfaces, ledger, tally } => {
                for (body, surface) in &surfaces {
                    self.folder.write_surface(body, number, surface)?;
                    self.unsynced.push(self.folder.surface_path(body, number));
                }
                self.folder.write_frame(number, &frame)?;
                self.unsynced.push(self.folder.frame_path(number));
                self.ledger.append(&ledger)?;
                self.unlisted.push((frame.time, frame.id.len()));
                self.info.tally = tally;
                if self.last_sync.elapsed() < SYNC_INTERVAL {
                    return Ok(());
                }
                self.sync()?;
            }
            Job::Checkpoint(file) => {
                self.sync()?;
                self.folder.finish_checkpoint(file)?;
                self.n_saved = self.info.frame_times.len();
            }
            Job::Finish { status, tally } => {
                self.sync()?;
                self.info.status = status;
                self.info.tally = tally;
            }
        }
        self.folder.write_run_info(&self.info)
    }

    /// Writes all frames and rows so far to the disk, and lists them.
    fn sync(&mut self) -> Result<(), ResultError> {
        self.folder.sync_frames(&self.unsynced)?;
        self.ledger.sync()?;
        self.unsynced.clear();
        for (time, n_particles) in self.unlisted.drain(..) {
            self.info.frame_times.push(time);
            self.info.frame_particles.push(n_particles);
        }
        self.last_sync = Instant::now();
        Ok(())
    }

    /// Writes the reason of a failure into the folder. On a full disk, the checkpoint before the last one makes room for
    /// it, then the frames after the last one, which are computed again anyway.
    fn record_failure(&mut self, error: &ResultError) {
        self.info.status = Status::Failed(error.to_string());
        let _ = self.sync();
        if self.folder.write_run_info(&self.info).is_ok() {
            return;
        }
        let _ = self.folder.remove_checkpoints_but(1);
        if self.folder.write_run_info(&self.info).is_err() {
            self.info.frame_times.truncate(self.n_saved);
            self.info.frame_particles.truncate(self.n_saved);
            let _ = self.folder.remove_from(self.n_saved, &self.info);
            let _ = self.folder.write_run_info(&self.info);
        }
    }
}
