//! Redacts secrets, by pattern, from derived text such as summaries. Messages are stored unchanged.

use regex::{Regex, RegexSet};
use std::borrow::Cow;
use std::sync::LazyLock;

/// The replacement of a secret.
const REDACTED: &str = "[secret]";

/// The group `s` of each pattern is the secret.
const PATTERNS: &[&str] = &[
    r"(?s)(?P<s>-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z))",
    r"\b(?P<s>(?:sk|pk|rk)-[A-Za-z0-9_-]{16,})",
    r"\b(?P<s>gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,})",
    r"\b(?P<s>(?:AKIA|ASIA)[A-Z0-9]{16})\b",
    r"\b(?P<s>xox[abprs]-[A-Za-z0-9-]{10,})",
    r"\b(?P<s>AIza[A-Za-z0-9_-]{30,})",
    r"\b(?P<s>oneiro_[a-z0-9][a-z0-9_-]{0,47}_[A-Za-z0-9]{32,})",
    r"\b(?P<s>eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,})",
    r"(?i)\b(?:authorization|proxy-authorization)\s*:\s*(?:bearer|basic)\s+(?P<s>[A-Za-z0-9._~+/=-]{8,})",
    r#"(?i)\b(?:password|passwd|pwd|secret|api[_-]?key|access[_-]?token|auth[_-]?token)["']?\s*[:=]\s*["']?(?P<s>[^\s"',;]{6,})"#,
    r"(?i)\b[a-z][a-z0-9+.-]*://[^\s:/@]+:(?P<s>[^\s@/]{3,})@",
];

static SECRETS: LazyLock<Vec<Regex>> =
    LazyLock::new(|| PATTERNS.iter().filter_map(|pattern| Regex::new(pattern).ok()).collect());

/// All patterns in one set: most texts contain no secret and need one scan.
static ANY: LazyLock<Option<RegexSet>> = LazyLock::new(|| RegexSet::new(PATTERNS).ok());

/// The text with its secrets redacted.
pub(super) fn redact(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    let found: Vec<usize> = match ANY.as_ref() {
        Some(any) => any.matches(&text).into_iter().collect(),
        None => (0..PATTERNS.len()).collect(),
    };
    for pattern in found.into_iter().filter_map(|at| SECRETS.get(at)) {
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
            ("postgres://me:s3cr3t@host/db", "postgres://me:[secret]@host/db"),
            ("Authorization: Bearer abcdef.ghijkl", "Authorization: Bearer [secret]"),
            ("the password policy is: twelve letters", "the password policy is: twelve letters"),
            (
                "a -----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY----- b",
                "a [secret] b",
            ),
            ("we sk-ipped it", "we sk-ipped it"),
        ] {
            assert_eq!(redact(text), left);
        }
    }
}
