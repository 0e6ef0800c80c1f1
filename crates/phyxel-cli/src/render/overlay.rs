//! Text over a picture: title, caption, the legend of a colour map, the size of the floor's grid.

use phyxel::math::glam::vec2;

use super::color::Color;
use super::picture::Picture;
use super::stage::{ColorBar, Stage};
use super::text::{FAINT_INK, INK, TextStyle, draw_text, fitted, text_width};
use crate::ticks::Ticks;

/// Height of a capital letter over the height of the picture, and its least size (pixels).
const CAP_SHARE: f32 = 0.021;
const LEAST_CAP: f32 = 7.0;
const TITLE_SCALE: f32 = 1.3;
/// Distance of lettering from the picture's edge, in capital heights.
const MARGIN: f32 = 2.0;
/// Paper behind the legend.
const PANEL: Color = Color::new(0xf6, 0xf7, 0xf9);
const PANEL_OPACITY: f32 = 0.72;
/// Approximate number of intervals on a legend.
const N_TICKS: f64 = 5.0;

/// Draws all text of the stage; `grid_spacing` (m) is noted if there is a ground.
pub(super) fn draw(picture: &mut Picture, stage: &Stage, grid_spacing: Option<f32>) {
    let cap = cap_height(picture.height);
    let margin = MARGIN * cap;
    let widest = picture.width as f32 - 2.0 * margin;
    let bottom = picture.height as f32 - margin;
    if let Some(title) = &stage.title {
        let size = cap * TITLE_SCALE;
        let line = fitted(title, size, widest);
        draw_text(picture, &line, vec2(margin, margin + size), TextStyle { cap_height: size, ink: INK });
    }
    let note = grid_spacing.map(|spacing| format!("grid {}", metres(spacing))).unwrap_or_default();
    let note_width = text_width(&note, cap);
    let mut caption_end = margin;
    if let Some(caption) = &stage.caption {
        let line = fitted(caption, cap, widest);
        draw_text(picture, &line, vec2(margin, bottom), TextStyle { cap_height: cap, ink: INK });
        caption_end += text_width(&line, cap) + margin;
    }
    let note_start = picture.width as f32 - margin - note_width;
    if note_start >= caption_end {
        draw_text(picture, &note, vec2(note_start, bottom), TextStyle { cap_height: cap, ink: FAINT_INK });
    }
    if let Some(bar) = &stage.color_bar {
        draw_color_bar(picture, bar, cap);
    }
}

/// Returns the height of a capital letter in a picture of this height (pixels).
pub(super) fn cap_height(picture_height: usize) -> f32 {
    (CAP_SHARE * picture_height as f32).max(LEAST_CAP)
}

/// Formats a length with the unit that suits it.
fn metres(length: f32) -> String {
    let (value, unit) = match length {
        l if l >= 1000.0 => (l / 1000.0, "km"),
        l if l >= 0.9999 => (l, "m"),
        l if l >= 0.009_999 => (l * 100.0, "cm"),
        l if l >= 0.000_999_9 => (l * 1000.0, "mm"),
        l => (l * 1e6, "µm"),
    };
    format!("{} {unit}", (value * 1000.0).round() / 1000.0)
}

fn draw_color_bar(picture: &mut Picture, bar: &ColorBar, cap: f32) {
    let ticks = Ticks::between(f64::from(bar.min), f64::from(bar.max), N_TICKS);
    let style = TextStyle { cap_height: cap, ink: INK };
    let heading = ticks.heading(&bar.label, &bar.unit);
    let widest_tick = ticks.marks.iter().map(|mark| text_width(&mark.1, cap)).fold(0.0, f32::max);
    let (bar_width, gap) = (1.5 * cap, 0.9 * cap);
    let body_width = bar_width + gap + widest_tick;
    let heading = fitted(&heading, cap, (picture.width as f32 * 0.4).max(body_width));
    let content_width = body_width.max(text_width(&heading, cap));
    let right = picture.width as f32 - MARGIN * cap;
    let left = (right - content_width).max(0.0);
    let top = (picture.height as f32 * 0.24).round();
    let height = (picture.height as f32 * 0.52).round().max(4.0);
    let pad = cap;
    picture.blend_rectangle(
        [(left - pad) as i64, (top - 2.2 * cap - pad) as i64],
        [(content_width + 2.0 * pad) as i64, (height + 2.7 * cap + 2.0 * pad) as i64],
        PANEL,
        PANEL_OPACITY,
    );
    draw_text(picture, &heading, vec2(left, top - 1.2 * cap), style);
    let bar_left = left.round();
    for row in 0..height as i64 {
        let color = bar.map.at(1.0 - (row as f32 + 0.5) / height);
        picture.blend_rectangle([bar_left as i64, top as i64 + row], [bar_width as i64, 1], color, 1.0);
    }
    for (share, text) in &ticks.marks {
        let y = top + (1.0 - *share as f32) * (height - 1.0);
        let start = bar_left + bar_width.floor();
        picture.blend_rectangle([start as i64, y.round() as i64], [(0.5 * cap).max(2.0) as i64, 1], INK, 0.9);
        draw_text(picture, text, vec2(start + gap, y + 0.5 * cap + 0.5), style);
    }
}

#[cfg(test)]
mod tests {
    use super::super::font;
    use super::*;

    #[test]
    fn lengths_take_the_unit_that_suits_them() {
        let shown: Vec<String> = [2000.0, 1.0, 0.2, 0.05, 0.001, 0.000_02].map(metres).to_vec();
        assert_eq!(shown, ["2 km", "1 m", "20 cm", "5 cm", "1 mm", "20 µm"]);
    }

    #[test]
    fn the_font_has_all_that_is_written_here() {
        let mut written = String::from("grid ×10⁻ [] …");
        for (min, max) in [(-1.0, 1.0), (0.0, 1e9), (0.0, 1e-9), (-7e4, 3.0)] {
            let ticks = Ticks::between(min, max, N_TICKS);
            written += &ticks.heading("plastic_strain", "kg·m²/s³");
            ticks.marks.iter().for_each(|mark| written += &mark.1);
        }
        written += &[1e4, 1.0, 0.1, 0.001, 1e-5].map(metres).concat();
        for character in written.chars() {
            assert!(font::has(character), "{character:?}");
        }
    }
}
