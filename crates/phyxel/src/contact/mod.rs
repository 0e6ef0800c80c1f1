//! Contact of particles with obstacles (static or moving) and other bodies, and grips that hold and move particles.
//! This module finds the contacts of a step and records the impulses; each kind of step computes its own response.

mod bodies;
mod contacts;
mod grips;
mod motion;
mod obstacles;

pub(crate) use bodies::{AllGroups, BodyContactStep, BodyContacts, BodyTraits, GroupView, Pair};
pub use contacts::{ContactRow, Contacts, Other};
pub(crate) use contacts::{Phase, STUCK, Shift, TOUCHES, TOUCHES_NOTHING, Touch};
pub(crate) use grips::GripMove;
pub use grips::{Axes, Grip, GripTarget, Grips, HOLDS, Holds};
pub use motion::{Ease, Keyframe, Motion, Pose};
pub use obstacles::{Contact, Friction, Obstacle};
pub(crate) use obstacles::{PosedObstacle, Surface};
