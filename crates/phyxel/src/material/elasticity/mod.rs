//! Elastic laws: energy density Ψ(F) and first Piola–Kirchhoff stress P = ∂Ψ/∂F, one file each.
//!
//! All laws are isotropic: with F = U diag(s) Vᵀ, Ψ depends on the principal stretches s alone and P = U diag(∂Ψ/∂s)
//! Vᵀ. All have the moduli E and ν at small strain, and all stay finite where matter is turned inside out (the last s
//! negative).

mod corotated;
mod neo_hookean;
mod squared_stretch;
mod st_venant_kirchhoff;

pub use corotated::Corotated;
pub use neo_hookean::NeoHookean;
pub use squared_stretch::SquaredStretch;
pub use st_venant_kirchhoff::StVenantKirchhoff;

use super::VolumeGuard;
use crate::math::{Mat3, Real, Svd, Vec3, cofactor, double_dot, ln, svd, trace};
use crate::particles::{Parameter, Properties, Property};

/// Lamé's constants (Pa).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lame {
    /// First constant λ.
    pub lambda: Real,
    /// Shear modulus µ.
    pub mu: Real,
}

impl Lame {
    /// Computes the constants from Young's modulus (Pa) and Poisson's ratio.
    pub fn from_moduli(youngs_modulus: Real, poisson_ratio: Real) -> Self {
        let (e, nu) = (youngs_modulus, poisson_ratio);
        Self { lambda: e * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)), mu: e / (2.0 * (1.0 + nu)) }
    }

    /// Returns the bulk modulus λ + 2µ/3 (Pa).
    pub fn bulk_modulus(self) -> Real {
        self.lambda + 2.0 / 3.0 * self.mu
    }

    /// Returns the p-wave modulus λ + 2µ, which holds for uniaxial strain and pressure waves (Pa).
    pub fn p_wave_modulus(self) -> Real {
        self.lambda + 2.0 * self.mu
    }
}

/// Lamé's constants λ and µ, per particle or the same for all (Pa).
#[derive(Clone, Debug)]
pub struct LameParameter {
    lambda: Parameter,
    mu: Parameter,
}

impl LameParameter {
    /// Computes the constants of `n` particles from their moduli.
    pub fn new(material: &Properties<Parameter>, n: usize) -> Self {
        let (e, nu) = (&material[Property::YoungsModulus], &material[Property::PoissonRatio]);
        let lame = |i: usize| Lame::from_moduli(e.at(i), nu.at(i));
        let uniform = |p: &Parameter| matches!(p, Parameter::Uniform(_));
        let column = |value: &dyn Fn(Lame) -> Real| {
            if uniform(e) && uniform(nu) {
                Parameter::Uniform(value(lame(0)))
            } else {
                Parameter::Column((0..n).map(|i| value(lame(i))).collect())
            }
        };
        Self { lambda: column(&|l| l.lambda), mu: column(&|l| l.mu) }
    }

    /// Returns the constants of particle i.
    #[inline(always)]
    pub fn at(&self, i: usize) -> Lame {
        Lame { lambda: self.lambda.at(i), mu: self.mu.at(i) }
    }
}

/// Elastic law of a material.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// Corotated linear elasticity, [`Corotated`].
    Corotated,
    /// St Venant–Kirchhoff, [`StVenantKirchhoff`] with a [`VolumeGuard`].
    StVenantKirchhoff,
    /// Neo-Hookean rubber, [`NeoHookean`].
    NeoHookean,
    /// The law of Gerszewski 2009 with squared stretches, [`SquaredStretch`].
    SquaredStretch,
}

/// Volume ratio under which the guard against inversion of St Venant–Kirchhoff material acts.
const GUARD_ONSET: Real = 0.6;
/// Stiffness of that guard in units of λ + 2µ: above 1/2, uniaxial compression stays monotonic.
const GUARD_STIFFNESS: Real = 0.75;

/// Smallest volume ratio that the stiffening of stretched matter is computed for.
const LEAST_RATIO: Real = 0.1;

impl Law {
    /// All laws, with their scene keys and descriptions.
    pub const ALL: &[(Self, &str, &str)] = &[
        (Self::Corotated, "corotated", "linear in the stretches, whatever the rotation"),
        (Self::StVenantKirchhoff, "st_venant_kirchhoff", "linear in Green's strain: stiffens when pulled"),
        (Self::NeoHookean, "neo_hookean", "rubber-like: never lets go of its volume"),
        (Self::SquaredStretch, "squared_stretch", "stiffens with the square of the stretch"),
    ];

    /// Returns the key of the law in scenes.
    pub fn key(self) -> &'static str {
        Self::ALL.iter().find(|law| law.0 == self).map_or("", |law| law.1)
    }

    fn guard(lame: Lame) -> VolumeGuard {
        VolumeGuard { stiffness: GUARD_STIFFNESS * lame.p_wave_modulus(), onset: GUARD_ONSET }
    }

    /// Returns Ψ of the principal stretches (J/m³).
    pub fn principal_energy(self, lame: Lame, stretch: Vec3) -> Real {
        match self {
            Self::Corotated => Corotated(lame).principal_energy(stretch),
            Self::StVenantKirchhoff => {
                StVenantKirchhoff(lame).principal_energy(stretch)
                    + Self::guard(lame).principal_energy(stretch)
            }
            Self::NeoHookean => NeoHookean(lame).principal_energy(stretch),
            Self::SquaredStretch => SquaredStretch(lame).principal_energy(stretch),
        }
    }

    /// Returns the principal stresses ∂Ψ/∂s (Pa).
    #[inline]
    pub fn principal_stress(self, lame: Lame, stretch: Vec3) -> Vec3 {
        match self {
            Self::Corotated => Corotated(lame).principal_stress(stretch),
            Self::StVenantKirchhoff => {
                StVenantKirchhoff(lame).principal_stress(stretch)
                    + Self::guard(lame).principal_stress(stretch)
            }
            Self::NeoHookean => NeoHookean(lame).principal_stress(stretch),
            Self::SquaredStretch => SquaredStretch(lame).principal_stress(stretch),
        }
    }

    /// Returns the energy density Ψ(F) (J/m³).
    pub fn energy_density(self, lame: Lame, f: Mat3) -> Real {
        match self {
            Self::Corotated => Corotated(lame).energy_density(f),
            _ => self.principal_energy(lame, svd(f).sigma),
        }
    }

    /// Returns the first Piola–Kirchhoff stress P(F), by the cheapest formula of each law (Pa).
    #[inline]
    pub fn first_piola(self, lame: Lame, f: Mat3) -> Mat3 {
        match self {
            Self::Corotated => Corotated(lame).first_piola(f),
            Self::StVenantKirchhoff => {
                StVenantKirchhoff(lame).first_piola(f) + Self::guard(lame).first_piola(f)
            }
            Self::NeoHookean => NeoHookean(lame).first_piola(f),
            Self::SquaredStretch => {
                let Svd { u, sigma, v } = svd(f);
                u * Mat3::from_diagonal(self.principal_stress(lame, sigma)) * v.transpose()
            }
        }
    }

    /// Returns about how many times stiffer than at rest matter with deformation gradient F is against its stiffest
    /// small change of F, at least 1: the largest eigenvalue of ∂P/∂F divided by that at rest. It limits explicit steps.
    #[inline]
    pub fn stiffening(self, lame: Lame, f: Mat3) -> Real {
        let modulus = lame.p_wave_modulus();
        let squared = double_dot(f, f);
        let stretch_squared = (squared - 2.0).max(1.0);
        match self {
            // turning against the volumetric stress; stretching is linear
            Self::Corotated => {
                let stretched = (3.0 * squared).sqrt() - 3.0;
                if stretched <= 0.0 {
                    return 1.0;
                }
                // 2/(s_i + s_j) ≤ √(s_k/J)
                let arm = (squared.sqrt() / f.determinant().max(LEAST_RATIO)).sqrt();
                (2.0 * lame.mu + lame.lambda * stretched * arm).max(modulus) / modulus
            }
            // along the largest stretch s and all three; s² ≤ |F|² − 2 unless matter is squeezed
            Self::StVenantKirchhoff | Self::SquaredStretch => {
                let along = lame.mu * (3.0 * stretch_squared - 1.0);
                let all = lame.lambda * (squared + 0.5 * (squared - 3.0).max(0.0));
                let guard = match self == Self::StVenantKirchhoff && f.determinant() < GUARD_ONSET {
                    true => GUARD_STIFFNESS * modulus * double_dot(cofactor(f), cofactor(f)),
                    false => 0.0,
                };
                ((along + all + guard) / (3.0 * lame.bulk_modulus())).max(0.5 * (3.0 * stretch_squared - 1.0))
            }
            // of a squeezed one µ + (µ + λ (1 − ln J))/s²
            Self::NeoHookean => {
                let ratio = f.determinant().max(NeoHookean::LEAST_RATIO);
                let cofactor = cofactor(f);
                let inverse_squared = (double_dot(cofactor, cofactor) / (ratio * ratio) - 2.0).max(1.0);
                let slope = lame.mu + lame.lambda * (1.0 - ln(ratio)).max(0.0);
                ((lame.mu + slope * inverse_squared) / modulus).max(1.0)
            }
        }
    }
}

/// Returns the von Mises stress √(3/2) |dev σ|: the uniaxial stress with the same deviatoric magnitude.
pub fn von_mises(stress: Mat3) -> Real {
    let deviator = stress - Mat3::IDENTITY * (trace(stress) / 3.0);
    (1.5 * double_dot(deviator, deviator)).sqrt()
}

/// Returns for each axis the product of the other two stretches: the diagonal of the cofactor matrix.
#[inline(always)]
fn principal_cofactor(s: Vec3) -> Vec3 {
    Vec3::new(s.y * s.z, s.z * s.x, s.x * s.y)
}

impl VolumeGuard {
    fn principal_energy(&self, s: Vec3) -> Real {
        let missing = (self.onset - s.element_product()).max(0.0);
        0.5 * self.stiffness * missing * missing
    }

    fn principal_stress(&self, s: Vec3) -> Vec3 {
        let missing = (self.onset - s.element_product()).max(0.0);
        principal_cofactor(s) * (-self.stiffness * missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::material::VolumeStiffness;
    use crate::math::{Random, frobenius_norm};

    fn random_matrix(random: &mut Random) -> Mat3 {
        Mat3::from_cols(random.in_cube(), random.in_cube(), random.in_cube())
    }

    /// Checks P against central differences of Ψ, for every law and both volume terms, for compressed, stretched and
    /// inverted matter.
    #[test]
    fn stress_is_the_gradient_of_the_energy() {
        type Tested = (&'static str, Box<dyn Fn(Mat3) -> Real>, Box<dyn Fn(Mat3) -> Mat3>);
        let lame = Lame::from_moduli(1e5, 0.3);
        let (guard, volume) = (VolumeGuard { stiffness: 1e5, onset: 0.6 }, VolumeStiffness(2e4));
        let mut laws: Vec<Tested> = vec![
            ("guard", Box::new(move |f| guard.energy_density(f)), Box::new(move |f| guard.first_piola(f))),
            ("volume", Box::new(move |f| volume.energy_density(f)), Box::new(move |f| volume.first_piola(f))),
        ];
        for &(law, key, _) in Law::ALL {
            laws.push((
                key,
                Box::new(move |f| law.energy_density(lame, f)),
                Box::new(move |f| law.first_piola(lame, f)),
            ));
        }
        let mut random = Random::new(1);
        for (name, energy, stress) in &laws {
            let mut largest: Real = 0.0;
            for k in 0..60 {
                let squash = Vec3::new(1.3, 0.9, [-0.5, 0.55, 1.1][k % 3]);
                let f = Mat3::from_diagonal(squash) + random_matrix(&mut random) * 0.2;
                let p = stress(f);
                largest = largest.max(frobenius_norm(p));
                for c in 0..3 {
                    for r in 0..3 {
                        let d = 1e-6;
                        let (mut up, mut down) = (f, f);
                        up.col_mut(c)[r] += d;
                        down.col_mut(c)[r] -= d;
                        let slope = (energy(up) - energy(down)) / (2.0 * d);
                        let error = (slope - p.col(c)[r]).abs();
                        assert!(error < 1e-8 * largest.max(1e5), "{name}: {slope} against {}", p.col(c)[r]);
                    }
                }
            }
            assert!(largest > 1e3, "{name} was never active");
        }
    }

    /// Checks that the principal forms of stress and energy, which flowing matter uses, agree with the full forms.
    #[test]
    fn principal_forms_agree_with_the_whole_ones() {
        let lame = Lame::from_moduli(1e5, 0.35);
        let mut random = Random::new(2);
        for &(law, key, _) in Law::ALL {
            for k in 0..60 {
                let squash = Vec3::new(1.2, 0.8, [-0.4, 0.3, 1.5][k % 3]);
                let f = Mat3::from_diagonal(squash) + random_matrix(&mut random) * 0.2;
                let Svd { u, sigma, v } = svd(f);
                let p = u * Mat3::from_diagonal(law.principal_stress(lame, sigma)) * v.transpose();
                let size = frobenius_norm(p) + 1e3;
                assert!(frobenius_norm(p - law.first_piola(lame, f)) < 1e-10 * size, "{key}");
                let energies = (law.principal_energy(lame, sigma), law.energy_density(lame, f));
                assert!((energies.0 - energies.1).abs() < 1e-11 * (energies.0.abs() + 1e3), "{key}");
            }
        }
    }

    /// Checks the stiffening against differences of P along random directions and the principal ones: never less than
    /// 0.75 of the true one for stretches from 0.5 to 3, and 1 at rest.
    #[test]
    fn stiffening_is_not_below_the_stiffest_change() {
        let mut random = Random::new(3);
        let lame = Lame::from_moduli(1e5, 0.3);
        for &(law, key, _) in Law::ALL {
            assert!((law.stiffening(lame, Mat3::IDENTITY) - 1.0).abs() < 1e-12, "{key}");
            let mut least = Real::INFINITY;
            for _ in 0..300 {
                let stretches = Vec3::new(random.unit(), random.unit(), random.unit()) * 2.5 + 0.5;
                let turned = svd(random_matrix(&mut random)).u;
                let f = turned * Mat3::from_diagonal(stretches);
                // power iteration on ∂P/∂F, shifted so that directions in which matter gives way do not count
                let shift = 3.0 * lame.p_wave_modulus();
                let (mut change, mut stiffest) = (random_matrix(&mut random), 0.0);
                for _ in 0..60 {
                    change *= 1e-5 / frobenius_norm(change);
                    let slope = law.first_piola(lame, f + change) - law.first_piola(lame, f - change);
                    change = slope * 0.5 + change * shift;
                    stiffest = frobenius_norm(change) / 1e-5 - shift;
                }
                let at_rest = 3.0 * lame.bulk_modulus();
                least = least.min(law.stiffening(lame, f) * at_rest / stiffest);
            }
            println!("{key}: {least:.3} of the true stiffness at the least");
            assert!(least > 0.75, "{key}: {least}");
        }
    }

    #[test]
    fn moduli_are_the_true_ones_at_small_strain() {
        let (e, nu) = (2e5, 0.35);
        let lame = Lame::from_moduli(e, nu);
        let strain = 1e-6;
        let f = Mat3::from_diagonal(Vec3::new(1.0 - nu * strain, 1.0 + strain, 1.0 - nu * strain));
        for &(law, key, _) in Law::ALL {
            let p = law.first_piola(lame, f);
            assert!((p.y_axis.y / (e * strain) - 1.0).abs() < 1e-5, "{key}: {p}");
            assert!(p.x_axis.x.abs() < 1e-5 * p.y_axis.y, "{key}");
            assert!(frobenius_norm(law.first_piola(lame, Mat3::IDENTITY)) < 1e-9, "{key}");
            assert_eq!(law.key(), key);
        }
    }

    /// Checks that every law pushes matter that was flattened or turned inside out back outwards.
    #[test]
    fn flattened_and_inverted_matter_is_pushed_back() {
        let lame = Lame::from_moduli(1e5, 0.3);
        for &(law, key, _) in Law::ALL {
            for s in [0.3, 0.05, 0.0, -0.2, -0.5] {
                let p = law.principal_stress(lame, Vec3::new(1.0, 1.0, s));
                assert!(p.z < -1e3, "{key} at {s}: {p}");
            }
        }
    }
}
