//! A finished picture in memory, and PNG files.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

use super::color::Color;

/// Rows of sRGB pixels from the top left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Picture {
    /// Number of pixels in a row.
    pub(crate) width: usize,
    /// Number of rows.
    pub(crate) height: usize,
    /// Pixel data, three bytes per pixel.
    pub(crate) rgb: Vec<u8>,
}

impl Picture {
    /// Creates a picture of one colour.
    pub(crate) fn filled(width: usize, height: usize, color: Color) -> Self {
        Self { width, height, rgb: color.rgb.repeat(width * height) }
    }

    /// Returns the colour of a pixel inside the picture.
    #[cfg(test)]
    pub(crate) fn pixel(&self, x: usize, y: usize) -> Color {
        let at = 3 * (y * self.width + x);
        Color::new(self.rgb[at], self.rgb[at + 1], self.rgb[at + 2])
    }

    /// Lays `color` over a pixel; `opacity` in 0..1. Pixels outside of the picture are ignored.
    pub(crate) fn blend(&mut self, x: i64, y: i64, color: Color, opacity: f32) {
        let (Ok(column), Ok(row)) = (usize::try_from(x), usize::try_from(y)) else { return };
        if column >= self.width || row >= self.height {
            return;
        }
        let at = 3 * (row * self.width + column);
        for (below, &above) in self.rgb[at..at + 3].iter_mut().zip(&color.rgb) {
            let mixed = f32::from(*below) + (f32::from(above) - f32::from(*below)) * opacity.clamp(0.0, 1.0);
            *below = (mixed + 0.5) as u8;
        }
    }

    /// Lays `color` over a rectangle of pixels, cut at the borders of the picture.
    pub(crate) fn blend_rectangle(&mut self, corner: [i64; 2], size: [i64; 2], color: Color, opacity: f32) {
        for y in corner[1]..corner[1] + size[1] {
            for x in corner[0]..corner[0] + size[0] {
                self.blend(x, y, color, opacity);
            }
        }
    }

    /// Copies another picture to a position inside this one; parts outside are cut off.
    pub(crate) fn paste(&mut self, other: &Self, left: usize, top: usize) {
        let n_columns = other.width.min(self.width.saturating_sub(left));
        for row in 0..other.height.min(self.height.saturating_sub(top)) {
            let from = 3 * row * other.width;
            let to = 3 * ((top + row) * self.width + left);
            self.rgb[to..to + 3 * n_columns].copy_from_slice(&other.rgb[from..from + 3 * n_columns]);
        }
    }

    /// Writes the picture as an sRGB PNG file.
    pub(crate) fn write_png(&self, path: &Path) -> io::Result<()> {
        let width = u32::try_from(self.width).map_err(|_| io::ErrorKind::InvalidInput)?;
        let height = u32::try_from(self.height).map_err(|_| io::ErrorKind::InvalidInput)?;
        let mut encoder = png::Encoder::new(BufWriter::new(File::create(path)?), width, height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&self.rgb)?;
        writer.finish()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    #[test]
    fn png_reads_back_the_same_pixels() {
        let mut picture = Picture::filled(7, 5, Color::new(10, 20, 30));
        picture.blend(3, 2, Color::new(200, 100, 50), 1.0);
        picture.blend(-1, 99, Color::new(1, 1, 1), 1.0);
        let path = std::env::temp_dir().join("phyxel_picture_round_trip.png");
        picture.write_png(&path).unwrap();
        let mut reader = png::Decoder::new(BufReader::new(File::open(&path).unwrap())).read_info().unwrap();
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut bytes).unwrap();
        assert_eq!((info.width, info.height), (7, 5));
        assert_eq!(bytes, picture.rgb);
        assert_eq!(picture.pixel(3, 2), Color::new(200, 100, 50));
    }

    #[test]
    fn pasting_over_the_border_is_cut_off() {
        let mut below = Picture::filled(4, 4, Color::new(0, 0, 0));
        below.paste(&Picture::filled(3, 3, Color::new(9, 9, 9)), 2, 3);
        assert_eq!(below.pixel(3, 3), Color::new(9, 9, 9));
        assert_eq!(below.pixel(1, 3), Color::new(0, 0, 0));
        assert_eq!(below.rgb.iter().filter(|&&byte| byte == 9).count(), 6);
    }
}
