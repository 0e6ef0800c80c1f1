//! Settings of the embedded method: what the user typed.

use super::Embedded;
use crate::material::FlowRule;
use crate::math::Real;
use crate::methods::{Matter, Method, MethodError, MethodFactory};
use crate::particles::Particles;

/// Where masses and volumes come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VolumeRule {
    /// Each particle's share of the shape.
    Exact,
    /// [Jones2014] Eq. 3, scaled so that they add up to the body's volume.
    Moments,
}

/// Whether masses change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MassRule {
    /// Only by splitting and merging.
    Fixed,
    /// They follow [Jones2014] Eq. 3 in every step: momentum is not kept.
    Running,
}

/// How positions and velocities advance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integrator {
    /// Half a kick, implicit viscosity, drift, half a kick.
    Leapfrog,
    /// A whole kick, implicit viscosity, drift.
    SymplecticEuler,
    /// [Jones2014] Sec. 3.2 with elastic forces in both halves: viscosity implicit in the first, explicit in the second.
    Newmark,
}

/// What viscosity acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViscosityModel {
    /// The rate of strain: true shear viscosity, rigid motion is free.
    StrainRate,
    /// Differences of velocity, [Jones2014] Eq. 8 made symmetric: brakes rotation, too.
    Sph,
}

/// How the embedded positions are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Embedding {
    /// Least squares, [Jones2014] Eq. 9.
    Linear,
    /// The pose of least elastic energy, as in [Wicke2010].
    Nonlinear,
    /// Never: neighbourhoods stay what they are at the start ([Jones2014] Fig. 5 b).
    Off,
}

/// What a change of neighbours does to the rest bonds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListUpdate {
    /// The deformation gradient stays what it was.
    Continuous,
    /// New bonds are embedded ones and nothing else changes, as in [Jones2014] Sec. 3.4.
    Plain,
}

/// When particles split and merge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Resampling {
    /// Never.
    Off,
    /// By gaps and closeness in rest space, in units of the spacing.
    Gaps {
        /// Splits what has a gap wider than this on both sides.
        split: Real,
        /// Merges what is nearer than this.
        merge: Real,
    },
    /// By the eigenvalues of [Jones2014] Eq. 13 against those of the start.
    Eigenvalues {
        /// Splits where the largest falls under this share of the smallest largest one.
        split: Real,
        /// Merges where the smallest rises over this multiple of the largest smallest one.
        merge: Real,
    },
}

/// Settings of the embedded method.
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    /// Support radius in mean distances to the 32 nearest.
    pub support_factor: Real,
    /// Masses and volumes.
    pub volume_rule: VolumeRule,
    /// Whether masses change.
    pub mass_rule: MassRule,
    /// β, share of λ + 2µ that resists motion that the fit cannot see; 0 is the paper.
    pub stabilization: Real,
    /// Share of λ + 2µ with which particles that have flowed and crowd push each other away; 0 is the paper.
    pub repulsion: Real,
    /// Share of the difference between det F and the volume that the density tells which an update takes from what has flowed; 0
    /// is the paper.
    pub volume_correction: Real,
    /// What flow rates mean.
    pub flow_rule: FlowRule,
    /// How positions and velocities advance.
    pub integrator: Integrator,
    /// What viscosity acts on.
    pub viscosity_model: ViscosityModel,
    /// How the embedded positions are found.
    pub embedding: Embedding,
    /// Steps between updates of the embedding and the neighbourhoods, at least; the paper has 1.
    pub embed_every: usize,
    /// Plastic strain since the last update, where it is largest, that makes an update worth while; the paper has 0.
    pub embed_flow: Real,
    /// Residual of the embedding over its right-hand side.
    pub embed_tolerance: Real,
    /// What a change of neighbours does.
    pub list_update: ListUpdate,
    /// Neighbours that two particles must share to become neighbours; 0 is the paper.
    pub common_neighbors: usize,
    /// Speed over its neighbours' that a particle may have, in speeds of sound; 0 is the paper: no limit.
    pub speed_limit: Real,
    /// When particles split and merge.
    pub resampling: Resampling,
    /// Time step over the stability limit.
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
            resampling: Resampling::Gaps { split: 1.7, merge: 0.4 },
            safety: 0.3,
        }
    }
}

impl Params {
    /// [Jones2014] to the letter, but for the mistakes in print: every step embedded, plain updates, running masses, the
    /// printed test for splitting, no stabilisation and no guards.
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
            resampling: Resampling::Eigenvalues { split: 0.6, merge: 1.5 },
            ..Self::default()
        }
    }
}

impl MethodFactory for Params {
    fn key(&self) -> &str {
        "embedded"
    }

    fn build(&self, particles: &mut Particles, matter: &Matter) -> Result<Box<dyn Method>, MethodError> {
        Ok(Box::new(Embedded::build(self.clone(), particles, matter)?))
    }
}
