//! Tests that run every scene in the repository for a few frames with the built program.

use std::f64::consts::{PI, TAU};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn scene_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            scene_files(&path, found);
        } else if path.extension().is_some_and(|e| e == "toml") {
            found.push(path);
        }
    }
}

#[test]
fn every_scene_runs() {
    let mut scenes = Vec::new();
    scene_files(&root().join("scenes"), &mut scenes);
    scenes.sort();
    assert!(scenes.len() >= 7);
    let out = std::env::temp_dir().join(format!("phyxel_scenes_{}", std::process::id()));
    for scene in scenes {
        // figures of different papers may have the same number
        let folder = scene.parent().and_then(Path::file_name).unwrap();
        let target = out.join(folder).join(scene.file_stem().unwrap());
        let run = Command::new(env!("CARGO_BIN_EXE_phyxel"))
            .args(["run", "--frames", "3", "-q", "-o"])
            .args([&target, &scene])
            .output()
            .unwrap();
        let message = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success(), "{}: {message}", scene.display());
        for file in
            ["run.json", "scene.toml", "ledger.csv", "frames/particles_0000.ply", "frames/particles_0003.ply"]
        {
            assert!(target.join(file).is_file(), "{}: no {file}", scene.display());
        }
        assert!(!target.join("frames/particles_0004.ply").exists());
        let ledger = fs::read_to_string(target.join("ledger.csv")).unwrap();
        assert_eq!(ledger.lines().count(), 5, "a head and four rows");
    }
    fs::remove_dir_all(&out).unwrap();
}

/// Returns a tube around a closed curve, as OBJ.
fn trefoil() -> String {
    let curve = |t: f64| [t.sin() + 2.0 * (2.0 * t).sin(), t.cos() - 2.0 * (2.0 * t).cos(), -(3.0 * t).sin()];
    let (n_along, n_around, radius) = (120, 12, 0.45);
    let cross = |a: [f64; 3], b: [f64; 3]| {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    };
    let unit = |a: [f64; 3]| a.map(|x| x / a.iter().map(|x| x * x).sum::<f64>().sqrt());
    let mut text = String::from("# trefoil knot, written by crates/phyxel-cli/tests/scenes.rs\n");
    for k in 0..n_along {
        let t = TAU * k as f64 / n_along as f64;
        let (p, before, after) = (curve(t), curve(t - 1e-3), curve(t + 1e-3));
        let tangent = unit([0, 1, 2].map(|i| after[i] - before[i]));
        let bend = [0, 1, 2].map(|i| after[i] + before[i] - 2.0 * p[i]);
        let binormal = unit(cross(tangent, bend));
        let normal = cross(binormal, tangent);
        for j in 0..n_around {
            let angle = TAU * j as f64 / n_around as f64;
            let v = [0, 1, 2].map(|i| p[i] + radius * (angle.cos() * normal[i] + angle.sin() * binormal[i]));
            writeln!(text, "v {:.4} {:.4} {:.4}", v[0], v[1], v[2]).unwrap();
        }
    }
    let index = |k: usize, j: usize| (k % n_along) * n_around + j % n_around + 1;
    for k in 0..n_along {
        for j in 0..n_around {
            let quad = [index(k, j), index(k + 1, j), index(k + 1, j + 1), index(k, j + 1)];
            writeln!(text, "f {} {} {} {}", quad[0], quad[1], quad[2], quad[3]).unwrap();
        }
    }
    text
}

/// Returns an egg that is open below, as OBJ.
fn egg() -> String {
    let (n_rings, n_around) = (14, 28);
    let mut text =
        String::from("# egg with a hole in its base, written by crates/phyxel-cli/tests/scenes.rs\n");
    writeln!(text, "v 0.0000 1.3000 0.0000").unwrap();
    for k in 1..=n_rings {
        let polar = 0.93 * PI * k as f64 / n_rings as f64;
        let (y, radius) = (polar.cos(), polar.sin());
        for j in 0..n_around {
            let angle = TAU * j as f64 / n_around as f64;
            let height = if y > 0.0 { 1.3 * y } else { y };
            writeln!(text, "v {:.4} {height:.4} {:.4}", radius * angle.cos(), radius * angle.sin()).unwrap();
        }
    }
    let index = |k: usize, j: usize| 2 + (k - 1) * n_around + j % n_around;
    for j in 0..n_around {
        writeln!(text, "f 1 {} {}", index(1, j + 1), index(1, j)).unwrap();
        for k in 1..n_rings {
            let quad = [index(k, j), index(k, j + 1), index(k + 1, j + 1), index(k + 1, j)];
            writeln!(text, "f {} {} {} {}", quad[0], quad[1], quad[2], quad[3]).unwrap();
        }
    }
    text
}

/// The mesh tutorial's files must be the output of these functions; `PHYXEL_BLESS=1` renews them.
#[test]
fn mesh_files_of_the_tutorial_are_generated() {
    for (name, text) in [("trefoil.obj", trefoil()), ("egg.obj", egg())] {
        let path = root().join("scenes/tutorials/meshes").join(name);
        if std::env::var_os("PHYXEL_BLESS").is_some() {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &text).unwrap();
        }
        let stored = fs::read_to_string(&path).unwrap_or_default();
        assert!(stored == text, "{} is stale: renew it with PHYXEL_BLESS=1", path.display());
    }
}
