//! Pictures and animations of results.

use crate::support::{BLOCK, Workplace};

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
