//! JSON schemas of requests and answers, from which OpenAPI, the tool schemas and the Python types
//! are generated.

use super::Request;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

/// Marks a field with earlier names that are still accepted.
pub const OLDER_NAMES: &str = "x-older-names";

/// Marks a field that null clears.
pub const NULL_CLEARS: &str = "x-null-clears";

/// Marks a field that only an embedding host may set.
pub const HOST_ONLY: &str = "x-host-only";

/// Marks a time for which a date means the end of that day.
pub const END_OF_DAY: &str = "x-end-of-day";

/// Marks a field of an answer that may be absent or null.
pub const MAY_BE_NULL: &str = "x-may-be-null";

/// Marks a text whose length is checked after it was cleaned.
pub const LOOSE_LENGTH: &str = "x-loose-length";

/// Marks a text that its type parses itself, with better errors than a pattern.
pub const PARSED: &str = "x-parsed";

/// Text without NUL, which PostgreSQL cannot store.
pub const WITHOUT_NUL: &str = "^[^\\u0000]*$";

/// The largest integer that every JSON client reads exactly.
pub const EXACT_INTEGER_MAX: i64 = 9_007_199_254_740_991;

/// The complete schema of a request with all definitions inlined, fields for hosts included.
pub(super) fn inlined<R: Request>() -> Value {
    let settings = SchemaSettings::draft2020_12().for_deserialize().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    settings.into_generator().into_root_schema_for::<R>().to_value()
}

/// Collects the schemas that a document refers to.
pub struct Schemas {
    requests: SchemaGenerator,
    answers: SchemaGenerator,
}

impl Schemas {
    /// The path of referenced schemas, such as `/components/schemas`.
    pub fn under(definitions: &'static str) -> Schemas {
        let settings = |settings: SchemaSettings| {
            settings.with(|settings| {
                settings.meta_schema = None;
                settings.definitions_path = definitions.into();
            })
        };
        Schemas {
            requests: settings(SchemaSettings::draft2020_12().for_deserialize()).into_generator(),
            answers: settings(SchemaSettings::draft2020_12().for_serialize()).into_generator(),
        }
    }

    /// A reference to the schema of a request.
    pub fn request<R: JsonSchema>(&mut self) -> Value {
        self.requests.subschema_for::<R>().to_value()
    }

    /// A reference to the schema of an answer.
    pub fn answer<A: JsonSchema>(&mut self) -> Value {
        self.answers.subschema_for::<A>().to_value()
    }

    /// Every referenced schema by name.
    pub fn definitions(mut self) -> Map<String, Value> {
        let mut requests = self.requests.take_definitions(true);
        requests.values_mut().for_each(|schema| publish(schema, &mut Publish { is_request: true }));
        let mut answers = self.answers.take_definitions(true);
        answers.values_mut().for_each(|schema| publish(schema, &mut Publish { is_request: false }));
        // A type that is both (a message) is described as an answer.
        requests.extend(answers);
        requests.sort_keys();
        requests
    }
}

/// The published schema of a request, with all definitions inlined.
pub fn published<R: Request>() -> Value {
    let mut schema = inlined::<R>();
    publish(&mut schema, &mut Publish { is_request: true });
    schema
}

fn publish(schema: &mut Value, how: &mut Publish) {
    if let Ok(schema) = schema.try_into() {
        RecursiveTransform(how).transform(schema);
    }
}

/// Converts a derived schema into the published form.
struct Publish {
    is_request: bool,
}

impl Transform for &mut Publish {
    fn transform(&mut self, schema: &mut Schema) {
        let is_request = self.is_request;
        let Some(object) = schema.as_object_mut() else { return };
        // Rust's number formats mean nothing to a client.
        if matches!(object.get("format").and_then(Value::as_str), Some(format) if format != "date-time" && format != "uri")
        {
            object.remove("format");
        }
        object.remove("title");
        object.remove(PARSED);
        if is_request && is_plain_text(object) {
            object.insert("pattern".to_owned(), json!(WITHOUT_NUL));
        }
        let required: Vec<Value> =
            object.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
        let Some(Value::Object(properties)) = object.get_mut("properties") else { return };
        if is_request {
            properties.retain(|_, field| field.get(HOST_ONLY).is_none());
        }
        for (name, field) in properties.iter_mut() {
            let is_required = required.iter().any(|one| one == name.as_str());
            match is_request {
                true if !is_required => allow_null(field),
                // An answer omits absent values.
                false if !is_required && field.get(MAY_BE_NULL).is_none() => refuse_null(field),
                _ => {}
            }
            if let Some(field) = field.as_object_mut() {
                // Null is not a value that a client should send.
                if field.get("default").is_some_and(Value::is_null) {
                    field.remove("default");
                }
                field.remove(LOOSE_LENGTH);
                field.remove(END_OF_DAY);
                field.remove(NULL_CLEARS);
                field.remove(MAY_BE_NULL);
            }
        }
        if !object.contains_key("additionalProperties") {
            object.insert("additionalProperties".to_owned(), json!(false));
        }
    }
}

fn is_plain_text(schema: &Map<String, Value>) -> bool {
    let is_text = match schema.get("type") {
        Some(Value::String(name)) => name == "string",
        Some(Value::Array(names)) => names.iter().any(|name| name == "string"),
        _ => false,
    };
    is_text && !["pattern", "enum", "const", "format"].iter().any(|key| schema.contains_key(*key))
}

/// An optional field may also be null.
fn allow_null(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else { return };
    if let Some(Value::Array(words)) = object.get_mut("enum")
        && !words.contains(&Value::Null)
    {
        words.push(Value::Null);
    }
    let is_reference = object.contains_key("$ref");
    match object.get_mut("type") {
        Some(Value::Array(names)) if !names.iter().any(|name| name == "null") => {
            names.push(json!("null"));
        }
        Some(Value::String(name)) if name == "null" => {}
        Some(name @ Value::String(_)) => *name = json!([name.clone(), "null"]),
        None if is_reference => {
            let mut inner = std::mem::take(object);
            let description = inner.remove("description");
            object.insert("anyOf".to_owned(), json!([inner, {"type": "null"}]));
            object.extend(description.map(|text| ("description".to_owned(), text)));
        }
        _ => {}
    }
}

/// Makes a schema of mutually exclusive fields: each alternative lists the required fields; those
/// of the others are null or absent.
pub fn one_of(schema: &mut Schema, alternatives: &[&[&str]]) {
    let Some(object) = schema.as_object_mut() else { return };
    let all: Vec<&str> = alternatives.iter().flat_map(|names| names.iter().copied()).collect();
    let branch = |names: &&[&str]| {
        let mut branch = object.clone();
        branch.remove("description");
        branch.remove("title");
        if let Some(Value::Object(properties)) = branch.get_mut("properties") {
            for name in all.iter().filter(|name| !names.contains(name)) {
                properties.insert((*name).to_owned(), json!({"type": "null"}));
            }
            for name in *names {
                if let Some(field) = properties.get_mut(*name) {
                    refuse_null(field);
                }
            }
        }
        if !names.is_empty() {
            branch.insert("required".to_owned(), json!(names));
        }
        Value::Object(branch)
    };
    let branches: Vec<Value> = alternatives.iter().map(branch).collect();
    object.retain(|name, _| name == "description" || name == "title" || name == "properties");
    object.insert("oneOf".to_owned(), Value::Array(branches));
}

/// A field that is present is not null.
fn refuse_null(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else { return };
    object.remove("default");
    if let Some(Value::Array(words)) = object.get_mut("enum") {
        words.retain(|word| !word.is_null());
    }
    if let Some(Value::Array(branches)) = object.get_mut("anyOf") {
        branches.retain(|branch| branch.get("type").is_none_or(|name| name != "null"));
        if let [Value::Object(one)] = branches.as_slice() {
            let one = one.clone();
            object.remove("anyOf");
            object.extend(one);
        }
    }
    if let Some(Value::Array(names)) = object.get_mut("type") {
        names.retain(|name| name != "null");
        if let [one] = names.as_slice() {
            let one = one.clone();
            object.insert("type".to_owned(), one);
        }
    }
}
