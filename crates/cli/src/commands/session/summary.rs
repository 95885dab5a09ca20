//! `oneiro session summary`: the summary of a session as one text, and the one written by hand.

use crate::context::Context;
use crate::output::plain;
use clap::Args;
use oneiro::{Error, Oneiro, SessionId, Summary};
use serde::Serialize;
use std::io::Read;

/// Bytes that are read from standard input: enough for the engine to say that it is too much.
const TEXT_BYTES: u64 = 16 << 20;

/// Show the summary of a session, or write one by hand
///
/// A summary written by hand is at the start of every window, before the generated summaries. It
/// replaces the previous one.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  oneiro session summary monday
  oneiro session summary monday --set 'We are moving the shop; the deadline is 1 May.'
  oneiro session summary monday --clear")]
pub struct SummaryArgs {
    /// The session
    session: String,
    /// Text to write, or - for standard input
    #[arg(long, value_name = "TEXT|-", conflicts_with = "clear")]
    set: Option<String>,
    /// Remove the summary written by hand
    #[arg(long)]
    clear: bool,
}

/// The summary of a session.
#[derive(Debug, Serialize)]
struct Answer {
    /// All of it, as one text.
    summary: String,
    /// What was written now.
    #[serde(skip_serializing_if = "Option::is_none")]
    written: Option<Summary>,
}

impl SummaryArgs {
    /// Shows, writes or takes away.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let text = match self.set {
            Some(text) => Some(checked(text_or_input(text)?)?),
            None => self.clear.then(String::new),
        };
        let Some(text) = text else {
            let oneiro = context.open()?;
            let id = oneiro.sessions().resolve(&self.session)?;
            let answer = answer(&oneiro, &id, None)?;
            if answer.summary.is_empty() {
                context.output.note("The session has no summary.");
                if !context.output.json {
                    return Ok(());
                }
            }
            return context.output.show(&answer, |answer| plain(&answer.summary));
        };
        let oneiro = context.open()?;
        let id = oneiro.sessions().resolve(&self.session)?;
        let written = oneiro.context().set_summary(&id, &text)?;
        context.output.show(&answer(&oneiro, &id, written)?, |answer| match &answer.written {
            Some(summary) => format!("{} is at the start of every window.", summary.id),
            None => "There is no summary written by hand.".to_owned(),
        })
    }
}

fn answer(oneiro: &Oneiro, id: &SessionId, written: Option<Summary>) -> oneiro::Result<Answer> {
    Ok(Answer { summary: oneiro.context().summary_text(id)?, written })
}

/// An empty text would take the summary away, which is rarely what an empty pipe means.
fn checked(text: String) -> oneiro::Result<String> {
    if text.trim().is_empty() {
        Err(Error::field("set", "is empty").remedy("--clear removes the summary"))
    } else {
        Ok(text)
    }
}

fn text_or_input(text: String) -> anyhow::Result<String> {
    if text != "-" {
        return Ok(text);
    }
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(TEXT_BYTES).read_to_end(&mut bytes)?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Error::field("set", "is not UTF-8").remedy("convert it first"))?;
    Ok(text)
}
