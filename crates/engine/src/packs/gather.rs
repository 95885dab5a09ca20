//! Gathers the lines that a pack may show: facts of the project, memories and messages, each band in the
//! order of relevance, with the reason if one may not be shown.

use super::asked_time::AskedTime;
use super::current::Asked;
use super::excerpt::{BEST_CHARS, OTHER_CHARS, excerpt};
use super::line::{Line, MemoryParts, MessageParts};
use super::prompt::Prompt;
use super::relevance::{Relevance, RelevanceScorer};
use super::source::speaker_of;
use crate::Oneiro;
use crate::echo::{comparable, is_served_text};
use crate::memories::{USER_SUBJECT, with_asked_words};
use oneiro_model::{
    Confidence, Found, Hit, HitKind, ListState, Memory, MemoryHit, MemoryKind, MemoryStatus,
    MessageId, OmitReason, PackKind, PackRequest, Result, Role, SearchRequest, Timestamp,
};
use oneiro_store::memories::{self, Cited, Filter};
use oneiro_store::served_lines::{self, ServedTo};
use oneiro_store::{Tx, pack_outcomes, sessions};
use rustc_hash::{FxHashMap, FxHashSet};

/// Memories and messages that are looked at.
const MEMORIES_MAX: usize = 40;
const MESSAGES_MIN: usize = 30;
const MESSAGES_MAX: usize = 120;

/// Messages that are shown at length: of most questions one of them is the answer.
pub(super) const BEST_MESSAGES: usize = 5;

/// Tokens of a short message with its label.
const MESSAGE_TOKENS_MIN: usize = 20;

/// Served lines of a session that are not served again.
const SERVED_MAX: usize = 2_000;

/// What was found for a prompt.
pub(super) struct Gathered<'f> {
    pub(super) memories: &'f Found,
    pub(super) messages: &'f Found,
    /// Who said each message that was found.
    speakers: FxHashMap<MessageId, String>,
    now: Timestamp,
}

impl Gathered<'_> {
    pub(super) fn speaker<'a>(&'a self, hit: &'a Hit) -> &'a str {
        self.speakers.get(&hit.id).map_or(hit.role.as_str(), String::as_str)
    }

    /// Whether a memory is to be told as true.
    pub(super) fn holds(&self, hit: &MemoryHit) -> bool {
        omit_reason_of_hit(hit, self.now).is_none()
    }
}

impl Oneiro {
    /// The lines for a prompt.
    pub(super) fn gather_for_prompt(
        &self,
        request: &PackRequest,
        prompt: &Prompt,
    ) -> Result<Vec<Line>> {
        let search = |kind| SearchRequest {
            kinds: vec![kind],
            project: request.project.clone(),
            explain: true,
            ..SearchRequest::new(prompt.text.as_str())
        };
        let memories = self.search_words(&SearchRequest {
            history: true,
            limit: MEMORIES_MAX,
            ..search(HitKind::Memory)
        })?;
        let messages = self.search_words(&SearchRequest {
            exclude_lineage: request.session.clone(),
            roles: vec![Role::User, Role::Assistant],
            until: request.at,
            limit: (request.budget / MESSAGE_TOKENS_MIN).clamp(MESSAGES_MIN, MESSAGES_MAX),
            ..search(HitKind::Message)
        })?;
        let gathered = self.store.read(|tx| {
            let (mut speakers, mut users) = (FxHashMap::default(), FxHashMap::default());
            for hit in &messages.hits {
                speakers.insert(hit.id, speaker_of(tx, hit, &mut users)?);
            }
            Ok(Gathered { memories: &memories, messages: &messages, speakers, now: self.now() })
        })?;
        let lines = self.scored(request, prompt, &gathered)?;
        self.without_known(request, lines)
    }

    /// The lines with the reason why one is not relevant or does not hold.
    fn scored(
        &self,
        request: &PackRequest,
        prompt: &Prompt,
        gathered: &Gathered<'_>,
    ) -> Result<Vec<Line>> {
        let Gathered { memories, messages, now, .. } = *gathered;
        let offset = self.store.read(|tx| Ok(self.settings_in(tx)?.utc_offset_seconds(now)))?;
        let time = AskedTime::read(prompt, now, offset);
        let of_memories = memories.memories.iter().filter_map(|hit| hit.trace.as_ref());
        let of_messages = messages.hits.iter().filter_map(|hit| hit.trace.as_ref());
        let mut scorer = RelevanceScorer::new(prompt, of_memories.chain(of_messages).next());
        let mut scored: Vec<(Line, Relevance)> = Vec::new();
        for state in self.state_of(request)? {
            let line = Line::of_state(&state);
            let relevance = scorer.score(&line.text, None);
            scored.push((line, relevance));
        }
        for hit in &memories.memories {
            let line = Line::of_memory(&hit.into());
            let relevance = scorer.score(&with_asked_words(&line.text), hit.trace.as_ref());
            scored.push((line.omitted(omit_reason_of_hit(hit, now)), relevance));
        }
        for (rank, hit) in messages.hits.iter().enumerate() {
            let chars = if rank < BEST_MESSAGES { BEST_CHARS } else { OTHER_CHARS };
            let relevance = scorer.score(&hit.snippet, hit.trace.as_ref());
            let parts = MessageParts::of_hit(hit, gathered.speaker(hit));
            let line = Line::of_message(&parts, &excerpt(&hit.snippet, chars, &mut scorer));
            let outdated = self.store.read(|tx| outdated(tx, hit.id.0, &time, now))?;
            let line = line.omitted(is_served_text(&hit.snippet).then_some(OmitReason::Echo));
            scored.push((line.omitted(outdated), relevance));
        }
        let lines = scorer.mark_irrelevant(scored, is_answer(prompt, messages));
        self.keep_current(&Asked { request, prompt, time: &time, gathered }, lines, &mut scorer)
    }

    /// The lines for the start of a task: the state, the person, and the newest facts of the project.
    pub(super) fn gather_for_start(&self, request: &PackRequest) -> Result<Vec<Line>> {
        let mut lines: Vec<Line> = self.state_of(request)?.iter().map(Line::of_state).collect();
        let now = self.now();
        let (rows, person) = self.store.read(|tx| {
            let mut rows = Vec::new();
            for (kind, project) in start_kinds(request.project.as_deref()) {
                let filter = Filter {
                    status: Some(MemoryStatus::Active),
                    kind: Some(kind),
                    project,
                    ..Filter::default()
                };
                rows.extend(memories::list_without_citations(tx, &filter, MEMORIES_MAX)?);
            }
            Ok((rows, person_of(tx, request)?))
        })?;
        for row in &rows {
            let is_here =
                row.memory.project.as_ref().is_none_or(|of| Some(of) == request.project.as_ref());
            if is_here && is_about(&row.memory, person.as_deref()) {
                lines.push(
                    Line::of_memory(&(&row.memory).into()).omitted(omit_reason(&row.memory, now)),
                );
            }
        }
        self.without_known(request, lines)
    }

    fn state_of(&self, request: &PackRequest) -> Result<Vec<oneiro_model::ProjectState>> {
        match &request.project {
            Some(project) if oneiro_model::check_project_name(project).is_ok() => {
                self.projects().state(project, &ListState::default())
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Marks lines that the host has, or that the session was shown.
    fn without_known(&self, request: &PackRequest, mut lines: Vec<Line>) -> Result<Vec<Line>> {
        let host: Vec<String> = request.host_texts.iter().map(|text| comparable(text)).collect();
        let mut shown = FxHashSet::default();
        if let Some(session) = request.session.as_ref().filter(|_| request.new_only) {
            let to = ServedTo { session: Some(session), client: None };
            let served = self.store.read(|tx| served_lines::newest(tx, to, SERVED_MAX))?;
            shown.extend(
                served.into_iter().filter(|line| !line.repeatable).map(|line| line.item_id),
            );
        }
        for line in lines.iter_mut().filter(|line| line.omit.is_none()) {
            let statement = comparable(&line.statement);
            if shown.contains(&line.id) {
                line.omit = Some(OmitReason::Shown);
            } else if host.iter().any(|text| text.contains(&statement)) {
                line.omit = Some(OmitReason::Host);
            }
        }
        self.without_muted(request, lines)
    }

    /// Marks memories that the project was often shown and never used.
    fn without_muted(&self, request: &PackRequest, mut lines: Vec<Line>) -> Result<Vec<Line>> {
        let Some(project) = request.project.as_deref() else { return Ok(lines) };
        let is_judged = |line: &&mut Line| line.omit.is_none() && line.kind == PackKind::Memory;
        self.store.read(|tx| {
            for line in lines.iter_mut().filter(is_judged) {
                let muted = pack_outcomes::muted(tx, &line.id, project)?;
                line.omit = muted.map(|_| OmitReason::Muted);
            }
            Ok(())
        })?;
        Ok(lines)
    }
}

/// Whether the messages that were found answer a question: the search is sure of it, or the question names
/// somebody whose words are stored.
fn is_answer(prompt: &Prompt, messages: &Found) -> bool {
    let is_named = |hit: &Hit| {
        let parts = hit.trace.iter().flat_map(|trace| &trace.parts);
        parts.into_iter().any(|part| part.name == "speaker" && part.value > 0.0)
    };
    prompt.is_question
        && match messages.found {
            Confidence::Strong => true,
            Confidence::Weak => messages.hits.iter().any(is_named),
            Confidence::None => false,
        }
}

/// Why the statements of a message are not to be told: one was replaced, contradicted or refused since, or
/// all have ended and the prompt does not ask about the past.
fn outdated(tx: &Tx<'_>, seq: i64, time: &AskedTime, now: Timestamp) -> Result<Option<OmitReason>> {
    let (mut is_any, mut have_ended) = (false, true);
    for id in memories::citing(tx, Cited::Message(seq))? {
        for (_, memory) in memories::by_id_prefix(tx, &id)? {
            let is_past = matches!(memory.status, MemoryStatus::Superseded | MemoryStatus::Invalid)
                || memory.suspended_by.is_some();
            if is_past {
                return Ok(Some(OmitReason::Superseded));
            }
            is_any = true;
            have_ended &= memory.valid_until.is_some_and(|until| until <= now);
        }
    }
    let is_ended = is_any && have_ended && !time.is_past;
    Ok(is_ended.then_some(OmitReason::Ended))
}

/// The user of the session that asks, if one is known.
fn person_of(tx: &Tx<'_>, request: &PackRequest) -> Result<Option<String>> {
    let Some(session) = &request.session else { return Ok(None) };
    let Some(key) = sessions::key(tx, session)? else { return Ok(None) };
    Ok(sessions::get_without_prompt(tx, key)?.and_then(|session| session.user_id))
}

/// Whether a memory may be about `person`: what others are, prefer and ask for does not belong to the start of
/// their task. Somebody without a name in the space is `user`.
fn is_about(memory: &Memory, person: Option<&str>) -> bool {
    match (person, memory.subject.as_deref()) {
        (Some(person), Some(subject))
            if memory.kind.is_personal() || memory.kind == MemoryKind::Adaptation =>
        {
            subject == person || subject == USER_SUBJECT
        }
        _ => true,
    }
}

/// The kinds of memories that a task starts with, and of which project.
fn start_kinds(project: Option<&str>) -> Vec<(MemoryKind, Option<String>)> {
    let of_project = project.map(str::to_owned);
    vec![
        (MemoryKind::Identity, None),
        (MemoryKind::Preference, None),
        (MemoryKind::Adaptation, of_project.clone()),
        (MemoryKind::Project, of_project.clone()),
        (MemoryKind::Knowledge, of_project),
    ]
}

impl<'a> From<&'a Memory> for MemoryParts<'a> {
    fn from(memory: &'a Memory) -> MemoryParts<'a> {
        MemoryParts {
            id: memory.id.as_str(),
            kind: memory.kind,
            subject: memory.subject.as_deref(),
            content: &memory.content,
            at: memory.holds_from(),
        }
    }
}

/// Why a memory is not shown as true.
fn omit_reason(memory: &Memory, now: Timestamp) -> Option<OmitReason> {
    if memory.suspended_by.is_some() {
        Some(OmitReason::Suspended)
    } else {
        (!memory.is_valid_at(now)).then_some(OmitReason::Ended)
    }
}

/// The same for a memory that a search found.
fn omit_reason_of_hit(hit: &MemoryHit, now: Timestamp) -> Option<OmitReason> {
    let is_valid = hit.valid_from.is_none_or(|from| from <= now)
        && hit.valid_until.is_none_or(|until| now < until);
    match hit.status {
        MemoryStatus::Candidate => Some(OmitReason::Candidate),
        MemoryStatus::Superseded | MemoryStatus::Invalid => Some(OmitReason::Superseded),
        MemoryStatus::Active if hit.suspended_by.is_some() => Some(OmitReason::Suspended),
        MemoryStatus::Active => (!is_valid).then_some(OmitReason::Ended),
    }
}
