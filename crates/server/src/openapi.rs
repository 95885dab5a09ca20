//! The OpenAPI document: paths from the table of endpoints, schemas from `schemas.json`. What is
//! served is what is committed as docs/reference/openapi.json.

use crate::api::{ENDPOINTS, Endpoint, Verb};
use crate::call::MOST;
use crate::decode::{Kind, Param};
use serde_json::{Map, Value, json};

/// The id of an event.
const MARK: &str = "^[0-9]{1,18}\\.[0-9]{1,18}(\\.[0-9]{1,18}\\.[0-9]{1,18})?$";

/// The id of a summary, or the beginning of one.
const SUMMARY: &str = "^sum_[a-z2-7]{1,64}$";

/// What can be expanded: a summary, a message, or a range of messages.
const EXPANDABLE: &str = "^(sum_[a-z2-7]{1,64}|[1-9][0-9]{0,17}(-[1-9][0-9]{0,17})?)$";

const SCHEMAS: &str = include_str!("schemas.json");

const WITHOUT_NUL: &str = "^[^\\u0000]*$";

/// The document as JSON text.
pub fn text() -> String {
    let mut text = serde_json::to_string_pretty(&document()).unwrap_or_default();
    text.push('\n');
    text
}

fn document() -> Value {
    let schemas: Value = serde_json::from_str(SCHEMAS).unwrap_or_default();
    let mut paths = Map::new();
    for endpoint in ENDPOINTS {
        let path = paths.entry(endpoint.path).or_insert_with(|| json!({}));
        if let Value::Object(path) = path {
            path.insert(endpoint.verb.as_str().to_lowercase(), operation(endpoint));
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Oneiro",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "The memory of AI agents",
            "description": "Times are RFC 3339 in UTC. Lists are `{items, next}`; `next` is the \
                `cursor` of the next page. Errors are RFC 9457 problems with a `kind`. On loopback \
                no token is needed, and the header `Oneiro-Space` names a space.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "security": [{}, {"token": []}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "responses": {"Problem": {
                "description": "What is wrong, and what to do about it",
                "content": {"application/problem+json": {"schema": schema_of("Problem")}},
            }},
        },
    })
}

fn operation(endpoint: &Endpoint) -> Value {
    let mut answers = Map::new();
    for status in endpoint.statuses {
        answers.insert(status.to_string(), answer(endpoint.answer));
    }
    answers.insert("default".to_owned(), json!({"$ref": "#/components/responses/Problem"}));
    let mut operation = json!({
        "operationId": operation_id(endpoint),
        "summary": endpoint.summary,
        "description": format!("Needs the role {}.", endpoint.role.as_str()),
        "tags": [endpoint.path.split('/').nth(2).unwrap_or("v1")],
        "parameters": parameters(endpoint),
        "responses": answers,
    });
    if let (Some(schema), Value::Object(fields)) = (endpoint.body, &mut operation) {
        let required = REQUIRED.contains(&schema);
        let content = json!({"application/json": {"schema": schema_of(schema)}});
        fields.insert("requestBody".to_owned(), json!({"required": required, "content": content}));
    }
    operation
}

/// Bodies that must be there.
const REQUIRED: [&str; 8] =
    ["NewMessages", "Search", "NewToken", "Erasure", "Prune", "Rewind", "History", "NewSummary"];

fn schema_of(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

fn answer(name: &str) -> Value {
    let kind = match name {
        "Events" => "text/event-stream",
        "Export" => "application/x-ndjson",
        _ => "application/json",
    };
    let schema = match name {
        "Events" | "Export" => json!({"type": "string"}),
        name => schema_of(name),
    };
    let mut content = json!({ "schema": schema });
    if let ("Events", Value::Object(content)) = (name, &mut content) {
        // OpenAPI 3.1 has no word for what the events of a stream hold.
        content.insert("x-event-data".to_owned(), schema_of("Change"));
    }
    json!({"description": "Done", "content": {kind: content}})
}

/// A name such as `post_sessions_id_end`.
fn operation_id(endpoint: &Endpoint) -> String {
    let path = endpoint.path.trim_start_matches("/v1/");
    let path: String = path
        .chars()
        .filter(|letter| !matches!(letter, '{' | '}'))
        .map(|letter| if matches!(letter, '/' | '-') { '_' } else { letter })
        .collect();
    format!("{}_{path}", endpoint.verb.as_str().to_lowercase())
}

fn parameters(endpoint: &Endpoint) -> Vec<Value> {
    let mut found = Vec::new();
    for name in open_parts(endpoint.path) {
        let schema = match (name, endpoint.path.split('/').nth(2)) {
            ("message", _) | (_, Some("messages")) => {
                json!({"type": "integer", "minimum": 1, "maximum": MOST})
            }
            (_, Some("tokens")) => json!({"type": "string", "pattern": "^tok_[a-z2-7]+$"}),
            (_, Some("summaries")) => json!({"type": "string", "pattern": SUMMARY}),
            _ => session_id(),
        };
        found.push(json!({"name": name, "in": "path", "required": true, "schema": schema}));
    }
    found.extend(endpoint.query.iter().map(parameter));
    if endpoint.verb == Verb::Get && endpoint.path == "/v1/events" {
        let doc = "The id of the last event seen";
        found.push(json!({
            "name": "Last-Event-ID", "in": "header", "description": doc,
            "schema": {"type": "string", "pattern": MARK},
        }));
    }
    found
}

/// The names of the parts that a path leaves open.
fn open_parts(path: &'static str) -> impl Iterator<Item = &'static str> {
    path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

fn parameter(param: &Param) -> Value {
    let schema = match (param.name, param.kind) {
        ("cursor", _) => json!({"type": "string", "pattern": "^-?[0-9]{1,18}\\.-?[0-9]{1,18}$"}),
        ("since", Kind::Text) => {
            json!({"type": "string", "pattern": MARK})
        }
        ("parent_id", _) | ("session", Kind::Text) => session_id(),
        ("id", _) => json!({"type": "string", "pattern": EXPANDABLE}),
        (_, Kind::Text) => text_without_nul(),
        (_, Kind::Bool) => json!({"type": "boolean"}),
        (_, Kind::Int(least, most)) => {
            json!({"type": "integer", "minimum": least, "maximum": most})
        }
        (_, Kind::Time) => json!({"type": "string", "format": "date-time"}),
        (_, Kind::Word(words)) => json!({"type": "string", "enum": words}),
        ("session", Kind::Texts) => json!({"type": "array", "items": session_id()}),
        (_, Kind::Texts) => json!({"type": "array", "items": text_without_nul()}),
    };
    let mut shown =
        json!({"name": param.name, "in": "query", "description": param.doc, "schema": schema});
    if let (true, Value::Object(fields)) = (param.needed, &mut shown) {
        fields.insert("required".to_owned(), json!(true));
    }
    shown
}

fn session_id() -> Value {
    json!({"type": "string", "minLength": 1, "maxLength": 512, "pattern": WITHOUT_NUL})
}

fn text_without_nul() -> Value {
    json!({"type": "string", "pattern": WITHOUT_NUL})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schema_that_is_named_is_there_and_every_one_there_is_used() {
        let text = text();
        let document: Value = serde_json::from_str(&text).unwrap();
        let schemas = document.pointer("/components/schemas").unwrap().as_object().unwrap();
        for name in schemas.keys() {
            assert!(text.contains(&format!("#/components/schemas/{name}\"")), "{name} is not used");
        }
        for reference in text.split("#/components/schemas/").skip(1) {
            let name = reference.split('"').next().unwrap();
            assert!(schemas.contains_key(name), "{name} is not there");
        }
        for endpoint in ENDPOINTS {
            assert!(!endpoint.summary.is_empty(), "{}", endpoint.path);
        }
    }

    #[test]
    fn operations_have_names_of_their_own() {
        let mut names: Vec<String> = ENDPOINTS.iter().map(operation_id).collect();
        names.sort();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
