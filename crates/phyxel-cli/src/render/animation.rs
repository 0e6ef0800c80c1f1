//! Animated GIF files.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use gif::{DisposalMethod, Encoder, EncodingError, Frame, Repeat};
use rayon::prelude::*;
use thiserror::Error;

use super::palette::{N_COLORS, Palette};
use super::picture::Picture;

/// Index of a pixel that stays as it was.
const UNCHANGED: u8 = N_COLORS as u8;
/// Units of time per second in a GIF. Browsers slow down frames that are shorter than two of them.
const TICKS_PER_SECOND: f64 = 100.0;
const SHORTEST: u64 = 2;

/// Reason why an animation could not be written.
#[derive(Debug, Error)]
pub(crate) enum AnimationError {
    /// There are no pictures.
    #[error("an animation needs at least one picture")]
    Empty,
    /// The pictures differ in size.
    #[error("all pictures of an animation must have the same size; picture {0} differs from the first")]
    SizesDiffer(usize),
    /// The width or height is larger than the format allows.
    #[error("a GIF is at most 65535 pixels wide and high, not {0} x {1}")]
    TooLarge(usize, usize),
    /// The rate is not a positive number.
    #[error("frames per second must be a positive number, not {0}")]
    BadRate(f64),
    /// The file could not be written.
    #[error(transparent)]
    Write(#[from] io::Error),
    /// The encoder refused.
    #[error(transparent)]
    Encode(#[from] EncodingError),
}

/// Writes pictures as a GIF that repeats for ever, with one palette for all; only changed parts are stored. Above 50
/// frames per second pictures are left out, so that the speed stays right.
pub(crate) fn write_gif(
    path: &Path,
    pictures: &[Picture],
    frames_per_second: f64,
) -> Result<(), AnimationError> {
    let first = pictures.first().ok_or(AnimationError::Empty)?;
    if let Some(other) = pictures.iter().position(|p| (p.width, p.height) != (first.width, first.height)) {
        return Err(AnimationError::SizesDiffer(other));
    }
    let too_large = |_| AnimationError::TooLarge(first.width, first.height);
    let size =
        [u16::try_from(first.width).map_err(too_large)?, u16::try_from(first.height).map_err(too_large)?];
    let schedule = schedule(pictures.len(), frames_per_second)?;
    let shown: Vec<&Picture> = schedule.iter().map(|&(picture, _)| &pictures[picture]).collect();
    let palette = Palette::for_pictures(&shown);
    let indexed: Vec<Vec<u8>> = shown.par_iter().map(|picture| palette.indexed(picture)).collect();
    let frames: Vec<Frame<'static>> = (0..indexed.len())
        .into_par_iter()
        .map(|k| {
            let before = k.checked_sub(1).map(|previous| indexed[previous].as_slice());
            let mut frame = changed_part(&indexed[k], before, size);
            frame.delay = schedule[k].1;
            frame.make_lzw_pre_encoded();
            frame
        })
        .collect();
    write_frames(BufWriter::new(File::create(path)?), size, &palette, &frames)
}

fn write_frames(
    mut file: BufWriter<File>,
    size: [u16; 2],
    palette: &Palette,
    frames: &[Frame<'static>],
) -> Result<(), AnimationError> {
    let mut colors = palette.bytes();
    colors.resize(3 * (N_COLORS + 1), 0);
    let mut encoder = Encoder::new(&mut file, size[0], size[1], &colors)?;
    encoder.set_repeat(Repeat::Infinite)?;
    for frame in frames {
        encoder.write_lzw_pre_encoded_frame(frame)?;
    }
    encoder.into_inner()?.flush()?;
    Ok(())
}

/// Returns the shown pictures with their durations in hundredths of a second. Rounding errors do not add up.
fn schedule(n_pictures: usize, frames_per_second: f64) -> Result<Vec<(usize, u16)>, AnimationError> {
    if !(frames_per_second.is_finite() && frames_per_second > 0.0) {
        return Err(AnimationError::BadRate(frames_per_second));
    }
    let start = |picture: usize| (picture as f64 * TICKS_PER_SECOND / frames_per_second).round() as u64;
    let mut kept = vec![0];
    for picture in 1..n_pictures {
        if kept.last().is_none_or(|&last| start(picture) - start(last) >= SHORTEST) {
            kept.push(picture);
        }
    }
    let ends = kept[1..].iter().copied().chain([n_pictures]);
    let delay =
        |from: usize, to: usize| (start(to) - start(from)).clamp(SHORTEST, u64::from(u16::MAX)) as u16;
    Ok(kept.iter().zip(ends).map(|(&from, to)| (from, delay(from, to))).collect())
}

/// Returns the smallest rectangle that holds all changes, with unchanged pixels transparent.
fn changed_part(now: &[u8], before: Option<&[u8]>, size: [u16; 2]) -> Frame<'static> {
    let width = usize::from(size[0]);
    let mut frame = Frame { dispose: DisposalMethod::Keep, ..Frame::default() };
    let Some(before) = before else {
        (frame.width, frame.height, frame.buffer) = (size[0], size[1], now.to_vec().into());
        return frame;
    };
    let (mut low, mut high) = ([usize::MAX; 2], [0; 2]);
    for k in (0..now.len()).filter(|&k| now[k] != before[k]) {
        let place = [k % width, k / width];
        low = std::array::from_fn(|axis| low[axis].min(place[axis]));
        high = std::array::from_fn(|axis| high[axis].max(place[axis]));
    }
    if low[0] == usize::MAX {
        (low, high) = ([0; 2], [0; 2]);
    }
    let pixels = (low[1]..=high[1]).flat_map(|y| (low[0]..=high[0]).map(move |x| y * width + x));
    let buffer: Vec<u8> = pixels.map(|k| if now[k] == before[k] { UNCHANGED } else { now[k] }).collect();
    frame.transparent = Some(UNCHANGED);
    // These fit into u16: they are inside the picture, whose sides were checked.
    (frame.left, frame.top) = (low[0] as u16, low[1] as u16);
    (frame.width, frame.height) = ((high[0] - low[0] + 1) as u16, (high[1] - low[1] + 1) as u16);
    frame.buffer = buffer.into();
    frame
}

#[cfg(test)]
mod tests {
    use super::super::color::Color;
    use super::*;

    /// Returns the frames as a viewer shows them, their delays, and the repetition.
    fn played(path: &Path) -> (Vec<Vec<u8>>, Vec<u16>, Repeat) {
        let mut options = gif::DecodeOptions::new();
        options.set_color_output(gif::ColorOutput::RGBA);
        let mut decoder = options.read_info(File::open(path).unwrap()).unwrap();
        let (width, height) = (usize::from(decoder.width()), usize::from(decoder.height()));
        let mut canvas = vec![0u8; 3 * width * height];
        let (mut canvases, mut delays) = (Vec::new(), Vec::new());
        while let Some(frame) = decoder.read_next_frame().unwrap() {
            for (k, rgba) in frame.buffer.chunks_exact(4).enumerate().filter(|(_, rgba)| rgba[3] > 0) {
                let x = usize::from(frame.left) + k % usize::from(frame.width);
                let y = usize::from(frame.top) + k / usize::from(frame.width);
                let at = 3 * (y * width + x);
                canvas[at..at + 3].copy_from_slice(&rgba[..3]);
            }
            delays.push(frame.delay);
            canvases.push(canvas.clone());
        }
        (canvases, delays, decoder.repeat())
    }

    fn moving_square(n_pictures: usize) -> Vec<Picture> {
        let picture = |k: usize| {
            let mut picture = Picture::filled(40, 30, Color::new(230, 232, 235));
            picture.blend_rectangle([k as i64 * 3, 5], [8, 8], Color::new(200, 90, 60), 1.0);
            picture
        };
        (0..n_pictures).map(picture).collect()
    }

    #[test]
    fn a_viewer_sees_all_the_pictures_in_time() {
        let mut pictures = moving_square(7);
        pictures.push(pictures[6].clone());
        let path = std::env::temp_dir().join("phyxel_animation_square.gif");
        write_gif(&path, &pictures, 30.0).unwrap();
        let (canvases, delays, repeat) = played(&path);
        assert_eq!(canvases.len(), 8);
        for (canvas, picture) in canvases.iter().zip(&pictures) {
            assert_eq!(canvas, &picture.rgb, "few colours come through exactly");
        }
        assert_eq!(
            delays.iter().map(|&delay| u32::from(delay)).sum::<u32>(),
            27,
            "8 frames at 30 Hz: 0.267 s"
        );
        assert!(delays.iter().all(|&delay| delay == 3 || delay == 4));
        assert_eq!(repeat, Repeat::Infinite);
    }

    #[test]
    fn fast_animations_leave_pictures_out_and_keep_the_speed() {
        let kept = schedule(240, 120.0).unwrap();
        assert!(kept.len() <= 100);
        assert_eq!(kept.iter().map(|frame| u32::from(frame.1)).sum::<u32>(), 200);
        assert_eq!(schedule(3, 50.0).unwrap(), [(0, 2), (1, 2), (2, 2)]);
        assert_eq!(schedule(1, 1e-9).unwrap(), [(0, u16::MAX)]);
    }

    #[test]
    fn what_cannot_be_written_is_refused() {
        let path = std::env::temp_dir().join("phyxel_animation_refused.gif");
        assert!(matches!(write_gif(&path, &[], 30.0), Err(AnimationError::Empty)));
        let mut pictures = moving_square(2);
        assert!(matches!(write_gif(&path, &pictures, 0.0), Err(AnimationError::BadRate(_))));
        assert!(matches!(write_gif(&path, &pictures, f64::NAN), Err(AnimationError::BadRate(_))));
        pictures[1] = Picture::filled(1, 1, Color::new(0, 0, 0));
        assert!(matches!(write_gif(&path, &pictures, 30.0), Err(AnimationError::SizesDiffer(1))));
        let wide = Picture::filled(70_000, 1, Color::new(0, 0, 0));
        assert!(matches!(write_gif(&path, &[wide], 30.0), Err(AnimationError::TooLarge(70_000, 1))));
    }
}
