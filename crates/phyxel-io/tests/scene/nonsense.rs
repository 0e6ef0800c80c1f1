//! Tests that no content of a file makes the reader panic.

use crate::{FULL, OPTIONS, SHORT, full_with_settings, parse};
use phyxel_io::scene::{SceneFile, apply_overrides};

/// A simple generator of pseudo-random numbers (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}

/// Checks that reading bytes does not panic; prints the error if they are refused.
fn survives(bytes: &[u8]) {
    match SceneFile::parse_bytes(bytes, "scene.toml", &OPTIONS) {
        Ok(file) => assert!(!file.scene.bodies.is_empty()),
        Err(error) => {
            assert!(!error.problems.is_empty());
            assert!(error.to_string().starts_with("scene.toml:"));
        }
    }
}

#[test]
fn truncations_at_every_byte() {
    let full = full_with_settings();
    for end in 0..full.len() {
        survives(&full.as_bytes()[..end]);
    }
}

#[test]
fn random_bytes() {
    let mut random = Random(1);
    for _ in 0..2000 {
        let length = random.below(200);
        let bytes: Vec<u8> = (0..length).map(|_| random.next() as u8).collect();
        survives(&bytes);
        let ascii: Vec<u8> = bytes.iter().map(|byte| byte % 95 + 32).collect();
        survives(&ascii);
    }
}

#[test]
fn mutations_of_a_good_scene() {
    const PIECES: &[&str] = &[
        "",
        "[]",
        "{}",
        "[[",
        "]]",
        "\"",
        "nan",
        "-1",
        "1e400",
        "\"3 kg\"",
        "µ",
        "true",
        "[0, 0, 0]",
        "{ box = {} }",
        "=",
        ".",
        "\n",
        "9223372036854775807",
        "1979-05-27",
        "'",
        "\u{0}",
        "\u{feff}",
    ];
    let full = full_with_settings();
    let mut random = Random(2);
    for _ in 0..3000 {
        let mut bytes = full.as_bytes().to_vec();
        for _ in 0..=random.below(4) {
            let start = random.below(bytes.len());
            let end = (start + random.below(8)).min(bytes.len());
            bytes.splice(start..end, PIECES[random.below(PIECES.len())].bytes());
        }
        survives(&bytes);
    }
}

#[test]
fn values_of_every_type_under_every_key() {
    // Whole values are replaced, so that the files stay valid TOML and the validation is tested.
    const VALUES: &[&str] = &[
        "3",
        "-0.5",
        "\"\"",
        "\"3 Pa\"",
        "true",
        "[]",
        "[1]",
        "[[]]",
        "[{}]",
        "{}",
        "{ a = 1 }",
        "nan",
        "07:32:00",
    ];
    let full = full_with_settings();
    for (number, line) in full.lines().enumerate() {
        let Some((key, _)) = line.split_once(" = ") else { continue };
        for value in VALUES {
            let changed: Vec<String> = full
                .lines()
                .enumerate()
                .map(|(index, old)| if index == number { format!("{key} = {value}") } else { old.to_owned() })
                .collect();
            survives(changed.join("\n").as_bytes());
        }
    }
}

#[test]
fn deep_nesting_is_refused_without_a_crash() {
    for (open, close) in [("[", "]"), ("{ a = ", "}"), ("{ union = [", "]}")] {
        let text = format!("{SHORT}scale = {}1{}", open.repeat(5000), close.repeat(5000));
        assert!(parse(&text).is_err());
        let text = SHORT.replace("{ radius = 1 }", &format!("{}1{}", open.repeat(60), close.repeat(60)));
        assert!(parse(&text).is_err());
    }
}

#[test]
fn strange_overrides() {
    let mut random = Random(3);
    const PIECES: &[&str] = &[
        "bodies", "0", "bar", ".", "\"", "gravity", "shape", "box", "=", " ", "é", "grips", "motion", "[",
        "{", "1",
    ];
    for _ in 0..3000 {
        let mut text = |n: usize| (0..n).map(|_| PIECES[random.below(PIECES.len())]).collect::<String>();
        let overrides = vec![(text(5), text(3)), (text(3), text(2))];
        match apply_overrides(FULL, "scene.toml", &overrides) {
            Ok(text) => {
                // For any override the text stays valid TOML; the validation decides if the scene is good.
                let is_broken = parse(&text).is_err_and(|error| {
                    error.problems.iter().any(|problem| problem.message.contains("TOML"))
                });
                assert!(!is_broken, "{overrides:?}\n{text}");
            }
            Err(error) => assert!(error.to_string().contains("--set:")),
        }
    }
}
