//! Decodes the fields of a request by its shape: names, types, bounds and times. Each surface
//! passes values in its own [`Form`]; the result is the same.

use super::schema::EXACT_INTEGER_MAX;
use super::{Field, FieldKind, Reading, Shape, TextBounds, unknown_name};
use crate::query::when::stretch;
use crate::{Error, Result, Timestamp};
use serde_json::{Map, Number, Value};

/// The form in which a surface passes values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// JSON, exactly.
    Json,
    /// A query string: every value is a list of texts.
    Query,
    /// A command line: values have their types, and times may be ages such as `3d`.
    CommandLine,
    /// The arguments of a tool as agents write them: numbers as text, lists with commas, empty
    /// values for absent ones. A number out of bounds is clamped, with a note.
    Agent,
    /// A host that embeds the library: times are microseconds or text, and fields for hosts are
    /// accepted.
    Host,
}

/// The maximum number of values in a list from an agent.
const AGENT_LIST_MAX: usize = 50;

/// The fields in the form that their types deserialize from.
pub(super) fn fields(
    shape: &Shape,
    given: Map<String, Value>,
    reading: Reading,
    notes: &mut Vec<String>,
) -> Result<Map<String, Value>> {
    let visible = |field: &&Field| reading.form == Form::Host || !field.host_only;
    let mut fields = Map::new();
    for (name, value) in given {
        let Some(field) = shape.field(&name).filter(visible) else {
            // A host passes null for fields it does not set.
            if reading.form == Form::Host && value.is_null() {
                continue;
            }
            let known = shape.fields.iter().filter(visible).map(|field| field.name.as_str());
            return Err(unknown_name(&name, known));
        };
        let value = match value {
            Value::Null if field.null_clears => Value::Null,
            value => match (OneField { name: &name, reading, notes }).coerce(&field.kind, value)? {
                Some(value) => value,
                None => continue,
            },
        };
        if fields.insert(field.name.clone(), value).is_some() {
            return Err(Error::field(name, format!("is given twice, also as {:?}", field.name)));
        }
    }
    let missing = |field: &&Field| field.required && !fields.contains_key(&field.name);
    if let Some(field) = shape.fields.iter().filter(visible).find(missing) {
        let error = Error::field(field.name.clone(), "is missing");
        return Err(if field.doc.is_empty() {
            error
        } else {
            error.remedy(format!("give {}: {}", field.name, field.doc))
        });
    }
    Ok(fields)
}

struct OneField<'f> {
    name: &'f str,
    reading: Reading,
    notes: &'f mut Vec<String>,
}

impl OneField<'_> {
    /// A value in the type of its field; `None` if it is empty.
    fn coerce(&mut self, kind: &FieldKind, value: Value) -> Result<Option<Value>> {
        match self.reading.form {
            _ if value.is_null() => Ok(None),
            Form::Query => self.query_value(kind, value).map(Some),
            Form::Agent => self.agent_value(kind, value),
            Form::Json | Form::CommandLine | Form::Host => self.exact(kind, value).map(Some),
        }
    }

    fn wrong(&self, problem: impl std::fmt::Display) -> Error {
        Error::field(self.name.to_owned(), problem)
    }

    fn exact(&mut self, kind: &FieldKind, value: Value) -> Result<Value> {
        match (kind, value) {
            (FieldKind::Any, value) => Ok(value),
            (FieldKind::Object, value @ Value::Object(_)) => Ok(value),
            (FieldKind::Object, _) => Err(self.wrong("is not an object")),
            (FieldKind::Bool, value @ Value::Bool(_)) => Ok(value),
            (FieldKind::Bool, _) => Err(self.wrong("is not true or false")),
            (FieldKind::Text(bounds), Value::String(text)) => self.text(text, bounds),
            (FieldKind::Text(_), _) => Err(self.wrong("is not a string")),
            (FieldKind::Word(words), Value::String(word)) => self.word(word, words),
            (FieldKind::Word(words), _) => {
                Err(self.wrong(format!("is none of {}", words.join(", "))))
            }
            // Other values are refused by the type itself, which knows both forms.
            (FieldKind::Message, value) => Ok(parse_integer(&value).map_or(value, Value::from)),
            (FieldKind::Int(min, max), value) => self.int(parse_integer(&value), *min, *max),
            (FieldKind::Number(min, max), value) => self.number(value, *min, *max),
            (FieldKind::Time { end_of_day }, Value::String(text)) => self.time(&text, *end_of_day),
            (FieldKind::Time { .. }, Value::Number(micros)) if self.reading.form == Form::Host => {
                let micros = micros.as_i64();
                let time =
                    micros.map(|micros| Timestamp::from_micros(micros).printable().to_string());
                time.map(Value::String)
                    .ok_or_else(|| self.wrong("is not a whole number of microseconds"))
            }
            (FieldKind::Time { .. }, _) => Err(self.wrong("is not a time").remedy(TIME_REMEDY)),
            (FieldKind::List { of, max }, Value::Array(items)) => {
                self.check_count(&items, *max)?;
                let items = items.into_iter().map(|item| self.exact(of, item));
                let items = items.collect::<Result<Vec<_>>>();
                items.map(Value::Array).map_err(|error| match of.as_ref() {
                    FieldKind::Text(_) if error.message().ends_with("is not a string") => {
                        self.wrong("is not a list of strings")
                    }
                    _ => error,
                })
            }
            (FieldKind::List { .. }, _) => Err(self.wrong("is not a list")),
        }
    }

    fn check_count(&self, items: &[Value], max: usize) -> Result<()> {
        if items.len() <= max {
            return Ok(());
        }
        Err(self.wrong(format!("has {} entries, and at most {max} are allowed", items.len())))
    }

    /// A value of a query string: a list of texts.
    fn query_value(&mut self, kind: &FieldKind, value: Value) -> Result<Value> {
        let Value::Array(texts) = value else { return self.exact(kind, value) };
        if let FieldKind::List { of, max } = kind {
            self.check_count(&texts, *max)?;
            let items = texts.into_iter().map(|text| self.text_value(of, text));
            return items.collect::<Result<Vec<_>>>().map(Value::Array);
        }
        let mut texts = texts.into_iter();
        match (texts.next(), texts.next()) {
            (Some(text), None) => self.text_value(kind, text),
            _ => Err(self.wrong("is given twice")),
        }
    }

    fn text_value(&mut self, kind: &FieldKind, value: Value) -> Result<Value> {
        let Value::String(text) = value else { return self.exact(kind, value) };
        match (kind, text.as_str()) {
            (FieldKind::Bool, "true") => Ok(Value::Bool(true)),
            (FieldKind::Bool, "false") => Ok(Value::Bool(false)),
            (FieldKind::Bool, _) => Err(self.wrong(format!("{text:?} is not true or false"))),
            (FieldKind::Int(min, max), _) => self.int(text.parse().ok(), *min, *max),
            (FieldKind::Number(min, max), _) => {
                let number = text.parse().ok().and_then(Number::from_f64);
                self.number(number.map_or(Value::Null, Value::Number), *min, *max)
            }
            _ => self.exact(kind, Value::String(text)),
        }
    }

    /// A value as an agent writes it; `None` if it is empty.
    fn agent_value(&mut self, kind: &FieldKind, value: Value) -> Result<Option<Value>> {
        let value = match value {
            Value::String(text) if text.trim().is_empty() => return Ok(None),
            Value::Array(items) if items.is_empty() => return Ok(None),
            Value::String(text) => Value::String(text.trim().to_owned()),
            other => other,
        };
        Ok(Some(match (kind, value) {
            (FieldKind::Int(min, max), value) => {
                let number = match &value {
                    Value::String(text) => {
                        let text = text.trim_start_matches('#');
                        text.parse().ok().or_else(|| exact_integer(text.parse().ok()?))
                    }
                    other => parse_integer(other),
                };
                let Some(number) = number else {
                    let remedy = format!("give {} as a number, or leave it out", self.name);
                    return Err(self
                        .wrong(format!("{} is not a whole number", short(&value)))
                        .remedy(remedy));
                };
                if *max == EXACT_INTEGER_MAX {
                    self.int(Some(number), *min, *max)?
                } else {
                    self.clamped(number, *min, *max)
                }
            }
            (FieldKind::Bool, Value::Bool(flag)) => Value::Bool(flag),
            (FieldKind::Bool, value) => {
                let text = match &value {
                    Value::String(text) => text.to_lowercase(),
                    other => other.to_string(),
                };
                match text.as_str() {
                    "true" | "yes" | "1" => Value::Bool(true),
                    "false" | "no" | "0" => Value::Bool(false),
                    _ => {
                        let remedy =
                            format!("give {} as true or false, or leave it out", self.name);
                        return Err(self
                            .wrong(format!("{} is not true or false", short(&value)))
                            .remedy(remedy));
                    }
                }
            }
            (FieldKind::List { of, max }, value) => match self.agent_list(of, value)? {
                items if items.is_empty() => return Ok(None),
                items => {
                    self.check_count(&items, *max)?;
                    Value::Array(items)
                }
            },
            (FieldKind::Word(words), Value::String(word)) => {
                self.word(word.to_lowercase(), words)?
            }
            (FieldKind::Text(_) | FieldKind::Time { .. }, Value::Number(number)) => {
                self.exact(kind, Value::String(number.to_string()))?
            }
            (kind @ (FieldKind::Text(_) | FieldKind::Time { .. }), value @ Value::String(_)) => {
                self.exact(kind, value)?
            }
            (FieldKind::Text(_), value) => {
                let remedy = format!("give {} as a text, or leave it out", self.name);
                return Err(self.wrong(format!("{} is not a text", short(&value))).remedy(remedy));
            }
            (kind, value) => self.exact(kind, value)?,
        }))
    }

    /// Texts, as a list or separated by commas.
    fn agent_list(&mut self, of: &FieldKind, value: Value) -> Result<Vec<Value>> {
        let items = match value {
            Value::Array(items) => items,
            Value::String(text) => {
                text.split(',').map(|item| Value::String(item.to_owned())).collect()
            }
            other => vec![other],
        };
        let items = items.into_iter().map(|item| self.agent_value(of, item));
        let items: Vec<Value> = items.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
        match items.len() {
            0..=AGENT_LIST_MAX => Ok(items),
            many => Err(self
                .wrong(format!("has {many} values"))
                .remedy(format!("give at most {AGENT_LIST_MAX}"))),
        }
    }

    fn clamped(&mut self, number: i64, min: i64, max: i64) -> Value {
        let taken = number.clamp(min, max);
        if taken != number {
            let name = self.name;
            self.notes.push(format!("{name} is {min} to {max}: {number} was taken as {taken}"));
        }
        Value::Number(taken.into())
    }

    fn text(&self, text: String, bounds: &TextBounds) -> Result<Value> {
        let TextBounds { min, max, pattern } = bounds;
        if text.contains('\0') {
            return Err(self.wrong("contains a NUL character").remedy("remove the NUL"));
        }
        // There are at least as many bytes as characters, so characters are rarely counted.
        if text.len() > *max && text.chars().count() > *max {
            return Err(self.wrong(format!("is longer than {max} characters")));
        }
        if text.len() < *min {
            return Err(self.wrong("is empty").remedy("give a value, or leave it out"));
        }
        if let Some(pattern) = pattern.as_ref().filter(|pattern| !pattern.is_match(&text)) {
            let problem = format!("{:?} does not have the form {pattern}", shorten(&text));
            return Err(self.wrong(problem));
        }
        Ok(Value::String(text))
    }

    fn word(&self, word: String, words: &[String]) -> Result<Value> {
        if words.contains(&word) {
            Ok(Value::String(word))
        } else {
            let problem = format!("{:?} is none of {}", shorten(&word), words.join(", "));
            Err(self.wrong(problem).remedy("give one of these words"))
        }
    }

    fn int(&self, number: Option<i64>, min: i64, max: i64) -> Result<Value> {
        match number.filter(|number| (min..=max).contains(number)) {
            Some(number) => Ok(Value::Number(number.into())),
            None if (min, max) == (i64::MIN, i64::MAX) => Err(self.wrong("is not a whole number")),
            None => Err(self.wrong(format!("is not a whole number between {min} and {max}"))),
        }
    }

    fn number(&self, value: Value, min: f64, max: f64) -> Result<Value> {
        let number = value.as_f64().filter(|number| number.is_finite());
        match number.filter(|number| (min..=max).contains(number)) {
            Some(_) => Ok(value),
            None if number.is_some() => {
                Err(self.wrong(format!("is not a number between {min} and {max}")))
            }
            None => Err(self.wrong("is not a number")),
        }
    }

    fn time(&self, text: &str, end_of_day: bool) -> Result<Value> {
        // Programs write times; people also write ages, months and `yesterday`.
        let by_people = matches!(self.reading.form, Form::CommandLine | Form::Agent);
        let time = match Timestamp::parse(text) {
            Ok(time) => Some(time),
            Err(_) if by_people || is_date(text) => stretch(text, self.reading.now)
                .map(|(start, end)| if end_of_day { end } else { start }),
            Err(_) => None,
        };
        let time = time.ok_or_else(|| {
            let remedy = if by_people { AGE_REMEDY } else { TIME_REMEDY };
            self.wrong(format!("{:?} is not a time", shorten(text))).remedy(remedy)
        });
        time.map(|time| Value::String(time.to_string()))
    }
}

/// Whether a text has the form of a date: `2026-01-31`.
fn is_date(text: &str) -> bool {
    let is_digit_or_dash = |(place, byte): (usize, u8)| match place {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    };
    text.len() == "2026-01-31".len() && text.bytes().enumerate().all(is_digit_or_dash)
}

const TIME_REMEDY: &str = "write a time (2026-01-31T09:30:00Z) or a date (2026-01-31)";
const AGE_REMEDY: &str = "write a date (2026-01-31), a time (2026-01-31T09:30:00Z) or an age (3d)";

/// An integer in any notation: 5, 5.0 or 5e0.
fn parse_integer(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| exact_integer(value.as_f64()?))
}

fn exact_integer(number: f64) -> Option<i64> {
    /// Above this a float cannot represent every integer.
    const MAX_EXACT_FLOAT: f64 = 9_007_199_254_740_992.0;
    (number.fract() == 0.0 && number.abs() <= MAX_EXACT_FLOAT).then_some(number as i64)
}

fn short(value: &Value) -> String {
    shorten(&value.to_string())
}

fn shorten(text: &str) -> String {
    const SHOWN_CHARS: usize = 40;
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
