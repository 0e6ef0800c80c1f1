//! Tests of pictures and animations of results.

use crate::support::{BLOCK, Workplace, frame_of};
use phyxel::frame::{Frame, FrameColumn};
use phyxel_io::results::ResultFolder;

fn size(png: &[u8]) -> (u32, u32) {
    let number = |at: usize| u32::from_be_bytes([png[at], png[at + 1], png[at + 2], png[at + 3]]);
    (number(16), number(20))
}

#[test]
fn pictures_sheets_and_animations_are_written() {
    let place = Workplace::new(BLOCK);
    place.succeed(&["run", "scene.toml", "-o", "a", "--frames", "6", "-q"]);
    let draw = |arguments: &[&str]| {
        let common = ["render", "a", "--quality", "draft", "--size", "96x64"];
        place.succeed(&[&common[..], arguments].concat())
    };
    let ended = draw(&["-o", "last.png", "--color-by", "stress"]);
    assert_eq!(ended.stdout, "last.png\n");
    let last = std::fs::read(place.path("last.png")).unwrap();
    assert!(last.starts_with(b"\x89PNG\r\n\x1a\n"));
    assert_eq!(size(&last), (96, 64));
    draw(&["-o", "first.png", "--frame", "0", "--color-by", "stress", "--range", "0:1e4"]);
    assert!(std::fs::read(place.path("first.png")).unwrap() != last);
    draw(&["-o", "sheet.png", "--sheet", "4"]);
    let sheet = std::fs::read(place.path("sheet.png")).unwrap();
    assert!(size(&sheet).0 > 2 * 96 && size(&sheet).1 > 2 * 64);
    draw(&["-o", "all.gif", "--every", "2", "--camera", "azimuth=-40,elevation=30"]);
    assert!(std::fs::read(place.path("all.gif")).unwrap().starts_with(b"GIF89a"));
}

#[test]
fn wrong_wishes_are_answered_with_what_is_there() {
    let place = Workplace::new(BLOCK);
    place.succeed(&["run", "scene.toml", "-o", "a", "--frames", "1", "-q"]);
    let cases: [(&[&str], &str); 6] = [
        (&["-o", "x.png", "--color-by", "temperature"], "velocity, stress"),
        (&["-o", "x.png", "--frame", "7"], "0 to 1"),
        (&["-o", "x.jpg"], ".png or .gif"),
        (&["-o", "x.png", "--every", "2"], ".gif"),
        (&["-o", "x.png", "--camera", "azimut=3"], "azimuth"),
        (&["-o", "x.png", "--size", "big"], "640x480"),
    ];
    for (arguments, word) in cases {
        let ended = place.phyxel(&[&["render", "a"][..], arguments].concat());
        assert_eq!(ended.code, Some(2), "{arguments:?}");
        assert!(ended.stderr.contains(word), "{word} is missing in\n{}", ended.stderr);
    }
    let broken = place.path("a/frames/particles_0001.ply");
    std::fs::write(&broken, &std::fs::read(&broken).unwrap()[..300]).unwrap();
    let ended = place.phyxel(&["render", "a", "-o", "x.png"]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.stderr.contains("particles_0001.ply"), "{}", ended.stderr);
    assert!(!place.path("x.png").exists());
    let nowhere = place.phyxel(&["render", "a", "--frame", "0", "-o", "missing/x.png", "--size", "32x32"]);
    assert_eq!(nowhere.code, Some(1));
    assert!(nowhere.stderr.contains("missing/x.png"), "{}", nowhere.stderr);
}

/// Adds a column of vectors to the frames of a run, like the one that a method with embedded positions writes.
fn add_embedded_positions(place: &Workplace, folder: &str, n_without: usize) {
    let result = ResultFolder::open(&place.path(folder)).unwrap();
    for number in result.frame_numbers().unwrap() {
        let table = result.read_frame(number).unwrap();
        // three times as wide and far from the positions in the world; the first `n_without` particles have none
        let mut values: Vec<f32> =
            table.position.iter().flat_map(|x| [3.0 * x[0] + 50.0, x[1] - 80.0, x[2]]).collect();
        values[..3 * n_without].fill(f32::NAN);
        let column = FrameColumn { name: "embedded_position".into(), unit: "m", n_components: 3, values };
        let frame = Frame { columns: vec![column], ..frame_of(table) };
        result.write_frame(number, &frame).unwrap();
    }
}

#[test]
fn embedded_positions_are_drawn_where_they_are() {
    let place = Workplace::new(BLOCK);
    place.succeed(&["run", "scene.toml", "-o", "a", "--frames", "2", "-q"]);
    let common = ["render", "a", "--quality", "draft", "--size", "128x96"];
    let draw = |arguments: &[&str]| place.phyxel(&[&common[..], arguments].concat());
    let ended = draw(&["-o", "x.png", "--space=embedded"]);
    assert_eq!(ended.code, Some(2));
    for word in ["\"embedded_position\"", "[output] columns", "the method must have this column"] {
        assert!(ended.stderr.contains(word), "{word} is missing in\n{}", ended.stderr);
    }
    assert!(!place.path("x.png").exists());
    add_embedded_positions(&place, "a", 1);
    for arguments in [
        &["-o", "world.png"][..],
        &["-o", "embedded.png", "--space=embedded"],
        &["-o", "coloured.png", "--space=embedded", "--color-by", "embedded_position"],
        &["-o", "sheet.png", "--space=embedded", "--sheet", "2"],
    ] {
        let ended = draw(arguments);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    }
    let read = |name: &str| std::fs::read(place.path(name)).unwrap();
    assert!(read("world.png") != read("embedded.png") && read("embedded.png") != read("coloured.png"));

    let skin = ["-o", "skin.png", "--space=embedded", "--show", "surfaces"];
    let ended = draw(&skin);
    assert_eq!(ended.code, Some(1));
    assert!(ended.stderr.contains("body `block`") && ended.stderr.contains("not finite"), "{}", ended.stderr);
    let ended = draw(&[&skin[..], &["--color-by", "embedded_position"]].concat());
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(!place.path("skin.png").exists());
    add_embedded_positions(&place, "a", 0);
    for arguments in [&["-o", "whole.png", "--space=embedded"][..], &skin] {
        let ended = draw(arguments);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    }
    assert_ne!(read("whole.png"), read("skin.png"), "the skin hides the particles");
}
