//! What a person takes back in words that no rule of claims finds: "pool size -> 80". The sentence takes the
//! place of the memory that it is about, so that what is believed holds.

use super::apply_claim::{
    COMPARED_MEMORIES, is_within_daily_limit, last_said, supersede_learnt, suspend_replaced,
};
use super::read::MessageClaims;
use crate::change_words::Statement;
use crate::memories::{Evidence, NewClaim, clean, new_memory, refuse_undone};
use crate::operations::Edit;
use oneiro_claims::{plain_sentences, resolve_dates};
use oneiro_model::{
    Citation, ErrorKind, Extracted, Memory, MemoryStatus, MessageId, Result, Timestamp, Trust,
};
use oneiro_store::operations::Record;
use oneiro_store::{claim_hash, memories};
use oneiro_text::normalise;

/// Characters of a sentence that becomes a memory.
const CONTENT_CHARS_MIN: usize = 8;
const CONTENT_CHARS_MAX: usize = 280;

/// A sentence that tells a change.
#[derive(Debug, Clone)]
pub(super) struct ToldChange {
    quote: String,
    /// The sentence with days in place of words such as "tomorrow".
    content: String,
    statement: Statement,
}

/// The sentences of a text that tell a change.
pub(super) fn told_changes(text: &str, at: Timestamp, utc_offset_seconds: i32) -> Vec<ToldChange> {
    let mut changes = Vec::new();
    for range in plain_sentences(text) {
        let said = text.get(range).unwrap_or_default().trim();
        let statement = Statement::read(said);
        if !statement.tells_change() {
            continue;
        }
        let stated = said.get(statement.lead_end()..).unwrap_or(said).trim_start();
        let resolved = resolve_dates(stated, at, utc_offset_seconds, true).text;
        let content = sentence_of(&clean(&resolved));
        if (CONTENT_CHARS_MIN..=CONTENT_CHARS_MAX).contains(&content.chars().count()) {
            changes.push(ToldChange { quote: said.to_owned(), content, statement });
        }
    }
    changes
}

/// A text as a sentence.
fn sentence_of(text: &str) -> String {
    let mut letters = text.chars();
    let Some(first) = letters.next() else { return String::new() };
    let mut sentence: String = first.to_uppercase().chain(letters).collect();
    if sentence.ends_with(char::is_alphanumeric) {
        sentence.push('.');
    }
    sentence
}

/// Puts the sentences that tell a change in the place of the memories that they are about.
pub(super) fn apply_told_changes(
    edit: &Edit<'_, '_>,
    message: &MessageClaims,
    counted: &mut Extracted,
) -> Result<()> {
    if message.changes.is_empty() {
        return Ok(());
    }
    let filter = memories::Filter { status: Some(MemoryStatus::Active), ..Default::default() };
    let of_person = memories::Filter { subject: Some(message.subject.clone()), ..filter.clone() };
    let mut known: Vec<Memory> = Vec::new();
    for filter in [filter, of_person] {
        for row in memories::list_without_citations(edit.tx, &filter, COMPARED_MEMORIES)? {
            if !known.iter().any(|memory| memory.id == row.memory.id) {
                known.push(row.memory);
            }
        }
    }
    for change in &message.changes {
        let Replaced { memories, by } = replaced_by(edit, message, change, &known)?;
        let Some(first) = memories.first() else { continue };
        let by = match by {
            Some(by) => by,
            None => {
                let Some(new) = new_statement(edit, message, change, first)? else { continue };
                let is_active = new.status == MemoryStatus::Active;
                *(if is_active { &mut counted.active } else { &mut counted.candidates }) += 1;
                new
            }
        };
        if by.status == MemoryStatus::Active {
            counted.superseded += supersede_learnt(edit, &by, &memories)?;
        } else {
            suspend_replaced(edit, (&by, message.at), memories.into_iter())?;
        }
    }
    Ok(())
}

/// What a sentence takes back.
struct Replaced {
    memories: Vec<Memory>,
    /// The claim of the message that states the sentence, if there is one.
    by: Option<Memory>,
}

fn replaced_by(
    edit: &Edit<'_, '_>,
    message: &MessageClaims,
    change: &ToldChange,
    known: &[Memory],
) -> Result<Replaced> {
    let mut found = Replaced { memories: Vec::new(), by: None };
    for memory in known {
        let content = normalise(&memory.content);
        if !is_about(memory, message) || !change.statement.may_be_about(&content) {
            continue;
        }
        // Another claim of the message may have superseded it by now.
        let Some(memory) = Memory::load(edit.tx, memory.id.as_str())? else { continue };
        let mut cited = memory.citations.iter();
        let own = cited.find(|citation| citation.message_id == Some(MessageId(message.seq)));
        if let Some(own) = own {
            let states = change.quote.contains(own.quote.trim());
            found.by = found.by.or(states.then_some(memory));
            continue;
        }
        let older = Statement::read(&memory.content);
        let is_theirs = memory.subject.as_ref() == Some(&message.subject);
        let is_own = change.statement.is_own || older.is_own;
        let is_in_force = memory.status == MemoryStatus::Active
            && memory.suspended_by.is_none()
            && memory.is_valid_at(message.at);
        if is_in_force
            && (is_theirs || !is_own)
            && change.statement.tells_change_of(&older)
            && last_said(edit.tx, &memory)? <= message.at
        {
            found.memories.push(memory);
        }
    }
    Ok(found)
}

/// Whether a memory may be about what a message speaks of.
fn is_about(memory: &Memory, message: &MessageClaims) -> bool {
    let is_of_person = memory.subject.as_ref().is_none_or(|subject| *subject == message.subject);
    let is_of_project = memory.project.is_none() || memory.project == message.project;
    is_of_person && is_of_project
}

/// The sentence as a memory like the one that it replaces; `None` if a person refused it.
fn new_statement(
    edit: &Edit<'_, '_>,
    message: &MessageClaims,
    change: &ToldChange,
    replaced: &Memory,
) -> Result<Option<Memory>> {
    let mut memory = new_memory(
        edit,
        NewClaim {
            kind: replaced.kind,
            subject: replaced.subject.clone(),
            content: &change.content,
            project: replaced.project.clone(),
            trust: Trust::Owner,
            status: MemoryStatus::Candidate,
        },
    );
    memory.valid_from = Some(message.at);
    let citation = Citation {
        message_id: Some(MessageId(message.seq)),
        session_id: Some(message.session_id.clone()),
        quote: clean(&change.quote),
        trust: Trust::Owner,
    };
    memory.citations.push(citation.clone());
    let evidence = Evidence { said_at: Some(message.at), problem: None, citation };
    match refuse_undone(edit, &memory, Some(&evidence)) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::Conflict => return Ok(None),
        Err(error) => return Err(error),
    }
    if message.may_activate && is_within_daily_limit(edit, message.at)? {
        memory.status = MemoryStatus::Active;
    }
    let claim = claim_hash::of_memory(edit.identity, &memory);
    if memories::by_claim(edit.tx, &claim, memory.status)?.is_some() {
        return Ok(None);
    }
    let reason = format!("you said, {} (takes back {})", message.at.date_text(), replaced.id);
    edit.create_because(&memory, &reason)?;
    Memory::load(edit.tx, memory.id.as_str())
}
