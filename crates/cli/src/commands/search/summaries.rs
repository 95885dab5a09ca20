//! `oneiro search --in-summaries`: a query in, summaries out.

use super::{SearchArgs, query, show, time};
use crate::commands::expand::scope;
use crate::context::Context;
use crate::ink::Ink;
use crate::output::one_line;
use oneiro::{Cursor, Error, GrepRequest, Grepped, Oneiro, SEARCH_LIMIT_MAX, SummaryHit, Tier};
use serde::Serialize;

/// Summaries as every search answers.
#[derive(Debug, Serialize)]
struct Found {
    /// A summary has every word, or what the operators say, or is not found.
    tier: Option<Tier>,
    hits: Vec<SummaryHit>,
    next: Option<Cursor>,
}

/// Searches summaries.
pub fn search(args: SearchArgs, context: &Context, oneiro: &Oneiro) -> anyhow::Result<()> {
    let now = oneiro.now();
    let pattern = query(&args.query)?;
    if pattern.trim().is_empty() {
        return Err(Error::field("query", "is empty")
            .remedy("give words to look for in summaries; `oneiro session tree` shows all of a session's")
            .into());
    }
    let Grepped { summaries, summary_total, .. } = oneiro.grep(&GrepRequest {
        pattern,
        scope: scope(oneiro, args.session.as_deref())?,
        messages: false,
        summaries: true,
        roles: Vec::new(),
        since: time("since", args.since.as_deref(), now)?,
        until: time("until", args.until.as_deref(), now)?,
        limit: args.limit,
    })?;
    let tier = (!summaries.is_empty()).then_some(Tier::Precise);
    let found = Found { tier, hits: summaries, next: None };
    if found.hits.is_empty() && !context.output.json {
        context.output.say(
            "Nothing found.\nhint: only what was compacted has summaries; without --in-summaries the messages are searched",
        );
        return Ok(());
    }
    context.output.show(&found, |found| {
        let texts = found.hits.iter().map(|hit| one(hit, context.ink));
        texts.collect::<Vec<_>>().join("\n\n")
    })?;
    let more = summary_total.saturating_sub(found.hits.len());
    if more > 0 {
        let limit = summary_total.min(SEARCH_LIMIT_MAX);
        context.output.say(&format!("{more} more: --limit {limit}"));
    }
    Ok(())
}

fn one(hit: &SummaryHit, ink: Ink) -> String {
    format!(
        "{}  {}, depth {}  {} to {}  {}\n  {}",
        ink.bold(hit.id.as_str()),
        hit.summary_kind.as_str(),
        hit.depth,
        show::when(hit.earliest_at),
        show::when(hit.at),
        one_line(hit.session_id.as_str(), 48),
        ink.marked(&hit.snippet, &[]),
    )
}
