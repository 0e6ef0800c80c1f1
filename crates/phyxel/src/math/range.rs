//! Ranges of allowed values.

use super::Real;

/// Range of allowed values between two optional limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// Lower limit, and true if the limit itself is allowed.
    pub min: Option<(Real, bool)>,
    /// Upper limit, and true if the limit itself is allowed.
    pub max: Option<(Real, bool)>,
}

impl Range {
    /// Any finite number.
    pub const ANY: Self = Self { min: None, max: None };
    /// Numbers greater than zero.
    pub const POSITIVE: Self = Self { min: Some((0.0, false)), max: None };
    /// Numbers from zero upwards.
    pub const NON_NEGATIVE: Self = Self { min: Some((0.0, true)), max: None };
    /// Numbers greater than 0, up to and including 1.
    pub const SHARE: Self = Self { min: Some((0.0, false)), max: Some((1.0, true)) };
    /// Numbers from 0 to 1, both included.
    pub const FRACTION: Self = Self::between(0.0, 1.0);

    /// Returns the range between two limits, which are allowed themselves.
    pub const fn between(min: Real, max: Real) -> Self {
        Self { min: Some((min, true)), max: Some((max, true)) }
    }

    /// Returns the range of numbers greater than a limit.
    pub const fn over(min: Real) -> Self {
        Self { min: Some((min, false)), max: None }
    }

    /// Returns the range of numbers less than a limit.
    pub const fn under(max: Real) -> Self {
        Self { min: None, max: Some((max, false)) }
    }

    /// Returns true for allowed values; infinities and NaN are never allowed.
    pub fn contains(&self, value: Real) -> bool {
        let above = self.min.is_none_or(|(min, allowed)| value > min || (allowed && value == min));
        let below = self.max.is_none_or(|(max, allowed)| value < max || (allowed && value == max));
        value.is_finite() && above && below
    }

    /// Returns the limits as words that follow "must be", such as "greater than 0".
    pub fn describe(&self) -> String {
        let at_least = |(min, allowed): (Real, bool)| {
            if allowed { format!("at least {min}") } else { format!("greater than {min}") }
        };
        let at_most = |(max, allowed): (Real, bool)| {
            if allowed { format!("at most {max}") } else { format!("less than {max}") }
        };
        match (self.min, self.max) {
            (None, None) => "finite".to_owned(),
            (Some(min), None) => at_least(min),
            (None, Some(max)) => at_most(max),
            (Some((min, true)), Some((max, true))) => format!("from {min} to {max}"),
            (Some(min), Some(max)) => format!("{} and {}", at_least(min), at_most(max)),
        }
    }
}
