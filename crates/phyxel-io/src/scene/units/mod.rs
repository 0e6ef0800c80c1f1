//! Parsing of physical quantities in scene files: "0.5 MPa" as a pressure gives 500000.0 in SI units.
//!
//! A unit is a product of symbols: `kg/m3`, `Pa.s`, `Pa·s`, `m/s^2`, `m/s²`, `1/s`. A `/` applies to the next symbol
//! only.

mod dimension;
mod table;

pub use dimension::Dimension;

use table::{Scale, look_up, suggestion};
use thiserror::Error;

/// Reason why a text is not a quantity of the expected dimension.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum UnitError {
    /// The text does not begin with a number.
    #[error("\"{text}\" does not begin with a number")]
    NoNumber {
        /// The whole text.
        text: String,
    },
    /// The number is infinite, not a number, or too large to be stored.
    #[error("\"{text}\" is not a finite number")]
    NotFinite {
        /// The whole text.
        text: String,
    },
    /// The number has a decimal comma instead of a point.
    #[error("\"{text}\" has a comma in its number")]
    DecimalComma {
        /// The whole text.
        text: String,
    },
    /// The number is in quotes and lacks a unit.
    #[error("\"{text}\" has no unit")]
    MissingUnit {
        /// The whole text.
        text: String,
        /// Expected dimension.
        expected: Dimension,
    },
    /// A symbol of the unit is not in the table of units.
    #[error("unknown unit `{unit}`")]
    UnknownUnit {
        /// Unit as written.
        unit: String,
        /// Known unit that was most probably meant.
        nearest: Option<String>,
        /// Expected dimension.
        expected: Dimension,
    },
    /// The text is a valid quantity of another dimension.
    #[error("\"{text}\" is {}, expected {}", found.describe(), expected.describe())]
    WrongDimension {
        /// The whole text.
        text: String,
        /// Dimension that was found.
        found: Dimension,
        /// Expected dimension.
        expected: Dimension,
    },
}

impl UnitError {
    /// Returns advice on what to write instead.
    pub fn help(&self) -> String {
        let like = |dimension: &Dimension| format!("\"{}\"", dimension.example());
        match self {
            Self::NoNumber { .. } => "write a number, then its unit, such as \"5 cm\"".to_owned(),
            Self::NotFinite { .. } => "infinity and NaN are no values".to_owned(),
            Self::DecimalComma { .. } => "write a decimal point, such as \"0.5 m\"".to_owned(),
            Self::MissingUnit { text, expected } => {
                let unit = expected.unit();
                format!("write \"{} {unit}\", or {} without quotes for {unit}", text.trim(), text.trim())
            }
            Self::UnknownUnit { nearest: Some(nearest), .. } => format!("did you mean `{nearest}`?"),
            Self::UnknownUnit { expected, .. } if *expected == Dimension::NONE => {
                "a pure number has no unit; `%` is allowed".to_owned()
            }
            Self::UnknownUnit { expected, .. } | Self::WrongDimension { expected, .. } => {
                format!("{} looks like {}", expected.describe(), like(expected))
            }
        }
    }
}

fn unknown(symbol: &str, expected: Dimension) -> UnitError {
    UnitError::UnknownUnit { unit: symbol.to_owned(), nearest: suggestion(symbol, expected), expected }
}

/// Parses the power after a symbol: `3`, `^3`, `³`, `-1`, `^-1`, `⁻¹`; empty text is 1. `None` if it is not valid.
fn parse_power(text: &str) -> Option<i16> {
    if text.is_empty() {
        return Some(1);
    }
    let plain: String = text
        .strip_prefix('^')
        .unwrap_or(text)
        .chars()
        .map(|letter| match letter {
            '⁻' => '-',
            '¹' => '1',
            '²' => '2',
            '³' => '3',
            other => other,
        })
        .collect();
    plain.parse().ok().filter(|power: &i16| (-9..=9).contains(power) && *power != 0)
}

fn is_separator(letter: char) -> bool {
    matches!(letter, '*' | '·' | '⋅' | '.' | '/') || letter.is_whitespace()
}

/// Parses a unit such as `kg/m3` and returns its scale to SI and its dimension.
fn parse_unit(text: &str, expected: Dimension) -> Result<(Scale, Dimension), UnitError> {
    let (mut scale, mut dimension) = (Scale::ONE, Dimension::NONE);
    let mut rest = text.trim();
    let mut divided = false;
    loop {
        let end = rest.find(is_separator).unwrap_or(rest.len());
        let factor = &rest[..end];
        // The symbol "1" of "1/s" is itself a digit; elsewhere digits and signs start the power.
        let is_power = |letter: char| letter.is_ascii_digit() || "^-⁻¹²³".contains(letter);
        let split = if factor == "1" { 1 } else { factor.find(is_power).unwrap_or(factor.len()) };
        let (symbol, power) = factor.split_at(split);
        let known = look_up(symbol).zip(parse_power(power));
        let Some(((prefix, unit), power)) = known else {
            return Err(unknown(if factor.is_empty() { text.trim() } else { factor }, expected));
        };
        let power = if divided { -power } else { power };
        scale = scale.times(unit, prefix, power);
        dimension = dimension.times(unit.dimension, power);

        rest = rest[end..].trim_start();
        let Some(separator) = rest.chars().next() else { return Ok((scale, dimension)) };
        // A single blank also separates factors: "Pa s".
        divided = separator == '/';
        if is_separator(separator) {
            rest = rest[separator.len_utf8()..].trim_start();
        }
    }
}

/// Returns the byte length of the decimal number at the start of a text.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let sign = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let whole = digits(sign);
    let mut end = sign + whole;
    if bytes.get(end) == Some(&b'.') && (whole > 0 || digits(end + 1) > 0) {
        end += 1 + digits(end + 1);
    }
    if end == sign {
        return 0;
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let exponent = end + 1 + usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        // "5e" and "5 eV" have no exponent: the letter belongs to the unit.
        if exponent < bytes.len() && digits(exponent) > 0 {
            end = exponent + digits(exponent);
        }
    }
    end
}

/// Reads a number with a unit and returns its value in SI units.
///
/// ```
/// use phyxel_io::scene::{parse_quantity, Dimension};
/// assert_eq!(parse_quantity("0.5 MPa", Dimension::PRESSURE), Ok(0.5e6));
/// assert!(parse_quantity("3 kg", Dimension::LENGTH).is_err());
/// ```
pub fn parse_quantity(text: &str, expected: Dimension) -> Result<f64, UnitError> {
    let trimmed = text.trim();
    let owned = || text.to_owned();
    let (number, unit) = trimmed.split_at(number_length(trimmed));
    let Ok(value) = number.parse::<f64>() else {
        let bare = trimmed.trim_start_matches(['+', '-']).to_lowercase();
        let infinite = ["inf", "nan"].iter().any(|word| bare.starts_with(word));
        return Err(if infinite {
            UnitError::NotFinite { text: owned() }
        } else {
            UnitError::NoNumber { text: owned() }
        });
    };
    if unit.starts_with(',') {
        return Err(UnitError::DecimalComma { text: owned() });
    }
    let (scale, found) =
        if unit.trim().is_empty() { (Scale::ONE, Dimension::NONE) } else { parse_unit(unit, expected)? };
    if found != expected {
        return Err(if unit.trim().is_empty() {
            UnitError::MissingUnit { text: owned(), expected }
        } else {
            UnitError::WrongDimension { text: owned(), found, expected }
        });
    }
    let si = scale.apply(value);
    if si.is_finite() { Ok(si) } else { Err(UnitError::NotFinite { text: owned() }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_spelling_has_its_si_value() {
        use std::f64::consts::PI;
        let table: &[(&str, Dimension, f64)] = &[
            ("2 m", Dimension::LENGTH, 2.0),
            ("20 cm", Dimension::LENGTH, 0.2),
            ("5cm", Dimension::LENGTH, 0.05),
            ("3 mm", Dimension::LENGTH, 0.003),
            ("7 um", Dimension::LENGTH, 7e-6),
            ("7 µm", Dimension::LENGTH, 7e-6),
            ("7 μm", Dimension::LENGTH, 7e-6),
            ("1.5 km", Dimension::LENGTH, 1500.0),
            ("10 in", Dimension::LENGTH, 0.254),
            ("2 s", Dimension::TIME, 2.0),
            ("2 ms", Dimension::TIME, 0.002),
            ("2 us", Dimension::TIME, 2e-6),
            ("2 min", Dimension::TIME, 120.0),
            ("3 kg", Dimension::MASS, 3.0),
            ("3 g", Dimension::MASS, 0.003),
            ("3 t", Dimension::MASS, 3000.0),
            ("1 Pa", Dimension::PRESSURE, 1.0),
            ("2 kPa", Dimension::PRESSURE, 2e3),
            ("0.5 MPa", Dimension::PRESSURE, 0.5e6),
            ("210 GPa", Dimension::PRESSURE, 2.1e11),
            ("3 kN/m2", Dimension::PRESSURE, 3e3),
            ("4 J/m3", Dimension::PRESSURE, 4.0),
            ("50 Pa.s", Dimension::VISCOSITY, 50.0),
            ("50 Pa·s", Dimension::VISCOSITY, 50.0),
            ("50 Pa*s", Dimension::VISCOSITY, 50.0),
            ("50 Pa s", Dimension::VISCOSITY, 50.0),
            ("50 kg/m/s", Dimension::VISCOSITY, 50.0),
            ("5 mPa.s", Dimension::VISCOSITY, 0.005),
            ("2 N", Dimension::FORCE, 2.0),
            ("2 kJ", Dimension::ENERGY, 2e3),
            ("3 m/s", Dimension::VELOCITY, 3.0),
            ("36 km/h", Dimension::VELOCITY, 10.0),
            ("3 m.s-1", Dimension::VELOCITY, 3.0),
            ("9.81 m/s2", Dimension::ACCELERATION, 9.81),
            ("9.81 m/s^2", Dimension::ACCELERATION, 9.81),
            ("9.81 m/s²", Dimension::ACCELERATION, 9.81),
            ("9.81 m/s/s", Dimension::ACCELERATION, 9.81),
            ("1 rad", Dimension::ANGLE, 1.0),
            ("180 deg", Dimension::ANGLE, PI),
            ("90°", Dimension::ANGLE, PI / 2.0),
            ("2 rad/s", Dimension::ANGULAR_VELOCITY, 2.0),
            ("30 rpm", Dimension::ANGULAR_VELOCITY, PI),
            ("180 deg/s", Dimension::ANGULAR_VELOCITY, PI),
            ("40 1/s", Dimension::RATE, 40.0),
            ("40 Hz", Dimension::RATE, 40.0),
            ("40 s-1", Dimension::RATE, 40.0),
            ("40 s⁻¹", Dimension::RATE, 40.0),
            ("4 1/s2", Dimension::RATE_SQUARED, 4.0),
            ("1800 kg/m3", Dimension::DENSITY, 1800.0),
            ("1800 kg/m^3", Dimension::DENSITY, 1800.0),
            ("1800 kg/m³", Dimension::DENSITY, 1800.0),
            ("1.8 g/cm3", Dimension::DENSITY, 1800.0),
            ("1.8 t/m3", Dimension::DENSITY, 1800.0),
            ("30 %", Dimension::NONE, 0.3),
            ("30%", Dimension::NONE, 0.3),
            ("0.3", Dimension::NONE, 0.3),
            (" -1.5e-3 m ", Dimension::LENGTH, -0.0015),
            ("+1E3m", Dimension::LENGTH, 1000.0),
            (".5 m", Dimension::LENGTH, 0.5),
            ("5. m", Dimension::LENGTH, 5.0),
        ];
        for (text, dimension, expected) in table {
            let value = parse_quantity(text, *dimension).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert!((value - expected).abs() <= 1e-14 * expected.abs(), "{text}: {value} for {expected}");
        }
    }

    #[test]
    fn decimal_prefixes_give_the_nearest_number() {
        assert_eq!(parse_quantity("20 cm", Dimension::LENGTH), Ok(0.2));
        assert_eq!(parse_quantity("30 %", Dimension::NONE), Ok(0.3));
        assert_eq!(parse_quantity("3 um", Dimension::LENGTH), Ok(3e-6));
        assert_eq!(parse_quantity("0.2 MPa", Dimension::PRESSURE), Ok(0.2e6));
        assert_eq!(parse_quantity("1 g/cm3", Dimension::DENSITY), Ok(1000.0));
        assert_eq!(parse_quantity("36 km/h", Dimension::VELOCITY), Ok(10.0));
    }

    #[test]
    fn wrong_dimension_says_what_it_is() {
        let error = parse_quantity("3 kg", Dimension::LENGTH).unwrap_err();
        assert_eq!(error.to_string(), "\"3 kg\" is a mass, expected a length");
        assert_eq!(error.help(), "a length looks like \"5 cm\"");
        let error = parse_quantity("30 Hz", Dimension::ANGULAR_VELOCITY).unwrap_err();
        assert_eq!(error.to_string(), "\"30 Hz\" is a rate, expected an angular velocity");
        let error = parse_quantity("3 kg.m5", Dimension::LENGTH).unwrap_err();
        assert_eq!(error.to_string(), "\"3 kg.m5\" is a quantity in kg.m5, expected a length");
    }

    #[test]
    fn unknown_unit_names_the_nearest() {
        let suggestion = |text: &str, dimension| match parse_quantity(text, dimension) {
            Err(UnitError::UnknownUnit { nearest, .. }) => nearest,
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(suggestion("2 kpa", Dimension::PRESSURE).as_deref(), Some("kPa"));
        assert_eq!(suggestion("2 Mpa", Dimension::PRESSURE).as_deref(), Some("MPa"));
        assert_eq!(suggestion("2 meters", Dimension::LENGTH).as_deref(), Some("m"));
        assert_eq!(suggestion("2 secs", Dimension::TIME).as_deref(), Some("s"));
        assert_eq!(suggestion("2 dge", Dimension::ANGLE).as_deref(), Some("deg"));
        assert_eq!(suggestion("2 xyzzy", Dimension::LENGTH), None);
        assert_eq!(suggestion("2 m99", Dimension::LENGTH), None);
        assert_eq!(suggestion("2 m/", Dimension::LENGTH).as_deref(), Some("m"));
        assert_eq!(suggestion("2 m^", Dimension::LENGTH).as_deref(), Some("m"));
    }

    #[test]
    fn text_without_number_unit_or_finite_value_is_refused() {
        use UnitError::{DecimalComma, MissingUnit, NoNumber, NotFinite};
        let parse = |text| parse_quantity(text, Dimension::LENGTH).unwrap_err();
        for text in ["", "m", "cm 5", "-", ".", "e5 m", "--3 m"] {
            assert!(matches!(parse(text), NoNumber { .. }), "{text}");
        }
        for text in [
            "inf m",
            "-inf",
            "nan",
            "1e999 m",
            "1e308 km",
            "1 m.km9.km9.km9.km9.km9.km9.km9.km9.km9.km9.km9.km9/m9/m9/m9/m9/m9/m9/m9/m9/m9/m9/m9/m9",
        ] {
            assert!(matches!(parse(text), NotFinite { .. }), "{text}");
        }
        assert!(matches!(parse("0,5 m"), DecimalComma { .. }));
        assert!(matches!(parse("0.5"), MissingUnit { .. }));
        assert_eq!(parse("0.5").help(), "write \"0.5 m\", or 0.5 without quotes for m");
    }
}
