//! Changes to JSON as text: a member or an element is put in, and every other byte stays as it is.
//! It must not know files or agents.

use super::edit::{Change, Refusal};
use serde_json::Value;
use std::ops::Range;

/// Puts `value` under the names of `path`, making the objects on the way. `None` when it is there.
pub fn put(text: &str, path: &[&str], value: &Value) -> Result<Option<Change>, Refusal> {
    let Some((name, above)) = path.split_last() else { return Err(Refusal::new("no name")) };
    let body = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    if body.trim().is_empty() {
        // An empty file gets a whole document after whatever white space it has.
        let style = Style { eol: eol_of(text), unit: "  ".to_owned() };
        let whole = path.iter().rev().fold(value.clone(), |inner, name| {
            Value::Object([((*name).to_owned(), inner)].into_iter().collect())
        });
        let new = format!("{}{}", style.pretty(&whole, ""), style.eol);
        return Ok(Some(Change { at: text.len(), old: String::new(), new }));
    }
    let doc = Document::parse(text)?;
    let mut object = doc.root()?;
    for (depth, part) in above.iter().enumerate() {
        match object.get(part)? {
            Some(member) if doc.is_object(&member.value) => {
                object = doc.object(member.value.clone())?
            }
            Some(_) => return Err(Refusal::new(format!("{part:?} is not an object"))),
            None => {
                let rest = path.get(depth + 1..).unwrap_or_default();
                let inner = rest.iter().rev().fold(value.clone(), |inner, name| {
                    Value::Object([((*name).to_owned(), inner)].into_iter().collect())
                });
                return Ok(Some(doc.add_member(&object, part, &inner)));
            }
        }
    }
    match object.get(name)? {
        None => Ok(Some(doc.add_member(&object, name, value))),
        Some(member) if doc.value(&member.value)? == *value => Ok(None),
        Some(_) => Err(Refusal::new(format!("there is another entry {name:?} already"))),
    }
}

/// Adds `element` to the list under the names of `path`, unless one that `is_there` accepts is in it.
pub fn push(
    text: &str,
    path: &[&str],
    element: &Value,
    is_there: &dyn Fn(&Value) -> bool,
) -> Result<Option<Change>, Refusal> {
    let whole = || put(text, path, &Value::Array(vec![element.clone()]));
    let body = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    if body.trim().is_empty() {
        return whole();
    }
    let doc = Document::parse(text)?;
    let Some(span) = doc.find(path)? else { return whole() };
    let Value::Array(elements) = doc.value(&span)? else {
        return Err(Refusal::new(format!("{:?} is not a list", path.join("."))));
    };
    if elements.iter().any(is_there) {
        return Ok(None);
    }
    let spans = doc.elements(&span)?;
    Ok(Some(doc.add((&span, &spans), |style, indent| style.pretty(element, indent))))
}

/// Whether the list under the names of `path` has an element that `is_it` accepts.
pub fn has(text: &str, path: &[&str], is_it: &dyn Fn(&Value) -> bool) -> Result<bool, Refusal> {
    if text.trim_start_matches('\u{FEFF}').trim().is_empty() {
        return Ok(false);
    }
    let doc = Document::parse(text)?;
    let Some(span) = doc.find(path)? else { return Ok(false) };
    Ok(doc.value(&span)?.as_array().is_some_and(|elements| elements.iter().any(is_it)))
}

/// Takes what is under `path` out again, with the comma that came with it. `None` when it is not
/// there.
pub fn take(text: &str, path: &[&str]) -> Result<Option<Change>, Refusal> {
    let Some((name, above)) = path.split_last() else { return Err(Refusal::new("no name")) };
    let doc = Document::parse(text)?;
    let Some(span) = doc.find(above)? else { return Ok(None) };
    let object = doc.object(span)?;
    let at = object.members.iter().position(|member| member.name == *name);
    let spans: Vec<Range<usize>> = object.members.iter().map(Member::span).collect();
    Ok(at.and_then(|at| doc.cut(&object.span, &spans, at)))
}

/// Takes the elements that `is_ours` accepts out of the list under `path`, one at a time.
pub fn pull(
    text: &str,
    path: &[&str],
    is_ours: &dyn Fn(&Value) -> bool,
) -> Result<Option<Change>, Refusal> {
    let doc = Document::parse(text)?;
    let Some(span) = doc.find(path)? else { return Ok(None) };
    let Value::Array(elements) = doc.value(&span)? else { return Ok(None) };
    let spans = doc.elements(&span)?;
    Ok(elements.iter().position(is_ours).and_then(|at| doc.cut(&span, &spans, at)))
}

/// How a text is laid out.
struct Style {
    eol: &'static str,
    unit: String,
}

impl Style {
    /// A value over several lines, each but the first behind `indent`.
    fn pretty(&self, value: &Value, indent: &str) -> String {
        let inner = format!("{indent}{}", self.unit);
        let list = |open: &str, items: Vec<String>, close: &str| {
            let lines: Vec<String> = items.iter().map(|item| format!("{inner}{item}")).collect();
            let eol = self.eol;
            format!("{open}{eol}{}{eol}{indent}{close}", lines.join(&format!(",{eol}")))
        };
        match value {
            Value::Object(fields) if !fields.is_empty() => {
                let item = |(name, value): (&String, &Value)| {
                    format!("{}: {}", Value::from(name.as_str()), self.pretty(value, &inner))
                };
                list("{", fields.iter().map(item).collect(), "}")
            }
            Value::Array(items) if items.iter().any(|item| item.is_object() || item.is_array()) => {
                list("[", items.iter().map(|item| self.pretty(item, &inner)).collect(), "]")
            }
            Value::Array(items) => {
                let items: Vec<String> = items.iter().map(Value::to_string).collect();
                format!("[{}]", items.join(", "))
            }
            other => other.to_string(),
        }
    }
}

fn eol_of(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// A text that is JSON.
struct Document<'t> {
    text: &'t str,
    style: Style,
}

struct Member {
    name: String,
    start: usize,
    value: Range<usize>,
}

impl Member {
    fn span(&self) -> Range<usize> {
        self.start..self.value.end
    }
}

struct Object {
    span: Range<usize>,
    members: Vec<Member>,
}

impl Object {
    fn get(&self, name: &str) -> Result<Option<&Member>, Refusal> {
        let mut found = self.members.iter().filter(|member| member.name == name);
        match (found.next(), found.next()) {
            (_, Some(_)) => Err(Refusal::new(format!("{name:?} is there twice"))),
            (first, None) => Ok(first),
        }
    }
}

impl<'t> Document<'t> {
    /// Reads a text; from here on it is known to be JSON, so that scanning cannot go astray.
    fn parse(text: &'t str) -> Result<Document<'t>, Refusal> {
        let body = text.strip_prefix('\u{FEFF}').unwrap_or(text);
        serde_json::from_str::<serde::de::IgnoredAny>(body)
            .map_err(|error| Refusal::new(format!("it is not plain JSON: {error}")))?;
        let mut doc = Document { text, style: Style { eol: eol_of(text), unit: String::new() } };
        let first = doc.root().ok().and_then(|root| root.members.first().map(|first| first.start));
        let unit = first.and_then(|first| doc.indent_at(first)).filter(|unit| !unit.is_empty());
        doc.style.unit = unit.unwrap_or("  ").to_owned();
        Ok(doc)
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    fn skip_space(&self, mut at: usize) -> usize {
        while self.byte(at).is_some_and(|byte| byte.is_ascii_whitespace()) {
            at += 1;
        }
        at
    }

    fn root(&self) -> Result<Object, Refusal> {
        let start = if self.text.starts_with('\u{FEFF}') { 3 } else { 0 };
        let at = self.skip_space(start);
        self.object(at..self.end_of(at))
    }

    fn is_object(&self, span: &Range<usize>) -> bool {
        self.byte(span.start) == Some(b'{')
    }

    fn value(&self, span: &Range<usize>) -> Result<Value, Refusal> {
        let text = self.text.get(span.clone()).unwrap_or_default();
        serde_json::from_str(text).map_err(|error| Refusal::new(error.to_string()))
    }

    fn find(&self, path: &[&str]) -> Result<Option<Range<usize>>, Refusal> {
        let mut span = self.root()?.span;
        for part in path {
            if !self.is_object(&span) {
                return Err(Refusal::new(format!("what holds {part:?} is not an object")));
            }
            match self.object(span)?.get(part)? {
                Some(member) => span = member.value.clone(),
                None => return Ok(None),
            }
        }
        Ok(Some(span))
    }

    fn object(&self, span: Range<usize>) -> Result<Object, Refusal> {
        if !self.is_object(&span) {
            return Err(Refusal::new("it does not hold an object"));
        }
        let mut members = Vec::new();
        let mut at = self.skip_space(span.start + 1);
        while self.byte(at) == Some(b'"') {
            let end = self.end_of(at);
            let name = match self.value(&(at..end))? {
                Value::String(name) => name,
                _ => return Err(Refusal::new("a name that cannot be read")),
            };
            let value = self.skip_space(self.skip_space(end) + 1);
            let value = value..self.end_of(value);
            let next = self.skip_space(value.end);
            members.push(Member { name, start: at, value });
            at = self.skip_space(next + 1);
        }
        Ok(Object { span, members })
    }

    fn elements(&self, span: &Range<usize>) -> Result<Vec<Range<usize>>, Refusal> {
        let mut spans = Vec::new();
        let mut at = self.skip_space(span.start + 1);
        while at < span.end && self.byte(at) != Some(b']') {
            let element = at..self.end_of(at);
            let next = self.skip_space(element.end);
            spans.push(element);
            at = self.skip_space(next + 1);
        }
        Ok(spans)
    }

    /// The byte after the value that begins at `at`.
    fn end_of(&self, at: usize) -> usize {
        let mut depth = 0_usize;
        let mut here = at;
        while let Some(byte) = self.byte(here) {
            match byte {
                b'"' => {
                    here += 1;
                    while let Some(inside) = self.byte(here).filter(|inside| *inside != b'"') {
                        here += if inside == b'\\' { 2 } else { 1 };
                    }
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' if depth <= 1 => return if depth == 1 { here + 1 } else { here },
                b'}' | b']' => depth -= 1,
                b',' | b':' if depth == 0 => return here,
                byte if depth == 0 && byte.is_ascii_whitespace() => return here,
                _ => {}
            }
            here += 1;
            if depth == 0 && byte == b'"' {
                return here;
            }
        }
        here
    }

    /// The white space between the beginning of a line and what stands first on it; `None` when
    /// something else does.
    fn indent_at(&self, at: usize) -> Option<&'t str> {
        let before = self.text.get(..at)?;
        let line = before.rsplit_once('\n').map(|(_, line)| line)?;
        line.chars().all(|letter| letter == ' ' || letter == '\t').then_some(line)
    }

    /// The indent of the line that holds `at`.
    fn line_indent(&self, at: usize) -> &'t str {
        let before = self.text.get(..at).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        let line = line.strip_prefix('\u{FEFF}').unwrap_or(line);
        line.get(..line.len() - line.trim_start().len()).unwrap_or_default()
    }

    fn add_member(&self, object: &Object, name: &str, value: &Value) -> Change {
        let spans: Vec<Range<usize>> = object.members.iter().map(Member::span).collect();
        let name = Value::from(name);
        self.add((&object.span, &spans), |style, indent| {
            format!("{name}: {}", style.pretty(value, indent))
        })
    }

    /// Adds an item after the last one of an object or list, laid out as they are.
    fn add(
        &self,
        (span, items): (&Range<usize>, &[Range<usize>]),
        item: impl Fn(&Style, &str) -> String,
    ) -> Change {
        let eol = self.style.eol;
        let outer = self.line_indent(span.start);
        let change = |at, new| Change { at, old: String::new(), new };
        match items.last() {
            Some(last) => match self.indent_at(last.start) {
                Some(indent) => {
                    change(last.end, format!(",{eol}{indent}{}", item(&self.style, indent)))
                }
                // All on one line: so is the new one.
                None => {
                    let flat = Style { eol: "", unit: String::new() };
                    change(last.end, format!(", {}", item(&flat, "")))
                }
            },
            None => {
                let inner = format!("{outer}{}", self.style.unit);
                let space = self.text.get(span.start + 1..span.end - 1).unwrap_or_default();
                let close =
                    if space.contains('\n') { String::new() } else { format!("{eol}{outer}") };
                let new = format!("{eol}{inner}{}{close}", item(&self.style, &inner));
                change(span.start + 1, new)
            }
        }
    }

    /// Takes one item out, with the comma and the white space between it and its neighbour.
    fn cut(&self, span: &Range<usize>, items: &[Range<usize>], at: usize) -> Option<Change> {
        let item = items.get(at)?;
        let before = at.checked_sub(1).and_then(|before| items.get(before));
        let cut = match (before, items.get(at + 1)) {
            (Some(before), _) => before.end..item.end,
            (None, Some(after)) => item.start..after.start,
            (None, None) => span.start + 1..span.end - 1,
        };
        let old = self.text.get(cut.clone())?.to_owned();
        Some(Change { at: cut.start, old, new: String::new() })
    }
}
