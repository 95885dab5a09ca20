//! Changes to TOML as text: a table goes to the end of the file, and every other byte stays as it
//! is. It must not know files or agents.

use super::edit::{Change, Refusal};
use serde_json::Value;

/// Adds the table `[group.name]` with the fields of `value`. `None` when it is there.
pub fn put(
    text: &str,
    (group, name): (&str, &str),
    value: &Value,
) -> Result<Option<Change>, Refusal> {
    let before = parse(text)?;
    let wanted = toml::Value::try_from(value).map_err(|error| Refusal::new(error.to_string()))?;
    match before.get(group).map(|servers| servers.get(name)) {
        Some(Some(found)) if *found == wanted => return Ok(None),
        Some(Some(_)) => {
            return Err(Refusal::new(format!("there is another entry {name:?} already")));
        }
        _ => {}
    }
    let eol = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let gap = match text {
        "" => String::new(),
        text if text.ends_with('\n') => eol.to_owned(),
        _ => format!("{eol}{eol}"),
    };
    let new = format!("{gap}{}", table((group, name), value, eol));
    let change = Change { at: text.len(), old: String::new(), new };
    let after = change.apply(text).map(|text| parse(&text)).transpose()?;
    match after.is_some_and(|after| without(after, (group, name)) == without(before, (group, name)))
    {
        true => Ok(Some(change)),
        false => Err(Refusal::new("the table cannot be added without changing another")),
    }
}

/// Takes the table out again, up to the next one. `None` when it is not there.
pub fn take(text: &str, (group, name): (&str, &str)) -> Result<Option<Change>, Refusal> {
    let before = parse(text)?;
    if before.get(group).and_then(|servers| servers.get(name)).is_none() {
        return Ok(None);
    }
    let header = format!("[{group}.{name}]");
    let mut at = 0;
    let (mut start, mut end) = (None, text.len());
    for line in text.split_inclusive('\n') {
        match start {
            None if line.trim() == header => start = Some(at),
            Some(_) if line.trim_start().starts_with(['[', '#']) => {
                end = at;
                break;
            }
            _ => {}
        }
        at += line.len();
    }
    let refused = || Refusal::new("the entry is not a table of its own");
    let start = start.ok_or_else(refused)?;
    let old = text.get(start..end).ok_or_else(refused)?.to_owned();
    let change = Change { at: start, old, new: String::new() };
    let after = change.apply(text).map(|text| parse(&text)).transpose()?;
    match after.is_some_and(|after| without(after, (group, name)) == without(before, (group, name)))
    {
        true => Ok(Some(change)),
        false => Err(refused()),
    }
}

/// The entry of a server, if there is one, as JSON.
pub fn get(text: &str, (group, name): (&str, &str)) -> Option<Value> {
    let found = parse(text).ok()?.get(group)?.get(name)?.clone();
    serde_json::to_value(found).ok()
}

/// A table, as it is written.
pub fn table((group, name): (&str, &str), value: &Value, eol: &str) -> String {
    let mut text = format!("[{group}.{name}]{eol}");
    for (name, value) in value.as_object().into_iter().flatten() {
        let value = toml::Value::try_from(value).map(|value| value.to_string()).unwrap_or_default();
        text.push_str(&format!("{name} = {value}{eol}"));
    }
    text
}

fn parse(text: &str) -> Result<toml::Table, Refusal> {
    text.parse().map_err(|error: toml::de::Error| {
        Refusal::new(format!("it is not TOML: {}", error.message()))
    })
}

fn without(mut table: toml::Table, (group, name): (&str, &str)) -> toml::Table {
    if let Some(toml::Value::Table(servers)) = table.get_mut(group) {
        servers.remove(name);
        if servers.is_empty() {
            table.remove(group);
        }
    }
    table
}
