//! Axis-aligned boxes.

use phyxel::math::glam::Vec3;

/// Smallest axis-aligned box around everything that was included (m).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bounds {
    /// Corner with the smallest coordinates.
    pub(crate) min: Vec3,
    /// Corner with the largest coordinates.
    pub(crate) max: Vec3,
}

impl Bounds {
    /// Box without content; including a point makes it that point.
    pub(crate) const EMPTY: Self = Self { min: Vec3::INFINITY, max: Vec3::NEG_INFINITY };

    /// Returns true if nothing was included.
    pub(crate) fn is_empty(&self) -> bool {
        self.min.cmpgt(self.max).any()
    }

    /// Grows the box around a ball; a ball that is not finite is ignored.
    pub(crate) fn include(&mut self, center: Vec3, radius: f32) {
        if center.is_finite() && radius.is_finite() {
            self.min = self.min.min(center - radius);
            self.max = self.max.max(center + radius);
        }
    }

    /// Returns the box around both boxes.
    pub(crate) fn union(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// Returns the middle of the box.
    pub(crate) fn center(&self) -> Vec3 {
        self.min.midpoint(self.max)
    }

    /// Returns the edge lengths, zero for an empty box.
    pub(crate) fn size(&self) -> Vec3 {
        (self.max - self.min).max(Vec3::ZERO)
    }

    /// Returns the eight corners.
    pub(crate) fn corners(&self) -> [Vec3; 8] {
        std::array::from_fn(|corner| {
            let pick = |bit: usize, low: f32, high: f32| if corner >> bit & 1 == 0 { low } else { high };
            Vec3::new(
                pick(0, self.min.x, self.max.x),
                pick(1, self.min.y, self.max.y),
                pick(2, self.min.z, self.max.z),
            )
        })
    }

    /// Returns half the surface area, which measures the chance that a ray hits the box.
    pub(super) fn half_area(&self) -> f32 {
        let size = self.size();
        size.x * size.y + size.y * size.z + size.z * size.x
    }
}
