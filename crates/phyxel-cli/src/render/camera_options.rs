//! Options of the camera and their parser.

use std::str::FromStr;

use phyxel::math::glam::{Vec3, vec3};
use thiserror::Error;

/// Options for the view; values that are not given are chosen to show everything.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CameraOptions {
    /// Direction from which the camera looks, about the vertical (degrees): 0 from +z, 90 from +x.
    pub(crate) azimuth: f32,
    /// Height of the eye over the horizon (degrees).
    pub(crate) elevation: f32,
    /// Distance from the target (m); chosen if not given.
    pub(crate) distance: Option<f32>,
    /// Point in the middle (m); chosen if not given.
    pub(crate) target: Option<Vec3>,
    /// Vertical angle of view (degrees).
    pub(crate) field_of_view: f32,
    /// Factor by which the chosen distance is divided; 2 halves it.
    pub(crate) zoom: f32,
}

impl Default for CameraOptions {
    fn default() -> Self {
        Self { azimuth: 30.0, elevation: 18.0, distance: None, target: None, field_of_view: 30.0, zoom: 1.0 }
    }
}

/// Reason why a description of the camera was refused.
#[derive(Debug, Error, PartialEq)]
pub(crate) enum CameraError {
    /// A part is not of the form key=value.
    #[error("camera: expected key=value, found \"{0}\" (for example azimuth=30,elevation=20)")]
    NotAPair(String),
    /// A key is not one of the known ones.
    #[error("camera: unknown key \"{0}\"; known are azimuth, elevation, distance, target, fov, zoom")]
    UnknownKey(String),
    /// A key is given twice.
    #[error("camera: {0} is given twice")]
    Twice(&'static str),
    /// A value does not parse.
    #[error("camera: {key} must be {expected}, found \"{found}\"")]
    BadValue {
        /// Name of the key.
        key: &'static str,
        /// Description of the valid values.
        expected: &'static str,
        /// Text that was given.
        found: String,
    },
    /// A value is a number out of its range.
    #[error("camera: {key} must be {expected}, found {found}")]
    OutOfRange {
        /// Name of the key.
        key: &'static str,
        /// Description of the valid values.
        expected: &'static str,
        /// Value that was given.
        found: f32,
    },
}

impl FromStr for CameraOptions {
    type Err = CameraError;

    /// Parses `azimuth=30,elevation=20,distance=1.5,target=0:0.5:0,fov=35`; all parts are optional and in any order.
    fn from_str(text: &str) -> Result<Self, CameraError> {
        let mut options = Self::default();
        let mut seen = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (key, value) = part.split_once('=').ok_or_else(|| CameraError::NotAPair(part.to_owned()))?;
            let key = options.set(key.trim(), value.trim())?;
            if seen.contains(&key) {
                return Err(CameraError::Twice(key));
            }
            seen.push(key);
        }
        Ok(options)
    }
}

impl CameraOptions {
    /// Sets one key and returns its name.
    fn set(&mut self, key: &str, value: &str) -> Result<&'static str, CameraError> {
        match key {
            "azimuth" => {
                self.azimuth = number("azimuth", value, "an angle in degrees", |_| true)?;
                Ok("azimuth")
            }
            "elevation" => {
                let expected = "an angle from -90 to 90 degrees";
                self.elevation = number("elevation", value, expected, |v| v.abs() <= 90.0)?;
                Ok("elevation")
            }
            "distance" => {
                let expected = "a positive length in metres";
                self.distance = Some(number("distance", value, expected, |v| v > 0.0)?);
                Ok("distance")
            }
            "target" => {
                self.target = Some(point(value)?);
                Ok("target")
            }
            "fov" => {
                let expected = "an angle from 1 to 120 degrees";
                self.field_of_view = number("fov", value, expected, |v| (1.0..=120.0).contains(&v))?;
                Ok("fov")
            }
            "zoom" => {
                self.zoom = number("zoom", value, "a positive factor", |v| v > 0.0)?;
                Ok("zoom")
            }
            other => Err(CameraError::UnknownKey(other.to_owned())),
        }
    }
}

fn number(
    key: &'static str,
    text: &str,
    expected: &'static str,
    is_allowed: impl Fn(f32) -> bool,
) -> Result<f32, CameraError> {
    let value: f32 =
        text.parse().map_err(|_| CameraError::BadValue { key, expected, found: text.to_owned() })?;
    if value.is_finite() && is_allowed(value) {
        Ok(value)
    } else {
        Err(CameraError::OutOfRange { key, expected, found: value })
    }
}

fn point(text: &str) -> Result<Vec3, CameraError> {
    let expected = "three numbers x:y:z in metres";
    let bad = || CameraError::BadValue { key: "target", expected, found: text.to_owned() };
    let mut parts = text.split(':');
    let mut next = || number("target", parts.next().ok_or_else(bad)?.trim(), expected, |_| true);
    let place = vec3(next()?, next()?, next()?);
    if parts.next().is_some() { Err(bad()) } else { Ok(place) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_parse_in_any_order() {
        let options: CameraOptions =
            "fov=35, azimuth=-30,elevation=20,distance=1.5,target=0:0.5:-1,zoom=2".parse().unwrap();
        let expected = CameraOptions {
            azimuth: -30.0,
            elevation: 20.0,
            distance: Some(1.5),
            target: Some(vec3(0.0, 0.5, -1.0)),
            field_of_view: 35.0,
            zoom: 2.0,
        };
        assert_eq!(options, expected);
        assert_eq!("".parse(), Ok(CameraOptions::default()));
    }

    #[test]
    fn bad_options_are_refused_with_the_reason() {
        let message = |text: &str| text.parse::<CameraOptions>().unwrap_err().to_string();
        assert!(message("azimuth").contains("key=value"));
        assert!(message("azimut=3").contains("unknown key \"azimut\""));
        assert!(message("azimuth=abc").contains("azimuth must be an angle in degrees, found \"abc\""));
        assert!(message("azimuth=nan").contains("found NaN"));
        assert!(message("elevation=91").contains("from -90 to 90"));
        assert!(message("distance=0").contains("positive"));
        assert!(message("target=1:2").contains("x:y:z"));
        assert!(message("target=1:2:3:4").contains("x:y:z"));
        assert!(message("fov=0.5").contains("from 1 to 120"));
        assert!(message("zoom=1,zoom=2").contains("zoom is given twice"));
    }
}
