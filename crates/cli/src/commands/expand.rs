//! `oneiro expand`: from a summary, a range or an id to the exact messages.

use super::session::show::{Length, message_text};
use crate::context::Context;
use crate::output::{count, data};
use crate::places::Places;
use crate::request::request;
use crate::tokens;
use clap::Args;
use oneiro::{
    ContextScope, ExpandOptions, ExpandRequest, ExpandWhat, Expanded, LookupRequest, Oneiro,
    SessionId,
};
use serde_json::json;

/// Tokens that are read at a time on the way to the end, unless fewer are requested.
const ALL_TOKENS: usize = 64_000;

/// Print the messages that a summary covers, a range of messages, or one message
///
/// Prints complete messages in order, also for a summary of summaries. A message is never split, so a
/// single one may exceed --tokens. --cursor continues, --all prints everything.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  oneiro expand sum_k3v                       a prefix of the id is enough
  oneiro expand sum_k3vq7 --all | less        everything
  oneiro expand 120-151 --session monday      what a window names as left out
  oneiro expand monday#3-7                    the third to the seventh message of a session
  oneiro expand 133 --json                    one message")]
pub struct ExpandArgs {
    /// A summary (sum_... or a prefix of it), a message (133, monday#3) or a range of messages
    /// (120-151, monday#3-7)
    id: String,
    /// Only within the lineage of this session [default: all of the space, as far as its setting
    /// other_sessions allows it]
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// Approximate number of tokens to print: 4000, 8k, 1M [default: 4000]
    #[arg(long, value_name = "TOKENS", value_parser = tokens::parse)]
    tokens: Option<usize>,
    /// Print everything
    #[arg(long)]
    all: bool,
    /// Continue after the previous answer: its `next`
    #[arg(long)]
    cursor: Option<String>,
}

impl ExpandArgs {
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open()?;
        let tokens = self.tokens.or(self.all.then_some(ALL_TOKENS));
        let options: ExpandOptions =
            request(&oneiro, json!({"tokens": tokens, "cursor": self.cursor}))?;
        let mut request = ExpandRequest {
            what: ExpandWhat::parse(&self.id)?,
            scope: scope(&oneiro, self.session.as_deref())?,
            tokens: options.tokens,
            cursor: options.cursor,
        };
        let mut all = Expanded { messages: Vec::new(), tokens: 0, next: None };
        let mut seen = 0;
        loop {
            let mut page = oneiro.context().expand(&request)?;
            all.tokens += page.tokens;
            all.next = page.next;
            let before = seen;
            seen += page.messages.len();
            if context.output.json {
                all.messages.append(&mut page.messages)
            } else {
                let ids = page.messages.iter().map(|one| (&one.session_id, one.id));
                let places = Places::new(&oneiro, ids)?;
                let texts = page.messages.iter().map(|message| {
                    let label = places.full_label(message);
                    message_text(&label, message, Length::Whole, context.style)
                });
                let text = texts.collect::<Vec<_>>().join("\n\n");
                let gap = if before > 0 && !text.is_empty() { "\n" } else { "" };
                if !text.is_empty() {
                    data(&format!("{gap}{text}"))?;
                }
            }
            match all.next.filter(|_| self.all) {
                Some(next) => request.cursor = Some(next),
                None => break,
            }
        }
        if context.output.json {
            return context.output.show(&all, |_| String::new());
        }
        let totals = format!("{}, {}", count(seen, "message"), count(all.tokens, "token"));
        context.output.note(&match all.next {
            Some(next) => format!("{totals}; more: --cursor {next}, or --all"),
            None => totals,
        });
        Ok(())
    }
}

/// Within what something is looked up: the lineage of a session, or all of the space.
pub fn scope(oneiro: &Oneiro, session: Option<&str>) -> oneiro::Result<ContextScope> {
    Ok(LookupRequest { session: resolved(oneiro, session)? }.scope())
}

/// The session that was named by its id, the beginning of it, or its title.
pub fn resolved(oneiro: &Oneiro, session: Option<&str>) -> oneiro::Result<Option<SessionId>> {
    session.map(|session| oneiro.sessions().resolve(session)).transpose()
}
