//! Settings of the incremental method: what the user typed.

use super::Incremental;
use crate::material::FlowRule;
use crate::math::Real;
use crate::methods::{Matter, Method, MethodError, MethodFactory};
use crate::particles::Particles;

/// How stress becomes force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForceForm {
    /// By the gradient of the same fit that deformation comes from: exact for even stress, also at surfaces, and what
    /// forces do is what the elastic energy loses.
    Corrected,
    /// By the plain gradient of the cosine kernel, [Gerszewski2009] Eq. 10: too soft at surfaces.
    Kernel,
}

/// What [`ForceForm::Kernel`] takes for stress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StressForm {
    /// U P̂ Vᵀ, the first Piola–Kirchhoff stress.
    FirstPiola,
    /// U ŝ P̂ Vᵀ as printed: softer when squeezed, stiffer when pulled.
    Scaled,
}

/// What remembers the deformation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum History {
    /// The product of the steps' deformation gradients.
    Composed,
    /// The sum of the steps' Green strains, which forgets rotations ([Gerszewski2009] Fig. 8, right).
    Additive,
    /// The bonds of the start, deformed by the flow ([Gerszewski2009] Fig. 8, middle).
    StoredRest,
}

/// How positions and velocities advance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integrator {
    /// Half a kick, implicit viscosity, drift, half a kick.
    Leapfrog,
    /// A whole kick, implicit viscosity, drift.
    SymplecticEuler,
}

/// What viscosity acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViscosityModel {
    /// The rate of strain: true shear viscosity, rigid motion is free.
    StrainRate,
    /// Differences of velocity, as in SPH: brakes rotation, too.
    Sph,
}

/// Settings of the incremental method.
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    /// Support radius in spacings.
    pub support: Real,
    /// Neighbours at the most: where more are nearer, the support shrinks.
    pub neighbors: usize,
    /// How stress becomes force.
    pub force_form: ForceForm,
    /// What the kernel form takes for stress.
    pub stress_form: StressForm,
    /// What remembers the deformation.
    pub history: History,
    /// Share of λ + 2µ that resists motion that the fit cannot see; 0 is the paper.
    pub stabilization: Real,
    /// Share of λ + 2µ with which particles that crowd push each other away; 0 is the paper. None in the forms of the paper
    /// ([`ForceForm::Kernel`], [`History::StoredRest`]).
    pub repulsion: Real,
    /// Stiffness of SPH pressure against crowding, as a share of Young's modulus; 0: none.
    pub pressure: Real,
    /// How quickly volume changes beyond two thirds or three halves are forgotten. [1/s]
    pub volume_relaxation: Real,
    /// How positions and velocities advance.
    pub integrator: Integrator,
    /// What flow rates mean.
    pub flow_rule: FlowRule,
    /// What viscosity acts on.
    pub viscosity_model: ViscosityModel,
    /// Time step over the stability limit.
    pub safety: Real,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            support: 1.8,
            neighbors: 30,
            force_form: ForceForm::Corrected,
            stress_form: StressForm::FirstPiola,
            history: History::Composed,
            stabilization: 0.2,
            repulsion: 0.6,
            pressure: 0.0,
            volume_relaxation: 0.0,
            integrator: Integrator::Leapfrog,
            flow_rule: FlowRule::PerSecond,
            viscosity_model: ViscosityModel::StrainRate,
            safety: 0.3,
        }
    }
}

impl Params {
    /// [Gerszewski2009] to the letter, but for the sign of Eq. 10.
    pub fn paper() -> Self {
        Self {
            support: 2.0,
            force_form: ForceForm::Kernel,
            stress_form: StressForm::Scaled,
            stabilization: 0.0,
            repulsion: 0.0,
            integrator: Integrator::SymplecticEuler,
            flow_rule: FlowRule::PerStep,
            viscosity_model: ViscosityModel::Sph,
            ..Self::default()
        }
    }
}

impl MethodFactory for Params {
    fn key(&self) -> &str {
        "incremental"
    }

    fn build(&self, particles: &mut Particles, matter: &Matter) -> Result<Box<dyn Method>, MethodError> {
        Ok(Box::new(Incremental::build(self.clone(), particles, matter)?))
    }
}
