//! Recorder, which writes results in the background while the next frame is computed.

use super::atomic::Aside;
use super::folder::CheckpointPlace;
use super::{LedgerWriter, ResultError, ResultFolder, RunInfo, Status, SurfaceTable, Tally};
use phyxel::frame::Frame;
use phyxel::world::{Ledger, World};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Number of frames that may wait for the disk: enough to bridge short delays, few enough not to fill the memory.
const QUEUE: usize = 2;
/// Shortest time between two writes of `run.json`, which grows with the frames and is not rewritten for each short one.
const INFO_INTERVAL: Duration = Duration::from_millis(500);

enum Job {
    Frame {
        number: usize,
        frame: Frame,
        /// Surfaces with the names of their bodies.
        surfaces: Vec<(String, SurfaceTable)>,
        ledger: Box<Ledger>,
        tally: Tally,
    },
    Checkpoint {
        frame: usize,
        file: Aside,
    },
    Finish {
        status: Status,
        tally: Tally,
    },
}

/// Hands frames, ledger rows and checkpoints to a thread that writes them in order.
///
/// A checkpoint gets its final name after its frame and row are written, so that both exist for every checkpoint.
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
        let mut writer = Writer { folder, info, ledger, last_info: Instant::now(), busy: Duration::ZERO };
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
        self.send(Job::Checkpoint { frame, file })
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
    last_info: Instant,
    busy: Duration,
}

impl Writer {
    fn run(&mut self, jobs: &Receiver<Job>) -> Result<f64, ResultError> {
        while let Ok(job) = jobs.recv() {
            let start = Instant::now();
            if let Err(error) = self.write(job) {
                // the reason is recorded in the folder, if it can still be written
                self.info.status = Status::Failed(error.to_string());
                let _ = self.folder.write_run_info(&self.info);
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
                }
                self.folder.write_frame(number, &frame)?;
                self.ledger.append(&ledger)?;
                self.info.frame_times.push(frame.time);
                self.info.frame_particles.push(frame.id.len());
                self.info.tally = tally;
                if self.last_info.elapsed() < INFO_INTERVAL {
                    return Ok(());
                }
            }
            Job::Checkpoint { frame, file } => {
                self.ledger.sync()?;
                self.folder.finish_checkpoint(frame, file)?;
            }
            Job::Finish { status, tally } => {
                self.info.status = status;
                self.info.tally = tally;
            }
        }
        self.last_info = Instant::now();
        self.folder.write_run_info(&self.info)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::folder::tests::{TemporaryFolder, scene};
    use super::super::run_info::tests::info;
    use super::super::{ContentDigest, Overwrite};
    use super::*;
    use phyxel::contact::{Friction, Obstacle};
    use phyxel::geometry::Shape;
    use phyxel::material::Material;
    use phyxel::math::{Vec3, vec3};
    use phyxel::world::{Body, World};

    /// Returns a world with a block of n³ particles that falls onto a floor.
    pub(in super::super) fn block_world(n: usize) -> World {
        let side = 0.1 * n as f64;
        let shape = Shape::Box { size: Vec3::splat(side) };
        let mut floor = Obstacle::new("floor", Shape::HalfSpace { normal: Vec3::Y, offset: 0.0 }.into());
        floor.friction = Friction::Coulomb(0.5);
        let body = Body::new("block", shape, 0.1, Material::elastic(2e4, 0.3));
        let mut body = body.at(vec3(0.0, 0.5 * side + 0.01, 0.0));
        body.velocity = vec3(0.3, -1.0, 0.0);
        World::builder().body(body).obstacle(floor).build().unwrap()
    }

    fn empty_info() -> RunInfo {
        RunInfo { status: Status::Running, frame_times: Vec::new(), frame_particles: Vec::new(), ..info() }
    }

    fn record(
        recorder: &mut Recorder,
        world: &mut World,
        frames: std::ops::RangeInclusive<usize>,
        checkpoint: usize,
    ) {
        let columns = ["velocity", "stress"];
        for frame in frames {
            world.advance_to(frame as f64 / 60.0).unwrap();
            recorder
                .frame(frame, world.frame(&columns), Vec::new(), world.ledger(), Tally::default())
                .unwrap();
            if frame == checkpoint {
                recorder.checkpoint(frame, world).unwrap();
            }
        }
    }

    fn start(folder: ResultFolder) -> Recorder {
        let ledger = folder.new_ledger().unwrap();
        Recorder::start(folder, empty_info(), ledger).unwrap()
    }

    /// Checks that a run dropped after frame 5 and resumed from the checkpoint of frame 3 writes the same bytes.
    #[test]
    fn a_resumed_recording_has_the_same_bytes_as_one_that_never_stopped() {
        let temporary = TemporaryFolder::new("recorder");
        let paths = ["whole", "stopped"].map(|name| temporary.path().join(name));
        for (path, last) in paths.iter().zip([8, 5]) {
            let folder = ResultFolder::create(path, Overwrite::No, &scene()).unwrap();
            let (mut recorder, mut world) = (start(folder), block_world(3));
            record(&mut recorder, &mut world, 0..=last, 3);
            if last == 8 {
                recorder.finish(Status::Done, Tally::default()).unwrap();
            }
        }
        std::fs::write(paths[1].join("frames/particles_0006.ply.tmp"), b"half").unwrap();
        let folder = ResultFolder::open_to_write(&paths[1]).unwrap();
        let mut info = folder.run_info().unwrap();
        assert_eq!(info.status, Status::Running);
        let (frame, mut checkpoint) = folder.last_checkpoint(ContentDigest::of(b"scene")).unwrap();
        assert_eq!(frame, 3);
        let ledger = folder.cut_back(frame, &mut info).unwrap();
        assert_eq!(folder.frame_numbers().unwrap(), [0, 1, 2, 3]);
        assert_eq!(info.frame_times.len(), 4);
        let mut world = block_world(3);
        checkpoint.restore(&mut world).unwrap();
        let mut recorder = Recorder::start(folder, info, ledger).unwrap();
        record(&mut recorder, &mut world, 4..=8, 8);
        recorder.finish(Status::Done, Tally::default()).unwrap();
        let folders = paths.clone().map(|path| ResultFolder::open(&path).unwrap());
        for number in 0..=8 {
            let [whole, resumed] = [0, 1].map(|k| std::fs::read(folders[k].frame_path(number)).unwrap());
            assert!(whole == resumed, "frame {number}");
        }
        let ledgers = paths.clone().map(|path| std::fs::read(path.join("ledger.csv")).unwrap());
        assert!(ledgers[0] == ledgers[1]);
        let infos = folders.map(|folder| folder.run_info().unwrap());
        assert_eq!(infos[0].frame_times, infos[1].frame_times);
        assert_eq!(infos[1].status, Status::Done);
        assert!(!paths[1].join("frames/particles_0006.ply.tmp").exists());
        let checkpoints = std::fs::read_dir(paths[1].join("checkpoint")).unwrap().count();
        assert_eq!(checkpoints, 1, "earlier checkpoints are removed");
    }

    #[test]
    fn a_checkpoint_of_another_scene_and_a_damaged_one_are_refused() {
        let temporary = TemporaryFolder::new("recorder_damaged");
        let path = temporary.path().join("out");
        let mut recorder = start(ResultFolder::create(&path, Overwrite::No, &scene()).unwrap());
        record(&mut recorder, &mut block_world(2), 0..=1, 1);
        recorder.finish(Status::Interrupted, Tally::default()).unwrap();
        let folder = ResultFolder::open_to_write(&path).unwrap();
        let other = folder.last_checkpoint(ContentDigest::of(b"other")).unwrap_err().to_string();
        assert!(other.contains("another scene"), "{other}");
        let file = path.join("checkpoint/frame_0001.state");
        let bytes = std::fs::read(&file).unwrap();
        std::fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
        let cut = folder.last_checkpoint(ContentDigest::of(b"scene")).unwrap_err().to_string();
        assert!(cut.contains("damaged") && cut.contains("frame_0001.state"), "{cut}");
        std::fs::remove_file(&file).unwrap();
        assert!(matches!(
            folder.last_checkpoint(ContentDigest::of(b"scene")),
            Err(ResultError::NoCheckpoint(_))
        ));
        std::fs::remove_file(folder.frame_path(0)).unwrap();
        let missing = folder.cut_back(1, &mut empty_info()).unwrap_err().to_string();
        assert!(missing.contains("particles_0000.ply"), "{missing}");
    }

    /// Removes the folder of the frames during a run: this must give one clear error, no panic, and end the writer.
    #[test]
    fn what_cannot_be_written_comes_back_as_an_error() {
        let temporary = TemporaryFolder::new("recorder_error");
        let path = temporary.path().join("out");
        let mut recorder = start(ResultFolder::create(&path, Overwrite::No, &scene()).unwrap());
        std::fs::remove_dir_all(path.join("frames")).unwrap();
        let world = block_world(2);
        let mut record =
            |k| recorder.frame(k, world.frame(&[]), Vec::new(), world.ledger(), Tally::default());
        let error = (0..50).find_map(|k| {
            std::thread::sleep(Duration::from_millis(2));
            record(k).err()
        });
        let message = error.map(|error| error.to_string()).unwrap_or_default();
        assert!(message.contains("particles_0000.ply"), "{message}");
        let status = ResultFolder::open(&path).unwrap().run_info().unwrap().status;
        assert!(matches!(status, Status::Failed(why) if why.contains("particles_0000.ply")));
        assert!(matches!(record(51), Err(ResultError::WriterGone)));
    }
}
