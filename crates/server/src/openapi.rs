//! The OpenAPI document: paths from the table of endpoints, schemas from the types of the contract.
//! What is served is what is committed as docs/reference/openapi.json.

use crate::api::{ENDPOINTS, Endpoint, Run, Verb};
use crate::problem::ProblemJson;
use oneiro::contract::schema::{Schemas, WITHOUT_NUL};
use oneiro::{COMPLETE_MESSAGE_PATTERN, ChangeMark, MessageRef, NoteName, SessionId};
use serde_json::{Map, Value, json};

/// The id of a summary, or the beginning of one.
const SUMMARY: &str = "^sum_[a-z2-7]{1,64}$";

/// The document as JSON text.
pub fn text() -> String {
    let mut text = serde_json::to_string_pretty(&document()).unwrap_or_default();
    text.push('\n');
    text
}

fn document() -> Value {
    let mut schemas = Schemas::under("/components/schemas");
    let mut paths = Map::new();
    for endpoint in ENDPOINTS.iter() {
        let path = paths.entry(endpoint.path).or_insert_with(|| json!({}));
        if let Value::Object(path) = path {
            let operation = operation(endpoint, &mut schemas);
            path.insert(endpoint.verb.as_str().to_lowercase(), operation);
        }
    }
    let problem = schemas.answer::<ProblemJson>();
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
            "schemas": schemas.definitions(),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "responses": {"Problem": {
                "description": "What is wrong, and what to do about it",
                "content": {"application/problem+json": {"schema": problem}},
            }},
        },
    })
}

fn operation(endpoint: &Endpoint, schemas: &mut Schemas) -> Value {
    let answer = answer(endpoint, schemas);
    let mut answers = Map::new();
    for status in endpoint.statuses {
        answers.insert(status.to_string(), answer.clone());
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
    if let (Some(body), Value::Object(fields)) = (&endpoint.body, &mut operation) {
        let content = json!({"application/json": {"schema": (body.schema)(schemas)}});
        let body = json!({"required": body.required, "content": content});
        fields.insert("requestBody".to_owned(), body);
    }
    operation
}

fn answer(endpoint: &Endpoint, schemas: &mut Schemas) -> Value {
    let schema = (endpoint.answer)(schemas);
    let content = match endpoint.run {
        Run::Call(_) => json!({"application/json": {"schema": schema}}),
        // OpenAPI 3.1 has no word for what the events of a stream hold.
        Run::Events => json!({
            "text/event-stream": {"schema": {"type": "string"}, "x-event-data": schema},
        }),
        Run::Export => json!({"application/x-ndjson": {"schema": schema}}),
    };
    json!({"description": "Done", "content": content})
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
            ("message", _) => message_schema().to_value(),
            (_, Some("messages")) => {
                let mut schema = message_schema();
                schema.insert("pattern".to_owned(), json!(COMPLETE_MESSAGE_PATTERN));
                schema.to_value()
            }
            (_, Some("tokens")) => json!({"type": "string", "pattern": "^tok_[a-z2-7]+$"}),
            (_, Some("summaries")) => json!({"type": "string", "pattern": SUMMARY}),
            (_, of) => {
                let max =
                    if of == Some("notes") { NoteName::MAX_CHARS } else { SessionId::MAX_CHARS };
                json!({"type": "string", "minLength": 1, "maxLength": max, "pattern": WITHOUT_NUL})
            }
        };
        found.push(json!({"name": name, "in": "path", "required": true, "schema": schema}));
    }
    let query = (endpoint.query)();
    let required = query.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
    let fields = query.get("properties").and_then(Value::as_object).into_iter().flatten();
    found.extend(fields.map(|(name, schema)| parameter(name, schema, is_required(name))));
    if endpoint.verb == Verb::Get && endpoint.path == "/v1/events" {
        let mark = schemars::SchemaGenerator::default().subschema_for::<ChangeMark>();
        found.push(json!({
            "name": "Last-Event-ID", "in": "header", "schema": mark,
            "description": "The id of the last event seen",
        }));
    }
    found
}

fn message_schema() -> schemars::Schema {
    schemars::SchemaGenerator::default().subschema_for::<MessageRef>()
}

/// The names of the parts that a path leaves open.
fn open_parts(path: &'static str) -> impl Iterator<Item = &'static str> {
    path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

/// A field of a request as a parameter of the query string, where nothing is null.
fn parameter(name: &str, schema: &Value, required: bool) -> Value {
    let mut schema = schema.clone();
    let mut description = Value::Null;
    if let Some(fields) = schema.as_object_mut() {
        description = fields.remove("description").unwrap_or_default();
        if let Some(Value::Array(kinds)) = fields.get("type") {
            let kind = kinds.iter().find(|kind| *kind != "null").cloned().unwrap_or_default();
            fields.insert("type".to_owned(), kind);
        }
        if let Some(Value::Array(words)) = fields.get_mut("enum") {
            words.retain(|word| !word.is_null());
        }
    }
    let mut shown =
        json!({"name": name, "in": "query", "description": description, "schema": schema});
    if let (true, Value::Object(fields)) = (required, &mut shown) {
        fields.insert("required".to_owned(), json!(true));
    }
    shown
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
        for endpoint in ENDPOINTS.iter() {
            assert!(!endpoint.summary.is_empty(), "{}", endpoint.path);
        }
    }

    #[test]
    fn every_endpoint_is_in_the_table_of_capabilities_and_the_other_way_round() {
        let name = |endpoint: &Endpoint| format!("{} {}", endpoint.verb.as_str(), endpoint.path);
        let mut endpoints: Vec<String> = ENDPOINTS.iter().map(name).collect();
        let listed = oneiro::CAPABILITIES.iter().flat_map(|capability| capability.http);
        let mut listed: Vec<String> = listed.map(|name| (*name).to_owned()).collect();
        endpoints.sort();
        listed.sort();
        assert_eq!(endpoints, listed);
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
