//! Requests of pages: JSON texts, each checked before it is carried out.

use crate::scene::LARGEST_NUMBER;
use serde_json::Value;

/// Largest number of columns in one request.
const MOST_COLUMNS: usize = 64;

/// A request of a page.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// Asks for a recorded frame.
    Frame {
        /// Number of the frame.
        index: usize,
        /// Columns to send with the frame.
        columns: Vec<String>,
    },
    /// Asks for the newest snapshot of a live run.
    Next {
        /// Columns to send with the snapshot.
        columns: Vec<String>,
    },
    /// Asks for all values of one particle.
    Particle {
        /// Number of the frame.
        frame: usize,
        /// Row in the frame.
        row: usize,
    },
    /// Commands a live run.
    Live(Command),
}

/// Command of a page to a live run.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Continues the run.
    Play,
    /// Stops the run.
    Pause,
    /// Computes one frame.
    Step,
    /// Starts the run again from its beginning.
    Reset,
    /// Changes a material parameter of a body.
    Set {
        /// Name of the body.
        body: String,
        /// Key of the parameter.
        key: String,
        /// Value in SI units.
        value: f64,
    },
    /// Changes gravity (m/s²).
    Gravity([f64; 3]),
    /// Grabs a particle and pulls it.
    Grab {
        /// Number of the frame.
        frame: usize,
        /// Row in the frame.
        row: usize,
        /// Position to pull to (m).
        to: [f64; 3],
    },
    /// Pulls the held particle to another position.
    Move {
        /// Position to pull to (m).
        to: [f64; 3],
    },
    /// Releases the held particle.
    Release,
    /// Asks for the run as a scene.
    Save,
}

impl Request {
    /// Returns the type of the request, as in the message.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Frame { .. } => "frame",
            Self::Next { .. } => "next",
            Self::Particle { .. } => "particle",
            Self::Live(Command::Play) => "play",
            Self::Live(Command::Pause) => "pause",
            Self::Live(Command::Step) => "step",
            Self::Live(Command::Reset) => "reset",
            Self::Live(Command::Set { .. }) => "set",
            Self::Live(Command::Gravity(_)) => "gravity",
            Self::Live(Command::Grab { .. } | Command::Move { .. }) => "drag",
            Self::Live(Command::Release) => "release",
            Self::Live(Command::Save) => "save",
        }
    }

    /// Parses a message.
    ///
    /// # Errors
    /// Returns the problem with the message, as a text for the page.
    pub fn parse(text: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text).map_err(|error| format!("this is no JSON: {error}"))?;
        let kind = value.get("type").and_then(Value::as_str).ok_or("a message needs a \"type\"")?;
        let command = match kind {
            "frame" => {
                return Ok(Self::Frame { index: whole(&value, "index")?, columns: columns(&value)? });
            }
            "next" => return Ok(Self::Next { columns: columns(&value)? }),
            "particle" => {
                return Ok(Self::Particle { frame: whole(&value, "frame")?, row: whole(&value, "row")? });
            }
            "play" => Command::Play,
            "pause" => Command::Pause,
            "step" => Command::Step,
            "reset" => Command::Reset,
            "set" => Command::Set {
                body: word(&value, "body")?,
                key: word(&value, "key")?,
                value: value
                    .get("value")
                    .and_then(number)
                    .ok_or("\"value\" must be a number, at most 1e15")?,
            },
            "gravity" => Command::Gravity(vector(&value, "value")?),
            "drag" if value.get("row").is_some() => Command::Grab {
                frame: whole(&value, "frame")?,
                row: whole(&value, "row")?,
                to: vector(&value, "to")?,
            },
            "drag" => Command::Move { to: vector(&value, "to")? },
            "release" => Command::Release,
            "save" => Command::Save,
            other => return Err(format!("there is no message of type {:?}", shortened(other))),
        };
        Ok(Self::Live(command))
    }
}

fn whole(value: &Value, key: &str) -> Result<usize, String> {
    let found = value.get(key).and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok());
    found.ok_or_else(|| format!("{key:?} must be a whole number from 0 on"))
}

fn number(value: &Value) -> Option<f64> {
    value.as_f64().filter(|number| number.abs() <= LARGEST_NUMBER)
}

fn vector(value: &Value, key: &str) -> Result<[f64; 3], String> {
    let numbers = value.get(key).and_then(Value::as_array).filter(|array| array.len() == 3);
    let numbers: Option<Vec<f64>> = numbers.and_then(|array| array.iter().map(number).collect());
    let vector = numbers.and_then(|numbers| <[f64; 3]>::try_from(numbers).ok());
    vector.ok_or_else(|| format!("{key:?} must be three numbers, at most {LARGEST_NUMBER:e}"))
}

fn word(value: &Value, key: &str) -> Result<String, String> {
    value.get(key).and_then(Value::as_str).map(str::to_owned).ok_or_else(|| format!("{key:?} must be a text"))
}

/// Returns the requested columns; none if the message has no such key.
fn columns(value: &Value) -> Result<Vec<String>, String> {
    let Some(columns) = value.get("columns") else { return Ok(Vec::new()) };
    let names = columns.as_array().filter(|array| array.len() <= MOST_COLUMNS);
    let names = names.and_then(|array| array.iter().map(|name| name.as_str().map(str::to_owned)).collect());
    names.ok_or_else(|| format!("\"columns\" must be a list of at most {MOST_COLUMNS} names"))
}

/// Shortens a text to the length that an answer should repeat.
pub fn shortened(text: &str) -> String {
    const LONGEST: usize = 60;
    let mut short: String = text.chars().take(LONGEST).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_message_is_understood() {
        let live = |command| Ok(Request::Live(command));
        let columns = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let to = [1.0, 2.0, 3.5];
        for (text, request) in [
            (
                r#"{"type":"frame","index":12,"columns":["speed"]}"#,
                Ok(Request::Frame { index: 12, columns: columns(&["speed"]) }),
            ),
            (r#"{"type":"next"}"#, Ok(Request::Next { columns: columns(&[]) })),
            (r#"{"type":"particle","frame":1,"row":2}"#, Ok(Request::Particle { frame: 1, row: 2 })),
            (r#"{"type":"play"}"#, live(Command::Play)),
            (r#"{"type":"pause"}"#, live(Command::Pause)),
            (r#"{"type":"step"}"#, live(Command::Step)),
            (r#"{"type":"reset"}"#, live(Command::Reset)),
            (
                r#"{"type":"set","body":"a","key":"viscosity","value":2e5}"#,
                live(Command::Set { body: "a".into(), key: "viscosity".into(), value: 2e5 }),
            ),
            (r#"{"type":"gravity","value":[1,2,3.5]}"#, live(Command::Gravity(to))),
            (
                r#"{"type":"drag","row":7,"frame":3,"to":[1,2,3.5]}"#,
                live(Command::Grab { frame: 3, row: 7, to }),
            ),
            (r#"{"type":"drag","to":[1,2,3.5]}"#, live(Command::Move { to })),
            (r#"{"type":"release"}"#, live(Command::Release)),
            (r#"{"type":"save"}"#, live(Command::Save)),
        ] {
            assert_eq!(Request::parse(text), request, "{text}");
            assert!(text.contains(&format!("\"type\":\"{}\"", request.unwrap().kind())), "{text}");
        }
    }

    #[test]
    fn everything_else_is_an_error_that_names_what_is_wrong() {
        let deep = "[".repeat(60_000);
        for (text, word) in [
            ("", "JSON"),
            ("nonsense", "JSON"),
            (&*deep, "JSON"),
            ("[]", "type"),
            (r#"{"type":3}"#, "type"),
            (r#"{"type":"dance"}"#, "dance"),
            (r#"{"type":"frame"}"#, "index"),
            (r#"{"type":"frame","index":-1}"#, "index"),
            (r#"{"type":"frame","index":1.5}"#, "index"),
            (r#"{"type":"frame","index":1,"columns":"speed"}"#, "columns"),
            (r#"{"type":"frame","index":1,"columns":[1]}"#, "columns"),
            (r#"{"type":"gravity","value":[0,0]}"#, "value"),
            (r#"{"type":"gravity","value":[0,0,1e999]}"#, "JSON"),
            (r#"{"type":"gravity","value":[0,0,null]}"#, "value"),
            (r#"{"type":"gravity","value":[0,1e300,0]}"#, "at most 1e15"),
            (r#"{"type":"set","body":"a","key":"k","value":-1e300}"#, "at most 1e15"),
            (r#"{"type":"drag","row":0,"to":[0,0,0]}"#, "frame"),
            (r#"{"type":"drag"}"#, "to"),
            (r#"{"type":"set","body":"a","key":"k","value":"1"}"#, "value"),
            (r#"{"type":"set","body":["a"],"key":"k","value":1}"#, "body"),
        ] {
            let error = Request::parse(text).unwrap_err();
            assert!(error.contains(word) && error.len() < 200, "{}: {error}", shortened(text));
        }
        let many = format!(r#"{{"type":"next","columns":[{}"a"]}}"#, r#""a","#.repeat(MOST_COLUMNS));
        assert!(Request::parse(&many).is_err());
    }
}
