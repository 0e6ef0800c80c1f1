//! Reading of a scene file: syntax, validation, description.

use super::description::Scene;
use super::presets::Base;
use super::problem::{Problem, SceneError};
use super::schema::ROOT;
use super::spans::Spans;
use super::validate::{Place, Validator};
use super::{build, checks};
use toml_edit::Document;

/// Largest scene file (bytes): read as a tree, it takes 80 to 400 times its size in memory.
pub const LARGEST_FILE: u64 = 2_000_000;

/// Options of reading that are not part of the format.
#[derive(Clone, Copy, Debug, Default)]
pub struct ParseOptions<'a> {
    /// Catalogue of methods: the key of each, and true if it is implemented.
    pub methods: &'a [(&'a str, bool)],
    /// Particle columns that can be written; `None` accepts any.
    pub columns: Option<&'a [&'a str]>,
}

/// A valid scene with its text and the places of its values.
#[derive(Clone, Debug, PartialEq)]
pub struct SceneFile {
    /// Name of the file, for messages.
    pub source_name: String,
    /// Text that the spans refer to.
    pub source_text: String,
    /// Content of the file.
    pub scene: Scene,
    /// Places of the values in the text.
    pub spans: Spans,
}

impl SceneFile {
    /// Reads a scene from its text. The error has every problem of the file.
    pub fn parse(text: &str, source_name: &str, options: &ParseOptions<'_>) -> Result<Self, SceneError> {
        let refuse = |problems| SceneError::new(source_name, text, problems);
        if text.trim().is_empty() {
            let problem = Problem::new(0..0, "the scene file is empty");
            return Err(refuse(vec![
                problem.with_help("a scene needs a method, a duration, materials and bodies"),
            ]));
        }
        let document = Document::parse(text).map_err(|error| {
            let message = format!("not valid TOML: {}", error.message());
            refuse(vec![Problem::new(error.span().unwrap_or(0..0), message)])
        })?;
        let mut validator = Validator::new(options);
        let root = validator.table(&ROOT, document.as_table(), &Base::Nothing, &Place::root());
        let mut problems = validator.problems;
        problems.extend(checks::check(&root, document.contains_key("method")));
        if !problems.is_empty() {
            let mut error = refuse(problems);
            error.n_left_off += validator.n_left_off;
            return Err(error);
        }
        // A gap is an error of this program, not of the user; it is still reported.
        let scene = build::scene(&root).map_err(|gap| {
            let message = format!("internal error: `{}` of `{}` was lost", gap.key, gap.table);
            refuse(vec![Problem::new(0..0, message).with_help("please report this with the scene")])
        })?;
        Ok(Self {
            source_name: source_name.to_owned(),
            source_text: text.to_owned(),
            scene,
            spans: validator.spans,
        })
    }

    /// Reads a scene from the bytes of a file, which may not be valid text.
    pub fn parse_bytes(
        bytes: &[u8],
        source_name: &str,
        options: &ParseOptions<'_>,
    ) -> Result<Self, SceneError> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::parse(text, source_name, options),
            Err(error) => {
                let offset = error.valid_up_to();
                let problem = Problem::new(offset..offset, "the scene file is not UTF-8 text")
                    .with_help("a scene is a TOML text file; save it as UTF-8");
                Err(SceneError::new(source_name, String::from_utf8_lossy(bytes), vec![problem]))
            }
        }
    }

    /// Returns an error of a later stage about the value at a dotted path such as `bodies.0.shape.mesh.file`. A path
    /// that the file leaves out is reported at the nearest table around it.
    pub fn error_at(&self, path: &str, message: impl Into<String>, help: Option<String>) -> SceneError {
        self.error(vec![Problem { span: self.spans.nearest(path), message: message.into(), help }])
    }

    /// Returns an error of a later stage with several problems.
    pub fn error(&self, problems: Vec<Problem>) -> SceneError {
        SceneError::new(&self.source_name, &self.source_text, problems)
    }
}
