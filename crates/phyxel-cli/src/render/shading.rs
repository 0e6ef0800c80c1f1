//! Studio lighting: a warm key light behind the camera, a cool sky, a bright floor with a metric grid.

use phyxel::math::glam::{Vec3, vec3};

use super::camera::Camera;
use super::scene::{Kind, Surface};
use super::shapes::Patch;

/// Radius of the key light seen from one metre away: soft shadows that still show where an object touches the floor.
pub(super) const KEY_SPREAD: f32 = 0.11;
/// Strength and colour of the lights: the light that a white surface facing them reflects.
const KEY: Vec3 = vec3(0.86, 0.79, 0.70);
const FILL: Vec3 = vec3(0.10, 0.12, 0.15);
const SKY: Vec3 = vec3(0.36, 0.40, 0.47);
const BOUNCE: Vec3 = vec3(0.20, 0.185, 0.17);
/// Strength of the key light's highlight, and of the light rim against the background.
const GLOSS: f32 = 0.10;
const GLOSS_EXPONENT: i32 = 40;
const RIM: f32 = 0.10;
/// Share of the light that is missing at points that see nothing of the sky.
const OCCLUSION: f32 = 0.9;

const GROUND_ALBEDO: Vec3 = vec3(0.76, 0.765, 0.775);
/// Background at the horizon, high above it and far below it.
const HORIZON: Vec3 = vec3(0.60, 0.64, 0.69);
const ZENITH: Vec3 = vec3(0.36, 0.42, 0.50);
const NADIR: Vec3 = vec3(0.74, 0.75, 0.77);
/// Distances from the target, in half heights of the view, where the floor starts and ends to fade into the background.
const GROUND_FADE: [f32; 2] = [2.0, 9.0];
const GRID_FADE: [f32; 2] = [1.2, 5.0];
/// Width of a grid line over the spacing, and its darkness relative to the floor.
const GRID_WIDTH: f32 = 0.010;
const GRID_DARKNESS: f32 = 0.20;
/// Approximate number of grid cells in the height of the view.
const GRID_CELLS: f32 = 8.0;
/// Width of the border of a plane's square over the spacing of the grid.
const BORDER: f32 = 0.035;

/// Share of the light that reaches a point: 0 none, 1 all.
#[derive(Clone, Copy)]
pub(super) struct Visibility {
    pub(super) key: f32,
    pub(super) sky: f32,
}

/// Lights and floor for one camera.
pub(super) struct Studio {
    /// Direction to the middle of the key light.
    pub(super) key_direction: Vec3,
    fill_direction: Vec3,
    /// Half the height of the view at the target (m).
    scale: f32,
    /// Camera's target in the world, from which the grid is counted (m).
    origin: Vec3,
    /// Distance between two lines of the grid (m).
    pub(super) grid_spacing: f32,
    /// Size of a pixel at a distance of one metre (m).
    pixel_slope: f32,
}

impl Studio {
    pub(super) fn new(camera: &Camera, height: usize) -> Self {
        let [right, _, forward] = camera.axes();
        let back = vec3(-right.z, 0.0, right.x);
        let back = if back.dot(forward) > 0.0 { -back } else { back };
        let scale = camera.half_height();
        Self {
            key_direction: (right * -0.62 + back * 0.42 + Vec3::Y * 0.92).normalize_or(Vec3::Y),
            fill_direction: (right * 0.85 + back * 0.5 + Vec3::Y * 0.2).normalize_or(Vec3::Y),
            scale,
            origin: camera.target,
            grid_spacing: nice_below(2.0 * scale / GRID_CELLS * 1.6),
            pixel_slope: 2.0 * (0.5 * camera.field_of_view).tan() / height as f32,
        }
    }

    /// Returns the size of a pixel on a surface that faces the eye at this distance (m).
    pub(super) fn footprint(&self, distance: f32) -> f32 {
        distance * self.pixel_slope
    }

    /// Returns the linear colour of the background.
    pub(super) fn background(&self, direction: Vec3) -> Vec3 {
        if direction.y >= 0.0 {
            HORIZON.lerp(ZENITH, smooth_step(0.0, 0.7, direction.y))
        } else {
            HORIZON.lerp(NADIR, smooth_step(0.0, 0.6, -direction.y))
        }
    }

    /// Returns the linear colour that a surface sends to the eye.
    pub(super) fn shade(&self, surface: &Surface, direction: Vec3, visibility: Visibility) -> Vec3 {
        match surface.kind {
            Kind::Sky => self.background(direction),
            Kind::Ground => {
                let radius = vec3(surface.position.x, 0.0, surface.position.z).length() / self.scale;
                let lines = self.ground_grid(surface, direction) * GRID_DARKNESS;
                let fade = smooth_step(GRID_FADE[0], GRID_FADE[1], radius);
                let lit = self.diffuse(surface, GROUND_ALBEDO * (1.0 - lines * (1.0 - fade)), visibility);
                lit.lerp(HORIZON, smooth_step(GROUND_FADE[0], GROUND_FADE[1], radius))
            }
            Kind::Solid => {
                self.diffuse(surface, surface.albedo, visibility)
                    + self.gloss(surface.normal, direction, visibility)
            }
        }
    }

    /// Returns the colour of a plane's square: its own with grid lines and a border. `direction` is that of the view.
    pub(super) fn patch_color(&self, patch: &Patch, distance: f32, position: Vec3, direction: Vec3) -> Vec3 {
        let blur = self.footprint(distance) / direction.dot(patch.normal).abs().max(0.05);
        let place = patch.coordinates(position);
        let [u, v] = place.map(|along| self.line(along, blur));
        let edge = patch.half_size - place[0].abs().max(place[1].abs());
        let border = 1.0 - smooth_step(BORDER, BORDER + 0.02, edge / self.grid_spacing);
        patch.albedo * (1.0 - (u.max(v) * GRID_DARKNESS).max(border * 0.35))
    }

    fn diffuse(&self, surface: &Surface, albedo: Vec3, visibility: Visibility) -> Vec3 {
        let normal = surface.normal;
        let open = 1.0 - OCCLUSION * (1.0 - visibility.sky);
        let sky = BOUNCE.lerp(SKY, 0.5 + 0.5 * normal.y) * with_interreflection(open, albedo);
        let key = KEY * (normal.dot(self.key_direction).max(0.0) * visibility.key);
        let fill = FILL * (normal.dot(self.fill_direction).max(0.0) * open);
        albedo * (key + fill + sky)
    }

    fn gloss(&self, normal: Vec3, direction: Vec3, visibility: Visibility) -> Vec3 {
        let halfway = (self.key_direction - direction).normalize_or_zero();
        let lobe = normal.dot(halfway).max(0.0).powi(GLOSS_EXPONENT);
        let grazing = (1.0 + normal.dot(direction)).clamp(0.0, 1.0).powi(4);
        KEY * (GLOSS * lobe * visibility.key) + SKY * (RIM * 2.0 * grazing * visibility.sky)
    }

    /// Returns the share of a pixel on the ground that grid lines cover.
    fn ground_grid(&self, surface: &Surface, direction: Vec3) -> f32 {
        let blur = self.footprint(surface.distance) * (0.5 + 0.5 / direction.y.abs().max(0.03));
        let place = surface.position + self.origin;
        self.line(place.x, blur).max(self.line(place.z, blur))
    }

    /// Returns the coverage by the lines at the multiples of the spacing, smoothed over `blur` (m).
    fn line(&self, along: f32, blur: f32) -> f32 {
        let cell = (along / self.grid_spacing).abs();
        // A cast is many times faster than `round` if the target processor has no known instruction for it.
        let beyond = cell - (cell as u32) as f32;
        let distance = beyond.min(1.0 - beyond).abs() * self.grid_spacing;
        let half_width = 0.5 * GRID_WIDTH * self.grid_spacing;
        let drawn = half_width.max(0.5 * blur);
        ((drawn + 0.5 * blur - distance) / blur).clamp(0.0, 1.0) * (half_width / drawn)
    }
}

/// Returns coloured occlusion: light that is caught in a fold is reflected there, more so on bright surfaces.
/// This is a fit of Jimenez et al. 2016, "Practical realtime strategies for accurate indirect occlusion".
fn with_interreflection(open: f32, albedo: Vec3) -> Vec3 {
    let a = albedo * 2.0404 - 0.3324;
    let b = albedo * -4.7951 + 0.6417;
    let c = albedo * 2.7552 + 0.6903;
    (((a * open + b) * open + c) * open).max(Vec3::splat(open))
}

/// Returns 0 below `low`, 1 above `high`, and a smooth transition between.
pub(super) fn smooth_step(low: f32, high: f32, value: f32) -> f32 {
    let share = ((value - low) / (high - low)).clamp(0.0, 1.0);
    share * share * (3.0 - 2.0 * share)
}

/// Returns the largest of 1, 2, 5 times a power of ten that is not above `value`; 1 if there is none.
pub(super) fn nice_below(value: f32) -> f32 {
    if !(value.is_finite() && value > 0.0) {
        return 1.0;
    }
    let power = 10f32.powf(value.log10().floor());
    [5.0, 2.0].into_iter().map(|step| step * power).find(|&nice| nice <= value * 1.0001).unwrap_or(power)
}

/// Keeps dark and medium colours as they are and compresses the bright ones to at most 1.
pub(super) fn tone(linear: Vec3) -> Vec3 {
    const KNEE: f32 = 0.75;
    let roll = |value: f32| {
        let over = (value - KNEE) / (1.0 - KNEE);
        if over <= 0.0 { value } else { KNEE + (1.0 - KNEE) * over / (1.0 + over) }
    };
    Vec3::from_array(linear.to_array().map(roll))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nice_numbers() {
        for (value, nice) in [(0.7, 0.5), (1.0, 1.0), (1.99, 1.0), (2.0, 2.0), (49.0, 20.0), (0.003, 0.002)] {
            assert!((nice_below(value) - nice).abs() < 1e-5 * nice, "{value}: {}", nice_below(value));
        }
        assert_eq!(nice_below(f32::NAN), 1.0);
        assert_eq!(nice_below(0.0), 1.0);
    }

    #[test]
    fn tone_is_monotonic_and_stays_below_one() {
        let values: Vec<f32> = (0..200).map(|k| tone(Vec3::splat(k as f32 * 0.02)).x).collect();
        assert!(values.windows(2).all(|pair| pair[0] <= pair[1]) && values[199] <= 1.0);
        assert_eq!(tone(Vec3::splat(0.2)), Vec3::splat(0.2));
    }

    #[test]
    fn interreflection_only_brightens() {
        for k in 0..=10 {
            let open = k as f32 / 10.0;
            let bright = with_interreflection(open, Vec3::splat(0.9)).x;
            let dark = with_interreflection(open, Vec3::splat(0.1)).x;
            assert!(bright >= dark - 1e-6 && dark >= open && bright < 1.1, "{open}: {dark} {bright}");
        }
    }
}
