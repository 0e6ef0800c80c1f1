//! Problems of a scene file and their places. All problems of a file are collected in one [`SceneError`].

use std::fmt;
use std::ops::Range;

/// Largest number of problems that are told; more are counted only.
pub(crate) const MAX_PROBLEMS: usize = 50;
/// Largest length of a message or advice (characters): names and lists of the file are part of them.
const MAX_MESSAGE: usize = 600;
/// Largest length of the text that is shown on each side of a problem's beginning (bytes).
const MAX_SHOWN: usize = 400;

/// One problem of a scene file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Bytes of the source text that cause the problem.
    pub span: Range<usize>,
    /// Description of the problem: one sentence without a full stop.
    pub message: String,
    /// Advice on how to solve it.
    pub help: Option<String>,
}

impl Problem {
    /// Creates a problem without advice.
    pub fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { span, message: shortened(message.into()), help: None }
    }

    /// Returns the same problem with advice.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(shortened(help.into()));
        self
    }
}

/// Error: a scene is refused. It has the text and every problem found in it, in order of place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SceneError {
    /// Name of the file, or of another source of the text.
    pub source_name: String,
    /// Text that the spans refer to.
    pub source_text: String,
    /// Problems of the scene, at least one.
    pub problems: Vec<Problem>,
    /// Number of further problems, which are left off because there are so many.
    pub n_left_off: usize,
}

impl SceneError {
    /// Creates the error: sorts the problems by place and removes repetitions.
    pub fn new(
        source_name: impl Into<String>,
        source_text: impl Into<String>,
        mut problems: Vec<Problem>,
    ) -> Self {
        problems.sort_by_key(|problem| (problem.span.start, problem.span.end));
        problems.dedup();
        let n_left_off = problems.len().saturating_sub(MAX_PROBLEMS);
        problems.truncate(MAX_PROBLEMS);
        Self { source_name: source_name.into(), source_text: source_text.into(), problems, n_left_off }
    }

    /// Returns the line and column of a byte of the source text, both counted from 1, columns in characters.
    pub fn line_column(&self, offset: usize) -> (usize, usize) {
        line_column(&self.source_text, offset)
    }
}

fn shortened(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(MAX_MESSAGE) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// Returns the part of a text that a report shows around a problem: its line and those before and after, or less if they
/// are long.
pub fn shown_part(text: &str, span: &Range<usize>) -> Range<usize> {
    let at = text.floor_char_boundary(span.start);
    let nearest = text.floor_char_boundary(at.saturating_sub(MAX_SHOWN));
    let farthest = text.floor_char_boundary(at + MAX_SHOWN);
    let lines_before = text[nearest..at].match_indices('\n').rev().nth(1);
    let lines_after = text[at..farthest].match_indices('\n').nth(1);
    lines_before.map_or(nearest, |(newline, _)| nearest + newline + 1)
        ..lines_after.map_or(farthest, |(newline, _)| at + newline)
}

/// Returns the line and column of a byte of a text, both counted from 1, columns in characters. A byte inside a
/// character counts as that character, and one past the end as the end.
pub fn line_column(text: &str, offset: usize) -> (usize, usize) {
    let offset = text.floor_char_boundary(offset);
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    (line, text[line_start..offset].chars().count() + 1)
}

/// Returns the line that contains a byte, without its line end, and the byte at which it begins.
fn line_at(text: &str, offset: usize) -> (&str, usize) {
    let offset = text.floor_char_boundary(offset);
    let start = text[..offset].rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[offset..].find('\n').map_or(text.len(), |newline| offset + newline);
    (text[start..end].trim_end_matches('\r'), start)
}

/// Writes the line of a problem and carets under the part that causes it.
fn write_excerpt(f: &mut fmt::Formatter<'_>, text: &str, span: &Range<usize>) -> fmt::Result {
    let shown = shown_part(text, span);
    let (line, start) = line_at(&text[shown.clone()], span.start.saturating_sub(shown.start));
    let start = shown.start + start;
    let from = line.floor_char_boundary(span.start.saturating_sub(start));
    let to = line.floor_char_boundary(span.end.saturating_sub(start)).max(from);
    let number = line_column(text, span.start).0.to_string();
    // Tabs are kept, so that the carets stand under the word for any tab width.
    let padding: String = line[..from].chars().map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
    let carets = "^".repeat(line[from..to].chars().count().max(1));
    writeln!(f, " {number} | {line}")?;
    writeln!(f, " {} | {padding}{carets}", " ".repeat(number.len()))
}

impl fmt::Display for SceneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            let (line, column) = self.line_column(problem.span.start);
            writeln!(f, "{}:{line}:{column}: {}", self.source_name, problem.message)?;
            write_excerpt(f, &self.source_text, &problem.span)?;
            if let Some(help) = &problem.help {
                writeln!(f, " help: {help}")?;
            }
        }
        if self.n_left_off > 0 {
            writeln!(f, "\n{}: {} more problems", self.source_name, self.n_left_off)?;
        }
        Ok(())
    }
}

impl std::error::Error for SceneError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_from_one_in_characters() {
        let text = "ab\nçd\n";
        assert_eq!(line_column(text, 0), (1, 1));
        assert_eq!(line_column(text, 3), (2, 1));
        assert_eq!(line_column(text, 4), (2, 1), "inside the two bytes of ç");
        assert_eq!(line_column(text, 5), (2, 2));
        assert_eq!(line_column(text, 7), (3, 1));
        assert_eq!(line_column(text, 99), (3, 1));
    }

    #[test]
    fn display_shows_place_line_carets_and_help() {
        let text = "a = 1\n\tdensty = 3\r\n";
        let second = Problem::new(7..13, "unknown key `densty`").with_help("did you mean `density`?");
        let first = Problem::new(4..5, "too small");
        let error = SceneError::new("bar.toml", text, vec![second.clone(), first, second]);
        let expected = "bar.toml:1:5: too small\n 1 | a = 1\n   |     ^\n\n\
            bar.toml:2:2: unknown key `densty`\n 2 | \tdensty = 3\n   | \t^^^^^^\n help: did you mean `density`?\n";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn any_span_can_be_shown() {
        let text = "é\nü";
        for start in 0..8 {
            for end in 0..8 {
                let error = SceneError::new("x", text, vec![Problem::new(start..end, "m")]);
                assert!(error.to_string().contains("x:"));
            }
        }
        assert!(SceneError::new("x", "", vec![Problem::new(0..0, "m")]).to_string().contains("x:1:1: m"));
    }
}
