//! The hyperelastic law of Gerszewski 2009 Fig. 5: stretches are squared before the stress is computed.

use super::Lame;
use crate::math::{Real, Vec3};

/// Law with squared stretches, P = µ (s|s| − 1) + λ/2 s Σ (s² − 1).
///
/// Departs from the paper's text, 2µ (s² − 1) + λ Σ (s² − 1). The stress is halved, so that E and ν are the true ones.
/// The second term has the factor s that makes it the slope of an energy, λ/8 (Σ (s² − 1))²; the printed term lacks it.
/// s|s| replaces s², so that matter turned inside out is pushed back.
#[derive(Clone, Copy, Debug)]
pub struct SquaredStretch(pub Lame);

impl SquaredStretch {
    /// Returns Ψ = µ Σ (|s|³/3 − s + 2/3) + λ/8 (Σ (s² − 1))² (J/m³).
    pub fn principal_energy(&self, stretch: Vec3) -> Real {
        let size = stretch.abs();
        let cubic = size * size * size / 3.0 - stretch + Vec3::splat(2.0 / 3.0);
        let sum = stretch.length_squared() - 3.0;
        self.0.mu * cubic.element_sum() + self.0.lambda / 8.0 * sum * sum
    }

    /// Returns the principal stresses P (Pa).
    #[inline(always)]
    pub fn principal_stress(&self, stretch: Vec3) -> Vec3 {
        let sum = stretch.length_squared() - 3.0;
        (stretch * stretch.abs() - Vec3::ONE) * self.0.mu + stretch * (0.5 * self.0.lambda * sum)
    }
}
