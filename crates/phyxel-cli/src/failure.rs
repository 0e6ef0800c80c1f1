//! Failures of a command, their messages, and the exit codes.

use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, MietteError, MietteSpanContents, SourceCode,
    SourceSpan, SpanContents,
};
use phyxel_io::export::ExportError;
use phyxel_io::results::ResultError;
use phyxel_io::scene::{SceneError, line_column, shown_part};
use phyxel_io::viewer::ViewerError;
use std::io::IsTerminal;
use std::ops::Range;
use std::process::ExitCode;

/// Exit code of a run that was stopped by Ctrl-C, as shells define it.
pub(crate) const INTERRUPTED: u8 = 130;
const RUN_FAILED: u8 = 1;
const BAD_INPUT: u8 = 2;

/// Reason why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The scene is wrong; nothing was written.
    Scene(Box<SceneError>),
    /// A method cannot run a part of the scene; nothing was written.
    Refused {
        /// Keys of the methods, in the form used in a sentence.
        methods: String,
        /// Parts of the scene that these methods cannot run.
        error: Box<SceneError>,
    },
    /// The arguments are wrong; nothing was written.
    Usage(String),
    /// The run could not continue.
    Run(String),
    /// The user stopped the run.
    Interrupted(String),
    /// Several failures at once; the first decides on the exit code.
    Several(Vec<Self>),
}

impl From<SceneError> for Failure {
    fn from(error: SceneError) -> Self {
        Self::Scene(Box::new(error))
    }
}

impl From<ResultError> for Failure {
    fn from(error: ResultError) -> Self {
        let text = error.to_string();
        match error {
            ResultError::Exists(folder) => Self::Usage(format!(
                "{text}\n  go on with it:  phyxel resume {0}\n  replace it:     add --force\n  keep it:        choose another folder with -o",
                folder.display()
            )),
            ResultError::ComparisonExists(_) => Self::Usage(format!(
                "{text}\n  replace it:  add --force\n  keep it:     choose another folder with -o"
            )),
            ResultError::NotAResult(_) | ResultError::NotAComparison(_) => Self::Usage(text),
            ResultError::Io { action: "open", ref source, .. }
                if source.kind() == std::io::ErrorKind::NotFound =>
            {
                Self::Usage(text)
            }
            ResultError::NoCheckpoint(folder) => Self::Run(format!(
                "{text}\n  what is damaged:           phyxel verify {0}\n  compute all frames again:  phyxel resume {0} --from-start",
                folder.display()
            )),
            error => Self::Run(match error.damaged_folder() {
                Some(folder) => {
                    format!(
                        "{text}\n  what else is damaged, and what to do:  phyxel verify {}",
                        folder.display()
                    )
                }
                None => text,
            }),
        }
    }
}

impl From<ExportError> for Failure {
    fn from(error: ExportError) -> Self {
        let text = error.to_string();
        match error {
            ExportError::Result(error) => error.into(),
            ExportError::Exists(_) => Self::Usage(format!(
                "{text}\n  replace it:  add --force\n  keep it:     choose another name with -o"
            )),
            ExportError::Interrupted => Self::Interrupted(text),
            error if error.is_bad_request() => Self::Usage(text),
            _ => Self::Run(text),
        }
    }
}

impl From<ViewerError> for Failure {
    fn from(error: ViewerError) -> Self {
        match error {
            ViewerError::Result(error) => error.into(),
            error => Self::Run(error.to_string()),
        }
    }
}

impl Failure {
    /// Prints the failure on stderr and returns the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        ExitCode::from(self.tell())
    }

    fn tell(&self) -> u8 {
        match self {
            Self::Scene(error) => {
                eprint!("{}", scene_report(error, has_color()));
                BAD_INPUT
            }
            Self::Refused { methods, error } => {
                eprintln!("{} {methods} cannot do this scene:", label());
                eprint!("{}", scene_report(error, has_color()));
                eprintln!("  leave {methods} out of --methods, or change this with --set or in the scene");
                BAD_INPUT
            }
            Self::Usage(text) => {
                eprintln!("{} {text}", label());
                BAD_INPUT
            }
            Self::Run(text) => {
                eprintln!("{} {text}", label());
                RUN_FAILED
            }
            Self::Interrupted(text) => {
                eprintln!("{text}");
                INTERRUPTED
            }
            Self::Several(failures) => {
                let codes: Vec<u8> = failures.iter().map(Self::tell).collect();
                codes.first().copied().unwrap_or(RUN_FAILED)
            }
        }
    }
}

/// Prints a warning on stderr.
pub(crate) fn warn(text: &str) {
    let word = if has_color() { "\x1b[33;1mwarning:\x1b[0m" } else { "warning:" };
    eprintln!("{word} {text}");
}

fn label() -> &'static str {
    if has_color() { "\x1b[31;1merror:\x1b[0m" } else { "error:" }
}

/// Returns true if stderr is a terminal and `NO_COLOR` is not set (<https://no-color.org>).
fn has_color() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// One mistake in a scene, in the form that miette expects.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("{message}")]
struct SceneProblem {
    message: String,
    #[source_code]
    source_code: Excerpt,
    #[label("here")]
    span: SourceSpan,
    #[help]
    help: Option<String>,
}

/// The part of a scene's text that is shown with a problem; lines of any length and number are in the file.
#[derive(Debug)]
struct Excerpt {
    name: String,
    text: String,
    /// Byte, line and column in the file at which the part begins, counted from 0.
    start: usize,
    line: usize,
    column: usize,
}

impl Excerpt {
    fn new(error: &SceneError, span: &Range<usize>) -> Self {
        let shown = shown_part(&error.source_text, span);
        let (line, column) = error.line_column(shown.start);
        let text = error.source_text[shown.clone()].to_owned();
        Self { name: error.source_name.clone(), text, start: shown.start, line: line - 1, column: column - 1 }
    }
}

impl SourceCode for Excerpt {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        n_lines_before: usize,
        _n_lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        // lines around a problem are asked for when it is drawn, none when its place is named
        let at = if n_lines_before > 0 {
            0
        } else {
            span.offset().saturating_sub(self.start).min(self.text.len())
        };
        let (line, column) = line_column(&self.text, at);
        let column = if line == 1 { self.column + column - 1 } else { column - 1 };
        let text = &self.text[self.text.floor_char_boundary(at)..];
        Ok(Box::new(MietteSpanContents::new_named(
            self.name.clone(),
            text.as_bytes(),
            (self.start + at, text.len()).into(),
            self.line + line - 1,
            column,
            text.lines().count(),
        )))
    }
}

/// Formats all problems of a scene with their lines.
fn scene_report(error: &SceneError, color: bool) -> String {
    let theme = if color { GraphicalTheme::unicode() } else { GraphicalTheme::none() };
    let handler = GraphicalReportHandler::new_themed(theme).with_links(false).with_width(100);
    let mut text = String::new();
    for problem in &error.problems {
        let source_code = Excerpt::new(error, &problem.span);
        let end = problem.span.end.min(source_code.start + source_code.text.len());
        let start = problem.span.start.min(end);
        let shown = SceneProblem {
            message: problem.message.clone(),
            source_code,
            span: (start, end - start).into(),
            help: problem.help.clone(),
        };
        if handler.render_report(&mut text, &shown).is_err() {
            // the plain form has all that matters, too
            return error.to_string();
        }
    }
    let n_problems = error.problems.len() + error.n_left_off;
    if error.n_left_off > 0 {
        text += &format!("{n_problems} problems in {}; these are the first\n", error.source_name);
    } else if n_problems > 1 {
        text += &format!("{n_problems} problems in {}\n", error.source_name);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use phyxel_io::scene::Problem;

    #[test]
    fn every_problem_is_shown_with_file_line_column_and_help() {
        let text = "a = 1\nlong_key = \"é\"\n";
        let problems = vec![
            Problem::new(0..1, "first is wrong").with_help("do better"),
            Problem::new(6..14, "second is wrong"),
        ];
        let report = scene_report(&SceneError::new("bar.toml", text, problems), false);
        for word in
            ["bar.toml:1:1", "first is wrong", "do better", "bar.toml:2:1", "second is wrong", "2 problems"]
        {
            assert!(report.contains(word), "{word} is missing in\n{report}");
        }
        assert!(report.contains('^'), "no caret in\n{report}");
        assert!(!report.contains('\x1b'));
    }

    #[test]
    fn spans_beyond_the_text_are_survived() {
        let error =
            SceneError::new("bar.toml", "é", vec![Problem::new(7..99, "wrong"), Problem::new(1..1, "odd")]);
        assert!(scene_report(&error, true).contains("wrong"));
        let empty = SceneError::new("bar.toml", "", vec![Problem::new(0..0, "empty")]);
        assert!(scene_report(&empty, false).contains("empty"));
    }
}
