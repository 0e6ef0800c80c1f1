//! Scalars of particles: one number for all of them, or a column.

use crate::math::Real;

/// A scalar of the particles of a group: one number for all, or a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Parameter {
    /// The same value for all particles.
    Uniform(Real),
    /// One value per particle.
    Column(Vec<Real>),
}

impl Parameter {
    /// Returns the value of particle i.
    #[inline(always)]
    pub fn at(&self, i: usize) -> Real {
        match self {
            Self::Uniform(value) => *value,
            Self::Column(column) => column[i],
        }
    }

    /// Returns true if every particle has the value 0.
    pub fn is_zero(&self) -> bool {
        self.values().iter().all(|&value| value == 0.0)
    }

    /// Returns the column, or the single number as a slice of length 1.
    pub fn values(&self) -> &[Real] {
        match self {
            Self::Uniform(value) => std::slice::from_ref(value),
            Self::Column(column) => column,
        }
    }

    /// Creates a parameter from the result of [`Parameter::values`]; a single value applies to all particles.
    pub fn from_values(values: Vec<Real>) -> Self {
        match *values.as_slice() {
            [value] => Self::Uniform(value),
            _ => Self::Column(values),
        }
    }

    /// Appends the values of `n_other` particles to those of `n` particles.
    pub fn append(&mut self, n: usize, other: &Self, n_other: usize) {
        match (&mut *self, other) {
            (Self::Uniform(a), Self::Uniform(b)) if a == b || n == 0 => *a = *b,
            _ => {
                let column = (0..n).map(|i| self.at(i)).chain((0..n_other).map(|i| other.at(i))).collect();
                *self = Self::Column(column);
            }
        }
    }

    /// Keeps the values of the first `n` particles.
    pub fn truncate(&mut self, n: usize) {
        if let Self::Column(column) = self {
            column.truncate(n);
        }
    }

    /// Sets the value of the particles of one body; `bodies` has the body of each particle.
    pub fn set(&mut self, value: Real, bodies: &[u32], body: u32) {
        if *self == Self::Uniform(value) {
            return;
        }
        if bodies.iter().all(|b| *b == body) {
            *self = Self::Uniform(value);
            return;
        }
        let of = |(i, b): (usize, &u32)| if *b == body { value } else { self.at(i) };
        *self = Self::Column(bodies.iter().enumerate().map(of).collect());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_becomes_a_column_only_where_values_differ() {
        let mut parameter = Parameter::Uniform(0.0);
        parameter.append(0, &Parameter::Uniform(2.0), 3);
        parameter.append(3, &Parameter::Uniform(2.0), 1);
        assert_eq!(parameter, Parameter::Uniform(2.0));
        parameter.append(4, &Parameter::Uniform(5.0), 1);
        assert_eq!(parameter.values(), [2.0, 2.0, 2.0, 2.0, 5.0]);
        parameter.set(1.0, &[0, 0, 0, 0, 1], 1);
        assert_eq!((parameter.at(3), parameter.at(4)), (2.0, 1.0));
        parameter.set(7.0, &[1; 5], 1);
        assert_eq!(parameter, Parameter::Uniform(7.0));
    }
}
