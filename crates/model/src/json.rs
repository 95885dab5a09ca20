//! Parses JSON from outside: lone surrogates are replaced by U+FFFD and counted, nesting is
//! limited, and errors have a position.

mod parser;

use self::parser::Parser;
use crate::{Error, Result};
use serde_json::Value;

/// A JSON value whose lone surrogates were replaced.
#[derive(Debug)]
pub struct Repaired {
    /// The value.
    pub value: Value,
    /// The number of replaced surrogates.
    pub surrogates: usize,
}

/// Parses one JSON value from bytes.
pub fn parse(bytes: &[u8]) -> Result<Repaired> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        Error::invalid(format!("not UTF-8 at byte {}", error.valid_up_to()))
            .remedy("send JSON encoded as UTF-8")
    })?;
    parse_text(text)
}

/// Parses one JSON value from text.
pub fn parse_text(text: &str) -> Result<Repaired> {
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let mut parser = Parser { text, at: 0, surrogates: 0 };
    let value = parser.document()?;
    Ok(Repaired { value, surrogates: parser.surrogates })
}

/// The maximum nesting that is stored. An export nests it once more and must still be readable.
pub const MAX_STORED_DEPTH: usize = 120;

/// Fails for a value that is nested too deeply to be read back.
pub fn check_depth(field: &'static str, value: &Value) -> Result<()> {
    if is_within(value, MAX_STORED_DEPTH) {
        Ok(())
    } else {
        Err(Error::field(field, format!("is nested deeper than {MAX_STORED_DEPTH} levels"))
            .remedy("flatten it, or send the inner part as a string"))
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
    fn keys_that_the_library_reserves_are_keys_like_any_other() {
        for text in [
            r#"{"$serde_json::private::Number":"1"}"#,
            r#"{"a":{"$serde_json::private::RawValue":"12"}}"#,
        ] {
            let value = parse_text(text).unwrap().value;
            assert_eq!(serde_json::to_string(&value).unwrap(), text);
        }
    }

    #[test]
    fn a_repeated_key_keeps_its_place_and_takes_its_last_value() {
        let value = parse_text(r#"{"a":"s","b":1e5,"a":2e3}"#).unwrap().value;
        assert_eq!(serde_json::to_string(&value).unwrap(), r#"{"a":2e3,"b":1e5}"#);
    }

    #[test]
    fn what_is_not_json_is_refused() {
        for bad in [
            "",
            " ",
            "{",
            "[1,]",
            "{\"a\":1,}",
            "{a:1}",
            "01",
            "1.",
            "1e",
            "+1",
            "-",
            ".5",
            "nul",
            "tru",
            "\"a",
            "\"\\x\"",
            "\"\\u12g4\"",
            "\"\u{1}\"",
            "[1 2]",
            "{\"a\" 1}",
            "'a'",
            "NaN",
            "[1]]",
            "{\"a\":}",
            "\"\\u00\"",
        ] {
            assert!(parse_text(bad).is_err(), "{bad:?}");
        }
        for good in
            ["0", "-0", "1e400", "1E-5", "[ ]", "{ }", " null ", "\"\"", "\"\\/\\b\\f\\n\\r\\t\""]
        {
            assert!(parse_text(good).is_ok(), "{good:?}");
        }
    }

    proptest::proptest! {
        #![proptest_config(oneiro_testkit::proptest_config(256))]

        #[test]
        fn agrees_with_the_library(text in r#"[\[\]{}:,"\\a0-9eE.+\- tfn]{0,12}"#) {
            let theirs: Option<Value> = serde_json::from_str(&text).ok();
            let ours = parse_text(&text).ok().map(|repaired| repaired.value);
            proptest::prop_assert_eq!(ours.is_some(), theirs.is_some());
            // Exponents are spelled differently, so the parsed values are compared.
            let again = ours.map(|value| serde_json::from_str::<Value>(&value.to_string()).unwrap());
            proptest::prop_assert_eq!(again, theirs);
        }

        #[test]
        fn strings_come_back(text in ".*") {
            let value = Value::String(text);
            let written = serde_json::to_string(&value).unwrap();
            proptest::prop_assert_eq!(parse_text(&written).unwrap().value, value);
        }
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
