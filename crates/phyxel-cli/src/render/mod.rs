//! Pictures of results without a graphics card: ray tracing, soft studio light, legends, PNG and GIF files.
//!
//! The caller fills a [`Stage`] for each frame, renders it to a [`Picture`] and writes that, a [`contact_sheet`] of
//! several, or an animation. A picture has the same bytes for any number of threads.

mod animation;
mod board;
mod bounds;
mod bvh;
mod camera;
mod camera_options;
mod color;
mod font;
mod normals;
mod overlay;
mod palette;
mod picture;
mod sampling;
mod scene;
mod shading;
mod shapes;
mod sheet;
mod stage;
mod text;
mod tile;

#[cfg(test)]
mod tests;

use std::str::FromStr;

use rayon::prelude::*;

pub(crate) use self::animation::write_gif;
pub(crate) use self::board::{named_rows, side_by_side, write_note};
pub(crate) use self::bounds::Bounds;
pub(crate) use self::camera::Camera;
pub(crate) use self::camera_options::CameraOptions;
pub(crate) use self::color::{Color, ColorMap, body_color};
pub(crate) use self::picture::Picture;
pub(crate) use self::sheet::contact_sheet;
pub(crate) use self::stage::{ColorBar, Mesh, Plane, Sphere, Stage};

use self::sampling::{Patterns, pixel_offsets};
use self::scene::Scene;
use self::shading::{KEY_SPREAD, Studio};
use self::tile::{Tile, Tracer, View};

/// Side of a tile (pixels).
const TILE_SIZE: usize = 48;

/// Quality of a picture, which decides on the time it takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Quality {
    /// One sample per pixel: fast and slightly rough.
    Draft,
    /// 2 × 2 samples per pixel.
    #[default]
    Standard,
    /// 4 × 4 samples per pixel, for figures.
    Fine,
}

impl Quality {
    fn samples_per_axis(self) -> usize {
        match self {
            Self::Draft => 1,
            Self::Standard => 2,
            Self::Fine => 4,
        }
    }
}

impl FromStr for Quality {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "draft" => Ok(Self::Draft),
            "standard" => Ok(Self::Standard),
            "fine" => Ok(Self::Fine),
            other => Err(format!("quality must be draft, standard or fine, found \"{other}\"")),
        }
    }
}

/// Renders the stage to a picture of at least one pixel.
pub(crate) fn render(stage: &Stage, width: usize, height: usize, quality: Quality) -> Picture {
    let (width, height) = (width.max(1), height.max(1));
    let scene = Scene::new(stage);
    let studio = Studio::new(&stage.camera, height);
    let view = View::new(&stage.camera, width, height);
    let offsets = pixel_offsets(quality.samples_per_axis());
    let patterns = Patterns::new(offsets.len(), studio.key_direction, KEY_SPREAD);
    let tracer =
        Tracer { scene: &scene, studio: &studio, view: &view, patterns: &patterns, offsets: &offsets };
    let tiles = tiles(width, height);
    let rendered: Vec<Vec<u8>> = tiles.par_iter().map(|&tile| tracer.render(tile)).collect();
    let mut picture = Picture::filled(width, height, Color::new(0, 0, 0));
    for (tile, rgb) in tiles.iter().zip(rendered) {
        picture.paste(&Picture { width: tile.width, height: tile.height, rgb }, tile.left, tile.top);
    }
    overlay::draw(&mut picture, stage, stage.ground.map(|_| studio.grid_spacing));
    picture
}

fn tiles(width: usize, height: usize) -> Vec<Tile> {
    let mut tiles = Vec::new();
    for top in (0..height).step_by(TILE_SIZE) {
        for left in (0..width).step_by(TILE_SIZE) {
            let (tile_width, tile_height) = (TILE_SIZE.min(width - left), TILE_SIZE.min(height - top));
            tiles.push(Tile { left, top, width: tile_width, height: tile_height });
        }
    }
    tiles
}
