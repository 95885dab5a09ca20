//! `oneiro session show`.

use crate::context::Context;
use crate::output::{count, one_line, plain};
use crate::places::Places;
use crate::style::Style;
use clap::Args;
use oneiro::{Message, Part, SessionView, Visibility, parts};
use serde_json::Value;

/// Show a session and its messages
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The session
    session: String,
    /// Include compacted and rewound messages
    #[arg(long)]
    all: bool,
    /// Follow the conversation to its latest continuation
    #[arg(long)]
    tip: bool,
}

impl ShowArgs {
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let mut id = oneiro.sessions().resolve(&self.session)?;
        if self.tip {
            id = oneiro.sessions().tip(&id)?;
        }
        let view = oneiro.sessions().show(&id, self.all)?;
        let ids = view.messages.iter().map(|message| message.id);
        let places = Places::in_session(&oneiro, &id, ids)?;
        context.output.show(&view, |view| describe(view, &places, context.style))
    }
}

fn describe(view: &SessionView, places: &Places, style: Style) -> String {
    let mut text = super::describe(&view.session);
    for message in &view.messages {
        let message = message_text(&places.label(message.id), message, Length::Short, style);
        text.push_str(&format!("\n\n{message}"));
    }
    text
}

/// How much of tool calls and their results is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// The beginning of it.
    Short,
    /// All of it.
    Whole,
}

/// A message as people read it: a head line that begins with `label`, then its parts.
pub fn message_text(label: &str, message: &Message, length: Length, style: Style) -> String {
    let state = match message.visibility {
        Visibility::Live => "",
        Visibility::Compacted => "  (compacted)",
        Visibility::Rewound => "  (rewound)",
    };
    let name = message.body.get("name").and_then(Value::as_str);
    let who = name.map_or_else(
        || message.role.as_str().to_owned(),
        |name| format!("{} {name}", message.role.as_str()),
    );
    let (who, id) = (style.role(&message.role, &plain(&who)), message.id);
    let mut text = format!("{label} {who}  {}  id {id}{state}", message.at);
    for part in parts(&message.role, &message.body) {
        text.push_str(&format!("\n{}", show_part(&part, length)));
    }
    text
}

fn show_part(part: &Part<'_>, length: Length) -> String {
    let cut = |text: &str| match length {
        Length::Short => one_line(text, 90),
        Length::Whole => plain(text),
    };
    match part {
        Part::Text(words) => plain(words),
        Part::Reasoning(words) => format!("  thinks: {}", cut(words)),
        Part::Harness { kind, text } => format!("  [{}] {}", plain(kind), cut(text)),
        Part::ToolCall { name, arguments } => {
            format!("  calls {} {}", plain(name), cut(&text_of(arguments)))
        }
        Part::ToolResult(result) => {
            let text = text_of(result);
            let lines: Vec<&str> = text.lines().collect();
            match lines.get(..8) {
                Some(head) if lines.len() > 8 && length == Length::Short => {
                    let more = count(lines.len() - 8, "more line");
                    format!("{}\n  ... {more}", plain(&head.join("\n")))
                }
                _ => plain(&text),
            }
        }
        Part::Media(value) => {
            let kind = value.get("type").and_then(Value::as_str).unwrap_or("media");
            format!("  [{}]", plain(kind))
        }
    }
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// One line of a message that begins with `label`, for lists of choices.
pub(super) fn line(label: &str, message: &Message) -> String {
    let words = parts(&message.role, &message.body).into_iter().find_map(|part| match part {
        Part::Text(words) => Some(words),
        _ => None,
    });
    format!("{label}  {}  {}", message.at, one_line(words.unwrap_or_default(), 80))
}
