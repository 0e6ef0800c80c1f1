//! Exports, read back by readers that know the formats' specifications and nothing of the writers.

mod html;
mod npz;
mod obj_and_ply;
#[path = "../viewer/packet.rs"]
mod packet;
mod support;
mod targets;
mod usd;
mod vtp;
