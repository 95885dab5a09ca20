//! Masks secrets in what setup prints of other programs' files. What is written is never masked.

use oneiro::redact_secrets;
use regex::{Captures, Regex};
use std::sync::LazyLock;

/// What stands in place of a secret, as in summaries.
const MASKED: &str = "[secret]";

/// A value as JSON, TOML, YAML and shells write one: quoted or bare.
const VALUE: &str = r#"(?P<value>"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^\s"'\[{,}\]][^"',}\]\n]*)"#;

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

/// Such a name before an object or a list.
static NAMED_GROUP: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(&format!(r#"(?i)\b{SECRET_NAME}["']?[ \t]*[:=][ \t]*[\[{{]"#)).ok()
});

/// Such a name on a line of its own, before the indented lines of YAML, or as a table of TOML.
static NAMED_LINES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let header = r#"["']?[ \t]*:[ \t]*[|>]?[+-]?[ \t]*(?:#.*)?$"#;
    Regex::new(&format!(
        r#"(?i)^[ \t-]*["']?{SECRET_NAME}{header}|^\[+(?:[^\]]*\.)?["']?{SECRET_NAME}["']?\]+"#
    ))
    .ok()
});

/// A quoted or bare text in an object or a list, and the sign after it if it is a name.
static GROUP_TEXT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let text = r#""(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^\s"'\[\]{},:=+-][^\s,\]}:=]*"#;
    Regex::new(&format!(r"(?P<value>{text})(?P<sign>[ \t]*[:=])?")).ok()
});

/// The shortest value of a variable that may be a secret.
const SECRET_MIN_CHARS: usize = 16;

/// The text with secrets masked: values of names such as `token` or `apiKey`, values of environment
/// variables that look like keys, and whatever matches a pattern of known secrets.
pub fn mask_secrets(text: &str) -> String {
    let is_secret = |value: &str| !is_harmless(value);
    let masked = mask_lines(&mask_groups(&redact_secrets(text)));
    let masked = replace(&NAMED, &masked, &is_secret);
    let masked = replace(&FLAG, &masked, &is_secret);
    let masked = replace(&VARIABLE, &masked, &looks_like_a_key);
    redact_secrets(&masked).into_owned()
}

/// Masks every value in an object or a list under the name of a secret, on however many lines.
fn mask_groups(text: &str) -> String {
    let Some(pattern) = NAMED_GROUP.as_ref() else { return MASKED.to_owned() };
    let (mut masked, mut at) = (String::new(), 0);
    while let Some(found) = pattern.find_at(text, at) {
        let open = found.end() - 1;
        let group = text.get(open..).unwrap_or_default();
        let group = group.get(..group_bytes(group)).unwrap_or(group);
        masked.push_str(text.get(at..open).unwrap_or_default());
        // A value that is masked looks like a list.
        masked.push_str(&if group == MASKED { group.to_owned() } else { mask_texts(group) });
        at = open + group.len();
    }
    masked.push_str(text.get(at..).unwrap_or_default());
    masked
}

/// How long the object or list is that a text begins with: the whole text if it does not end.
fn group_bytes(text: &str) -> usize {
    let (mut depth, mut quote, mut is_escaped) = (0_usize, None, false);
    for (at, letter) in text.char_indices() {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' if quote.is_some() => is_escaped = true,
            '"' | '\'' if quote == Some(letter) => quote = None,
            '"' | '\'' if quote.is_none() => quote = Some(letter),
            // No quoted text goes on after its line.
            '\n' => quote = None,
            '[' | '{' if quote.is_none() => depth += 1,
            ']' | '}' if quote.is_none() => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at + letter.len_utf8();
        }
    }
    text.len()
}

/// Masks every text that is not a name.
fn mask_texts(text: &str) -> String {
    let Some(pattern) = GROUP_TEXT.as_ref() else { return MASKED.to_owned() };
    let masked = pattern.replace_all(text, |found: &Captures<'_>| {
        let value = &found["value"];
        let inner = value.trim_matches(['"', '\'']);
        if found.name("sign").is_some() || is_harmless(inner) {
            return found[0].to_owned();
        }
        match value.chars().next().filter(|first| matches!(first, '"' | '\'')) {
            Some(quote) => format!("{quote}{MASKED}{quote}"),
            None => MASKED.to_owned(),
        }
    });
    masked.into_owned()
}

/// The lines that belong to the name of a secret.
#[derive(Clone, Copy)]
enum SecretLines {
    /// YAML: those that are indented further.
    IndentedOver(usize),
    /// TOML: those before the next table.
    Table,
}

/// Masks the lines of YAML and TOML under the name of a secret.
fn mask_lines(text: &str) -> String {
    let Some(pattern) = NAMED_LINES.as_ref() else { return MASKED.to_owned() };
    let mut secret = None;
    let mut masked = String::new();
    for line in text.split_inclusive('\n') {
        // The first sign of a line of a diff is no part of it.
        let inner = line.strip_prefix(['+', '-', ' ']).unwrap_or(line).trim_end();
        let indent = inner.len() - inner.trim_start_matches([' ', '\t']).len();
        let is_header = inner.trim_start().starts_with('[');
        secret = secret.filter(|secret| match secret {
            SecretLines::IndentedOver(over) => {
                inner.is_empty()
                    || indent > *over
                    || indent == *over && inner.trim_start().starts_with("- ")
            }
            SecretLines::Table => !is_header && !line.starts_with("@@"),
        });
        if secret.is_some() {
            masked.push_str(&mask_line(line));
            continue;
        }
        if pattern.is_match(inner) {
            secret = Some(if is_header {
                SecretLines::Table
            } else {
                SecretLines::IndentedOver(indent)
            });
        }
        masked.push_str(line);
    }
    masked
}

/// Masks the value of a line: what comes after its name, or all of it.
fn mask_line(line: &str) -> String {
    let end = line.len() - line.trim_end().len();
    let (line, end) = line.split_at(line.len() - end);
    let marks = line.len() - line.trim_start_matches(['+', '-', ' ', '\t']).len();
    let (_, words) = line.split_at(marks);
    let value = [": ", "= "].iter().filter_map(|sign| words.find(sign)).min().map(|at| at + 2);
    let name = marks + value.unwrap_or(if words.ends_with(':') { words.len() } else { 0 });
    let (name, value) = line.split_at(name);
    if is_harmless(value.trim_matches(['"', '\''])) {
        return format!("{name}{value}{end}");
    }
    format!("{name}{MASKED}{end}")
}

fn replace(
    pattern: &LazyLock<Option<Regex>>,
    text: &str,
    is_secret: &dyn Fn(&str) -> bool,
) -> String {
    let Some(pattern) = pattern.as_ref() else { return MASKED.to_owned() };
    let masked = pattern.replace_all(text, |found: &Captures<'_>| {
        let (name, value) = (&found["name"], &found["value"]);
        let quote = value.chars().next().filter(|first| matches!(first, '"' | '\''));
        let inner = value.trim_matches(['"', '\'']);
        match quote {
            _ if inner == MASKED || !is_secret(inner) => found[0].to_owned(),
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
            (r#""API_KEYS": ["k1aaa","k2bbb"]"#, r#""API_KEYS": ["[secret]","[secret]"]"#),
            (r#""AUTH_HEADER": "Bearer abc def""#, r#""AUTH_HEADER": "[secret]""#),
            (r#""auth_tokens": ["a1", "b2"]"#, r#""auth_tokens": ["[secret]", "[secret]"]"#),
            (r#""a secret": "with \" quote""#, r#""a secret": "[secret]""#),
        ] {
            assert_eq!(mask_secrets(text), masked);
        }
    }

    #[test]
    fn everything_under_the_name_of_a_secret_is_masked() {
        for (text, masked) in [
            (r#""token": {"value": "abc", "n": 5}"#, r#""token": {"value": "[secret]", "n": 5}"#),
            (
                r#""apiKey": {"a": {"b": ["x1"]}}, "c": "d""#,
                r#""apiKey": {"a": {"b": ["[secret]"]}}, "c": "d""#,
            ),
            (
                "+  \"tokens\": [\n+    \"abc\",\n+    \"d]f\"\n+  ],\n+  \"b\": \"c\"",
                "+  \"tokens\": [\n+    \"[secret]\",\n+    \"[secret]\"\n+  ],\n+  \"b\": \"c\"",
            ),
            ("tokens = [\n  'abc',\n]\nx = 'y'", "tokens = [\n  '[secret]',\n]\nx = 'y'"),
            ("secret = { value = \"abc\" }", "secret = { value = \"[secret]\" }"),
            (
                "+token:\n+  value: abc\n+  list:\n+    - def\n+other: x",
                "+token:\n+  value: [secret]\n+  list:\n+    - [secret]\n+other: x",
            ),
            ("keys:\n- abc\n- def\nname: x", "keys:\n- [secret]\n- [secret]\nname: x"),
            (
                "password: |\n  hunter2\n  hunter3\nname: x",
                "password: |\n  [secret]\n  [secret]\nname: x",
            ),
            (
                " [servers.a.credentials]\n user = \"ann\"\n+pin = \"abc\"\n [servers.b]\n c = \"d\"",
                " [servers.a.credentials]\n user = [secret]\n+pin = [secret]\n [servers.b]\n c = \"d\"",
            ),
            // What is cut off is masked to the end.
            ("\"token\": {\n  \"a\": \"abc\",", "\"token\": {\n  \"a\": \"[secret]\","),
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
            " tokens:\n+name: x",
            r#""HOME_FOLDER": "/srv/ann/projects/2026""#,
            r#""model": "some-model-4-20250514""#,
            "+++ /srv/ann/.claude.json",
            "@@ -1,3 +1,4 @@",
        ] {
            assert_eq!(mask_secrets(text), text);
        }
    }
}
