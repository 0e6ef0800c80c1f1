//! Moving least squares over bonds: moment matrices, their safe inverse, the gradient of a field, and the force of the
//! resulting stress. The two passes here are the hot loops of every method that fits a gradient.

mod laplacian;
mod moment;
mod passes;

pub use laplacian::Laplacian;
pub use moment::{Inverse, moment, safe_inverse};
pub use passes::{
    Answer, BondGeometry, EvenBonds, Fit, PointAnswer, PointBonds, Squares, WeightedBonds, apply_laplacian,
    fit_gradient, fit_row, fit_row_with_squares, gather_answers, gather_stored_answers,
};
