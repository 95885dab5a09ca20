//! Turns of sessions as interactions: a message that a person typed, and the answers until the next one.
//! They are read from the messages; no text is stored twice.

use crate::memories::typed_text;
use crate::projects;
use crate::settings::Settings;
use oneiro_model::{
    Interaction, InteractionId, MessageId, Result, Role, SessionId, Visibility, searchable_split,
};
use oneiro_store::interactions::Filter;
use oneiro_store::message_rows::{self, MessageRow};
use oneiro_store::{Tx, sessions};
use rustc_hash::{FxHashMap, FxHashSet};

/// Messages that are read at once.
const READ_BATCH_ROWS: usize = 256;

/// Newest messages of users among which turns are looked for.
const SCANNED_ROWS_MAX: usize = 50_000;

/// Messages that an answer is read from.
const ANSWER_MESSAGES_MAX: usize = 1_000;

/// What a turn tells about its session.
#[derive(Clone)]
struct SessionFacts {
    id: SessionId,
    source: String,
    project: Option<String>,
    is_ended: bool,
    /// Whether its turns are interactions at all.
    is_read: bool,
}

/// Reads turns in one transaction.
pub(super) struct Turns<'t, 'c> {
    tx: &'t Tx<'c>,
    settings: &'t Settings,
    sessions: FxHashMap<i64, Option<SessionFacts>>,
}

impl<'t, 'c> Turns<'t, 'c> {
    pub(super) fn new(tx: &'t Tx<'c>, settings: &'t Settings) -> Turns<'t, 'c> {
        Turns { tx, settings, sessions: FxHashMap::default() }
    }

    /// Turns that are closed by the next one or by the end of the session, without their answers, the
    /// last stored first.
    pub(super) fn list(&mut self, filter: &Filter<'_>, limit: usize) -> Result<Vec<Interaction>> {
        let session = match filter.session {
            Some(id) => match sessions::key(self.tx, &SessionId::new(id)?)? {
                Some(key) => Some(key),
                None => return Ok(Vec::new()),
            },
            None => None,
        };
        let (mut found, mut followed) = (Vec::new(), FxHashSet::default());
        let (mut before, mut scanned) = (i64::MAX, 0);
        while found.len() < limit && scanned < SCANNED_ROWS_MAX {
            let rows = message_rows::of_users_before(self.tx, session, before, READ_BATCH_ROWS)?;
            let Some(last) = rows.last() else { break };
            before = last.seq;
            scanned += rows.len();
            for row in rows {
                let Some(facts) = self.session(row.session_key)? else { continue };
                let is_wanted = facts.is_read
                    && filter.project.is_none_or(|it| facts.project.as_deref() == Some(it))
                    && filter.client.is_none_or(|it| facts.source == it);
                if !is_wanted {
                    continue;
                }
                let prompt = typed_text(&row.body).trim().to_owned();
                if prompt.is_empty() {
                    continue;
                }
                let is_closed = !followed.insert(row.session_key) || facts.is_ended;
                let is_late = filter.since.is_none_or(|since| row.at >= since);
                if is_closed && is_late && found.len() < limit {
                    found.push(interaction(&row, prompt, &facts));
                }
            }
        }
        Ok(found)
    }

    /// The turn that a message begins, with its answer; an open one too.
    pub(super) fn show(&mut self, message: MessageId) -> Result<Option<Interaction>> {
        let Some(row) = message_rows::by_ids(self.tx, &[message.0])?.pop() else { return Ok(None) };
        let prompt = typed_text(&row.body).trim().to_owned();
        let is_prompt =
            row.role == Role::User && row.visibility != Visibility::Rewound && !prompt.is_empty();
        let facts = self.session(row.session_key)?.filter(|facts| facts.is_read && is_prompt);
        let Some(facts) = facts else { return Ok(None) };
        let mut turn = interaction(&row, prompt, &facts);
        turn.response = self.answer(&row)?;
        Ok(Some(turn))
    }

    /// What assistants said until the next prompt.
    fn answer(&self, prompt: &MessageRow) -> Result<Option<String>> {
        let (mut said, mut after, mut read) = (Vec::new(), prompt.seq, 0);
        'turn: while read < ANSWER_MESSAGES_MAX {
            let rows =
                message_rows::session_after(self.tx, prompt.session_key, after, READ_BATCH_ROWS)?;
            let Some(last) = rows.last() else { break };
            after = last.seq;
            read += rows.len();
            for row in &rows {
                if row.role == Role::User && !typed_text(&row.body).trim().is_empty() {
                    break 'turn;
                }
                if row.role == Role::Assistant {
                    said.push(searchable_split(&row.role, &row.body).words().trim().to_owned());
                }
            }
        }
        said.retain(|text| !text.is_empty());
        Ok((!said.is_empty()).then(|| said.join("\n\n")))
    }

    fn session(&mut self, key: i64) -> Result<Option<SessionFacts>> {
        if let Some(known) = self.sessions.get(&key) {
            return Ok(known.clone());
        }
        let facts = match sessions::get_without_prompt(self.tx, key)? {
            Some(session) => {
                let excluded = &self.settings.learn_exclude_projects;
                let is_excluded = session
                    .project
                    .as_deref()
                    .is_some_and(|project| excluded.iter().any(|pattern| pattern.matches(project)));
                let (name, folder) = (session.project.as_deref(), session.cwd.as_deref());
                let project = projects::of_session(self.tx, name, folder)?;
                Some(SessionFacts {
                    id: session.id,
                    source: session.source,
                    project,
                    is_ended: session.ended_at.is_some(),
                    is_read: !is_excluded,
                })
            }
            None => None,
        };
        self.sessions.insert(key, facts.clone());
        Ok(facts)
    }
}

fn interaction(row: &MessageRow, prompt: String, session: &SessionFacts) -> Interaction {
    let message = MessageId(row.seq);
    Interaction {
        id: InteractionId::of_turn(message),
        prompt,
        response: None,
        response_summary: None,
        pack_id: None,
        memories_used: Vec::new(),
        chunks_used: Vec::new(),
        client: Some(session.source.clone()),
        session_id: Some(session.id.clone()),
        project: session.project.clone(),
        message_id: Some(message),
        created_at: row.at,
    }
}
