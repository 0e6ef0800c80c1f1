//! Tests that damage in a result is named or harmless, and that `resume` computes again what is damaged, with the same bytes.

use crate::support::{BLOCK, Ended, Workplace, assert_same_contents, contents};
use phyxel::math::Random;
use phyxel::methods::built_methods;
use std::path::{Path, PathBuf};

const SURFACE: &str = "surface = { kind = \"skin\", smoothing = 2 }\n";

/// Runs a scene with a mesh obstacle and a skin; the result is in the folder `whole`.
fn run(method: &str) -> Workplace {
    let scene = BLOCK.replace("METHOD", method).replace("checkpoint_every = 7", "checkpoint_every = 3");
    let scene = scene
        .replace("[[obstacles]]\nname = \"floor\"", &format!("{SURFACE}\n[[obstacles]]\nname = \"floor\""));
    let mesh = "[[obstacles]]\nname = \"rock\"\nshape.mesh = { file = \"rock.obj\" }\nposition = [3, 0, 0]\n\n[output]";
    let place = Workplace::new(&scene.replace("[output]", mesh));
    let rock = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    std::fs::write(place.path("rock.obj"), rock).unwrap();
    place.succeed(&["run", "scene.toml", "-o", "whole", "--frames", "8", "-q"]);
    place
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(std::fs::copy(entry.path(), target).unwrap()),
        }
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()) {
        match entry.file_type().unwrap().is_dir() {
            true => all.extend(files(&entry.path())),
            false if entry.file_name() == ".lock" => {}
            false => all.push(entry.path()),
        }
    }
    all.sort();
    all
}

/// Damages a file in one of several ways.
fn damage(file: &Path, other: &Path, random: &mut Random) {
    let mut bytes = std::fs::read(file).unwrap();
    let at = (random.unit() * bytes.len() as f64) as usize;
    match (random.unit() * 6.0) as usize {
        0 => bytes[at] ^= 1 << (random.unit() * 8.0) as u32,
        1 => bytes.truncate(at),
        2 => bytes.extend_from_slice(&[0; 3]),
        3 => bytes[at..].fill(0),
        4 => return std::fs::remove_file(file).unwrap(),
        _ => bytes = std::fs::read(other).unwrap(),
    }
    std::fs::write(file, bytes).unwrap();
}

fn names(ended: &Ended, file: &Path) -> bool {
    let name = file.file_name().unwrap().to_string_lossy();
    ended.stderr.contains(&*name) || ended.stdout.contains(&*name)
}

#[test]
fn damage_is_named_and_computed_again_with_the_same_bytes() {
    for entry in built_methods() {
        let place = run(entry.key);
        let whole = place.succeed(&["verify", "whole"]);
        assert!(whole.stdout.contains("all whole"), "{}", whole.stdout);
        let mut random = Random::new(7);
        let damaged = place.path("damaged");
        for file in files(&place.path("whole")) {
            let _ = std::fs::remove_dir_all(&damaged);
            copy(&place.path("whole"), &damaged);
            let name = file.strip_prefix(place.path("whole")).unwrap();
            let (file, other) = (damaged.join(name), place.path("whole/run.json"));
            let other = if name == Path::new("run.json") { place.path("whole/scene.toml") } else { other };
            damage(&file, &other, &mut random);
            let found = place.phyxel(&["verify", "damaged"]);
            if found.code == Some(2) {
                // without a scene this is no result
                assert!(found.stderr.contains("no result folder"), "{}", found.stderr);
                continue;
            }
            // a checkpoint that is gone is needed by nobody
            let is_needless = name.starts_with("checkpoint") && !file.exists();
            let is_named = found.code == Some(1) && names(&found, &file);
            assert!(is_needless || is_named, "{name:?}: {}", found.stderr);
            // metadata that are lost no longer tell the last frame
            let resume = ["resume", "damaged", "--frames", "8"];
            let mut resumed = place.phyxel(&resume);
            if resumed.stderr.contains("--from-start") {
                resumed = place.phyxel(&[&resume[..], &["--from-start"]].concat());
            }
            let is_input = name.starts_with("meshes") || name == Path::new("scene.toml");
            match resumed.code {
                Some(0) => assert_same_contents(&place.path("whole"), &damaged),
                code => assert!(
                    is_input && code == Some(1) && names(&resumed, &file),
                    "{name:?}: {}",
                    resumed.stderr
                ),
            }
            if !is_input {
                assert!(place.phyxel(&["verify", "damaged"]).code == Some(0), "{name:?}");
            }
        }
    }
}

#[test]
fn readers_refuse_what_is_damaged() {
    let place = run(built_methods().next().unwrap().key);
    let readers: [&[&str]; 4] = [
        &["render", "whole", "-o", "x.gif", "--size", "32x32", "--quality", "draft"],
        &["export", "whole", "--format", "html", "-o", "x.html"],
        &["export", "whole", "--format", "usd", "-o", "x.usda"],
        &["surface", "whole", "--force"],
    ];
    let mesh = files(&place.path("whole/meshes")).remove(0);
    let frame = place.path("whole/frames/particles_0005.ply");
    let skin = place.path("whole/frames/surface_block_0005.ply");
    let files = [frame, skin, place.path("whole/run.json"), place.path("whole/ledger.csv"), mesh];
    let before = contents(&place.path("whole"));
    for (k, file) in files.iter().enumerate() {
        let bytes = std::fs::read(file).unwrap();
        let mut flipped = bytes.clone();
        flipped[bytes.len() / 2] ^= 1;
        std::fs::write(file, flipped).unwrap();
        let mut n_refused = 0;
        for reader in readers {
            let ended =
                place.phyxel(&[reader, &["-q"][..if reader[0] == "render" { 0 } else { 1 }]].concat());
            match ended.code {
                Some(0) => {}
                code => {
                    assert!(code == Some(1) && names(&ended, file), "{reader:?}: {}", ended.stderr);
                    assert!(ended.stderr.contains("phyxel verify whole"), "{}", ended.stderr);
                    n_refused += 1;
                }
            }
            ["x.gif", "x.html", "x.usda"]
                .iter()
                .for_each(|name| drop(std::fs::remove_file(place.path(name))));
        }
        // frames, skins, metadata: everybody, but skins are not read to be replaced; the ledger: the page and skins;
        // meshes: pictures and pages
        assert_eq!(n_refused, [4, 3, 4, 2, 2][k], "{}", file.display());
        std::fs::write(file, bytes).unwrap();
        if reader_replaces(k) {
            place.succeed(&["resume", "whole", "--from-start", "-q"]);
        }
    }
    assert!(contents(&place.path("whole")) == before);
}

/// Returns true if `surface --force` succeeded and made other skins than the run.
fn reader_replaces(k: usize) -> bool {
    k == 1 || k == 4
}
