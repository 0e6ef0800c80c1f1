//! Round numbers for legends and axes.

/// Marks at round values of an axis.
pub(crate) struct Ticks {
    /// Position as a share of the range, and text.
    pub(crate) marks: Vec<(f64, String)>,
    /// Power of ten that is the unit of all values.
    exponent: i32,
}

impl Ticks {
    /// Creates marks with about `n_intervals` intervals between two values.
    pub(crate) fn between(min: f64, max: f64, n_intervals: f64) -> Self {
        if !(min.is_finite() && max.is_finite()) {
            return Self { marks: Vec::new(), exponent: 0 };
        }
        let largest = min.abs().max(max.abs());
        let magnitude = if largest > 0.0 { largest.log10().floor() as i32 } else { 0 };
        let exponent = if (-2..5).contains(&magnitude) { 0 } else { magnitude.div_euclid(3) * 3 };
        let unit = 10f64.powi(exponent);
        let (low, high) = (min / unit, max / unit);
        let extent = high - low;
        // A range below the precision of f32 gets a single mark.
        if extent.abs() <= 1e-6 * (largest / unit) {
            return Self { marks: vec![(0.5, trimmed(0.5 * (low + high), 4))], exponent };
        }
        let step = nice_step(extent.abs() / n_intervals);
        let decimals = (-step.log10().floor()).max(0.0) as usize;
        let first = (low.min(high) / step - 1e-6).ceil() as i64;
        let last = (low.max(high) / step + 1e-6).floor() as i64;
        let mark = |k: i64| {
            let value = k as f64 * step;
            (((value - low) / extent).clamp(0.0, 1.0), format!("{value:.decimals$}").replace('-', "−"))
        };
        Self { marks: (first..=last).map(mark).collect(), exponent }
    }

    /// Returns the heading of the marks: the quantity, their power of ten, the unit.
    pub(crate) fn heading(&self, label: &str, unit: &str) -> String {
        let mut parts = vec![label.trim().to_owned()];
        if self.exponent != 0 {
            let raise = |digit: char| match digit {
                '-' => '⁻',
                _ => digit.to_digit(10).and_then(|d| "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(d as usize)).unwrap_or(digit),
            };
            parts.push(format!("×10{}", self.exponent.to_string().chars().map(raise).collect::<String>()));
        }
        if !unit.trim().is_empty() {
            parts.push(format!("[{}]", unit.trim()));
        }
        parts.join(" ").trim().to_owned()
    }
}

/// Returns the smallest of 1, 2, 5 and 10 times a power of ten that is not below `rough`.
pub(crate) fn nice_step(rough: f64) -> f64 {
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().find(|step| step * power >= rough * 0.999);
    step.unwrap_or(10.0) * power
}

fn trimmed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    text.trim_end_matches('0').trim_end_matches('.').replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(min: f64, max: f64) -> Vec<String> {
        Ticks::between(min, max, 5.0).marks.into_iter().map(|mark| mark.1).collect()
    }

    #[test]
    fn ticks_are_round_numbers_inside_the_range() {
        assert_eq!(texts(0.0, 1.0), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(texts(-3.0, 2.0), ["−3", "−2", "−1", "0", "1", "2"]);
        assert_eq!(texts(0.013, 0.047), ["0.02", "0.03", "0.04"]);
        assert_eq!(texts(0.0, 2.3e6), ["0.0", "0.5", "1.0", "1.5", "2.0"]);
    }

    #[test]
    fn tick_places_match_their_values() {
        for (share, text) in Ticks::between(10.0, 35.0, 5.0).marks {
            let value: f64 = text.parse().unwrap();
            assert!((10.0 + share * 25.0 - value).abs() < 1e-4, "{text} at {share}");
        }
    }

    #[test]
    fn headings_carry_the_power_and_the_unit() {
        assert_eq!(Ticks::between(0.0, 2.3e6, 5.0).heading("stress", "Pa"), "stress ×10⁶ [Pa]");
        assert_eq!(Ticks::between(0.0, 4e-5, 5.0).heading("strain", ""), "strain ×10⁻⁶");
        assert_eq!(Ticks::between(0.0, 1.0, 5.0).heading("speed", "m/s"), "speed [m/s]");
    }

    #[test]
    fn strange_ranges_are_survived() {
        assert_eq!(texts(2.0, 2.0), ["2"]);
        assert_eq!(texts(0.0, 0.0), ["0"]);
        assert!(texts(f64::NAN, 1.0).is_empty());
        assert!(texts(0.0, f64::INFINITY).is_empty());
        assert!((1..12).contains(&texts(-f64::MAX, f64::MAX).len()));
        assert!((1..12).contains(&texts(1.0, 1.000_001).len()));
        assert_eq!(texts(1.0, 0.0).len(), 6);
    }
}
