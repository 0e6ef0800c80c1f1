//! Tests of exports, by readers that follow the specifications of the formats and share no code with the writers.

mod html;
mod npz;
mod obj_and_ply;
#[path = "../viewer/packet.rs"]
mod packet;
mod support;
mod targets;
mod usd;
mod vtp;
