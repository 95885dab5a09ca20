//! Reads messages for what they state: who said it, about whom, in which project, and which memories an
//! answer rests on. It writes nothing.

use super::told_changes::{ToldChange, told_changes};
use super::uses::UsageMatcher;
use crate::echo::{ServedLines, Stripped, served_to, without_labelled_lines};
use crate::memories::{USER_SUBJECT, judge_message, typed_text};
use crate::settings::Settings;
use crate::{Oneiro, projects};
use oneiro_claims::{Claim, Speaker, Utterance, claims};
use oneiro_model::{
    MemoryId, Result, Role, SessionId, Timestamp, Trust, Visibility, searchable_split,
};
use oneiro_store::message_rows::{self, MessageRow};
use oneiro_store::{Tx, sessions};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Characters of a message that are read.
const READ_CHARS_MAX: usize = 64 * 1024;

/// Messages before an answer among which its prompt is looked for.
const PROMPT_SCAN_MESSAGES: usize = 32;

/// Words of an answer that may only acknowledge what was said: "Noted."
const ACKNOWLEDGEMENT_WORDS_MAX: usize = 8;

/// Maximum number of claims taken from one message.
const CLAIMS_PER_MESSAGE: usize = 50;

/// The claims of a message, and the memories it rests on.
#[derive(Debug, Clone)]
pub(super) struct MessageClaims {
    pub(super) seq: i64,
    pub(super) session_id: SessionId,
    /// When it was said.
    pub(super) at: Timestamp,
    /// The person who speaks in the session.
    pub(super) subject: String,
    pub(super) project: Option<String>,
    pub(super) claims: Vec<FoundClaim>,
    /// Sentences in own words that may take back what is known.
    pub(super) changes: Vec<ToldChange>,
    /// Memories that it rests on, if an assistant wrote it, and the prompt that it answers.
    pub(super) used: Vec<MemoryId>,
    pub(super) prompt: String,
    /// Whether plain statements in own words are believed at once.
    pub(super) may_activate: bool,
}

/// A claim with the words it rests on.
#[derive(Debug, Clone)]
pub(super) struct FoundClaim {
    pub(super) claim: Claim,
    pub(super) quote: String,
    pub(super) trust: Trust,
    pub(super) speaker: Speaker,
}

impl FoundClaim {
    /// Whether the person said it in own words.
    pub(super) fn is_own_words(&self) -> bool {
        self.speaker == Speaker::Person && self.trust == Trust::Owner
    }
}

/// Messages that were read.
pub(super) struct ReadMessages {
    /// How many they are.
    pub(super) count: usize,
    /// Those that have claims or rest on memories.
    pub(super) found: Vec<MessageClaims>,
}

/// What is known about a session.
struct SessionFacts {
    id: SessionId,
    subject: String,
    project: Option<String>,
    /// Whether it is read at all.
    is_read: bool,
    /// What Oneiro served to it: its own words coming back prove nothing.
    served: ServedLines,
}

/// Reads messages in one transaction.
pub(super) struct Reader<'r, 'c> {
    tx: &'r Tx<'c>,
    settings: Arc<Settings>,
    matcher: Arc<UsageMatcher>,
    sessions: FxHashMap<i64, Option<SessionFacts>>,
    /// The last message of each session that was read in this batch.
    last: FxHashMap<i64, MessageRow>,
    /// What the user of each session typed last.
    prompts: FxHashMap<i64, String>,
}

impl<'r, 'c> Reader<'r, 'c> {
    pub(super) fn new(oneiro: &Oneiro, tx: &'r Tx<'c>) -> Result<Reader<'r, 'c>> {
        Ok(Reader {
            tx,
            settings: oneiro.settings_in(tx)?,
            matcher: oneiro.usage_matcher(tx)?,
            sessions: FxHashMap::default(),
            last: FxHashMap::default(),
            prompts: FxHashMap::default(),
        })
    }

    pub(super) fn read_all(&mut self, rows: Vec<MessageRow>) -> Result<ReadMessages> {
        let mut read = ReadMessages { count: rows.len(), found: Vec::new() };
        for row in rows {
            if row.visibility == Visibility::Rewound {
                continue;
            }
            read.found.extend(self.read_message(&row)?);
            if row.role == Role::User {
                self.prompts.insert(row.session_key, typed_text(&row.body));
            }
            self.last.insert(row.session_key, row);
        }
        Ok(read)
    }

    fn read_message(&mut self, row: &MessageRow) -> Result<Option<MessageClaims>> {
        let speaker = match row.role {
            Role::User => Speaker::Person,
            Role::Assistant => Speaker::Assistant,
            _ => return Ok(None),
        };
        self.find_session(row.session_key)?;
        let Some(Some(session)) = self.sessions.get(&row.session_key) else { return Ok(None) };
        if !session.is_read {
            return Ok(None);
        }
        let text = match speaker {
            Speaker::Person => typed_text(&row.body),
            Speaker::Assistant => searchable_split(&row.role, &row.body).words().to_owned(),
        };
        let end = text.char_indices().nth(READ_CHARS_MAX).map_or(text.len(), |(end, _)| end);
        let whole = text.get(..end).unwrap_or_default();
        let stripped = session.served.strip(whole);
        let text = without_labelled_lines(&stripped.text);
        let text = text.as_str();
        if whole.trim().is_empty() {
            return Ok(None);
        }
        let previous = self.previous(row)?;
        let mut said_before = previous.as_ref().map(words);
        let is_answer = previous.is_some_and(|previous| previous.role == Role::Assistant);
        if let Some(answer) = said_before.as_mut().filter(|_| is_answer)
            && speaker == Speaker::Person
            && answer.split_whitespace().count() <= ACKNOWLEDGEMENT_WORDS_MAX
        {
            // "Noted." says nothing of what "no, 8181" is about; what the person said before does.
            *answer = format!("{}\n{answer}", self.prompt(row)?);
        }
        let (trust, _) = judge_message(self.tx, row)?;
        let name = row.body.get("name").and_then(serde_json::Value::as_str).map(str::trim);
        let name = name.filter(|name| !name.is_empty() && speaker == Speaker::Person);
        let subject = name.map_or_else(|| session.subject.clone(), str::to_owned);
        let utterance = Utterance {
            text,
            speaker,
            at: row.at,
            utc_offset_seconds: self.settings.utc_offset_seconds(row.at),
            previous: said_before.as_deref(),
        };
        let found = claims(&utterance).into_iter().take(CLAIMS_PER_MESSAGE);
        let found = found.filter_map(|claim| {
            let quote = text.get(claim.quote.clone())?.trim().to_owned();
            Some(FoundClaim { claim, quote, trust, speaker })
        });
        let found: Vec<FoundClaim> = found.collect();
        let used = match speaker {
            Speaker::Assistant => self.used_memories(whole, &stripped, session),
            Speaker::Person => Vec::new(),
        };
        let changes = match speaker {
            Speaker::Person if trust == Trust::Owner => {
                told_changes(text, row.at, utterance.utc_offset_seconds)
            }
            _ => Vec::new(),
        };
        if found.is_empty() && used.is_empty() && changes.is_empty() {
            return Ok(None);
        }
        let prompt = if used.is_empty() { String::new() } else { self.prompt(row)? };
        let Some(Some(session)) = self.sessions.get(&row.session_key) else { return Ok(None) };
        Ok(Some(MessageClaims {
            seq: row.seq,
            session_id: session.id.clone(),
            at: row.at,
            subject,
            project: session.project.clone(),
            claims: found,
            changes,
            used,
            prompt,
            may_activate: self.settings.learn_activate_own_words,
        }))
    }

    /// The memories that an answer rests on.
    fn used_memories(
        &self,
        answer: &str,
        stripped: &Stripped,
        session: &SessionFacts,
    ) -> Vec<MemoryId> {
        let project = session.project.as_deref();
        let mut used = self.matcher.used_by(answer, &session.subject, project);
        if stripped.consecutive {
            // Several served lines in a row are a copy, not an answer.
            used.retain(|id| !stripped.echoed.contains(id));
        } else {
            used.extend(answer.lines().filter_map(|line| session.served.sentence_rests_on(line)));
        }
        used.sort();
        used.dedup();
        used
    }

    /// What the user typed before a message.
    fn prompt(&self, row: &MessageRow) -> Result<String> {
        if let Some(prompt) = self.prompts.get(&row.session_key) {
            return Ok(prompt.clone());
        }
        let before =
            message_rows::session_before(self.tx, row.session_key, row.seq, PROMPT_SCAN_MESSAGES)?;
        let asked = before.into_iter().find(|row| row.role == Role::User);
        Ok(asked.map(|row| typed_text(&row.body)).unwrap_or_default())
    }

    /// The message before one in its session.
    fn previous(&self, row: &MessageRow) -> Result<Option<MessageRow>> {
        match self.last.get(&row.session_key) {
            Some(last) => Ok(Some(last.clone())),
            None => {
                let before = message_rows::session_before(self.tx, row.session_key, row.seq, 1)?;
                Ok(before.into_iter().next())
            }
        }
    }

    fn find_session(&mut self, key: i64) -> Result<()> {
        if self.sessions.contains_key(&key) {
            return Ok(());
        }
        let session = sessions::get_without_prompt(self.tx, key)?;
        let facts = session.map(|session| {
            let is_excluded = session.project.as_deref().is_some_and(|project| {
                self.settings.learn_exclude_projects.iter().any(|pattern| pattern.matches(project))
            });
            let is_read =
                !is_excluded && !self.settings.is_of_machine(&session.id, &session.source);
            let (name, folder) = (session.project.as_deref(), session.cwd.as_deref());
            let project = projects::of_session(self.tx, name, folder)?;
            Ok::<_, oneiro_model::Error>(SessionFacts {
                subject: session.user_id.clone().unwrap_or_else(|| USER_SUBJECT.to_owned()),
                served: served_to(self.tx, Some(&session.id), Some(&session.source))?,
                id: session.id,
                project,
                is_read,
            })
        });
        self.sessions.insert(key, facts.transpose()?);
        Ok(())
    }
}

fn words(row: &MessageRow) -> String {
    searchable_split(&row.role, &row.body).words().to_owned()
}
