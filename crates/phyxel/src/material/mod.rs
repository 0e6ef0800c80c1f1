//! What bodies are made of: parameters that may vary, and the laws from deformation to stress.

mod elasticity;
mod guard;
mod parameter;

pub use elasticity::{Lame, StVenantKirchhoff};
pub use guard::{VolumeGuard, VolumeStiffness};
pub use parameter::{Material, Parameter, Varying};
