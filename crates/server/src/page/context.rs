//! The context of a session: its summaries, one summary with its original messages, and its window.

use super::view_request::ViewRequest;
use super::{not_found, sessions};
use oneiro::{
    ContextScope, Cursor, EXPAND_TOKENS, Error, ExpandRequest, ExpandWhat, MessageId, Oneiro,
    PageRequest, Result, Session, SessionId, Summary, SummaryId, Timestamp, WINDOW_BUDGET,
    WindowFormat, WindowRequest,
};
use oneiro_page::summaries::{Along, SummariesView};
use oneiro_page::summary::{MESSAGES, NEAR, SummaryView};
use oneiro_page::window::{Outcome, STEPS, WindowView};

/// Messages without a summary that are read for the picture.
const LOOSE: usize = 2_000;

pub(super) fn summaries(request: &ViewRequest) -> Result<String> {
    let (session, oneiro) = (path_session(request)?, request.oneiro()?);
    let summaries = oneiro.context().summaries(&session.id)?;
    // Without a summary there is no picture to put them in.
    let loose =
        if summaries.is_empty() { Vec::new() } else { loose(oneiro, &session.id, &summaries)? };
    let more_loose = loose.len() >= LOOSE;
    let along = match request.text("along") {
        "time" => Some(Along::Time),
        "order" => Some(Along::Order),
        _ => None,
    };
    let from = SummaryId::parse(request.text("from")).ok();
    let frame = request.frame.clone();
    let view = SummariesView { frame, session, summaries, loose, more_loose, along, from };
    Ok(request.render(&view, oneiro_page::summaries::page, oneiro_page::summaries::fragment))
}

pub(super) fn summary(request: &ViewRequest) -> Result<String> {
    let (session, oneiro) = (path_session(request)?, request.oneiro()?);
    let name = request.path_part(1);
    let scope = ContextScope::Lineage(session.id.clone());
    if !name.starts_with(SummaryId::PREFIX) {
        return Err(
            not_found(&format!("summary {name:?}")).remedy("ids of summaries begin with sum_")
        );
    }
    let summary = oneiro.context().summary(name, &scope)?;
    let cursor = request.cursor()?;
    let expand = ExpandRequest {
        what: ExpandWhat::Summary(summary.id.to_string()),
        scope: scope.clone(),
        tokens: EXPAND_TOKENS,
        cursor,
    };
    let mut under = oneiro.context().expand(&expand)?;
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
        frame: request.frame.clone(),
        children: near(&summary.children)?,
        parents: near(&summary.parents)?,
        session,
        summary,
        messages: under.messages,
        goes_on: cursor.is_some(),
        next: under.next,
    };
    Ok(request.render(&view, oneiro_page::summary::page, oneiro_page::summary::fragment))
}

pub(super) fn window(request: &ViewRequest) -> Result<String> {
    let session = path_session(request)?;
    let typed = budget(request);
    let outcome = match assemble(request, &session, &typed) {
        Ok(outcome) => outcome,
        Err(error) if error.field_name() == Some("budget") => Outcome::Refused(error),
        Err(error) => return Err(error),
    };
    let view = WindowView { frame: request.frame.clone(), session, typed, outcome };
    Ok(request.render(&view, oneiro_page::window::page, oneiro_page::window::fragment))
}

/// The session that the path names.
fn path_session(request: &ViewRequest) -> Result<Session> {
    sessions::session(request, &SessionId::new(request.path_part(0))?)
}

/// The budget: from the slider if it was moved, else from the number field.
fn budget(request: &ViewRequest) -> String {
    let moved = request.param("step").filter(|step| *step != request.text("was"));
    let step: Option<usize> = moved.and_then(|step| step.parse().ok());
    let stop = step.and_then(|step| STEPS.get(step)).map(usize::to_string);
    stop.or_else(|| request.param("budget")).unwrap_or_else(|| WINDOW_BUDGET.to_string())
}

fn assemble(request: &ViewRequest, session: &Session, typed: &str) -> Result<Outcome> {
    let budget = typed.replace([',', '_', ' '], "").parse().map_err(|_| {
        Error::field("budget", format!("{typed:?} is not a number of tokens"))
            .remedy("give a whole number, such as 8000")
    })?;
    let window = WindowRequest {
        budget,
        format: WindowFormat::Text,
        explain: true,
        // A preview changes neither summaries nor the prefix of the agent's next window.
        peek: true,
        ..WindowRequest::default()
    };
    let oneiro = request.oneiro()?;
    let window = oneiro.context().window(&session.id, &window)?;
    let summarised = if window.summaries.is_empty() {
        0
    } else {
        let all = oneiro.context().summaries(&session.id)?;
        let shown = all.iter().filter(|node| window.summaries.contains(&node.id));
        shown.map(|node| node.message_count).sum()
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
        // Most summaries are adjacent, which one message shows.
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
