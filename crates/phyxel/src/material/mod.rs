//! What bodies are made of: parameters that may vary, laws from deformation to stress, plastic flow, presets.

mod change;
mod elasticity;
mod guard;
mod parameter;
mod plasticity;
mod presets;

pub use change::{MaterialChange, PlasticityChange};
pub use elasticity::{
    Corotated, Lame, LameParameter, Law, NeoHookean, SquaredStretch, StVenantKirchhoff, von_mises,
};
pub use guard::{VolumeGuard, VolumeStiffness};
pub use parameter::{Material, Parameter, Varying};
pub use plasticity::{
    Answered, FlowRule, Flowed, PlasticParameter, Plasticity, Unseen, YieldMeasure, Yielding,
    log_plastic_stretch,
};
pub use presets::{PRESETS, Preset};
