//! Tests of each kind of mistake: message, place and advice.

use crate::{FULL, OPTIONS, SHORT, any_method, parse};
use phyxel_io::scene::{ParseOptions, SceneError, SceneFile};

/// Returns the only problem of a scene: line, column, message, help.
pub(crate) fn only(text: &str) -> (usize, usize, String, String) {
    let error = parse(text).expect_err("a problem");
    assert_eq!(error.problems.len(), 1, "{error}");
    let problem = error.problems[0].clone();
    let (line, column) = error.line_column(problem.span.start);
    (line, column, problem.message, problem.help.unwrap_or_default())
}

/// Returns the short scene with one line replaced. Lines are counted from 1.
pub(crate) fn with_line(number: usize, line: &str) -> String {
    let lines = SHORT.lines().enumerate().map(|(index, old)| if index + 1 == number { line } else { old });
    lines.collect::<Vec<_>>().join("\n")
}

pub(crate) fn assert_bad(text: &str, line: usize, column: usize, message: &str, help: &str) {
    let found = only(text);
    assert_eq!(found, (line, column, message.to_owned(), help.to_owned()));
}

#[test]
fn toml_syntax() {
    let (line, column, message, _) = only(&with_line(4, "density = = 3"));
    assert_eq!((line, column), (4, 11));
    assert!(message.starts_with("not valid TOML: "), "{message}");
    let (line, _, message, _) = only(&with_line(5, "density = 3"));
    assert_eq!((line, message.as_str()), (5, "not valid TOML: duplicate key"));
}

#[test]
fn empty_and_binary_files() {
    for text in ["", "  \n\t\n"] {
        let help = "a scene needs a method, a duration, materials and bodies";
        assert_bad(text, 1, 1, "the scene file is empty", help);
    }
    let error = SceneFile::parse_bytes(b"title = \"a\"\nx = \"\xff\xfe\"", "s.toml", &OPTIONS).unwrap_err();
    assert!(error.to_string().starts_with("s.toml:2:6: the scene file is not UTF-8 text"), "{error}");
    assert!(SceneFile::parse_bytes(SHORT.as_bytes(), "s.toml", &OPTIONS).is_ok());
}

#[test]
fn only_a_comment_misses_everything() {
    let error = parse("# nothing\n").unwrap_err();
    let messages: Vec<&str> = error.problems.iter().map(|problem| problem.message.as_str()).collect();
    let expected = ["duration", "materials", "bodies"].map(|key| format!("missing key `{key}` in the scene"));
    assert_eq!(messages, expected);
    assert_eq!(error.problems[2].help.as_deref(), Some("add [[bodies]]"));
}

#[test]
fn unknown_keys() {
    assert_bad(&with_line(4, "densty = 1800"), 4, 1, "unknown key `densty`", "did you mean `density`?");
    assert_bad(&with_line(11, "spaicng = 0.1"), 11, 1, "unknown key `spaicng`", "did you mean `spacing`?");
    let colour = SHORT.replace("poisson_ratio = 0.3", "poisson_ratio = 0.3\ncolour = 1");
    let help = "valid keys here: `based_on`, `density`, `youngs_modulus`, `poisson_ratio`, `viscosity`, `law` and \
                `plasticity`";
    assert_bad(&colour, 7, 1, "unknown key `colour`", help);
    let dotted = with_line(10, "shape.sphere = { radius = 1, radios = 2 }");
    assert_bad(&dotted, 10, 30, "unknown key `radios`", "did you mean `radius`?");
    let shape = with_line(10, "shape.spere = { radius = 1 }");
    assert_bad(&shape, 10, 7, "unknown key `spere`", "did you mean `sphere`?");
}

#[test]
fn keys_that_come_later() {
    let later = |line: usize, key: &str, text: &str| {
        let help = format!("`{key}` comes with a later version");
        let column = text.lines().nth(line - 1).unwrap().find(key).unwrap() + 1;
        assert_bad(text, line, column, &format!("unknown key `{key}`"), &help);
    };
    let plasticity = "plasticity = { yield_stress = 3, flow_rate = 1, drucker_prager = { cohesion = 3 } }";
    later(7, "drucker_prager", &with_line(6, &format!("poisson_ratio = 0.3\n{plasticity}")));
    later(12, "surfels", &format!("{SHORT}surface = {{ kind = \"mesh\", surfels = 3 }}"));
    later(14, "ramp", &format!("{SHORT}[[events]]\ntime = 0.5\nramp = 1\nrelease = true"));
}

#[test]
fn keys_of_other_surfaces() {
    let skin = format!("{SHORT}surface = {{ kind = \"skin\", order = 1 }}");
    assert_bad(&skin, 12, 36, "`order` is for surfaces of kind \"mesh\", this one is a skin", "");
    let kind = format!("{SHORT}surface = {{ kind = \"mash\" }}");
    assert_bad(
        &kind,
        12,
        20,
        "`kind` must be \"mesh\" or \"skin\", found \"mash\"",
        "did you mean \"mesh\"?",
    );
}

#[test]
fn wrong_types() {
    let cases = [
        (2, "duration = true", 12, "`duration` must be a time, found a boolean", "duration = \"2 ms\""),
        (
            4,
            "density = [1]",
            11,
            "`density` must be a density or a table, found an array",
            "density = \"1800 kg/m3\"",
        ),
        (8, "name = 3", 8, "`name` must be a string, found an integer", "name = \"bar\""),
        (10, "shape = \"sphere\"", 9, "`shape` must be a table, found a string", "shape = { ... }"),
        (10, "shape.sphere = 1.5", 16, "`sphere` must be a table, found a float", "sphere = { ... }"),
        (
            11,
            "particles = \"many\"",
            13,
            "`particles` must be a whole number, found a string",
            "particles = 10",
        ),
        (
            11,
            "spacing = 1979-05-27",
            11,
            "`spacing` must be a length or a table, found a date or time",
            "spacing = \"5 cm\"",
        ),
    ];
    for (line, text, column, message, example) in cases {
        assert_bad(&with_line(line, text), line, column, message, &format!("for example `{example}`"));
    }
    let inside = format!("{SHORT}[[obstacles]]\nshape.sphere.radius = 1\ninside = \"yes\"");
    assert_bad(
        &inside,
        14,
        10,
        "`inside` must be true or false, found a string",
        "for example `inside = true`",
    );
    let table = SHORT.replace("[[bodies]]", "[bodies]");
    let help = "for example `bodies = [{ ... }, { ... }]`";
    assert_bad(&table, 7, 1, "`bodies` must be an array of tables, found a table", help);
    let material = "duration = 1\nmaterials.clay = 3\nmethod = \"first\"\n".to_owned()
        + SHORT.split_once("0.3\n").unwrap().1;
    assert_bad(&material, 2, 11, "`clay` must be a table, found an integer", "for example `clay = { ... }`");
}

#[test]
fn whole_numbers() {
    assert_bad(
        &with_line(11, "particles = 5e3"),
        11,
        13,
        "`particles` must be a whole number, found 5000.0",
        "write 5000",
    );
    assert_bad(
        &with_line(11, "particles = 0.5"),
        11,
        13,
        "`particles` must be a whole number, found 0.5",
        "",
    );
    assert_bad(
        &with_line(11, "particles = 0"),
        11,
        13,
        "`particles` must be from 1 to 1000000000, found 0",
        "",
    );
    assert_bad(&format!("format = 2\n{SHORT}"), 1, 10, "`format` must be 1, found 2", "");
    assert_bad(&format!("{SHORT}seed = -1"), 12, 8, "`seed` must be at least 0, found -1", "");
}

#[test]
fn missing_keys() {
    let message = "missing key `density` in `clay`";
    assert_bad(&with_line(4, ""), 3, 12, message, "for example `density = \"1800 kg/m3\"`");
    let message = "missing key `name` in [[bodies]]";
    assert_bad(&with_line(8, ""), 7, 1, message, "for example `name = \"bar\"`");
    let message = "missing key `radius` in `sphere`";
    assert_bad(&with_line(10, "shape.sphere = {}"), 10, 16, message, "for example `radius = \"5 cm\"`");
    assert_bad(
        &with_line(2, ""),
        1,
        1,
        "missing key `duration` in the scene",
        "for example `duration = \"2 ms\"`",
    );
    let message = "missing key `max` in `box`";
    let text = with_line(10, "shape.box = { min = [0, 0, 0] }");
    assert_bad(&text, 10, 13, message, "for example `max = [1, 0.5, \"25 cm\"]`");
}

#[test]
fn units() {
    assert_bad(
        &with_line(11, "spacing = \"3 kg\""),
        11,
        11,
        "`spacing`: \"3 kg\" is a mass, expected a length",
        "a length looks like \"5 cm\"",
    );
    assert_bad(
        &with_line(5, "youngs_modulus = \"2 kpa\""),
        5,
        18,
        "`youngs_modulus`: unknown unit `kpa`",
        "did you mean `kPa`?",
    );
    assert_bad(
        &with_line(2, "duration = \"long\""),
        2,
        12,
        "`duration`: \"long\" does not begin with a number",
        "write a number, then its unit, such as \"5 cm\"",
    );
    assert_bad(
        &with_line(2, "duration = \"2\""),
        2,
        12,
        "`duration`: \"2\" has no unit",
        "write \"2 s\", or 2 without quotes for s",
    );
    assert_bad(
        &with_line(2, "duration = \"1e999 s\""),
        2,
        12,
        "`duration`: \"1e999 s\" is not a finite number",
        "infinity and NaN are no values",
    );
    let vector = format!("gravity = [0, \"9.81 m/s\", 0]\n{SHORT}");
    let message = "`gravity`: \"9.81 m/s\" is a velocity, expected an acceleration";
    assert_bad(&vector, 1, 15, message, "an acceleration looks like \"9.81 m/s2\"");
}

#[test]
fn ranges() {
    assert_bad(
        &with_line(4, "density = -5"),
        4,
        11,
        "`density` must be greater than 0 kg/m3, found -5 kg/m3",
        "",
    );
    assert_bad(
        &with_line(5, "youngs_modulus = \"0 MPa\""),
        5,
        18,
        "`youngs_modulus` must be greater than 0 Pa, found 0 Pa",
        "",
    );
    assert_bad(
        &with_line(6, "poisson_ratio = 0.5"),
        6,
        17,
        "`poisson_ratio` must be from 0 to 0.49, found 0.5",
        "",
    );
    let setting = format!("methods.{}.safety = ", any_method());
    let safety = format!("{setting}1.5\n{SHORT}");
    assert_bad(&safety, 1, setting.len() + 1, "`safety` must be greater than 0 and at most 1, found 1.5", "");
    let varying = with_line(4, "density = { along = [1, 0, 0], from = 0, to = 1 }");
    assert_bad(&varying, 4, 39, "`from` must be greater than 0 kg/m3, found 0 kg/m3", "");
}

#[test]
fn numbers_that_are_none() {
    assert_bad(&with_line(4, "density = nan"), 4, 11, "`density` must be a finite number, found NaN", "");
    assert_bad(&with_line(2, "duration = inf"), 2, 12, "`duration` must be a finite number, found inf", "");
    let gravity = format!("gravity = [0, -inf, 0]\n{SHORT}");
    assert_bad(&gravity, 1, 15, "an entry of `gravity` must be a finite number, found -inf", "");
}

#[test]
fn vectors() {
    let gravity = format!("gravity = [0, -9.81]\n{SHORT}");
    assert_bad(&gravity, 1, 11, "`gravity` must have 3 components, found 2", "for example `[0, 1, 0]`");
    let message = "`gravity` must be an array of three numbers, each an acceleration, found a float";
    assert_bad(&format!("gravity = -9.81\n{SHORT}"), 1, 11, message, "for example `gravity = [0, 1, 0]`");
    let message = "an entry of `gravity` must be an acceleration, found a boolean";
    assert_bad(&format!("gravity = [0, true, 0]\n{SHORT}"), 1, 15, message, "for example `\"9.81 m/s2\"`");
    let size = with_line(10, "shape.box.size = [1, 0, 1]");
    assert_bad(&size, 10, 18, "`size` must have components greater than 0", "");
    let axis = format!("{SHORT}rotation = {{ axis = [0, 0, 0], angle = 1 }}");
    assert_bad(&axis, 12, 21, "`axis` must not be the zero vector", "");
    let axis = format!("{SHORT}rotation = {{ axis = [0, 1e-300, 0], angle = 1 }}");
    assert_bad(&axis, 12, 21, "`axis` must have a length near 1", "");
    let matrix = format!("{SHORT}[[forces]]\nlinear.matrix = [[1, 0, 0], [0, 1]]");
    assert_bad(
        &matrix,
        13,
        17,
        "`matrix` must have 3 rows, found 2",
        "for example `matrix = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]`",
    );
    let matrix = format!("{SHORT}[[forces]]\nlinear.matrix = [[1, 0, 0], [0, 1, 0], [0, 1]]");
    assert_bad(
        &matrix,
        13,
        40,
        "an entry of `matrix` must have 3 components, found 2",
        "for example `[0, 1, 0]`",
    );
}

#[test]
fn names() {
    assert_bad(&with_line(8, "name = \"\""), 8, 8, "`name` must not be empty", "");
    assert_bad(
        &with_line(8, "name = \"a/b\""),
        8,
        8,
        "`name` must not contain '/'",
        "use letters, digits, `_` and `-`",
    );
    assert_bad(&with_line(8, "name = \" a\""), 8, 8, "`name` must not begin or end with a blank", "");
    let help = "bodies, grips and obstacles have names of their own";
    let twice = format!("{SHORT}{}", SHORT.split_once("0.3\n").unwrap().1);
    assert_bad(&twice, 13, 8, "the name `bar` is taken by another body", help);
    let obstacle = format!("{SHORT}[[obstacles]]\nname = \"bar\"\nshape.sphere.radius = 1");
    assert_bad(&obstacle, 13, 8, "the name `bar` is taken by another body", help);
    let obstacles = format!(
        "{SHORT}[[obstacles]]\nname = \"obstacle_2\"\nshape.sphere.radius = 1\n[[obstacles]]\nshape.sphere.radius = 1"
    );
    assert_bad(&obstacles, 15, 1, "the name `obstacle_2` is taken by another obstacle", help);
}

#[test]
fn references() {
    assert_bad(
        &with_line(9, "material = \"clya\""),
        9,
        12,
        "there is no material `clya`",
        "did you mean `clay`?",
    );
    assert_bad(
        &with_line(9, "material = \"honey\""),
        9,
        12,
        "there is no material `honey`",
        "there is `clay`",
    );
    let grip = format!("{SHORT}[[grips]]\nbody = \"bra\"\nselect.sphere.radius = 1");
    assert_bad(&grip, 13, 8, "there is no body `bra`", "did you mean `bar`?");
}

#[test]
fn methods() {
    let built = "built methods: `first`, `second` and `third`";
    assert_bad(
        &with_line(1, "method = \"later\""),
        1,
        10,
        "the method `later` is not built in this version",
        built,
    );
    assert_bad(&with_line(1, "method = \"fem\""), 1, 10, "there is no method `fem`", built);
    assert_bad(
        &with_line(1, "method = \"frist\""),
        1,
        10,
        "there is no method `frist`",
        "did you mean `first`?",
    );
    assert_bad(&format!("{SHORT}method = \"mpm\""), 12, 10, "there is no method `mpm`", built);
    let help = format!("add `method = \"{}\"` at the top of the scene, or to the body", any_method());
    assert_bad(&with_line(1, ""), 7, 1, "body `bar` has no method", &help);
    let settings = format!("{SHORT}[methods.later]\nx = 5");
    assert_bad(&settings, 12, 10, "the method `later` is not built in this version", built);
    let settings = format!("{SHORT}[methods.first]\nx = 5");
    assert_bad(&settings, 12, 10, "the method `first` has no settings", "");
    let error = SceneFile::parse(SHORT, "s", &ParseOptions::default()).unwrap_err();
    assert_eq!(error.problems[0].help.as_deref(), Some("no method is built"));
}

#[test]
fn both_or_neither_of_two_keys() {
    let help = "keep one of the two";
    assert_bad(&format!("{SHORT}particles = 5"), 12, 1, "`particles` and `spacing` exclude each other", help);
    let two = format!("{SHORT}shape.cone = {{ radius = 1, height = 1 }}");
    assert_bad(&two, 12, 7, "`cone` and `sphere` exclude each other", help);
    let message = "[[bodies]] needs `spacing` or `particles`";
    assert_bad(&with_line(11, ""), 7, 1, message, "for example `spacing = \"5 cm\"`");
    let (line, column, message, _) = only(&format!("{SHORT}[[forces]]\nfrom = 1"));
    assert_eq!((line, column), (12, 1));
    assert_eq!(message, "[[forces]] needs `acceleration`, `linear` or `drag`");
    let (line, column, message, _) = only(&with_line(10, "shape = {}"));
    assert_eq!((line, column), (10, 9));
    assert!(message.starts_with("`shape` needs `box`, `sphere`,"), "{message}");
    let box_text = with_line(10, "shape.box = { size = [1, 1, 1], min = [0, 0, 0] }");
    assert_bad(&box_text, 10, 33, "`min` and `size` exclude each other", help);
}

#[test]
fn values_that_contradict_each_other() {
    let cases = [
        (
            "box = { min = [0, 0, 0], max = [1, -1, 1] }",
            21,
            "`min` must be less than `max`, in every component",
        ),
        (
            "star = { radius = 1, inner_radius = 1, height = 1 }",
            43,
            "`inner_radius` must be less than `radius`",
        ),
        ("torus = { radius = 1, tube_radius = 2 }", 43, "`tube_radius` must be at most `radius`"),
    ];
    for (shape, column, message) in cases {
        assert_bad(&with_line(10, &format!("shape.{shape}")), 10, column, message, "");
    }
    let force = format!("{SHORT}[[forces]]\ndrag = 1\nfrom = 3\nuntil = 2");
    assert_bad(&force, 14, 8, "`from` must be less than `until`", "");
    let long = with_line(2, "duration = 1e9");
    let help = "lower `duration` or `frame_rate`; a bare number is in seconds";
    assert_bad(&long, 2, 12, "30000000000 frames are more than 1000000", help);
}

#[test]
fn infinite_bodies() {
    let help = "a half space is infinite; intersect it with a finite shape";
    let plane = "half_space = { normal = [0, 1, 0] }";
    assert_bad(&with_line(10, &format!("shape.{plane}")), 10, 1, "the shape of a body must be finite", help);
    let union = with_line(10, &format!("shape.union = [{{ {plane} }}, {{ sphere.radius = 1 }}]"));
    assert_bad(&union, 10, 1, "the shape of a body must be finite", help);
    assert!(parse(&union.replace("union", "intersection")).is_ok());
}

#[test]
fn motions() {
    let grip = |motion: &str| {
        format!("{SHORT}[[grips]]\nbody = \"bar\"\nselect.sphere.radius = 1\nmotion = {motion}")
    };
    let order = grip("[{ time = 0 }, { time = 2 }, { time = \"500 ms\" }]");
    assert_bad(&order, 15, 48, "keys of a motion must be in order of time: 0.5 s comes after 2 s", "");
    let same = grip("[{ time = 1 }, { time = 1 }]");
    assert_bad(&same, 15, 34, "keys of a motion must be in order of time: 1 s comes after 1 s", "");
    let jump = grip("[{ time = 0, translation = [1, 0, 0] }]");
    let message = "the first key of a grip's motion must be where the particles are";
    assert_bad(&jump, 15, 37, message, "begin with `{ time = 0 }`");
    assert_bad(&grip("[{ time = -1 }]"), 15, 20, "`time` must be at least 0 s, found -1 s", "");
    assert_bad(
        &grip("[3]"),
        15,
        11,
        "an entry of `motion` must be a table, found an integer",
        "for example `{ ... }`",
    );
}

#[test]
fn words() {
    let message = "`sampling` must be \"lattice\" or \"jittered\" or \"relaxed\", found \"latice\"";
    assert_bad(&format!("{SHORT}sampling = \"latice\""), 12, 12, message, "did you mean \"lattice\"?");
    let grip =
        |axes: &str| format!("{SHORT}[[grips]]\nbody = \"bar\"\nselect.sphere.radius = 1\naxes = \"{axes}\"");
    let help = "each of the letters x, y and z at most once, such as \"xz\"";
    assert_bad(&grip("xq"), 15, 8, "`axes` must name axes, found \"xq\"", help);
    assert_bad(&grip("xx"), 15, 8, "`axes` must name axes, found \"xx\"", help);
    assert_bad(&grip(""), 15, 8, "`axes` must not be empty", "");
    let obstacle = format!("{SHORT}[[obstacles]]\nshape.sphere.radius = 1\nfriction = \"sticky\"");
    assert_bad(&obstacle, 14, 12, "`friction` must be a number or \"stick\", found \"sticky\"", "");
}

#[test]
fn columns() {
    let output = |columns: &str| format!("{SHORT}[output]\ncolumns = {columns}");
    assert_bad(&output("[\"stres\"]"), 13, 12, "there is no column `stres`", "did you mean `stress`?");
    assert_bad(&output("[\"stress\", \"stress\"]"), 13, 22, "the column `stress` is named twice", "");
    assert_bad(
        &output("[\"heat\"]"),
        13,
        12,
        "there is no column `heat`",
        "there are `velocity`, `stress` and `strain`",
    );
    assert_bad(
        &output("[1]"),
        13,
        12,
        "an entry of `columns` must be a string, found an integer",
        "for example `\"bar\"`",
    );
}

#[test]
fn empty_lists() {
    let text = "method = \"first\"\nduration = 1\nbodies = []\n[materials]\n";
    let error = parse(text).unwrap_err();
    let messages: Vec<&str> = error.problems.iter().map(|problem| problem.message.as_str()).collect();
    assert_eq!(messages, ["`bodies` is empty", "`materials` is empty"]);
    let quoted = SHORT.replace("[materials.clay]", "[materials.\"\"]").replace("\"clay\"", "\"x\"");
    let error = parse(&quoted).unwrap_err();
    assert_eq!(error.problems[0].message, "empty name in `materials`");
}

#[test]
fn ten_problems_at_once() {
    let text = r#"method = "frist"
duration = "3 kg"
gravity = [0, -9.81]
[materials.clay]
densty = 1800
youngs_modulus = "2 kpa"
poisson_ratio = 0.6
[[bodies]]
name = ""
material = "honey"
shape.sphere = { radius = nan }
[[grips]]
body = "nobody"
select.box = { min = [0, 0, 0] }
"#;
    let error = parse(text).unwrap_err();
    let places: Vec<(usize, usize)> =
        error.problems.iter().map(|problem| error.line_column(problem.span.start)).collect();
    let expected = [
        (1, 10),
        (2, 12),
        (3, 11),
        (5, 1),
        (6, 18),
        (7, 17),
        (8, 1),
        (9, 8),
        (10, 12),
        (11, 27),
        (13, 8),
        (14, 14),
    ];
    assert_eq!(places, expected, "{error}");
    assert_eq!(error.to_string().matches("scene.toml:").count(), 12);
}

#[test]
fn the_contract_as_printed_is_refused_only_for_what_comes_later() {
    let later = FULL.replace("yield_measure = \"deviatoric\" }", "strain = { yield_strain = 0.1 } }")
        + "[[events]]\ntime = \"1.5 s\"\nbody = \"bar\"\nviscosity = 0\nset = { plasticity = false }\n";
    let error: SceneError = parse(&later).unwrap_err();
    let messages: Vec<&str> = error.problems.iter().map(|problem| problem.message.as_str()).collect();
    assert_eq!(messages, ["unknown key `strain`", "unknown key `set`"]);
}
