//! Energies that a method reports to the ledger.

use crate::math::{Mat3, Real, cbrt};
use std::iter::Sum;
use std::ops::Add;

/// Energies of a state (J).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energies {
    /// Elastic energy, if the method has one.
    pub elastic: Option<ElasticEnergy>,
    /// Work done by plastic flow so far.
    pub plastic_work: Real,
}

/// Elastic energy, split by the kind of deformation that stores it (J).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ElasticEnergy {
    /// Energy of shape change: Σ V (Ψ(F) − Ψ(J^⅓ I)). At large strain some laws make it negative.
    pub deviatoric: Real,
    /// Energy of volume change: Σ V Ψ(J^⅓ I).
    pub volumetric: Real,
    /// Energy of the penalty on motion that the fit of F does not detect (stabilization).
    pub residual: Real,
    /// Energy of the repulsion of crowded particles.
    pub repulsion: Real,
}

impl ElasticEnergy {
    /// Splits the energy V Ψ(F) of a particle with rest volume V into its parts; `density` is Ψ (J/m³). For an inverted
    /// particle (J ≤ 0) there is no pure volume change with the same J: all of Ψ(F) counts as deviatoric.
    ///   F deformation gradient (1)   J = det F, volume ratio (1)
    pub fn of_strain(volume: Real, f: Mat3, density: impl Fn(Mat3) -> Real) -> Self {
        let (whole, ratio) = (density(f), f.determinant());
        let volumetric = if ratio > 0.0 { density(Mat3::IDENTITY * cbrt(ratio)) } else { 0.0 };
        Self { deviatoric: volume * (whole - volumetric), volumetric: volume * volumetric, ..Self::default() }
    }

    /// Returns the sum of the parts.
    pub fn total(&self) -> Real {
        self.deviatoric + self.volumetric + self.residual + self.repulsion
    }
}

impl Add for ElasticEnergy {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            deviatoric: self.deviatoric + other.deviatoric,
            volumetric: self.volumetric + other.volumetric,
            residual: self.residual + other.residual,
            repulsion: self.repulsion + other.repulsion,
        }
    }
}

impl Sum for ElasticEnergy {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), Self::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::material::{Lame, Law};
    use crate::math::{Random, vec3};

    #[test]
    fn parts_add_up_and_each_deformation_has_its_own() {
        let lame = Lame::from_moduli(1e5, 0.3);
        let mut random = Random::new(3);
        for &(law, key, _) in Law::ALL {
            let split = |f| ElasticEnergy::of_strain(2.0, f, |f| law.energy_density(lame, f));
            let turn = Mat3::from_axis_angle(random.in_cube().normalize(), 2.0);
            let scale = 1e5;
            for stretch in [0.7, 0.999, 1.001, 1.4] {
                let swollen = split(turn * stretch);
                assert!(swollen.deviatoric.abs() < 1e-12 * scale, "{key}: {swollen:?}");
                assert!(swollen.volumetric > 0.0 && swollen.residual == 0.0, "{key}");
                let sheared = split(turn * Mat3::from_diagonal(vec3(stretch, 1.0 / stretch, 1.0)));
                assert!(sheared.volumetric.abs() < 1e-12 * scale, "{key}: {sheared:?}");
                assert!(sheared.deviatoric > 0.0, "{key}");
            }
            for z in [1.2, 0.0, -0.4] {
                let f = turn * Mat3::from_diagonal(vec3(1.1, 0.8, z));
                let (parts, whole) = (split(f), 2.0 * law.energy_density(lame, f));
                assert!((parts.total() - whole).abs() < 1e-13 * whole, "{key} {z}: {parts:?} of {whole}");
                if z <= 0.0 {
                    assert_eq!((parts.deviatoric, parts.volumetric), (whole, 0.0), "{key}: inverted");
                }
            }
        }
    }
}
