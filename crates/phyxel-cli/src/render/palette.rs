//! Reduction of colours: the palette of an animation, and the dither pattern that mixes its colours.
//!
//! One palette serves all frames and the pattern is fixed to the pixels, so that parts that do not move do not flicker.

use rayon::prelude::*;

use super::picture::Picture;

/// Number of colours in a palette; one of GIF's 256 is kept for "as before".
pub(super) const N_COLORS: usize = 255;

/// Bits per channel of the histogram and of the table of nearest colours.
const BITS: usize = 6;
const N_CELLS: usize = 1 << (3 * BITS);
/// Rounds of k-means, each of which moves a colour to the mean of the pixels nearest to it.
const N_ROUNDS: usize = 4;
/// Number of colours that are tried to mix one pixel.
const N_MIX: usize = 8;
/// Share of the remaining error that a mix tries to cancel.
const MIX_STRENGTH: f32 = 0.9;

type Rgb = [f32; 3];

/// A used cell of colour space: mean colour and weight.
struct Cluster {
    color: Rgb,
    weight: f32,
}

/// A palette ordered from dark to light.
pub(super) struct Palette {
    colors: Vec<[u8; 3]>,
    /// Index of the nearest colour for each cell of colour space.
    nearest: Vec<u8>,
}

impl Palette {
    /// Creates a palette for all the pictures.
    pub(super) fn for_pictures(pictures: &[&Picture]) -> Self {
        let clusters = histogram(pictures);
        let mut centers = split(&clusters);
        for _ in 0..N_ROUNDS {
            centers = moved(&clusters, &centers);
        }
        let mut colors: Vec<[u8; 3]> = centers.iter().map(|c| c.map(|v| (v + 0.5) as u8)).collect();
        colors.sort_by_key(|color| (luminance(*color), *color));
        colors.dedup();
        let as_floats: Vec<Rgb> = colors.iter().map(|color| color.map(f32::from)).collect();
        let nearest =
            (0..N_CELLS).into_par_iter().map(|cell| closest(&as_floats, cell_color(cell)) as u8).collect();
        Self { colors, nearest }
    }

    /// Returns the bytes of the palette: red, green, blue.
    pub(super) fn bytes(&self) -> Vec<u8> {
        self.colors.iter().flatten().copied().collect()
    }

    /// Returns the picture as indices into the palette, mixed by an ordered pattern.
    ///
    /// Each pixel collects colours whose mean is the wanted one (each choice compensates the error of those before) and
    /// shows the one at its rank in a threshold matrix; after Knoll's and Yliluoma's ordered dithering.
    pub(super) fn indexed(&self, picture: &Picture) -> Vec<u8> {
        let pixels = picture.rgb.chunks_exact(3).enumerate();
        pixels
            .map(|(k, rgb)| {
                let wanted: Rgb = [f32::from(rgb[0]), f32::from(rgb[1]), f32::from(rgb[2])];
                let mut mix = self.mix(wanted);
                mix.sort_unstable();
                mix[threshold(k % picture.width, k / picture.width) * N_MIX / 64]
            })
            .collect()
    }

    fn mix(&self, wanted: Rgb) -> [u8; N_MIX] {
        let mut error = [0.0f32; 3];
        std::array::from_fn(|_| {
            let aim: Rgb = std::array::from_fn(|c| wanted[c] + MIX_STRENGTH * error[c]);
            let index = self.nearest[cell_of(aim.map(|v| v.clamp(0.0, 255.0) as u8))];
            let shown = self.colors[usize::from(index)];
            error = std::array::from_fn(|c| error[c] + wanted[c] - f32::from(shown[c]));
            index
        })
    }
}

fn cell_of(rgb: [u8; 3]) -> usize {
    rgb.iter().fold(0, |cell, &byte| cell << BITS | usize::from(byte) >> (8 - BITS))
}

fn cell_color(cell: usize) -> Rgb {
    let size = (1 << (8 - BITS)) as f32;
    std::array::from_fn(|c| ((cell >> ((2 - c) * BITS) & ((1 << BITS) - 1)) as f32 + 0.5) * size)
}

fn luminance(rgb: [u8; 3]) -> u32 {
    2126 * u32::from(rgb[0]) + 7152 * u32::from(rgb[1]) + 722 * u32::from(rgb[2])
}

fn distance(a: Rgb, b: Rgb) -> f32 {
    // The eye is most sensitive to green and least sensitive to blue.
    let (red, green, blue) = (a[0] - b[0], a[1] - b[1], a[2] - b[2]);
    2.0 * red * red + 4.0 * green * green + 1.5 * blue * blue
}

fn closest(colors: &[Rgb], wanted: Rgb) -> usize {
    let mut best = (f32::INFINITY, 0);
    for (k, &color) in colors.iter().enumerate() {
        let apart = distance(color, wanted);
        if apart < best.0 {
            best = (apart, k);
        }
    }
    best.1
}

/// Returns the rank of a pixel in the 8 × 8 ordered matrix, 0..64.
fn threshold(x: usize, y: usize) -> usize {
    let mixed = x ^ y;
    (0..3).fold(0, |rank, bit| rank << 2 | (mixed >> bit & 1) << 1 | y >> bit & 1)
}

fn histogram(pictures: &[&Picture]) -> Vec<Cluster> {
    let mut cells = vec![([0u64; 3], 0u64); N_CELLS];
    for rgb in pictures.iter().flat_map(|picture| picture.rgb.chunks_exact(3)) {
        let cell = &mut cells[cell_of([rgb[0], rgb[1], rgb[2]])];
        for (sum, &byte) in cell.0.iter_mut().zip(rgb) {
            *sum += u64::from(byte);
        }
        cell.1 += 1;
    }
    let used = cells.into_iter().filter(|cell| cell.1 > 0);
    // The square root prevents a large background from taking most of the palette.
    used.map(|(sum, count)| Cluster {
        color: sum.map(|s| (s as f64 / count as f64) as f32),
        weight: (count as f32).sqrt(),
    })
    .collect()
}

/// Cuts the used colours into groups, always cutting the group with the largest spread, and returns their means.
fn split(clusters: &[Cluster]) -> Vec<Rgb> {
    let mut groups = vec![Group::of(clusters, (0..clusters.len()).collect())];
    while groups.len() < N_COLORS {
        let widest = (0..groups.len()).max_by(|&a, &b| groups[a].spread.total_cmp(&groups[b].spread));
        let Some(widest) = widest.filter(|&k| groups[k].spread > 0.0) else { break };
        let group = groups.swap_remove(widest);
        let (axis, mean) = (group.axis, group.mean);
        let (low, high): (Vec<usize>, Vec<usize>) =
            group.members.into_iter().partition(|&k| clusters[k].color[axis] <= mean[axis]);
        if low.is_empty() || high.is_empty() {
            // Equal up to rounding: another cut would give no new colour.
            let members = if low.is_empty() { high } else { low };
            groups.push(Group { spread: 0.0, ..Group::of(clusters, members) });
            continue;
        }
        groups.push(Group::of(clusters, low));
        groups.push(Group::of(clusters, high));
    }
    groups.into_iter().map(|group| group.mean).collect()
}

struct Group {
    members: Vec<usize>,
    mean: Rgb,
    /// Channel with the largest spread, and that spread: weighted sum of squares.
    axis: usize,
    spread: f32,
}

impl Group {
    fn of(clusters: &[Cluster], members: Vec<usize>) -> Self {
        let mean = weighted_mean(members.iter().map(|&k| &clusters[k])).unwrap_or_default();
        let mut spread = [0.0f32; 3];
        for cluster in members.iter().map(|&k| &clusters[k]) {
            for c in 0..3 {
                spread[c] += cluster.weight * (cluster.color[c] - mean[c]).powi(2);
            }
        }
        let axis = (0..3).max_by(|&a, &b| spread[a].total_cmp(&spread[b])).unwrap_or(0);
        Self { members, mean, axis, spread: spread[axis] }
    }
}

fn weighted_mean<'a>(clusters: impl Iterator<Item = &'a Cluster>) -> Option<Rgb> {
    let mut sum = [0.0f64; 3];
    let mut total = 0.0f64;
    for cluster in clusters {
        for c in 0..3 {
            sum[c] += f64::from(cluster.weight) * f64::from(cluster.color[c]);
        }
        total += f64::from(cluster.weight);
    }
    (total > 0.0).then(|| sum.map(|s| (s / total) as f32))
}

/// Performs one round of k-means.
fn moved(clusters: &[Cluster], centers: &[Rgb]) -> Vec<Rgb> {
    let chosen: Vec<usize> = clusters.par_iter().map(|cluster| closest(centers, cluster.color)).collect();
    let mut members: Vec<Vec<&Cluster>> = centers.iter().map(|_| Vec::new()).collect();
    for (cluster, center) in clusters.iter().zip(chosen) {
        members[center].push(cluster);
    }
    let mean = |(k, center): (usize, &Rgb)| weighted_mean(members[k].iter().copied()).unwrap_or(*center);
    centers.iter().enumerate().map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::super::color::Color;
    use super::*;

    #[test]
    fn few_colors_are_kept_exactly() {
        let mut picture = Picture::filled(8, 8, Color::new(200, 30, 40));
        picture.blend_rectangle([0, 0], [4, 8], Color::new(10, 220, 130), 1.0);
        let palette = Palette::for_pictures(&[&picture]);
        assert_eq!(palette.colors.len(), 2);
        let shown: Vec<u8> =
            palette.indexed(&picture).iter().flat_map(|&k| palette.colors[usize::from(k)]).collect();
        assert_eq!(shown, picture.rgb);
    }

    #[test]
    fn a_gradient_keeps_its_local_mean() {
        let mut picture = Picture::filled(256, 64, Color::new(0, 0, 0));
        for y in 0..64 {
            for x in 0..256 {
                let color = Color::new(x as u8, (x / 2 + y) as u8, (255 - x) as u8 / 2 + y as u8);
                picture.blend(x, y, color, 1.0);
            }
        }
        let palette = Palette::for_pictures(&[&picture]);
        assert!(palette.colors.len() > 200 && palette.colors.len() <= N_COLORS);
        let indices = palette.indexed(&picture);
        for block_y in (0..64).step_by(8) {
            for block_x in (0..256).step_by(8) {
                let mut error = [0i32; 3];
                for (y, x) in (block_y..block_y + 8).flat_map(|y| (block_x..block_x + 8).map(move |x| (y, x)))
                {
                    let shown = palette.colors[usize::from(indices[y * 256 + x])];
                    let wanted = picture.pixel(x, y).rgb;
                    for c in 0..3 {
                        error[c] += i32::from(shown[c]) - i32::from(wanted[c]);
                    }
                }
                let worst = error.iter().map(|e| e.abs()).max().unwrap() as f32 / 64.0;
                assert!(worst < 3.0, "mean of block {block_x} {block_y} is off by {worst}");
            }
        }
    }

    #[test]
    fn the_threshold_matrix_has_every_rank_once() {
        let mut ranks: Vec<usize> = (0..64).map(|k| threshold(k % 8, k / 8)).collect();
        ranks.sort_unstable();
        assert_eq!(ranks, (0..64).collect::<Vec<_>>());
    }
}
