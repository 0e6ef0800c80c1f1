//! Pages of pictures to compare: panels side by side at one time, and a sheet with a row for each run.

use phyxel::math::glam::vec2;

use super::color::Color;
use super::picture::Picture;
use super::sheet::PAPER;
use super::text::{FAINT_INK, INK, TextStyle, draw_text, fitted, text_width};

/// Height of a capital letter over the height of a panel, and its least size (pixels). The letters on a sheet are
/// larger, because it is wide and may be shown at a reduced size.
const CAP_SHARE: f32 = 0.042;
const SHEET_CAP_SHARE: f32 = 0.07;
const LEAST_CAP: f32 = 8.0;
/// Height of a line of text, in capital heights.
const LINE: f32 = 2.4;
/// Distance from the top of a line to its base line, in capital heights.
const BASE: f32 = 1.7;
/// Distance between panels, in capital heights.
const GAP: f32 = 0.6;
/// Ink of notes about failures.
const WARNING_INK: Color = Color::new(0xb3, 0x2a, 0x1e);
const NOTE_PAPER: Color = Color::new(0xff, 0xf4, 0xf0);
const NOTE_OPACITY: f32 = 0.85;
/// Share of the page that the names of rows may take.
const NAMES_SHARE: f32 = 0.25;

/// Sizes of the parts of a page, all derived from the size of a panel (pixels).
struct Layout {
    panel: [usize; 2],
    cap: f32,
    line: usize,
    gap: usize,
}

impl Layout {
    fn of<'a>(panels: impl Iterator<Item = &'a Picture>, cap_share: f32) -> Self {
        let panel =
            panels.fold([1, 1], |size, picture| [size[0].max(picture.width), size[1].max(picture.height)]);
        let cap = (cap_share * panel[1] as f32).max(LEAST_CAP);
        Self { panel, cap, line: (LINE * cap).ceil() as usize, gap: (GAP * cap).ceil() as usize }
    }

    /// Writes a line that begins at a position of the page and has at most the width `widest`.
    fn write(&self, page: &mut Picture, text: &str, [left, top]: [usize; 2], widest: usize, ink: Color) {
        let line = fitted(text, self.cap, widest as f32);
        let start = vec2(left as f32, top as f32 + BASE * self.cap);
        draw_text(page, &line, start, TextStyle { cap_height: self.cap, ink });
    }
}

/// Writes a note about a failure across the foot of a panel.
pub(crate) fn write_note(panel: &mut Picture, text: &str) {
    let layout = Layout::of(std::iter::once(&*panel), CAP_SHARE);
    let (width, top) = (panel.width, panel.height.saturating_sub(layout.line));
    panel.blend_rectangle([0, top as i64], [width as i64, layout.line as i64], NOTE_PAPER, NOTE_OPACITY);
    layout.write(panel, text, [layout.gap, top], width.saturating_sub(2 * layout.gap), WARNING_INK);
}

/// Puts panels side by side, each under its label; below all is a line with `caption` (left) and `title` (right).
pub(crate) fn side_by_side(
    panels: &[(String, Picture)],
    n_columns: usize,
    caption: &str,
    title: &str,
) -> Picture {
    let layout = Layout::of(panels.iter().map(|panel| &panel.1), CAP_SHARE);
    let Layout { panel: [width, height], gap, line, cap } = layout;
    let n_columns = n_columns.clamp(1, panels.len().max(1));
    let n_rows = panels.len().div_ceil(n_columns);
    let page_width = n_columns * (width + gap) + gap;
    let mut page = Picture::filled(page_width, n_rows * (line + height) + line, PAPER);
    for (k, (label, picture)) in panels.iter().enumerate() {
        let left = gap + (k % n_columns) * (width + gap);
        let top = (k / n_columns) * (line + height);
        layout.write(&mut page, label, [left, top], width, INK);
        page.paste(picture, left, top + line);
    }
    let (top, widest) = (n_rows * (line + height), page_width - 2 * gap);
    layout.write(&mut page, caption, [gap, top], widest, INK);
    let room = widest as f32 - text_width(caption, cap) - 2.0 * cap;
    let title = fitted(title, cap, room);
    let left = page_width as f32 - gap as f32 - text_width(&title, cap);
    layout.write(&mut page, &title, [left.max(0.0) as usize, top], page_width, FAINT_INK);
    page
}

/// Makes a sheet with a named row for each run and a headed column for each moment.
pub(crate) fn named_rows(rows: &[(String, Vec<Picture>)], heads: &[String], title: &str) -> Picture {
    let layout = Layout::of(rows.iter().flat_map(|row| &row.1), SHEET_CAP_SHARE);
    let Layout { panel: [width, height], gap, line, cap } = layout;
    let panels_width = heads.len() * (width + gap);
    let widest = rows.iter().map(|row| text_width(&row.0, cap)).fold(0.0, f32::max);
    let most = NAMES_SHARE * (panels_width as f32) / (1.0 - NAMES_SHARE);
    let names_width = widest.min(most).ceil() as usize + 2 * gap;
    let page_width = names_width + panels_width;
    let mut page = Picture::filled(page_width, 2 * line + rows.len() * (height + gap), PAPER);
    layout.write(&mut page, title, [gap, 0], page_width - 2 * gap, FAINT_INK);
    for (k, head) in heads.iter().enumerate() {
        layout.write(&mut page, head, [names_width + k * (width + gap), line], width, INK);
    }
    for (k, (name, pictures)) in rows.iter().enumerate() {
        let top = 2 * line + k * (height + gap);
        let middle = top + (height.saturating_sub(line)) / 2;
        layout.write(&mut page, name, [gap, middle], names_width - 2 * gap, INK);
        for (column, picture) in pictures.iter().enumerate() {
            page.paste(picture, names_width + column * (width + gap), top);
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel(red: u8) -> Picture {
        Picture::filled(160, 120, Color::new(red, 0, 0))
    }

    /// Counts the dark pixels in a part of a picture.
    fn n_dark(picture: &Picture, columns: std::ops::Range<usize>, rows: std::ops::Range<usize>) -> usize {
        let is_dark = |x: usize, y: usize| picture.pixel(x, y).rgb.iter().all(|&byte| byte < 170);
        rows.map(|y| columns.clone().filter(|&x| is_dark(x, y)).count()).sum()
    }

    #[test]
    fn panels_stand_side_by_side_under_their_labels() {
        let panels = [("first".to_owned(), panel(40)), ("second".to_owned(), panel(90))];
        let page = side_by_side(&panels, 3, "t = 0.100 s", "a title");
        let Layout { line, gap, .. } = Layout::of(panels.iter().map(|panel| &panel.1), CAP_SHARE);
        assert_eq!((page.width, page.height), (2 * (160 + gap) + gap, 120 + 2 * line));
        assert_eq!(page.pixel(gap + 5, line + 5), Color::new(40, 0, 0));
        assert_eq!(page.pixel(2 * gap + 165, line + 5), Color::new(90, 0, 0));
        assert!(n_dark(&page, 0..160, 0..line) > 30 && n_dark(&page, 170..page.width, 0..line) > 30);
        assert!(n_dark(&page, 0..160, line + 120..page.height) > 30, "no time");
        assert_eq!(side_by_side(&panels, 1, "", "").height, 2 * (120 + line) + line);
    }

    #[test]
    fn a_sheet_names_its_rows_and_heads_its_columns() {
        let rows = [("one".to_owned(), vec![panel(40), panel(60)]), ("two".to_owned(), vec![panel(90)])];
        let heads = ["t = 0 s".to_owned(), "t = 1 s".to_owned()];
        let page = named_rows(&rows, &heads, "a title");
        let Layout { line, gap, .. } = Layout::of(rows.iter().flat_map(|row| &row.1), SHEET_CAP_SHARE);
        let names = page.width - 2 * (160 + gap);
        assert_eq!(page.pixel(names + 3, 2 * line + 3), Color::new(40, 0, 0));
        assert_eq!(page.pixel(names + 160 + gap + 3, 2 * line + 3), Color::new(60, 0, 0));
        assert_eq!(page.pixel(names + 3, 2 * line + 120 + gap + 3), Color::new(90, 0, 0));
        for top in [2 * line, 2 * line + 120 + gap] {
            assert!(n_dark(&page, 0..names, top..top + 120) > 20, "a row has no name");
        }
        for left in [names, names + 160 + gap] {
            assert!(n_dark(&page, left..left + 160, line..2 * line) > 20, "a column has no head");
        }
        assert!(n_dark(&page, 0..page.width, 0..line) > 20, "no title");
    }

    #[test]
    fn a_note_stands_at_the_foot_and_leaves_the_rest() {
        let mut noted = panel(40);
        write_note(&mut noted, "failed at 0.12 s");
        assert_eq!(noted.pixel(80, 20), Color::new(40, 0, 0));
        assert!(noted.pixel(80, 118).rgb[1] > 100);
        let mut tiny = Picture::filled(3, 2, Color::new(0, 0, 0));
        write_note(&mut tiny, "failed");
    }

    #[test]
    fn pages_of_nothing_are_survived() {
        assert!(side_by_side(&[], 3, "", "").width > 0);
        assert!(named_rows(&[], &[], "title").height > 0);
    }
}
