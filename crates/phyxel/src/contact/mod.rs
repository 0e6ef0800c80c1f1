//! What bodies meet: obstacles, static or moving, each other, and grips that hold and lead particles. A service that methods ask
//! in their own way: explicit ones after moving, projective ones in every iteration, implicit ones as rows.

mod bodies;
mod grips;
mod motion;
mod obstacles;

pub(crate) use bodies::{BodyContacts, BodyTraits, GroupView, Meeting};
pub(crate) use grips::GripMove;
pub use grips::{Axes, Grip, Grips, HOLDS, Holds};
pub use motion::{Ease, Keyframe, Motion, Pose};
pub use obstacles::{Contact, Contacts, Friction, Obstacle};
pub(crate) use obstacles::{PosedObstacle, Surface};
