//! A session's context: its summaries, one of them with the exact words, and its window.

use super::look::Look;
use super::{not_there, sessions};
use oneiro::{
    ContextScope, Cursor, EXPAND_TOKENS, Error, ExpandRequest, ExpandWhat, MessageId, Oneiro,
    PageRequest, Result, Session, SessionId, Summary, SummaryId, Timestamp, WINDOW_BUDGET,
    WindowFormat, WindowRequest,
};
use oneiro_page::summaries::{Along, SummariesView};
use oneiro_page::summary::{MESSAGES, NEAR, SummaryView};
use oneiro_page::window::{Outcome, STEPS, WindowView};

/// Messages under no summary that are read for the picture.
const LOOSE: usize = 2_000;

pub(super) fn summaries(look: &Look) -> Result<String> {
    let (session, oneiro) = (asked(look)?, look.oneiro()?);
    let summaries = oneiro.context().summaries(&session.id)?;
    // Without a summary there is no picture to put them in.
    let loose = match summaries.is_empty() {
        true => Vec::new(),
        false => loose(oneiro, &session.id, &summaries)?,
    };
    let more_loose = loose.len() >= LOOSE;
    let along = match look.text("along") {
        "time" => Some(Along::Time),
        "order" => Some(Along::Order),
        _ => None,
    };
    let from = SummaryId::parse(look.text("from")).ok();
    let frame = look.frame.clone();
    let view = SummariesView { frame, session, summaries, loose, more_loose, along, from };
    Ok(look.draw(&view, oneiro_page::summaries::page, oneiro_page::summaries::fragment))
}

pub(super) fn summary(look: &Look) -> Result<String> {
    let (session, oneiro) = (asked(look)?, look.oneiro()?);
    let name = look.part(1);
    let scope = ContextScope::Lineage(session.id.clone());
    if !name.starts_with(SummaryId::PREFIX) {
        return Err(
            not_there(&format!("summary {name:?}")).remedy("ids of summaries begin with sum_")
        );
    }
    let summary = oneiro.context().summary(name, &scope)?;
    let cursor = look.cursor()?;
    let request = ExpandRequest {
        what: ExpandWhat::Summary(summary.id.to_string()),
        scope: scope.clone(),
        tokens: EXPAND_TOKENS,
        cursor,
    };
    let mut under = oneiro.context().expand(&request)?;
    // Very short messages are many to a page before they are many tokens.
    if under.messages.len() > MESSAGES {
        under.messages.truncate(MESSAGES);
        let last = under.messages.last().map_or(0, |message| message.id.0);
        under.next = Some(Cursor { order: last, key: last });
    }
    let near = |ids: &[SummaryId]| -> Result<Vec<Summary>> {
        ids.iter().take(NEAR + 1).map(|id| oneiro.context().summary(id.as_str(), &scope)).collect()
    };
    let view = SummaryView {
        frame: look.frame.clone(),
        children: near(&summary.children)?,
        parents: near(&summary.parents)?,
        session,
        summary,
        messages: under.messages,
        goes_on: cursor.is_some(),
        next: under.next,
    };
    Ok(look.draw(&view, oneiro_page::summary::page, oneiro_page::summary::fragment))
}

pub(super) fn window(look: &Look) -> Result<String> {
    let session = asked(look)?;
    let typed = budget(look);
    let outcome = match assembled(look, &session, &typed) {
        Ok(outcome) => outcome,
        Err(error) if error.field_name() == Some("budget") => Outcome::Refused(error),
        Err(error) => return Err(error),
    };
    let view = WindowView { frame: look.frame.clone(), session, typed, outcome };
    Ok(look.draw(&view, oneiro_page::window::page, oneiro_page::window::fragment))
}

/// The session that the path names.
fn asked(look: &Look) -> Result<Session> {
    sessions::session(look, &SessionId::new(look.part(0))?)
}

/// The budget that was asked for: by the slider if it was moved, else by the number.
fn budget(look: &Look) -> String {
    let moved = look.given("step").filter(|step| *step != look.text("was"));
    let step: Option<usize> = moved.and_then(|step| step.parse().ok());
    let stop = step.and_then(|step| STEPS.get(step)).map(usize::to_string);
    stop.or_else(|| look.given("budget")).unwrap_or_else(|| WINDOW_BUDGET.to_string())
}

fn assembled(look: &Look, session: &Session, typed: &str) -> Result<Outcome> {
    let budget = typed.replace([',', '_', ' '], "").parse().map_err(|_| {
        Error::field("budget", format!("{typed:?} is not a number of tokens"))
            .remedy("give a whole number, such as 8000")
    })?;
    let request = WindowRequest {
        budget,
        format: WindowFormat::Text,
        explain: true,
        // Who looks changes nothing: neither summaries nor what the agent's next window begins with.
        peek: true,
        ..WindowRequest::default()
    };
    let oneiro = look.oneiro()?;
    let window = oneiro.context().window(&session.id, &request)?;
    let summarised = match window.summaries.is_empty() {
        true => 0,
        false => {
            let all = oneiro.context().summaries(&session.id)?;
            let shown = all.iter().filter(|node| window.summaries.contains(&node.id));
            shown.map(|node| node.message_count).sum()
        }
    };
    Ok(Outcome::Assembled { window: Box::new(window), summarised })
}

/// The messages that no summary in the context covers: those between one and the next, and those
/// after the last.
fn loose(
    oneiro: &Oneiro,
    id: &SessionId,
    summaries: &[Summary],
) -> Result<Vec<(MessageId, Timestamp)>> {
    let now = summaries.iter().filter(|node| node.in_context);
    let mut covered: Vec<(i64, i64)> =
        now.filter_map(|node| Some((node.first_message?.0, node.last_message?.0))).collect();
    covered.sort_unstable();
    covered.push((i64::MAX, i64::MAX));
    let mut found = Vec::new();
    let mut after = 0;
    for (first, last) in covered {
        // Most summaries meet, which one message tells.
        let mut limit = 1;
        while found.len() < LOOSE {
            let page = oneiro.messages().list(id, PageRequest { after, hidden: false, limit })?;
            let between: Vec<_> = page.items.iter().take_while(|one| one.id.0 < first).collect();
            found.extend(between.iter().map(|message| (message.id, message.at)));
            if between.len() < page.items.len() || page.next.is_none() {
                break;
            }
            after = between.last().map_or(after, |message| message.id.0);
            limit = LOOSE.saturating_sub(found.len()).clamp(1, 500);
        }
        after = after.max(last);
    }
    Ok(found)
}
