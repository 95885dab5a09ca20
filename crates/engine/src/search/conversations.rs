//! Session search for agents: discover conversations, scroll around a message, read a session,
//! browse recent sessions. It decides which part of a conversation is shown; finding and ranking
//! messages is left to the search.

mod discover;

use super::hits::name;
use super::snippet::beginning;
use crate::sessions::{fetch_session, message_in, resolve_in};
use crate::views::Search;
use oneiro_model::{
    BROWSE_LIMIT, Error, HIDDEN_SOURCES, ListSessions, MESSAGE_WINDOW, MessageId, MessageRef,
    Remedy, Result, Role, Session, SessionFound, SessionId, SessionSearch, SessionSearchRequest,
    ShownMessage, Visibility, searchable,
};
use oneiro_store::message_rows::{self, MessageRow};
use oneiro_store::{SessionRef, Tx, lineage, sessions};
use std::ops::RangeInclusive;

/// Characters shown of a message in a window.
const WINDOW_CHARS: usize = 4_000;

/// Characters shown of an opening or closing message.
const BOOKEND_CHARS: usize = 1_200;

/// Opening messages shown, and closing ones.
const BOOKEND_MESSAGES: usize = 3;

/// Messages read per batch when looking for user and assistant messages, and the number of batches.
const SPOKEN_SCAN: (usize, usize) = (8, 8);

/// The longest session that is shown complete, and how many of the first and the last messages of a
/// longer one are shown.
const READ_BATCH_MESSAGES: (usize, usize, usize) = (30, 20, 10);

impl Search<'_> {
    /// Searches for conversations, or shows one: see [`SessionSearchRequest`]. Rewound messages are
    /// never shown, compacted ones are.
    pub fn sessions(&self, request: &SessionSearchRequest) -> Result<SessionFound> {
        match request.mode()? {
            SessionSearch::Discover(asked) => self.oneiro.discover(&asked),
            SessionSearch::Scroll { session, around, window } => {
                within("window", window, 1..=MESSAGE_WINDOW.max)?;
                self.oneiro.store.read(|tx| scroll(tx, &session, &around, window))
            }
            SessionSearch::Read(session) => self.oneiro.store.read(|tx| read(tx, &session)),
            SessionSearch::Browse { limit, project, exclude_lineage } => {
                within("limit", limit, 1..=BROWSE_LIMIT.max)?;
                self.browse(limit, project, exclude_lineage.as_ref())
            }
        }
    }

    fn browse(
        &self,
        limit: usize,
        project: Option<String>,
        not: Option<&SessionId>,
    ) -> Result<SessionFound> {
        let family = match not {
            Some(id) => self.oneiro.store.read(|tx| family(tx, id))?,
            None => Vec::new(),
        };
        let request = ListSessions {
            project,
            exclude_sources: HIDDEN_SOURCES.map(str::to_owned).to_vec(),
            min_messages: 1,
            // Room for the sessions of the excluded lineage, which are removed below.
            limit: (limit + family.len()).min(1_000),
            ..ListSessions::default()
        };
        let mut sessions = self.oneiro.sessions().list(&request)?.items;
        sessions.retain(|session| !family.contains(&session.id));
        sessions.truncate(limit);
        Ok(SessionFound::Browse { sessions })
    }
}

/// The ids of all sessions that share a root with a session; none if it does not exist.
fn family(tx: &Tx<'_>, id: &SessionId) -> Result<Vec<SessionId>> {
    let Some(key) = sessions::key(tx, id)? else { return Ok(Vec::new()) };
    let ids = lineage::family(tx, key)?.into_iter().map(|key| sessions::id_and_project(tx, key));
    ids.filter_map(|found| found.map(|found| found.map(|(id, _)| id)).transpose()).collect()
}

fn scroll(
    tx: &Tx<'_>,
    session: &SessionId,
    around: &MessageRef,
    window: usize,
) -> Result<SessionFound> {
    let (key, id) = resolve_in(tx, session.as_str())?;
    let around = message_in(tx, around, Some(SessionRef { key, id: &id }))?;
    let anchor = message_rows::by_ids(tx, &[around.0])?.pop().ok_or_else(|| {
        Error::not_found(format!("there is no message {around}")).remedy(Remedy::ListMessages)
    })?;
    if anchor.visibility == Visibility::Rewound {
        return Err(Error::not_found(format!("message {around} was rewound"))
            .remedy(Remedy::RestoreRewound));
    }
    let mut note = None;
    let mut session_id = id;
    if anchor.session_key != key {
        let there = sessions::id_and_project(tx, anchor.session_key)?;
        let related = lineage::root_key(tx, key)? == lineage::root_key(tx, anchor.session_key)?;
        let Some((there, _)) = there.filter(|_| related) else {
            let asked = session_id.as_str();
            return Err(Error::not_found(format!(
                "message {around} is neither in session {asked:?} nor in one of its lineage"
            ))
            .remedy("give the session that the message was found in"));
        };
        note = Some(format!(
            "message {around} is in session {:?}, which is of the same lineage as {:?}",
            there.as_str(),
            session_id.as_str()
        ));
        session_id = there;
    }
    let total = fetch_session(tx, anchor.session_key)?.message_count;
    let shown_message = MessageWindow::of(tx, anchor, window, total)?;
    Ok(SessionFound::Scroll {
        session_id,
        messages: shown_message.messages,
        before: shown_message.before,
        after: shown_message.after,
        note,
    })
}

fn read(tx: &Tx<'_>, session: &SessionId) -> Result<SessionFound> {
    let (key, _) = resolve_in(tx, session.as_str())?;
    let session = without_system_prompt(tx, key)?;
    let (most, first, last) = READ_BATCH_MESSAGES;
    let mut found = message_rows::session_after(tx, key, 0, most + 1)?;
    let mut omitted = 0;
    if found.len() > most {
        found.truncate(first);
        let mut end = message_rows::session_before(tx, key, i64::MAX, last)?;
        end.reverse();
        found.append(&mut end);
        omitted = (session.message_count - found.len() as i64).max(0);
    }
    let messages = found.iter().map(|row| shown_message(row, WINDOW_CHARS)).collect();
    Ok(SessionFound::Read { session: Box::new(session), messages, omitted })
}

/// A session without its system prompt, which is not part of the conversation.
fn without_system_prompt(tx: &Tx<'_>, key: i64) -> Result<Session> {
    Ok(Session { system_prompt: None, ..fetch_session(tx, key)? })
}

fn shown_message(row: &MessageRow, chars: usize) -> ShownMessage {
    ShownMessage {
        id: MessageId(row.seq),
        role: row.role.clone(),
        name: name(row),
        at: row.at,
        text: beginning(&searchable(&row.role, &row.body), chars),
        anchor: false,
    }
}

/// The messages around a message, itself included.
#[derive(Default)]
struct MessageWindow {
    messages: Vec<ShownMessage>,
    before: i64,
    after: i64,
}

impl MessageWindow {
    /// The window in a session of `total` messages.
    fn of(tx: &Tx<'_>, anchor: MessageRow, window: usize, total: i64) -> Result<MessageWindow> {
        let (key, seq) = (anchor.session_key, anchor.seq);
        let mut earlier = message_rows::session_before(tx, key, seq, window)?;
        let mut later = message_rows::session_after(tx, key, seq, window)?;
        let reaches = (earlier.len() < window, later.len() < window);
        earlier.reverse();
        earlier.push(anchor);
        earlier.append(&mut later);
        let outside = (total - earlier.len() as i64).max(0);
        let before = match (reaches, earlier.first()) {
            ((true, _), _) | (_, None) => 0,
            ((false, true), _) => outside,
            (_, Some(first)) => {
                oneiro_store::messages::seqs_until(tx, key, first.seq - 1)?.len() as i64
            }
        };
        let messages = earlier
            .iter()
            .map(|row| ShownMessage { anchor: row.seq == seq, ..shown_message(row, WINDOW_CHARS) });
        Ok(MessageWindow { messages: messages.collect(), before, after: (outside - before).max(0) })
    }

    /// The first and last messages of the session that are outside the window.
    fn opening_and_closing(&self, tx: &Tx<'_>, key: i64) -> Result<[Vec<ShownMessage>; 2]> {
        let id = |message: Option<&ShownMessage>| message.map(|message| message.id.0);
        let first = id(self.messages.first()).unwrap_or(i64::MAX);
        let last = id(self.messages.last()).unwrap_or(0);
        let mut opening = Vec::new();
        if self.before > 0 || self.messages.is_empty() {
            let next = |at| message_rows::session_after(tx, key, at, SPOKEN_SCAN.0);
            opening = first_spoken(0, next, |row| row.seq < first)?;
        }
        let mut closing = Vec::new();
        if self.after > 0 {
            // In a short session the opening may already include the last messages.
            let last = last.max(id(opening.last()).unwrap_or(0));
            let next = |at| message_rows::session_before(tx, key, at, SPOKEN_SCAN.0);
            closing = first_spoken(i64::MAX, next, |row| row.seq > last)?;
            closing.reverse();
        }
        Ok([opening, closing])
    }
}

/// The first few user and assistant messages in the order of `next`, up to the first one that
/// `accepts` rejects.
fn first_spoken(
    mut at: i64,
    next: impl Fn(i64) -> Result<Vec<MessageRow>>,
    accepts: impl Fn(&MessageRow) -> bool,
) -> Result<Vec<ShownMessage>> {
    let mut found = Vec::new();
    for _ in 0..SPOKEN_SCAN.1 {
        let some = next(at)?;
        let Some(last) = some.last() else { break };
        at = last.seq;
        let ends = some.len() < SPOKEN_SCAN.0;
        for row in &some {
            if !accepts(row) || found.len() == BOOKEND_MESSAGES {
                return Ok(found);
            }
            if matches!(row.role, Role::User | Role::Assistant) {
                let message = shown_message(row, BOOKEND_CHARS);
                // A message that only calls tools has their names as text; one with only media has
                // no text.
                if !message.text.trim().is_empty() {
                    found.push(message);
                }
            }
        }
        if ends {
            break;
        }
    }
    Ok(found)
}

fn within(field: &'static str, value: usize, range: RangeInclusive<usize>) -> Result<()> {
    if range.contains(&value) {
        Ok(())
    } else {
        let (least, most) = range.into_inner();
        Err(Error::field(field, format!("{value} is not between {least} and {most}")))
    }
}
