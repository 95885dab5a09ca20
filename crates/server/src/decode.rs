//! Reading requests: the query string by the table of its parameters, and the fields of a JSON
//! body, each taken once; what is left over is an error that names the nearest thing there is.

use oneiro::{Cursor, Error, MessageId, Result, Role, SessionId, Sort, Timestamp, json};
use serde_json::{Map, Value};

/// What a parameter of the query string holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    /// Any text.
    Text,
    /// true or false.
    Bool,
    /// A whole number between these.
    Int(i64, i64),
    /// A moment, RFC 3339.
    Time,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Texts: the parameter may be repeated.
    Texts,
}

/// A parameter of the query string.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Param {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) doc: &'static str,
    /// Whether it must be given.
    pub(crate) needed: bool,
}

/// The query string, read by the table of its parameters.
#[derive(Debug, Default)]
pub(crate) struct Query(Vec<(&'static str, String)>);

impl Query {
    /// Reads a query string, refusing what the table does not know.
    pub(crate) fn read(text: &str, table: &'static [Param]) -> Result<Query> {
        let mut found: Vec<(&'static str, String)> = Vec::new();
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (name, value) = (unescape(name)?, unescape(value)?);
            let Some(param) = table.iter().find(|param| param.name == name) else {
                return Err(unknown(&name, table.iter().map(|param| param.name)));
            };
            let again = found.iter().any(|(there, _)| *there == param.name);
            if again && param.kind != Kind::Texts {
                return Err(Error::field(param.name, "is given twice"));
            }
            param.kind.check(param.name, &value)?;
            found.push((param.name, value));
        }
        let given = |param: &&Param| found.iter().any(|(there, _)| *there == param.name);
        if let Some(missing) = table.iter().filter(|param| param.needed).find(|one| !given(one)) {
            return Err(Error::field(missing.name, "is missing")
                .remedy(format!("give ?{}=: {}", missing.name, missing.doc)));
        }
        Ok(Query(found))
    }

    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.0.iter().find(|(there, _)| *there == name).map(|(_, value)| value.clone())
    }

    pub(crate) fn texts(&self, name: &str) -> Vec<String> {
        let values = self.0.iter().filter(|(there, _)| *there == name);
        values.map(|(_, value)| value.clone()).collect()
    }

    pub(crate) fn bool(&self, name: &str) -> Option<bool> {
        self.text(name).map(|value| value == "true")
    }

    pub(crate) fn int(&self, name: &str) -> Option<i64> {
        self.text(name)?.parse().ok()
    }

    /// A count with its default.
    pub(crate) fn count(&self, name: &str, default: usize) -> usize {
        self.int(name).and_then(|value| usize::try_from(value).ok()).unwrap_or(default)
    }

    pub(crate) fn time(&self, name: &str) -> Option<Timestamp> {
        Timestamp::parse(&self.text(name)?).ok()
    }

    pub(crate) fn session(&self, name: &str) -> Result<Option<SessionId>> {
        self.text(name).map(SessionId::new).transpose()
    }

    pub(crate) fn cursor(&self) -> Result<Option<Cursor>> {
        self.text("cursor").as_deref().map(Cursor::parse).transpose()
    }
}

impl Kind {
    fn check(self, name: &'static str, value: &str) -> Result<()> {
        match self {
            Kind::Text | Kind::Texts => no_nul(name, value),
            Kind::Bool if matches!(value, "true" | "false") => Ok(()),
            Kind::Bool => Err(Error::field(name, format!("{value:?} is not true or false"))),
            Kind::Int(least, most) => match value.parse::<i64>() {
                Ok(number) if (least..=most).contains(&number) => Ok(()),
                _ => Err(Error::field(
                    name,
                    format!("{value:?} is not a whole number between {least} and {most}"),
                )),
            },
            Kind::Time => Timestamp::parse(value)
                .map(|_| ())
                .map_err(|error| Error::field(name, error).remedy("write 2026-01-31T12:00:00Z")),
            Kind::Word(words) if words.contains(&value) => Ok(()),
            Kind::Word(words) => {
                Err(Error::field(name, format!("{value:?} is none of {}", words.join(", "))))
            }
        }
    }
}

fn no_nul(name: &'static str, value: &str) -> Result<()> {
    match value.contains('\0') {
        true => Err(Error::field(name, "contains a NUL character")),
        false => Ok(()),
    }
}

/// Takes the escapes of a query string out.
pub(crate) fn unescape(text: &str) -> Result<String> {
    let bad = || Error::invalid("the query string is not percent-encoded UTF-8");
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match first {
            b'+' => bytes.push(b' '),
            b'%' => {
                let digits = rest.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
                let digits = digits.filter(|digits| !digits.starts_with('+'));
                let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
                bytes.push(byte.ok_or_else(bad)?);
                rest = rest.get(2..).unwrap_or_default();
            }
            other => bytes.push(*other),
        }
    }
    String::from_utf8(bytes).map_err(|_| bad())
}

/// A name that nobody knows, and the nearest that somebody does.
fn unknown(name: &str, known: impl Iterator<Item = &'static str>) -> Error {
    let shown: String = name.chars().take(64).collect();
    let error = Error::field(shown, "is not known here");
    let mut known = known.peekable();
    if known.peek().is_none() {
        return error.remedy("nothing can be given here");
    }
    // The distance to a name of megabytes would take gigabytes to measure.
    if name.len() > 64 {
        return error;
    }
    let distance = |known: &&str| strsim::damerau_levenshtein(known, name);
    match known.min_by_key(distance) {
        Some(nearest) => error.remedy(format!("the nearest is {nearest:?}")),
        None => error,
    }
}

/// The fields of a JSON body, each taken once.
pub(crate) struct Fields {
    left: Map<String, Value>,
    known: Vec<&'static str>,
}

impl Fields {
    /// Reads a body that is one JSON object; nothing at all is an empty one.
    pub(crate) fn read(body: &[u8]) -> Result<Fields> {
        if body.is_empty() {
            return Ok(Fields { left: Map::new(), known: Vec::new() });
        }
        Fields::of(json::parse(body)?.value)
    }

    /// The fields of a JSON object.
    pub(crate) fn of(value: Value) -> Result<Fields> {
        match value {
            Value::Object(left) => Ok(Fields { left, known: Vec::new() }),
            _ => Err(Error::field("body", "is not a JSON object").remedy("send {\"field\": ...}")),
        }
    }

    /// A field; null is the same as nothing.
    pub(crate) fn value(&mut self, name: &'static str) -> Option<Value> {
        self.given(name).filter(|value| !value.is_null())
    }

    /// A field, null told from nothing.
    pub(crate) fn given(&mut self, name: &'static str) -> Option<Value> {
        self.known.push(name);
        self.left.remove(name)
    }

    pub(crate) fn text(&mut self, name: &'static str) -> Result<Option<String>> {
        let text = |value| match value {
            Value::String(text) => no_nul(name, &text).map(|()| text),
            _ => Err(Error::field(name, "is not a string")),
        };
        self.value(name).map(text).transpose()
    }

    pub(crate) fn needed_text(&mut self, name: &'static str) -> Result<String> {
        self.text(name)?.ok_or_else(|| Error::field(name, "is missing"))
    }

    pub(crate) fn bool(&mut self, name: &'static str) -> Result<Option<bool>> {
        let bool = |value: Value| {
            value.as_bool().ok_or_else(|| Error::field(name, "is not true or false"))
        };
        self.value(name).map(bool).transpose()
    }

    pub(crate) fn int(
        &mut self,
        name: &'static str,
        (least, most): (i64, i64),
    ) -> Result<Option<i64>> {
        let int = |value: Value| {
            whole(&value).filter(|number| (least..=most).contains(number)).ok_or_else(|| {
                Error::field(name, format!("is not a whole number between {least} and {most}"))
            })
        };
        self.value(name).map(int).transpose()
    }

    pub(crate) fn count(
        &mut self,
        name: &'static str,
        between: (usize, usize),
        default: usize,
    ) -> Result<usize> {
        let number = self.int(name, (between.0 as i64, between.1 as i64))?;
        Ok(number.and_then(|number| usize::try_from(number).ok()).unwrap_or(default))
    }

    pub(crate) fn number(&mut self, name: &'static str) -> Result<Option<f64>> {
        let number = |value: Value| {
            let number = value.as_f64().filter(|number| number.is_finite());
            number.ok_or_else(|| Error::field(name, "is not a number"))
        };
        self.value(name).map(number).transpose()
    }

    pub(crate) fn time(&mut self, name: &'static str) -> Result<Option<Timestamp>> {
        let time = |text: String| {
            Timestamp::parse(&text)
                .map_err(|error| Error::field(name, error).remedy("write 2026-01-31T12:00:00Z"))
        };
        self.text(name)?.map(time).transpose()
    }

    pub(crate) fn texts(&mut self, name: &'static str) -> Result<Vec<String>> {
        let wrong = || Error::field(name, "is not a list of strings");
        let Some(value) = self.value(name) else { return Ok(Vec::new()) };
        let Value::Array(items) = value else { return Err(wrong()) };
        let text = |item| match item {
            Value::String(text) => no_nul(name, &text).map(|()| text),
            _ => Err(wrong()),
        };
        items.into_iter().map(text).collect()
    }

    pub(crate) fn roles(&mut self, name: &'static str) -> Result<Vec<Role>> {
        self.texts(name)?.iter().map(|role| Role::parse(role)).collect()
    }

    pub(crate) fn session(&mut self, name: &'static str) -> Result<Option<SessionId>> {
        let id = |text| SessionId::new(text).map_err(|error| Error::field(name, error));
        self.text(name)?.map(id).transpose()
    }

    pub(crate) fn message(&mut self, name: &'static str) -> Result<Option<MessageId>> {
        Ok(self.int(name, (1, i64::MAX))?.map(MessageId))
    }

    pub(crate) fn object(&mut self, name: &'static str) -> Result<Map<String, Value>> {
        match self.value(name) {
            None => Ok(Map::new()),
            Some(Value::Object(object)) => Ok(object),
            Some(_) => Err(Error::field(name, "is not an object")),
        }
    }

    pub(crate) fn sort(&mut self) -> Result<Sort> {
        match self.text("sort")?.as_deref() {
            None | Some("relevance") => Ok(Sort::Relevance),
            Some("newest") => Ok(Sort::Newest),
            Some("oldest") => Ok(Sort::Oldest),
            Some(other) => {
                Err(Error::field("sort", format!("{other:?} is not relevance, newest or oldest")))
            }
        }
    }

    pub(crate) fn cursor(&mut self) -> Result<Option<Cursor>> {
        self.text("cursor")?.as_deref().map(Cursor::parse).transpose()
    }

    /// Refuses what nobody asked for.
    pub(crate) fn end(self) -> Result<()> {
        match self.left.keys().next() {
            Some(name) => Err(unknown(name, self.known.into_iter())),
            None => Ok(()),
        }
    }
}

/// A whole number however it is written: 5, 5.0 or 5e0.
fn whole(value: &Value) -> Option<i64> {
    let exact = value.as_i64();
    exact.or_else(|| {
        let number = value.as_f64()?;
        let is_whole = number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_992.0;
        is_whole.then_some(number as i64)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[Param] = &[
        Param { name: "limit", kind: Kind::Int(1, 10), doc: "", needed: false },
        Param { name: "q", kind: Kind::Text, doc: "", needed: false },
        Param { name: "tag", kind: Kind::Texts, doc: "", needed: false },
        Param { name: "all", kind: Kind::Bool, doc: "", needed: false },
        Param { name: "since", kind: Kind::Time, doc: "", needed: false },
        Param { name: "order", kind: Kind::Word(&["a", "b"]), doc: "", needed: false },
    ];

    #[test]
    fn a_query_string_is_read_by_its_table() {
        let text =
            "limit=7&q=caf%C3%A9+au+lait&tag=x&tag=%26&all=true&since=2026-01-01T00:00:00Z&order=b";
        let query = Query::read(text, TABLE).unwrap();
        assert_eq!(query.count("limit", 1), 7);
        assert_eq!(query.text("q").unwrap(), "café au lait");
        assert_eq!(query.texts("tag"), ["x", "&"]);
        assert_eq!(query.bool("all"), Some(true));
        assert!(query.time("since").is_some());
        let empty = Query::read("", TABLE).unwrap();
        assert_eq!((empty.count("limit", 3), empty.bool("all")), (3, None));
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let cases = [
            ("limit=0", "limit"),
            ("limit=11", "limit"),
            ("limit=x", "limit"),
            ("limit=", "limit"),
            ("limit=1&limit=2", "limit"),
            ("all=yes", "all"),
            ("since=tomorrow", "since"),
            ("order=c", "order"),
            ("q=a%00b", "q"),
            ("limt=1", "limt"),
        ];
        for (text, field) in cases {
            let error = Query::read(text, TABLE).unwrap_err();
            assert_eq!(error.field_name(), Some(field), "{text}");
        }
        const NEEDED: &[Param] = &[Param { name: "id", kind: Kind::Text, doc: "", needed: true }];
        assert_eq!(Query::read("", NEEDED).unwrap_err().field_name(), Some("id"));
        assert!(Query::read("id=1", NEEDED).is_ok());
        let near = Query::read("limt=1", TABLE).unwrap_err();
        assert!(near.remedy_text().unwrap().contains("limit"));
        for text in ["q=%", "q=%4", "q=%zz", "q=%ff", "q=%+1"] {
            assert_eq!(Query::read(text, TABLE).unwrap_err().http_status(), 400, "{text}");
        }
    }

    #[test]
    fn fields_are_taken_once_and_the_rest_is_refused() {
        let mut fields =
            Fields::read(br#"{"a":"x","n":5,"f":2.0,"nothing":null,"b":true}"#).unwrap();
        assert_eq!(fields.text("a").unwrap().as_deref(), Some("x"));
        assert_eq!(fields.int("n", (1, 9)).unwrap(), Some(5));
        assert_eq!(fields.int("f", (1, 9)).unwrap(), Some(2));
        assert_eq!(fields.text("nothing").unwrap(), None);
        let error = fields.end().unwrap_err();
        assert_eq!(error.field_name(), Some("b"));
        for (body, name) in [
            (r#"{"n":"5"}"#, "n"),
            (r#"{"n":5.5}"#, "n"),
            (r#"{"n":0}"#, "n"),
            (r#"{"n":[1]}"#, "n"),
        ] {
            let mut fields = Fields::read(body.as_bytes()).unwrap();
            assert_eq!(fields.int("n", (1, 9)).unwrap_err().field_name(), Some(name), "{body}");
        }
        assert!(Fields::read(b"[]").is_err());
        assert!(Fields::read(b"{").is_err());
        assert!(Fields::read(b"").is_ok());
    }
}
