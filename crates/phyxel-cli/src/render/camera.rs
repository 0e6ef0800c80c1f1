//! Camera of the picture: its position and the framing of a box.

use phyxel::math::glam::{Vec2, Vec3, vec2, vec3};

use super::bounds::Bounds;
use super::camera_options::CameraOptions;

/// Share of the picture's half width and half height that a framed box may fill.
const FILL: Vec2 = vec2(0.88, 0.80);
/// Size given to a box without extent (m).
const DEGENERATE_SIZE: f32 = 1.0;

/// A perspective view; y is up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Camera {
    /// Position of the eye (m).
    pub(crate) eye: Vec3,
    /// Point in the middle of the picture (m).
    pub(crate) target: Vec3,
    /// Vertical angle of view (rad).
    pub(crate) field_of_view: f32,
    right: Vec3,
    up: Vec3,
}

impl Camera {
    /// Returns a view from `eye` to `target` with a vertical angle of view (rad).
    #[cfg(test)]
    pub(crate) fn look_at(eye: Vec3, target: Vec3, field_of_view: f32) -> Self {
        let forward = (target - eye).try_normalize().unwrap_or(Vec3::NEG_Z);
        // Looking straight up or down has no horizontal direction: the picture's right is x in this case.
        let right = forward.cross(Vec3::Y).try_normalize().filter(|_| forward.y.abs() < 0.999_999);
        let right = right.unwrap_or(Vec3::X);
        let target = if target == eye { eye + forward } else { target };
        Self { eye, target, field_of_view, right, up: right.cross(forward) }
    }

    /// Returns the view of the options (by default a three-quarter view) that shows the whole box in a picture of the
    /// given aspect (width over height).
    pub(crate) fn framing(bounds: &Bounds, options: &CameraOptions, aspect: f32) -> Self {
        let bounds = with_extent(bounds);
        let (sin_azimuth, cos_azimuth) = options.azimuth.to_radians().sin_cos();
        let (sin_elevation, cos_elevation) = options.elevation.to_radians().sin_cos();
        let backward = vec3(sin_azimuth * cos_elevation, sin_elevation, cos_azimuth * cos_elevation);
        let right = vec3(cos_azimuth, 0.0, -sin_azimuth);
        let up = backward.cross(right);
        let field_of_view = options.field_of_view.to_radians();
        let (fit_center, fit_distance) =
            fit(&bounds, [right, up, backward], field_of_view, aspect, options.target);
        let target = options.target.unwrap_or(fit_center);
        let distance = options.distance.unwrap_or(fit_distance / options.zoom);
        Self { eye: target + backward * distance, target, field_of_view, right, up }
    }

    /// Returns the unit vectors of the picture: right, up, and the direction of view.
    pub(super) fn axes(&self) -> [Vec3; 3] {
        [self.right, self.up, self.right.cross(self.up) * -1.0]
    }

    /// Returns half the height of the view at the distance of the target (m): the scale of the picture.
    pub(super) fn half_height(&self) -> f32 {
        self.eye.distance(self.target) * (0.5 * self.field_of_view).tan()
    }

    /// Projects a point: x from −1 (left) to 1 (right), y from −1 (bottom) to 1 (top); `None` behind the eye.
    #[cfg(test)]
    pub(crate) fn project(&self, point: Vec3, aspect: f32) -> Option<Vec2> {
        let [right, up, forward] = self.axes();
        let offset = point - self.eye;
        let depth = offset.dot(forward);
        let slope = (0.5 * self.field_of_view).tan();
        (depth > 0.0).then(|| vec2(offset.dot(right) / aspect, offset.dot(up)) / (depth * slope))
    }
}

fn with_extent(bounds: &Bounds) -> Bounds {
    let usable = !bounds.is_empty() && bounds.min.is_finite() && bounds.max.is_finite();
    let mut shown = if usable { *bounds } else { Bounds { min: Vec3::ZERO, max: Vec3::ZERO } };
    if shown.size().max_element() <= 1e-6 * shown.center().abs().max_element().max(1e-6) {
        shown.include(shown.center(), 0.5 * DEGENERATE_SIZE);
    }
    shown
}

/// Returns the point to look at and the distance from which the box just fits. A given target is kept.
///
/// In camera axes (x right, y up, z towards the eye) a corner is inside if |x − s| ≤ (d − z) k, with k the slope of the
/// picture's edge; the two corners that bind left and right give the distance d and the shift s at once.
fn fit(
    bounds: &Bounds,
    axes: [Vec3; 3],
    field_of_view: f32,
    aspect: f32,
    target: Option<Vec3>,
) -> (Vec3, f32) {
    let [right, up, backward] = axes;
    let center = target.unwrap_or(bounds.center());
    let slope = (0.5 * field_of_view).tan() * vec2(aspect, 1.0) * FILL;
    let mut high = Vec2::NEG_INFINITY;
    let mut low = Vec2::NEG_INFINITY;
    let mut nearest = f32::NEG_INFINITY;
    for corner in bounds.corners() {
        let offset = corner - center;
        let side = vec2(offset.dot(right), offset.dot(up));
        let depth = offset.dot(backward);
        high = high.max(side + depth * slope);
        low = low.max(depth * slope - side);
        nearest = nearest.max(depth);
    }
    let (distance, shift) = match target {
        None => ((high + low) / (2.0 * slope), (high - low) * 0.5),
        Some(_) => (high.max(low) / slope, Vec2::ZERO),
    };
    // The eye stays outside of the box even if the box is thin.
    let distance = distance.max_element().max(nearest * 1.05);
    (center + shift.x * right + shift.y * up, distance)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_inside(camera: &Camera, bounds: &Bounds, aspect: f32) {
        let mut widest = 0.0f32;
        for corner in bounds.corners() {
            let place = camera.project(corner, aspect).expect("in front of the eye");
            assert!(place.abs().max_element() <= 1.0, "{corner} at {place}");
            widest = widest.max((place.abs() / FILL).max_element());
        }
        assert!(widest > 0.99, "the box fills only {widest} of its share");
    }

    #[test]
    fn framing_shows_all_corners_and_fills_the_picture() {
        let boxes = [
            Bounds { min: vec3(-1.0, 0.0, -0.5), max: vec3(3.0, 0.3, 2.0) },
            Bounds { min: vec3(100.0, 50.0, 20.0), max: vec3(100.1, 53.0, 20.1) },
            Bounds { min: vec3(-0.5, 0.0, 0.0), max: vec3(0.5, 0.0, 0.0) },
        ];
        for bounds in boxes {
            for aspect in [0.5, 1.0, 16.0 / 9.0, 3.0] {
                for (azimuth, elevation) in [(30.0, 18.0), (-140.0, 60.0), (0.0, 90.0), (200.0, -30.0)] {
                    let options = CameraOptions { azimuth, elevation, ..Default::default() };
                    assert_inside(&Camera::framing(&bounds, &options, aspect), &bounds, aspect);
                }
            }
        }
    }

    #[test]
    fn framing_with_a_target_keeps_it_in_the_middle() {
        let bounds = Bounds { min: Vec3::ZERO, max: vec3(2.0, 1.0, 1.0) };
        let options = CameraOptions { target: Some(vec3(0.0, 0.5, 0.0)), ..Default::default() };
        let camera = Camera::framing(&bounds, &options, 1.5);
        assert_inside(&camera, &bounds, 1.5);
        assert!(camera.project(vec3(0.0, 0.5, 0.0), 1.5).unwrap().length() < 1e-5);
    }

    #[test]
    fn framing_copes_with_nothing_and_with_a_point() {
        let point = Bounds { min: vec3(5.0, 5.0, 5.0), max: vec3(5.0, 5.0, 5.0) };
        let broken = Bounds { min: Vec3::NAN, max: Vec3::INFINITY };
        for bounds in [Bounds::EMPTY, point, broken] {
            let camera = Camera::framing(&bounds, &CameraOptions::default(), 1.5);
            assert!(camera.eye.is_finite() && camera.half_height() > 0.1, "{camera:?}");
        }
    }

    #[test]
    fn axes_are_right_handed_and_azimuth_turns_towards_x() {
        let bounds = Bounds { min: Vec3::splat(-1.0), max: Vec3::splat(1.0) };
        let options = CameraOptions { azimuth: 90.0, elevation: 0.0, ..Default::default() };
        let camera = Camera::framing(&bounds, &options, 1.0);
        let [right, up, forward] = camera.axes();
        assert!(forward.distance(Vec3::NEG_X) < 1e-6 && up.distance(Vec3::Y) < 1e-6, "{forward} {up}");
        assert!(right.distance(Vec3::NEG_Z) < 1e-6, "{right}");
        let same = Camera::look_at(camera.eye, camera.target, camera.field_of_view);
        assert!(same.axes()[0].distance(right) < 1e-6 && same.axes()[2].distance(forward) < 1e-6);
    }

    #[test]
    fn look_at_straight_down_and_from_the_target_itself_is_finite() {
        for eye in [vec3(0.0, 5.0, 0.0), Vec3::ZERO] {
            let camera = Camera::look_at(eye, Vec3::ZERO, 0.6);
            assert!(camera.axes().iter().all(|axis| axis.is_normalized()), "{camera:?}");
            assert!(camera.half_height() > 0.0);
        }
    }
}
