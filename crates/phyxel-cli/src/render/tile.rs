//! One tile of the picture: trace every sample, send a ray to the light and one to the sky from it, smooth the results
//! along surfaces, shade, average.
//!
//! A tile is traced with a border as wide as the filter, so that tiles do not depend on each other and fit together
//! without seams.

use phyxel::math::glam::{Vec2, Vec3};

use super::bvh::{Ray, Stack};
use super::camera::Camera;
use super::color::Color;
use super::sampling::{PERIOD, Patterns};
use super::scene::{Kind, Scene, Surface};
use super::shading::{Studio, Visibility, tone};
use super::shapes::Patch;

/// Width of the border of traced pixels around a tile: the filter's reach.
const HALO: usize = 2;
/// Weights at offsets −2..2: each phase of the sampling period of 4 has the same total, so that the filter removes the
/// pattern exactly within one surface.
const FILTER: [f32; 2 * HALO + 1] = [0.5, 1.0, 1.0, 1.0, 0.5];
/// Cosine below which two normals are treated as unrelated.
const NORMAL_CUTOFF: f32 = 0.75;
/// Distance in pixels below which two samples are on the same surface.
const PLANE_TOLERANCE: f32 = 2.0;
/// Reach of the sky's occlusion over half the height of the view.
const SKY_REACH: f32 = 0.45;

/// Rays of a camera, relative to its target.
pub(super) struct View {
    eye: Vec3,
    /// Direction to the top left corner, and steps of one pixel.
    corner: Vec3,
    right_step: Vec3,
    down_step: Vec3,
    sky_reach: f32,
}

impl View {
    pub(super) fn new(camera: &Camera, width: usize, height: usize) -> Self {
        let [right, up, forward] = camera.axes();
        let step = 2.0 * (0.5 * camera.field_of_view).tan() / height as f32;
        let corner = forward - right * (0.5 * step * width as f32) + up * (0.5 * step * height as f32);
        Self {
            eye: camera.eye - camera.target,
            corner,
            right_step: right * step,
            down_step: up * -step,
            sky_reach: SKY_REACH * camera.half_height(),
        }
    }

    fn direction(&self, place: Vec2) -> Vec3 {
        (self.corner + self.right_step * place.x + self.down_step * place.y).normalize_or(Vec3::NEG_Z)
    }
}

/// A rectangle of pixels.
#[derive(Clone, Copy)]
pub(super) struct Tile {
    pub(super) left: usize,
    pub(super) top: usize,
    pub(super) width: usize,
    pub(super) height: usize,
}

struct Sample {
    surface: Surface,
    direction: Vec3,
    visibility: Visibility,
}

/// Data that all tiles share.
pub(super) struct Tracer<'a> {
    pub(super) scene: &'a Scene,
    pub(super) studio: &'a Studio,
    pub(super) view: &'a View,
    pub(super) patterns: &'a Patterns,
    /// Positions of the samples inside a pixel.
    pub(super) offsets: &'a [Vec2],
}

impl Tracer<'_> {
    /// Returns the tile's pixels, three sRGB bytes each.
    pub(super) fn render(&self, tile: Tile) -> Vec<u8> {
        let mut samples = self.trace(tile);
        let row = (tile.width + 2 * HALO) * self.offsets.len();
        let has_shade = samples.iter().any(|s| s.visibility.key < 1.0 || s.visibility.sky < 1.0);
        if has_shade {
            self.smooth(&mut samples, self.offsets.len());
            self.smooth(&mut samples, row);
        }
        let mut rgb = Vec::with_capacity(3 * tile.width * tile.height);
        for y in HALO..HALO + tile.height {
            for x in HALO..HALO + tile.width {
                let first = y * row + x * self.offsets.len();
                let pixel = &samples[first..first + self.offsets.len()];
                let sum: Vec3 = pixel
                    .iter()
                    .map(|s| tone(self.studio.shade(&s.surface, s.direction, s.visibility)))
                    .sum();
                rgb.extend(Color::from_linear(sum / self.offsets.len() as f32).rgb);
            }
        }
        rgb
    }

    fn trace(&self, tile: Tile) -> Vec<Sample> {
        let (width, height) = (tile.width + 2 * HALO, tile.height + 2 * HALO);
        let mut stack = Stack::new();
        let mut samples = Vec::with_capacity(width * height * self.offsets.len());
        for y in 0..height {
            for x in 0..width {
                // Counted from one period to the left and above, so that the border's coordinates are not negative.
                let (across, down) = (tile.left + x + PERIOD - HALO, tile.top + y + PERIOD - HALO);
                for (sub, &offset) in self.offsets.iter().enumerate() {
                    let place = Vec2::new(across as f32, down as f32) - PERIOD as f32 + offset;
                    samples.push(self.sample(place, [across, down, sub], &mut stack));
                }
            }
        }
        samples
    }

    /// Traces a point of the picture; `cell` is the pixel and the sample's index in it.
    fn sample(&self, place: Vec2, cell: [usize; 3], stack: &mut Stack) -> Sample {
        let direction = self.view.direction(place);
        let patch_color = |patch: &Patch, distance: f32, position: Vec3| {
            self.studio.patch_color(patch, distance, position, direction)
        };
        let surface = self.scene.look(&Ray::new(self.view.eye, direction), stack, patch_color);
        let visibility = if surface.kind == Kind::Sky {
            Visibility { key: 1.0, sky: 1.0 }
        } else {
            self.visibility(&surface, cell, stack)
        };
        Sample { surface, direction, visibility }
    }

    /// Sends one ray to the light and one to the sky.
    fn visibility(&self, surface: &Surface, [x, y, sub]: [usize; 3], stack: &mut Stack) -> Visibility {
        // A surface that faces away from the light is dark anyway and needs no ray.
        let is_lit = surface.normal.dot(self.studio.key_direction) <= 0.0
            || !self
                .scene
                .is_in_shadow(&Ray::new(surface.departure, self.patterns.to_light(x, y, sub)), stack);
        let outward = self.patterns.to_sky(x, y, sub, surface.normal);
        let reach = self.view.sky_reach;
        let free = self.scene.free_distance(&Ray::new(surface.departure, outward), reach, stack);
        Visibility { key: f32::from(u8::from(is_lit)), sky: 1.0 - (1.0 - free / reach).powi(2) }
    }

    /// Averages the visibility of samples that are `stride` apart, over pieces of one surface.
    fn smooth(&self, samples: &mut [Sample], stride: usize) {
        let smoothed: Vec<Visibility> = (0..samples.len())
            .map(|k| {
                let here = &samples[k];
                if here.surface.kind == Kind::Sky {
                    return here.visibility;
                }
                let tolerance = PLANE_TOLERANCE * self.studio.footprint(here.surface.distance);
                let (mut key, mut sky, mut total) = (0.0, 0.0, 0.0);
                for (tap, tap_weight) in FILTER.iter().enumerate() {
                    // Only samples in the border can wrap to another row; their results are not used.
                    let Some(there) =
                        (k + tap * stride).checked_sub(HALO * stride).and_then(|i| samples.get(i))
                    else {
                        continue;
                    };
                    let weight = tap_weight * kinship(&here.surface, &there.surface, tolerance);
                    key += weight * there.visibility.key;
                    sky += weight * there.visibility.sky;
                    total += weight;
                }
                Visibility { key: key / total, sky: sky / total }
            })
            .collect();
        for (sample, visibility) in samples.iter_mut().zip(smoothed) {
            sample.visibility = visibility;
        }
    }
}

/// Returns the degree to which two samples belong to one surface; 1 for a sample and itself.
#[inline]
fn kinship(here: &Surface, there: &Surface, tolerance: f32) -> f32 {
    if here.kind != there.kind || (there.position - here.position).dot(here.normal).abs() > tolerance {
        return 0.0;
    }
    ((here.normal.dot(there.normal) - NORMAL_CUTOFF) / (1.0 - NORMAL_CUTOFF)).clamp(1e-6, 1.0)
}
