//! The answer of `session_search`: the text for the model, within the budget, and the ids for a
//! program. It does not know how anything was found.

use super::TOKENS_MAX;
use super::fit::{Fitted, SessionItem, fit};
use super::request::SearchCall;
use crate::budget::Budget;
use crate::recalled::{FRAME, delimit, one_line, quoted};
use crate::text::{count, minute, second, shortened};
use crate::tools::Answer;
use oneiro::count::{exceeds, prefix, tokens};
use oneiro::{Confidence, Conversation, Hit, MessageId, Session, SessionFound, ShownMessage, Tier};
use serde_json::{Map, Value, json};

/// The longest hit that is shown whole, in tokens; of a longer one the part that matches is shown.
const HIT_TOKENS: usize = 200;

/// The longest message beside a hit, in tokens, unless the call sets `window`.
const NEIGHBOUR_TOKENS: usize = 50;

/// The longest title, in tokens.
const TITLE_TOKENS: usize = 20;

/// The longest name of a project or a source, in tokens.
const NAME_TOKENS: usize = 12;

/// The structured content without sessions, in tokens.
const STRUCTURED_TOKENS: usize = 20;

/// The longest notes and proposed calls at the end of the text, in tokens.
const END_TOKENS: usize = 200;

/// The most calls that an answer proposes.
const PROPOSED_MAX: usize = 3;

/// An answer before it is cut to its budget.
struct Draft {
    mode: Mode,
    headline: String,
    items: Vec<SessionItem>,
    /// The engine's remark on its answer.
    note: Option<String>,
}

/// The mode of a search, with what the proposed calls need to know of it.
#[derive(Clone, Copy)]
enum Mode {
    Discover(Confidence),
    Scroll {
        before: i64,
        after: i64,
    },
    /// `omitted` messages are left out between the beginning and the end.
    Read {
        omitted: i64,
    },
    Browse,
}

impl Mode {
    fn name(self) -> &'static str {
        match self {
            Mode::Discover(_) => "discover",
            Mode::Scroll { .. } => "scroll",
            Mode::Read { .. } => "read",
            Mode::Browse => "browse",
        }
    }
}

/// Makes the answer.
pub(super) fn answer(found: SessionFound, call: &SearchCall) -> Answer {
    let draft = draft(found, call);
    let mut budget = Budget::tokens(call.tokens);
    let fixed = FRAME + tokens(&draft.headline) + 1;
    budget.set_aside(Budget { text: fixed, json: STRUCTURED_TOKENS });
    let end = (budget.text / 3).min(END_TOKENS);
    let mut end = budget.set_aside(Budget { text: end, json: 0 });
    let fitted = fit(&draft.items, budget);
    let mut notes = call.notes.clone();
    notes.extend(cut_note(&fitted, draft.mode, call.tokens));
    let note = fit_note(notes.join("; "), &mut end);
    // The remark may repeat ids of sessions or the error of a model server.
    let remark = draft.note.as_deref().map(one_line).unwrap_or_default();
    let remark = fit_note(remark, &mut end);
    let mut text = draft.headline.clone();
    let mut lines = fitted.lines.clone();
    if !remark.is_empty() {
        lines.push_str(&format!("  note: {remark}\n"));
    }
    if !lines.is_empty() {
        text = format!("{text}\n{}", delimit(&lines));
    }
    if !note.is_empty() {
        text = format!("{text}\nNote: {note}");
    }
    for next in proposed_calls(&draft, &fitted).into_iter().take(PROPOSED_MAX) {
        let line = format!("\nMore: {next}");
        if end.spend(&line, "") {
            text.push_str(&line);
        }
    }
    let mut structured = json!({
        "mode": draft.mode.name(),
        "sessions": fitted.sessions,
        "not_shown": fitted.messages_cut + fitted.sessions_cut,
    });
    if let (Mode::Discover(found), Some(fields)) = (draft.mode, structured.as_object_mut()) {
        fields.insert("found".to_owned(), json!(found));
    }
    Answer::text(text, structured)
}

/// As much of a note as there is room for.
fn fit_note(mut note: String, budget: &mut Budget) -> String {
    while !note.is_empty() && !budget.spend(&format!("  note: {note}\n"), "") {
        note = prefix(&note, tokens(&note) * 3 / 4).to_owned();
    }
    note
}

fn draft(found: SessionFound, call: &SearchCall) -> Draft {
    match found {
        SessionFound::Discover { found, tier, conversations, note } => {
            let headline = match conversations.len() {
                0 => "Nothing was found. Try other words, fewer words, or no query to list \
                      recently active sessions."
                    .to_owned(),
                many => format!(
                    "Found {}{}.{}",
                    count(many as i64, "session"),
                    tier_words(tier),
                    confidence_words(found)
                ),
            };
            // Digests leave half of the room for messages.
            let digest_max = call.tokens / 2 / conversations.len().max(1);
            let items = conversations.into_iter();
            let items = items.map(|found| discovered(found, call, digest_max)).collect();
            Draft { mode: Mode::Discover(found), headline, items, note }
        }
        SessionFound::Scroll { session_id, messages, before, after, note } => {
            let heading =
                format!("session {}, {before} messages before, {after} after", json!(session_id));
            let fields = Map::from_iter([("session_id".to_owned(), json!(session_id))]);
            let priority = nearest_first(&messages, 0..messages.len());
            let items = vec![SessionItem { heading, fields, messages, priority }];
            let headline = "Messages of the session.".to_owned();
            Draft { mode: Mode::Scroll { before, after }, headline, items, note }
        }
        SessionFound::Read { session, messages, omitted } => {
            let priority = both_ends(messages.len());
            let item = SessionItem {
                heading: heading(&session),
                fields: fields(&session),
                messages,
                priority,
            };
            let headline = "Messages of the session.".to_owned();
            Draft { mode: Mode::Read { omitted }, headline, items: vec![item], note: None }
        }
        SessionFound::Browse { sessions } => {
            let headline = match sessions.len() {
                0 => "There are no sessions to list.".to_owned(),
                many => {
                    format!("Listed {}, most recently active first.", count(many as i64, "session"))
                }
            };
            let items = sessions.iter().map(browsed).collect();
            Draft { mode: Mode::Browse, headline, items, note: None }
        }
    }
}

fn confidence_words(found: Confidence) -> &'static str {
    match found {
        Confidence::Strong => "",
        Confidence::Weak => " They may not answer the question: read before you rely on them.",
        Confidence::None => " Nothing in them seems to answer the question.",
    }
}

fn tier_words(tier: Option<Tier>) -> &'static str {
    match tier {
        Some(Tier::Precise) => " with all the words",
        Some(Tier::Relaxed) => " with some of the words",
        Some(Tier::Semantic) => " by meaning only",
        None => "",
    }
}

/// A conversation: its heading, the hit, and the messages around it. How it began and ended is
/// shown only where its title alone was found.
fn discovered(found: Conversation, call: &SearchCall, digest_max: usize) -> SessionItem {
    let mut fields = fields(&found.session);
    let mut heading = heading(&found.session);
    if let Some(digest) = &found.digest {
        let digest = shortened(&one_line(&digest.content), digest_max);
        heading = format!("{heading}\n  in short: {digest}");
    }
    let messages: Vec<ShownMessage> = match &found.hit {
        Some(hit) => {
            let hit_fields = json!({
                "message_id": hit.id, "role": hit.role, "at": second(hit.at), "tier": hit.tier,
            });
            fields.insert("hit".to_owned(), hit_fields);
            found.window.into_iter().map(|message| excerpt(message, hit, call)).collect()
        }
        None => found.opening.into_iter().chain(found.closing).collect(),
    };
    let priority = nearest_first(&messages, 0..messages.len());
    SessionItem { heading, fields, messages, priority }
}

/// A message of a window, cut to what a list of hits needs.
fn excerpt(message: ShownMessage, hit: &Hit, call: &SearchCall) -> ShownMessage {
    let text = if message.anchor && exceeds(&message.text, HIT_TOKENS) {
        format!("{} [cut]", hit.snippet)
    } else if !message.anchor && !call.has_window && exceeds(&message.text, NEIGHBOUR_TOKENS) {
        format!("{} [cut]", prefix(&message.text, NEIGHBOUR_TOKENS))
    } else {
        message.text
    };
    ShownMessage { text, ..message }
}

fn browsed(session: &Session) -> SessionItem {
    let mut heading = heading(session);
    if let Some(preview) = &session.preview {
        heading = format!("{heading}\n  {}", one_line(preview));
    }
    SessionItem { heading, fields: fields(session), messages: Vec::new(), priority: Vec::new() }
}

/// A session on one line: title, date, project, size, source, id.
fn heading(session: &Session) -> String {
    let title = match session.title.as_deref().map(one_line).filter(|title| !title.is_empty()) {
        Some(title) => json!(shortened(&title, TITLE_TOKENS)).to_string(),
        None => "(untitled)".to_owned(),
    };
    let name = |name: &str| shortened(&one_line(name), NAME_TOKENS);
    let project = session.project.as_deref();
    let project = project.map_or(String::new(), |project| format!(", project {}", name(project)));
    format!(
        "{title}, {}{project}, {}, {}, session {}",
        minute(session.last_active_at),
        count(session.message_count, "message"),
        name(&session.source),
        json!(session.id),
    )
}

fn fields(session: &Session) -> Map<String, Value> {
    let mut fields = Map::from_iter([
        ("session_id".to_owned(), json!(session.id)),
        ("source".to_owned(), json!(shortened(&session.source, NAME_TOKENS))),
        ("message_count".to_owned(), json!(session.message_count)),
        ("last_active_at".to_owned(), json!(second(session.last_active_at))),
    ]);
    if let Some(title) = &session.title {
        fields.insert("title".to_owned(), json!(shortened(title, TITLE_TOKENS)));
    }
    if let Some(project) = &session.project {
        fields.insert("project".to_owned(), json!(shortened(project, NAME_TOKENS)));
    }
    fields
}

/// The indexes of a range, the anchor's first, then by their distance from it.
fn nearest_first(messages: &[ShownMessage], range: std::ops::Range<usize>) -> Vec<usize> {
    let anchor = messages.iter().position(|message| message.anchor).unwrap_or(range.start);
    let mut indexes: Vec<usize> = range.collect();
    indexes.sort_by_key(|index| index.abs_diff(anchor));
    indexes
}

/// All indexes, two from the beginning for each one from the end.
fn both_ends(count: usize) -> Vec<usize> {
    let (mut first, mut last) = (0, count);
    let mut indexes = Vec::with_capacity(count);
    while first < last {
        if indexes.len() % 3 == 2 {
            last -= 1;
            indexes.push(last);
        } else {
            indexes.push(first);
            first += 1;
        }
    }
    indexes
}

/// What the answer lacks, and how to get it.
fn cut_note(fitted: &Fitted, mode: Mode, tokens: usize) -> Option<String> {
    let mut parts = Vec::new();
    for (number, what) in [(fitted.sessions_cut, "session"), (fitted.messages_cut, "message")] {
        if number > 0 {
            parts.push(count(number as i64, what));
        }
    }
    if fitted.shortened > 0 {
        parts.push(format!("the end of {}", count(fitted.shortened as i64, "message")));
    }
    let mut notes = Vec::new();
    if !parts.is_empty() {
        let wider = (tokens * 2).min(TOKENS_MAX);
        let parts = parts.join(", ");
        notes.push(format!("cut to fit {tokens} tokens: {parts}; max_tokens={wider} shows more"));
    }
    if fitted.shortened > 0 {
        notes.push("session_expand(session=.., id=..) shows a whole message".to_owned());
    }
    if let Mode::Read { omitted: omitted @ 1.. } = mode {
        notes.push(format!("{} in the middle left out", count(omitted, "message")));
    }
    (!notes.is_empty()).then(|| notes.join("; "))
}

/// Calls that show more.
fn proposed_calls(draft: &Draft, fitted: &Fitted) -> Vec<String> {
    let sessions = draft.items.iter().zip(&fitted.shown);
    let calls = sessions.flat_map(|(item, shown)| match draft.mode {
        Mode::Discover(_) => vec![match item.messages.iter().find(|message| message.anchor) {
            Some(hit) => scroll_call(item, hit.id),
            None => read_call(item),
        }],
        Mode::Scroll { before, after } => scroll_on(item, shown, before, after),
        Mode::Read { omitted } => read_on(item, shown, omitted).into_iter().collect(),
        Mode::Browse => vec![read_call(item)],
    });
    match draft.mode {
        Mode::Browse => calls.take(1).collect(),
        _ => calls.collect(),
    }
}

/// The id of a session, escaped for use outside the tags.
fn session_argument(item: &SessionItem) -> String {
    quoted(item.fields.get("session_id").and_then(Value::as_str).unwrap_or_default())
}

fn scroll_call(item: &SessionItem, message: MessageId) -> String {
    format!("session_search(session={}, around={message})", session_argument(item))
}

fn read_call(item: &SessionItem) -> String {
    format!("session_search(session={})", session_argument(item))
}

/// Where to scroll to see the messages after and before those shown.
fn scroll_on(item: &SessionItem, shown: &[usize], before: i64, after: i64) -> Vec<String> {
    let (Some(first), Some(last)) = (shown.first(), shown.last()) else { return Vec::new() };
    let mut indexes = Vec::new();
    if *last + 1 < item.messages.len() || after > 0 {
        indexes.push(*last);
    }
    if *first > 0 || before > 0 {
        indexes.push(*first);
    }
    let ends = indexes.iter().filter_map(|index| item.messages.get(*index));
    ends.map(|message| scroll_call(item, message.id)).collect()
}

/// Where to scroll from the end of the unbroken beginning of a session, if it is not shown whole.
fn read_on(item: &SessionItem, shown: &[usize], omitted: i64) -> Option<String> {
    let unbroken = shown.iter().enumerate().take_while(|(nth, index)| nth == *index).count();
    let mut end = (unbroken < item.messages.len()).then_some(unbroken);
    if omitted > 0 {
        // Two thirds of the messages of a session that is not read whole are its beginning.
        let beginning = item.messages.len() * 2 / 3;
        end = Some(end.map_or(beginning, |end| end.min(beginning)));
    }
    let last = item.messages.get(end?.checked_sub(1)?)?;
    Some(scroll_call(item, last.id))
}
