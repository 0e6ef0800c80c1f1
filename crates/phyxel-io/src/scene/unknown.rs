//! Keys and methods that do not exist, answered with what was probably meant.

use super::problem::Problem;
use super::schema::{Table, method_tables};
use super::spelling::{listed, nearest};
use super::validate::Validator;
use std::ops::Range;

impl Validator<'_> {
    /// Reports an unknown key and returns the known one that was probably meant.
    pub(crate) fn unknown_key(
        &mut self,
        table: &'static Table,
        name: &str,
        span: Range<usize>,
    ) -> Option<&'static str> {
        if std::ptr::eq(table, method_tables()) {
            self.unknown_method_settings(name, span);
            return None;
        }
        let problem = Problem::new(span, format!("unknown key `{name}`"));
        if table.later.contains(&name) {
            self.report(problem.with_help(format!("`{name}` comes with a later version")));
            return None;
        }
        // a search for each of many thousand keys takes minutes
        if self.has_enough_problems() {
            self.report(problem);
            return None;
        }
        let meant = nearest(name, table.keys().map(|key| key.name));
        let help = match meant {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("valid keys here: {}", listed(table.keys().map(|key| key.name), "and")),
        };
        self.report(problem.with_help(help));
        meant
    }

    fn unknown_method_settings(&mut self, name: &str, span: Range<usize>) {
        let problem = match self.options.methods.iter().find(|(method, _)| *method == name) {
            Some((_, true)) => Problem::new(span, format!("the method `{name}` has no settings")),
            _ => self.no_such_method(name, span),
        };
        self.report(problem);
    }

    /// Returns the problem of a method that does not exist or is not implemented.
    pub(crate) fn no_such_method(&self, name: &str, span: Range<usize>) -> Problem {
        let built = || self.options.methods.iter().filter(|(_, built)| *built).map(|(method, _)| *method);
        let there_are = if built().next().is_none() {
            "no method is built".to_owned()
        } else {
            format!("built methods: {}", listed(built(), "and"))
        };
        if self.options.methods.iter().any(|(method, _)| *method == name) {
            let message = format!("the method `{name}` is not built in this version");
            return Problem::new(span, message).with_help(there_are);
        }
        let help = match nearest(name, built()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => there_are,
        };
        Problem::new(span, format!("there is no method `{name}`")).with_help(help)
    }
}
