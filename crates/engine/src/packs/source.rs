//! Whose words a pack may show or must not show any more: memories and messages with their sentences.

use super::gather::Gathered;
use super::line::Line;
use crate::change_words::Statement;
use crate::echo::is_served_text;
use crate::learning::last_said;
use crate::memories::typed_text;
use oneiro_extract::sentence_ranges;
use oneiro_model::{Hit, MessageId, PackKind, Result, Role, SessionId, Timestamp, Visibility};
use oneiro_store::message_rows::MessageRow;
use oneiro_store::{Tx, memories, sessions};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Somebody's words.
pub(super) struct Source {
    pub(super) kind: PackKind,
    pub(super) id: String,
    /// The number of the message; 0 for a memory.
    pub(super) seq: i64,
    pub(super) at: Timestamp,
    pub(super) speaker: Option<String>,
    /// Whether a person said it, or it is a memory.
    pub(super) is_stated: bool,
    pub(super) session: Option<SessionId>,
    /// The message that it is, or that the memory cites last, with its session.
    pub(super) said_in: Option<(SessionId, i64)>,
    pub(super) project: Option<String>,
    pub(super) text: String,
    pub(super) sentences: Vec<(Range<usize>, Statement)>,
    /// Whether it may be shown in place of what it replaces.
    pub(super) is_shown: bool,
}

impl Source {
    fn read(mut self) -> Source {
        let text = std::mem::take(&mut self.text);
        let ranges = sentence_ranges(&text).into_iter();
        let sentences = ranges.filter_map(|range| {
            let statement = Statement::read(text.get(range.clone())?);
            Some((range, statement))
        });
        self.sentences = sentences.collect();
        self.text = text;
        self
    }

    pub(super) fn of_hit(hit: &Hit, speaker: &str) -> Source {
        Source {
            kind: PackKind::Message,
            id: hit.id.to_string(),
            seq: hit.id.0,
            at: hit.at,
            speaker: Some(speaker.to_owned()),
            is_stated: hit.role == Role::User && !is_served_text(&hit.snippet),
            session: Some(hit.session_id.clone()),
            said_in: Some((hit.session_id.clone(), hit.id.0)),
            project: hit.project.clone(),
            text: hit.snippet.clone(),
            sentences: Vec::new(),
            is_shown: true,
        }
        .read()
    }

    /// What a person typed; `None` if they repeat what was served.
    pub(super) fn of_row(
        row: &MessageRow,
        session: &SessionId,
        speaker: Option<&str>,
    ) -> Option<Source> {
        let text = typed_text(&row.body);
        let name = row.body.get("name").and_then(serde_json::Value::as_str).or(speaker);
        let is_stated = row.role == Role::User && row.visibility != Visibility::Rewound;
        (is_stated && !is_served_text(&text)).then(|| {
            Source {
                kind: PackKind::Message,
                id: MessageId(row.seq).to_string(),
                seq: row.seq,
                at: row.at,
                speaker: Some(name.unwrap_or(Role::User.as_str()).to_owned()),
                is_stated: true,
                session: Some(session.clone()),
                said_in: Some((session.clone(), row.seq)),
                project: None,
                text,
                sentences: Vec::new(),
                is_shown: false,
            }
            .read()
        })
    }

    pub(super) fn is_after(&self, other: &Source) -> bool {
        (self.at, self.seq) > (other.at, other.seq)
    }

    /// Whether a statement of it may be about the same person and project as one of `older`.
    pub(super) fn is_about_same(&self, newer: &Statement, older: (&Source, &Statement)) -> bool {
        let (source, statement) = older;
        let is_other_project = self.project.is_some()
            && source.project.is_some()
            && self.project != source.project
            && !newer.is_own;
        let is_same_person = match (source.is_stated, newer.is_own || statement.is_own) {
            (_, false) => true,
            (true, true) => match (&self.speaker, &source.speaker) {
                (Some(one), Some(other)) => one.to_lowercase() == other.to_lowercase(),
                _ => true,
            },
            // An assistant speaks to the person of its session.
            (false, true) => self.session == source.session,
        };
        !is_other_project && is_same_person
    }
}

/// The words of the memories and messages that would be shown.
pub(super) fn shown_sources(
    tx: &Tx<'_>,
    lines: &[Line],
    gathered: &Gathered<'_>,
) -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    for line in lines.iter().filter(|line| line.omit.is_none()) {
        match line.kind {
            PackKind::Memory => {
                let mut hits = gathered.memories.memories.iter();
                if let Some(hit) = hits.find(|hit| hit.id.as_str() == line.id) {
                    sources.extend(source_of_memory(tx, hit)?);
                }
            }
            PackKind::Message => {
                let mut hits = gathered.messages.hits.iter();
                if let Some(hit) = hits.find(|hit| hit.id.to_string() == line.id) {
                    sources.push(Source::of_hit(hit, gathered.speaker(hit)));
                }
            }
            _ => {}
        }
    }
    Ok(sources)
}

pub(super) fn source_of_memory(
    tx: &Tx<'_>,
    hit: &oneiro_model::MemoryHit,
) -> Result<Option<Source>> {
    let found = memories::by_id_prefix(tx, hit.id.as_str())?.into_iter().next();
    let Some((_, memory)) = found else { return Ok(None) };
    let said = last_said(tx, &memory)?;
    let cited = memory
        .citations
        .iter()
        .filter_map(|citation| Some((citation.session_id.clone()?, citation.message_id?.0)));
    let source = Source {
        kind: PackKind::Memory,
        id: hit.id.to_string(),
        seq: 0,
        at: said,
        speaker: hit.subject.clone(),
        is_stated: true,
        session: None,
        said_in: cited.max_by_key(|(_, seq)| *seq),
        project: hit.project.clone(),
        text: hit.content.clone(),
        sentences: Vec::new(),
        is_shown: true,
    };
    Ok(Some(source.read()))
}

/// Who said a message: the name, the user of the session, or the role.
pub(super) fn speaker_of(
    tx: &Tx<'_>,
    hit: &Hit,
    known: &mut FxHashMap<SessionId, Option<String>>,
) -> Result<String> {
    if let Some(name) = hit.name.as_deref().map(str::trim).filter(|name| !name.is_empty()) {
        return Ok(name.to_owned());
    }
    if hit.role != Role::User {
        return Ok(hit.role.as_str().to_owned());
    }
    if !known.contains_key(&hit.session_id) {
        let user = match sessions::key(tx, &hit.session_id)? {
            Some(key) => sessions::get_without_prompt(tx, key)?.and_then(|it| it.user_id),
            None => None,
        };
        known.insert(hit.session_id.clone(), user);
    }
    let user = known.get(&hit.session_id).and_then(Option::as_deref);
    Ok(user.unwrap_or(hit.role.as_str()).to_owned())
}
