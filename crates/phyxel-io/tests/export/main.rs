//! Exports, read back by readers that know the formats' specifications and nothing of the writers.

mod npz;
mod obj_and_ply;
mod support;
mod targets;
mod usd;
mod vtp;
