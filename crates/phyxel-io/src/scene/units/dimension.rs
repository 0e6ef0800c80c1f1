//! Dimensions of physical quantities.

/// Exponents of the base quantities. An angle is one of them, so that "30 Hz" is not taken for 30 rad/s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimension {
    length: i16,
    mass: i16,
    time: i16,
    angle: i16,
}

/// Name, SI unit and example value of a dimension.
struct Named {
    dimension: Dimension,
    name: &'static str,
    unit: &'static str,
    example: &'static str,
}

macro_rules! dimensions {
    ($($constant:ident = ($length:literal, $mass:literal, $time:literal, $angle:literal),
        $name:literal, $unit:literal, $example:literal;)*) => {
        impl Dimension {
            $(
                #[doc = concat!("Dimension of ", $name, ", SI unit \"", $unit, "\".")]
                pub const $constant: Self =
                    Self { length: $length, mass: $mass, time: $time, angle: $angle };
            )*
        }
        const NAMED: &[Named] = &[
            $(Named { dimension: Dimension::$constant, name: $name, unit: $unit, example: $example },)*
        ];
    };
}

dimensions! {
    NONE = (0, 0, 0, 0), "a number", "", "0.5";
    LENGTH = (1, 0, 0, 0), "a length", "m", "5 cm";
    AREA = (2, 0, 0, 0), "an area", "m2", "3 cm2";
    VOLUME = (3, 0, 0, 0), "a volume", "m3", "2 cm3";
    TIME = (0, 0, 1, 0), "a time", "s", "2 ms";
    MASS = (0, 1, 0, 0), "a mass", "kg", "20 g";
    DENSITY = (-3, 1, 0, 0), "a density", "kg/m3", "1800 kg/m3";
    PRESSURE = (-1, 1, -2, 0), "a pressure", "Pa", "0.5 MPa";
    VISCOSITY = (-1, 1, -1, 0), "a dynamic viscosity", "Pa.s", "50 Pa.s";
    VELOCITY = (1, 0, -1, 0), "a velocity", "m/s", "2 m/s";
    ACCELERATION = (1, 0, -2, 0), "an acceleration", "m/s2", "9.81 m/s2";
    FORCE = (1, 1, -2, 0), "a force", "N", "10 N";
    ENERGY = (2, 1, -2, 0), "an energy", "J", "3 J";
    ANGLE = (0, 0, 0, 1), "an angle", "rad", "30 deg";
    ANGULAR_VELOCITY = (0, 0, -1, 1), "an angular velocity", "rad/s", "30 rpm";
    RATE = (0, 0, -1, 0), "a rate", "1/s", "30 1/s";
    RATE_SQUARED = (0, 0, -2, 0), "a rate per second", "1/s2", "4 1/s2";
}

impl Dimension {
    /// Returns the dimension of an SI unit that is listed here; "1" is a pure number.
    pub fn of_unit(unit: &str) -> Option<Self> {
        let unit = if unit == "1" { "" } else { unit };
        NAMED.iter().find(|named| named.unit == unit).map(|named| named.dimension)
    }

    fn named(self) -> Option<&'static Named> {
        NAMED.iter().find(|named| named.dimension == self)
    }

    /// Returns the name of the dimension with its article: "a length".
    pub fn describe(self) -> String {
        match self.named() {
            Some(named) => named.name.to_owned(),
            None => format!("a quantity in {}", self.unit()),
        }
    }

    /// Returns the SI unit in which a bare number is read; empty for a pure number.
    pub fn unit(self) -> String {
        if let Some(named) = self.named() {
            return named.unit.to_owned();
        }
        let powers = [("kg", self.mass), ("m", self.length), ("s", self.time), ("rad", self.angle)];
        let factors = powers.iter().filter(|(_, power)| *power != 0).map(|(symbol, power)| match power {
            1 => (*symbol).to_owned(),
            _ => format!("{symbol}{power}"),
        });
        factors.collect::<Vec<_>>().join(".")
    }

    /// Returns an example value as in scenes, without quotes: "5 cm".
    pub fn example(self) -> &'static str {
        self.named().map_or("1", |named| named.example)
    }

    pub(super) fn times(self, other: Self, power: i16) -> Self {
        let sum = |a: i16, b: i16| a.saturating_add(b.saturating_mul(power));
        Self {
            length: sum(self.length, other.length),
            mass: sum(self.mass, other.mass),
            time: sum(self.time, other.time),
            angle: sum(self.angle, other.angle),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::units::parse_quantity;

    #[test]
    fn examples_of_all_dimensions_parse() {
        for named in NAMED {
            let value = parse_quantity(named.example, named.dimension);
            assert!(value.is_ok(), "{}: {value:?}", named.example);
        }
    }
}
