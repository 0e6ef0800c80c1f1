//! Units that a scene may use, their prefixes, and suggestions for misspelt ones.

use super::Dimension;
use crate::scene::spelling::nearest;
use phyxel::math;

/// A unit that a scene may use.
pub(super) struct Unit {
    pub(super) symbol: &'static str,
    /// Factor of the SI value of the unit, which is `factor` times ten to the power of `decimal`.
    factor: f64,
    decimal: i32,
    pub(super) dimension: Dimension,
    /// SI prefixes that are accepted with this unit.
    prefixes: &'static str,
}

const fn unit(symbol: &'static str, scale: (f64, i32), dimension: Dimension, prefixes: &'static str) -> Unit {
    Unit { symbol, factor: scale.0, decimal: scale.1, dimension, prefixes }
}

const ONE: (f64, i32) = (1.0, 0);
const DEGREE: (f64, i32) = (std::f64::consts::PI / 180.0, 0);

const UNITS: &[Unit] = &[
    unit("m", ONE, Dimension::LENGTH, "kdcmuµμn"),
    unit("in", (254.0, -4), Dimension::LENGTH, ""),
    unit("ft", (3048.0, -4), Dimension::LENGTH, ""),
    unit("s", ONE, Dimension::TIME, "muµμn"),
    unit("min", (60.0, 0), Dimension::TIME, ""),
    unit("h", (3600.0, 0), Dimension::TIME, ""),
    unit("g", (1.0, -3), Dimension::MASS, "kmuµμ"),
    unit("t", (1.0, 3), Dimension::MASS, ""),
    unit("Pa", ONE, Dimension::PRESSURE, "mhkMG"),
    unit("bar", (1.0, 5), Dimension::PRESSURE, ""),
    unit("N", ONE, Dimension::FORCE, "muµμkM"),
    unit("J", ONE, Dimension::ENERGY, "muµμkM"),
    unit("rad", ONE, Dimension::ANGLE, "m"),
    unit("deg", DEGREE, Dimension::ANGLE, ""),
    unit("°", DEGREE, Dimension::ANGLE, ""),
    unit("rpm", (std::f64::consts::PI / 30.0, 0), Dimension::ANGULAR_VELOCITY, ""),
    unit("Hz", ONE, Dimension::RATE, "kM"),
    unit("%", (1.0, -2), Dimension::NONE, ""),
    unit("1", ONE, Dimension::NONE, ""),
];

/// Powers of ten of the prefixes.
const PREFIXES: &[(char, i32)] = &[
    ('n', -9),
    ('u', -6),
    ('µ', -6), // micro sign
    ('μ', -6), // Greek mu
    ('m', -3),
    ('c', -2),
    ('d', -1),
    ('h', 2),
    ('k', 3),
    ('M', 6),
    ('G', 9),
];

/// Finds a unit with an optional prefix and returns the power of ten of the prefix and the unit. A whole symbol has
/// priority over a prefixed one: "min" is a minute.
pub(super) fn look_up(symbol: &str) -> Option<(i32, &'static Unit)> {
    if let Some(unit) = UNITS.iter().find(|unit| unit.symbol == symbol) {
        return Some((0, unit));
    }
    let prefix = symbol.chars().next()?;
    let rest = &symbol[prefix.len_utf8()..];
    let unit = UNITS.iter().find(|unit| unit.symbol == rest && unit.prefixes.contains(prefix))?;
    let (_, decimal) = PREFIXES.iter().find(|(letter, _)| *letter == prefix)?;
    Some((*decimal, unit))
}

/// SI value of a compound unit, stored as a fraction with a power of ten, so that "20 cm" and "1 g/cm3" are rounded
/// once and give 0.2 and 1000.
pub(super) struct Scale {
    above: f64,
    below: f64,
    decimal: i32,
}

impl Scale {
    pub(super) const ONE: Self = Self { above: 1.0, below: 1.0, decimal: 0 };

    pub(super) fn times(self, unit: &Unit, prefix: i32, power: i16) -> Self {
        let raised = math::power(unit.factor, power.unsigned_abs().into());
        let (above, below) = if power > 0 { (raised, 1.0) } else { (1.0, raised) };
        Self {
            above: self.above * above,
            below: self.below * below,
            decimal: self.decimal.saturating_add((unit.decimal + prefix) * i32::from(power)),
        }
    }

    /// Converts a value to SI units; the result is not finite if any part of it is too large.
    pub(super) fn apply(&self, value: f64) -> f64 {
        let ten = math::power(10.0, self.decimal.unsigned_abs());
        let (above, below) = if self.decimal > 0 { (ten, 1.0) } else { (1.0, ten) };
        let (above, below) = (value * self.above * above, self.below * below);
        if below.is_finite() { above / below } else { f64::NAN }
    }
}

/// Unit names that people write out, with the symbol to suggest for each.
const WRITTEN_OUT: &[(&str, &str)] = &[
    ("meter", "m"),
    ("metre", "m"),
    ("centimeter", "cm"),
    ("centimetre", "cm"),
    ("millimeter", "mm"),
    ("millimetre", "mm"),
    ("inch", "in"),
    ("feet", "ft"),
    ("sec", "s"),
    ("second", "s"),
    ("millisecond", "ms"),
    ("minute", "min"),
    ("hour", "h"),
    ("gram", "g"),
    ("kilogram", "kg"),
    ("ton", "t"),
    ("pascal", "Pa"),
    ("newton", "N"),
    ("joule", "J"),
    ("radian", "rad"),
    ("degree", "deg"),
    ("hertz", "Hz"),
    ("percent", "%"),
];

/// Returns every symbol with each of its prefixes, those of the wanted dimension first.
fn known_symbols(wanted: Dimension) -> Vec<String> {
    let mut symbols: Vec<(bool, String)> = Vec::new();
    for unit in UNITS.iter().filter(|unit| unit.symbol != "1") {
        let other = unit.dimension != wanted;
        symbols.push((other, unit.symbol.to_owned()));
        // One spelling of micro is enough for a suggestion.
        let prefixes = unit.prefixes.chars().filter(char::is_ascii);
        symbols.extend(prefixes.map(|prefix| (other, format!("{prefix}{}", unit.symbol))));
    }
    symbols.sort_by_key(|(other, _)| *other);
    symbols.into_iter().map(|(_, symbol)| symbol).collect()
}

/// Returns the symbol that was most probably meant by an unknown one.
pub(super) fn suggestion(symbol: &str, wanted: Dimension) -> Option<String> {
    let lower = symbol.to_lowercase();
    let singular = lower.strip_suffix('s').unwrap_or(&lower);
    if let Some((_, symbol)) = WRITTEN_OUT.iter().find(|(word, _)| *word == lower || *word == singular) {
        return Some((*symbol).to_owned());
    }
    let symbols = known_symbols(wanted);
    nearest(symbol, symbols.iter().map(String::as_str)).map(str::to_owned)
}
