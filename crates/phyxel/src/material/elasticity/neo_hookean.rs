//! Neo-Hookean rubber.

use super::{Lame, principal_cofactor};
use crate::math::{Mat3, Real, Vec3, cofactor, double_dot, ln};

/// Neo-Hookean law Ψ = µ/2 (tr FᵀF − 3) + g(J), g = −µ ln J + λ/2 (ln J)², J = det F.
///
/// Below a volume ratio of 0.1, g continues as the parabola with the same value, slope and curvature there, so that
/// matter which a step has flattened or inverted is pushed back by a finite force.
#[derive(Clone, Copy, Debug)]
pub struct NeoHookean(pub Lame);

impl NeoHookean {
    /// Volume ratio below which the volumetric energy is continued by a parabola, so that it stays finite.
    pub(super) const LEAST_RATIO: Real = 0.1;

    /// Returns g(J) and g'(J).
    #[inline]
    fn volumetric(&self, ratio: Real) -> (Real, Real) {
        let Lame { lambda, mu } = self.0;
        let at = ratio.max(Self::LEAST_RATIO);
        let log = ln(at);
        let value = -mu * log + 0.5 * lambda * log * log;
        let slope = (lambda * log - mu) / at;
        let below = ratio - at;
        let curvature = (lambda + mu - lambda * log) / (at * at);
        (value + slope * below + 0.5 * curvature * below * below, slope + curvature * below)
    }

    /// Returns Ψ of the principal stretches (J/m³).
    pub fn principal_energy(&self, stretch: Vec3) -> Real {
        0.5 * self.0.mu * (stretch.length_squared() - 3.0) + self.volumetric(stretch.element_product()).0
    }

    /// Returns the principal stresses µ s + g'(J) J/s (Pa).
    #[inline]
    pub fn principal_stress(&self, stretch: Vec3) -> Vec3 {
        let slope = self.volumetric(stretch.element_product()).1;
        stretch * self.0.mu + principal_cofactor(stretch) * slope
    }

    /// Returns the energy density Ψ(F) (J/m³).
    pub fn energy_density(&self, f: Mat3) -> Real {
        0.5 * self.0.mu * (double_dot(f, f) - 3.0) + self.volumetric(f.determinant()).0
    }

    /// Returns the stress P = µ F + g'(J) cof F (Pa).
    #[inline]
    pub fn first_piola(&self, f: Mat3) -> Mat3 {
        f * self.0.mu + cofactor(f) * self.volumetric(f.determinant()).1
    }
}
