//! St Venant–Kirchhoff material.

use super::Lame;
use crate::math::{Mat3, Real, Vec3, double_dot, trace};

/// St Venant–Kirchhoff law Ψ = λ/2 (tr e)² + µ e:e with Green's strain e = (FᵀF − I)/2.
///
/// Mueller 2004 Eqs. 3–5 use twice this strain under the same names, so that their material is four times as stiff as
/// its E says; here E and ν are the true ones (E_paper = E/4).
#[derive(Clone, Copy, Debug)]
pub struct StVenantKirchhoff(pub Lame);

impl StVenantKirchhoff {
    #[inline(always)]
    fn green_strain(f: Mat3) -> Mat3 {
        (f.transpose() * f - Mat3::IDENTITY) * 0.5
    }

    #[inline(always)]
    fn principal_strain(stretch: Vec3) -> Vec3 {
        (stretch * stretch - Vec3::ONE) * 0.5
    }

    /// Returns Ψ of the principal stretches (J/m³).
    pub fn principal_energy(&self, stretch: Vec3) -> Real {
        let e = Self::principal_strain(stretch);
        let sum = e.element_sum();
        0.5 * self.0.lambda * sum * sum + self.0.mu * e.length_squared()
    }

    /// Returns the principal stresses s (λ Σ e + 2µ e) (Pa).
    #[inline(always)]
    pub fn principal_stress(&self, stretch: Vec3) -> Vec3 {
        let e = Self::principal_strain(stretch);
        stretch * (e * (2.0 * self.0.mu) + Vec3::splat(self.0.lambda * e.element_sum()))
    }

    /// Returns the energy density Ψ(F) (J/m³).
    pub fn energy_density(&self, f: Mat3) -> Real {
        let e = Self::green_strain(f);
        let tr = trace(e);
        0.5 * self.0.lambda * tr * tr + self.0.mu * double_dot(e, e)
    }

    /// Returns the stress P = F S, S = λ tr(e) I + 2µ e (Pa).
    #[inline(always)]
    pub fn first_piola(&self, f: Mat3) -> Mat3 {
        let e = Self::green_strain(f);
        let s = e * (2.0 * self.0.mu) + Mat3::from_diagonal(Vec3::splat(self.0.lambda * trace(e)));
        f * s
    }
}
