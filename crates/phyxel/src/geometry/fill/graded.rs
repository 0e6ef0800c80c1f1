//! Spacing that changes along an axis: layers across the axis, as thick as the local spacing, each with its own rows.
//!
//! The layers are perpendicular to the axis itself, not to the body's own axis nearest to it, so that the spacing
//! within a layer is one number for any direction. Their boundaries divide ∫ ds / a(s) equally: no gap, no double
//! layer.

use rayon::prelude::*;

use super::super::placement::PlacedShape;
use super::lattice::{Lattice, covering_count, fitted_count};
use super::{Body, FillError, Sample};
use crate::math::{Real, Vec3, ln, pow, vec3};

/// Spacing as a function of position, in the frame of [`Body`].
pub(super) struct Gradation {
    axis: Vec3,
    /// Lower end of the body along the axis (m); `high` is the upper end.
    low: Real,
    high: Real,
    from: Real,
    to: Real,
}

impl Gradation {
    pub(super) fn new(shape: &PlacedShape, axis: Vec3, from: Real, to: Real) -> Self {
        Self { axis, low: -shape.support(-axis), high: shape.support(axis), from, to }
    }

    /// Returns the spacing at a position.
    pub(super) fn spacing(&self, position: Vec3) -> Real {
        self.at(self.axis.dot(position))
    }

    fn at(&self, s: Real) -> Real {
        let part = ((s - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        self.from + part * (self.to - self.from)
    }

    /// Returns the bounds of the layers, from low to high. With a(s) linear, ∫ ds / a(s) is a logarithm, and equal
    /// shares of it mean that the spacings at the bounds form a geometric series.
    fn layer_bounds(&self) -> Vec<Real> {
        let length = self.high - self.low;
        let ratio = self.to / self.from;
        let mean = if (ratio - 1.0).abs() < 1e-6 { self.from } else { (self.to - self.from) / ln(ratio) };
        let n_layers = fitted_count(length, mean);
        (0..=n_layers)
            .map(|layer| {
                let share = layer as Real / n_layers as Real;
                let part = if (ratio - 1.0).abs() < 1e-6 {
                    share
                } else {
                    (pow(ratio, share) - 1.0) / (ratio - 1.0)
                };
                self.low + part * length
            })
            .collect()
    }

    /// Returns the axis and two directions across it, along the body's own axes if the axis is one of them.
    fn frame(&self) -> [Vec3; 3] {
        let along = self.axis.abs();
        let least = along.min_element();
        let most_across = (0..3).rev().find(|&index| along[index] == least).unwrap_or(0);
        let second = Vec3::AXES[most_across].reject_from_normalized(self.axis).normalize();
        [self.axis, second, self.axis.cross(second)]
    }
}

/// Returns the lattice points of all layers.
pub(super) fn layers(body: &Body, gradation: &Gradation, limit: usize) -> Result<Vec<Sample>, FillError> {
    let frame = gradation.frame();
    let extent = |axis: Vec3| (-body.shape.support(-axis), body.shape.support(axis));
    let across = [extent(frame[1]), extent(frame[2])];
    // only a box whose edges are along the frame can be divided without remainder
    let is_aligned = frame.iter().all(|axis| axis.abs().max_element() > 1.0 - 1e-12);
    let fits = body.box_size().is_some() && is_aligned;
    let bounds = gradation.layer_bounds();
    let found: Vec<Result<Vec<Sample>, FillError>> = bounds
        .par_windows(2)
        .map(|layer| {
            let (low, high) = (layer[0], layer[1]);
            let spacing = gradation.at(0.5 * (low + high));
            let lengths = across.map(|(start, end)| end - start);
            let counts = lengths.map(|length| match fits {
                true => fitted_count(length, spacing),
                false => covering_count(length, spacing),
            });
            let width = |index: usize| if fits { lengths[index] / counts[index] as Real } else { spacing };
            let middle = |(start, end): (Real, Real)| 0.5 * (start + end);
            let center =
                0.5 * (low + high) * frame[0] + middle(across[0]) * frame[1] + middle(across[1]) * frame[2];
            let cell = vec3(high - low, width(0), width(1));
            let lattice = Lattice::around(center, frame, cell, [1, counts[0], counts[1]]);
            let positions = lattice.inside(&body.shape, limit)?;
            let cell_volume = lattice.cell_volume();
            Ok(positions.into_iter().map(|position| Sample { position, spacing, cell_volume }).collect())
        })
        .collect();
    let mut samples = Vec::new();
    for layer in found {
        samples.extend(layer?);
        if samples.len() > limit {
            return Err(FillError::TooMany { estimate: samples.len() as Real, limit });
        }
    }
    Ok(samples)
}
