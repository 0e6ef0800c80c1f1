//! Linear solvers that use a matrix only through its products with vectors.

mod conjugate_gradients;

pub use conjugate_gradients::{ConjugateGradients, Solved};
