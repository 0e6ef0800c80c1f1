//! Corotated linear elasticity.

use super::Lame;
use crate::math::{Mat3, Real, Vec3, double_dot, polar, rotation, trace};

/// Corotated law Ψ = µ Σ (s − 1)² + λ/2 (Σ (s − 1))². Jones 2014 Eq. 4, the law of that paper.
#[derive(Clone, Copy, Debug)]
pub struct Corotated(pub Lame);

impl Corotated {
    /// Returns Ψ of the principal stretches (J/m³).
    pub fn principal_energy(&self, stretch: Vec3) -> Real {
        let strain = stretch - Vec3::ONE;
        let sum = strain.element_sum();
        self.0.mu * strain.length_squared() + 0.5 * self.0.lambda * sum * sum
    }

    /// Returns the principal stresses 2µ (s − 1) + λ Σ (s − 1) (Pa).
    #[inline(always)]
    pub fn principal_stress(&self, stretch: Vec3) -> Vec3 {
        let strain = stretch - Vec3::ONE;
        strain * (2.0 * self.0.mu) + Vec3::splat(self.0.lambda * strain.element_sum())
    }

    /// Returns Ψ(F) with F = R S: the singular values are the eigenvalues of S (J/m³).
    pub fn energy_density(&self, f: Mat3) -> Real {
        let strain = polar(f).1 - Mat3::IDENTITY;
        let sum = trace(strain);
        self.0.mu * double_dot(strain, strain) + 0.5 * self.0.lambda * sum * sum
    }

    /// Returns the stress P = 2µ (F − R) + λ tr(S − I) R (Pa).
    #[inline]
    pub fn first_piola(&self, f: Mat3) -> Mat3 {
        let (rotation, stretch) = rotation(f);
        f * (2.0 * self.0.mu) + rotation * (self.0.lambda * (stretch - 3.0) - 2.0 * self.0.mu)
    }
}
