//! `oneiro session show`.

use crate::context::Context;
use crate::output::{one_line, plain};
use clap::Args;
use oneiro::{Message, Part, SessionView, Visibility, parts};
use serde_json::Value;

/// Show a session and its messages
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The session
    session: String,
    /// Compacted and rewound messages too
    #[arg(long)]
    all: bool,
    /// Follow the conversation to its latest continuation
    #[arg(long)]
    tip: bool,
}

impl ShowArgs {
    /// Shows.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open_to_read()?;
        let mut id = oneiro.resolve_session(&self.session)?;
        if self.tip {
            id = oneiro.session_tip(&id)?;
        }
        context.output.show(&oneiro.show_session(&id, self.all)?, describe)
    }
}

fn describe(view: &SessionView) -> String {
    let mut text = super::describe(&view.session);
    for message in &view.messages {
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
        text.push_str(&format!("\n\n#{} {}  {}{state}", message.id, plain(&who), message.at));
        for part in parts(&message.role, &message.body) {
            text.push_str(&format!("\n{}", show_part(&part)));
        }
    }
    text
}

fn show_part(part: &Part<'_>) -> String {
    match part {
        Part::Text(words) => plain(words),
        Part::Reasoning(words) => format!("  thinks: {}", one_line(words, 90)),
        Part::ToolCall { name, arguments } => {
            format!("  calls {} {}", plain(name), one_line(&text_of(arguments), 90))
        }
        Part::ToolResult(result) => {
            let text = text_of(result);
            let lines: Vec<&str> = text.lines().collect();
            match lines.get(..8) {
                Some(head) if lines.len() > 8 => {
                    format!("{}\n  ... {} more lines", plain(&head.join("\n")), lines.len() - 8)
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

/// One line of a message, for lists of choices.
pub(super) fn line(message: &Message) -> String {
    let words = parts(&message.role, &message.body).into_iter().find_map(|part| match part {
        Part::Text(words) => Some(words),
        _ => None,
    });
    format!("#{}  {}  {}", message.id, message.at, one_line(words.unwrap_or_default(), 80))
}
