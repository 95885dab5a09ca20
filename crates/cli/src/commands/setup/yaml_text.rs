//! Changes to YAML as text: an entry goes under its name in a block, or the block goes to the end.
//! The text is parsed before and after, and a change that would touch anything else is refused. It
//! must not know files or agents.

use super::edit::{Change, Refusal};
use serde_json::Value;
use yaml_rust2::{Yaml, YamlLoader};

/// Adds `name` with the fields of `value` under `group`. `None` when it is there.
pub fn put(
    text: &str,
    (group, name): (&str, &str),
    value: &Value,
) -> Result<Option<Change>, Refusal> {
    let before = parse(text)?;
    match entry(&before, (group, name)) {
        Some(found) if *found == parse(&value.to_string())? => return Ok(None),
        Some(_) => {
            return Err(Refusal::new(format!("there is another entry {name:?} already")));
        }
        None => {}
    }
    let eol = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let change = match header(text, group) {
        Some(end) => {
            let indent = child_indent(text.get(end..).unwrap_or_default());
            Change { at: end, old: String::new(), new: lines(name, value, (&indent, eol)) }
        }
        None => {
            let gap = if text.is_empty() || text.ends_with('\n') { "" } else { eol };
            let new = format!("{gap}{group}:{eol}{}", lines(name, value, ("  ", eol)));
            Change { at: text.len(), old: String::new(), new }
        }
    };
    checked(text, change, (group, name)).map(Some)
}

/// Takes the entry out again. `None` when it is not there.
pub fn take(text: &str, (group, name): (&str, &str)) -> Result<Option<Change>, Refusal> {
    if entry(&parse(text)?, (group, name)).is_none() {
        return Ok(None);
    }
    let refused = || Refusal::new("the entry does not stand in a block of its own");
    let start = header(text, group).ok_or_else(refused)?;
    let mut at = start;
    let mut found: Option<(usize, usize)> = None;
    for line in text.get(start..).unwrap_or_default().split_inclusive('\n') {
        let indent = line.len() - line.trim_start_matches(' ').len();
        match found {
            None if line.trim() == format!("{name}:") => found = Some((at, indent)),
            Some((_, own)) if !line.trim().is_empty() && indent <= own => break,
            _ => {}
        }
        at += line.len();
    }
    let (from, _) = found.ok_or_else(refused)?;
    let old = text.get(from..at).ok_or_else(refused)?.to_owned();
    checked(text, Change { at: from, old, new: String::new() }, (group, name)).map(Some)
}

/// Whether the entry says the same as `value`.
pub fn is(text: &str, (group, name): (&str, &str), value: &Value) -> bool {
    let wanted = parse(&value.to_string());
    let found = parse(text);
    match (found, wanted) {
        (Ok(found), Ok(wanted)) => entry(&found, (group, name)) == Some(&wanted),
        _ => false,
    }
}

/// An entry, as it is written.
pub fn lines(name: &str, value: &Value, (indent, eol): (&str, &str)) -> String {
    let mut text = format!("{indent}{name}:{eol}");
    for (name, value) in value.as_object().into_iter().flatten() {
        // JSON is YAML: strings and lists need no quoting rules of their own.
        text.push_str(&format!("{indent}{indent}{name}: {value}{eol}"));
    }
    text
}

/// The byte after the line that opens the block of `group`.
fn header(text: &str, group: &str) -> Option<usize> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        at += line.len();
        let rest = line.strip_prefix(group).and_then(|rest| rest.strip_prefix(':'));
        let is_open = |rest: &str| rest.trim().is_empty() || rest.trim_start().starts_with('#');
        if rest.is_some_and(is_open) && line.ends_with('\n') {
            return Some(at);
        }
    }
    None
}

/// The indent of the first entry of a block.
fn child_indent(block: &str) -> String {
    let is_entry = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let first = block.lines().find(is_entry).unwrap_or_default();
    let indent: String = first.chars().take_while(|letter| *letter == ' ').collect();
    if indent.is_empty() { "  ".to_owned() } else { indent }
}

fn checked(text: &str, change: Change, place: (&str, &str)) -> Result<Change, Refusal> {
    let before = without(parse(text)?, place);
    let after = change.apply(text).map(|text| parse(&text)).transpose()?;
    if after.is_some_and(|after| without(after, place) == before) {
        Ok(change)
    } else {
        Err(Refusal::new("the entry cannot be changed without changing another"))
    }
}

fn parse(text: &str) -> Result<Yaml, Refusal> {
    let mut documents = YamlLoader::load_from_str(text)
        .map_err(|error| Refusal::new(format!("it is not YAML: {error}")))?;
    match documents.len() {
        0 => Ok(Yaml::Null),
        1 => Ok(documents.remove(0)),
        _ => Err(Refusal::new("it holds several documents")),
    }
}

fn entry<'y>(document: &'y Yaml, (group, name): (&str, &str)) -> Option<&'y Yaml> {
    let key = |name: &str| Yaml::String(name.to_owned());
    document.as_hash()?.get(&key(group))?.as_hash()?.get(&key(name))
}

/// A document without the entry, and without what held nothing else.
fn without(document: Yaml, (group, name): (&str, &str)) -> Yaml {
    let Yaml::Hash(mut fields) = document else { return document };
    let (group, name) = (Yaml::String(group.to_owned()), Yaml::String(name.to_owned()));
    let is_empty = match fields.get_mut(&group) {
        Some(Yaml::Hash(servers)) => {
            servers.remove(&name);
            servers.is_empty()
        }
        Some(Yaml::Null) => true,
        _ => false,
    };
    if is_empty {
        fields.remove(&group);
    }
    if fields.is_empty() { Yaml::Null } else { Yaml::Hash(fields) }
}
