//! `oneiro compact`: older messages of a session go under summaries.

use crate::context::Context;
use crate::output::{count, table, thousands};
use crate::request::request;
use crate::tokens;
use clap::Args;
use oneiro::{CompactRequest, Compacted, ContextScope, Oneiro, SessionId, Summary, SummaryId};

/// Rows of the table; of more summaries the first are left out.
const ROWS: usize = 20;

/// Put older messages of a session under summaries, so that its windows get smaller
///
/// Nothing is lost: messages stay as they are, are found by searches, and `oneiro expand` prints
/// those under a summary. The newest turns are left alone. Without --until, what is worth it is put
/// under summaries; with it, more and more until the context has no more than so many tokens. A
/// model writes the summaries where one is configured (`oneiro config set llm_url ..`); otherwise,
/// or where it fails, they are extracts. `oneiro reference prompts` prints what a model is told.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  oneiro compact monday                 what is worth it
  oneiro compact monday --until 8k      until it fits
  oneiro compact monday --redo          have a model write anew what was extracted
  oneiro session tree monday            what came of it")]
pub struct CompactArgs {
    /// The session
    session: String,
    /// Go on until the context has no more than so many tokens: 8000, 8k, 1M
    #[arg(long, value_name = "TOKENS", value_parser = tokens::parse)]
    until: Option<usize>,
    /// Have the model write the summaries that are extracts anew
    #[arg(long)]
    redo: bool,
}

impl CompactArgs {
    /// Compacts.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let id = oneiro.sessions().resolve(&self.session)?;
        let request: CompactRequest =
            request(&oneiro, serde_json::json!({"until": self.until, "redo": self.redo}))?;
        let compacted = oneiro.context().compact(&id, &request)?;
        let made = match context.output.json {
            true => Vec::new(),
            false => newest(&oneiro, &id, &compacted.created)?,
        };
        context.output.show(&compacted, |compacted| describe(compacted, &made, self.until))?;
        if self.redo && context.config.llm.is_none() {
            context.output.say(
                "note: no model is configured, so extracts stay as they are\nhint: `oneiro config set llm_url http://localhost:11434/v1`, and llm_model",
            );
        }
        context.after(&oneiro);
        Ok(())
    }
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
    let tokens = match compacted.tokens_before == compacted.tokens_after {
        true => format!("the context has {} tokens", thousands(compacted.tokens_after)),
        false => format!(
            "{} -> {} tokens",
            thousands(compacted.tokens_before),
            thousands(compacted.tokens_after)
        ),
    };
    let mut head = match compacted.created.len() {
        0 => format!("Nothing compacted: {tokens}"),
        many => format!("{} made: {tokens}", count(many, "summary")),
    };
    if !compacted.redone.is_empty() {
        head.push_str(&format!("; {} written anew", compacted.redone.len()));
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
        ("under", Some(until)) => format!("It fits {} tokens.", thousands(until)),
        ("under", None) => "It fits.".to_owned(),
        ("nothing_left", _) => "Nothing else is worth a summary: what no summary covers is the \
             newest turns, or too little. --until goes further."
            .to_owned(),
        ("newest_turn", _) => "It cannot get smaller: the newest turn is never put under a \
             summary, and the summaries cannot say it in fewer words."
            .to_owned(),
        ("time", _) => "It took as long as it may; compact again to go on.".to_owned(),
        ("changed", _) => "The session kept changing meanwhile; compact again to go on.".to_owned(),
        ("passes", _) => "It took more passes than it should have; `oneiro doctor` may find out \
             why."
            .to_owned(),
        (other, _) => format!("It stopped: {other}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_to_stop_is_told_in_words() {
        let codes = ["under", "nothing_left", "newest_turn", "time", "changed", "passes"];
        let told: Vec<String> = codes.iter().map(|code| stopped(code, None)).collect();
        for (at, one) in told.iter().enumerate() {
            assert!(!one.starts_with("It stopped: "), "{one}");
            assert!(!told.iter().skip(at + 1).any(|other| other == one), "{one}");
        }
        assert_eq!(stopped("under", Some(8_000)), "It fits 8,000 tokens.");
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
        let told = describe(&compacted, &[], None);
        assert!(told.starts_with("Nothing compacted: the context has 1,200 tokens\n"), "{told}");
    }
}
