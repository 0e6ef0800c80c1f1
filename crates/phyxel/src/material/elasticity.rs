//! Elastic laws: energy density Ψ(F) and first Piola–Kirchhoff stress P = ∂Ψ/∂F.

use crate::math::{Mat3, Real, Vec3, double_dot, trace};

/// Lamé's constants. [Pa]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lame {
    /// λ, first constant.
    pub lambda: Real,
    /// µ, shear modulus.
    pub mu: Real,
}

impl Lame {
    /// From Young's modulus [Pa] and Poisson's ratio.
    pub fn from_moduli(youngs_modulus: Real, poisson_ratio: Real) -> Self {
        let (e, nu) = (youngs_modulus, poisson_ratio);
        Self { lambda: e * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)), mu: e / (2.0 * (1.0 + nu)) }
    }

    /// λ + 2µ, the modulus of uniaxial strain and of pressure waves. [Pa]
    pub fn p_wave_modulus(self) -> Real {
        self.lambda + 2.0 * self.mu
    }
}

/// St Venant–Kirchhoff: Ψ = λ/2 (tr e)² + µ e:e with Green's strain e = (FᵀF − I)/2.
///
/// [Mueller2004] Eqs. 3–5 have twice this strain under the same names, so that their material is four times as stiff
/// as its E says; here E and ν are the true ones (E_paper = E/4).
#[derive(Clone, Copy, Debug)]
pub struct StVenantKirchhoff(pub Lame);

impl StVenantKirchhoff {
    #[inline(always)]
    fn green_strain(f: Mat3) -> Mat3 {
        (f.transpose() * f - Mat3::IDENTITY) * 0.5
    }

    /// Ψ(F) [J/m³]
    pub fn energy_density(&self, f: Mat3) -> Real {
        let e = Self::green_strain(f);
        let tr = trace(e);
        0.5 * self.0.lambda * tr * tr + self.0.mu * double_dot(e, e)
    }

    /// P = F S, S = λ tr(e) I + 2µ e [Pa]
    #[inline(always)]
    pub fn first_piola(&self, f: Mat3) -> Mat3 {
        let e = Self::green_strain(f);
        let s = e * (2.0 * self.0.mu) + Mat3::from_diagonal(Vec3::splat(self.0.lambda * trace(e)));
        f * s
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::material::{VolumeGuard, VolumeStiffness};
    use crate::math::Random;

    /// P against central differences of Ψ, for every law and both volume terms, also inverted.
    #[test]
    fn stress_is_the_gradient_of_the_energy() {
        type Law = (&'static str, Box<dyn Fn(Mat3) -> Real>, Box<dyn Fn(Mat3) -> Mat3>);
        let lame = Lame::from_moduli(1e5, 0.3);
        let (law, guard, volume) =
            (StVenantKirchhoff(lame), VolumeGuard { stiffness: 1e5, onset: 0.6 }, VolumeStiffness(2e4));
        let laws: [Law; 3] = [
            (
                "St Venant-Kirchhoff",
                Box::new(move |f| law.energy_density(f)),
                Box::new(move |f| law.first_piola(f)),
            ),
            ("guard", Box::new(move |f| guard.energy_density(f)), Box::new(move |f| guard.first_piola(f))),
            ("volume", Box::new(move |f| volume.energy_density(f)), Box::new(move |f| volume.first_piola(f))),
        ];
        let mut random = Random::new(1);
        for (name, energy, stress) in &laws {
            let mut largest: Real = 0.0;
            for k in 0..60 {
                let noise = Mat3::from_cols(random.in_cube(), random.in_cube(), random.in_cube());
                let squash = Mat3::from_diagonal(Vec3::new(1.0, 0.9, if k % 3 == 0 { -0.5 } else { 0.55 }));
                let f = squash + noise * 0.2;
                let p = stress(f);
                largest = largest.max(crate::math::frobenius_norm(p));
                for c in 0..3 {
                    for r in 0..3 {
                        let d = 1e-6;
                        let (mut up, mut down) = (f, f);
                        up.col_mut(c)[r] += d;
                        down.col_mut(c)[r] -= d;
                        let slope = (energy(up) - energy(down)) / (2.0 * d);
                        assert!(
                            (slope - p.col(c)[r]).abs() < 1e-8 * 1e5,
                            "{name}: {slope} against {}",
                            p.col(c)[r]
                        );
                    }
                }
            }
            assert!(largest > 1e3, "{name} was never active");
        }
    }

    #[test]
    fn moduli_are_the_true_ones_at_small_strain() {
        let (e, nu) = (2e5, 0.35);
        let law = StVenantKirchhoff(Lame::from_moduli(e, nu));
        let strain = 1e-6;
        let f = Mat3::from_diagonal(Vec3::new(1.0 - nu * strain, 1.0 + strain, 1.0 - nu * strain));
        let p = law.first_piola(f);
        assert!((p.y_axis.y / (e * strain) - 1.0).abs() < 1e-5);
        assert!(p.x_axis.x.abs() < 1e-5 * p.y_axis.y);
    }
}
