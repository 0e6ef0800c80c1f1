//! JSON Schema of scene files (draft 2020-12), for completion and checks in editors.

use super::{Key, Kind, Presence, Quantity, ROOT, Range, Rule, Table, VectorRule, all_tables};
use crate::scene::units::Dimension;
use phyxel::material::PRESETS;
use serde_json::{Map, Value, json};

/// Returns the schema of a whole scene. It allows only methods that are implemented.
pub fn json_schema(methods: &[(&str, bool)]) -> Value {
    let built: Vec<&str> = methods.iter().filter(|(_, built)| *built).map(|(name, _)| *name).collect();
    let mut schema = Map::new();
    schema.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    schema.insert("title".to_owned(), json!("phyxel scene"));
    schema.extend(table_schema(&ROOT, &built));
    let inner = all_tables().into_iter().filter(|table| !std::ptr::eq(*table, &ROOT));
    let definitions: Map<String, Value> =
        inner.map(|table| (table.name.to_owned(), Value::Object(table_schema(table, &built)))).collect();
    schema.insert("$defs".to_owned(), Value::Object(definitions));
    Value::Object(schema)
}

fn table_schema(table: &'static Table, methods: &[&str]) -> Map<String, Value> {
    let required: Vec<&str> =
        table.keys().filter(|key| matches!(key.presence, Presence::Required)).map(|key| key.name).collect();
    let properties: Map<String, Value> =
        table.keys().map(|key| (key.name.to_owned(), key_schema(key, methods))).collect();
    let mut schema = Map::new();
    schema.insert("description".to_owned(), json!(table.doc));
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties));
    schema.insert("required".to_owned(), json!(required));
    schema.insert("additionalProperties".to_owned(), json!(false));
    if let Some(based_on) = table.keys().find(|key| matches!(key.kind, Kind::Preset)) {
        let without: Vec<&str> =
            table.keys().filter(|k| matches!(k.presence, Presence::UnlessPreset)).map(|k| k.name).collect();
        let either = json!([{ "required": [based_on.name] }, { "required": without }]);
        schema.insert("anyOf".to_owned(), either);
    }
    for rule in table.rules {
        // JSON Schema cannot compare two values: ordered keys are checked by the program only.
        if let Rule::OneOf(alternatives) = rule {
            let sets: Vec<Value> = alternatives.iter().map(|set| json!({ "required": set })).collect();
            schema.insert("oneOf".to_owned(), Value::Array(sets));
        }
    }
    schema
}

fn key_schema(key: &Key, methods: &[&str]) -> Value {
    let mut schema = kind_schema(&key.kind, methods);
    if let Value::Object(schema) = &mut schema {
        schema.insert("description".to_owned(), json!(key.doc));
        if let Presence::Default(text) = key.presence
            && let Ok(value) = text.parse::<toml_edit::Value>()
        {
            schema.insert("default".to_owned(), to_json(&value));
        }
    }
    schema
}

fn kind_schema(kind: &Kind, methods: &[&str]) -> Value {
    let text = || json!({ "type": "string", "minLength": 1 });
    match &kind.resolved() {
        Kind::Quantity(quantity) => json!({ "anyOf": quantity_schemas(quantity) }),
        Kind::QuantityOrWord(quantity, word) => {
            let mut options = quantity_schemas(quantity);
            options.push(json!({ "const": word }));
            json!({ "anyOf": options })
        }
        Kind::QuantityOrTable(quantity, table) => {
            let mut options = quantity_schemas(quantity);
            options.push(reference(table));
            json!({ "anyOf": options })
        }
        Kind::Integer(min, max) => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Kind::Boolean => json!({ "type": "boolean" }),
        Kind::Text | Kind::Name | Kind::Reference(_) => text(),
        Kind::Choice(choices) => {
            let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
            json!({ "enum": words })
        }
        Kind::Columns => json!({ "type": "array", "items": text(), "uniqueItems": true }),
        Kind::Axes => json!({ "type": "string", "pattern": "^[xyz]{1,3}$" }),
        Kind::Method => json!({ "enum": methods }),
        Kind::Preset => {
            let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
            json!({ "enum": names })
        }
        Kind::Vector(dimension, rule) => vector_schema(*dimension, *rule),
        Kind::Matrix(dimension) => {
            let row = vector_schema(*dimension, VectorRule::Any);
            json!({ "type": "array", "items": row, "minItems": 3, "maxItems": 3 })
        }
        Kind::Derived(_) => json!({}),
        Kind::Table(table) => reference(table),
        Kind::Tables(table, min) => json!({ "type": "array", "items": reference(table), "minItems": min }),
        Kind::NamedTables(table, min) => json!({
            "type": "object",
            "additionalProperties": reference(table),
            "propertyNames": { "minLength": 1 },
            "minProperties": min,
        }),
    }
}

fn reference(table: &Table) -> Value {
    json!({ "$ref": format!("#/$defs/{}", table.name) })
}

/// Returns the schemas of a number in its range and of a string with a unit.
fn quantity_schemas(quantity: &Quantity) -> Vec<Value> {
    let mut number = Map::new();
    number.insert("type".to_owned(), json!("number"));
    let Range { min, max } = quantity.range;
    if let Some((min, allowed)) = min {
        number.insert(if allowed { "minimum" } else { "exclusiveMinimum" }.to_owned(), json!(min));
    }
    if let Some((max, allowed)) = max {
        number.insert(if allowed { "maximum" } else { "exclusiveMaximum" }.to_owned(), json!(max));
    }
    let unit = quantity.dimension.unit();
    if !unit.is_empty() {
        number.insert("description".to_owned(), json!(format!("in {unit}")));
    }
    vec![Value::Object(number), unit_string(quantity.dimension)]
}

fn unit_string(dimension: Dimension) -> Value {
    const NUMBER: &str = r"^\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?";
    let (unit, example) = match dimension {
        Dimension::NONE => (r"\s*%?\s*$", "30 %"),
        _ => (r"\s*\S.*$", dimension.example()),
    };
    json!({ "type": "string", "pattern": format!("{NUMBER}{unit}"), "examples": [example] })
}

fn vector_schema(dimension: Dimension, rule: VectorRule) -> Value {
    let range = if rule == VectorRule::Positive { Range::POSITIVE } else { Range::ANY };
    let component = quantity_schemas(&Quantity { dimension, range });
    json!({ "type": "array", "items": { "anyOf": component }, "minItems": 3, "maxItems": 3 })
}

/// Converts a default value to JSON; defaults contain no dates.
fn to_json(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => json!(text.value()),
        toml_edit::Value::Integer(number) => json!(number.value()),
        toml_edit::Value::Float(number) => json!(number.value()),
        toml_edit::Value::Boolean(flag) => json!(flag.value()),
        toml_edit::Value::Datetime(time) => json!(time.value().to_string()),
        toml_edit::Value::Array(array) => Value::Array(array.iter().map(to_json).collect()),
        toml_edit::Value::InlineTable(table) => {
            Value::Object(table.iter().map(|(key, value)| (key.to_owned(), to_json(value))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const METHODS: &[(&str, bool)] = &[("some", true), ("later", false)];

    #[test]
    fn every_table_and_key_is_in_the_schema() {
        let schema = json_schema(METHODS);
        for table in all_tables() {
            let pointer = format!("/$defs/{}", table.name);
            let here = if table.name == ROOT.name { Some(&schema) } else { schema.pointer(&pointer) };
            let here = here.unwrap_or_else(|| panic!("{} is not there", table.name));
            assert_eq!(here["additionalProperties"], json!(false), "{}", table.name);
            for key in table.keys() {
                let entry = &here["properties"][key.name];
                assert_eq!(entry["description"], json!(key.doc), "{}.{}", table.name, key.name);
                let is_required = here["required"].as_array().unwrap().contains(&json!(key.name));
                assert_eq!(is_required, matches!(key.presence, Presence::Required), "{}", key.name);
                assert_eq!(entry.get("default").is_some(), matches!(key.presence, Presence::Default(_)));
            }
        }
    }

    #[test]
    fn every_reference_has_its_definition() {
        fn visit(value: &Value, schema: &Value, n_references: &mut usize) {
            match value {
                Value::Object(map) => {
                    if let Some(Value::String(target)) = map.get("$ref") {
                        *n_references += 1;
                        assert!(schema.pointer(target.trim_start_matches('#')).is_some(), "{target}");
                    }
                    map.values().for_each(|inner| visit(inner, schema, n_references));
                }
                Value::Array(values) => values.iter().for_each(|inner| visit(inner, schema, n_references)),
                _ => {}
            }
        }
        let schema = json_schema(METHODS);
        let mut n_references = 0;
        visit(&schema, &schema, &mut n_references);
        assert!(n_references > 20);
    }

    #[test]
    fn ranges_choices_and_alternatives_are_kept() {
        let schema = json_schema(METHODS);
        let poisson = &schema["$defs"]["material"]["properties"]["poisson_ratio"]["anyOf"][0];
        assert_eq!((&poisson["minimum"], &poisson["maximum"]), (&json!(0.0), &json!(0.49)));
        assert_eq!(schema["$defs"]["body"]["properties"]["sampling"]["enum"][2], json!("relaxed"));
        assert_eq!(schema["$defs"]["body"]["oneOf"][1]["required"], json!(["particles"]));
        assert_eq!(schema["properties"]["method"]["enum"], json!(["some"]));
        let material = &schema["$defs"]["material"];
        assert_eq!(material["anyOf"][0]["required"], json!(["based_on"]));
        assert_eq!(material["anyOf"][1]["required"], json!(["density", "youngs_modulus", "poisson_ratio"]));
        assert_eq!(material["properties"]["based_on"]["enum"][0], json!("modelling clay"));
        assert_eq!(material["properties"]["law"]["enum"][0], json!("corotated"));
    }
}
