//! Changes to JSON, with or without comments, as text: a member or an element is put in, and every
//! other byte stays as it is. It must not know files or agents.

use super::edit::{Change, Refusal};
use jsonc_parser::ast::{Object, ObjectProp, Value as Node};
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::cst::{CstNode, CstObjectProp, CstRootNode};
use jsonc_parser::errors::ParseError;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde::Serialize;
use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::{Value, json};

/// What is accepted beyond JSON: what agents that read their settings with comments accept.
const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// The indent of a file that shows none.
const INDENT: &str = "  ";

/// Puts `value` under the names of `path`, making the objects on the way. `None` when it is there.
pub fn put(text: &str, path: &[&str], value: &Value) -> Result<Option<Change>, Refusal> {
    past_mark(text, |text| {
        let Some(root) = parse(text)? else {
            // An empty file gets a whole document after whatever it has.
            let eol = eol_of(text);
            let gap = if text.trim().is_empty() || text.ends_with('\n') { "" } else { eol };
            let new = format!("{gap}{}{eol}", pretty(&nested(path, value), INDENT, eol));
            return Ok(Some(insertion(text.len(), new)));
        };
        let mut object = root_object(&root)?;
        for (depth, name) in path.iter().enumerate() {
            let rest = path.get(depth + 1..).unwrap_or_default();
            match member(object, name)? {
                None => {
                    let items: Vec<Range> = object.properties.iter().map(Ranged::range).collect();
                    let layout = Layout::of(text, &root);
                    let new = (Some(*name), &nested(rest, value));
                    return Ok(Some(layout.add((object.range, &items), new)));
                }
                Some(found) if rest.is_empty() && to_json(&found.value) == *value => break,
                Some(_) if rest.is_empty() => {
                    return Err(Refusal::new(format!("there is another entry {name:?} already")));
                }
                Some(found) => {
                    object = found
                        .value
                        .as_object()
                        .ok_or_else(|| Refusal::new(format!("{name:?} is not an object")))?;
                }
            }
        }
        Ok(None)
    })
}

/// Adds `element` to the list under the names of `path`, unless one that `is_there` accepts is in it.
pub fn push(
    text: &str,
    path: &[&str],
    element: &Value,
    is_there: &dyn Fn(&Value) -> bool,
) -> Result<Option<Change>, Refusal> {
    past_mark(text, |text| {
        let whole = || put(text, path, &Value::Array(vec![element.clone()]));
        let Some(root) = parse(text)? else { return whole() };
        let Some(found) = find(&root, path)? else { return whole() };
        let Node::Array(list) = found else {
            return Err(Refusal::new(format!("{:?} is not a list", path.join("."))));
        };
        if list.elements.iter().any(|element| is_there(&to_json(element))) {
            return Ok(None);
        }
        let items: Vec<Range> = list.elements.iter().map(Ranged::range).collect();
        Ok(Some(Layout::of(text, &root).add((list.range, &items), (None, element))))
    })
}

/// Whether the list under the names of `path` has an element that `is_it` accepts.
pub fn has(text: &str, path: &[&str], is_it: &dyn Fn(&Value) -> bool) -> Result<bool, Refusal> {
    let Some(root) = parse(text.strip_prefix(MARK).unwrap_or(text))? else { return Ok(false) };
    let list = find(&root, path)?.and_then(Node::as_array);
    Ok(list.is_some_and(|list| list.elements.iter().any(|element| is_it(&to_json(element)))))
}

/// Takes what is under `path` out again, with the comma that came with it. `None` when it is not
/// there.
pub fn take(text: &str, path: &[&str]) -> Result<Option<Change>, Refusal> {
    remove(text, |root| property(root, path).map(CstNode::from))
}

/// Takes the elements that `is_ours` accepts out of the list under `path`, one at a time.
pub fn pull(
    text: &str,
    path: &[&str],
    is_ours: &dyn Fn(&Value) -> bool,
) -> Result<Option<Change>, Refusal> {
    remove(text, |root| {
        let elements = property(root, path)?.array_value()?.elements();
        elements.into_iter().find(|element| element.to_serde_value().as_ref().is_some_and(is_ours))
    })
}

/// Takes out what `choose` finds, if anything; what stands beside it stays.
fn remove(
    text: &str,
    choose: impl FnOnce(&CstRootNode) -> Option<CstNode>,
) -> Result<Option<Change>, Refusal> {
    past_mark(text, |text| {
        let root = CstRootNode::parse(text, &OPTIONS).map_err(refusal)?;
        let Some(node) = choose(&root) else { return Ok(None) };
        node.remove();
        Ok(Some(Change::between(text, &root.to_string())))
    })
}

fn property(root: &CstRootNode, path: &[&str]) -> Option<CstObjectProp> {
    let (name, above) = path.split_last()?;
    let object = above.iter().try_fold(root.object_value()?, |at, name| at.object_value(name))?;
    object.get(name)
}

/// The byte order mark that some editors leave at the beginning of a file.
const MARK: char = '\u{FEFF}';

/// Changes what follows the byte order mark.
fn past_mark(
    text: &str,
    change: impl FnOnce(&str) -> Result<Option<Change>, Refusal>,
) -> Result<Option<Change>, Refusal> {
    let body = text.strip_prefix(MARK).unwrap_or(text);
    let skipped = text.len() - body.len();
    Ok(change(body)?.map(|change| Change { at: change.at + skipped, ..change }))
}

/// The value that a text holds, if it holds any.
fn parse(text: &str) -> Result<Option<Node<'_>>, Refusal> {
    Ok(parse_to_ast(text, &CollectOptions::default(), &OPTIONS).map_err(refusal)?.value)
}

fn refusal(error: ParseError) -> Refusal {
    Refusal::new(format!("it is not plain JSON: {error}"))
}

fn to_json(node: &Node) -> Value {
    node.clone().into()
}

fn root_object<'n, 't>(root: &'n Node<'t>) -> Result<&'n Object<'t>, Refusal> {
    root.as_object().ok_or_else(|| Refusal::new("it does not hold an object"))
}

fn member<'n, 't>(
    object: &'n Object<'t>,
    name: &str,
) -> Result<Option<&'n ObjectProp<'t>>, Refusal> {
    let mut found = object.properties.iter().filter(|property| property.name.as_str() == name);
    match (found.next(), found.next()) {
        (_, Some(_)) => Err(Refusal::new(format!("{name:?} is there twice"))),
        (first, None) => Ok(first),
    }
}

fn find<'n, 't>(root: &'n Node<'t>, path: &[&str]) -> Result<Option<&'n Node<'t>>, Refusal> {
    let mut node = root;
    for name in path {
        let object = node.as_object();
        let object =
            object.ok_or_else(|| Refusal::new(format!("what holds {name:?} is not an object")))?;
        match member(object, name)? {
            Some(found) => node = &found.value,
            None => return Ok(None),
        }
    }
    Ok(Some(node))
}

/// `value` inside objects with the names of `path`.
fn nested(path: &[&str], value: &Value) -> Value {
    path.iter().rev().fold(value.clone(), |inner, name| json!({*name: inner}))
}

fn insertion(at: usize, new: String) -> Change {
    Change { at, old: String::new(), new }
}

fn eol_of(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// A value over several lines. Strings of JSON hold no line ends, so all of them are layout.
fn pretty(value: &Value, unit: &str, eol: &str) -> String {
    let mut bytes = Vec::new();
    let formatter = PrettyFormatter::with_indent(unit.as_bytes());
    let written = value.serialize(&mut Serializer::with_formatter(&mut bytes, formatter));
    let text = written.ok().and_then(|()| String::from_utf8(bytes).ok());
    text.unwrap_or_else(|| value.to_string()).replace('\n', eol)
}

/// How a text is laid out.
struct Layout<'t> {
    text: &'t str,
    eol: &'static str,
    unit: &'t str,
}

impl<'t> Layout<'t> {
    fn of(text: &'t str, root: &Node) -> Layout<'t> {
        let mut layout = Layout { text, eol: eol_of(text), unit: INDENT };
        let first = root.as_object().and_then(|root| root.properties.first());
        let unit = first.and_then(|first| layout.indent_at(first.range.start));
        layout.unit = unit.filter(|unit| !unit.is_empty()).unwrap_or(INDENT);
        layout
    }

    /// The white space between the beginning of a line and what stands first on it; `None` when
    /// something else does, or when it is the first line.
    fn indent_at(&self, at: usize) -> Option<&'t str> {
        let (_, line) = self.text.get(..at)?.rsplit_once('\n')?;
        line.chars().all(|letter| letter == ' ' || letter == '\t').then_some(line)
    }

    /// The indent of the line that holds `at`.
    fn line_indent(&self, at: usize) -> &'t str {
        let line = self.text.get(..at).and_then(|before| before.rsplit('\n').next());
        let line = line.unwrap_or_default();
        line.get(..line.len() - line.trim_start().len()).unwrap_or_default()
    }

    /// Whether a comment stands on the rest of the line.
    fn is_commented(&self, at: usize) -> bool {
        let rest = self.text.get(at..).and_then(|rest| rest.lines().next()).unwrap_or_default();
        let rest = rest.trim_start().trim_start_matches(',').trim_start();
        rest.starts_with("//") || rest.starts_with("/*")
    }

    /// Adds an item to an object or list, laid out as those that are there.
    fn add(
        &self,
        (span, items): (Range, &[Range]),
        (name, value): (Option<&str>, &Value),
    ) -> Change {
        let eol = self.eol;
        let name = name.map_or_else(String::new, |name| format!("{}: ", Value::from(name)));
        let item = |indent: &str| {
            let value = pretty(value, self.unit, &format!("{eol}{indent}"));
            format!("{eol}{indent}{name}{value}")
        };
        let first = span.start + 1;
        let Some(last) = items.last() else {
            let outer = self.line_indent(span.start);
            let space = self.text.get(first..span.end - 1).unwrap_or_default();
            let close = if space.contains('\n') { String::new() } else { format!("{eol}{outer}") };
            return insertion(first, item(&format!("{outer}{}", self.unit)) + &close);
        };
        match self.indent_at(last.start) {
            // What is said about the last one stays beside it.
            Some(indent) if self.is_commented(last.end) => insertion(first, item(indent) + ","),
            Some(indent) => insertion(last.end, format!(",{}", item(indent))),
            // All on one line: so is the new one.
            None => insertion(last.end, format!(", {name}{value}")),
        }
    }
}
