//! Tests of recording, resuming and losing power.

use super::super::folder::tests::{TemporaryFolder, scene};
use super::super::run_info::tests::info;
use super::super::{ContentDigest, Overwrite};
use super::*;
use phyxel::contact::{Friction, Obstacle};
use phyxel::geometry::Shape;
use phyxel::material::Material;
use phyxel::math::{Vec3, vec3};
use phyxel::world::{Body, World};
use std::collections::BTreeMap;

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
    RunInfo {
        status: Status::Running,
        frame_times: Vec::new(),
        frame_particles: Vec::new(),
        scene_digest: ContentDigest::of(scene().text.as_bytes()),
        ..info()
    }
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
        recorder.frame(frame, world.frame(&columns), Vec::new(), world.ledger(), Tally::default()).unwrap();
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
    let (frame, mut checkpoint) = folder.start(&mut folder.verify().unwrap()).unwrap().unwrap();
    assert_eq!(frame, 3);
    let ledger = folder.cut_back(Some(frame), &mut info).unwrap();
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
    assert_eq!(checkpoints, 2, "the last two are kept");
}

/// Builds what is on the disk after each operation of a run, if the system keeps nothing that was not synced: frames
/// up to every checkpoint, and all that the metadata list, must be there.
#[test]
fn a_loss_of_power_at_any_moment_leaves_what_is_listed_and_what_a_checkpoint_needs() {
    use super::super::atomic::journal::{self, Done};
    let temporary = TemporaryFolder::new("recorder_power");
    let path = temporary.path().join("out");
    let mut recorder = start(ResultFolder::create(&path, Overwrite::No, &scene()).unwrap());
    let mut world = block_world(2);
    for k in 0..4 {
        record(&mut recorder, &mut world, 3 * k..=3 * k + 2, 3 * k + 2);
    }
    recorder.finish(Status::Done, Tally::default()).unwrap();
    // content of each name as the system sees it; whether its data is synced; content that survives
    let mut seen: BTreeMap<PathBuf, (Vec<u8>, bool)> = BTreeMap::new();
    let mut kept: BTreeMap<PathBuf, Vec<u8>> = BTreeMap::new();
    let (mut n_checkpoints, mut n_listed) = (0, 0);
    for (done, place) in journal::inside(&path) {
        match done {
            Done::Named(content) => drop(seen.insert(place, (content, false))),
            Done::Synced if place.is_dir() => {
                let inside = seen.iter().filter(|(name, _)| name.parent() == Some(&place));
                let synced =
                    inside.filter(|(_, file)| file.1).map(|(name, file)| (name.clone(), file.0.clone()));
                kept.extend(synced.collect::<Vec<_>>());
            }
            Done::Synced => {
                if let Some(file) = seen.get_mut(&place) {
                    file.1 = true;
                }
            }
        }
        let n_frames = (0..)
            .take_while(|k| kept.contains_key(&path.join(format!("frames/particles_{k:04}.ply"))))
            .count();
        let has = |frame: usize| kept.contains_key(&path.join(format!("checkpoint/frame_{frame:04}.state")));
        let last = (0..12).rev().find(|&frame| has(frame));
        assert!(last.is_none_or(|frame| frame < n_frames), "checkpoint {last:?}, {n_frames} frames");
        if let Some(text) = kept.get(&path.join("run.json")) {
            let listed = RunInfo::from_json(&String::from_utf8_lossy(text)).unwrap().frame_times.len();
            assert!(
                listed <= n_frames && kept.contains_key(&path.join("scene.toml")),
                "{listed} of {n_frames}"
            );
            n_listed = listed;
        }
        n_checkpoints = n_checkpoints.max(last.map_or(0, |frame| frame + 1));
    }
    assert_eq!((n_checkpoints, n_listed), (12, 12), "the journal tells of the whole run");
}

/// Returns the frame from which a folder would go on, or the message.
fn starts_at(folder: &ResultFolder) -> Result<usize, String> {
    let start = folder.start(&mut folder.verify().unwrap());
    start.map(|start| start.expect("a checkpoint").0).map_err(|error| error.to_string())
}

/// Checks that damage leads back to the last checkpoint before it, and that what cannot be repaired is named.
#[test]
fn a_damaged_result_goes_on_before_the_damage_or_names_it() {
    let temporary = TemporaryFolder::new("recorder_damaged");
    let path = temporary.path().join("out");
    let mut recorder = start(ResultFolder::create(&path, Overwrite::No, &scene()).unwrap());
    let mut world = block_world(2);
    record(&mut recorder, &mut world, 0..=2, 2);
    record(&mut recorder, &mut world, 3..=4, 4);
    recorder.finish(Status::Interrupted, Tally::default()).unwrap();
    let folder = ResultFolder::open_to_write(&path).unwrap();
    assert!(folder.verify().unwrap().damages.is_empty());
    assert_eq!(starts_at(&folder), Ok(4));
    let damaged = |name: &str, expected: Result<usize, &str>| {
        let file = path.join(name);
        let bytes = std::fs::read(&file).unwrap();
        for kind in 0..4 {
            let mut other = bytes.clone();
            match kind {
                0 => other[bytes.len() / 2] ^= 4,
                1 => other.truncate(bytes.len() / 2),
                2 => other.push(b'\n'),
                _ => other.clear(),
            }
            // one more line end makes an empty row of the ledger
            std::fs::write(&file, other).unwrap();
            let damages = folder.verify().unwrap().damages;
            assert!(damages.iter().any(|damage| damage.error.to_string().contains(name)), "{name} {kind}");
            match (starts_at(&folder), expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{name} {kind}"),
                (Err(message), Err(word)) => assert!(message.contains(word), "{message}"),
                (found, _) => assert!(name == "ledger.csv" && kind > 0, "{name} {kind}: {found:?}"),
            }
        }
        std::fs::write(&file, bytes).unwrap();
    };
    damaged("checkpoint/frame_0004.state", Ok(2));
    damaged("checkpoint/frame_0002.state", Ok(4));
    damaged("frames/particles_0003.ply", Ok(2));
    damaged("frames/particles_0001.ply", Err("no whole checkpoint"));
    damaged("scene.toml", Err("scene.toml"));
    damaged("run.json", Ok(4));
    damaged("ledger.csv", Err("no whole checkpoint"));
    std::fs::remove_file(folder.frame_path(3)).unwrap();
    assert_eq!(starts_at(&folder), Ok(2));
    std::fs::copy(folder.frame_path(2), folder.frame_path(3)).unwrap();
    assert_eq!(starts_at(&folder), Ok(2), "another frame is no frame 3");
}

/// Removes the folder of the frames during a run: this must give one clear error, no panic, and end the writer.
#[test]
fn what_cannot_be_written_comes_back_as_an_error() {
    let temporary = TemporaryFolder::new("recorder_error");
    let path = temporary.path().join("out");
    let mut recorder = start(ResultFolder::create(&path, Overwrite::No, &scene()).unwrap());
    std::fs::remove_dir_all(path.join("frames")).unwrap();
    let world = block_world(2);
    let mut record = |k| recorder.frame(k, world.frame(&[]), Vec::new(), world.ledger(), Tally::default());
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
