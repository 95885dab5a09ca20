//! Reading JSON from outside: lone surrogates become U+FFFD and are counted, nesting is bounded,
//! and errors say where. It must not know what the values mean.

use crate::{Error, Result};
use serde_json::Value;
use std::borrow::Cow;

/// A JSON text whose lone surrogates were replaced.
#[derive(Debug)]
pub struct Repaired {
    /// The value.
    pub value: Value,
    /// How many lone surrogates became U+FFFD.
    pub surrogates: usize,
}

/// Reads one JSON value from bytes.
pub fn parse(bytes: &[u8]) -> Result<Repaired> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        Error::invalid(format!("not UTF-8 at byte {}", error.valid_up_to()))
            .remedy("send JSON encoded as UTF-8")
    })?;
    parse_text(text)
}

/// Reads one JSON value from text.
pub fn parse_text(text: &str) -> Result<Repaired> {
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    refuse_reserved_key(text)?;
    let (text, surrogates) = replace_lone_surrogates(text);
    let mut value = serde_json::from_str(&text).map_err(|error| {
        let what = error.to_string();
        if what.starts_with("recursion limit") {
            return Error::invalid(format!(
                "JSON nested deeper than 127 levels at column {}",
                error.column()
            ))
            .remedy("flatten it, or send the inner part as a string");
        }
        // serde_json puts the place at the end; only the column means anything within a line.
        let what = what.split(" at line ").next().unwrap_or_default().to_owned();
        Error::invalid(format!("not JSON: {what} at column {}", error.column()))
            .remedy("send one JSON object per line")
    })?;
    keep_exponents(&text, &mut value);
    Ok(Repaired { value, surrogates })
}

/// The parser keeps the text of numbers by a trick with one key of its own; an object that has it
/// would come out as a number, so it is refused and not changed.
fn refuse_reserved_key(text: &str) -> Result<()> {
    const KEY: &str = "\"$serde_json::private::Number\"";
    let is_key = |(at, _): (usize, &str)| {
        let after = text.get(at + KEY.len()..).unwrap_or_default();
        after.trim_start().starts_with(':')
    };
    match text.match_indices(KEY).any(is_key) {
        true => Err(Error::invalid(format!("the key {KEY} cannot be stored")).remedy("rename it")),
        false => Ok(()),
    }
}

/// The deepest nesting that is stored: an export wraps it once more, and must still be readable.
pub const DEPTH: usize = 120;

/// Refuses a value that is nested too deeply to be read back.
pub fn check_depth(field: &'static str, value: &Value) -> Result<()> {
    match is_within(value, DEPTH) {
        true => Ok(()),
        false => Err(Error::field(field, format!("is nested deeper than {DEPTH} levels"))
            .remedy("flatten it, or send the inner part as a string")),
    }
}

fn is_within(value: &Value, depth: usize) -> bool {
    match (value, depth.checked_sub(1)) {
        (Value::Array(items), Some(left)) => items.iter().all(|item| is_within(item, left)),
        (Value::Object(fields), Some(left)) => fields.values().all(|item| is_within(item, left)),
        (Value::Array(_) | Value::Object(_), None) => false,
        _ => true,
    }
}

/// Gives numbers with an exponent their own text back: the parser writes `1E5` as `1e+5`.
fn keep_exponents(text: &str, value: &mut Value) {
    let exponent = |w: &[u8]| matches!(w, [d, b'e' | b'E', s] if d.is_ascii_digit() && (s.is_ascii_digit() || matches!(s, b'+' | b'-')));
    if !text.as_bytes().windows(3).any(exponent) {
        return;
    }
    let tokens = number_tokens(text);
    let mut numbers = Vec::new();
    collect_numbers(value, &mut numbers);
    // A repeated key drops numbers from the value; then the two lists do not pair up, and the
    // equal but rewritten numbers stay.
    if tokens.len() != numbers.len() {
        return;
    }
    for (token, number) in tokens.into_iter().zip(numbers) {
        if token.bytes().any(|byte| matches!(byte, b'e' | b'E')) {
            *number = serde_json::Number::from_string_unchecked(token.to_owned());
        }
    }
}

fn collect_numbers<'a>(value: &'a mut Value, numbers: &mut Vec<&'a mut serde_json::Number>) {
    match value {
        Value::Number(number) => numbers.push(number),
        Value::Array(items) => items.iter_mut().for_each(|item| collect_numbers(item, numbers)),
        Value::Object(fields) => {
            fields.values_mut().for_each(|field| collect_numbers(field, numbers));
        }
        _ => {}
    }
}

/// The number tokens of a valid JSON text, in order.
fn number_tokens(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let (mut at, mut quoted) = (0, false);
    while let Some(byte) = bytes.get(at) {
        match (quoted, byte) {
            (true, b'\\') => at += 2,
            (_, b'"') => {
                quoted = !quoted;
                at += 1;
            }
            (false, b'-' | b'0'..=b'9') => {
                let tail = text.get(at..).unwrap_or_default();
                let end = tail
                    .find(|c: char| !matches!(c, '0'..='9' | '+' | '-' | '.' | 'e' | 'E'))
                    .unwrap_or(tail.len());
                tokens.push(tail.get(..end).unwrap_or_default());
                at += end;
            }
            _ => at += 1,
        }
    }
    tokens
}

/// Replaces each `\uD8xx` escape that has no partner by `\uFFFD`, which JSON readers accept.
fn replace_lone_surrogates(text: &str) -> (Cow<'_, str>, usize) {
    if !text.contains("\\u") {
        return (Cow::Borrowed(text), 0);
    }
    let bytes = text.as_bytes();
    let mut out: Vec<u8> = Vec::new();
    let mut copied = 0;
    let mut count = 0;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        if *byte != b'\\' {
            at += 1;
            continue;
        }
        match unit(bytes, at) {
            Some(0xD800..=0xDBFF) if matches!(unit(bytes, at + 6), Some(0xDC00..=0xDFFF)) => {
                at += 12;
            }
            Some(0xD800..=0xDFFF) => {
                out.extend_from_slice(bytes.get(copied..at).unwrap_or_default());
                out.extend_from_slice(b"\\ufffd");
                count += 1;
                at += 6;
                copied = at;
            }
            Some(_) => at += 6,
            None => at += 2,
        }
    }
    if count == 0 {
        return (Cow::Borrowed(text), 0);
    }
    out.extend_from_slice(bytes.get(copied..).unwrap_or_default());
    (Cow::Owned(String::from_utf8_lossy(&out).into_owned()), count)
}

/// The UTF-16 unit of the escape `\uXXXX` at `at`, if there is one.
fn unit(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    let digits = std::str::from_utf8(digits).ok()?;
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(())?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_surrogates_are_replaced_and_counted() {
        for (text, want, count) in [
            (r#""a\ud800b""#, "a\u{FFFD}b", 1),
            (r#""\udc00\ud800""#, "\u{FFFD}\u{FFFD}", 2),
            (r#""\ud83e\udd80""#, "🦀", 0),
            (r#""\\ud800""#, "\\ud800", 0),
            (r#""\ud800\ud83e\udd80""#, "\u{FFFD}🦀", 1),
            (r#""\u0000""#, "\0", 0),
        ] {
            let repaired = parse_text(text).unwrap();
            assert_eq!(repaired.value, Value::from(want), "{text}");
            assert_eq!(repaired.surrogates, count, "{text}");
        }
    }

    #[test]
    fn bad_json_says_where() {
        assert!(parse(b"{\"a\":\xff}").unwrap_err().message().contains("byte 5"));
        assert!(parse_text("{\"a\":").unwrap_err().message().contains("column"));
        let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
        assert!(parse_text(&deep).unwrap_err().message().contains("nested"));
        assert!(parse_text("{} {}").is_err());
    }

    #[test]
    fn the_key_that_the_parser_reserves_is_refused_and_its_name_may_be_said() {
        let key = "$serde_json::private::Number";
        assert!(parse_text(&format!("{{\"{key}\" : \"1\"}}")).is_err());
        assert!(parse_text(&format!("{{\"a\": \"{key}\"}}")).is_ok());
    }

    #[test]
    fn numbers_and_key_order_are_kept() {
        let text = r#"{"z":1.0,"a":12345678901234567890123,"m":1e5,"n":-0,"k":0.10,"s":1E+2}"#;
        let value = parse_text(text).unwrap().value;
        assert_eq!(serde_json::to_string(&value).unwrap(), text);
        let repeated = parse_text(r#"{"a":1e5,"a":2E3}"#).unwrap().value;
        assert_eq!(repeated["a"].as_f64(), Some(2000.0));
    }
}
