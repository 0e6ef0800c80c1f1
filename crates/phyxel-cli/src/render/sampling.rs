//! Directions of the rays of a pixel: fixed patterns, so that a picture has the same bytes on every machine.
//!
//! Light and sky are sampled in an interleaved way: pixels in a block of 4×4 use different members of one well-spread
//! sequence, and the filter that follows averages exactly one block.

use std::f32::consts::TAU;

use phyxel::math::glam::{Vec2, Vec3, vec2, vec3};

/// Period of the pattern in both directions (pixels).
pub(super) const PERIOD: usize = 4;

/// Order of the pixels in a block; successive ones are far apart.
const RANKS: [usize; PERIOD * PERIOD] = [0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5];

/// Returns a point in the unit square for sample `sub` of `n_sub` in a pixel; `stream` distinguishes the uses.
fn interleaved(x: usize, y: usize, sub: usize, n_sub: usize, stream: f32) -> Vec2 {
    let rank = RANKS[(y % PERIOD) * PERIOD + x % PERIOD];
    let index = (rank * n_sub + sub) as f32;
    // Steps of the plastic number: the most even additive sequence in the plane.
    let place = vec2(0.754_877_7, 0.569_840_3) * index + vec2(0.5 + 0.371 * stream, 0.5 + 0.713 * stream);
    place.fract()
}

/// Returns the positions of the n × n samples inside a pixel; all differ in row and in column.
pub(super) fn pixel_offsets(n_per_axis: usize) -> Vec<Vec2> {
    let n = n_per_axis as f32;
    let mut offsets = Vec::with_capacity(n_per_axis * n_per_axis);
    for j in 0..n_per_axis {
        for i in 0..n_per_axis {
            let across = i as f32 + (j as f32 + 0.5) / n;
            let down = j as f32 + (n - 1.0 - i as f32 + 0.5) / n;
            offsets.push(vec2(across, down) / n);
        }
    }
    offsets
}

/// Returns two unit vectors that complete a unit vector to a right-handed frame.
fn tangents(normal: Vec3) -> [Vec3; 2] {
    normal.any_orthonormal_pair().into()
}

/// Directions of all pixels in a block, looked up by pixel and sample.
pub(super) struct Patterns {
    n_sub: usize,
    /// Directions to points of the key light.
    light: Vec<Vec3>,
    /// Directions around z, denser where the cosine is larger.
    around: Vec<Vec3>,
}

impl Patterns {
    /// Creates patterns for `n_sub` samples per pixel, and a disc of light of radius `spread` seen from one metre.
    pub(super) fn new(n_sub: usize, toward_light: Vec3, spread: f32) -> Self {
        let cells = (0..PERIOD * PERIOD * n_sub).map(|k| (k / n_sub % PERIOD, k / n_sub / PERIOD, k % n_sub));
        let place = |(x, y, sub), stream| interleaved(x, y, sub, n_sub, stream);
        let light =
            cells.clone().map(|cell| disc_direction(toward_light, spread, place(cell, 1.0))).collect();
        let around = cells.map(|cell| cosine_direction(place(cell, 2.0))).collect();
        Self { n_sub, light, around }
    }

    fn index(&self, x: usize, y: usize, sub: usize) -> usize {
        (y % PERIOD * PERIOD + x % PERIOD) * self.n_sub + sub
    }

    /// Returns a direction to the light.
    pub(super) fn to_light(&self, x: usize, y: usize, sub: usize) -> Vec3 {
        self.light[self.index(x, y, sub)]
    }

    /// Returns a direction to the sky over a surface.
    pub(super) fn to_sky(&self, x: usize, y: usize, sub: usize, normal: Vec3) -> Vec3 {
        let local = self.around[self.index(x, y, sub)];
        let [first, second] = tangents(normal);
        first * local.x + second * local.y + normal * local.z
    }
}

/// Returns a direction around z, denser where the cosine is larger.
fn cosine_direction(place: Vec2) -> Vec3 {
    let radius = place.x.sqrt();
    let (sin, cos) = (TAU * place.y).sin_cos();
    vec3(radius * cos, radius * sin, (1.0 - place.x).max(0.0).sqrt())
}

/// Returns a direction to a point of a disc of light; `spread` is its radius seen from one metre away.
fn disc_direction(toward: Vec3, spread: f32, place: Vec2) -> Vec3 {
    let [first, second] = tangents(toward);
    let radius = spread * place.x.sqrt();
    let (sin, cos) = (TAU * place.y).sin_cos();
    let direction: Vec3 = toward + first * (radius * cos) + second * (radius * sin);
    direction.normalize_or(vec3(0.0, 1.0, 0.0))
}

/// Returns a pseudorandom number in 0..1.
#[cfg(test)]
pub(super) fn hashed_unit(index: u32) -> f32 {
    let mut bits = index.wrapping_mul(0x9e37_79b9) ^ 0x85eb_ca6b;
    bits = (bits ^ (bits >> 16)).wrapping_mul(0x21f0_aaad);
    bits = (bits ^ (bits >> 15)).wrapping_mul(0x735a_2d97);
    ((bits ^ (bits >> 15)) >> 8) as f32 / 16_777_216.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixel_samples_share_no_row_or_column() {
        for n in 1..=4 {
            let offsets = pixel_offsets(n);
            let cell = |value: f32| (value * (n * n) as f32) as usize;
            for axis in 0..2 {
                let mut cells: Vec<usize> = offsets.iter().map(|offset| cell(offset[axis])).collect();
                cells.sort_unstable();
                assert_eq!(cells, (0..n * n).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn a_block_covers_the_square_evenly() {
        let mut quadrants = [0; 4];
        for k in 0..64 {
            let place = interleaved(k % 4, k / 4 % 4, k / 16, 4, 1.0);
            assert!(place.cmpge(Vec2::ZERO).all() && place.cmplt(Vec2::ONE).all());
            quadrants[usize::from(place.x > 0.5) + 2 * usize::from(place.y > 0.5)] += 1;
        }
        assert!(quadrants.iter().all(|&n| (14..=18).contains(&n)), "{quadrants:?}");
    }

    #[test]
    fn directions_are_unit_and_on_the_right_side() {
        for normal in [Vec3::Y, Vec3::NEG_Z, vec3(0.6, -0.8, 0.0)] {
            let patterns = Patterns::new(4, normal, 0.1);
            let mut mean = Vec3::ZERO;
            for k in 0..64 {
                let (x, y, sub) = (k % 4, k / 4 % 4, k / 16);
                let direction = patterns.to_sky(x, y, sub, normal);
                assert!((direction.length() - 1.0).abs() < 1e-5 && direction.dot(normal) >= -1e-6);
                assert!(patterns.to_light(x, y, sub).dot(normal) > 0.99);
                mean += direction / 64.0;
            }
            // The mean of a cosine-weighted hemisphere is 2/3 of its axis.
            assert!(mean.distance(normal * (2.0 / 3.0)) < 0.03, "{mean}");
        }
    }
}
