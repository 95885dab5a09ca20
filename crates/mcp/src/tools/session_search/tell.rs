//! The answer of `session_search`: what was found, what was cut, and how to get more, as text and
//! as structure, each within the budget. It must not know how anything was found.

use super::TOKENS_MAX;
use super::ask::Asked;
use super::fill::{Filled, Item, fill, seconds, when};
use crate::budget::Budget;
use crate::recalled::{FRAME, delimit, one_line, quoted};
use crate::tools::Answer;
use oneiro::count::{prefix, tokens};
use oneiro::{Conversation, Hit, Session, SessionFound, ShownMessage, Tier};
use serde_json::{Map, Value, json};

/// What one line says of a message at most, in tokens.
const SNIPPET: usize = 40;

/// What a title costs at most, in tokens.
const TITLE: usize = 20;

/// What the structured part costs without sessions, note and calls, in tokens.
const KEYS: usize = 20;

/// What the note and the calls at the end cost at most, in tokens.
const END: usize = 200;

/// Calls that an answer proposes at most.
const PROPOSED: usize = 3;

/// What an answer is made of, whatever the mode.
struct Draft {
    mode: &'static str,
    /// What was found, in one line.
    headline: String,
    items: Vec<Item>,
    /// What the engine says about its answer.
    note: Option<String>,
    /// Messages that the engine left out already.
    omitted: i64,
}

/// Makes the answer.
pub(super) fn answer(found: SessionFound, asked: &Asked) -> Answer {
    let draft = draft(found, asked.tokens);
    let mut budget = Budget::tokens(asked.tokens);
    budget.set_aside(Budget { text: FRAME + tokens(&draft.headline) + 1, json: KEYS });
    // For the note and the calls at the end.
    let end = (budget.text / 3).min(END);
    let mut close = budget.set_aside(Budget { text: end, json: end });
    let filled = fill(&draft.items, budget);
    let mut notes = asked.notes.clone();
    notes.extend(what_was_cut(&filled, &draft, asked.tokens));
    let note = spend_on_note(notes.join("; "), &mut close);
    // What the engine says may repeat ids of sessions or what a server answered.
    let remark = draft.note.as_deref().map(one_line).unwrap_or_default();
    let remark = spend_on_note(remark, &mut close);
    let mut next = Vec::new();
    for call in proposals(&draft, &filled).into_iter().take(PROPOSED) {
        if close.spend(&format!("More: {call}\n"), &format!("{},", json!(call))) {
            next.push(call);
        }
    }
    let mut text = draft.headline.clone();
    let mut lines = filled.lines.clone();
    if !remark.is_empty() {
        lines.push_str(&format!("  note: {remark}\n"));
    }
    if !lines.is_empty() {
        text = format!("{text}\n{}", delimit(&lines));
    }
    let mut structured = json!({
        "mode": draft.mode,
        "sessions": filled.sessions,
        "not_shown": filled.messages_cut + filled.sessions_cut,
        "next": next,
    });
    if !note.is_empty() {
        text = format!("{text}\nNote: {note}");
    }
    let both: Vec<String> = [note, remark].into_iter().filter(|part| !part.is_empty()).collect();
    if let (false, Some(fields)) = (both.is_empty(), structured.as_object_mut()) {
        fields.insert("note".to_owned(), json!(both.join("; ")));
    }
    for call in next {
        text = format!("{text}\nMore: {call}");
    }
    Answer { text, structured }
}

/// As much of a note as there is room for.
fn spend_on_note(mut note: String, budget: &mut Budget) -> String {
    while !note.is_empty() {
        if budget.spend(&format!("  note: {note}\n"), &format!(",\"note\":{}", json!(note))) {
            break;
        }
        note = prefix(&note, tokens(&note) * 3 / 4).to_owned();
    }
    note
}

/// Drafts what may cost so many tokens.
fn draft(found: SessionFound, room: usize) -> Draft {
    match found {
        SessionFound::Discover { tier, conversations, note } => {
            let headline = match (conversations.len(), tier) {
                (0, _) => "Nothing was found. Try other words, fewer words, or no query to see \
                           what was active lately."
                    .to_owned(),
                (many, tier) => {
                    format!("Found {}{}.", count(many as i64, "session"), strictly(tier))
                }
            };
            // Sessions that are condensed leave half of the room for what was said in them.
            let room = room / 2 / conversations.len().max(1);
            let items = conversations.into_iter().map(|found| discovered(found, room)).collect();
            Draft { mode: "discover", headline, items, note, omitted: 0 }
        }
        SessionFound::Scroll { session_id, messages, before, after, note } => {
            let line = format!("session {} ({before} before, {after} after)", json!(session_id));
            let facts = object(json!({
                "session_id": session_id, "before": before, "after": after,
            }));
            let wanted = outward(&messages, 0..messages.len());
            let items = vec![Item { line, facts, messages, wanted }];
            Draft { mode: "scroll", headline: "What was said.".to_owned(), items, note, omitted: 0 }
        }
        SessionFound::Read { session, messages, omitted } => {
            let wanted = ends(messages.len());
            let facts = facts(&session);
            let item = Item { line: about(&session), facts, messages, wanted };
            let headline = "The session, as far as it fits.".to_owned();
            Draft { mode: "read", headline, items: vec![item], note: None, omitted }
        }
        SessionFound::Browse { sessions } => {
            let headline = match sessions.len() {
                0 => "Nothing was said yet, or nothing but in this session.".to_owned(),
                many => format!("Active lately, {}.", count(many as i64, "session")),
            };
            let items = sessions.iter().map(browsed).collect();
            Draft { mode: "browse", headline, items, note: None, omitted: 0 }
        }
    }
}

fn count(number: i64, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    }
}

fn strictly(tier: Option<Tier>) -> &'static str {
    match tier {
        Some(Tier::Precise) => ", precisely",
        Some(Tier::Relaxed) => ", by some of the words",
        Some(Tier::Semantic) => ", by meaning only",
        None => "",
    }
}

/// A conversation that was found: its line with the hit, and what was said around it.
fn discovered(found: Conversation, room: usize) -> Item {
    let mut facts = facts(&found.session);
    let mut line = about(&found.session);
    if let Some(hit) = &found.hit {
        let snippet = shortened(&one_line(&hit.snippet), SNIPPET);
        line = format!(
            "id {} {} in {line}\n  {}: {snippet}",
            hit.id,
            when(hit.at),
            one_line(hit.role.as_str())
        );
        facts.insert("hit".to_owned(), hit_facts(hit, &snippet));
    }
    if let Some(digest) = &found.digest {
        let digest = shortened(&digest.content, room);
        line = format!("{line}\n  in short: {}", one_line(&digest));
        facts.insert("digest".to_owned(), json!(digest));
    }
    if found.titled {
        facts.insert("titled".to_owned(), json!(true));
    }
    let window = found.opening.len()..found.opening.len() + found.window.len();
    let messages: Vec<ShownMessage> =
        found.opening.into_iter().chain(found.window).chain(found.closing).collect();
    let mut wanted = outward(&messages, window.clone());
    wanted.extend((0..messages.len()).filter(|place| !window.contains(place)));
    Item { line, facts, messages, wanted }
}

fn hit_facts(hit: &Hit, snippet: &str) -> Value {
    json!({
        "message_id": hit.id,
        "role": hit.role,
        "at": seconds(hit.at),
        "tier": hit.tier,
        "snippet": snippet,
    })
}

fn browsed(session: &Session) -> Item {
    let preview = session.preview.as_deref().map(one_line).unwrap_or_default();
    let mut facts = facts(session);
    facts.insert("preview".to_owned(), json!(preview));
    let line = format!("{}\n  {preview}", about(session));
    Item { line, facts, messages: Vec::new(), wanted: Vec::new() }
}

/// A session on one line.
fn about(session: &Session) -> String {
    let title = session.title.as_deref().map(one_line).unwrap_or_default();
    let title = match title.is_empty() {
        true => String::new(),
        false => format!(" {}", json!(shortened(&title, TITLE))),
    };
    format!(
        "session {}{title} ({}, {}, active {})",
        json!(session.id),
        one_line(&session.source),
        count(session.message_count, "message"),
        when(session.last_active_at)
    )
}

fn facts(session: &Session) -> Map<String, Value> {
    let mut facts = object(json!({
        "session_id": session.id,
        "source": session.source,
        "message_count": session.message_count,
        "last_active_at": seconds(session.last_active_at),
    }));
    if let Some(title) = &session.title {
        facts.insert("title".to_owned(), json!(shortened(title, TITLE)));
    }
    facts
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

fn shortened(text: &str, most: usize) -> String {
    let short = prefix(text, most);
    if short.len() < text.len() { format!("{short}…") } else { text.to_owned() }
}

/// The places of a range, the anchor's first, then those nearest to it.
fn outward(messages: &[ShownMessage], range: std::ops::Range<usize>) -> Vec<usize> {
    let anchor = messages.iter().position(|message| message.anchor).unwrap_or(range.start);
    let mut places: Vec<usize> = range.collect();
    places.sort_by_key(|place| place.abs_diff(anchor));
    places
}

/// All places, two from the beginning to one from the end.
fn ends(count: usize) -> Vec<usize> {
    let (mut first, mut last) = (0, count);
    let mut places = Vec::with_capacity(count);
    while first < last {
        if places.len() % 3 == 2 {
            last -= 1;
            places.push(last);
        } else {
            places.push(first);
            first += 1;
        }
    }
    places
}

/// What the answer lacks, and what to do about it.
fn what_was_cut(filled: &Filled, draft: &Draft, tokens: usize) -> Option<String> {
    let mut parts = Vec::new();
    for (number, what) in [(filled.sessions_cut, "session"), (filled.messages_cut, "message")] {
        if number > 0 {
            parts.push(count(number as i64, what));
        }
    }
    if filled.shortened > 0 {
        parts.push(format!("the end of {}", count(filled.shortened as i64, "message")));
    }
    let wider = (tokens * 2).min(TOKENS_MAX);
    let over = (!parts.is_empty()).then(|| {
        let whole = match filled.shortened {
            0 => "",
            _ => ", session_expand(session=.., id=..) any message whole",
        };
        let parts = parts.join(", ");
        format!("cut to fit {tokens} tokens: {parts}; max_tokens={wider} shows more{whole}")
    });
    let omitted = (draft.omitted > 0)
        .then(|| format!("{} in between left out", count(draft.omitted, "message")));
    let both: Vec<String> = over.into_iter().chain(omitted).collect();
    (!both.is_empty()).then(|| both.join("; "))
}

/// Calls that show more.
fn proposals(draft: &Draft, filled: &Filled) -> Vec<String> {
    let shown = draft.items.iter().zip(&filled.places);
    match draft.mode {
        "discover" => {
            draft.items.iter().take(filled.sessions.len()).filter_map(around_hit).collect()
        }
        "scroll" => shown.flat_map(|(item, places)| onward(item, places)).collect(),
        "read" => shown.filter_map(|(item, places)| further(item, places, draft)).collect(),
        _ => {
            let first = draft.items.iter().take(filled.sessions.len().min(1));
            first
                .filter_map(|item| Some(format!("session_search(session={})", id(item)?)))
                .collect()
        }
    }
}

/// The id of a session, as it may stand outside the tags.
fn id(item: &Item) -> Option<String> {
    item.facts.get("session_id").and_then(Value::as_str).map(quoted)
}

fn scroll_to(item: &Item, message: &Value) -> Option<String> {
    Some(format!("session_search(session={}, around={message})", id(item)?))
}

fn around_hit(item: &Item) -> Option<String> {
    match item.facts.get("hit").and_then(|hit| hit.get("message_id")) {
        Some(message) => scroll_to(item, message),
        None => Some(format!("session_search(session={})", id(item)?)),
    }
}

/// Where to scroll to see what came before and after what is shown.
fn onward(item: &Item, places: &[usize]) -> Vec<String> {
    let fact = |name| item.facts.get(name).and_then(Value::as_i64).unwrap_or(0);
    let (Some(first), Some(last)) = (places.first(), places.last()) else { return Vec::new() };
    let mut calls = Vec::new();
    if *last + 1 < item.messages.len() || fact("after") > 0 {
        calls.extend(item.messages.get(*last).and_then(|to| scroll_to(item, &json!(to.id))));
    }
    if *first > 0 || fact("before") > 0 {
        calls.extend(item.messages.get(*first).and_then(|to| scroll_to(item, &json!(to.id))));
    }
    calls
}

/// Where the beginning of a session that is read breaks off, if it does.
fn further(item: &Item, places: &[usize], draft: &Draft) -> Option<String> {
    let run = places.iter().enumerate().take_while(|(nth, place)| nth == *place).count();
    let mut breaks = (run < item.messages.len()).then_some(run);
    if draft.omitted > 0 {
        // Of a session that is not whole, the last third is its end.
        let beginning = item.messages.len() * 2 / 3;
        breaks = Some(breaks.map_or(beginning, |run| run.min(beginning)));
    }
    let last = item.messages.get(breaks?.checked_sub(1)?)?;
    scroll_to(item, &json!(last.id))
}
