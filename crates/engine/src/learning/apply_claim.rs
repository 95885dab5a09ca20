//! What becomes of a claim: a memory that is believed, one that waits for review, new evidence for one
//! that is known, or nothing. A newer statement of the person replaces the older one.

use super::endings::{ended_by, restated};
use super::read::{FoundClaim, MessageClaims};
use super::undated::{without_day, without_time};
use crate::memories::{
    Evidence, NewClaim, NewSignal, USER_SUBJECT, add_citation, clean, compare_statements,
    find_related, is_only_learnt, mark_superseded, new_memory, refuse_undone, supersede, suspend,
};
use crate::operations::Edit;
use oneiro_claims::Speaker;
use oneiro_model::{
    ActorKind, Citation, ErrorKind, Extracted, Memory, MemoryKind, MemoryStatus, MessageId,
    RelatedMemory, Relation, Result, SignalKind, Span, Timestamp, Trust,
};
use oneiro_store::operations::Record;
use oneiro_store::{Tx, claim_hash, learning, memories, message_rows};
use oneiro_text::Analyzer;
use std::collections::BTreeSet;

/// Memories of one day that are believed without review. Days are those of the messages, so that an
/// import of a year learns a year.
const BELIEVED_PER_DAY: i64 = 10;

/// The part of the shorter statement's words that a correction shares with what it corrects.
const CORRECTED_SHARE: f64 = 0.5;

/// The part that they share if they are of different kinds.
const OTHER_KIND_SHARE: f64 = 0.75;

/// Newest memories among which what a correction is about is looked for.
pub(super) const COMPARED_MEMORIES: usize = 500;

/// Turns a claim into a memory, a citation or nothing.
pub(super) fn apply_claim(
    edit: &Edit<'_, '_>,
    message: &MessageClaims,
    found: &FoundClaim,
    counted: &mut Extracted,
) -> Result<()> {
    let mut memory = candidate_of(edit, message, found);
    let Some(citation) = memory.citations.first().cloned().filter(|_| !memory.content.is_empty())
    else {
        return Ok(());
    };
    let evidence = Evidence { said_at: Some(message.at), problem: None, citation };
    match refuse_undone(edit, &memory, Some(&evidence)) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::Conflict => {
            counted.refused += 1;
            return Ok(());
        }
        Err(error) => return Err(error),
    }
    let is_plain = found.is_own_words() && found.claim.durable;
    if message.may_activate && is_plain && is_within_daily_limit(edit, message.at)? {
        memory.status = MemoryStatus::Active;
    }
    let related = find_related(edit.tx, &memory)?;
    if let Some(known) = known_statement(edit, &memory, &related)? {
        add_citation(edit, &known, &evidence.citation)?;
        counted.known += 1;
        return Ok(());
    }
    let reason = reason(message, found);
    let new = NewStatement { message, found, memory: &memory };
    let replaced = replaced_by(edit, &new, (&related, MemoryStatus::Active))?;
    // What was said before the statement that holds now is history.
    if let Some(newer) = said_after(edit.tx, &replaced, message.at)? {
        edit.create_because(&memory, &reason)?;
        mark_superseded(edit, &memory, newer)?;
        counted.superseded += 1;
        return Ok(());
    }
    edit.create_because(&memory, &reason)?;
    if memory.status == MemoryStatus::Active {
        counted.active += 1;
        counted.superseded += supersede_learnt(edit, &memory, &replaced)?;
        return Ok(());
    }
    counted.candidates += 1;
    if is_plain {
        let waiting = replaced_by(edit, &new, (&related, MemoryStatus::Candidate))?;
        let replaced = replaced.into_iter().chain(waiting);
        suspend_replaced(edit, (&memory, message.at), replaced)?;
    }
    Ok(())
}

/// A candidate that states a claim and cites the words it rests on.
fn candidate_of(edit: &Edit<'_, '_>, message: &MessageClaims, found: &FoundClaim) -> Memory {
    let claim = &found.claim;
    let mut memory = new_memory(
        edit,
        NewClaim {
            kind: claim.kind,
            subject: is_about_speaker(message, claim.kind).then(|| message.subject.clone()),
            content: &claim.content,
            project: message.project.clone().filter(|_| !claim.kind.is_personal()),
            trust: if found.is_own_words() { Trust::Owner } else { found.trust.min(Trust::Agent) },
            status: MemoryStatus::Candidate,
        },
    );
    // A date in other statements is what they are about, not when they begin to hold.
    let since = claim.valid_from.filter(|_| claim.kind == MemoryKind::Identity);
    memory.valid_from = Some(since.unwrap_or(message.at));
    memory.valid_until = claim.valid_until.filter(|until| memory.valid_from < Some(*until));
    memory.citations.push(Citation {
        message_id: Some(MessageId(message.seq)),
        session_id: Some(message.session_id.clone()),
        quote: clean(&found.quote),
        trust: found.trust,
    });
    memory
}

/// Supersedes what only learning knew; returns how many memories that were. What a person stated by hand is
/// suspended by the contradiction, and a person settles it.
pub(super) fn supersede_learnt(
    edit: &Edit<'_, '_>,
    memory: &Memory,
    replaced: &[Memory],
) -> Result<usize> {
    let mut superseded = 0;
    for old in replaced {
        if is_only_learnt(edit.tx, old)? {
            let Some(new) = Memory::load(edit.tx, memory.id.as_str())? else { continue };
            supersede(edit, old, &new, memory.valid_from)?;
            superseded += 1;
        }
    }
    Ok(superseded)
}

/// Whether a claim is about the person who speaks. An instruction is, if that person has a name: what one
/// of several people wants does not hold for the others.
fn is_about_speaker(message: &MessageClaims, kind: MemoryKind) -> bool {
    let has_name = message.subject != USER_SUBJECT;
    kind.is_personal() || kind == MemoryKind::Episodic || kind == MemoryKind::Adaptation && has_name
}

/// When a memory was last said: the time of the newest message that it cites. A person who stated it by
/// hand said it then, whatever time the statement is about.
pub(crate) fn last_said(tx: &Tx<'_>, memory: &Memory) -> Result<Timestamp> {
    let cited = memory.citations.iter().filter_map(|citation| citation.message_id);
    let cited: Vec<i64> = cited.map(|id| id.0).collect();
    let newest = message_rows::by_ids(tx, &cited)?.into_iter().map(|row| row.at).max();
    let by_hand = (memory.origin == ActorKind::Person).then_some(memory.created_at);
    Ok(newest.max(by_hand).unwrap_or_else(|| memory.holds_from()))
}

/// The first of some memories that was said after `at`.
fn said_after<'m>(tx: &Tx<'_>, others: &'m [Memory], at: Timestamp) -> Result<Option<&'m Memory>> {
    for other in others {
        if last_said(tx, other)? > at {
            return Ok(Some(other));
        }
    }
    Ok(None)
}

/// Suspends what the person's newer statement, said at a time, replaces, though that statement still waits:
/// it is not to be told, recalled or promoted as true until both are settled.
pub(super) fn suspend_replaced(
    edit: &Edit<'_, '_>,
    (memory, said_at): (&Memory, Timestamp),
    replaced: impl Iterator<Item = Memory>,
) -> Result<()> {
    for old in replaced {
        let is_older = old.id != memory.id && last_said(edit.tx, &old)? < said_at;
        if is_older && old.suspended_by.is_none() && is_only_learnt(edit.tx, &old)? {
            suspend(edit, &old, Some(&memory.id))?;
        }
    }
    Ok(())
}

/// Why a memory is stored, for people.
fn reason(message: &MessageClaims, found: &FoundClaim) -> String {
    let who = match found.speaker {
        Speaker::Person => "you said",
        Speaker::Assistant => "the assistant said",
    };
    format!("{who}, {} (rule {})", message.at.date_text(), found.claim.rule)
}

pub(super) fn is_within_daily_limit(edit: &Edit<'_, '_>, at: Timestamp) -> Result<bool> {
    let from = Timestamp::from_micros(at.day_number() * Span::DAY.micros());
    let until = from.plus(Span::DAY);
    Ok(learning::count_believed(edit.tx, from, until)? < BELIEVED_PER_DAY)
}

/// The memory that states the same already.
fn known_statement(
    edit: &Edit<'_, '_>,
    memory: &Memory,
    related: &[RelatedMemory],
) -> Result<Option<Memory>> {
    let claim = claim_hash::of_memory(edit.identity, memory);
    for status in [MemoryStatus::Active, MemoryStatus::Candidate] {
        if let Some(known) = memories::by_claim(edit.tx, &claim, status)? {
            // A plain statement of what waits for review is worth a memory of its own.
            if status == MemoryStatus::Active || memory.status == MemoryStatus::Candidate {
                return Ok(Some(known));
            }
        }
    }
    let same = related
        .iter()
        .find(|other| other.relation == Relation::Same && other.status == MemoryStatus::Active);
    same.map_or(Ok(None), |other| Memory::load(edit.tx, other.id.as_str()))
}

/// A statement that may replace older ones.
struct NewStatement<'s> {
    message: &'s MessageClaims,
    found: &'s FoundClaim,
    memory: &'s Memory,
}

/// The memories of a status that a statement contradicts or ends, or that a correction is about, and those
/// that say the same as these.
fn replaced_by(
    edit: &Edit<'_, '_>,
    new: &NewStatement<'_>,
    (related, status): (&[RelatedMemory], MemoryStatus),
) -> Result<Vec<Memory>> {
    let &NewStatement { message, found, memory } = new;
    let mut replaced = Vec::new();
    for other in related.iter().filter(|other| other.status == status) {
        if other.relation == Relation::Contradicts {
            replaced.extend(Memory::load(edit.tx, other.id.as_str())?);
        }
    }
    if memory.kind.is_personal() {
        let known: BTreeSet<_> = replaced.iter().map(|other| other.id.to_string()).collect();
        let undated = contradicted_without_time(edit, memory, status)?.into_iter();
        replaced.extend(undated.filter(|other| !known.contains(other.id.as_str())));
    } else if replaced.is_empty()
        && let Some(content) = without_day(&memory.content)
    {
        let undated = Memory { content: content.to_owned(), ..memory.clone() };
        for other in find_related(edit.tx, &undated)? {
            let is_replaced = other.relation == Relation::Contradicts
                && other.status == status
                && other.id != memory.id;
            if is_replaced {
                replaced.extend(Memory::load(edit.tx, other.id.as_str())?);
            }
        }
    }
    let corrects = found.claim.corrects || mentions_change(&memory.content);
    if corrects {
        let ended = ended_by(edit, message, (memory, status))?.into_iter();
        let known: BTreeSet<_> = replaced.iter().map(|other| other.id.to_string()).collect();
        replaced.extend(ended.filter(|other| !known.contains(other.id.as_str())));
    }
    if replaced.is_empty() && corrects {
        replaced.extend(corrected_by(edit, memory, status)?);
    }
    let same = restated(edit, message, (memory, status), &replaced)?;
    replaced.extend(same);
    Ok(replaced)
}

/// The memories of a status that a statement about somebody contradicts if the times from which both hold
/// are left out: "I moved to Lisbon in October" is another home than "I live in Porto".
fn contradicted_without_time(
    edit: &Edit<'_, '_>,
    memory: &Memory,
    status: MemoryStatus,
) -> Result<Vec<Memory>> {
    let filter = memories::Filter {
        status: Some(status),
        subject: memory.subject.clone(),
        ..memories::Filter::default()
    };
    let own = without_time(&memory.content);
    let mut found = Vec::new();
    for row in memories::list_without_citations(edit.tx, &filter, COMPARED_MEMORIES)? {
        let other = row.memory;
        let is_compared = other.id != memory.id
            && other.kind.is_personal()
            && other.subject == memory.subject
            && memory.validity_overlaps(&other);
        let theirs = without_time(&other.content);
        if !is_compared || own.is_none() && theirs.is_none() {
            continue;
        }
        let own = own.as_deref().unwrap_or(&memory.content);
        let theirs = theirs.as_deref().unwrap_or(&other.content);
        if compare_statements(own, theirs).relation == Relation::Contradicts {
            found.extend(Memory::load(edit.tx, other.id.as_str())?);
        }
    }
    Ok(found)
}

/// Words that tell a change of what was known.
const CHANGE_WORDS: &[&str] = &[
    "moved to",
    "changed to",
    "is now",
    "are now",
    "pushed to",
    "postponed to",
    "no longer",
    "instead of",
    "switched to",
    "not any more",
    "anymore",
    "verschoben",
    "geändert",
    "ist jetzt",
    "nicht mehr",
    "statt",
    "gewechselt",
    "ahora es",
    "cambió a",
    "se movió",
    "ya no",
    "en vez de",
];

fn mentions_change(content: &str) -> bool {
    let content = content.to_lowercase();
    CHANGE_WORDS.iter().any(|words| content.contains(words))
}

/// The memory that a correction is about, if no rule sees a contradiction: the one of the same subject and
/// project that shares most words with it. One of another kind has to share more of them: "I no longer
/// play the flute" is a preference, "I play the flute" is about who somebody is.
fn corrected_by(
    edit: &Edit<'_, '_>,
    memory: &Memory,
    status: MemoryStatus,
) -> Result<Option<Memory>> {
    let filter = memories::Filter {
        status: Some(status),
        subject: memory.subject.clone(),
        project: memory.project.clone(),
        ..memories::Filter::default()
    };
    let words = topic_words(&memory.content);
    let mut best: Option<(f64, Memory)> = None;
    for row in memories::list_without_citations(edit.tx, &filter, COMPARED_MEMORIES)? {
        let other = row.memory;
        let theirs = topic_words(&other.content);
        let shared = words.intersection(&theirs).count();
        let share = shared as f64 / words.len().min(theirs.len()).max(1) as f64;
        let is_same = other.id != memory.id
            && other.project == memory.project
            && other.subject == memory.subject;
        let is_same_kind = other.kind == memory.kind;
        if is_same
            && share >= if is_same_kind { CORRECTED_SHARE } else { OTHER_KIND_SHARE }
            && best.as_ref().is_none_or(|(most, _)| share > *most)
        {
            best = Some((share, other));
        }
    }
    best.map_or(Ok(None), |(_, other)| Memory::load(edit.tx, other.id.as_str()))
}

/// The words of a statement that tell what it is about: no numbers, and none that tell a change.
fn topic_words(content: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    Analyzer::default().tokens(content, |token| {
        let is_value = token.norm.contains(|letter: char| letter.is_ascii_digit());
        if !token.stop && !is_value && !mentions_change(token.norm) && !is_date_word(token.norm) {
            words.insert(token.term.to_owned());
        }
    });
    for change in ["move", "chang", "push", "postpon", "switch", "now"] {
        words.remove(change);
    }
    words
}

fn is_date_word(word: &str) -> bool {
    const MONTHS: &[&str] = &[
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
    ];
    MONTHS.contains(&word)
}

/// Records that an answer rests on memories; the same prompt counts once a day.
pub(super) fn record_uses(
    edit: &Edit<'_, '_>,
    message: &MessageClaims,
    counted: &mut Extracted,
) -> Result<()> {
    for id in &message.used {
        let prompt = Some(message.prompt.as_str()).filter(|prompt| !prompt.trim().is_empty());
        let used = NewSignal::new(id, SignalKind::Used);
        if (NewSignal { query: prompt, at: Some(message.at), ..used }).add(edit)? {
            counted.used += 1;
        }
    }
    Ok(())
}
