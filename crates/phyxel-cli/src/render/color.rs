//! Colours: sRGB bytes in files, linear light in calculations, the palette of bodies and the scalar colour maps.
//!
//! The maps are paths in OKLCh (lightness, chroma, hue), so that equal steps of a value look like equal colour steps.

use phyxel::math::glam::{Vec3, vec3};

/// A colour in sRGB, 8 bits a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Color {
    /// Red, green, blue.
    pub(crate) rgb: [u8; 3],
}

impl Color {
    /// Neutral grey of obstacles.
    pub(crate) const OBSTACLE: Self = Self::new(0xb4, 0xb5, 0xb8);
    /// Colour of values that are not numbers.
    pub(crate) const MISSING: Self = Self::new(0x8a, 0x8a, 0x8a);

    /// Creates a colour from its sRGB bytes.
    pub(crate) const fn new(red: u8, green: u8, blue: u8) -> Self {
        Self { rgb: [red, green, blue] }
    }

    /// Returns the linear light of the colour, each channel in 0..1.
    pub(crate) fn to_linear(self) -> Vec3 {
        Vec3::from_array(self.rgb.map(|byte| linear_from_srgb(f32::from(byte) / 255.0)))
    }

    /// Returns the nearest colour to linear light; channels outside of 0..1 are clipped.
    pub(crate) fn from_linear(linear: Vec3) -> Self {
        Self { rgb: linear.to_array().map(|c| (srgb_from_linear(c) * 255.0 + 0.5) as u8) }
    }
}

/// Applies the transfer curve of sRGB, towards linear light.
fn linear_from_srgb(encoded: f32) -> f32 {
    if encoded <= 0.04045 { encoded / 12.92 } else { ((encoded + 0.055) / 1.055).powf(2.4) }
}

/// Applies the transfer curve of sRGB, from linear light; clips to 0..1.
fn srgb_from_linear(linear: f32) -> f32 {
    let clipped = linear.clamp(0.0, 1.0);
    if clipped <= 0.003_130_8 { clipped * 12.92 } else { 1.055 * clipped.powf(1.0 / 2.4) - 0.055 }
}

/// Distinct colours of similar strength; the first ones differ most.
const BODY_COLORS: [Color; 10] = [
    Color::new(0xd9, 0x6c, 0x47), // terracotta
    Color::new(0x2f, 0x8f, 0xa8), // teal
    Color::new(0xe3, 0xb0, 0x4b), // mustard
    Color::new(0x6a, 0x5f, 0xb5), // violet
    Color::new(0x6f, 0xa8, 0x58), // leaf
    Color::new(0xc8, 0x55, 0x7c), // raspberry
    Color::new(0x4a, 0x78, 0xc4), // blue
    Color::new(0xa5, 0x7a, 0x56), // walnut
    Color::new(0x58, 0xb8, 0x9c), // mint
    Color::new(0x9a, 0xa1, 0xad), // slate
];

/// Returns the colour of the body with this index. After the tenth the colours repeat, alternately darker and lighter.
pub(crate) fn body_color(index: usize) -> Color {
    let base = BODY_COLORS[index % BODY_COLORS.len()];
    let round = index / BODY_COLORS.len();
    match round {
        0 => base,
        _ if round % 2 == 1 => Color::from_linear(base.to_linear() * 0.55),
        _ => Color::from_linear(base.to_linear() * 0.6 + Vec3::splat(0.35)),
    }
}

/// Map from a scalar to a colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ColorMap {
    /// Colours from dark violet over teal to yellow, for quantities that grow from a lowest value.
    #[default]
    Sequential,
    /// Colours from blue over near-white to red, for quantities with a middle (signed ones).
    Diverging,
}

/// Lightness, chroma and hue (degrees) at one of several equally spaced values.
type Stop = [f32; 3];

const SEQUENTIAL: [Stop; 7] = [
    [0.270, 0.125, 318.0],
    [0.377, 0.125, 287.0],
    [0.484, 0.105, 250.0],
    [0.591, 0.100, 205.0],
    [0.698, 0.130, 163.0],
    [0.805, 0.170, 132.0],
    [0.912, 0.175, 103.0],
];

const DIVERGING: [Stop; 7] = [
    [0.400, 0.150, 262.0],
    [0.590, 0.130, 255.0],
    [0.770, 0.075, 245.0],
    [0.930, 0.006, 100.0],
    [0.770, 0.085, 40.0],
    [0.590, 0.150, 32.0],
    [0.400, 0.150, 24.0],
];

impl ColorMap {
    /// Returns the colour at a share of the range; clipped to 0..1, NaN is [`Color::MISSING`].
    pub(crate) fn at(self, share: f32) -> Color {
        if share.is_nan() {
            return Color::MISSING;
        }
        let stops = match self {
            Self::Sequential => &SEQUENTIAL,
            Self::Diverging => &DIVERGING,
        };
        let place = share.clamp(0.0, 1.0) * (stops.len() - 1) as f32;
        let below = (place as usize).min(stops.len() - 2);
        // Between stops the path is straight in OKLab: the neutral middle has no hue to interpolate.
        let lab = lab_from_lch(stops[below]).lerp(lab_from_lch(stops[below + 1]), place - below as f32);
        Color::from_linear(linear_from_oklab(lab))
    }

    /// Returns the colour of `value` in the range from `min` to `max`. A range without extent gives the middle.
    pub(crate) fn color_by(self, value: f32, min: f32, max: f32) -> Color {
        let extent = max - min;
        let share = if extent.abs() > f32::MIN_POSITIVE { (value - min) / extent } else { 0.5 };
        self.at(if value.is_nan() { f32::NAN } else { share })
    }
}

fn lab_from_lch([lightness, chroma, hue]: Stop) -> Vec3 {
    let (sin, cos) = hue.to_radians().sin_cos();
    vec3(lightness, chroma * cos, chroma * sin)
}

/// Converts an OKLab colour to linear sRGB (Ottosson 2020).
fn linear_from_oklab(lab: Vec3) -> Vec3 {
    let long = lab.x + 0.396_337_78 * lab.y + 0.215_803_76 * lab.z;
    let medium = lab.x - 0.105_561_346 * lab.y - 0.063_854_17 * lab.z;
    let short = lab.x - 0.089_484_18 * lab.y - 1.291_485_5 * lab.z;
    let (l, m, s) = (long.powi(3), medium.powi(3), short.powi(3));
    vec3(
        4.076_741_7 * l - 3.307_711_6 * m + 0.230_969_94 * s,
        -1.268_438 * l + 2.609_757_4 * m - 0.341_319_4 * s,
        -0.004_196_086_3 * l - 0.703_418_6 * m + 1.707_614_7 * s,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Converts linear sRGB to OKLab, the inverse of the conversion that the maps use.
    fn oklab(linear: Vec3) -> Vec3 {
        let l = (0.412_221_47 * linear.x + 0.536_332_55 * linear.y + 0.051_445_995 * linear.z).cbrt();
        let m = (0.211_903_5 * linear.x + 0.680_699_5 * linear.y + 0.107_396_96 * linear.z).cbrt();
        let s = (0.088_302_46 * linear.x + 0.281_718_85 * linear.y + 0.629_978_7 * linear.z).cbrt();
        vec3(
            0.210_454_26 * l + 0.793_617_8 * m - 0.004_072_047 * s,
            1.977_998_5 * l - 2.428_592_2 * m + 0.450_593_7 * s,
            0.025_904_037 * l + 0.782_771_77 * m - 0.808_675_77 * s,
        )
    }

    #[test]
    fn bytes_survive_the_way_through_linear_light() {
        for byte in 0..=255u8 {
            let color = Color::new(byte, 255 - byte, byte / 2);
            assert_eq!(Color::from_linear(color.to_linear()), color);
        }
    }

    #[test]
    fn sequential_map_brightens_evenly() {
        let path: Vec<Vec3> =
            (0..=24).map(|i| oklab(ColorMap::Sequential.at(i as f32 / 24.0).to_linear())).collect();
        let steps: Vec<f32> = path.windows(2).map(|pair| pair[0].distance(pair[1])).collect();
        assert!(path.windows(2).all(|pair| pair[1].x > pair[0].x), "lightness must rise");
        let (least, most) = steps.iter().fold((f32::MAX, 0.0f32), |(a, b), &s| (a.min(s), b.max(s)));
        assert!(most < 2.0 * least, "steps of colour from {least} to {most}");
    }

    #[test]
    fn diverging_map_is_symmetric_in_lightness() {
        for i in 0..12 {
            let share = i as f32 / 24.0;
            let low = oklab(ColorMap::Diverging.at(share).to_linear());
            let high = oklab(ColorMap::Diverging.at(1.0 - share).to_linear());
            assert!((low.x - high.x).abs() < 0.03, "{share}: {} and {}", low.x, high.x);
            assert!(low.z < high.z, "blue below, red above");
        }
    }

    #[test]
    fn values_are_clipped_and_missing_ones_are_grey() {
        let map = ColorMap::Sequential;
        assert_eq!(map.color_by(-5.0, 0.0, 1.0), map.at(0.0));
        assert_eq!(map.color_by(f32::INFINITY, 0.0, 1.0), map.at(1.0));
        assert_eq!(map.color_by(3.0, 3.0, 3.0), map.at(0.5));
        assert_eq!(map.color_by(f32::NAN, 0.0, 1.0), Color::MISSING);
    }

    #[test]
    fn bodies_have_distinct_colors() {
        let colors: Vec<Color> = (0..20).map(body_color).collect();
        for (i, a) in colors.iter().enumerate() {
            for b in &colors[..i] {
                assert!(oklab(a.to_linear()).distance(oklab(b.to_linear())) > 0.03, "{a:?} {b:?}");
            }
        }
    }
}
