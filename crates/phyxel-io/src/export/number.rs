//! Numbers as text: the shortest form that parses back to the same float.

/// Appends a number; numbers that are not finite are spelled as in C and USD: `nan`, `inf`, `-inf`.
pub(super) fn push_f32(text: &mut String, value: f32) {
    use std::fmt::Write;
    if value.is_nan() {
        text.push_str("nan");
        return;
    }
    // the debug form has an exponent where it is shorter; writing to a string cannot fail
    let _ = write!(text, "{value:?}");
    if text.ends_with(".0") {
        text.truncate(text.len() - 2);
    }
}

/// Appends numbers with a separator between them.
pub(super) fn push_joined(text: &mut String, values: &[f32], separator: &str) {
    for (place, value) in values.iter().enumerate() {
        if place > 0 {
            text.push_str(separator);
        }
        push_f32(text, *value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_come_back() {
        let shown = |value: f32| {
            let mut text = String::new();
            push_f32(&mut text, value);
            text
        };
        assert_eq!([1.0, -0.25, 1e-20, 3e20].map(shown), ["1", "-0.25", "1e-20", "3e20"]);
        assert_eq!([f32::NAN, f32::INFINITY, f32::NEG_INFINITY].map(shown), ["nan", "inf", "-inf"]);
        for value in [0.1f32, 1.0 / 3.0, f32::MIN_POSITIVE, f32::MAX, -1.234_567_9e-7, 0.0] {
            assert_eq!(shown(value).parse::<f32>().unwrap().to_bits(), value.to_bits());
        }
        let mut text = String::new();
        push_joined(&mut text, &[1.0, 2.5], ", ");
        assert_eq!(text, "1, 2.5");
    }
}
