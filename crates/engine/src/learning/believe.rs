//! What becomes of a claim: a memory that is believed, one that waits for review, new evidence for one
//! that is known, or nothing. A newer statement of the person replaces the older one.

use super::read::{FoundClaim, Lesson};
use super::undated::without_time;
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
use oneiro_store::{Tx, learning, memories, message_rows};
use oneiro_text::Analyzer;
use std::collections::BTreeSet;

/// Memories of one day that are believed without review. Days are those of the messages, so that an
/// import of a year learns a year.
const BELIEVED_PER_DAY: i64 = 10;

/// Microseconds of a day.
const DAY_MICROS: i64 = 86_400_000_000;

/// The part of the shorter statement's words that a correction shares with what it corrects.
const CORRECTED_SHARE: f64 = 0.5;

/// The part that they share if they are of different kinds.
const OTHER_KIND_SHARE: f64 = 0.75;

/// Newest memories among which what a correction is about is looked for.
const COMPARED_MEMORIES: usize = 500;

/// Stores what a claim is worth.
pub(super) fn believe(
    edit: &Edit<'_, '_>,
    lesson: &Lesson,
    found: &FoundClaim,
    counted: &mut Extracted,
) -> Result<()> {
    let claim = &found.claim;
    let citation = Citation {
        message_id: Some(MessageId(lesson.seq)),
        session_id: Some(lesson.session_id.clone()),
        quote: clean(&found.quote),
        trust: found.trust,
    };
    let evidence = Evidence { said_at: Some(lesson.at), problem: None, citation };
    let is_own = found.speaker == Speaker::Person && found.trust == Trust::Owner;
    let may_activate = lesson.may_activate && is_own && claim.durable;
    let mut memory = new_memory(
        edit,
        NewClaim {
            kind: claim.kind,
            subject: is_about_speaker(lesson, claim.kind).then(|| lesson.subject.clone()),
            content: &claim.content,
            project: lesson.project.clone().filter(|_| !claim.kind.is_personal()),
            trust: if is_own { Trust::Owner } else { found.trust.min(Trust::Agent) },
            status: MemoryStatus::Candidate,
        },
    );
    if memory.content.is_empty() {
        return Ok(());
    }
    // A date in other statements is what they are about, not when they begin to hold.
    let since = claim.valid_from.filter(|_| claim.kind == MemoryKind::Identity);
    memory.valid_from = Some(since.unwrap_or(lesson.at));
    memory.valid_until = claim.valid_until.filter(|until| memory.valid_from < Some(*until));
    memory.citations.push(evidence.citation.clone());
    match refuse_undone(edit, &memory, Some(&evidence)) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::Conflict => {
            counted.refused += 1;
            return Ok(());
        }
        Err(error) => return Err(error),
    }
    if may_activate && is_within_daily_limit(edit, lesson.at)? {
        memory.status = MemoryStatus::Active;
    }
    let related = find_related(edit.tx, &memory)?;
    if let Some(known) = known_statement(edit, &memory, &related)? {
        add_citation(edit, &known, &evidence.citation)?;
        counted.known += 1;
        return Ok(());
    }
    let reason = reason(lesson, found);
    let replaced = replaced_by(edit, &memory, found, (&related, MemoryStatus::Active))?;
    // What was said before the statement that holds now is history.
    if let Some(newer) = said_after(edit.tx, &replaced, lesson.at)? {
        edit.create_because(&memory, &reason)?;
        mark_superseded(edit, &memory, newer)?;
        counted.superseded += 1;
        return Ok(());
    }
    edit.create_because(&memory, &reason)?;
    if memory.status == MemoryStatus::Candidate {
        counted.candidates += 1;
        if is_own && claim.durable {
            let waiting = replaced_by(edit, &memory, found, (&related, MemoryStatus::Candidate))?;
            let replaced = replaced.into_iter().chain(waiting);
            suspend_replaced(edit, (&memory, lesson.at), replaced)?;
        }
        return Ok(());
    }
    counted.active += 1;
    for old in replaced {
        // What a person stated by hand is suspended by the contradiction, and a person settles it.
        if is_only_learnt(edit.tx, &old)? {
            let Some(new) = Memory::load(edit.tx, memory.id.as_str())? else { continue };
            supersede(edit, &old, &new, memory.valid_from)?;
            counted.superseded += 1;
        }
    }
    Ok(())
}

/// Whether a claim is about the person who speaks. An instruction is, if that person has a name: what one
/// of several people wants does not hold for the others.
fn is_about_speaker(lesson: &Lesson, kind: MemoryKind) -> bool {
    let has_name = lesson.subject != USER_SUBJECT;
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
fn suspend_replaced(
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
fn reason(lesson: &Lesson, found: &FoundClaim) -> String {
    let who = match found.speaker {
        Speaker::Person => "you said",
        Speaker::Assistant => "the assistant said",
    };
    let day: String = lesson.at.to_string().chars().take("2026-01-01".len()).collect();
    format!("{who}, {day} (rule {})", found.claim.rule)
}

fn is_within_daily_limit(edit: &Edit<'_, '_>, at: Timestamp) -> Result<bool> {
    let from = Timestamp::from_micros(at.micros().div_euclid(DAY_MICROS) * DAY_MICROS);
    let until = from.plus(Span::days(1));
    Ok(learning::count_believed(edit.tx, from, until)? < BELIEVED_PER_DAY)
}

/// The memory that states the same already.
fn known_statement(
    edit: &Edit<'_, '_>,
    memory: &Memory,
    related: &[RelatedMemory],
) -> Result<Option<Memory>> {
    let claim = memories::claim(edit.identity, memory);
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

/// The memories of a status that a statement contradicts, or that a correction is about.
fn replaced_by(
    edit: &Edit<'_, '_>,
    memory: &Memory,
    found: &FoundClaim,
    (related, status): (&[RelatedMemory], MemoryStatus),
) -> Result<Vec<Memory>> {
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
    if replaced.is_empty() && (found.claim.corrects || tells_a_change(&memory.content)) {
        replaced.extend(corrected_by(edit, memory, status)?);
    }
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
            && hold_together(memory, &other);
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

/// Whether neither of two memories ends before the other begins to hold.
fn hold_together(one: &Memory, other: &Memory) -> bool {
    let ends_before = |one: &Memory, other: &Memory| {
        one.valid_until.zip(other.valid_from).is_some_and(|(until, from)| until <= from)
    };
    !ends_before(one, other) && !ends_before(other, one)
}

/// Words before the day of an event, at the end of a statement: "We moved to Postgres on 19 June 2026".
const BEFORE_DAYS: &[&str] = &[
    " in the week of ",
    " on the weekend of ",
    " on ",
    " in der woche vom ",
    " in der woche ",
    " am wochenende vom ",
    " am ",
    " en la semana del ",
    " el fin de semana del ",
    " el ",
];

/// A statement without the day on which it began to hold; `None` if it names none.
fn without_day(content: &str) -> Option<&str> {
    let lower = content.to_lowercase();
    if lower.len() != content.len() {
        return None;
    }
    let starts = BEFORE_DAYS.iter().filter_map(|words| {
        let at = lower.find(words)?;
        let rest = lower.get(at + words.len()..)?;
        rest.starts_with(|letter: char| letter.is_ascii_digit()).then_some(at)
    });
    starts.min().and_then(|at| content.get(..at))
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

fn tells_a_change(content: &str) -> bool {
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
        if !token.stop && !is_value && !tells_a_change(token.norm) && !is_date_word(token.norm) {
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
    lesson: &Lesson,
    counted: &mut Extracted,
) -> Result<()> {
    for id in &lesson.used {
        let prompt = Some(lesson.prompt.as_str()).filter(|prompt| !prompt.trim().is_empty());
        let used = NewSignal::new(id, SignalKind::Used);
        if (NewSignal { query: prompt, at: Some(lesson.at), ..used }).add(edit)? {
            counted.used += 1;
        }
    }
    Ok(())
}
