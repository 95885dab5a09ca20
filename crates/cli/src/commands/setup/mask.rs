//! Masks secrets in what setup prints of other programs' files. What is written is never masked.

use oneiro::redact_secrets;
use regex::{Captures, Regex};
use std::sync::LazyLock;

/// What stands in place of a secret, as in summaries.
const MASKED: &str = "[secret]";

/// A value as JSON, TOML, YAML and shells write one: quoted, a list on one line, or bare.
const VALUE: &str =
    r#"(?P<value>"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|\[[^\]\n]*\]|[^\s"'\[{,}\]][^"',}\]\n]*)"#;

/// The end of a name whose value is a secret.
const SECRET_NAME: &str = r"(?:[\w.-]*(?:token|secret|passw(?:or)?d|passphrase|credential|cookie|authorization)[\w.-]*|(?:[\w.-]*[_.-])?auth(?:[_.-][\w.-]*)?|[\w.-]*auth|(?:[\w.-]*[_.-])?(?:keys?|pass)|\w*apikey|(?-i:\w*[a-z]Key))";

/// Such a name and its value.
static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(&format!(r#"(?i)(?P<name>\b{SECRET_NAME}["']?[ \t]*[:=][ \t]*){VALUE}"#)).ok()
});

/// A flag of such a name, and the argument after it: in the same text or the next item of a list,
/// which may be on the next line of a diff.
static FLAG: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let separator = r#"(?:["']?[ \t]*,[ \t]*(?:\n[ +-][ \t]*)?| +)"#;
    Regex::new(&format!("(?i)(?P<name>--?{SECRET_NAME}{separator}){VALUE}")).ok()
});

/// A variable of the environment and its value.
static VARIABLE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(&format!(r#"(?P<name>\b[A-Z][A-Z0-9_]+["']?[ \t]*[:=][ \t]*){VALUE}"#)).ok()
});

/// The shortest value of a variable that may be a secret.
const SECRET_MIN_CHARS: usize = 16;

/// The text with secrets masked: values of names such as `token` or `apiKey`, values of environment
/// variables that look like keys, and whatever matches a pattern of known secrets.
pub fn mask_secrets(text: &str) -> String {
    let is_secret = |value: &str| !is_harmless(value);
    let masked = replace(&NAMED, &redact_secrets(text), &is_secret);
    let masked = replace(&FLAG, &masked, &is_secret);
    let masked = replace(&VARIABLE, &masked, &looks_like_a_key);
    redact_secrets(&masked).into_owned()
}

fn replace(
    pattern: &LazyLock<Option<Regex>>,
    text: &str,
    is_secret: &dyn Fn(&str) -> bool,
) -> String {
    let Some(pattern) = pattern.as_ref() else { return MASKED.to_owned() };
    let masked = pattern.replace_all(text, |found: &Captures<'_>| {
        let (name, value) = (&found["name"], &found["value"]);
        let quote = value.chars().next().filter(|first| matches!(first, '"' | '\'' | '['));
        let inner = value.trim_matches(['"', '\'']);
        match quote {
            _ if inner == MASKED || !is_secret(inner) => found[0].to_owned(),
            Some('[') => format!("{name}[\"{MASKED}\"]"),
            Some(quote) => format!("{name}{quote}{MASKED}{quote}"),
            None => format!("{name}{MASKED}"),
        }
    });
    masked.into_owned()
}

/// Whether a value under the name of a secret is none: empty, a number, a switch, a reference to a
/// variable, or nothing but punctuation.
fn is_harmless(value: &str) -> bool {
    let is_reference = value.starts_with("${") || value.starts_with("{env:");
    let is_number = value.chars().all(|letter| letter.is_ascii_digit() || "._".contains(letter));
    let has_letters = value.chars().any(char::is_alphanumeric);
    let is_word = matches!(value, "true" | "false" | "null" | "none");
    !has_letters || is_number || is_word || is_reference
}

/// Whether the value of a variable looks like a key: long, of one piece, letters and digits mixed,
/// and no path or address.
fn looks_like_a_key(value: &str) -> bool {
    let is_one_piece =
        value.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_+/=.".contains(letter));
    let is_path = value.starts_with(['/', '~', '.']) || value.contains("://");
    value.len() >= SECRET_MIN_CHARS
        && is_one_piece
        && !is_path
        && value.chars().any(|letter| letter.is_ascii_digit())
        && value.chars().any(|letter| letter.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_secret_names_are_masked_in_every_form() {
        for (text, masked) in [
            (r#""apiKey": "abc","#, r#""apiKey": "[secret]","#),
            (r#"{"GITHUB_TOKEN":"x1","b":"c"}"#, r#"{"GITHUB_TOKEN":"[secret]","b":"c"}"#),
            ("bearer_token = 'abc'", "bearer_token = '[secret]'"),
            ("    password: hunter2", "    password: [secret]"),
            (r#""args": ["--api-key", "abc", "x"]"#, r#""args": ["--api-key", "[secret]", "x"]"#),
            ("   \"--token\",\n+  \"abc\",", "   \"--token\",\n+  \"[secret]\","),
            ("--token=abc", "--token=[secret]"),
            ("PASSWORD: my secret phrase", "PASSWORD: [secret]"),
            (r#""DB_PASS": "hunter2""#, r#""DB_PASS": "[secret]""#),
            (r#""API_KEYS": ["k1aaa","k2bbb"]"#, r#""API_KEYS": ["[secret]"]"#),
            (r#""AUTH_HEADER": "Bearer abc def""#, r#""AUTH_HEADER": "[secret]""#),
            (r#""auth_tokens": ["a1", "b2"]"#, r#""auth_tokens": ["[secret]"]"#),
            (r#""a secret": "with \" quote""#, r#""a secret": "[secret]""#),
        ] {
            assert_eq!(mask_secrets(text), masked);
        }
    }

    #[test]
    fn a_header_in_an_argument_is_masked() {
        let masked =
            mask_secrets(r#""args": ["--header","Authorization: Bearer SUPERtoken123456"]"#);
        assert!(!masked.contains("SUPERtoken"), "{masked}");
    }

    #[test]
    fn variables_that_look_like_keys_and_known_patterns_are_masked() {
        for (text, masked) in [
            (r#""BRAVE": "BSA1234567890abcdef""#, r#""BRAVE": "[secret]""#),
            (r#""x": "postgres://me:s3cr3t@host/db""#, r#""x": "postgres://me:[secret]@host/db""#),
            (r#""x": "ghp_abcdefghijklmnopqrst12""#, r#""x": "[secret]""#),
        ] {
            assert_eq!(mask_secrets(text), masked);
        }
    }

    #[test]
    fn other_values_stay() {
        for text in [
            r#"+      "command": "/usr/local/bin/oneiro","#,
            r#"+      "args": ["mcp", "--store", "/srv/ann/memory-2026"]"#,
            r#""description": "auth server, key to the door", "author": "Ann""#,
            r#""monkey": "see""#,
            "max_tokens = 4096",
            r#""tokens": true"#,
            r#""GH_TOKEN": "${GH_TOKEN}""#,
            " tokens:\n+  name: x",
            r#""HOME_FOLDER": "/srv/ann/projects/2026""#,
            r#""model": "some-model-4-20250514""#,
            "+++ /srv/ann/.claude.json",
            "@@ -1,3 +1,4 @@",
        ] {
            assert_eq!(mask_secrets(text), text);
        }
    }
}
