//! Built-in font: an alphabet of straight and curved strokes of one width.
//!
//! A glyph is written as strokes separated by spaces, a stroke as points of two characters: the column as a digit and
//! the height as a letter: `d` the base line, `k` the height of an x, `n` that of a capital, `a` the lowest descender.
//! A capital letter makes the point the control point of a quadratic curve; between two successive control points lies
//! an implied point halfway. A stroke of one point is a dot.

use phyxel::math::glam::{Vec2, vec2};

/// Height of a capital letter in grid units.
pub(super) const CAP_HEIGHT: f32 = 10.0;
/// Depth of the longest descender below the base line in grid units.
pub(super) const DESCENT: f32 = 3.0;
/// Number of free columns between two glyphs.
pub(super) const GAP: f32 = 2.6;

/// Number of straight pieces per curve: enough for letters of a hundred pixels.
const PIECES: usize = 6;
/// Scale and rise of a superscript, relative to the digit it is made from.
const SUPERSCRIPT_SCALE: f32 = 0.62;
const SUPERSCRIPT_RISE: f32 = 4.6;

/// Strokes of a character as chains of points (y up, base line at 0), and its width.
pub(super) struct Glyph {
    pub(super) strokes: Vec<Vec<Vec2>>,
    pub(super) width: f32,
}

/// Glyph for characters that the alphabet does not have.
const UNKNOWN: (f32, &str) = (5.0, "0d5d5n0n0d");

/// Returns the strokes of a character; an empty box if the alphabet does not have it.
pub(super) fn glyph(character: char) -> Glyph {
    if let Some(base) = superscript_base(character) {
        let mut raised = glyph(base);
        for point in raised.strokes.iter_mut().flatten() {
            *point = *point * SUPERSCRIPT_SCALE + vec2(0.0, SUPERSCRIPT_RISE);
        }
        raised.width *= SUPERSCRIPT_SCALE;
        return raised;
    }
    let (width, strokes) = find(character).or_else(|| find(without_accent(character)?)).unwrap_or(UNKNOWN);
    Glyph { strokes: strokes.split_whitespace().map(flatten).collect(), width }
}

/// Returns the letter under an accent of western European languages: the alphabet has no accents.
fn without_accent(character: char) -> Option<char> {
    const LETTERS: [(char, &str); 14] = [
        ('a', "àáâãäå"),
        ('c', "ç"),
        ('e', "èéêë"),
        ('i', "ìíîï"),
        ('n', "ñ"),
        ('o', "òóôõöø"),
        ('u', "ùúûü"),
        ('A', "ÀÁÂÃÄÅ"),
        ('C', "Ç"),
        ('E', "ÈÉÊË"),
        ('I', "ÌÍÎÏ"),
        ('N', "Ñ"),
        ('O', "ÒÓÔÕÖØ"),
        ('U', "ÙÚÛÜ"),
    ];
    LETTERS.iter().find(|letter| letter.1.contains(character)).map(|letter| letter.0)
}

/// Returns true if the alphabet has the character.
#[cfg(test)]
pub(super) fn has(character: char) -> bool {
    superscript_base(character).is_some() || find(character).is_some()
}

fn superscript_base(character: char) -> Option<char> {
    const RAISED: &str = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻";
    RAISED.chars().zip("0123456789-".chars()).find(|pair| pair.0 == character).map(|pair| pair.1)
}

fn find(character: char) -> Option<(f32, &'static str)> {
    GLYPHS.iter().find(|entry| entry.0 == character).map(|&(_, width, strokes)| (f32::from(width), strokes))
}

/// Returns one stroke as a chain of points, with curves cut into straight pieces.
fn flatten(stroke: &str) -> Vec<Vec2> {
    let bytes = stroke.as_bytes();
    let points: Vec<(Vec2, bool)> = bytes.chunks_exact(2).map(|pair| decode(pair[0], pair[1])).collect();
    let mut chain = Vec::new();
    for (k, &(place, is_control)) in points.iter().enumerate() {
        if !is_control {
            chain.push(place);
            continue;
        }
        let (Some(&start), Some(&(after, after_is_control))) = (chain.last(), points.get(k + 1)) else {
            continue;
        };
        let end = if after_is_control { (place + after) * 0.5 } else { after };
        // A following on-curve point is added by its own pass of the loop.
        let n_points = if after_is_control { PIECES } else { PIECES - 1 };
        for piece in 1..=n_points {
            let t = piece as f32 / PIECES as f32;
            chain.push(start.lerp(place, t).lerp(place.lerp(end, t), t));
        }
    }
    chain
}

/// Returns the position of a point, and true if it is a control point.
fn decode(column: u8, height: u8) -> (Vec2, bool) {
    let lower = height.to_ascii_lowercase();
    (vec2(f32::from(column) - f32::from(b'0'), f32::from(lower) - f32::from(b'd')), height != lower)
}

/// Glyphs: character, width, strokes.
#[rustfmt::skip]
const GLYPHS: &[(char, u8, &str)] = &[
    (' ', 2, ""), ('!', 0, "0n0g 0d0d"), ('"', 2, "0n0k 2n2k"), ('#', 6, "1d2n 4d5n 0k6k 0g6g"),
    ('$', 6, "6l6N3n0N0I3i6I6D3d0D0f 3o3c"), ('%', 8, "2n4N4J0J0N2n 6h8H8D4D4H6h 1d7n"),
    ('&', 7, "7d2j1K1l1N3n5N5l5K2i0H0f0D3d6D7h"), ('\'', 0, "0n0k"), ('(', 2, "2o0L0E2b"), (')', 2, "0o2L2E0b"),
    ('*', 4, "2n2j 0m4k 0k4m"), ('+', 6, "0h6h 3k3e"), (',', 1, "1e0b"), ('-', 4, "0h4h"), ('.', 0, "0d0d"),
    ('/', 5, "0c5o"),
    ('0', 6, "3n6N6D0D0N3n"), ('1', 6, "1l3n3d 1d5d"), ('2', 6, "0l0N3n6N6k6I0d6d"),
    ('3', 6, "0l0N3n5N5I2i 2i3i6I6D3d0D0f"), ('4', 6, "4d4n0g6g"), ('5', 6, "5n1n0i1J3j6J6D3d1D0e"),
    ('6', 6, "5n0L0g0D3d6D6J3j0J0g"), ('7', 6, "0n6n2d"), ('8', 6, "3n5N5I3i1I1N3n 3i6I6D3d0D0I3i"),
    ('9', 6, "1d6F6k6N3n0N0H3h6H6k"),
    (':', 0, "0d0d 0j0j"), (';', 1, "1j1j 1e0b"), ('<', 5, "5k0h5e"), ('=', 5, "0j5j 0f5f"), ('>', 5, "0k5h0e"),
    ('?', 5, "0l0N2n5N5l5J3i2H2g 2d2d"), ('@', 8, "6i6K4k2K2G4g6G6i 6k6h6G7g8G8i8N4n0N0C4c6C7d"),
    ('A', 6, "0d3n6d 1g5g"), ('B', 6, "0d0n3n5N5I3i0i 3i6I6D3d0d"), ('C', 6, "6l5N3n0N0D3d5D6f"),
    ('D', 6, "0d0n2n6N6D2d0d"), ('E', 5, "5n0n0d5d 0i4i"), ('F', 5, "5n0n0d 0i4i"),
    ('G', 6, "6l5N3n0N0D3d6D6h6i4i"), ('H', 6, "0d0n 6d6n 0i6i"), ('I', 0, "0d0n"), ('J', 4, "4n4g4D2d0D0f"),
    ('K', 6, "0d0n 6n0g 2i6d"), ('L', 5, "0n0d5d"), ('M', 8, "0d0n4f8n8d"), ('N', 6, "0d0n6d6n"),
    ('O', 7, "0i0N7N7D0D0i"), ('P', 6, "0d0n3n6N6I3i0i"), ('Q', 7, "0i0N7N7D0D0i 4g7d"),
    ('R', 6, "0d0n3n6N6I3i0i 3i6d"), ('S', 6, "6l6N3n0N0I3i6I6D3d0D0f"), ('T', 6, "0n6n 3n3d"),
    ('U', 6, "0n0g0D3d6D6g6n"), ('V', 6, "0n3d6n"), ('W', 8, "0n2d4k6d8n"), ('X', 6, "0n6d 0d6n"),
    ('Y', 6, "0n3i6n 3i3d"), ('Z', 6, "0n6n0d6d"),
    ('[', 2, "2o0o0b2b"), ('\\', 5, "0o5c"), (']', 2, "0o2o2b0b"), ('^', 4, "0k2n4k"), ('_', 6, "0c6c"),
    ('`', 1, "0n1l"),
    ('a', 5, "5k5d 5i5K2k0K0D2d5D5f"), ('b', 5, "0n0d 0i0K3k5K5D3d0D0f"), ('c', 5, "5j4K3k0K0D3d4D5e"),
    ('d', 5, "5n5d 5i5K2k0K0D2d5D5f"), ('e', 5, "0h5h5K3k0K0h0D3d4D5e"), ('f', 3, "3n1N1l1d 0k3k"),
    ('g', 5, "5k5c5A2a1A0b 5i5K2k0K0D2d5D5f"), ('h', 5, "0n0d 0h0K3k5K5h5d"), ('i', 0, "0k0d 0n0n"),
    ('j', 2, "2k2c2A0a 2n2n"), ('k', 5, "0n0d 5k0f 2h5d"), ('l', 2, "0n0f0D2d"),
    ('m', 8, "0k0d 0i0K2k4K4i4d 4i4K6k8K8i8d"), ('n', 5, "0k0d 0h0K3k5K5h5d"), ('o', 6, "3k6K6D0D0K3k"),
    ('p', 5, "0k0a 0i0K3k5K5D3d0D0f"), ('q', 5, "5k5a 5i5K2k0K0D2d5D5f"), ('r', 3, "0k0d 0h0K3k"),
    ('s', 4, "4j4K2k0K0H2h4H4D2d0D0e"), ('t', 3, "1m1f1D3d 0k3k"), ('u', 5, "0k0g0D2d5D5h 5k5d"),
    ('v', 6, "0k3d6k"), ('w', 8, "0k2d4j6d8k"), ('x', 5, "0k5d 0d5k"), ('y', 6, "0k3d 6k2a"),
    ('z', 5, "0k5k0d5d"),
    ('{', 3, "3o1O1m1k1I0i1I1g1d1B3b"), ('|', 0, "0o0b"), ('}', 3, "0o2O2m2k2I3i2I2g2d2B0b"), ('~', 6, "0g1J3h5F6i"),
    ('µ', 5, "0k0a 0g0D2d5D5h 5k5d"), ('μ', 5, "0k0a 0g0D2d5D5h 5k5d"), ('ν', 5, "0k2d5E5k"),
    ('ρ', 6, "0a0g0K3k6K6D3d0D0g"), ('σ', 6, "6k3k0K0D3d5D5g5K3k"), ('ε', 4, "4j4K2k0K0H2h 2h0H0D2d4D4e"),
    ('η', 5, "0k0d 0h0K3k5K5h5a"), ('λ', 5, "0n1N5d 3i0d"), ('Δ', 6, "0d3n6d0d"),
    ('·', 0, "0h0h"), ('°', 4, "2n4N4J0J0N2n"), ('×', 4, "0j4f 0f4j"), ('±', 6, "0i6i 3l3f 0d6d"),
    ('−', 6, "0h6h"), ('–', 6, "0h6h"), ('—', 9, "0h9h"), ('…', 6, "0d0d 3d3d 6d6d"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printable_ascii_and_units_are_covered() {
        for character in (' '..='~').chain("µμνρσεηλΔ·°×±−–—…⁰¹²³⁴⁵⁶⁷⁸⁹⁻".chars())
        {
            assert!(has(character), "no glyph for {character:?}");
        }
        assert!(!has('漢'));
        assert!(!glyph('漢').strokes.is_empty(), "unknown characters show as a box");
        assert_eq!(glyph('ü').strokes, glyph('u').strokes);
    }

    #[test]
    fn strokes_stay_in_their_cell() {
        for &(character, width, strokes) in GLYPHS {
            assert!(strokes.split_whitespace().all(|s| s.len() % 2 == 0 && s.len() >= 4), "{character:?}");
            for point in glyph(character).strokes.iter().flatten() {
                assert!((0.0..=f32::from(width)).contains(&point.x), "{character:?} {point}");
                assert!((-DESCENT..=CAP_HEIGHT + 1.0).contains(&point.y), "{character:?} {point}");
            }
        }
    }

    #[test]
    fn glyphs_differ() {
        for (k, a) in GLYPHS.iter().enumerate() {
            for b in &GLYPHS[..k] {
                assert!(a.0 != b.0, "{:?} twice", a.0);
                let same_shape = ["µμ", "−–"].iter().any(|pair| pair.contains(a.0) && pair.contains(b.0));
                assert!(a.2 != b.2 || same_shape, "{:?} looks like {:?}", a.0, b.0);
            }
        }
    }

    #[test]
    fn digits_have_one_width() {
        assert!(('0'..='9').all(|digit| glyph(digit).width == 6.0), "counters must not jump");
    }

    #[test]
    fn curves_touch_their_extremes() {
        let ring = glyph('o').strokes.remove(0);
        let left = ring.iter().fold(f32::MAX, |least, p| least.min(p.x));
        assert!(left.abs() < 1e-6 && ring.first() == ring.last());
    }
}
