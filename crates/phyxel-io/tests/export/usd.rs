//! Tests of USD exports: the text is parsed by the grammar of .usda files.

use crate::support::*;
use phyxel::frame::Frame;
use phyxel_io::export::Geometry;
use std::collections::BTreeMap;

/// A value after an equals sign.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    Number(f64),
    Text(String),
    /// Lists and tuples.
    Many(Vec<Value>),
    /// Time samples and dictionaries.
    Entries(BTreeMap<String, Value>),
}

impl Value {
    fn floats(&self) -> Vec<f32> {
        match self {
            Self::Number(number) => vec![*number as f32],
            Self::Many(values) => values.iter().flat_map(Self::floats).collect(),
            other => panic!("no numbers: {other:?}"),
        }
    }

    fn n_elements(&self) -> usize {
        match self {
            Self::Many(values) => values.len(),
            other => panic!("no list: {other:?}"),
        }
    }

    fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            other => panic!("no text: {other:?}"),
        }
    }
}

#[derive(Debug, Default)]
struct Prim {
    kind: String,
    name: String,
    metadata: BTreeMap<String, Value>,
    /// Type and value of each attribute by name; time samples have the name NAME.timeSamples.
    attributes: BTreeMap<String, (String, Value)>,
    /// Metadata of each attribute, by name.
    notes: BTreeMap<String, BTreeMap<String, Value>>,
    children: Vec<Prim>,
}

impl Prim {
    /// Returns the value of an attribute in a frame: that of its time sample, or the only one.
    fn at(&self, kind: &str, name: &str, frame: usize) -> &Value {
        let (found, value) = self
            .attributes
            .get(&format!("{name}.timeSamples"))
            .or_else(|| self.attributes.get(name))
            .unwrap_or_else(|| panic!("there is no {name}"));
        assert_eq!(found, kind, "{name}");
        match value {
            Value::Entries(samples) => &samples[&frame.to_string()],
            value => value,
        }
    }
}

/// Splits text into tokens: words, strings (with their quotes) and signs.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let mut token = letter.to_string();
        if letter == '<' {
            token.extend(letters.by_ref().take_while(|&next| next != '>'));
        } else if letter == '"' {
            while let Some(next) = letters.next() {
                match next {
                    '\\' => token.push(letters.next().unwrap()),
                    '"' => break,
                    other => token.push(other),
                }
            }
        } else if letter.is_whitespace() {
            continue;
        } else if !"()[]{}=,;:".contains(letter) {
            // a colon between letters is part of a name; before a blank it ends the key of a sample
            while let Some(&next) = letters.peek() {
                let is_name = next.is_alphanumeric() || "_.:-+".contains(next);
                if !is_name || (next == ':' && token.parse::<f64>().is_ok()) {
                    break;
                }
                token.push(next);
                letters.next();
            }
        }
        tokens.push(token);
    }
    tokens
}

struct Parser {
    tokens: std::iter::Peekable<std::vec::IntoIter<String>>,
}

impl Parser {
    fn next(&mut self) -> String {
        self.tokens.next().expect("the text ends too early")
    }

    fn take(&mut self, token: &str) -> bool {
        self.tokens.next_if(|next| next == token).is_some()
    }

    fn expect(&mut self, token: &str) {
        assert_eq!(self.next(), token);
    }

    fn value(&mut self) -> Value {
        let token = self.next();
        let closing = match token.as_str() {
            "[" => "]",
            "(" => ")",
            "{" => return self.entries(),
            path if path.starts_with('<') => return Value::Text(path[1..].to_owned()),
            text if text.starts_with('"') => return Value::Text(text[1..].to_owned()),
            number => return Value::Number(number.parse().unwrap_or_else(|_| panic!("no number: {number}"))),
        };
        let mut values = Vec::new();
        while !self.take(closing) {
            values.push(self.value());
            if !self.take(",") {
                self.expect(closing);
                break;
            }
        }
        Value::Many(values)
    }

    /// Parses `1: value, 2: value }` or `string name = value; ... }`.
    fn entries(&mut self) -> Value {
        let mut entries = BTreeMap::new();
        while !self.take("}") {
            let first = self.next();
            if self.take(":") {
                entries.insert(first, self.value());
                self.take(",");
            } else {
                assert_eq!(first, "string", "type of an entry");
                let name = self.next();
                self.expect("=");
                entries.insert(name, self.value());
                if !self.take(";") {
                    self.expect("}");
                    break;
                }
            }
        }
        Value::Entries(entries)
    }

    /// Parses `( name = value ... )`, if it is there.
    fn metadata(&mut self) -> BTreeMap<String, Value> {
        let mut metadata = BTreeMap::new();
        if self.take("(") {
            while !self.take(")") {
                self.take("prepend");
                let name = self.next();
                self.expect("=");
                metadata.insert(name, self.value());
            }
        }
        metadata
    }

    fn prim(&mut self) -> Prim {
        let kind = self.next();
        let name = self.next()[1..].to_owned();
        let mut prim = Prim { kind, name, metadata: self.metadata(), ..Prim::default() };
        self.expect("{");
        while !self.take("}") {
            if self.take("def") {
                prim.children.push(self.prim());
                continue;
            }
            let is_uniform = self.take("uniform");
            let mut kind = self.next();
            assert_eq!(is_uniform, kind == "token");
            if self.take("[") {
                self.expect("]");
                kind += "[]";
            }
            let name = self.next();
            if self.take("=") {
                let value = self.value();
                assert!(prim.attributes.insert(name.clone(), (kind, value)).is_none(), "{name} twice");
            }
            prim.notes.entry(name).or_default().extend(self.metadata());
        }
        prim
    }
}

/// Parses a file and returns its metadata and its root.
fn parse(text: &str) -> (BTreeMap<String, Value>, Prim) {
    let text = text.strip_prefix("#usda 1.0\n").expect("the first line");
    let mut parser = Parser { tokens: tokens(text).into_iter().peekable() };
    let metadata = parser.metadata();
    parser.expect("def");
    let root = parser.prim();
    assert!(parser.tokens.next().is_none(), "more than one root");
    (metadata, root)
}

fn exported(frames: &[Frame], range: &str) -> (BTreeMap<String, Value>, Prim) {
    let place = Workplace::new();
    let written = place.export(frames, "usd", range, "a.usda");
    assert_eq!(place.names(), ["a.usda", "result"], "nothing is left aside");
    let text = std::fs::read_to_string(place.path("a.usda")).unwrap();
    assert_eq!((written.n_files, written.n_bytes), (1, text.len() as u64));
    parse(&text)
}

fn check_frames(root: &Prim, frames: &[Frame], numbers: std::ops::RangeInclusive<usize>) {
    for number in numbers {
        let frame = &frames[number];
        for (body, prim) in root.children.iter().enumerate() {
            let rows = rows_of(frame, body as u32);
            let at = |kind: &str, name: &str| prim.at(kind, name, number).floats();
            assert_eq!(at("point3f[]", "points"), positions(frame, &rows), "frame {number}");
            assert_eq!(prim.at("point3f[]", "points", number).n_elements(), rows.len());
            assert_eq!(at("vector3f[]", "velocities"), column(frame, "velocity", &rows));
            assert_eq!(at("float[]", "primvars:stress"), column(frame, "stress", &rows));
            let embedded = column(frame, "embedded_position", &rows);
            assert_eq!(at("float3[]", "primvars:embedded_position"), embedded);
            let ids: Vec<f32> = rows.iter().map(|&row| frame.id[row] as f32).collect();
            assert_eq!(at("int64[]", "ids"), ids);
            assert_eq!(at("int[]", "primvars:id"), ids);
            let widths: Vec<f32> = rows.iter().map(|&row| 2.0 * frame.radius[row]).collect();
            assert_eq!(at("float[]", "widths"), widths);
            let extent = at("float3[]", "extent");
            for &row in &rows {
                for axis in 0..3 {
                    let (x, radius) = (frame.position[row][axis], frame.radius[row]);
                    assert!(extent[axis] <= x - radius && x + radius <= extent[3 + axis]);
                }
            }
        }
    }
}

#[test]
fn every_frame_of_every_body_is_there_also_when_particles_change() {
    for frames in [steady_frames(), changing_frames()] {
        let (_, root) = exported(&frames, "..");
        check_frames(&root, &frames, 0..=3);
        let (metadata, root) = exported(&frames, "1..2");
        check_frames(&root, &frames, 1..=2);
        assert_eq!(metadata["startTimeCode"], Value::Number(1.0));
        assert_eq!(metadata["endTimeCode"], Value::Number(2.0));
    }
}

#[test]
fn units_times_and_names_are_said() {
    let (metadata, root) = exported(&steady_frames(), "..");
    assert_eq!(metadata["metersPerUnit"], Value::Number(1.0));
    assert_eq!(metadata["upAxis"].text(), "Y");
    for key in ["timeCodesPerSecond", "framesPerSecond"] {
        assert_eq!(metadata[key], Value::Number(FRAME_RATE), "{key}");
    }
    assert_eq!(metadata["doc"].text(), "A \"test\"");
    assert_eq!((root.kind.as_str(), metadata["defaultPrim"].text()), ("Xform", root.name.as_str()));
    let names: Vec<&str> = root.children.iter().map(|prim| prim.name.as_str()).collect();
    assert_eq!(names, ["left_arm", "_ball_____S_hne_"]);
    for (prim, body) in root.children.iter().zip(BODIES) {
        assert_eq!(prim.kind, "Points");
        let Value::Entries(data) = &prim.metadata["customData"] else { panic!("{:?}", prim.metadata) };
        assert_eq!(data["name"].text(), body);
        for name in ["widths", "primvars:stress", "primvars:embedded_position", "primvars:id"] {
            assert_eq!(prim.notes[name]["interpolation"].text(), "vertex", "{name}");
        }
        let Value::Entries(data) = &prim.notes["primvars:stress"]["customData"] else { panic!() };
        assert_eq!(data["unit"].text(), "Pa");
    }
}

#[test]
fn what_never_changes_is_written_once() {
    let (_, root) = exported(&steady_frames(), "..");
    for name in ["ids", "widths", "primvars:id"] {
        assert!(root.children[0].attributes.contains_key(name), "{name}");
    }
    assert!(root.children[0].attributes.contains_key("points.timeSamples"));
}

fn exported_surfaces(geometry: Geometry) -> Prim {
    let place = Workplace::new();
    place.export_surfaces("usd", geometry, "a.usda");
    parse(&std::fs::read_to_string(place.path("a.usda")).unwrap()).1
}

/// Checks that surfaces are meshes with all their data, also when the faces change between frames.
#[test]
fn surfaces_are_meshes_with_all_that_they_have() {
    let root = exported_surfaces(Geometry::Seen);
    let kinds: Vec<(&str, &str)> = root.children.iter().map(|p| (p.kind.as_str(), p.name.as_str())).collect();
    let expected = [("Mesh", "left_arm_surface"), ("Points", "_ball_____S_hne_"), ("Scope", "materials")];
    assert_eq!(kinds, expected);
    let materials: Vec<(&str, &str)> =
        root.children[2].children.iter().map(|p| (p.kind.as_str(), p.name.as_str())).collect();
    assert_eq!(materials, [("Material", "left_arm_wing_tip"), ("Material", "left_arm_front")]);
    let mesh = &root.children[0];
    assert_eq!(mesh.attributes["subdivisionScheme"].1.text(), "none");
    for (number, surface) in surfaces().iter().enumerate() {
        let at = |kind: &str, name: &str| mesh.at(kind, name, number).floats();
        let integers = |values: &[u32]| values.iter().map(|&v| v as f32).collect::<Vec<_>>();
        assert_eq!(at("point3f[]", "points"), surface.position.as_flattened());
        assert_eq!(at("vector3f[]", "velocities"), surface.velocity.as_flattened());
        assert_eq!(at("normal3f[]", "normals"), surface.corner_normals.as_flattened());
        assert_eq!(at("texCoord2f[]", "primvars:st"), surface.uvs.as_flattened());
        assert_eq!(at("int[]", "faceVertexCounts"), integers(&surface.face_sizes));
        assert_eq!(at("int[]", "faceVertexIndices"), integers(&surface.corners));
        let shift = number as f32 / 3.0;
        assert_eq!(at("float3[]", "extent"), [shift, 0.0, shift, 2.0 + shift, 1.0, shift]);
    }
    for name in ["normals", "primvars:st"] {
        assert_eq!(mesh.notes[name]["interpolation"].text(), "faceVarying", "{name}");
    }
    let groups: Vec<(&str, Vec<f32>)> =
        mesh.children.iter().map(|g| (g.name.as_str(), g.attributes["indices"].1.floats())).collect();
    assert_eq!(groups, [("wing_tip", vec![1.0]), ("front", vec![0.0])]);
    assert!(
        mesh.children
            .iter()
            .all(|g| g.kind == "GeomSubset" && g.attributes["elementType"].1.text() == "face")
    );
}

#[test]
fn what_is_exported_of_bodies_is_chosen() {
    let kinds = |geometry| -> Vec<String> {
        let root = exported_surfaces(geometry);
        root.children.iter().map(|prim| prim.kind.clone()).filter(|kind| kind != "Scope").collect()
    };
    assert_eq!(kinds(Geometry::Particles), ["Points", "Points"]);
    assert_eq!(kinds(Geometry::Surfaces), ["Mesh"]);
    assert_eq!(kinds(Geometry::Both), ["Mesh", "Points", "Points"]);
}
