//! Volume terms: what keeps St Venant–Kirchhoff material from turning inside out.

use crate::math::{Mat3, Real, cofactor};

/// k/2 (J₀ − det F)² where det F < J₀, nothing elsewhere: E and ν stay the asked ones up to strong compression.
///
/// Green's strain cannot see a mirror image and softens under compression; with k > (λ + 2µ)/2 uniaxial compression
/// stays monotonic. Departs from Mueller 2004 Eq. 7, which acts at every strain and so changes ν ([`VolumeStiffness`]).
#[derive(Clone, Copy, Debug)]
pub struct VolumeGuard {
    /// k (Pa)
    pub stiffness: Real,
    /// J₀, volume ratio under which it acts.
    pub onset: Real,
}

impl VolumeGuard {
    /// (J/m³)
    pub fn energy_density(&self, f: Mat3) -> Real {
        let missing = (self.onset - f.determinant()).max(0.0);
        0.5 * self.stiffness * missing * missing
    }

    /// (Pa)
    pub fn first_piola(&self, f: Mat3) -> Mat3 {
        let missing = (self.onset - f.determinant()).max(0.0);
        cofactor(f) * (-self.stiffness * missing)
    }
}

/// k_v/2 (det F − 1)², as printed. Mueller 2004 Eqs. 7, 22. An added bulk modulus: λ reads as λ + k_v.
#[derive(Clone, Copy, Debug)]
pub struct VolumeStiffness(pub Real);

impl VolumeStiffness {
    /// (J/m³)
    pub fn energy_density(&self, f: Mat3) -> Real {
        0.5 * self.0 * (f.determinant() - 1.0).powi(2)
    }

    /// k_v (det F − 1) cof F: finite at det F = 0 (Pa).
    pub fn first_piola(&self, f: Mat3) -> Mat3 {
        cofactor(f) * (self.0 * (f.determinant() - 1.0))
    }
}
