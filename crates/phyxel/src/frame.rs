//! The f32 snapshot that leaves the engine.

use crate::math::Real;

/// What the world looks like at one moment, rows in order of particle id.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// (s)
    pub time: Real,
    /// World positions (m).
    pub position: Vec<[f32; 3]>,
    /// Stable ids, ascending.
    pub id: Vec<u32>,
    /// Index of the body.
    pub body: Vec<u32>,
    /// Half the local spacing (m).
    pub radius: Vec<f32>,
    /// The asked-for columns.
    pub columns: Vec<FrameColumn>,
}

/// A column of a frame: scalars or vectors.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameColumn {
    /// As asked for.
    pub name: String,
    /// SI unit.
    pub unit: &'static str,
    /// 1 for scalars, 3 for vectors.
    pub n_components: usize,
    /// Row after row.
    pub values: Vec<f32>,
}
