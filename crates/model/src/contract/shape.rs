//! The fields of a request, derived from its JSON schema once and cached.

use super::Request;
use super::schema;
use regex::Regex;
use serde_json::{Map, Value};
use std::any::TypeId;
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The shape of a request.
#[derive(Debug)]
pub struct Shape {
    /// In the order of their declaration.
    pub fields: Vec<Field>,
}

/// One field of a request.
#[derive(Debug)]
pub struct Field {
    /// The name.
    pub name: String,
    /// Earlier names that are still accepted.
    pub older_names: Vec<String>,
    /// Its type.
    pub kind: FieldKind,
    /// Whether it is required.
    pub required: bool,
    /// Whether null clears the value; otherwise null means not given.
    pub null_clears: bool,
    /// Whether only an embedding host may set it.
    pub host_only: bool,
    /// Its description.
    pub doc: String,
}

/// Constraints of a text.
#[derive(Debug, Clone)]
pub struct TextBounds {
    /// Minimum number of characters.
    pub min: usize,
    /// Maximum number of characters.
    pub max: usize,
    /// A pattern.
    pub pattern: Option<Regex>,
}

/// The type of a field.
#[derive(Debug, Clone)]
pub enum FieldKind {
    /// Text.
    Text(TextBounds),
    /// One of these values.
    Word(Vec<String>),
    /// A time.
    Time {
        /// A date means the end of that day rather than its start.
        end_of_day: bool,
    },
    /// A message: its id as a number, or text that its type parses.
    Message,
    /// An integer within bounds.
    Int(i64, i64),
    /// A number within bounds.
    Number(f64, f64),
    /// A boolean.
    Bool,
    /// A list.
    List {
        /// What it lists.
        of: Box<FieldKind>,
        /// Maximum number of entries.
        max: usize,
    },
    /// A JSON object.
    Object,
    /// Any JSON value.
    Any,
}

impl Shape {
    /// The field with a current or earlier name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        let older = |field: &&Field| field.older_names.iter().any(|older| older == name);
        let exact = self.fields.iter().find(|field| field.name == name);
        exact.or_else(|| self.fields.iter().find(older))
    }

    fn of(schema: &Value) -> Shape {
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let properties = schema.get("properties").and_then(Value::as_object);
        let field = |(name, schema): (&String, &Value)| Field {
            name: name.clone(),
            older_names: texts(schema.get(schema::OLDER_NAMES)),
            kind: kind_of(schema),
            required: required.contains(&name.as_str()),
            null_clears: schema.get(schema::NULL_CLEARS).is_some(),
            host_only: schema.get(schema::HOST_ONLY).is_some(),
            doc: schema.get("description").and_then(Value::as_str).unwrap_or_default().to_owned(),
        };
        Shape { fields: properties.into_iter().flatten().map(field).collect() }
    }
}

/// The shape of a request, computed on first use.
pub fn shape_of<R: Request>() -> &'static Shape {
    static SHAPES: OnceLock<Mutex<HashMap<TypeId, &'static Shape>>> = OnceLock::new();
    let shapes = SHAPES.get_or_init(Mutex::default);
    let mut shapes = shapes.lock().unwrap_or_else(PoisonError::into_inner);
    // One entry per request type, so this does not grow.
    shapes
        .entry(TypeId::of::<R>())
        .or_insert_with(|| Box::leak(Box::new(Shape::of(&schema::inlined::<R>()))))
}

fn texts(value: Option<&Value>) -> Vec<String> {
    let items = value.and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn kind_of(schema: &Value) -> FieldKind {
    let Some(schema) = schema.as_object() else { return FieldKind::Any };
    if let Some(inner) = not_null(schema) {
        return kind_of(inner);
    }
    let words = texts(schema.get("enum"));
    if !words.is_empty() {
        return FieldKind::Word(words);
    }
    let limit = |name: &str| schema.get(name).and_then(Value::as_i64);
    let length = |name: &str| limit(name).and_then(|number| usize::try_from(number).ok());
    let bound = |name: &str| schema.get(name).and_then(Value::as_f64);
    if is_number_or_text(schema) {
        return FieldKind::Message;
    }
    match type_of(schema) {
        "string" if schema.get("format").and_then(Value::as_str) == Some("date-time") => {
            FieldKind::Time { end_of_day: schema.get(schema::END_OF_DAY).is_some() }
        }
        "string" => FieldKind::Text(TextBounds {
            min: length("minLength").unwrap_or(0),
            max: if schema.contains_key(schema::LOOSE_LENGTH) {
                usize::MAX
            } else {
                length("maxLength").unwrap_or(usize::MAX)
            },
            pattern: if schema.contains_key(schema::PARSED) {
                None
            } else {
                schema.get("pattern").and_then(Value::as_str).and_then(pattern)
            },
        }),
        "integer" => FieldKind::Int(
            limit("minimum").unwrap_or(i64::MIN),
            limit("maximum").unwrap_or(i64::MAX),
        ),
        "number" => FieldKind::Number(
            bound("minimum").unwrap_or(f64::MIN),
            bound("maximum").unwrap_or(f64::MAX),
        ),
        "boolean" => FieldKind::Bool,
        "array" => FieldKind::List {
            of: Box::new(schema.get("items").map_or(FieldKind::Any, kind_of)),
            max: length("maxItems").unwrap_or(usize::MAX),
        },
        "object" => FieldKind::Object,
        _ => FieldKind::Any,
    }
}

/// The pattern of a text; NUL is checked for every text.
fn pattern(text: &str) -> Option<Regex> {
    match text {
        schema::WITHOUT_NUL => None,
        other => Regex::new(other).ok(),
    }
}

/// Whether a schema is that of a message reference, the only type that is a number or text.
fn is_number_or_text(schema: &Map<String, Value>) -> bool {
    let types = texts(schema.get("type"));
    ["integer", "string"].iter().all(|one| types.iter().any(|name| name == one))
}

/// The type that is not null.
fn type_of(schema: &Map<String, Value>) -> &str {
    match schema.get("type") {
        Some(Value::String(name)) => name,
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).find(|name| *name != "null").unwrap_or_default()
        }
        _ => "",
    }
}

/// The other branch of a nullable schema.
fn not_null(schema: &Map<String, Value>) -> Option<&Value> {
    let branches = schema.get("anyOf")?.as_array()?;
    let is_null = |branch: &Value| branch.get("type").and_then(Value::as_str) == Some("null");
    match branches.as_slice() {
        [one, null] if is_null(null) => Some(one),
        _ => None,
    }
}
