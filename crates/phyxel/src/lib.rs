//! phyxel simulates deformable matter as points, without mesh, grid or GPU. This crate is the engine; it reads and
//! writes no files.
//!
//! This example lets a jelly block fall on a floor. Positions can be drawn after every frame:
//! ```
//! use phyxel::prelude::*;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let jelly = Material::elastic(40e3, 0.4)  // Young's modulus (Pa), Poisson's ratio
//!     .with(Property::Density, 1050.0)      // kg/m³
//!     .with(Property::Viscosity, 10.0);     // Pa s
//! let block = Body::new("block", Shape::Box { size: Vec3::splat(0.2) }, 0.025, jelly).at(vec3(0.0, 0.4, 0.0));
//! let floor = Obstacle::new("floor", Shape::HalfSpace { normal: Vec3::Y, offset: 0.0 }.into()).with_friction(0.5);
//! let mut world = World::builder().body(block).obstacle(floor).build()?;
//!
//! for _ in 0..30 {
//!     world.advance(1.0 / 60.0)?;
//!     let frame = world.frame(&["stress"]); // f32 positions, radii, ids and the columns asked for
//!     assert!(frame.position.iter().all(|p| p[1] > 0.0));
//! }
//! println!("kinetic energy: {} J", world.ledger().kinetic_energy);
//! # Ok(())
//! # }
//! ```
//!
//! All quantities are in SI units, and y points up. A [`world::World`] holds groups of bodies; each group is driven by
//! one [`methods::Method`]. Callers can add force fields ([`forces::Field::Custom`]) and methods of their own
//! ([`methods::MethodFactory`]) without forking; see `examples/`. The same world gives bitwise the same results for any
//! number of threads and on every machine; run it inside a rayon pool of your own to choose the number.
//!
//! Modules are layered, lowest first: [`math`]; [`kernels`], [`linear`], [`neighbors`], [`particles`], [`frame`];
//! [`geometry`], [`mls`]; [`material`]; [`contact`], [`forces`], [`surface`]; [`methods`]; [`world`].

pub mod contact;
pub mod forces;
pub mod frame;
pub mod geometry;
pub mod kernels;
pub mod linear;
pub mod material;
pub mod math;
pub mod methods;
pub mod mls;
pub mod neighbors;
pub mod particles;
pub mod surface;
pub mod world;

/// Digests of short runs by every method of the catalogue, a line each. Engines whose digests differ have other bits in
/// their results and cannot continue each other's runs; `tests/same_bits.rs` holds them to be true.
pub const BITS: &str = include_str!("bits.txt");

/// Items that most programs which embed the engine need.
pub mod prelude {
    pub use crate::contact::{Axes, Ease, Friction, Grip, Keyframe, Motion, Obstacle};
    pub use crate::forces::{Field, ForceField};
    pub use crate::frame::Frame;
    pub use crate::geometry::{Fill, PlacedShape, Placement, Sampling, Shape, Spacing};
    pub use crate::material::{Flow, Law, Material, MaterialChange, Property, Varying, YieldMeasure};
    pub use crate::math::{Mat3, Quat, Real, Vec3, vec3};
    pub use crate::surface::{Carried, CarryOrder};
    pub use crate::world::{
        Action, Body, BodyId, BuildError, Event, Hold, Ledger, NewParticles, ObstacleId, RayHit, Touching,
        TouchingSide, World, WorldBuilder, WorldError,
    };
}
