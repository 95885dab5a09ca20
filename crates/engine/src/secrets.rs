//! Secrets, known by their patterns: taken out of what is derived, since a summary outlives the place
//! where a key was pasted, and found in what is stored, so that people can erase it. Messages
//! themselves stay as they were written.

use crate::Oneiro;
use crate::views::Capture;
use oneiro_model::host::PageRequest;
use oneiro_model::{EraseTarget, Erased, Message, MessageId, Result, StoredSecret};
use oneiro_store::{SessionRef, messages, sessions};
use regex::{Regex, RegexSet};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// What stands in place of a secret.
const REDACTED: &str = "[secret]";

/// Names and patterns; each pattern has the secret in its group `s`. A text that several match is
/// named by the first. Word boundaries are those of ASCII: with Unicode ones the engine
/// cannot use its automaton for texts outside ASCII, and takes ten times as long.
const PATTERNS: &[(&str, &str)] = &[
    (
        "private key",
        r"(?s)(?P<s>-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z))",
    ),
    (
        "API key (sk-, pk-, rk-)",
        r"(?-u:\b)(?P<s>(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}|(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{16,})",
    ),
    (
        "GitHub or GitLab token",
        r"(?-u:\b)(?P<s>gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,})",
    ),
    ("AWS access key", r"(?-u:\b)(?P<s>(?:AKIA|ASIA)[A-Z0-9]{16})(?-u:\b)"),
    ("Slack token", r"(?-u:\b)(?P<s>xox[abprs]-[A-Za-z0-9-]{10,})"),
    ("Google API key", r"(?-u:\b)(?P<s>AIza[A-Za-z0-9_-]{30,})"),
    ("Oneiro token", r"(?-u:\b)(?P<s>oneiro_[a-z0-9][a-z0-9_-]{0,47}_[A-Za-z0-9]{32,})"),
    (
        "JSON web token",
        r"(?-u:\b)(?P<s>eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,})",
    ),
    (
        "authorization header",
        r"(?i)(?-u:\b)(?:authorization|proxy-authorization)\s*:\s*(?:bearer|basic)\s+(?P<s>[A-Za-z0-9._~+/=-]{8,})",
    ),
    (
        "password or key assignment",
        r#"(?i)(?-u:\b)(?:[a-z0-9]+[_-])*(?:password|passwd|pwd|secret|api[_-]?key|access[_-]?token|auth[_-]?token)(?:[_-][a-z0-9]+)*\\?["']?\s*[:=]\s*\\?["']?(?P<s>[^\s"',;\\]{6,})"#,
    ),
    ("password in a URL", r"(?i)(?-u:\b)[a-z][a-z0-9+.-]*://[^\s:/@]+:(?P<s>[^\s@/]{3,})@"),
];

static SECRETS: LazyLock<Vec<Regex>> =
    LazyLock::new(|| PATTERNS.iter().filter_map(|(_, pattern)| Regex::new(pattern).ok()).collect());

/// All patterns at once: most texts have no secret, and are gone through once.
static ANY: LazyLock<Option<RegexSet>> =
    LazyLock::new(|| RegexSet::new(PATTERNS.iter().map(|(_, pattern)| pattern)).ok());

/// The patterns that may match a text: their names and themselves.
fn matching(text: &str) -> impl Iterator<Item = (&'static str, &'static Regex)> {
    let found: Vec<usize> = match ANY.as_ref() {
        Some(any) => any.matches(text).into_iter().collect(),
        None => (0..PATTERNS.len()).collect(),
    };
    found.into_iter().filter_map(|at| Some((PATTERNS.get(at)?.0, SECRETS.get(at)?)))
}

/// The text without secrets.
pub fn redact_secrets(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    for (_, pattern) in matching(&text.clone()) {
        let mut out = String::new();
        let mut end = 0;
        for found in pattern.captures_iter(&text) {
            let Some(secret) = found.name("s") else { continue };
            out.push_str(text.get(end..secret.start()).unwrap_or_default());
            out.push_str(REDACTED);
            end = secret.end();
        }
        if end > 0 {
            out.push_str(text.get(end..).unwrap_or_default());
            text = Cow::Owned(out);
        }
    }
    text
}

/// Sessions and messages that are read at once.
const READ_BATCH_ROWS: usize = 256;

impl Capture<'_> {
    /// Hands over every secret in the messages of the space, those that are hidden included.
    pub fn each_secret(&self, each: &mut dyn FnMut(StoredSecret)) -> Result<()> {
        let store = &self.oneiro.store;
        let mut last_session = i64::MIN;
        loop {
            let keys = store.read(|tx| sessions::keys_after(tx, last_session, READ_BATCH_ROWS))?;
            let Some(last) = keys.last() else { return Ok(()) };
            last_session = *last;
            for key in keys {
                each_message(self.oneiro, key, &mut |message| find_in_message(message, each))?;
            }
        }
    }

    /// Erases messages for good, all at once.
    pub fn erase_messages(&self, ids: &BTreeSet<MessageId>) -> Result<Erased> {
        let targets: Vec<EraseTarget> = ids.iter().copied().map(EraseTarget::Message).collect();
        self.oneiro.erase_all(&targets)
    }
}

fn each_message(oneiro: &Oneiro, key: i64, each: &mut dyn FnMut(&Message)) -> Result<()> {
    let mut page = PageRequest { after: 0, hidden: true, limit: READ_BATCH_ROWS };
    loop {
        let found = oneiro.store.read(|tx| match sessions::id_and_project(tx, key)? {
            Some((id, _)) => messages::page(tx, SessionRef { key, id: &id }, page),
            None => Ok(Vec::new()),
        })?;
        let Some(last) = found.last() else { return Ok(()) };
        page.after = last.id.0;
        found.iter().for_each(&mut *each);
    }
}

fn find_in_message(message: &Message, each: &mut dyn FnMut(StoredSecret)) {
    for (name, value) in &message.body {
        find_in_value(value, name, &mut |pattern, place, secret| {
            each(StoredSecret {
                pattern,
                session_id: message.session_id.clone(),
                message_id: message.id,
                place: place.to_owned(),
                masked: mask(secret),
            });
        });
    }
}

/// Hands over the secrets in a value: the pattern, the place and the text of each, once.
fn find_in_value(value: &Value, place: &str, each: &mut dyn FnMut(&'static str, &str, &str)) {
    match value {
        Value::String(text) => {
            let mut taken: Vec<std::ops::Range<usize>> = Vec::new();
            for (name, pattern) in matching(text) {
                for secret in pattern.captures_iter(text).filter_map(|found| found.name("s")) {
                    let range = secret.range();
                    if taken
                        .iter()
                        .all(|other| range.end <= other.start || other.end <= range.start)
                    {
                        each(name, place, secret.as_str());
                        taken.push(range);
                    }
                }
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                find_in_value(item, &format!("{place}.{at}"), each);
            }
        }
        Value::Object(fields) => {
            for (name, item) in fields {
                find_in_value(item, &format!("{place}.{name}"), each);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Letters of a secret that are shown: enough to know it again, and few of what must be guessed.
const SHOWN_CHARS: usize = 4;

/// The beginning of a secret, if it is long enough to give that away, and its length.
fn mask(secret: &str) -> String {
    let length = secret.chars().count();
    let shown: String = if length >= 4 * SHOWN_CHARS {
        secret.chars().take(SHOWN_CHARS).collect()
    } else {
        String::new()
    };
    format!("{shown}… ({length} characters)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_is_one() {
        assert_eq!(SECRETS.len(), PATTERNS.len());
    }

    #[test]
    fn secrets_go_and_words_stay() {
        for (text, left) in [
            ("use sk-abcdefghijklmnop1234 now", "use [secret] now"),
            ("password: hunter2hunter2, ok", "password: [secret], ok"),
            ("API_KEY=\"abcdef123456\" ran", "API_KEY=\"[secret]\" ran"),
            ("DB_PASSWORD=hunter2hunter2", "DB_PASSWORD=[secret]"),
            ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI", "AWS_SECRET_ACCESS_KEY=[secret]"),
            (r#"{\"password\": \"hunter2hunter2\"}"#, r#"{\"password\": \"[secret]\"}"#),
            ("the secretary: somebody in the office", "the secretary: somebody in the office"),
            ("postgres://me:s3cr3t@host/db", "postgres://me:[secret]@host/db"),
            ("Authorization: Bearer abcdef.ghijkl", "Authorization: Bearer [secret]"),
            ("the password policy is: twelve letters", "the password policy is: twelve letters"),
            (
                "a -----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY----- b",
                "a [secret] b",
            ),
            ("we sk-ipped it", "we sk-ipped it"),
        ] {
            assert_eq!(redact_secrets(text), left);
        }
    }

    fn found(value: serde_json::Value) -> Vec<(&'static str, String, String)> {
        let mut found = Vec::new();
        find_in_value(&value, "content", &mut |pattern, place, secret| {
            found.push((pattern, place.to_owned(), mask(secret)));
        });
        found
    }

    #[test]
    fn a_secret_is_named_once_with_its_place_and_never_shown_whole() {
        let key = "sk-abcdefghijklmnop1234";
        let value = serde_json::json!([{"text": format!("API_KEY={key}")}, "pwd: hunter2"]);
        assert_eq!(
            found(value),
            [
                (
                    "API key (sk-, pk-, rk-)",
                    "content.0.text".into(),
                    "sk-a… (23 characters)".into()
                ),
                ("password or key assignment", "content.1".into(), "… (7 characters)".into()),
            ]
        );
        assert!(found(serde_json::json!({"text": "no secret", "n": 5})).is_empty());
    }
}
