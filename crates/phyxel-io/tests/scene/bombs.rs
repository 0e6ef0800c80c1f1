//! Tests that scenes of excessive numbers and lists are refused soon, with short messages.

use crate::bad_scenes::{assert_bad, only, with_line};
use crate::{SHORT, parse};
use std::time::{Duration, Instant};

const TOO_LARGE: &str = "frames cannot hold larger numbers; look at the exponent and the unit";

#[test]
fn numbers_that_frames_cannot_hold() {
    let velocity = format!("{SHORT}velocity = [1e300, 0, 0]");
    let message = "an entry of `velocity` must be at most 1e15 in SI units, found 1e300";
    assert_bad(&velocity, 12, 13, message, TOO_LARGE);
    let size = with_line(10, "shape.box.size = [1, 1e30, 1]");
    let message = "an entry of `size` must be at most 1e15 in SI units, found 1e30";
    assert_bad(&size, 10, 22, message, TOO_LARGE);
    let size = with_line(10, "shape.box.size = [1, 1e-30, 1]");
    assert_bad(&size, 10, 18, "`size` must have components of at least 1e-15", "");
    let rate = format!("frame_rate = 1e-320\n{SHORT}");
    assert_bad(&rate, 1, 14, "`frame_rate` must be at least 1e-15 1/s, found 1e-320 1/s", "");
    let small = format!("{SHORT}velocity = [1e-300, 0, 0]");
    assert!(parse(&small).is_ok(), "tiny components are rounding errors of other programs");
}

#[test]
fn names_longer_than_file_names() {
    let name = format!("name = \"{}\"", "n".repeat(300));
    let text = SHORT.lines().map(|line| if line.starts_with("name") { name.as_str() } else { line });
    let text: Vec<&str> = text.collect();
    let (_, column, message, help) = only(&text.join("\n"));
    assert_eq!((column, message.as_str()), (8, "`name` is too long: 300 bytes, at most 100"));
    assert!(help.contains("file names"), "{help}");
}

#[test]
fn a_long_list_of_problems_is_cut_with_a_count() {
    let n_keys = 200_000;
    let keys: String = (0..n_keys).map(|k| format!("k{k} = 1\n")).collect();
    let begin = Instant::now();
    let error = parse(&(keys + SHORT)).unwrap_err();
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    assert_eq!(error.problems.len() + error.n_left_off, n_keys);
    assert!(error.problems.len() <= 50);
    let text = error.to_string();
    assert!(text.len() < 50_000 && text.ends_with(": 199950 more problems\n"), "{}", text.len());
}

#[test]
fn long_lines_and_names_are_shown_in_part() {
    let long = "x".repeat(1_000_000);
    let error = parse(&format!("title = \"{long}\"\n{long} = 1\n{SHORT}")).unwrap_err();
    assert_eq!(error.line_column(error.problems[0].span.start), (2, 1));
    assert!(error.to_string().len() < 3000, "{}", error.to_string().len());
}

#[test]
fn shapes_of_very_many_parts() {
    let union = |n: usize| {
        let parts = vec!["{ sphere = { radius = 1 } }"; n].join(", ");
        with_line(10, &format!("shape.union = [{parts}]"))
    };
    assert!(parse(&union(200)).is_ok());
    let (line, _, message, _) = only(&union(201));
    assert_eq!(line, 10);
    assert!(message.starts_with("a shape of 201 parts"), "{message}");
    let nested = vec![format!("{{ union = [{}] }}", vec!["{ sphere = { radius = 1 } }"; 20].join(", ")); 20];
    let (_, _, message, _) = only(&with_line(10, &format!("shape.union = [{}]", nested.join(", "))));
    assert!(message.starts_with("a shape of 420 parts"), "{message}");
    let (_, _, message, _) = only(&union(60_000));
    assert_eq!(message, "`union` has 60000 entries, at most 50000");
}

#[test]
fn very_many_obstacles() {
    let obstacles = "[[obstacles]]\nshape.sphere.radius = 1\n".repeat(10_001);
    let (_, _, message, _) = only(&format!("{SHORT}{obstacles}"));
    assert_eq!(message, "10001 obstacles are more than 10000");
}
