//! `oneiro summary`: one summary and what is around it.

use super::expand::scope;
use super::search::show::when;
use crate::context::Context;
use crate::output::{one_line, plain, thousands};
use crate::style::Style;
use clap::Args;
use oneiro::{Summary, SummaryId, SummaryLevel};

/// Show a summary: what it covers, its parents and its children
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  oneiro summary sum_k3v            a prefix of the id is enough
  oneiro expand sum_k3v             the messages under it
  oneiro session tree monday        every summary of a session")]
pub struct SummaryArgs {
    /// Id of the summary, or a prefix of it
    id: String,
    /// Only within the lineage of this session [default: all of the space, as far as its setting
    /// other_sessions allows it]
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
}

impl SummaryArgs {
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let summary =
            oneiro.context().summary(&self.id, &scope(&oneiro, self.session.as_deref())?)?;
        context.output.show(&summary, |summary| describe(summary, context.style))
    }
}

/// A summary as people read it: one field to a line, then its words.
pub fn describe(summary: &Summary, style: Style) -> String {
    let number = |number: i64| thousands(usize::try_from(number).unwrap_or(0));
    let mut lines = vec![format!("summary   {}", style.bold(summary.id.as_str()))];
    let mut add = |name: &str, value: String| lines.push(format!("{name:<9} {value}"));
    add("session", one_line(summary.session_id.as_str(), 90));
    add("kind", format!("{}, depth {}", summary.kind.as_str(), summary.depth));
    add("level", level(summary));
    if let (Some(first), Some(last)) = (summary.first_message, summary.last_message) {
        add("messages", format!("{}, from {first} to {last}", number(summary.message_count)));
        add("period", format!("{} to {}", when(summary.earliest_at), when(summary.latest_at)));
    }
    add(
        "tokens",
        match summary.message_count {
            0 => number(summary.tokens),
            _ => format!(
                "{}, of {} that it covers directly and {} of messages",
                number(summary.tokens),
                number(summary.source_tokens),
                number(summary.message_tokens)
            ),
        },
    );
    add("made", when(summary.created_at));
    let place = if summary.in_context { "top level" } else { "under another summary" };
    add("place", place.to_owned());
    for (name, ids) in [("covers", &summary.children), ("under", &summary.parents)] {
        if !ids.is_empty() {
            add(name, ids.iter().map(SummaryId::as_str).collect::<Vec<_>>().join("\n          "));
        }
    }
    format!("{}\n\n{}", lines.join("\n"), plain(summary.content.trim()))
}

/// How it was made, in words.
pub fn level(summary: &Summary) -> String {
    let model = summary.model.as_deref().map_or("a model".to_owned(), |model| one_line(model, 60));
    match summary.level {
        SummaryLevel::Model => format!("written by {model}"),
        SummaryLevel::Strict => format!("written by {model}, with the strict prompt"),
        SummaryLevel::Extract => "an extract, made without a model".to_owned(),
        SummaryLevel::Hand => "written by hand".to_owned(),
    }
}
