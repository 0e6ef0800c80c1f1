//! Settings of the reference method: what the user typed.

use super::Reference;
use crate::math::Real;
use crate::methods::{Matter, Method, MethodError, MethodFactory};
use crate::particles::Particles;

/// How far a particle sees, in mean distances to its ten nearest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Support {
    /// 1.5 on lattices, 2 on irregular samplings: where stretching and bending are most accurate.
    Auto,
    /// This factor; the paper has 3.
    Factor(Real),
}

/// Where masses and volumes come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VolumeRule {
    /// They add up to the body's true volume.
    Exact,
    /// From smoothed densities, [Mueller2004] Sec. 3.2: 30 to 140 % too much, worst in small and thin bodies.
    Sph,
}

/// Settings of the reference method.
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    /// Support radius.
    pub support: Support,
    /// Masses and volumes.
    pub volume_rule: VolumeRule,
    /// α, share of E that resists motion that the fit cannot see; 0 is the paper.
    pub stabilization: Real,
    /// k_v of [Mueller2004] Eq. 7. [Pa]
    pub volume_stiffness: Real,
    /// Stiffness of the guard against inversion in units of λ + 2µ; 0 switches it off. Over 1/2, uniaxial compression
    /// stays monotonic; at 1 and more, a body turned inside out may stay folded.
    pub inversion_guard: Real,
    /// Time step over the stability limit.
    pub safety: Real,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            support: Support::Auto,
            volume_rule: VolumeRule::Exact,
            stabilization: 0.1,
            volume_stiffness: 0.0,
            inversion_guard: 0.75,
            safety: 0.6,
        }
    }
}

impl Params {
    /// [Mueller2004] to the letter but for the factor 4 in E: support factor 3, SPH volumes, no stabilisation, no guard.
    pub fn paper() -> Self {
        Self {
            support: Support::Factor(3.0),
            volume_rule: VolumeRule::Sph,
            stabilization: 0.0,
            inversion_guard: 0.0,
            ..Self::default()
        }
    }
}

impl MethodFactory for Params {
    fn key(&self) -> &str {
        "reference"
    }

    fn build(&self, particles: &mut Particles, matter: &Matter) -> Result<Box<dyn Method>, MethodError> {
        Ok(Box::new(Reference::build(self.clone(), particles, matter)?))
    }
}
