//! Turns query strings and JSON bodies into fields, which the contract decodes.

use oneiro::contract::{Form, Reading, Request, decode};
use oneiro::{Error, Result, Timestamp, json};
use serde_json::{Map, Value};

/// Decodes a query string.
pub(crate) fn query<R: Request>(text: &str, now: Timestamp) -> Result<R> {
    let mut fields = Map::new();
    for pair in text.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let values = fields.entry(unescape(name)?).or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(values) = values {
            values.push(Value::String(unescape(value)?));
        }
    }
    Ok(decode(fields, Reading { form: Form::Query, now })?.request)
}

/// Decodes a body: one JSON object, or empty.
pub(crate) fn body<R: Request>(bytes: &[u8], now: Timestamp) -> Result<R> {
    let fields = match bytes {
        [] => Map::new(),
        bytes => object(json::parse(bytes)?.value)?,
    };
    Ok(decode(fields, Reading { form: Form::Json, now })?.request)
}

/// The fields of a JSON object.
pub(crate) fn object(value: Value) -> Result<Map<String, Value>> {
    match value {
        Value::Object(fields) => Ok(fields),
        _ => Err(Error::field("body", "is not a JSON object").remedy("send {\"field\": ...}")),
    }
}

/// Unescapes a part of a query string.
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

#[cfg(test)]
mod tests {
    use super::*;
    use oneiro::ListSessions;

    const NOW: Timestamp = Timestamp::from_micros(0);

    #[test]
    fn a_query_string_is_unescaped_and_may_repeat_a_list() {
        let request: ListSessions =
            query("limit=7&q=caf%C3%A9+au+lait&exclude_source=x&exclude_source=%26&all=true", NOW)
                .unwrap();
        assert_eq!((request.limit, request.all), (7, true));
        assert_eq!(request.matching.as_deref(), Some("café au lait"));
        assert_eq!(request.exclude_sources, ["x", "&"]);
    }

    #[test]
    fn a_query_string_that_is_not_encoded_is_refused() {
        for text in ["q=%", "q=%4", "q=%zz", "q=%ff", "q=%+1"] {
            assert_eq!(query::<ListSessions>(text, NOW).unwrap_err().http_status(), 400, "{text}");
        }
    }

    #[test]
    fn a_body_is_an_object_or_nothing() {
        assert!(body::<ListSessions>(b"", NOW).is_ok());
        for bad in [&b"[]"[..], b"1", b"{", b"\"x\""] {
            assert!(body::<ListSessions>(bad, NOW).is_err());
        }
    }
}
