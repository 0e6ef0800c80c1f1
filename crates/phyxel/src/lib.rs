//! phyxel: point-based simulation of deformable matter.

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
pub mod world;
