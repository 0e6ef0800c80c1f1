//! Text in pictures, with soft edges and a light halo that keeps it readable on any background.

use phyxel::math::glam::{Vec2, vec2};

use super::color::Color;
use super::font::{self, CAP_HEIGHT, DESCENT, GAP};
use super::picture::Picture;

/// Ratio of half the width of a stroke to the height of a capital.
const HALF_WEIGHT: f32 = 0.058;
/// Smallest half width of a stroke that is still readable (pixels).
const LEAST_HALF_WEIGHT: f32 = 0.55;
/// Ratio of the halo's reach to the height of a capital, and its strength.
const HALO_REACH: f32 = 0.22;
const HALO_OPACITY: f32 = 0.55;

/// Colour of all text: dark slate.
pub(super) const INK: Color = Color::new(0x2b, 0x30, 0x38);
/// Fainter colour for notes.
pub(super) const FAINT_INK: Color = Color::new(0x6d, 0x74, 0x7e);
const HALO: Color = Color::new(0xf4, 0xf5, 0xf7);

/// Size and colour of a line of text.
#[derive(Clone, Copy)]
pub(super) struct TextStyle {
    /// Height of a capital (pixels).
    pub(super) cap_height: f32,
    pub(super) ink: Color,
}

/// Returns the width of a line (pixels).
pub(super) fn text_width(text: &str, cap_height: f32) -> f32 {
    let units: f32 = text.chars().map(|character| font::glyph(character).width + GAP).sum();
    (units - GAP).max(0.0) * cap_height / CAP_HEIGHT
}

/// Returns the line, shortened with an ellipsis if it is wider than `widest` (pixels).
pub(super) fn fitted(text: &str, cap_height: f32, widest: f32) -> String {
    if text_width(text, cap_height) <= widest {
        return text.to_owned();
    }
    let mut short: Vec<char> = text.chars().collect();
    while short.pop().is_some() {
        let candidate = format!("{}…", short.iter().collect::<String>().trim_end());
        if text_width(&candidate, cap_height) <= widest {
            return candidate;
        }
    }
    String::new()
}

/// Draws a line; `start` is the left end of its base line (pixels, y down).
pub(super) fn draw_text(picture: &mut Picture, text: &str, start: Vec2, style: TextStyle) {
    let scale = style.cap_height / CAP_HEIGHT;
    let mut pen = start;
    let mut placed = Vec::new();
    for character in text.chars() {
        let glyph = font::glyph(character);
        let strokes: Vec<Vec<Vec2>> = glyph
            .strokes
            .iter()
            .map(|stroke| stroke.iter().map(|p| pen + vec2(p.x, -p.y) * scale).collect())
            .collect();
        if !strokes.is_empty() {
            placed.push((pen.x, glyph.width * scale, strokes));
        }
        pen.x += (glyph.width + GAP) * scale;
    }
    let half_weight = (HALF_WEIGHT * style.cap_height).max(LEAST_HALF_WEIGHT);
    let halo = HALO_REACH * style.cap_height;
    // All halos come first: a letter's halo must not wash out its neighbour.
    for is_halo in [true, false] {
        for (left, width, strokes) in &placed {
            let reach = half_weight + 1.0 + if is_halo { halo } else { 0.0 };
            let low = vec2(left - reach, start.y - (CAP_HEIGHT + 1.0) * scale - reach);
            let high = vec2(left + width + reach, start.y + DESCENT * scale + reach);
            for_pixels(low, high, |x, y| {
                let distance = distance_to(strokes, vec2(x as f32 + 0.5, y as f32 + 0.5));
                if is_halo {
                    let strength = (1.0 - (distance - half_weight).max(0.0) / halo).max(0.0);
                    picture.blend(x, y, HALO, HALO_OPACITY * strength);
                } else {
                    picture.blend(x, y, style.ink, (half_weight - distance + 0.5).clamp(0.0, 1.0));
                }
            });
        }
    }
}

fn for_pixels(low: Vec2, high: Vec2, mut visit: impl FnMut(i64, i64)) {
    for y in low.y.floor() as i64..=high.y.ceil() as i64 {
        for x in low.x.floor() as i64..=high.x.ceil() as i64 {
            visit(x, y);
        }
    }
}

fn distance_to(strokes: &[Vec<Vec2>], place: Vec2) -> f32 {
    let pieces = strokes.iter().flat_map(|stroke| stroke.windows(2));
    pieces.fold(f32::MAX, |least, ends| least.min(segment_distance_squared(ends[0], ends[1], place))).sqrt()
}

fn segment_distance_squared(start: Vec2, end: Vec2, place: Vec2) -> f32 {
    let along = end - start;
    let share = (place - start).dot(along) / along.length_squared().max(1e-12);
    place.distance_squared(start + along * share.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_leaves_ink_where_it_was_put_and_nowhere_else() {
        let paper = Color::new(0xf4, 0xf5, 0xf7);
        let mut picture = Picture::filled(120, 40, paper);
        let style = TextStyle { cap_height: 14.0, ink: INK };
        draw_text(&mut picture, "Hi", vec2(20.0, 30.0), style);
        let right = 20.0 + text_width("Hi", 14.0);
        let mut n_dark = 0;
        for y in 0..40 {
            for x in 0..120 {
                if picture.pixel(x, y).rgb[0] < 120 {
                    n_dark += 1;
                    assert!((18.0..=right + 2.0).contains(&(x as f32)) && (14..=31).contains(&y), "{x} {y}");
                }
            }
        }
        assert!(n_dark > 40, "{n_dark} dark pixels");
    }

    #[test]
    fn long_lines_are_shortened_to_fit() {
        let text = "a title that is far too long for the picture";
        let short = fitted(text, 10.0, 100.0);
        assert!(short.ends_with('…') && text_width(&short, 10.0) <= 100.0);
        assert!(short.chars().count() > 5);
        assert_eq!(fitted("fits", 10.0, 100.0), "fits");
        assert_eq!(fitted(text, 10.0, 0.0), "");
    }
}
