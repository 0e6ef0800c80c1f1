//! Allowed values.

use super::Real;

/// Allowed values between two optional limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// Lower limit, and whether it is allowed itself.
    pub min: Option<(Real, bool)>,
    /// Upper limit, and whether it is allowed itself.
    pub max: Option<(Real, bool)>,
}

impl Range {
    /// Any finite number.
    pub const ANY: Self = Self { min: None, max: None };
    /// Greater than zero.
    pub const POSITIVE: Self = Self { min: Some((0.0, false)), max: None };
    /// Zero or more.
    pub const NON_NEGATIVE: Self = Self { min: Some((0.0, true)), max: None };
    /// Over 0, up to 1.
    pub const SHARE: Self = Self { min: Some((0.0, false)), max: Some((1.0, true)) };
    /// From 0 to 1.
    pub const FRACTION: Self = Self::between(0.0, 1.0);

    /// Between two limits, which are allowed themselves.
    pub const fn between(min: Real, max: Real) -> Self {
        Self { min: Some((min, true)), max: Some((max, true)) }
    }

    /// Greater than a limit.
    pub const fn over(min: Real) -> Self {
        Self { min: Some((min, false)), max: None }
    }

    /// Less than a limit.
    pub const fn under(max: Real) -> Self {
        Self { min: None, max: Some((max, false)) }
    }

    /// True for allowed values. NaN never is.
    pub fn contains(&self, value: Real) -> bool {
        let above = self.min.is_none_or(|(min, allowed)| value > min || (allowed && value == min));
        let below = self.max.is_none_or(|(max, allowed)| value < max || (allowed && value == max));
        value.is_finite() && above && below
    }

    /// The limits as words that follow "must be": "greater than 0".
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
