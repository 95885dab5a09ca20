//! Changes to TOML as text: a table goes to the end of the file, and every other byte stays as it
//! is. It must not know files or agents.

use super::edit::{Change, Refusal};
use serde_json::Value;
use toml_edit::{Document, DocumentMut, Item, Table};

/// Adds the table `[group.name]` with the fields of `value`. `None` when it is there.
pub fn put(text: &str, place: (&str, &str), value: &Value) -> Result<Option<Change>, Refusal> {
    parse(text)?;
    match get(text, place) {
        Some(found) if found == *value => return Ok(None),
        Some(_) => {
            return Err(Refusal::new(format!("there is another entry {:?} already", place.1)));
        }
        None => {}
    }
    let eol = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let gap = match text {
        "" => "",
        text if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    let new = format!("{gap}{}", table(place, value)).replace('\n', eol);
    let change = Change { at: text.len(), old: String::new(), new };
    // Where the group is no table of its own, one below it cannot be added by a header.
    match change.apply(text).and_then(|text| get(&text, place)) {
        Some(found) if found == *value => Ok(Some(change)),
        _ => Err(Refusal::new("the table cannot be added without changing another")),
    }
}

/// Takes the table out again, up to the next one. `None` when it is not there.
pub fn take(text: &str, (group, name): (&str, &str)) -> Result<Option<Change>, Refusal> {
    let document = parse(text)?;
    let Some(found) = document.get(group).and_then(|servers| servers.get(name)) else {
        return Ok(None);
    };
    let refused = || Refusal::new("the entry is not a table of its own");
    let span = found.as_table().and_then(Table::span).ok_or_else(refused)?;
    let rest = text.get(span.end..).ok_or_else(refused)?;
    let line = rest.split_inclusive('\n').next().unwrap_or_default();
    let old = text.get(span.start..span.end + line.len()).ok_or_else(refused)?.to_owned();
    Ok(Some(Change { at: span.start, old, new: String::new() }))
}

/// The entry of a server, if there is one, as JSON.
pub fn get(text: &str, (group, name): (&str, &str)) -> Option<Value> {
    let document: Value = toml_edit::de::from_str(text).ok()?;
    document.get(group)?.get(name).cloned()
}

/// A table, as it is written.
pub fn table((group, name): (&str, &str), value: &Value) -> String {
    let fields = toml_edit::ser::to_document(value).map(DocumentMut::into_table);
    let mut groups = Table::new();
    groups.set_implicit(true);
    groups.insert(name, Item::Table(fields.unwrap_or_default()));
    let mut document = DocumentMut::new();
    document.insert(group, Item::Table(groups));
    document.to_string()
}

fn parse(text: &str) -> Result<Document<&str>, Refusal> {
    Document::parse(text)
        .map_err(|error| Refusal::new(format!("it is not TOML: {}", error.message())))
}
