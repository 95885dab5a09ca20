//! Addresses of the page's own views. It must not know what they show.

use oneiro::{MemoryId, MessageId, NoteName, SessionId, SummaryId};

/// The conversation of a session.
pub fn session(id: &SessionId) -> String {
    format!("/sessions/{}", encoded(id.as_str()))
}

/// The conversation of a session, opened at a message.
pub fn at(id: &SessionId, message: MessageId) -> String {
    format!("{}?at={message}#m{message}", session(id))
}

/// The summaries of a session.
pub fn summaries(id: &SessionId) -> String {
    format!("{}/summaries", session(id))
}

/// One summary, as a session sees it.
pub fn summary(id: &SessionId, summary: &SummaryId) -> String {
    format!("{}/{}", summaries(id), encoded(summary.as_str()))
}

/// What an agent would get of a session.
pub fn window(id: &SessionId) -> String {
    format!("{}/window", session(id))
}

/// A whole message.
pub fn message(id: MessageId) -> String {
    format!("/messages/{id}")
}

/// A memory.
pub fn memory(id: &MemoryId) -> String {
    format!("/memories/{}", encoded(id.as_str()))
}

/// A note.
pub fn note(name: &NoteName) -> String {
    format!("/notes/{}", encoded(name.as_str()))
}

/// A path with a query; empty values are left out.
pub fn query(path: &str, pairs: &[(&str, &str)]) -> String {
    let mut out = path.to_owned();
    for (name, value) in pairs.iter().filter(|(_, value)| !value.is_empty()) {
        out.push(if out.len() == path.len() { '?' } else { '&' });
        out.push_str(name);
        out.push('=');
        out.push_str(&encoded(value));
    }
    out
}

/// Text as one part of a path or query.
pub fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_one_part_of_a_path() {
        let id = SessionId::new("a/b?c#d \u{e9}\"<%2F").unwrap();
        assert_eq!(session(&id), "/sessions/a%2Fb%3Fc%23d%20%C3%A9%22%3C%252F");
        assert_eq!(
            query("/search", &[("q", ""), ("role", "user"), ("q", "a&b")]),
            "/search?role=user&q=a%26b"
        );
        assert_eq!(query("/search", &[("q", "")]), "/search");
    }
}
