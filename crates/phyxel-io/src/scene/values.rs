//! Checks of single values: quantities, numbers, words, vectors.

use super::node::Node;
use super::presets;
use super::problem::Problem;
use super::schema::{Kind, Quantity, VectorRule};
use super::section::Value;
use super::spelling::{listed, nearest};
use super::units::{Dimension, parse_quantity};
use super::validate::{Place, Validator};
use phyxel::math::{Mat3, Vec3};
use std::ops::Range;
use toml_edit::Value as Toml;

/// Largest magnitude of a number in SI units: products of two such numbers fit into the 32-bit numbers of frames.
pub const LARGEST_NUMBER: f64 = 1e15;
/// Smallest number where only positive ones are allowed: its inverse is the largest.
const SMALLEST_POSITIVE: f64 = 1.0 / LARGEST_NUMBER;
/// Smallest length of a direction; shorter ones cannot be normalised safely.
const SHORTEST_DIRECTION: f64 = 1e-100;
/// Longest name (bytes): names are parts of file names, which may have 255.
const LONGEST_NAME: usize = 100;

impl Validator<'_> {
    pub(crate) fn scalar(&mut self, kind: &Kind, node: Node<'_>, place: &Place) -> Option<Value> {
        match kind {
            Kind::Quantity(quantity) => self.quantity(kind, quantity, node, place),
            Kind::QuantityOrWord(quantity, word) => self.quantity_or_word(kind, quantity, word, node, place),
            Kind::Integer(min, max) => self.integer(kind, (*min, *max), node, place),
            Kind::Boolean => match node {
                Node::Value(Toml::Boolean(value)) => Some(Value::Boolean(*value.value())),
                _ => self.wrong_type(kind, node, place),
            },
            Kind::Columns => self.columns(kind, node, place),
            Kind::Vector(dimension, rule) => self.vector(kind, *dimension, *rule, node, place),
            Kind::Matrix(dimension) => self.matrix(kind, *dimension, node, place),
            Kind::Text
            | Kind::Name
            | Kind::Choice(_)
            | Kind::Axes
            | Kind::Method
            | Kind::Preset
            | Kind::Reference(_) => self.word(kind, node, place),
            Kind::QuantityOrTable(..)
            | Kind::Table(_)
            | Kind::Derived(_)
            | Kind::Tables(..)
            | Kind::NamedTables(..) => self.wrong_type(kind, node, place),
        }
    }

    /// Checks a quantity: a number in SI units or a string with a unit, in its range.
    pub(crate) fn quantity(
        &mut self,
        kind: &Kind,
        quantity: &Quantity,
        node: Node<'_>,
        place: &Place,
    ) -> Option<Value> {
        let value = self.number(kind, quantity.dimension, node, place)?;
        let is_tiny =
            quantity.range == super::schema::Range::POSITIVE && value > 0.0 && value < SMALLEST_POSITIVE;
        if quantity.range.contains(value) && !is_tiny {
            return Some(Value::Number(value));
        }
        let unit = quantity.dimension.unit();
        let unit = if unit.is_empty() { unit } else { format!(" {unit}") };
        let allowed =
            if is_tiny { format!("at least {SMALLEST_POSITIVE:e}") } else { quantity.range.describe() };
        let value = shown(value);
        let message = format!("`{}` must be {allowed}{unit}, found {value}{unit}", place.name);
        self.report(Problem::new(place.span.clone(), message));
        None
    }

    /// Reads a finite number in SI units, without a check of its range.
    fn number(&mut self, kind: &Kind, dimension: Dimension, node: Node<'_>, place: &Place) -> Option<f64> {
        let value = match node {
            Node::Value(Toml::Integer(value)) => *value.value() as f64,
            Node::Value(Toml::Float(value)) => *value.value(),
            Node::Value(Toml::String(text)) => match parse_quantity(text.value(), dimension) {
                Ok(value) => value,
                Err(error) => {
                    let message = format!("`{}`: {error}", place.name);
                    self.report(Problem::new(place.span.clone(), message).with_help(error.help()));
                    return None;
                }
            },
            _ => {
                self.wrong_type(kind, node, place);
                return None;
            }
        };
        if !value.is_finite() {
            let message = format!("{} must be a finite number, found {value}", place.called());
            self.report(Problem::new(place.span.clone(), message));
            return None;
        }
        if value.abs() > LARGEST_NUMBER {
            let (called, value) = (place.called(), shown(value));
            let message = format!("{called} must be at most {LARGEST_NUMBER:e} in SI units, found {value}");
            let help = "frames cannot hold larger numbers; look at the exponent and the unit";
            self.report(Problem::new(place.span.clone(), message).with_help(help));
            return None;
        }
        Some(value)
    }

    fn quantity_or_word(
        &mut self,
        kind: &Kind,
        quantity: &Quantity,
        word: &str,
        node: Node<'_>,
        place: &Place,
    ) -> Option<Value> {
        if let Node::Value(Toml::String(text)) = node {
            let text = text.value();
            if text == word {
                return Some(Value::Text(word.to_owned()));
            }
            if text.starts_with(char::is_alphabetic) {
                let message = format!("`{}` must be {}, found \"{text}\"", place.name, kind.expectation());
                self.report(Problem::new(place.span.clone(), message));
                return None;
            }
        }
        self.quantity(kind, quantity, node, place)
    }

    fn integer(
        &mut self,
        kind: &Kind,
        (min, max): (i64, i64),
        node: Node<'_>,
        place: &Place,
    ) -> Option<Value> {
        let value = match node {
            Node::Value(Toml::Integer(value)) => *value.value(),
            Node::Value(Toml::Float(value)) => {
                let value = *value.value();
                let message = format!("`{}` must be a whole number, found {value:?}", place.name);
                let problem = Problem::new(place.span.clone(), message);
                let is_whole = value.fract() == 0.0 && value.abs() < 1e15;
                self.report(if is_whole { problem.with_help(format!("write {value:.0}")) } else { problem });
                return None;
            }
            _ => return self.wrong_type(kind, node, place),
        };
        if (min..=max).contains(&value) {
            return Some(Value::Integer(value));
        }
        let allowed = match (min, max) {
            (min, max) if min == max => min.to_string(),
            (min, i64::MAX) => format!("at least {min}"),
            (min, max) => format!("from {min} to {max}"),
        };
        let message = format!("`{}` must be {allowed}, found {value}", place.name);
        self.report(Problem::new(place.span.clone(), message));
        None
    }

    /// Checks values of all kinds that are a single string.
    fn word(&mut self, kind: &Kind, node: Node<'_>, place: &Place) -> Option<Value> {
        let Node::Value(Toml::String(text)) = node else {
            return self.wrong_type(kind, node, place);
        };
        let text = text.value().as_str();
        let problem = if text.trim().is_empty() {
            Some(Problem::new(place.span.clone(), format!("{} must not be empty", place.called())))
        } else {
            self.word_problem(kind, text, place)
        };
        match problem {
            Some(problem) => {
                self.report(problem);
                None
            }
            None => Some(Value::Text(text.to_owned())),
        }
    }

    fn word_problem(&self, kind: &Kind, text: &str, place: &Place) -> Option<Problem> {
        match kind {
            Kind::Name => name_problem(text, place),
            Kind::Axes => {
                let known = text.chars().all(|axis| "xyz".contains(axis));
                let repeated = text.chars().enumerate().any(|(at, axis)| text.find(axis) != Some(at));
                (!known || repeated).then(|| {
                    let message = format!("`{}` must name axes, found \"{text}\"", place.name);
                    Problem::new(place.span.clone(), message)
                        .with_help("each of the letters x, y and z at most once, such as \"xz\"")
                })
            }
            Kind::Method => {
                let is_built = self.options.methods.iter().any(|(name, built)| *name == text && *built);
                (!is_built).then(|| self.no_such_method(text, place.span.clone()))
            }
            Kind::Preset => presets::unknown(text, place.span.clone()),
            Kind::Choice(choices) => {
                let is_known = choices.iter().any(|(word, _)| *word == text);
                (!is_known).then(|| {
                    let message =
                        format!("`{}` must be {}, found \"{text}\"", place.name, kind.expectation());
                    let problem = Problem::new(place.span.clone(), message);
                    match nearest(text, choices.iter().map(|(word, _)| *word)) {
                        Some(near) => problem.with_help(format!("did you mean \"{near}\"?")),
                        None => problem,
                    }
                })
            }
            _ => None,
        }
    }

    /// Checks names of columns; they must be known if the options list the columns.
    fn columns(&mut self, kind: &Kind, node: Node<'_>, place: &Place) -> Option<Value> {
        let Some(elements) = node.elements(&place.span) else {
            return self.wrong_type(kind, node, place);
        };
        let mut columns: Vec<String> = Vec::with_capacity(elements.len());
        let mut all_good = true;
        for (index, (element, span)) in elements.into_iter().enumerate() {
            let inner = place.entry(index, span);
            let Some(Value::Text(column)) = self.word(&Kind::Text, element, &inner) else {
                all_good = false;
                continue;
            };
            let problem = if columns.contains(&column) {
                Some(Problem::new(inner.span.clone(), format!("the column `{column}` is named twice")))
            } else {
                self.unknown_column(&column, inner.span.clone())
            };
            match problem {
                Some(problem) => {
                    self.report(problem);
                    all_good = false;
                }
                None if inner.is_given => self.spans.record(&inner.path, inner.span),
                None => {}
            }
            columns.push(column);
        }
        all_good.then_some(Value::Texts(columns))
    }

    fn unknown_column(&self, column: &str, span: Range<usize>) -> Option<Problem> {
        let known = self.options.columns?;
        if known.contains(&column) {
            return None;
        }
        let help = match nearest(column, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", listed(known.iter().copied(), "and")),
        };
        Some(Problem::new(span, format!("there is no column `{column}`")).with_help(help))
    }

    /// Reads an array of three numbers, or reports a problem for each element that is not a number.
    fn three(
        &mut self,
        kind: &Kind,
        dimension: Dimension,
        node: Node<'_>,
        place: &Place,
    ) -> Option<[f64; 3]> {
        let elements = match node {
            Node::Value(Toml::Array(_)) => node.elements(&place.span),
            _ => None,
        };
        let Some(elements) = elements else {
            self.wrong_type(kind, node, place);
            return None;
        };
        if elements.len() != 3 {
            let message = format!("{} must have 3 components, found {}", place.called(), elements.len());
            let help = format!("for example `{}`", kind.example());
            self.report(Problem::new(place.span.clone(), message).with_help(help));
            return None;
        }
        let component = Kind::Quantity(Quantity { dimension, range: super::schema::Range::ANY });
        let mut numbers = [None; 3];
        for (index, (element, span)) in elements.into_iter().enumerate() {
            let inner = place.entry(index, span);
            numbers[index] = self.number(&component, dimension, element, &inner);
        }
        let [x, y, z] = numbers;
        Some([x?, y?, z?])
    }

    fn vector(
        &mut self,
        kind: &Kind,
        dimension: Dimension,
        rule: VectorRule,
        node: Node<'_>,
        place: &Place,
    ) -> Option<Value> {
        let vector = Vec3::from_array(self.three(kind, dimension, node, place)?);
        let complaint = match rule {
            VectorRule::Positive if vector.min_element() <= 0.0 => "must have components greater than 0",
            VectorRule::Positive if vector.min_element() < SMALLEST_POSITIVE => {
                "must have components of at least 1e-15"
            }
            VectorRule::Direction if vector == Vec3::ZERO => "must not be the zero vector",
            VectorRule::Direction if vector.length() < SHORTEST_DIRECTION => "must have a length near 1",
            VectorRule::Any | VectorRule::Positive | VectorRule::Direction => "",
        };
        if complaint.is_empty() {
            return Some(Value::Vector(vector));
        }
        self.report(Problem::new(place.span.clone(), format!("`{}` {complaint}", place.name)));
        None
    }

    fn matrix(&mut self, kind: &Kind, dimension: Dimension, node: Node<'_>, place: &Place) -> Option<Value> {
        let Some(rows) = node.elements(&place.span) else {
            return self.wrong_type(kind, node, place);
        };
        if rows.len() != 3 {
            let message = format!("`{}` must have 3 rows, found {}", place.name, rows.len());
            let help = format!("for example `{} = {}`", place.name, kind.example());
            self.report(Problem::new(place.span.clone(), message).with_help(help));
            return None;
        }
        let row_kind = Kind::Vector(dimension, VectorRule::Any);
        let mut numbers = [None; 3];
        for (index, (row, span)) in rows.into_iter().enumerate() {
            let inner = place.entry(index, span);
            numbers[index] = self.three(&row_kind, dimension, row, &inner);
        }
        let [first, second, third] = numbers;
        let by_rows = Mat3::from_cols_array_2d(&[first?, second?, third?]);
        Some(Value::Matrix(by_rows.transpose()))
    }
}

/// Returns a problem if a name cannot be used in file names and in heads of CSV columns.
fn name_problem(text: &str, place: &Place) -> Option<Problem> {
    let is_bad = |letter: char| letter.is_control() || "/\\,;\"'".contains(letter);
    if let Some(letter) = text.chars().find(|letter| is_bad(*letter)) {
        let message = format!("`{}` must not contain {letter:?}", place.name);
        return Some(Problem::new(place.span.clone(), message).with_help("use letters, digits, `_` and `-`"));
    }
    if text.trim() != text {
        let message = format!("`{}` must not begin or end with a blank", place.name);
        return Some(Problem::new(place.span.clone(), message));
    }
    long_name(text, &format!("`{}`", place.name), &place.span)
}

/// Returns a problem if a name is too long for the names of files.
pub(crate) fn long_name(text: &str, called: &str, span: &Range<usize>) -> Option<Problem> {
    (text.len() > LONGEST_NAME).then(|| {
        let message = format!("{called} is too long: {} bytes, at most {LONGEST_NAME}", text.len());
        Problem::new(span.clone(), message).with_help("names are parts of file names; choose a shorter one")
    })
}

/// Formats a number for a message; one with very many digits by its exponent.
fn shown(value: f64) -> String {
    if (1e-9..1e15).contains(&value.abs()) || value == 0.0 { value.to_string() } else { format!("{value:e}") }
}
