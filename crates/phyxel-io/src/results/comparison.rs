//! The folder of a comparison: one result folder per method, and files that summarize all of them.
//!
//! ```text
//! DIR/compare.json                  the marker: methods, status, and how each run ended
//! DIR/METHOD/                       a result folder for each method
//! DIR/summary.csv, plots.svg, ...   tables and pictures of all runs together
//! ```

use super::atomic::{Durability, aside, write_atomically};
use super::removal::remove_file;
use super::{Overwrite, ResultError, ResultFolder};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

const MARKER: &str = "compare.json";
/// Key of the marker that no other program writes; its value is `FORMAT`.
const FORMAT_KEY: &str = "phyxel_comparison";
const FORMAT: u64 = 1;

/// The folder of a comparison.
#[derive(Debug)]
pub struct ComparisonFolder {
    path: PathBuf,
    /// Names of the methods, in the order of the marker.
    methods: Vec<String>,
    /// Names of all other files of the comparison, which are removed when another one replaces it.
    files: Vec<String>,
}

impl ComparisonFolder {
    /// Checks that a comparison of these methods may write to `path`; nothing is changed.
    ///
    /// # Errors
    /// When `path` holds a comparison that must not be overwritten, or something that is no comparison.
    pub fn check_free(path: &Path, overwrite: Overwrite, methods: &[&str]) -> Result<(), ResultError> {
        let mut entries = match fs::read_dir(path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {
                return Err(ResultError::NotAComparison(path.to_owned()));
            }
            Err(error) => return Err(ResultError::io("read", path, error)),
        };
        if entries.next().is_none() {
            return Ok(());
        }
        let Some(earlier) = Self::open(path) else {
            return Err(ResultError::NotAComparison(path.to_owned()));
        };
        if overwrite == Overwrite::No {
            return Err(ResultError::ComparisonExists(path.to_owned()));
        }
        let earlier = earlier.methods.iter().map(String::as_str);
        earlier.chain(methods.iter().copied()).try_for_each(|method| {
            // only an existing folder that is no result is refused
            ResultFolder::check_free(&path.join(method), Overwrite::Yes)
        })
    }

    /// Creates the folder of a new comparison. Files that an earlier comparison wrote are removed, and nothing else.
    ///
    /// # Errors
    /// As [`ComparisonFolder::check_free`], or when a run is being written there, or a file operation fails.
    pub fn create(path: &Path, overwrite: Overwrite, methods: &[&str]) -> Result<Self, ResultError> {
        Self::check_free(path, overwrite, methods)?;
        if let Some(earlier) = Self::open(path) {
            earlier.remove()?;
        }
        fs::create_dir_all(path).map_err(|source| ResultError::io("make", path, source))?;
        let methods = methods.iter().map(|&method| method.to_owned()).collect();
        let folder = Self { path: path.to_owned(), methods, files: Vec::new() };
        folder.write_marker(&json!({ "status": "running" }))?;
        Ok(folder)
    }

    /// Reads the marker of an earlier comparison; `None` if there is no marker of this program.
    fn open(path: &Path) -> Option<Self> {
        let value: Value = serde_json::from_str(&fs::read_to_string(path.join(MARKER)).ok()?).ok()?;
        value[FORMAT_KEY].as_u64()?;
        // a manipulated marker must not name paths outside of the folder
        let is_plain = |name: &&str| {
            !name.is_empty() && *name != "." && *name != ".." && !name.contains(['/', '\\', ':'])
        };
        let names = |key: &str| -> Vec<String> {
            let list = value[key].as_array().map_or(&[][..], Vec::as_slice);
            list.iter().filter_map(Value::as_str).filter(is_plain).map(str::to_owned).collect()
        };
        Some(Self { path: path.to_owned(), methods: names("methods"), files: names("files") })
    }

    fn remove(&self) -> Result<(), ResultError> {
        // runs first, because one that is being written cannot be removed
        for method in self.methods.iter().filter(|method| self.run_path(method).exists()) {
            let path = self.run_path(method);
            match ResultFolder::remove(&path) {
                // remains of a run that ended before it wrote anything
                Err(ResultError::NotAResult(_)) => ResultFolder::check_free(&path, Overwrite::Yes)?,
                removed => removed?,
            }
        }
        self.files.iter().try_for_each(|name| remove_file(&self.path.join(name)))?;
        remove_file(&self.path.join(MARKER))
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of the result folder of a method.
    pub fn run_path(&self, method: &str) -> PathBuf {
        self.path.join(method)
    }

    /// Writes a file of the folder: `write` gets a temporary path, which is then renamed to `name`.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write<E: std::fmt::Display>(
        &mut self,
        name: &str,
        write: impl FnOnce(&Path) -> Result<(), E>,
    ) -> Result<(), ResultError> {
        if !self.files.iter().any(|known| known == name) {
            // listed before it exists, so that it is removed with the rest even after a failure
            self.files.push(name.to_owned());
            self.write_marker(&json!({ "status": "running" }))?;
        }
        let path = self.path.join(name);
        let aside = aside(&path);
        let written = write(&aside).map_err(|error| std::io::Error::other(error.to_string()));
        written.and_then(|()| fs::rename(&aside, &path)).map_err(|source| {
            let _ = fs::remove_file(&aside);
            ResultError::io("write", &path, source)
        })
    }

    /// Writes the marker: the methods and files of the folder, and the entries of `more`.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_marker(&self, more: &Value) -> Result<(), ResultError> {
        let mut value = json!({
            FORMAT_KEY: FORMAT,
            "version": env!("CARGO_PKG_VERSION"),
            "methods": self.methods,
            "files": self.files,
        });
        if let (Some(value), Some(more)) = (value.as_object_mut(), more.as_object()) {
            value.extend(more.iter().map(|(key, value)| (key.clone(), value.clone())));
        }
        let text =
            serde_json::to_string_pretty(&value).map_or_else(|_| value.to_string(), |text| text + "\n");
        write_atomically(&self.path.join(MARKER), text.as_bytes(), Durability::Process)
    }
}

#[cfg(test)]
mod tests {
    use super::super::folder::tests::{TemporaryFolder, scene};
    use super::*;

    fn write(folder: &mut ComparisonFolder, name: &str, text: &str) {
        folder.write(name, |path| fs::write(path, text)).unwrap();
    }

    #[test]
    fn a_comparison_is_refused_or_replaced_with_all_that_it_wrote() {
        let temporary = TemporaryFolder::new("comparison");
        let path = temporary.path().join("out");
        let mut folder = ComparisonFolder::create(&path, Overwrite::No, &["a", "b"]).unwrap();
        write(&mut folder, "summary.csv", "x");
        drop(ResultFolder::create(&folder.run_path("a"), Overwrite::No, &scene()).unwrap());
        fs::write(path.join("notes.txt"), "mine").unwrap();
        let again = ComparisonFolder::create(&path, Overwrite::No, &["b", "c"]);
        assert!(matches!(again, Err(ResultError::ComparisonExists(_))));
        assert!(path.join("a/scene.toml").exists() && path.join("summary.csv").exists());
        ComparisonFolder::create(&path, Overwrite::Yes, &["b", "c"]).unwrap();
        let mut left: Vec<_> = fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["compare.json", "notes.txt"]);
    }

    #[test]
    fn what_is_no_comparison_is_never_touched() {
        let temporary = TemporaryFolder::new("comparison_other");
        let refused = |path: &Path| {
            let error = ComparisonFolder::create(path, Overwrite::Yes, &["a"]).unwrap_err();
            assert!(matches!(error, ResultError::NotAComparison(_) | ResultError::NotAResult(_)), "{error}");
        };
        let photos = temporary.path().join("photos");
        fs::create_dir(&photos).unwrap();
        fs::write(photos.join("compare.json"), "{\"mine\": 1}").unwrap();
        refused(&photos);
        refused(&photos.join("compare.json"));
        let path = temporary.path().join("out");
        ComparisonFolder::create(&path, Overwrite::No, &["a"]).unwrap();
        fs::create_dir(path.join("a")).unwrap();
        fs::write(path.join("a/photo.jpg"), "photo").unwrap();
        refused(&path);
        assert_eq!(fs::read(path.join("a/photo.jpg")).unwrap(), b"photo");
    }

    #[test]
    fn a_marker_that_names_places_elsewhere_harms_nothing() {
        let temporary = TemporaryFolder::new("comparison_marker");
        let path = temporary.path().join("out");
        fs::create_dir(&path).unwrap();
        fs::write(temporary.path().join("precious"), "x").unwrap();
        let marker =
            json!({ FORMAT_KEY: 1, "methods": ["..", "", "a/b"], "files": ["../precious", "..", 3] });
        fs::write(path.join(MARKER), marker.to_string()).unwrap();
        ComparisonFolder::create(&path, Overwrite::Yes, &["a"]).unwrap();
        assert!(temporary.path().join("precious").exists());
    }

    #[test]
    fn what_could_not_be_written_leaves_nothing_aside() {
        let temporary = TemporaryFolder::new("comparison_write");
        let mut folder =
            ComparisonFolder::create(&temporary.path().join("out"), Overwrite::No, &["a"]).unwrap();
        let half = |path: &Path| {
            fs::write(path, "half").map_err(|error| error.to_string()).and(Err("full".to_owned()))
        };
        let error = folder.write("sheet.png", half).unwrap_err();
        assert!(error.to_string().contains("sheet.png") && error.to_string().contains("full"), "{error}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "only the marker");
    }
}
