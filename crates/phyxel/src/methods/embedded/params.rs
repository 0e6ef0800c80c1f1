//! Settings of the embedded method, as users give them.

use super::Embedded;
use crate::material::FlowRule;
use crate::math::{Range, Real};
use crate::methods::explicit::ViscosityModel;
use crate::methods::settings::{self, Setting, SettingError, SettingInfo, SettingKind, SettingValue, index};
use crate::methods::{Matter, Method, MethodError, MethodFactory};
use crate::neighbors::SLOTS;
use crate::particles::Particles;

/// Origin of masses and volumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VolumeRule {
    /// Each particle gets its share of the shape's volume.
    Exact,
    /// Volumes of Jones 2014 Eq. 3, scaled so that they add up to the body's volume.
    Moments,
}

/// Rule by which masses change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MassRule {
    /// Masses change only by splitting and merging.
    Fixed,
    /// Masses follow Jones 2014 Eq. 3 in every step: momentum is not conserved.
    Running,
}

/// Scheme that advances positions and velocities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integrator {
    /// Half a kick, implicit viscosity, drift, half a kick.
    Leapfrog,
    /// A whole kick, implicit viscosity, drift.
    SymplecticEuler,
    /// Jones 2014 Sec. 3.2 with elastic forces in both halves: viscosity implicit in the first, explicit in the second.
    Newmark,
}

/// Method that finds the embedded positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Embedding {
    /// Least squares, Jones 2014 Eq. 9.
    Linear,
    /// The pose of least elastic energy, as in Wicke 2010.
    Nonlinear,
    /// No embedding: neighbourhoods stay as they are at the start (Jones 2014 Fig. 5 b).
    Off,
}

/// Effect of a change of neighbours on the rest bonds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListUpdate {
    /// Rest bonds are corrected so that the deformation gradient keeps its value.
    Continuous,
    /// New bonds are taken from the embedded positions and nothing else changes, as in Jones 2014 Sec. 3.4.
    Plain,
}

/// Rule by which particles split and merge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Resampling {
    /// Particles never split or merge.
    Off,
    /// By gaps and distances in rest space, in units of the spacing.
    Gaps {
        /// Particles with a wider gap than this on both sides split.
        split: Real,
        /// Particles nearer to each other than this merge.
        merge: Real,
    },
    /// By the eigenvalues of Jones 2014 Eq. 13, compared with those at the start.
    Eigenvalues {
        /// A particle splits if its largest eigenvalue falls under this fraction of the smallest largest one at start.
        split: Real,
        /// Particles merge if the smallest eigenvalue exceeds this multiple of the largest smallest one at the start.
        merge: Real,
    },
}

impl Resampling {
    /// Resampling by gaps, with thresholds that worked well.
    pub const GAPS: Self = Self::Gaps { split: 1.7, merge: 0.4 };
    /// Resampling by eigenvalues, with thresholds that worked well.
    pub const EIGENVALUES: Self = Self::Eigenvalues { split: 0.6, merge: 1.5 };

    /// Returns the thresholds for splitting and merging, if there are any.
    fn thresholds(self) -> Option<[Real; 2]> {
        match self {
            Self::Gaps { split, merge } | Self::Eigenvalues { split, merge } => Some([split, merge]),
            Self::Off => None,
        }
    }

    /// Sets a threshold. Refuses values that would split or merge particles at their usual distance; the allowed range
    /// depends on the rule.
    fn set_threshold(&mut self, key: &str, value: &SettingValue) -> Result<(), SettingError> {
        let SettingValue::Number(value) = *value else { return Ok(()) };
        let is_split = key == "split_at";
        let (rule, range, threshold) = match self {
            Self::Off => return Ok(()),
            Self::Gaps { split, .. } if is_split => ("gaps", Range::over(1.2), split),
            Self::Gaps { merge, .. } => ("gaps", Range::under(0.9), merge),
            Self::Eigenvalues { split, .. } if is_split => {
                ("eigenvalues", Range { max: Some((1.0, false)), ..Range::POSITIVE }, split)
            }
            Self::Eigenvalues { merge, .. } => ("eigenvalues", Range::over(1.0), merge),
        };
        if !range.contains(value) {
            let what = if is_split { "split" } else { "merge" };
            let allowed = range.describe();
            return Err(SettingError {
                message: format!("`{key}` must be {allowed} with resampling by {rule}, found {value}"),
                help: Some(format!("as it stands, it would {what} what is at its usual distance")),
            });
        }
        *threshold = value;
        Ok(())
    }
}

/// Settings of the embedded method.
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    /// Support radius as a multiple of the mean distance to the 32 nearest neighbours.
    pub support_factor: Real,
    /// Origin of masses and volumes.
    pub volume_rule: VolumeRule,
    /// Rule by which masses change.
    pub mass_rule: MassRule,
    /// Strength β of the penalty on motion that the fit does not detect, as a fraction of λ + 2µ; the paper has 0.
    pub stabilization: Real,
    /// Strength of the repulsion between crowded particles that have flowed, as a fraction of λ + 2µ; the paper has 0.
    pub repulsion: Real,
    /// Fraction of the difference between det F and the volume estimated from the density that an update removes from
    /// particles that have flowed; the paper has 0.
    pub volume_correction: Real,
    /// Meaning of the flow rates.
    pub flow_rule: FlowRule,
    /// Scheme that advances positions and velocities.
    pub integrator: Integrator,
    /// Quantity that viscosity acts on.
    pub viscosity_model: ViscosityModel,
    /// Method that finds the embedded positions.
    pub embedding: Embedding,
    /// Smallest number of steps between updates of the embedding and the neighbourhoods; the paper has 1.
    pub embed_every: usize,
    /// Largest plastic strain since the last update above which an update is made; the paper has 0.
    pub embed_flow: Real,
    /// Tolerance of the embedding: residual divided by the right-hand side, or by the forces of bonds at a strain of 1.
    pub embed_tolerance: Real,
    /// Effect of a change of neighbours on the rest bonds.
    pub list_update: ListUpdate,
    /// Number of neighbours that two particles must share to become neighbours; the paper has 0.
    pub common_neighbors: usize,
    /// Largest speed of a particle relative to its neighbours, in speeds of sound; 0 is the paper: no limit.
    pub speed_limit: Real,
    /// Rule by which particles split and merge.
    pub resampling: Resampling,
    /// Time step divided by the stability limit.
    pub safety: Real,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            support_factor: 1.6,
            volume_rule: VolumeRule::Moments,
            mass_rule: MassRule::Fixed,
            stabilization: 0.1,
            repulsion: 0.6,
            volume_correction: 0.1,
            flow_rule: FlowRule::PerSecond,
            integrator: Integrator::Leapfrog,
            viscosity_model: ViscosityModel::StrainRate,
            embedding: Embedding::Linear,
            embed_every: 3,
            embed_flow: 0.1,
            embed_tolerance: 3e-4,
            list_update: ListUpdate::Continuous,
            common_neighbors: 8,
            speed_limit: 0.6,
            resampling: Resampling::GAPS,
            safety: 0.8,
        }
    }
}

impl Params {
    /// Returns the settings of Jones 2014, except for the printing mistakes: embedding in every step, plain updates,
    /// running masses, the printed test for splitting, no stabilization and no guards.
    pub fn paper() -> Self {
        Self {
            support_factor: 2.0,
            mass_rule: MassRule::Running,
            stabilization: 0.0,
            repulsion: 0.0,
            volume_correction: 0.0,
            flow_rule: FlowRule::PerStep,
            integrator: Integrator::Newmark,
            viscosity_model: ViscosityModel::Sph,
            embed_every: 1,
            embed_flow: 0.0,
            list_update: ListUpdate::Plain,
            common_neighbors: 0,
            speed_limit: 0.0,
            resampling: Resampling::EIGENVALUES,
            ..Self::default()
        }
    }
}

/// All settings, in the order of the documentation.
static SETTINGS: &[Setting<Params>] = &[
    Setting::number(
        "support_factor",
        Range::between(1.0, 4.0),
        "Support radius of a particle as a multiple of the mean distance to its 32 nearest neighbours; the paper has 2.",
        |p| &mut p.support_factor,
    ),
    Setting::choice(
        "volume_rule",
        &[
            ("exact", "each particle's share of the shape"),
            (
                "moments",
                "from the moments of its neighbourhood, as in the paper, scaled so that the body has its true volume",
            ),
        ],
        "How the volume that a particle stands for is found.",
        |p| index(&[VolumeRule::Exact, VolumeRule::Moments], p.volume_rule),
        |p, k| p.volume_rule = [VolumeRule::Exact, VolumeRule::Moments][k],
    ),
    Setting::choice(
        "mass_rule",
        &[
            ("fixed", "only splitting and merging change masses, so that momentum is kept"),
            ("running", "masses follow the volumes in every step, as in the paper"),
        ],
        "Whether masses change while it runs.",
        |p| index(&[MassRule::Fixed, MassRule::Running], p.mass_rule),
        |p, k| p.mass_rule = [MassRule::Fixed, MassRule::Running][k],
    ),
    Setting::number(
        "stabilization",
        Range::NON_NEGATIVE,
        "Strength, as a share of lambda + 2 mu, of the penalty on motion that a particle's deformation gradient does not \
             see; the paper has none, which is 0.",
        |p| &mut p.stabilization,
    ),
    Setting::number(
        "repulsion",
        Range::NON_NEGATIVE,
        "Strength, as a share of lambda + 2 mu, with which particles that have flowed and are nearer than 0.8 of the spacing push \
             each other away; the paper has none, which is 0.",
        |p| &mut p.repulsion,
    ),
    Setting::number(
        "volume_correction",
        Range::FRACTION,
        "Share of the difference between det F and the volume that the density tells which an update of the neighbourhoods takes away, \
             where matter has flowed and is denser than F says; the paper has none, which is 0. It acts with `list_update = \"continuous\"`.",
        |p| &mut p.volume_correction,
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
        "integrator",
        &[
            ("leapfrog", "half a kick, implicit viscosity, drift, half a kick"),
            ("symplectic_euler", "a whole kick, implicit viscosity, drift"),
            (
                "newmark",
                "the paper's scheme for viscous matter, with elastic forces in both halves: as printed, bodies fall at half their weight",
            ),
        ],
        "How positions and velocities advance; the paper has leapfrog, with explicit viscosity, and Newmark.",
        |p| index(&[Integrator::Leapfrog, Integrator::SymplecticEuler, Integrator::Newmark], p.integrator),
        |p, k| p.integrator = [Integrator::Leapfrog, Integrator::SymplecticEuler, Integrator::Newmark][k],
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
    Setting::choice(
        "embedding",
        &[
            ("linear", "by least squares, as in the paper"),
            ("nonlinear", "as the pose of least elastic energy, after Wicke et al. 2010"),
            ("off", "never: neighbourhoods stay what they are at the start, as in the paper's Fig. 5 b"),
        ],
        "How the embedded positions are found.",
        |p| index(&[Embedding::Linear, Embedding::Nonlinear, Embedding::Off], p.embedding),
        |p, k| p.embedding = [Embedding::Linear, Embedding::Nonlinear, Embedding::Off][k],
    ),
    Setting::integer(
        "embed_every",
        [1, 1_000_000],
        "Steps between two updates of embedding and neighbourhoods, at least; the paper has 1.",
        |p| &mut p.embed_every,
    ),
    Setting::number(
        "embed_flow",
        Range::NON_NEGATIVE,
        "Plastic strain since the last update, where it is largest, that makes an update worth while; the paper updates in \
             every step, which 0 does.",
        |p| &mut p.embed_flow,
    ),
    Setting::number(
        "embed_tolerance",
        Range { min: Some((0.0, false)), max: Some((0.01, true)) },
        "Residual of the embedding over that of bonds stretched by their own length; sloppy ones add up, and the paper names none.",
        |p| &mut p.embed_tolerance,
    ),
    Setting::choice(
        "list_update",
        &[
            ("continuous", "the deformation gradient stays what it was, and so do the forces"),
            ("plain", "new bonds are embedded ones and nothing else changes, as in the paper"),
        ],
        "What a change of neighbours does to the rest bonds.",
        |p| index(&[ListUpdate::Continuous, ListUpdate::Plain], p.list_update),
        |p, k| p.list_update = [ListUpdate::Continuous, ListUpdate::Plain][k],
    ),
    Setting::integer(
        "common_neighbors",
        [0, SLOTS as i64],
        "Neighbours that two particles must share to become neighbours, so that layers which only touch do not weld; \
             the paper has 0.",
        |p| &mut p.common_neighbors,
    ),
    Setting::number(
        "speed_limit",
        Range::NON_NEGATIVE,
        "Speed over its neighbours' that a particle may have, in speeds of sound; the paper has no limit, which is 0.",
        |p| &mut p.speed_limit,
    ),
    Setting::choice(
        "resampling",
        &[
            ("gaps", "by gaps and closeness at rest, in units of the spacing"),
            ("eigenvalues", "by the paper's eigenvalues, against those of the start; it hardly ever acts"),
            ("off", "never"),
        ],
        "When particles split and merge.",
        |p| match p.resampling {
            Resampling::Gaps { .. } => 0,
            Resampling::Eigenvalues { .. } => 1,
            Resampling::Off => 2,
        },
        |p, k| p.resampling = [Resampling::GAPS, Resampling::EIGENVALUES, Resampling::Off][k],
    ),
    Setting::own(
        SettingInfo {
            key: "split_at",
            kind: SettingKind::Number("1", Range::POSITIVE),
            default_note: Some("1.7 for gaps, 0.6 for eigenvalues"),
            about: "Gap on both sides over which a particle splits, in spacings and over 1.2; or, for eigenvalues, share of the \
             start's smallest under which it splits, less than 1. The paper leaves the number open.",
        },
        |p| p.resampling.thresholds().map(|[split, _]| SettingValue::Number(split)),
        |p, value| p.resampling.set_threshold("split_at", value),
    ),
    Setting::own(
        SettingInfo {
            key: "merge_at",
            kind: SettingKind::Number("1", Range::NON_NEGATIVE),
            default_note: Some("0.4 for gaps, 1.5 for eigenvalues"),
            about: "Distance under which two particles merge, in spacings and less than 0.9; or, for eigenvalues, multiple of the \
             start's largest over which they merge, over 1. The paper leaves the number open.",
        },
        |p| p.resampling.thresholds().map(|[_, merge]| SettingValue::Number(merge)),
        |p, value| p.resampling.set_threshold("merge_at", value),
    ),
    Setting::number(
        "safety",
        Range::SHARE,
        "Largest time step as a fraction of the stability limit; the paper names its time steps only.",
        |p| &mut p.safety,
    ),
];

impl MethodFactory for Params {
    fn key(&self) -> &str {
        "embedded"
    }

    fn build(&self, particles: &mut Particles, matter: &Matter) -> Result<Box<dyn Method>, MethodError> {
        Ok(Box::new(Embedded::build(self.clone(), particles, matter)?))
    }

    settings::listed_in!(SETTINGS);

    /// Returns the memory for 32 bonds: 5.7 kB measured at 200,000 particles with checkpoints, plus a margin for
    /// particles that split.
    fn bytes_per_particle(&self) -> Real {
        6000.0
    }
}
