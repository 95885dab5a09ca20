//! `oneiro session history`: what a session shows, set or shortened as other agents' session stores
//! do it.

use super::show::{Length, message_text};
use crate::context::Context;
use crate::input::Lines;
use crate::output::count;
use crate::places::Places;
use crate::style::Style;
use clap::Args;
use oneiro::{Error, Message, NewMessage, Page};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// The longest JSON list that is read.
const LIST_BYTES: u64 = 1 << 30;

/// Show, set or shorten the visible messages of a session; nothing is deleted
///
/// With --set, the session shows exactly these messages: a common beginning is kept, other visible
/// messages are hidden, and new ones are appended. With --keep, all but the newest messages are
/// hidden. With neither, the visible messages are printed. `oneiro session show SESSION --all` prints
/// the hidden ones too.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  oneiro session history monday --json
  oneiro session history monday --set messages.jsonl      or a JSON list of messages
  oneiro session history monday --keep 20")]
pub struct HistoryArgs {
    /// The session
    session: String,
    /// Messages to show: a JSONL file or a JSON list, or - for standard input
    #[arg(long, value_name = "FILE|-", conflicts_with = "keep")]
    set: Option<PathBuf>,
    /// Hide all but this many of the newest messages
    #[arg(long, value_name = "N")]
    keep: Option<usize>,
}

impl HistoryArgs {
    /// Shows, sets or shortens.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        if let Some(path) = &self.set {
            // Before the store is opened: a slow pipe must not hold anything up.
            let messages = read(path)?;
            let oneiro = context.open()?;
            let id = oneiro.sessions().resolve(&self.session)?;
            let shown = Page { items: oneiro.messages().set_history(&id, messages)?, next: None };
            context.output.show(&shown, |shown| {
                format!("The session now shows {}.", count(shown.items.len(), "message"))
            })?;
            context.after(&oneiro);
            return Ok(());
        }
        if let Some(keep) = self.keep {
            let oneiro = context.open()?;
            let id = oneiro.sessions().resolve(&self.session)?;
            let hidden = oneiro.messages().truncate_history(&id, keep)?;
            return context.output.show(&json!({"hidden": hidden}), |_| {
                format!("{} hidden", count(hidden, "message"))
            });
        }
        let oneiro = context.open()?;
        let id = oneiro.sessions().resolve(&self.session)?;
        let shown = Page { items: oneiro.sessions().show(&id, false)?.messages, next: None };
        let ids = shown.items.iter().map(|message| message.id);
        let places = Places::in_session(&oneiro, &id, ids)?;
        context.output.show(&shown, |shown| texts(&shown.items, &places, context.style))
    }
}

/// Messages of one session, one below the other.
pub(super) fn texts(messages: &[Message], places: &Places, style: Style) -> String {
    let text =
        |message: &Message| message_text(&places.label(message.id), message, Length::Short, style);
    messages.iter().map(text).collect::<Vec<_>>().join("\n\n")
}

fn read(path: &Path) -> anyhow::Result<Vec<NewMessage>> {
    if path.as_os_str() == "-" {
        return Ok(messages(std::io::stdin().lock())?);
    }
    let file = std::fs::File::open(path)
        .map_err(|error| Error::not_found(format!("{}: {error}", path.display())))?;
    Ok(messages(file)?)
}

/// The messages of JSONL, or of one JSON list.
fn messages(input: impl Read) -> oneiro::Result<Vec<NewMessage>> {
    let unreadable = |error: std::io::Error| {
        Error::new(oneiro::ErrorKind::Unavailable, format!("reading the messages failed: {error}"))
    };
    let mut input = BufReader::with_capacity(1 << 16, input);
    let first = loop {
        let blank =
            input.fill_buf().map_err(unreadable)?.iter().take_while(|b| b.is_ascii_whitespace());
        match blank.count() {
            0 => break input.buffer().first().copied(),
            blank => input.consume(blank),
        }
    };
    if first == Some(b'[') {
        let mut bytes = Vec::new();
        input.take(LIST_BYTES).read_to_end(&mut bytes).map_err(unreadable)?;
        if bytes.len() as u64 == LIST_BYTES {
            return Err(Error::too_large("the list of messages is longer than 1 GiB")
                .remedy("give the messages as JSONL, one to a line"));
        }
        let Value::Array(list) = oneiro::json::parse(&bytes)?.value else {
            return Err(Error::invalid("the messages are not a JSON list"));
        };
        let messages = list.into_iter().enumerate();
        return messages
            .map(|(at, value)| {
                NewMessage::from_json(value)
                    .map_err(|error| error.at(format!("message {}", at + 1)))
            })
            .collect();
    }
    let mut lines = Lines::new(input);
    let mut messages = Vec::new();
    while let Some(message) = lines.next()? {
        messages.push(message);
    }
    Ok(messages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_lists_are_both_read() {
        let lines = "\n {\"role\":\"user\",\"content\":\"a\"}\n{\"role\":\"tool\"}\n";
        let list = " \n[{\"role\":\"user\",\"content\":\"a\"},\n {\"role\":\"tool\"}]";
        for text in [lines, list] {
            let read = messages(text.as_bytes()).unwrap();
            let roles: Vec<&str> = read.iter().map(|message| message.role.as_str()).collect();
            assert_eq!(roles, ["user", "tool"], "{text}");
        }
        assert!(messages("".as_bytes()).unwrap().is_empty());
        assert!(messages("[]".as_bytes()).unwrap().is_empty());
    }

    #[test]
    fn what_is_wrong_is_named_by_its_place() {
        let list = messages("[{\"role\":\"user\"},{\"content\":\"a\"}]".as_bytes()).unwrap_err();
        assert!(list.message().starts_with("message 2: "), "{list}");
        let lines = messages("{\"role\":\"user\"}\nnonsense\n".as_bytes()).unwrap_err();
        assert!(lines.message().starts_with("line 2: "), "{lines}");
        assert!(messages("[{\"role\":\"user\"}".as_bytes()).is_err());
    }
}
