//! Settings of the reference method, as users give them.

use super::Reference;
use crate::math::{Range, Real, cube};
use crate::methods::settings::{self, Setting, SettingInfo, SettingKind, SettingValue, index};
use crate::methods::{Matter, Method, MethodError, MethodFactory};
use crate::particles::Particles;

/// Support radius of a particle, as a multiple of the mean distance to its ten nearest neighbours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Support {
    /// 1.5 on lattices and 2 on irregular samplings, which give the most accurate stretching and bending.
    Auto,
    /// A given factor; the paper has 3.
    Factor(Real),
}

/// Origin of masses and volumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VolumeRule {
    /// Volumes add up to the body's true volume.
    Exact,
    /// Volumes from smoothed densities, Mueller 2004 Sec. 3.2: 30 to 140 % too large, worst in small and thin bodies.
    Sph,
}

/// Settings of the reference method.
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    /// Support radius.
    pub support: Support,
    /// Origin of masses and volumes.
    pub volume_rule: VolumeRule,
    /// Strength α of the penalty on motion that the fit does not detect, as a fraction of E; the paper has 0.
    pub stabilization: Real,
    /// Stiffness k_v of Mueller 2004 Eq. 7 (Pa).
    pub volume_stiffness: Real,
    /// Stiffness of the guard against inversion in units of λ + 2µ; 0 switches it off. Above 1/2, uniaxial compression
    /// stays monotonic; at 1 and more, a body turned inside out may stay folded.
    pub inversion_guard: Real,
    /// Time step divided by the stability limit.
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
            safety: 0.9,
        }
    }
}

impl Params {
    /// Returns the settings of Mueller 2004, except for the factor 4 in E: support factor 3, SPH volumes, no
    /// stabilization, no guard.
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

/// All settings, in the order of the documentation.
static SETTINGS: &[Setting<Params>] = &[
    Setting::own(
        SettingInfo {
            key: "support_factor",
            kind: SettingKind::NumberOrWord(Range::between(1.0, 6.0), "auto"),
            default_note: None,
            about: "Support radius of a particle as a multiple of the mean distance to its ten nearest neighbours; \"auto\" is 1.5 \
             for lattices and 2 for irregular samplings, the paper has 3.",
        },
        |p| match p.support {
            Support::Auto => Some(SettingValue::Word("auto".into())),
            Support::Factor(factor) => Some(SettingValue::Number(factor)),
        },
        |p, value| {
            p.support = match value {
                SettingValue::Number(factor) => Support::Factor(*factor),
                _ => Support::Auto,
            };
            Ok(())
        },
    ),
    Setting::choice(
        "volume_rule",
        &[
            (
                "exact",
                "the particles' volumes sum up to the body's volume, so that mass and stiffness are true",
            ),
            (
                "sph",
                "mass over SPH density as in the paper, which makes small bodies too stiff and too heavy",
            ),
        ],
        "How the volume that a particle stands for is found.",
        |p| index(&[VolumeRule::Exact, VolumeRule::Sph], p.volume_rule),
        |p, k| p.volume_rule = [VolumeRule::Exact, VolumeRule::Sph][k],
    ),
    Setting::number(
        "stabilization",
        Range::NON_NEGATIVE,
        "Strength, as a share of Young's modulus, of the penalty on motion that a particle's deformation gradient does \
             not see; it vanishes for affine motion, and 0 gives the paper's method.",
        |p| &mut p.stabilization,
    ),
    Setting::number_in(
        "volume_stiffness",
        "Pa",
        Range::NON_NEGATIVE,
        "Stiffness of the paper's volume-conserving force, an added bulk modulus that resists inversion and makes the \
             body less compressible than its Poisson ratio says.",
        |p| &mut p.volume_stiffness,
    ),
    Setting::number(
        "inversion_guard",
        Range::NON_NEGATIVE,
        "Stiffness, in units of lambda + 2 mu, of the force that turns inverted particles back; it acts under 0.6 of the \
             rest volume only, so that E and nu stay the asked ones, and 0 gives the paper's method.",
        |p| &mut p.inversion_guard,
    ),
    Setting::number(
        "safety",
        Range::SHARE,
        "Largest time step as a fraction of the stability limit of the explicit integration.",
        |p| &mut p.safety,
    ),
];

impl MethodFactory for Params {
    fn key(&self) -> &str {
        "reference"
    }

    fn build(&self, particles: &mut Particles, matter: &Matter) -> Result<Box<dyn Method>, MethodError> {
        Ok(Box::new(Reference::build(self.clone(), particles, matter)?))
    }

    settings::listed_in!(SETTINGS);

    /// Returns about 1 kB plus 60 bytes for each neighbour, of which there are 26 at a support factor of 1.5.
    fn bytes_per_particle(&self) -> Real {
        let support = match self.support {
            Support::Auto => 2.0,
            Support::Factor(factor) => factor,
        };
        1000.0 + 60.0 * 26.0 * cube(support / 1.5)
    }
}
