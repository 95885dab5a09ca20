//! Values of a foreign row as ours: text that is not UTF-8, bytes where text belongs, numbers and
//! times that cannot be are put right and counted, and what they were is kept beside.

use oneiro_model::{Timestamp, json};
use oneiro_store::ForeignValue;
use serde_json::{Map, Number, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What had to be put right, by kind.
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
pub(super) const TEXT: &str = "text";
/// A time that cannot be.
pub(super) const TIME: &str = "time";
/// A count or an amount that cannot be.
pub(super) const NUMBER: &str = "number";
/// A name, role or id that is missing or too long.
pub(super) const NAME: &str = "name";
/// Half of a character of two.
pub(super) const SURROGATE: &str = "surrogate";

/// A value as text; `None` when there is none, or it is bytes that are no text.
pub(super) fn text<'v>(value: ForeignValue<'v>, repairs: &mut Repairs) -> Option<Cow<'v, str>> {
    Some(match value {
        ForeignValue::Null => return None,
        ForeignValue::Int(number) => number.to_string().into(),
        ForeignValue::Real(number) => number.to_string().into(),
        ForeignValue::Text(bytes) => {
            let text = String::from_utf8_lossy(bytes);
            if matches!(text, Cow::Owned(_)) {
                repairs.count(TEXT);
            }
            text
        }
        ForeignValue::Bytes(bytes) => {
            let text = std::str::from_utf8(bytes).ok()?;
            repairs.count(TEXT);
            text.into()
        }
    })
}

/// A value as JSON; bytes as base64.
pub(super) fn plain(value: ForeignValue<'_>, repairs: &mut Repairs) -> Value {
    match value {
        ForeignValue::Null => Value::Null,
        ForeignValue::Int(number) => number.into(),
        ForeignValue::Real(number) => real(number),
        ForeignValue::Bytes(bytes) => encoded(bytes),
        ForeignValue::Text(_) => text(value, repairs).map_or(Value::Null, |text| text.into()),
    }
}

/// A value of a column of text: bytes that are text are text.
pub(super) fn words(value: ForeignValue<'_>, repairs: &mut Repairs) -> Value {
    match (value, text(value, repairs)) {
        (_, Some(text)) => text.into(),
        (ForeignValue::Bytes(bytes), None) => {
            repairs.count(TEXT);
            encoded(bytes)
        }
        (_, None) => Value::Null,
    }
}

/// A value that holds JSON as text; text that is not JSON stays text.
pub(super) fn parsed(value: ForeignValue<'_>, repairs: &mut Repairs) -> Value {
    match words(value, repairs) {
        Value::String(text) => read_json(&text, repairs).unwrap_or(Value::String(text)),
        other => other,
    }
}

/// JSON that can be stored and read back.
pub(super) fn read_json(text: &str, repairs: &mut Repairs) -> Option<Value> {
    let read = json::parse_text(text).ok()?;
    json::check_depth("message", &read.value).ok()?;
    repairs.count_many(SURROGATE, read.surrogates);
    Some(read.value)
}

/// A floating-point number; what JSON has no number for is text.
pub(super) fn real(number: f64) -> Value {
    Number::from_f64(number).map_or_else(|| Value::String(number.to_string()), Value::Number)
}

fn encoded(bytes: &[u8]) -> Value {
    Value::Object(Map::from_iter([("base64".to_owned(), base64(bytes).into())]))
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let letter = LETTERS.get((bits >> (18 - 6 * place)) as usize & 63);
            let is_there = place <= chunk.len();
            out.push(letter.filter(|_| is_there).map_or('=', |letter| char::from(*letter)));
        }
    }
    out
}

/// A moment as hermes wrote it.
pub(super) struct Moment {
    /// The moment as far as it can be told.
    pub(super) at: Option<Timestamp>,
    /// The number as it was, where microseconds cannot tell it.
    pub(super) exact: Option<Value>,
    /// What stood there instead of a number.
    pub(super) odd: Option<Value>,
}

/// The years 2000 and 2100, between which a number that is no count of seconds is looked for.
const YEARS: std::ops::Range<f64> = 946_684_800.0..4_102_444_800.0;

/// Reads seconds since the epoch. Milliseconds, microseconds and nanoseconds are told by their size.
pub(super) fn moment(value: ForeignValue<'_>, repairs: &mut Repairs) -> Moment {
    let none = Moment { at: None, exact: None, odd: None };
    let seconds = match value {
        ForeignValue::Null => {
            return none;
        }
        ForeignValue::Int(number) => number as f64,
        ForeignValue::Real(number) => number,
        ForeignValue::Text(_) | ForeignValue::Bytes(_) => {
            repairs.count(TIME);
            let odd = words(value, &mut Repairs::default());
            let read = odd.as_str().map(str::trim).and_then(|text| {
                let number = text.parse::<f64>().ok().and_then(from_seconds);
                number.or_else(|| Timestamp::parse(text).ok())
            });
            return Moment { at: read, odd: Some(odd), ..none };
        }
    };
    let at = from_seconds(seconds);
    let is_plain = (0.0..YEARS.end).contains(&seconds);
    if !is_plain {
        repairs.count(TIME);
    }
    let is_exact = is_plain && at.is_some_and(|at| at.micros() as f64 / 1e6 == seconds);
    match seconds.is_finite() {
        true if is_exact => Moment { at, ..none },
        true => Moment { at, exact: Some(real(seconds)), odd: None },
        false => Moment { at: None, exact: None, odd: Some(real(seconds)) },
    }
}

fn from_seconds(seconds: f64) -> Option<Timestamp> {
    if (0.0..YEARS.end).contains(&seconds) {
        return Some(Timestamp::from_micros((seconds * 1e6).round() as i64));
    }
    let scaled = [1e3, 1e6, 1e9].map(|scale| seconds / scale);
    let likely = scaled.into_iter().find(|seconds| YEARS.contains(seconds))?;
    Some(Timestamp::from_micros((likely * 1e6).round() as i64))
}

/// A whole number that is not negative; `None` when it is something else.
pub(super) fn whole_number(value: ForeignValue<'_>) -> Option<i64> {
    match value {
        ForeignValue::Int(number) => Some(number).filter(|number| *number >= 0),
        ForeignValue::Real(number) if number.fract() == 0.0 && (0.0..9e15).contains(&number) => {
            Some(number as i64)
        }
        _ => None,
    }
}

/// Whether a flag is set; text and the like count as unset.
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
    fn bytes_become_base64() {
        for (bytes, want) in [
            (&b""[..], ""),
            (b"f", "Zg=="),
            (b"fo", "Zm8="),
            (b"foo", "Zm9v"),
            (b"\xff\xfe\xfd\0", "//79AA=="),
        ] {
            assert_eq!(base64(bytes), want);
        }
    }

    #[test]
    fn times_of_any_size_are_told_or_kept() {
        let read = |value| {
            let mut repairs = Repairs::default();
            let moment = moment(value, &mut repairs);
            (moment.at.map(Timestamp::micros), moment.exact, moment.odd, repairs.0.len())
        };
        let at = 1_700_000_000_000_000;
        assert_eq!(read(ForeignValue::Int(1_700_000_000)), (Some(at), None, None, 0));
        assert_eq!(read(ForeignValue::Real(0.5)), (Some(500_000), None, None, 0));
        // Finer than a microsecond: the float itself is kept beside.
        let fine = 1_794_789_806.589_084_9;
        assert_eq!(read(ForeignValue::Real(fine)).1, Some(real(fine)));
        for odd in [1.7e12, 1.7e15, 1.7e18] {
            assert_eq!(read(ForeignValue::Real(odd)), (Some(at), Some(real(odd)), None, 1));
        }
        for odd in [-5.0, 1e30] {
            assert_eq!(read(ForeignValue::Real(odd)), (None, Some(real(odd)), None, 1));
        }
        assert_eq!(read(ForeignValue::Real(f64::INFINITY)), (None, None, Some("inf".into()), 1));
        assert_eq!(read(ForeignValue::Null), (None, None, None, 0));
        let text = ForeignValue::Text(b"2023-11-14T22:13:20Z");
        assert_eq!(read(text), (Some(at), None, Some("2023-11-14T22:13:20Z".into()), 1));
    }
}
