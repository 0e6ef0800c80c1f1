//! Volume terms that keep St Venant–Kirchhoff material from turning inside out.

use crate::math::{Mat3, Real, cofactor, square};

/// Energy k/2 (J₀ − det F)² where det F < J₀, zero elsewhere: E and ν keep the given values up to strong compression.
///
/// Green's strain does not detect a mirror image and softens under compression; with k > (λ + 2µ)/2 uniaxial
/// compression stays monotonic. Departs from Mueller 2004 Eq. 7, which acts at every strain and so changes ν
/// ([`VolumeStiffness`]).
#[derive(Clone, Copy, Debug)]
pub struct VolumeGuard {
    /// Stiffness k (Pa).
    pub stiffness: Real,
    /// Volume ratio J₀ under which the guard acts.
    pub onset: Real,
}

impl VolumeGuard {
    /// Returns the energy density Ψ(F) (J/m³).
    pub fn energy_density(&self, f: Mat3) -> Real {
        let missing = (self.onset - f.determinant()).max(0.0);
        0.5 * self.stiffness * missing * missing
    }

    /// Returns the first Piola–Kirchhoff stress (Pa).
    pub fn first_piola(&self, f: Mat3) -> Mat3 {
        let missing = (self.onset - f.determinant()).max(0.0);
        cofactor(f) * (-self.stiffness * missing)
    }
}

/// Energy k_v/2 (det F − 1)² of Mueller 2004 Eqs. 7, 22, as printed. It adds to the bulk modulus: λ becomes λ + k_v.
#[derive(Clone, Copy, Debug)]
pub struct VolumeStiffness(pub Real);

impl VolumeStiffness {
    /// Returns the energy density Ψ(F) (J/m³).
    pub fn energy_density(&self, f: Mat3) -> Real {
        0.5 * self.0 * square(f.determinant() - 1.0)
    }

    /// Returns the stress k_v (det F − 1) cof F, which is finite at det F = 0 (Pa).
    pub fn first_piola(&self, f: Mat3) -> Mat3 {
        cofactor(f) * (self.0 * (f.determinant() - 1.0))
    }
}
