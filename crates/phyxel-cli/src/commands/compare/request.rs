//! Comparison that the user requests, checked as a whole before anything runs.

use super::Args;
use crate::failure::Failure;
use crate::scene_source::{self, SceneSource, SceneText};
use phyxel_io::results::ComparisonFolder;
use phyxel_io::scene::description::Scene;
use phyxel_io::scene::{SceneError, listed, nearest};

/// A comparison that can be run.
pub(super) struct Request {
    /// Methods, in the order of the command line.
    pub(super) methods: Vec<&'static str>,
    /// Scene with the overrides, still with its own method.
    pub(super) scene: SceneText,
    /// Title of the scene.
    pub(super) title: String,
    /// Number of the last frame.
    pub(super) n_frames: usize,
    /// Frame rate (1/s).
    pub(super) frame_rate: f64,
    /// Warnings for the user before the runs.
    pub(super) warnings: Vec<String>,
    /// Notes about choices that the program made for the user.
    pub(super) notes: Vec<String>,
}

/// Checks methods, overrides, folder and scene; the failure lists all problems.
pub(super) fn check(args: &Args) -> Result<Request, Failure> {
    let asked: Vec<&str> = args.methods.iter().map(|name| name.trim()).collect();
    let (methods, mut problems) = methods(&asked, &scene_source::methods());
    problems.extend(args.set.iter().filter_map(|(key, _)| misplaced_setting(key, &asked, &methods)));
    let mut failures: Vec<Failure> = problems.into_iter().map(Failure::Usage).collect();
    if let Err(error) = ComparisonFolder::check_free(&args.output, args.overwrite(), &methods) {
        failures.push(error.into());
    }
    let checked = SceneText::read(&args.scene, &args.set).and_then(|scene| {
        let sources = build_all(&scene, &methods)?;
        if let Some((_, source, _)) = sources.first() {
            check_coloring(&args.color_by, &source.scene)?;
        }
        Ok((scene, sources))
    });
    match checked {
        Ok((scene, sources)) if failures.is_empty() => request(args, methods, scene, &sources),
        Ok(_) => Err(Failure::Several(failures)),
        Err(failure) => {
            failures.push(failure);
            Err(Failure::Several(failures))
        }
    }
}

/// Method, the scene as this method will run it, and the bodies that name a method of their own.
type Built = (&'static str, SceneSource, Vec<String>);

fn request(
    args: &Args,
    methods: Vec<&'static str>,
    scene: SceneText,
    sources: &[Built],
) -> Result<Request, Failure> {
    let Some((_, first, named)) = sources.first() else {
        return Err(Failure::Usage("--methods needs two or more methods".into()));
    };
    let warnings = sources.iter().flat_map(|(method, source, _)| {
        source.warnings().into_iter().map(move |warning| format!("`{method}`: {warning}"))
    });
    let mut notes = Vec::new();
    if !named.is_empty() {
        let bodies = if named.len() == 1 { "body" } else { "bodies" };
        let name = if named.len() == 1 { "names" } else { "name" };
        let listed = listed(named.iter().map(String::as_str), "and");
        notes.push(format!(
            "all bodies are driven by the method that is compared, also the {bodies} {listed}, which {name} a method"
        ));
    }
    Ok(Request {
        methods,
        title: first.title.clone(),
        n_frames: args.frames.unwrap_or_else(|| first.scene.n_frames()),
        frame_rate: first.scene.frame_rate,
        warnings: warnings.collect(),
        notes,
        scene,
    })
}

/// Returns the methods that can be run, and the problems with the others.
fn methods(asked: &[&str], known: &[(&'static str, bool)]) -> (Vec<&'static str>, Vec<String>) {
    let (mut methods, mut problems) = (Vec::new(), Vec::new());
    let built = || known.iter().filter(|method| method.1).map(|method| method.0);
    let there_are = || format!("built methods: {}", listed(built(), "and"));
    for (k, &name) in asked.iter().enumerate() {
        if asked[..k].contains(&name) {
            if asked[..k].iter().filter(|&&earlier| earlier == name).count() == 1 {
                problems.push(format!("--methods names `{name}` more than once; name each method once"));
            }
            continue;
        }
        match known.iter().find(|method| method.0 == name) {
            Some(&(key, true)) => methods.push(key),
            Some((key, false)) => {
                problems.push(format!("the method `{key}` is not built in this version; {}", there_are()));
            }
            None => {
                let help = nearest(name, built()).map(|near| format!("did you mean `{near}`?"));
                let help = help.unwrap_or_else(there_are);
                problems.push(format!("--methods: there is no method `{name}`; {help}"));
            }
        }
    }
    if asked.len() < 2 {
        problems.push(format!(
            "--methods names one method, a comparison needs two or more ({}); for one there is `phyxel run`",
            there_are()
        ));
    }
    (methods, problems)
}

/// Returns the problem with an override of a method or its settings. `methods` are the requested ones that can be run.
fn misplaced_setting(key: &str, asked: &[&str], methods: &[&str]) -> Option<String> {
    let parts: Vec<&str> = key.split('.').map(|part| part.trim().trim_matches(['"', '\''])).collect();
    match parts.as_slice() {
        ["method"] | ["bodies", _, "method"] => {
            Some(format!("--set {key}: the methods of a comparison are those of --methods; leave this out"))
        }
        ["methods", method, ..] if !asked.contains(method) => {
            let help = match nearest(method, methods.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("add it to --methods, or leave this out ({})", compared(methods)),
            };
            Some(format!("--set {key}: the method `{method}` is not compared; {help}"))
        }
        _ => None,
    }
}

fn compared(methods: &[&str]) -> String {
    match methods {
        [] => "none is compared".to_owned(),
        methods => format!("compared: {}", listed(methods.iter().copied(), "and")),
    }
}

/// Builds the scene with each of the methods. A problem that several methods share is reported once.
fn build_all(scene: &SceneText, methods: &[&'static str]) -> Result<Vec<Built>, Failure> {
    let (mut sources, mut refused) = (Vec::new(), Vec::<(Vec<&str>, Box<SceneError>)>::new());
    for (k, &method) in methods.iter().enumerate() {
        let (text, named) = scene.with_method(method)?;
        if k == 0 {
            // mistakes in the file itself are the same for all methods
            text.parse()?;
        }
        match text.build() {
            Ok(source) => sources.push((method, source, named)),
            Err(Failure::Scene(error)) => {
                match refused.iter_mut().find(|(_, known)| is_same(known, &error)) {
                    Some((methods, _)) => methods.push(method),
                    None => refused.push((vec![method], error)),
                }
            }
            Err(other) => return Err(other),
        }
    }
    if refused.is_empty() {
        return Ok(sources);
    }
    let failure = |(by, error): (Vec<&str>, Box<SceneError>)| {
        if by.len() == methods.len() {
            Failure::Scene(error)
        } else {
            Failure::Refused { methods: listed(by, "and"), error }
        }
    };
    Err(Failure::Several(refused.into_iter().map(failure).collect()))
}

/// Returns true if two errors have the same messages at the same lines of a scene.
fn is_same(left: &SceneError, right: &SceneError) -> bool {
    let words = |error: &SceneError| -> Vec<(usize, String, Option<String>)> {
        let word = |problem: &phyxel_io::scene::Problem| {
            (error.line_column(problem.span.start).0, problem.message.clone(), problem.help.clone())
        };
        error.problems.iter().map(word).collect()
    };
    words(left) == words(right)
}

/// Checks that the pictures can be coloured by a column of the frames.
fn check_coloring(name: &str, scene: &Scene) -> Result<(), Failure> {
    let columns = &scene.output.columns;
    let has = |name: &str| columns.iter().any(|column| column == name);
    if name == "body" || has(name) || (name == "speed" && has("velocity")) {
        return Ok(());
    }
    let known = std::iter::once("body").chain(columns.iter().map(String::as_str));
    Err(Failure::Usage(format!(
        "--color-by {name}: the frames will have {}; add the column with --set output.columns='[\"{name}\"]' or in the scene",
        listed(known, "and")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [(&str, bool); 3] = [("first", true), ("later", false), ("second", true)];

    #[test]
    fn methods_that_cannot_be_compared_are_all_named_with_a_remedy() {
        let (good, problems) = methods(&["first", "secnd", "later", "first", "x"], &KNOWN);
        assert_eq!(good, ["first"]);
        let said = problems.join("\n");
        for word in ["did you mean `second`?", "`later` is not built", "`first` more than once", "method `x`"]
        {
            assert!(said.contains(word), "{word} is missing in\n{said}");
        }
        assert_eq!(problems.len(), 4);
        assert_eq!(methods(&["second", "first"], &KNOWN), (vec!["second", "first"], vec![]));
        assert!(methods(&["second"], &KNOWN).1[0].contains("phyxel run"));
        assert_eq!(methods(&["second"; 3], &KNOWN).1.len(), 1, "said once");
    }

    #[test]
    fn settings_must_be_of_a_compared_method() {
        let asked = ["first", "second"];
        let said = |key| misplaced_setting(key, &asked, &asked);
        assert_eq!(said("methods.second.safety"), None);
        assert_eq!(said("methods.\"second\".safety"), None);
        assert_eq!(said("materials.clay.density"), None);
        assert!(said("methods.third.safety").unwrap().contains("`first` and `second`"));
        assert!(said("methods.secnd.safety").unwrap().contains("did you mean `second`"));
        assert!(said("method").unwrap().contains("--methods"));
        assert!(said("bodies.0.method").unwrap().contains("--methods"));
    }
}
