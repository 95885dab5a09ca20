//! `oneiro context`: the window of a session for a budget, and why it is what it is.

use crate::context::Context;
use crate::output::{count, data, plain, table, thousands};
use crate::request::request;
use crate::tokens;
use clap::{Args, ValueEnum};
use oneiro::{
    BreakReason, ItemPlace, WINDOW_BUDGET, Window, WindowFormat, WindowItem, WindowRequest,
};
use serde_json::{Value, json};

/// Print the window of a session: its content for a prompt within a token budget
///
/// As many messages as fit, the newest first; summaries and pinned messages stand before them in
/// place of what does not fit. `oneiro expand` prints the messages behind a summary or an omitted
/// range. A window starts with the same messages as the previous one for as long as possible, so that
/// the provider's prompt cache stays valid; when it cannot, the output says so with the number of
/// tokens. Missing summaries are made first, unless --peek is given.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  oneiro context monday                            read what an agent would get
  oneiro context monday --budget 8k --explain      what is in, what is summarised, what is out
  oneiro context monday --budget 200k --reserve 8k --format anthropic --json")]
pub struct ContextArgs {
    /// The session
    session: String,
    /// Maximum number of tokens of the prompt: 8000, 8k, 1M
    #[arg(long, value_name = "TOKENS", default_value_t = WINDOW_BUDGET, value_parser = tokens::parse)]
    budget: usize,
    /// Tokens of the budget to reserve for the answer and other parts of the prompt
    #[arg(long, value_name = "TOKENS", default_value_t = 0, value_parser = tokens::parse)]
    reserve: usize,
    /// Output format [default: text, with --json openai]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Explain each item: in the window, summarised or left out, and why
    #[arg(long)]
    explain: bool,
    /// Compact nothing, and do not count as the previous window of the next one
    #[arg(long)]
    peek: bool,
}

/// The format of the output.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// OpenAI chat completions and compatible APIs
    Openai,
    /// Anthropic messages, with a separate system text
    Anthropic,
    /// Plain text
    Text,
}

impl From<Format> for WindowFormat {
    fn from(format: Format) -> WindowFormat {
        match format {
            Format::Openai => WindowFormat::Openai,
            Format::Anthropic => WindowFormat::Anthropic,
            Format::Text => WindowFormat::Text,
        }
    }
}

impl ContextArgs {
    /// Assembles and prints.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let id = oneiro.sessions().resolve(&self.session)?;
        let format = match (self.format, context.output.json) {
            (Some(format), _) => format.into(),
            (None, true) => WindowFormat::Openai,
            (None, false) => WindowFormat::Text,
        };
        let request: WindowRequest = request(
            &oneiro,
            json!({
                "budget": self.budget,
                "reserve": self.reserve,
                "format": format,
                "explain": self.explain,
                "peek": self.peek,
            }),
        )?;
        let window = oneiro.context().window(&id, &request)?;
        match (context.output.json, &window.items) {
            (true, _) => data(&serde_json::to_string(&window)?)?,
            (false, Some(items)) => data(&explained(items))?,
            (false, None) => data(&content(&window)?)?,
        }
        context.output.note(&stats_line(&window));
        if !self.peek {
            context.after(&oneiro);
        }
        Ok(())
    }
}

/// What goes to the model: words to read, or JSON to send.
fn content(window: &Window) -> anyhow::Result<String> {
    Ok(match (&window.text, &window.system) {
        (Some(text), _) => plain(text.trim_end_matches('\n')),
        (None, Some(system)) => {
            serde_json::to_string_pretty(&json!({"system": system, "messages": window.messages}))?
        }
        (None, None) => serde_json::to_string_pretty(&window.messages)?,
    })
}

/// The size of the window, on one line.
fn stats_line(window: &Window) -> String {
    let omitted = &window.omitted;
    let mut parts = vec![format!(
        "{} of {} tokens{}",
        thousands(window.tokens),
        thousands(window.budget),
        match window.reserve {
            0 => String::new(),
            reserve => format!(", {} of them reserved", thousands(reserve)),
        }
    )];
    if let Some(over) = window.over_budget {
        let over = thousands(over);
        parts.push(format!("over budget by {over}, because the newest turn is never split"));
    }
    parts.push(match window.summaries.len() {
        0 => "no summaries".to_owned(),
        many => count(many, "summary"),
    });
    parts.push(match (omitted.first, omitted.last) {
        (Some(first), Some(last)) => format!(
            "{} left out ({}, `oneiro expand {first}-{last}`)",
            count(omitted.messages, "message"),
            count(omitted.tokens, "token")
        ),
        _ => "nothing left out".to_owned(),
    });
    let some = [
        (omitted.shortened.len(), "shortened"),
        (omitted.pending.len(), "left out: their tool results are missing so far"),
        (omitted.unpaired.len(), "left out: tool results without a call"),
    ];
    for (number, what) in some.into_iter().filter(|(number, _)| *number > 0) {
        parts.push(format!("{} {what}", count(number, "message")));
    }
    if let Some(broke) = &window.broke {
        let why = match broke.reason {
            BreakReason::Step => "the budget was full and the cut moved",
            BreakReason::Compaction => "summaries changed",
            BreakReason::History => "messages were hidden, restored or removed",
            BreakReason::Pin => "pins changed",
            BreakReason::Prompt => "the system prompt changed",
        };
        let tokens = thousands(broke.tokens);
        parts.push(format!("prompt cache invalidated ({tokens} tokens): {why}"));
    }
    parts.join("; ")
}

/// Every item as a row; messages that stand side by side for one reason share one.
fn explained(items: &[WindowItem]) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    // A row must not reach over messages that are elsewhere.
    let elsewhere: Vec<i64> =
        items.iter().filter(|item| item.kind == "messages").filter_map(number).collect();
    let beside = |a: &WindowItem, b: &WindowItem| {
        let between = number(a).unwrap_or(0)..number(b).unwrap_or(0);
        is_message(a)
            && is_message(b)
            && same(a, b)
            && !elsewhere.iter().any(|id| between.contains(id))
    };
    for run in items.chunk_by(beside) {
        let Some((item, last)) = run.first().zip(run.last()) else { continue };
        let tokens: usize = run.iter().map(|item| item.tokens).sum();
        let until = last.last.map(|id| id.to_string()).or_else(|| id(last));
        let (kind, why) = match run.len() {
            1 => (item.kind, item.why.clone()),
            many => ("messages", format!("{many} messages, each {}", item.why)),
        };
        let ids = match (id(item), until) {
            (Some(first), Some(until)) if first != until => format!("{first}-{until}"),
            (first, _) => first.unwrap_or_default(),
        };
        rows.push(vec![
            place(item.place).to_owned(),
            kind.to_owned(),
            ids,
            thousands(tokens),
            plain(&why),
        ]);
    }
    table(&["place", "kind", "id", "tokens", "why"], &rows)
}

fn is_message(item: &WindowItem) -> bool {
    item.kind == "message"
}

fn same(a: &WindowItem, b: &WindowItem) -> bool {
    a.place == b.place && a.why == b.why
}

fn number(item: &WindowItem) -> Option<i64> {
    item.id.as_ref().and_then(Value::as_i64)
}

fn id(item: &WindowItem) -> Option<String> {
    item.id.as_ref().map(|id| match id {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    })
}

fn place(place: ItemPlace) -> &'static str {
    match place {
        ItemPlace::In => "in",
        ItemPlace::Summarised => "summarised",
        ItemPlace::Out => "out",
    }
}
