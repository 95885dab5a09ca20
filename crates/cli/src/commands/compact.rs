//! `oneiro compact`: older messages of a session go under summaries.

use crate::context::Context;
use crate::output::{count, table, thousands};
use crate::request::request;
use crate::tokens;
use clap::Args;
use oneiro::{
    CompactRequest, Compacted, ContextScope, Oneiro, SessionId, Summary, SummaryId, WindowFormat,
    WindowRequest,
};

/// Rows of the table; of more summaries the first are left out.
const ROWS: usize = 20;

/// Summarise older messages of a session
///
/// Nothing is lost: messages are kept and can be searched, and `oneiro expand` prints those that a
/// summary covers. Windows show a summary only in place of messages that do not fit their budget.
/// The newest turns are not summarised. With --until, everything is prepared that a window of that
/// size needs. A model writes the larger summaries if one is configured (`oneiro config set llm_url ..`); otherwise, or if it fails, they are extracts. `oneiro
/// reference prompts` prints the prompts.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  oneiro compact monday                 everything but the newest turns
  oneiro compact monday --until 8k      what a window of 8k needs
  oneiro compact monday --redo          let a model rewrite extracted summaries
  oneiro session tree monday            what came of it")]
pub struct CompactArgs {
    /// The session
    session: String,
    /// Prepare what a window of this many tokens needs: 8000, 8k, 1M
    #[arg(long, value_name = "TOKENS", value_parser = tokens::parse)]
    until: Option<usize>,
    /// Let the model rewrite the summaries that are extracts
    #[arg(long)]
    redo: bool,
}

impl CompactArgs {
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let id = oneiro.sessions().resolve(&self.session)?;
        let request: CompactRequest =
            request(&oneiro, serde_json::json!({"until": self.until, "redo": self.redo}))?;
        let mut compacted = oneiro.context().compact(&id, &request)?;
        let made = if context.output.json {
            Vec::new()
        } else {
            compacted.tokens_after = tokens_of_text(&oneiro, &id, &compacted, self.until)?;
            newest(&oneiro, &id, &compacted.created)?
        };
        context.output.show(&compacted, |compacted| describe(compacted, &made, self.until))?;
        if self.redo && context.config.llm.is_none() {
            context.output.note(
                "note: no model is configured, so extracts are kept\nhint: `oneiro config set llm_url http://localhost:11434/v1`, and llm_model",
            );
        }
        context.after(&oneiro);
        Ok(())
    }
}

/// Tokens of the window that `oneiro context` prints after a compaction until this budget: as text, a
/// window has more than as JSON, which the answer tells.
fn tokens_of_text(
    oneiro: &Oneiro,
    session: &SessionId,
    compacted: &Compacted,
    until: Option<usize>,
) -> anyhow::Result<usize> {
    let Some(budget) = until else { return Ok(compacted.tokens_after) };
    let format = WindowFormat::Text;
    let request = WindowRequest { budget, format, peek: true, ..WindowRequest::default() };
    Ok(oneiro.context().window(session, &request)?.tokens)
}

/// The newest of what was made, as far as it is still there.
fn newest(
    oneiro: &Oneiro,
    session: &SessionId,
    created: &[SummaryId],
) -> anyhow::Result<Vec<Summary>> {
    let scope = ContextScope::Lineage(session.clone());
    let last = created.iter().skip(created.len().saturating_sub(ROWS));
    // Another process may have rewound what one of them covered.
    Ok(last.filter_map(|id| oneiro.context().summary(id.as_str(), &scope).ok()).collect())
}

fn describe(compacted: &Compacted, made: &[Summary], until: Option<usize>) -> String {
    let tokens = if compacted.tokens_before == compacted.tokens_after {
        format!("the context has {} tokens", thousands(compacted.tokens_after))
    } else {
        format!(
            "{} -> {} tokens",
            thousands(compacted.tokens_before),
            thousands(compacted.tokens_after)
        )
    };
    let mut head = match compacted.created.len() {
        0 => format!("Nothing to summarise: {tokens}"),
        many => format!("{} made: {tokens}", count(many, "summary")),
    };
    if !compacted.redone.is_empty() {
        head.push_str(&format!("; {} rewritten", compacted.redone.len()));
    }
    let mut lines = vec![head];
    if !made.is_empty() {
        let left_out = compacted.created.len() - made.len();
        lines.push(String::new());
        lines.push(table(
            &["summary", "kind", "depth", "messages", "tokens", "by"],
            &made.iter().map(row).collect::<Vec<_>>(),
        ));
        if left_out > 0 {
            lines.push(format!("... and {left_out} before them"));
        }
        lines.push(String::new());
    }
    lines.push(stopped(&compacted.stopped, until));
    lines.join("\n")
}

fn row(summary: &Summary) -> Vec<String> {
    let number = |number: i64| thousands(usize::try_from(number).unwrap_or(0));
    vec![
        summary.id.to_string(),
        summary.kind.as_str().to_owned(),
        summary.depth.to_string(),
        number(summary.message_count),
        format!("{} -> {}", number(summary.source_tokens), number(summary.tokens)),
        summary.model.clone().unwrap_or_else(|| summary.level.as_str().to_owned()),
    ]
}

/// Why it went no further.
fn stopped(code: &str, until: Option<usize>) -> String {
    match (code, until) {
        ("under", Some(until)) => {
            format!("A window of {} tokens now leaves nothing out.", thousands(until))
        }
        ("under", None) => "Now within the budget.".to_owned(),
        ("nothing_left", until) => {
            let how = if until.is_none() { " --until continues." } else { "" };
            format!(
                "Nothing else is eligible: the messages that are not summarised are the newest \
                 turns, or too few.{how}"
            )
        }
        ("newest_turn", _) => {
            "The newest turn alone exceeds this budget, and it is never summarised.".to_owned()
        }
        ("time", _) => "The time limit was reached; compact again to continue.".to_owned(),
        ("changed", _) => "The session changed meanwhile; compact again to continue.".to_owned(),
        ("passes", _) => {
            "It needed too many passes; run `oneiro doctor` to find out why.".to_owned()
        }
        (other, _) => format!("It stopped: {other}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_to_stop_is_told_in_words() {
        let codes = ["under", "nothing_left", "newest_turn", "time", "changed", "passes"];
        let texts: Vec<String> = codes.iter().map(|code| stopped(code, None)).collect();
        for (at, one) in texts.iter().enumerate() {
            assert!(!one.starts_with("It stopped: "), "{one}");
            assert!(!texts.iter().skip(at + 1).any(|other| other == one), "{one}");
        }
        assert_eq!(
            stopped("under", Some(8_000)),
            "A window of 8,000 tokens now leaves nothing out."
        );
    }

    #[test]
    fn what_changed_nothing_says_so() {
        let compacted = Compacted {
            created: Vec::new(),
            redone: Vec::new(),
            tokens_before: 1_200,
            tokens_after: 1_200,
            stopped: "nothing_left".to_owned(),
        };
        let texts = describe(&compacted, &[], None);
        assert!(
            texts.starts_with("Nothing to summarise: the context has 1,200 tokens\n"),
            "{texts}"
        );
    }
}
