//! The arguments of a tool: the decoded request, which arguments were given, and the short schema
//! that models read on every turn.

use oneiro::contract::{Form, Reading, Request, decode, schema, shape_of};
use oneiro::{Result, Timestamp};
use serde_json::{Map, Value, json};

/// The decoded arguments of a call.
#[derive(Debug)]
pub(crate) struct Given<R> {
    pub(crate) request: R,
    /// Arguments that were corrected or ignored.
    pub(crate) notes: Vec<String>,
    /// The names of the arguments that are not empty.
    names: Vec<String>,
}

impl<R: Request> Given<R> {
    /// Reads the arguments of a call.
    pub(crate) fn read(given: &Map<String, Value>) -> Result<Given<R>> {
        let shape = shape_of::<R>();
        let names = given.iter().filter(|(_, value)| !is_empty(value));
        let names = names.filter_map(|(name, _)| Some(shape.field(name)?.name.clone())).collect();
        // No tool takes a time, so the current time does not matter.
        let reading = Reading { form: Form::Agent, now: Timestamp::from_micros(0) };
        let decoded = decode(given.clone(), reading)?;
        Ok(Given { request: decoded.request, notes: decoded.notes, names })
    }

    /// Notes which of these arguments were given although the call does not use them.
    pub(crate) fn note_unused(&mut self, names: &[&str]) {
        let is_given = |name: &&&str| self.names.iter().any(|given| given == **name);
        let unused: Vec<&str> = names.iter().filter(is_given).copied().collect();
        if !unused.is_empty() {
            self.notes.push(format!("not used here: {}", unused.join(", ")));
        }
    }
}

/// Null, blank texts and empty lists count as not given.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

/// The schema of the arguments as a tool lists it: names, types, and descriptions where a name is not
/// enough. Bounds and defaults are left out, because every model reads every word on every turn;
/// values out of bounds are corrected with a note.
pub(crate) fn input_schema<R: Request>(descriptions: &[(&str, String)]) -> Value {
    let published = schema::published::<R>();
    let mut properties = Map::new();
    for (name, field) in
        published.get("properties").and_then(Value::as_object).into_iter().flatten()
    {
        let mut short = without_bounds(field);
        if let Some((_, text)) = descriptions.iter().find(|(described, _)| described == name) {
            short.insert("description".to_owned(), json!(text));
        }
        properties.insert(name.clone(), Value::Object(short));
    }
    let mut input = json!({"type": "object", "properties": properties});
    if let (Some(required), Some(input)) = (published.get("required"), input.as_object_mut()) {
        input.insert("required".to_owned(), required.clone());
    }
    if let Some(input) = input.as_object_mut() {
        input.insert("additionalProperties".to_owned(), json!(false));
    }
    input
}

/// The type of a field. Null is left out: an optional argument can be omitted.
fn without_bounds(field: &Value) -> Map<String, Value> {
    let mut short = Map::new();
    let kind = match field.get("type") {
        Some(Value::Array(names)) => {
            let names: Vec<&Value> = names.iter().filter(|name| **name != "null").collect();
            Some(if let [only] = names.as_slice() { (*only).clone() } else { json!(names) })
        }
        other => other.cloned(),
    };
    short.extend(kind.map(|kind| ("type".to_owned(), kind)));
    if let Some(Value::Array(words)) = field.get("enum") {
        let words: Vec<&Value> = words.iter().filter(|word| !word.is_null()).collect();
        short.insert("enum".to_owned(), json!(words));
    }
    if let Some(items) = field.get("items") {
        short.insert("items".to_owned(), Value::Object(without_bounds(items)));
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;
    use oneiro::SessionSearchRequest;

    fn read(given: Value) -> Result<Given<SessionSearchRequest>> {
        Given::read(given.as_object().unwrap())
    }

    #[test]
    fn numbers_are_read_as_agents_write_them() {
        for (given, want) in [
            (json!(5), Some(5)),
            (json!("5"), Some(5)),
            (json!(" #12 "), Some(12)),
            (json!(5.0), Some(5)),
            (json!("5.0"), Some(5)),
            (json!(""), None),
            (json!(null), None),
        ] {
            assert_eq!(read(json!({"limit": given})).unwrap().request.limit, want, "{given}");
        }
        for bad in [json!("five"), json!(1.5), json!([1]), json!(true), json!(1e300)] {
            let error = read(json!({"limit": bad})).unwrap_err();
            assert!(error.remedy_text().is_some(), "{bad}");
        }
    }

    #[test]
    fn flags_are_read_as_agents_write_them() {
        for (given, want) in [
            (json!(true), true),
            (json!("True"), true),
            (json!(1), true),
            (json!("no"), false),
            (json!(null), false),
            (json!(""), false),
        ] {
            let flag = read(json!({"query": "tea", "summarise": given})).unwrap().request.summarise;
            assert_eq!(flag, want, "{given}");
        }
        for bad in [json!("perhaps"), json!([true]), json!(2)] {
            assert!(read(json!({"query": "tea", "summarise": bad})).is_err(), "{bad}");
        }
    }

    #[test]
    fn lists_are_read_with_commas_or_brackets() {
        for given in [json!(["cli", "web"]), json!("cli, web"), json!("cli,,web,")] {
            let list = read(json!({"query": "tea", "sources": given})).unwrap().request.sources;
            assert_eq!(list, ["cli", "web"], "{given}");
        }
        assert!(read(json!({"query": "tea", "sources": []})).unwrap().request.sources.is_empty());
        assert!(read(json!({"query": "tea", "sources": vec!["a"; 51]})).is_err());
        assert!(read(json!({"query": "tea", "sources": {}})).is_err());
    }

    #[test]
    fn an_unknown_argument_is_refused_with_the_nearest() {
        let error = read(json!({"sessionId": "x"})).unwrap_err();
        assert_eq!(error.remedy_text().as_deref(), Some("did you mean session?"));
    }

    #[test]
    fn an_empty_argument_is_not_noted_as_unused() {
        let mut given =
            read(json!({"session": "s", "limit": 3, "sort": "", "role_filter": ["user"]})).unwrap();
        given.note_unused(&["limit", "sort", "roles", "window"]);
        assert_eq!(given.notes, ["not used here: limit, roles"]);
    }
}
