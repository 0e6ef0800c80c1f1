//! Settings of the incremental method, as users give them.

use super::Incremental;
use crate::material::FlowRule;
use crate::math::{Range, Real};
use crate::methods::explicit::ViscosityModel;
use crate::methods::settings::{self, Setting, SettingInfo, SettingKind, SettingValue, index};
use crate::methods::{Matter, Method, MethodError, MethodFactory};
use crate::particles::Particles;

/// Formula by which stress becomes force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForceForm {
    /// Gradient of the same fit that gives the deformation: exact for uniform stress, also at surfaces, and the work of
    /// the forces equals the loss of elastic energy.
    Corrected,
    /// Plain gradient of the cosine kernel, Gerszewski 2009 Eq. 10: too soft at surfaces.
    Kernel,
}

/// Stress that [`ForceForm::Kernel`] uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StressForm {
    /// U P̂ Vᵀ, the first Piola–Kirchhoff stress.
    FirstPiola,
    /// U ŝ P̂ Vᵀ as printed: softer under compression, stiffer under tension.
    Scaled,
}

/// Quantity that stores the deformation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum History {
    /// The product of the steps' deformation gradients.
    Composed,
    /// The sum of the steps' Green strains, which ignores rotations (Gerszewski 2009 Fig. 8, right).
    Additive,
    /// The bonds of the start, deformed by the flow (Gerszewski 2009 Fig. 8, middle).
    StoredRest,
}

/// Motion that a deformation gradient is fitted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FittedMotion {
    /// The motion since the last neighbour search. Between searches forces have a potential, whatever the step.
    SinceSearch,
    /// The motion of the last step (Gerszewski 2009).
    PerStep,
}

/// Scheme that advances positions and velocities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integrator {
    /// Half a kick, implicit viscosity, drift, half a kick.
    Leapfrog,
    /// A whole kick, implicit viscosity, drift.
    SymplecticEuler,
}

/// Settings of the incremental method.
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    /// Support radius in spacings.
    pub support: Real,
    /// Largest number of neighbours: if more are nearer, the support shrinks.
    pub neighbors: usize,
    /// Formula by which stress becomes force.
    pub force_form: ForceForm,
    /// Stress that the kernel form uses.
    pub stress_form: StressForm,
    /// Quantity that stores the deformation.
    pub history: History,
    /// Motion that [`History::Composed`] fits in the corrected form.
    pub fitted_motion: FittedMotion,
    /// Strength of the penalty on motion that the fit does not detect, as a fraction of λ + 2µ; the paper has 0.
    pub stabilization: Real,
    /// Strength of the repulsion between crowded particles, as a fraction of λ + 2µ; the paper has 0. It has no effect
    /// in the forms of the paper ([`ForceForm::Kernel`], [`History::StoredRest`]).
    pub repulsion: Real,
    /// Stiffness of an SPH pressure against crowding, as a fraction of Young's modulus; 0: none.
    pub pressure: Real,
    /// Rate at which volume changes beyond two thirds or three halves relax (1/s).
    pub volume_relaxation: Real,
    /// Scheme that advances positions and velocities.
    pub integrator: Integrator,
    /// Meaning of the flow rates.
    pub flow_rule: FlowRule,
    /// Quantity that viscosity acts on.
    pub viscosity_model: ViscosityModel,
    /// Time step divided by the stability limit; `None` chooses by the motion that is fitted.
    pub safety: Option<Real>,
}

/// Time step divided by the stability limit where the motion since the last search is fitted: forces have a potential,
/// and leapfrog keeps its energy.
const SPAN_SAFETY: Real = 0.8;
/// The same where the motion of steps is fitted: F is accurate to first order in the step.
const STEP_SAFETY: Real = 0.29;

impl Default for Params {
    fn default() -> Self {
        Self {
            support: 1.8,
            neighbors: 30,
            force_form: ForceForm::Corrected,
            stress_form: StressForm::FirstPiola,
            history: History::Composed,
            fitted_motion: FittedMotion::SinceSearch,
            stabilization: 0.2,
            repulsion: 0.8,
            pressure: 0.0,
            volume_relaxation: 0.0,
            integrator: Integrator::Leapfrog,
            flow_rule: FlowRule::PerSecond,
            viscosity_model: ViscosityModel::StrainRate,
            safety: None,
        }
    }
}

impl Params {
    /// Returns the settings of Gerszewski 2009, except for the sign of Eq. 10.
    pub fn paper() -> Self {
        Self {
            support: 2.0,
            force_form: ForceForm::Kernel,
            stress_form: StressForm::Scaled,
            fitted_motion: FittedMotion::PerStep,
            stabilization: 0.0,
            repulsion: 0.0,
            integrator: Integrator::SymplecticEuler,
            flow_rule: FlowRule::PerStep,
            viscosity_model: ViscosityModel::Sph,
            ..Self::default()
        }
    }

    /// Returns true if F is fitted to the motion since the last neighbour search.
    pub(super) fn has_spans(&self) -> bool {
        (self.force_form, self.history, self.fitted_motion)
            == (ForceForm::Corrected, History::Composed, FittedMotion::SinceSearch)
    }

    /// Returns the time step divided by the stability limit, given the number of steps since matter flowed.
    pub(super) fn safety(&self) -> Real {
        self.safety.unwrap_or(if self.has_spans() { SPAN_SAFETY } else { STEP_SAFETY })
    }
}

/// All settings, in the order of the documentation.
static SETTINGS: &[Setting<Params>] = &[
    Setting::number(
        "support",
        Range::between(1.5, 4.0),
        "Support radius of a particle in spacings; the paper names none, and its kernel form is best at 2.",
        |p| &mut p.support,
    ),
    Setting::integer(
        "neighbors",
        [10, 200],
        "Neighbours that a particle has at the most: where more are inside the support, it shrinks; the paper has 30.",
        |p| &mut p.neighbors,
    ),
    Setting::choice(
        "force_form",
        &[
            (
                "corrected",
                "by the gradient of the same fit that the deformation comes from, exact for even stress also at surfaces",
            ),
            (
                "kernel",
                "by the plain gradient of the cosine kernel, as in the paper, which is too soft at surfaces",
            ),
        ],
        "How stress becomes force.",
        |p| index(&[ForceForm::Corrected, ForceForm::Kernel], p.force_form),
        |p, k| p.force_form = [ForceForm::Corrected, ForceForm::Kernel][k],
    ),
    Setting::choice(
        "stress_form",
        &[
            ("first_piola", "the first Piola-Kirchhoff stress"),
            (
                "scaled",
                "multiplied by the stretch, as in the paper: softer when squeezed, stiffer when pulled",
            ),
        ],
        "What the kernel form takes for stress.",
        |p| index(&[StressForm::FirstPiola, StressForm::Scaled], p.stress_form),
        |p, k| p.stress_form = [StressForm::FirstPiola, StressForm::Scaled][k],
    ),
    Setting::choice(
        "history",
        &[
            ("composed", "the product of the steps' deformation gradients, which is the paper's method"),
            ("additive", "the sum of the steps' strains, which forgets rotations, as in its Fig. 8"),
            ("stored_rest", "the bonds of the start, deformed by the flow, as in its Fig. 8"),
        ],
        "What remembers the deformation.",
        |p| index(&[History::Composed, History::Additive, History::StoredRest], p.history),
        |p, k| p.history = [History::Composed, History::Additive, History::StoredRest][k],
    ),
    Setting::choice(
        "fitted_motion",
        &[
            ("per_step", "the motion of the last step, as in the paper"),
            (
                "since_search",
                "the motion since the last neighbour search: forces have a potential in between, and steps are longer",
            ),
        ],
        "What motion the composed deformation gradients are fitted to, in the corrected form.",
        |p| index(&[FittedMotion::PerStep, FittedMotion::SinceSearch], p.fitted_motion),
        |p, k| p.fitted_motion = [FittedMotion::PerStep, FittedMotion::SinceSearch][k],
    ),
    Setting::number(
        "stabilization",
        Range::NON_NEGATIVE,
        "Strength, as a share of lambda + 2 mu, of the penalty on motion that a particle's deformation gradient does not \
             see; the paper has none, which is 0. It acts in the corrected form.",
        |p| &mut p.stabilization,
    ),
    Setting::number(
        "repulsion",
        Range::NON_NEGATIVE,
        "Strength, as a share of lambda + 2 mu, with which particles push each other away that are nearer than 0.8 of the spacing and can flow, or nearer than 0.6 of it; the paper \
             has none, which is 0. It acts in the corrected form.",
        |p| &mut p.repulsion,
    ),
    Setting::number(
        "pressure",
        Range::NON_NEGATIVE,
        "Stiffness of SPH pressure against crowding, as a share of Young's modulus; the paper uses it in many scenes, \
             without its numbers. It makes matter stiffer in bulk: keep it under 0.5.",
        |p| &mut p.pressure,
    ),
    Setting::number_in(
        "volume_relaxation",
        "1/s",
        Range::NON_NEGATIVE,
        "How quickly changes of volume beyond two thirds or three halves are forgotten; the paper mentions it without a \
             formula.",
        |p| &mut p.volume_relaxation,
    ),
    Setting::choice(
        "integrator",
        &[
            ("leapfrog", "half a kick, implicit viscosity, drift, half a kick"),
            ("symplectic_euler", "a whole kick, implicit viscosity, drift, as in the paper"),
        ],
        "How positions and velocities advance.",
        |p| index(&[Integrator::Leapfrog, Integrator::SymplecticEuler], p.integrator),
        |p, k| p.integrator = [Integrator::Leapfrog, Integrator::SymplecticEuler][k],
    ),
    Setting::choice(
        "flow_rule",
        &[
            ("per_second", "`flow_rate` is in 1/s, and the material does not depend on the time step"),
            ("per_step", "`flow_rate` is the share that flows in one step, as in the paper"),
        ],
        "What the flow rate of a material means.",
        |p| index(&[FlowRule::PerSecond, FlowRule::PerStep], p.flow_rule),
        |p, k| p.flow_rule = [FlowRule::PerSecond, FlowRule::PerStep][k],
    ),
    Setting::choice(
        "viscosity_model",
        &[
            (
                "strain_rate",
                "the rate of strain, which is true shear viscosity and does not brake rigid motion",
            ),
            ("sph", "differences of velocity, as in the paper, which brakes rotation, too"),
        ],
        "What viscosity acts on.",
        |p| index(&[ViscosityModel::StrainRate, ViscosityModel::Sph], p.viscosity_model),
        |p, k| p.viscosity_model = [ViscosityModel::StrainRate, ViscosityModel::Sph][k],
    ),
    Setting::own(
        SettingInfo {
            key: "safety",
            kind: SettingKind::Number("1", Range::SHARE),
            default_note: Some("0.8 if the motion since the last search is fitted, 0.29 otherwise"),
            about: "Largest time step as a fraction of the stability limit; the paper names its time steps only.",
        },
        |p| p.safety.map(SettingValue::Number),
        |p, value| {
            if let SettingValue::Number(x) = value {
                p.safety = Some(*x);
            }
            Ok(())
        },
    ),
];

impl MethodFactory for Params {
    fn key(&self) -> &str {
        "incremental"
    }

    fn build(&self, particles: &mut Particles, matter: &Matter) -> Result<Box<dyn Method>, MethodError> {
        Ok(Box::new(Incremental::build(self.clone(), particles, matter)?))
    }

    settings::listed_in!(SETTINGS);

    fn bytes_per_particle(&self) -> Real {
        3500.0
    }
}
