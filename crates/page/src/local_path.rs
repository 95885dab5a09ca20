//! Paths of this server that a browser may be sent to. Whatever a browser could read as the address
//! of another site is not one.

use std::fmt;

/// The most bytes of a path; the page's own addresses are far shorter, and a longer one would make
/// a `Location` header that proxies refuse.
const MAX_BYTES: usize = 2_048;

/// A path with an optional query, on this server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalPath(String);

impl LocalPath {
    /// Takes a path that is nothing but a path, still percent-encoded: one slash first, then only
    /// characters that RFC 3986 allows in a path and a query. Browsers drop tabs and line breaks and
    /// read a backslash as a slash, so neither may be there, encoded or not; empty and dot segments
    /// are refused because servers and proxies disagree about what they mean.
    pub fn parse(text: &str) -> Option<LocalPath> {
        let is_plain = text.len() <= MAX_BYTES && text.bytes().all(is_allowed);
        let (path, query) = text.split_once('?').unwrap_or((text, ""));
        let segments = decoded(path)?;
        let segments = segments.strip_prefix('/')?;
        let is_segment = |segment: &str| !matches!(segment, "" | "." | "..");
        let is_path = segments.is_empty() || segments.split('/').all(is_segment);
        let has_no_trick = |text: &str| !text.contains(|c: char| c.is_control() || c == '\\');
        let is_harmless = has_no_trick(segments) && has_no_trick(&decoded(query)?);
        (is_plain && is_path && is_harmless).then(|| LocalPath(text.to_owned()))
    }

    /// The path as it is sent.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for LocalPath {
    /// The first page.
    fn default() -> LocalPath {
        LocalPath("/".to_owned())
    }
}

impl fmt::Display for LocalPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The characters of a path and a query in RFC 3986.
fn is_allowed(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?%".contains(&byte)
}

/// Text without its percent-encoding; nothing if that is broken or not UTF-8.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || char::from(rest.next()?).to_digit(16);
        let (high, low) = (digit()?, digit()?);
        bytes.push(u8::try_from(high * 16 + low).ok()?);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_the_page_are_taken_as_they_are() {
        for path in [
            "/",
            "/search",
            "/search?q=tea+and%20milk&role=user",
            "/search?q=http://example.org/a//b",
            "/search?",
            "/sessions/a%2Fb?at=3",
            "/sessions/%D1%87%D0%B0%D0%B9/summaries/sum_a",
            "/sessions/mail@example.org:7",
            "/sessions/...",
        ] {
            assert_eq!(LocalPath::parse(path).as_ref().map(LocalPath::as_str), Some(path));
        }
    }

    #[test]
    fn whatever_could_lead_to_another_site_is_refused() {
        let long = format!("/{}", "a".repeat(MAX_BYTES));
        for path in [
            "",
            "x",
            "evil.example",
            "https://evil.example",
            "https:evil.example",
            "HtTpS:/evil.example",
            "javascript:alert(1)",
            "data:text/html,x",
            "//evil.example",
            "///evil.example",
            "////evil.example/",
            "/\\evil.example",
            "\\/evil.example",
            "\\\\evil.example",
            "/a\\b",
            "/\t/evil.example",
            "\t//evil.example",
            "/\t\\evil.example",
            "/\n/evil.example",
            "/\r\n/evil.example",
            "/a\r\nLocation: https://evil.example",
            "/\0/evil.example",
            "/ /evil.example",
            " //evil.example",
            "/\u{b}/evil.example",
            "/\u{7f}/evil.example",
            "/\u{85}/evil.example",
            "/\u{2028}/evil.example",
            "/\u{2f}/evil.example",
            "/\u{2044}/evil.example",
            "/\u{2215}evil.example",
            "/\u{ff0f}evil.example",
            "\u{ff0f}\u{ff0f}evil.example",
            "/\u{ff3c}evil.example",
            "/%09/evil.example",
            "/%0a/evil.example",
            "/%0D%0A/evil.example",
            "/%00/evil.example",
            "/%2Fevil.example",
            "/%2f%2fevil.example",
            "%2F/evil.example",
            "%2F%2Fevil.example",
            "/%5Cevil.example",
            "/%5c%5cevil.example",
            "/a/%5C/evil.example",
            "/%C2%85/evil.example",
            "/%zz",
            "/%2",
            "/%",
            "/%+1",
            "/%FF%FE",
            "/.//evil.example",
            "/..//evil.example",
            "/a//evil.example",
            "/./evil.example",
            "/../evil.example",
            "/%2e%2e/evil.example",
            "/a/..",
            "/search?q=%0d%0aSet-Cookie:x",
            "/search?q=\\",
            "/search#//evil.example",
            "/@evil.example/<script>",
            "?next=//evil.example",
            long.as_str(),
        ] {
            assert_eq!(LocalPath::parse(path), None, "{path:?}");
        }
    }
}
