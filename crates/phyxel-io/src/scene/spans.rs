//! Places of the values of a scene in its file, so that later stages can refer to them.

use std::collections::BTreeMap;
use std::ops::Range;

/// Places of tables and values in the source text, by dotted path: `bodies.0.shape.mesh.file`. Entries of arrays are
/// counted from 0 and materials are identified by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spans {
    places: BTreeMap<String, Range<usize>>,
}

impl Spans {
    pub(crate) fn record(&mut self, path: &str, span: Range<usize>) {
        self.places.insert(path.to_owned(), span);
    }

    /// Returns the place of a table or value that is present in the file.
    pub fn get(&self, path: &str) -> Option<Range<usize>> {
        self.places.get(path).cloned()
    }

    /// Returns the place of a path, or of the nearest table around it if it is absent, or else the start of the file.
    pub fn nearest(&self, path: &str) -> Range<usize> {
        let mut path = path;
        loop {
            if let Some(span) = self.places.get(path) {
                return span.clone();
            }
            match path.rfind('.') {
                Some(dot) => path = &path[..dot],
                None => return 0..0,
            }
        }
    }
}

/// Returns the path of a key in the table at `path`.
pub(crate) fn join(path: &str, key: impl std::fmt::Display) -> String {
    if path.is_empty() { key.to_string() } else { format!("{path}.{key}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absent_key_is_placed_at_its_table() {
        let mut spans = Spans::default();
        spans.record("bodies.0", 10..20);
        spans.record("bodies.0.spacing", 30..35);
        assert_eq!(spans.nearest("bodies.0.spacing"), 30..35);
        assert_eq!(spans.nearest("bodies.0.shape.mesh.file"), 10..20);
        assert_eq!(spans.nearest("output"), 0..0);
        assert_eq!(spans.get("bodies.1"), None);
    }
}
