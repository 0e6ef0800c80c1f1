//! Contact: obstacles, static or moving, other bodies, and grips that hold and lead particles. A service: it answers what particles
//! meet in a step and books the impulses that pass; each kind of step responds in its own way.

mod bodies;
mod contacts;
mod grips;
mod motion;
mod obstacles;

pub(crate) use bodies::{AllGroups, BodyContactStep, BodyContacts, BodyTraits, GroupView, Pair};
pub use contacts::{ContactRow, Contacts, Other};
pub(crate) use contacts::{Phase, STUCK, TOUCHES, TOUCHES_NOTHING, Touch};
pub(crate) use grips::GripMove;
pub use grips::{Axes, Grip, GripTarget, Grips, HOLDS, Holds};
pub use motion::{Ease, Keyframe, Motion, Pose};
pub use obstacles::{Contact, Friction, Obstacle};
pub(crate) use obstacles::{PosedObstacle, Surface};
