//! Converts values of hermes's database. Invalid text, numbers and times are repaired and counted, and
//! the original value is kept.

use base64::prelude::{BASE64_STANDARD, Engine};
use oneiro_model::{Timestamp, json};
use oneiro_store::ForeignValue;
use serde_json::{Map, Number, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The number of repaired values by kind.
#[derive(Debug, Clone, Default)]
pub(super) struct Repairs(pub(super) BTreeMap<&'static str, usize>);

impl Repairs {
    pub(super) fn count(&mut self, kind: &'static str) {
        self.count_many(kind, 1);
    }

    pub(super) fn count_many(&mut self, kind: &'static str, count: usize) {
        if count > 0 {
            *self.0.entry(kind).or_default() += count;
        }
    }
}

/// Text that was not UTF-8, or bytes that were text.
pub(super) const TEXT_REPAIR: &str = "text";
/// An invalid time.
pub(super) const TIME_REPAIR: &str = "time";
/// An invalid count or amount.
pub(super) const NUMBER_REPAIR: &str = "number";
/// A name, role or id that is missing or too long.
pub(super) const NAME_REPAIR: &str = "name";
/// An unpaired surrogate.
pub(super) const SURROGATE_REPAIR: &str = "surrogate";

/// A value as text; `None` if it is NULL or bytes that are not UTF-8.
pub(super) fn text<'v>(value: ForeignValue<'v>, repairs: &mut Repairs) -> Option<Cow<'v, str>> {
    Some(match value {
        ForeignValue::Null => return None,
        ForeignValue::Int(number) => number.to_string().into(),
        ForeignValue::Real(number) => number.to_string().into(),
        ForeignValue::Text(bytes) => {
            let text = String::from_utf8_lossy(bytes);
            if matches!(text, Cow::Owned(_)) {
                repairs.count(TEXT_REPAIR);
            }
            text
        }
        ForeignValue::Bytes(bytes) => {
            let text = std::str::from_utf8(bytes).ok()?;
            repairs.count(TEXT_REPAIR);
            text.into()
        }
    })
}

/// A value as JSON; bytes as base64.
pub(super) fn to_json(value: ForeignValue<'_>, repairs: &mut Repairs) -> Value {
    match value {
        ForeignValue::Null => Value::Null,
        ForeignValue::Int(number) => number.into(),
        ForeignValue::Real(number) => number_value(number),
        ForeignValue::Bytes(bytes) => encoded(bytes),
        ForeignValue::Text(_) => text(value, repairs).map_or(Value::Null, |text| text.into()),
    }
}

/// A value of a text column; bytes that are not UTF-8 as base64.
pub(super) fn text_value(value: ForeignValue<'_>, repairs: &mut Repairs) -> Value {
    match (value, text(value, repairs)) {
        (_, Some(text)) => text.into(),
        (ForeignValue::Bytes(bytes), None) => {
            repairs.count(TEXT_REPAIR);
            encoded(bytes)
        }
        (_, None) => Value::Null,
    }
}

/// A value with JSON as text; other text is returned as text.
pub(super) fn parse_json_text(value: ForeignValue<'_>, repairs: &mut Repairs) -> Value {
    match text_value(value, repairs) {
        Value::String(text) => read_json(&text, repairs).unwrap_or(Value::String(text)),
        other => other,
    }
}

/// Parses JSON that can be stored.
pub(super) fn read_json(text: &str, repairs: &mut Repairs) -> Option<Value> {
    let read = json::parse_text(text).ok()?;
    json::check_depth("message", &read.value).ok()?;
    repairs.count_many(SURROGATE_REPAIR, read.surrogates);
    Some(read.value)
}

/// A number as JSON; infinite numbers as text.
pub(super) fn number_value(number: f64) -> Value {
    Number::from_f64(number).map_or_else(|| Value::String(number.to_string()), Value::Number)
}

fn encoded(bytes: &[u8]) -> Value {
    Value::Object(Map::from_iter([("base64".to_owned(), BASE64_STANDARD.encode(bytes).into())]))
}

/// A time as hermes wrote it.
pub(super) struct ParsedTime {
    /// In microseconds, if it is a time.
    pub(super) at: Option<Timestamp>,
    /// The original number, if microseconds cannot represent it.
    pub(super) exact: Option<Value>,
    /// The original value, if it is not a number.
    pub(super) invalid: Option<Value>,
}

/// The years 2000 to 2100, in seconds since the epoch.
const PLAUSIBLE_SECONDS: std::ops::Range<f64> = 946_684_800.0..4_102_444_800.0;

/// Parses seconds since the epoch. Milliseconds, microseconds and nanoseconds are recognised by their
/// size.
pub(super) fn parse_time(value: ForeignValue<'_>, repairs: &mut Repairs) -> ParsedTime {
    let none = ParsedTime { at: None, exact: None, invalid: None };
    let seconds = match value {
        ForeignValue::Null => {
            return none;
        }
        ForeignValue::Int(number) => number as f64,
        ForeignValue::Real(number) => number,
        ForeignValue::Text(_) | ForeignValue::Bytes(_) => {
            repairs.count(TIME_REPAIR);
            let invalid = text_value(value, &mut Repairs::default());
            let read = invalid.as_str().map(str::trim).and_then(|text| {
                let number = text.parse::<f64>().ok().and_then(from_seconds);
                number.or_else(|| Timestamp::parse(text).ok())
            });
            return ParsedTime { at: read, invalid: Some(invalid), ..none };
        }
    };
    let at = from_seconds(seconds);
    let is_plain = (0.0..PLAUSIBLE_SECONDS.end).contains(&seconds);
    if !is_plain {
        repairs.count(TIME_REPAIR);
    }
    let is_exact = is_plain && at.is_some_and(|at| at.micros() as f64 / 1e6 == seconds);
    if is_exact {
        ParsedTime { at, ..none }
    } else if seconds.is_finite() {
        ParsedTime { at, exact: Some(number_value(seconds)), invalid: None }
    } else {
        ParsedTime { at: None, exact: None, invalid: Some(number_value(seconds)) }
    }
}

fn from_seconds(seconds: f64) -> Option<Timestamp> {
    if (0.0..PLAUSIBLE_SECONDS.end).contains(&seconds) {
        return Some(Timestamp::from_micros((seconds * 1e6).round() as i64));
    }
    let scaled = [1e3, 1e6, 1e9].map(|scale| seconds / scale);
    let likely = scaled.into_iter().find(|seconds| PLAUSIBLE_SECONDS.contains(seconds))?;
    Some(Timestamp::from_micros((likely * 1e6).round() as i64))
}

/// A non-negative integer.
pub(super) fn whole_number(value: ForeignValue<'_>) -> Option<i64> {
    match value {
        ForeignValue::Int(number) => Some(number).filter(|number| *number >= 0),
        ForeignValue::Real(number) if number.fract() == 0.0 && (0.0..9e15).contains(&number) => {
            Some(number as i64)
        }
        _ => None,
    }
}

/// Whether a flag is set; `unset` if it is NULL.
pub(super) fn flag(value: ForeignValue<'_>, unset: bool) -> bool {
    match value {
        ForeignValue::Null => unset,
        ForeignValue::Int(number) => number != 0,
        ForeignValue::Real(number) => number != 0.0,
        ForeignValue::Text(bytes) | ForeignValue::Bytes(bytes) => {
            !matches!(bytes, b"" | b"0" | b"false")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_parsed_in_any_unit_and_kept_if_they_are_inexact() {
        let read = |value| {
            let mut repairs = Repairs::default();
            let parse_time = parse_time(value, &mut repairs);
            (
                parse_time.at.map(Timestamp::micros),
                parse_time.exact,
                parse_time.invalid,
                repairs.0.len(),
            )
        };
        let at = 1_700_000_000_000_000;
        assert_eq!(read(ForeignValue::Int(1_700_000_000)), (Some(at), None, None, 0));
        assert_eq!(read(ForeignValue::Real(0.5)), (Some(500_000), None, None, 0));
        // Finer than a microsecond: the float itself is kept beside.
        let fine = 1_794_789_806.589_084_9;
        assert_eq!(read(ForeignValue::Real(fine)).1, Some(number_value(fine)));
        for invalid in [1.7e12, 1.7e15, 1.7e18] {
            assert_eq!(
                read(ForeignValue::Real(invalid)),
                (Some(at), Some(number_value(invalid)), None, 1)
            );
        }
        for invalid in [-5.0, 1e30] {
            assert_eq!(
                read(ForeignValue::Real(invalid)),
                (None, Some(number_value(invalid)), None, 1)
            );
        }
        assert_eq!(read(ForeignValue::Real(f64::INFINITY)), (None, None, Some("inf".into()), 1));
        assert_eq!(read(ForeignValue::Null), (None, None, None, 0));
        let text = ForeignValue::Text(b"2023-11-14T22:13:20Z");
        assert_eq!(read(text), (Some(at), None, Some("2023-11-14T22:13:20Z".into()), 1));
    }
}
