//! Materials: properties that may vary over a body, laws from deformation to stress, plastic flow, presets.

mod change;
mod description;
mod elasticity;
mod guard;
mod plasticity;
mod presets;

pub use crate::particles::{PROPERTIES, Parameter, Part, Properties, Property, PropertyInfo};
pub use change::MaterialChange;
pub use description::{Flow, Material, Varying};
pub use elasticity::{
    Corotated, Lame, LameParameter, Law, NeoHookean, SquaredStretch, StVenantKirchhoff, von_mises,
};
pub use guard::{VolumeGuard, VolumeStiffness};
pub use plasticity::{
    Answered, FlowRule, Flowed, Past, Unseen, YieldMeasure, Yielding, can_flow, log_plastic_stretch,
};
pub use presets::{PRESETS, Preset};
