//! Tests that exports refuse or replace existing targets, and that failed exports leave nothing behind.

use crate::support::*;
use phyxel_io::export::{
    EXPORT_FORMATS, ExportError, ExportFormat, FrameRange, FrameSelection, Geometry, export, formats_markdown,
};
use phyxel_io::results::{Overwrite, ResultFolder};
use std::fs;
use std::ops::ControlFlow;

/// Returns a target name that suits the format.
fn target(format: &ExportFormat) -> String {
    if format.is_one_file() { format!("clay.{}", format.extensions[0]) } else { "clay".to_owned() }
}

#[test]
fn an_earlier_export_is_refused_or_replaced() {
    for format in EXPORT_FORMATS {
        let place = Workplace::new();
        let folder = place.result(&steady_frames());
        let all = FrameSelection::open(&folder, FrameRange::default()).unwrap();
        let one = FrameSelection::open(&folder, "2".parse().unwrap()).unwrap();
        let path = place.path(&target(format));
        let first = write(&all, format.key, &path, Overwrite::No).unwrap();
        let again = write(&one, format.key, &path, Overwrite::No).unwrap_err();
        assert!(matches!(again, ExportError::Exists(_)) && again.is_bad_request(), "{again}");
        assert!(first.entry.is_file());
        let second = write(&one, format.key, &path, Overwrite::Yes).unwrap();
        assert!(second.n_bytes < first.n_bytes && second.entry.is_file(), "{format:?}");
        assert_eq!(place.names(), [target(format).as_str(), "result"], "nothing is left aside");
    }
}

#[test]
fn a_folder_with_anything_else_is_never_touched() {
    let place = Workplace::new();
    let folder = place.result(&steady_frames());
    let selection = FrameSelection::open(&folder, FrameRange::default()).unwrap();
    for format in EXPORT_FORMATS.iter().filter(|format| !format.is_one_file()) {
        let path = place.path("photos");
        fs::create_dir_all(path.join("album")).unwrap();
        // the frames of a run are not an export either, although they look like one
        for target in [path, place.path("result"), place.path("result/frames")] {
            let before = names_in(&target);
            for overwrite in [Overwrite::No, Overwrite::Yes] {
                let error = write(&selection, format.key, &target, overwrite).unwrap_err();
                assert!(
                    matches!(error, ExportError::NotAnExport { .. }) && error.is_bad_request(),
                    "{error}"
                );
            }
            assert_eq!(names_in(&target), before);
        }
    }
    assert_eq!(place.names(), ["photos", "result"]);
}

#[test]
fn an_empty_folder_and_what_a_killed_export_left_are_no_obstacles() {
    let place = Workplace::new();
    let folder = place.result(&steady_frames());
    let selection = FrameSelection::open(&folder, FrameRange::default()).unwrap();
    fs::create_dir(place.path("clay")).unwrap();
    fs::create_dir(place.path("clay.tmp")).unwrap();
    fs::write(place.path("clay.tmp/clay_0000.ply"), b"half").unwrap();
    fs::write(place.path("a.usda.tmp"), b"half").unwrap();
    write(&selection, "ply", &place.path("clay"), Overwrite::No).unwrap();
    write(&selection, "usd", &place.path("a.usda"), Overwrite::No).unwrap();
    assert_eq!(place.names(), ["a.usda", "clay", "result"]);
    assert_eq!(names_in(&place.path("clay")).len(), 4);
    // state after the process was killed while it replaced an earlier export
    fs::create_dir(place.path("clay.tmp.tmp")).unwrap();
    fs::write(place.path("clay.tmp.tmp/clay_0007.ply"), b"old").unwrap();
    write(&selection, "ply", &place.path("clay"), Overwrite::Yes).unwrap();
    assert_eq!(place.names(), ["a.usda", "clay", "result"]);
    // a folder of that name that contains a file of the user stays
    fs::create_dir(place.path("b.tmp")).unwrap();
    fs::write(place.path("b.tmp/mine.txt"), b"mine").unwrap();
    let error = write(&selection, "ply", &place.path("b"), Overwrite::Yes).unwrap_err();
    assert!(error.is_bad_request() && error.to_string().contains("mine.txt"), "{error}");
    assert!(place.path("b.tmp/mine.txt").exists() && !place.path("b").exists());
}

#[test]
fn targets_that_do_not_suit_the_format_say_what_would() {
    let place = Workplace::new();
    let folder = place.result(&steady_frames());
    let selection = FrameSelection::open(&folder, FrameRange::default()).unwrap();
    fs::write(place.path("file"), b"x").unwrap();
    fs::create_dir(place.path("folder.usda")).unwrap();
    let cases = [
        ("usd", "a.abc", ".usda"),
        ("usd", "a", ".usda"),
        ("usd", ".usda", ".usda"),
        ("npz", "a.npy", ".npz"),
        ("vtp", "a.pvd", "a"),
        ("vtp", "a.vtp", "writes a folder"),
        ("obj", "a.obj", "writes a folder"),
        ("usd", "missing/a.usda", "make it first"),
        ("ply", "missing/a", "make it first"),
        ("ply", "file", "no folder"),
        ("usd", "folder.usda", "a folder"),
        ("usd", "file/a.usda", "make it first"),
    ];
    for (key, name, word) in cases {
        for overwrite in [Overwrite::No, Overwrite::Yes] {
            let error = write(&selection, key, &place.path(name), overwrite).unwrap_err();
            assert!(error.is_bad_request() && error.to_string().contains(word), "{key} {name}: {error}");
        }
    }
    assert_eq!(place.names(), ["file", "folder.usda", "result"]);
}

#[test]
fn an_interrupted_or_failed_export_leaves_what_was_there() {
    for format in EXPORT_FORMATS {
        let place = Workplace::new();
        let folder = place.result(&steady_frames());
        let selection = FrameSelection::open(&folder, FrameRange::default()).unwrap();
        let path = place.path(&target(format));
        write(&selection, format.key, &path, Overwrite::No).unwrap();
        let size = |entry: &std::path::Path| entry.metadata().unwrap().len();
        let entry = if format.is_one_file() { path.clone() } else { path.join(&names_in(&path)[0]) };
        let before = (size(&entry), place.names());
        let mut tell = |n_done| if n_done < 2 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
        let error = export(&selection, format, &path, Overwrite::Yes, &mut tell).unwrap_err();
        assert!(matches!(error, ExportError::Interrupted), "{error}");
        assert_eq!((size(&entry), place.names()), before);
        let broken = folder.frame_path(3);
        fs::write(&broken, &fs::read(&broken).unwrap()[..400]).unwrap();
        let error = write(&selection, format.key, &path, Overwrite::Yes).unwrap_err();
        assert!(!error.is_bad_request() && error.to_string().contains("particles_0003.ply"), "{error}");
        assert_eq!((size(&entry), place.names()), before);
    }
}

#[test]
fn a_result_must_have_the_frames_and_fit_together() {
    let place = Workplace::new();
    let folder = place.result(&steady_frames());
    let open = |range: &str| {
        FrameSelection::open(&folder, range.parse().unwrap()).map(|selection| selection.numbers())
    };
    assert_eq!(open("1..2").unwrap(), 1..=2);
    assert!(open("2..9").unwrap_err().to_string().contains("there is no frame 9: the result has 0 to 3"));
    // a body that does not exist in the run, and a frame with other columns
    let mut alien = frame(2, &[0, 1, 2]);
    alien.body[1] = 7;
    let mut bare = frame(2, &[0, 1, 2]);
    bare.columns.pop();
    for (bad, word) in [(alien, "body 7"), (bare, "columns")] {
        folder.write_frame(2, &bad).unwrap();
        let selection = FrameSelection::open(&folder, FrameRange::default()).unwrap();
        let error = selection.frame(2).unwrap_err();
        assert!(error.to_string().contains(word) && !error.is_bad_request(), "{error}");
    }
    fs::remove_file(folder.frame_path(2)).unwrap();
    assert!(open("..").unwrap_err().to_string().contains("particles_0002.ply"));
    assert_eq!(open("..1").unwrap(), 0..=1);
    let mut info = folder.run_info().unwrap();
    info.frame_times.clear();
    folder.write_run_info(&info).unwrap();
    (0..4).for_each(|number| drop(fs::remove_file(folder.frame_path(number))));
    let error = open("..").unwrap_err();
    assert!(error.is_bad_request() && error.to_string().contains("no finished frames"), "{error}");
}

#[test]
fn formats_are_found_by_their_keys_and_near_ones_are_named() {
    for format in EXPORT_FORMATS {
        assert_eq!(ExportFormat::find(format.key).unwrap().key, format.key);
    }
    for (word, near) in
        [("uds", "usd"), ("usda", "usd"), ("pvd", "vtp"), ("NPZ", "npz"), ("alembic", "and `html`")]
    {
        let error = ExportFormat::find(word).unwrap_err().to_string();
        assert!(error.contains(word) && error.contains(near), "{error}");
    }
}

#[test]
fn the_page_has_the_table_of_formats() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/export.md")).unwrap();
    assert!(
        page.contains(&formats_markdown()),
        "docs/export.md must have this table:\n{}",
        formats_markdown()
    );
}

#[test]
fn surfaces_must_be_there() {
    let place = Workplace::new();
    let folder = place.result(&steady_frames());
    let selection = FrameSelection::open(&folder, "..".parse().unwrap()).unwrap();
    let error = selection.with_geometry(Geometry::Surfaces).unwrap_err();
    assert!(error.is_bad_request() && error.to_string().contains("[bodies.surface]"), "{error}");
    let folder = place.result_with_surfaces(&steady_frames(), &surfaces()[..2]);
    let open = |range: &str| {
        FrameSelection::open(&folder, range.parse().unwrap()).unwrap().with_geometry(Geometry::Seen)
    };
    let error = open("..").unwrap_err().to_string();
    assert!(error.contains("surface_left arm_0002.ply") && error.contains("phyxel surface"), "{error}");
    assert!(open("..1").is_ok());
    // an earlier export of surfaces is recognised as an export
    place.export_surfaces("vtp", Geometry::Seen, "clay");
    let folder = ResultFolder::open(&place.path("result")).unwrap();
    let selection = FrameSelection::open(&folder, "..".parse().unwrap()).unwrap();
    assert!(matches!(
        write(&selection, "vtp", &place.path("clay"), Overwrite::No),
        Err(ExportError::Exists(_))
    ));
    assert!(write(&selection, "vtp", &place.path("clay"), Overwrite::Yes).is_ok());
}
