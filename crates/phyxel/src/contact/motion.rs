//! Keyframed rigid motion of obstacles and grips.

use crate::math::{Quat, Real, Vec3};

/// A rigid displacement: a rotation about a centre, then a translation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Rotation about the centre.
    pub rotation: Quat,
    /// Translation (m).
    pub translation: Vec3,
    /// Centre of the rotation at time 0 (m).
    pub center: Vec3,
}

impl Pose {
    /// No displacement.
    pub const IDENTITY: Self = Self { rotation: Quat::IDENTITY, translation: Vec3::ZERO, center: Vec3::ZERO };

    /// Returns the present position of a point that was at `start` at time 0 (m).
    #[inline]
    pub fn apply(&self, start: Vec3) -> Vec3 {
        self.rotation * (start - self.center) + self.center + self.translation
    }

    /// Returns the position at time 0 of a point that is now at `now` (m).
    #[inline]
    pub fn undo(&self, now: Vec3) -> Vec3 {
        self.rotation.conjugate() * (now - self.center - self.translation) + self.center
    }
}

/// Displacement from the start that is reached at a given time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Keyframe {
    /// Time of the key (s).
    pub time: Real,
    /// Translation from the start (m).
    pub translation: Vec3,
    /// Rotation from the start, as axis times angle; angles over a full turn are kept (rad).
    pub rotation: Vec3,
}

/// Course of a motion between two keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ease {
    /// Constant speed.
    #[default]
    Linear,
    /// Gentle start and stop: 3 s² − 2 s³.
    Smooth,
}

/// A keyframed motion. It begins at time 0 and rests after the last key.
#[derive(Clone, Debug, Default)]
pub struct Motion {
    keys: Vec<Keyframe>,
    ease: Ease,
}

impl Motion {
    /// Creates a motion without displacement.
    pub fn still() -> Self {
        Self::default()
    }

    /// Creates a motion through the given keys; `None` if a value is not finite or the times are negative or not
    /// strictly ascending. If the first key is later than time 0, a key without displacement is added at time 0.
    pub fn try_new(mut keys: Vec<Keyframe>, ease: Ease) -> Option<Self> {
        let finite =
            keys.iter().all(|k| k.time.is_finite() && k.translation.is_finite() && k.rotation.is_finite());
        let ascending = keys.windows(2).all(|pair| pair[0].time < pair[1].time);
        if !finite || !ascending || keys.first().is_some_and(|k| k.time < 0.0) {
            return None;
        }
        if keys.first().is_some_and(|k| k.time > 0.0) {
            keys.insert(0, Keyframe::default());
        }
        Some(Self { keys, ease })
    }

    /// Returns true if the displacement is always zero.
    pub fn is_still(&self) -> bool {
        self.keys.iter().all(|k| k.translation == Vec3::ZERO && k.rotation == Vec3::ZERO)
    }

    /// Returns the displacement at a time (s); rotations are about `center` (m).
    pub fn pose(&self, time: Real, center: Vec3) -> Pose {
        let after = self.keys.partition_point(|k| k.time <= time);
        let (translation, rotation) = match (after.checked_sub(1).map(|k| self.keys[k]), self.keys.get(after))
        {
            (None, None) => (Vec3::ZERO, Quat::IDENTITY),
            (Some(key), None) | (None, Some(&key)) => (key.translation, Quat::from_scaled_axis(key.rotation)),
            (Some(a), Some(b)) => {
                let linear = (time - a.time) / (b.time - a.time);
                let s = match self.ease {
                    Ease::Linear => linear,
                    Ease::Smooth => linear * linear * (3.0 - 2.0 * linear),
                };
                (a.translation.lerp(b.translation, s), turn_between(a.rotation, b.rotation, s))
            }
        };
        Pose { rotation, translation, center }
    }
}

/// Interpolates two rotations. About a common axis the angle is interpolated, so that several full turns are kept;
/// otherwise the shortest rotation is used.
fn turn_between(a: Vec3, b: Vec3, s: Real) -> Quat {
    let same_axis = a.cross(b).length() <= 1e-9 * a.length() * b.length();
    if same_axis {
        Quat::from_scaled_axis(a.lerp(b, s))
    } else {
        Quat::from_scaled_axis(a).slerp(Quat::from_scaled_axis(b), s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    #[test]
    fn keys_are_met_and_blended() {
        let keys = vec![
            Keyframe::default(),
            Keyframe { time: 2.0, translation: Vec3::X, rotation: Vec3::Y * 4.0 * PI },
        ];
        let motion = Motion::try_new(keys.clone(), Ease::Linear).unwrap();
        let p = Vec3::new(1.0, 0.0, 0.0);
        // after an eighth of the time: a quarter of a turn, out of two turns
        assert!((motion.pose(0.25, Vec3::ZERO).apply(p) - Vec3::new(0.125, 0.0, -1.0)).length() < 1e-12);
        assert!((motion.pose(9.0, Vec3::ZERO).apply(p) - Vec3::new(2.0, 0.0, 0.0)).length() < 1e-12);
        let pose = motion.pose(0.7, Vec3::new(0.3, 0.2, 0.1));
        assert!((pose.undo(pose.apply(p)) - p).length() < 1e-15);
        let smooth = Motion::try_new(keys, Ease::Smooth).unwrap();
        assert!((smooth.pose(1.0, Vec3::ZERO).translation.x - 0.5).abs() < 1e-15);
        assert!(smooth.pose(0.1, Vec3::ZERO).translation.x < 0.01);
    }

    #[test]
    fn a_late_first_key_starts_from_rest_and_bad_keys_are_refused() {
        let key = |time, x| Keyframe { time, translation: Vec3::X * x, rotation: Vec3::ZERO };
        let motion = Motion::try_new(vec![key(1.0, 2.0)], Ease::Linear).unwrap();
        assert_eq!(motion.pose(0.5, Vec3::ZERO).translation, Vec3::X);
        assert!(Motion::try_new(vec![key(1.0, 0.0), key(0.5, 0.0)], Ease::Linear).is_none());
        assert!(Motion::try_new(vec![key(Real::NAN, 0.0)], Ease::Linear).is_none());
        assert!(Motion::still().is_still());
    }
}
