//! Solvers that see a matrix only through its product with a vector.

mod conjugate_gradients;

pub use conjugate_gradients::{ConjugateGradients, Solved};
