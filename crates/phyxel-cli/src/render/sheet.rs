//! Several pictures on one page.

use phyxel::math::glam::vec2;

use super::color::Color;
use super::overlay::cap_height;
use super::picture::Picture;
use super::text::{INK, TextStyle, draw_text, fitted};

pub(super) const PAPER: Color = Color::new(0xfb, 0xfb, 0xfc);
/// Margin over the width of a tile, and its least size (pixels).
const MARGIN_SHARE: f32 = 0.012;
const LEAST_MARGIN: usize = 4;

/// Makes a page of labelled tiles, row by row. Tiles are as large as the largest picture; labels stand under their
/// picture and take no room if all of them are empty.
pub(crate) fn contact_sheet(pictures: &[Picture], labels: &[String], columns: usize) -> Picture {
    let columns = columns.clamp(1, pictures.len().max(1));
    let n_rows = pictures.len().div_ceil(columns);
    let tile_width = pictures.iter().map(|picture| picture.width).max().unwrap_or(1);
    let tile_height = pictures.iter().map(|picture| picture.height).max().unwrap_or(1);
    let margin = ((MARGIN_SHARE * tile_width as f32) as usize).max(LEAST_MARGIN);
    let cap = cap_height(tile_height);
    let has_labels = labels.iter().any(|label| !label.is_empty());
    let label_height = if has_labels { (2.2 * cap).ceil() as usize } else { 0 };
    let row_height = tile_height + label_height + margin;
    let width = columns * (tile_width + margin) + margin;
    let mut sheet = Picture::filled(width, n_rows * row_height + margin, PAPER);
    for (k, picture) in pictures.iter().enumerate() {
        let left = margin + (k % columns) * (tile_width + margin);
        let top = margin + (k / columns) * row_height;
        sheet.paste(picture, left, top);
        if let Some(label) = labels.get(k) {
            let line = fitted(label, cap, tile_width as f32);
            let start = vec2(left as f32 + 0.3 * cap, (top + tile_height) as f32 + 1.6 * cap);
            draw_text(&mut sheet, &line, start, TextStyle { cap_height: cap, ink: INK });
        }
    }
    sheet
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sheet_has_room_for_tiles_margins_and_labels() {
        let tile = |red: u8| Picture::filled(100, 60, Color::new(red, 0, 0));
        let pictures: Vec<Picture> = (1..=5).map(|k| tile(40 * k)).collect();
        let bare = contact_sheet(&pictures, &[], 3);
        assert_eq!((bare.width, bare.height), (3 * 104 + 4, 2 * 64 + 4));
        assert_eq!(bare.pixel(54, 34), Color::new(40, 0, 0));
        assert_eq!(bare.pixel(104 + 54, 64 + 34), Color::new(200, 0, 0));
        assert_eq!(bare.pixel(2 * 104 + 54, 64 + 34), PAPER);
        let labels: Vec<String> = (0..5).map(|k| format!("t = {k} s")).collect();
        let labelled = contact_sheet(&pictures, &labels, 3);
        assert_eq!(labelled.height, bare.height + 2 * (2.2f32 * LABEL_CAP).ceil() as usize);
        let under_first = (64..80).flat_map(|y| (4..104).map(move |x| (x, y)));
        assert!(under_first.filter(|&(x, y)| labelled.pixel(x, y).rgb[0] < 120).count() > 10);
    }

    /// Height of letters on tiles of 60 pixels.
    const LABEL_CAP: f32 = 7.0;

    #[test]
    fn no_pictures_and_no_columns_are_survived() {
        assert!(contact_sheet(&[], &[], 0).width > 0);
        let one = Picture::filled(3, 3, Color::new(1, 2, 3));
        assert_eq!(contact_sheet(&[one], &[], 0).width, 3 + 8);
    }
}
