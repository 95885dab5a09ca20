//! Notes and summaries as resources: a list of the notes and of the newest summaries, a note as it is,
//! and a summary as Markdown with links to those below and above it. It does not know the protocol.

use crate::recalled::{delimit, lines, quoted};
use oneiro::{ContextScope, Error, ListNotes, NoteInfo, NoteName, Oneiro, Result, Summary};
use std::fmt::Write;

/// The URI of a summary without its id.
const SCHEME: &str = "oneiro://summary/";

/// The URIs, as an RFC 6570 template.
pub(crate) const TEMPLATE: &str = "oneiro://summary/{id}";

/// The URI of a note without its name, whose slashes are escaped.
const NOTE_SCHEME: &str = "oneiro://note/";

/// The URIs of notes.
pub(crate) const NOTE_TEMPLATE: &str = "oneiro://note/{name}";

/// The media type of a resource.
pub(crate) const MARKDOWN: &str = "text/markdown";

/// Maximum number of summaries in a list.
pub(crate) const MAX_LISTED_IDS: usize = 50;

/// An entry of the list.
pub(crate) struct Listed {
    pub(crate) uri: String,
    pub(crate) name: String,
    pub(crate) description: String,
}

/// The notes, by name, then the newest summaries.
pub(crate) fn list(oneiro: &Oneiro) -> Result<Vec<Listed>> {
    let note = |note: NoteInfo| Listed {
        uri: format!("{NOTE_SCHEME}{}", escaped(note.name.as_str())),
        name: quoted(note.name.as_str()),
        description: format!("note, {} characters", note.chars),
    };
    let notes = oneiro.notes().list(&ListNotes::default())?;
    let notes = notes.into_iter().take(MAX_LISTED_IDS).map(note);
    Ok(notes.chain(summaries(oneiro)?).collect())
}

/// Escapes what does not stand for itself in a URI.
fn escaped(name: &str) -> String {
    let mut uri = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'~' | b'.' => {
                uri.push(char::from(byte));
            }
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri
}

/// The name of a note in a URI.
fn unescaped(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first == b'%' {
            let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = rest.get(2..)?;
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok()
}

/// The newest summaries; none where the space refuses reads beyond a session, since none could be
/// read.
fn summaries(oneiro: &Oneiro) -> Result<Vec<Listed>> {
    let settings = oneiro.settings().list()?;
    if settings.iter().any(|one| one.name == "other_sessions" && one.value == "refuse") {
        return Ok(Vec::new());
    }
    let listed = |summary: Summary| Listed {
        uri: format!("{SCHEME}{}", summary.id),
        name: name(&summary),
        description: format!(
            "session {}, depth {}",
            quoted(summary.session_id.as_str()),
            summary.depth
        ),
    };
    Ok(oneiro.context().newest_summaries(MAX_LISTED_IDS)?.into_iter().map(listed).collect())
}

/// A note or a summary as Markdown.
pub(crate) fn read(oneiro: &Oneiro, uri: &str) -> Result<String> {
    if let Some(name) = uri.strip_prefix(NOTE_SCHEME).and_then(unescaped) {
        let note = oneiro.notes().get(&NoteName::parse(&name)?)?;
        return Ok(format!("{}\n", delimit(&lines(&oneiro::without_blocked(&note.content)))));
    }
    let is_plain = |letter: u8| letter.is_ascii_alphanumeric() || letter == b'_';
    let id = uri.strip_prefix(SCHEME).filter(|id| id.bytes().all(is_plain));
    let not_found = || {
        let shown: String = uri.chars().take(100).collect();
        Error::not_found(format!("there is no resource {shown:?}"))
            .remedy("resources/list lists the newest; memory_context shows the ids of others")
    };
    let id = id.filter(|id| id.starts_with("sum_")).ok_or_else(not_found)?;
    let summary = oneiro.context().summary(id, &ContextScope::Space)?;
    let mut text = format!("# {}\n\n", name(&summary));
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "- summary: {}\n- session: {}\n- depth: {}, by {}\n",
        summary.id,
        quoted(summary.session_id.as_str()),
        summary.depth,
        summary.level.as_str()
    );
    if let (Some(first), Some(last)) = (summary.first_message, summary.last_message) {
        let _ = writeln!(text, "- messages: {first} to {last}");
    }
    let _ = write!(text, "\n{}\n", delimit(&lines(&summary.content)));
    for (title, ids) in
        [("Summaries below", &summary.children), ("Summaries above", &summary.parents)]
    {
        if !ids.is_empty() {
            let _ = write!(text, "\n## {title}\n\n");
            ids.iter().for_each(|id| {
                let _ = writeln!(text, "- [{id}]({SCHEME}{id})");
            });
        }
    }
    Ok(text)
}

/// The name of a summary: the days and the number of messages that it covers.
fn name(summary: &Summary) -> String {
    let (first, last) = (summary.earliest_at.date_text(), summary.latest_at.date_text());
    let days = if first == last { first } else { format!("{first} to {last}") };
    match summary.message_count {
        0 => format!("{days}, written by hand"),
        1 => format!("{days}, 1 message"),
        many => format!("{days}, {many} messages"),
    }
}
