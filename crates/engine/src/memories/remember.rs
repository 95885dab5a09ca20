//! Remember: a new statement, its evidence, and the status and trust that follow from them.

use super::decay::queue_decay;
use super::evidence::{self, Evidence, QuotePlace};
use super::{change, lifecycle, refuse_undone, related, resolve};
use crate::notes::without_secrets;
use crate::operations::{Edit, Grouping, needs_person};
use crate::projects;
use crate::views::Memories;
use oneiro_model::{
    Citation, Memory, MemoryId, MemoryKind, MemoryStatus, NewMemory, OperationVerb, Relation,
    Remembered, Result, Trust,
};
use oneiro_store::{claim_hash, memories};

/// The subject of personal statements whose speaker has no name.
pub(crate) const USER_SUBJECT: &str = "user";

/// The confidence of what a person said in a conversation.
const OWN_WORDS_CONFIDENCE: f64 = 0.9;

/// The confidence of what no person stated.
pub(super) const AGENT_CONFIDENCE: f64 = 0.7;

impl Memories<'_> {
    /// Stores a statement. A person's is active; an agent's is active if a captured message of the
    /// user holds its quote and nothing contradicts it, otherwise a candidate.
    pub fn remember(&self, new: NewMemory) -> Result<Remembered> {
        let reason = new.reason.clone();
        self.oneiro.edit(reason, Grouping::Group, move |edit| remember(edit, &new))
    }
}

/// The status and trust of a new statement, and why.
struct Judged {
    status: MemoryStatus,
    trust: Trust,
    explanation: &'static str,
}

fn remember(edit: &Edit<'_, '_>, new: &NewMemory) -> Result<Remembered> {
    let evidence = match &new.quote {
        Some(quote) => {
            let place = QuotePlace { session: new.session.clone(), message: new.message.clone() };
            Some(evidence::look_up(edit.tx, (&clean(quote), &new.content), &place)?)
        }
        None => None,
    };
    let judged = judge(edit, new, evidence.as_ref())?;
    let mut memory = draft(edit, new, &judged)?;
    memory.citations.extend(evidence.iter().map(|evidence| evidence.citation.clone()));
    refuse_undone(edit, &memory, evidence.as_ref())?;
    let claim = claim_hash::of_memory(edit.identity, &memory);
    let replaced = match &new.replaces {
        Some(id) => Some(resolve(edit.tx, id.as_str())?),
        None => None,
    };
    if let Some(known) = memories::by_claim(edit.tx, &claim, memory.status)? {
        return add_evidence(edit, &known, (&memory, replaced));
    }
    let may_replace = match &replaced {
        Some(old) => {
            lifecycle::check_replaceable(old)?;
            edit.is_person() || !lifecycle::is_owned(edit.tx, old)?
        }
        None => true,
    };
    let mut explanation = judged.explanation.to_owned();
    let related = related::find_related(edit.tx, &memory)?;
    let replaced_id = replaced.as_ref().map(|old| &old.id);
    let contradicts: Vec<_> = related
        .into_iter()
        .filter(|other| {
            other.relation == Relation::Contradicts
                && other.status == MemoryStatus::Active
                && Some(&other.id) != replaced_id
        })
        .collect();
    let is_active = memory.status == MemoryStatus::Active;
    if is_active && !edit.is_person() {
        if !contradicts.is_empty() {
            explanation = "it contradicts an active memory: a person must decide".to_owned();
            memory.status = MemoryStatus::Candidate;
        } else if !may_replace {
            explanation = "it replaces what a person stated: a person must decide".to_owned();
            memory.status = MemoryStatus::Candidate;
        }
    }
    if replaced.is_some() && memory.status == MemoryStatus::Active {
        memory.valid_from.get_or_insert(edit.now);
    }
    if memory.status == MemoryStatus::Candidate {
        memory.replaces = replaced.as_ref().map(|old| old.id.clone());
    }
    if memory.decays() {
        queue_decay(edit)?;
    }
    let operation = edit.write(OperationVerb::Create, None, Some(&memory))?;
    if let Some(old) = replaced {
        explanation.push_str(&replace(edit, &old, &memory)?);
    }
    Ok(Remembered {
        memory: resolve(edit.tx, memory.id.as_str())?,
        is_duplicate: false,
        explanation,
        contradicts,
        group: operation.as_ref().and(edit.group).cloned(),
        operation: operation.map(|operation| operation.id),
    })
}

/// Supersedes what a memory replaces, if it is active; otherwise says what is left to do.
pub(super) fn replace(edit: &Edit<'_, '_>, old: &Memory, new: &Memory) -> Result<String> {
    let stands = old.status.is_standing();
    if !stands || old.id == new.id {
        return Ok(String::new());
    }
    if new.status != MemoryStatus::Active || !edit.is_person() && lifecycle::is_owned(edit.tx, old)?
    {
        return Ok(format!("; {} is replaced when {} is promoted", old.id, new.id));
    }
    change::supersede(edit, old, new, None)?;
    Ok(String::new())
}

fn judge(edit: &Edit<'_, '_>, new: &NewMemory, evidence: Option<&Evidence>) -> Result<Judged> {
    if edit.is_person() {
        let trust = new.trust.unwrap_or(Trust::Owner);
        let status = new.status.unwrap_or(MemoryStatus::Active);
        return Ok(Judged { status, trust, explanation: "a person stated it" });
    }
    if new.status.is_some_and(|status| status != MemoryStatus::Candidate) {
        return Err(needs_person("choose the status of a new memory"));
    }
    let (status, explanation, trust) = match evidence {
        None => (MemoryStatus::Candidate, "it has no quote of the user", Trust::Agent),
        Some(Evidence { citation, said_at: Some(_), .. }) if citation.trust != Trust::Owner => {
            (MemoryStatus::Candidate, "the quote is not the user's own words", citation.trust)
        }
        Some(Evidence { problem: Some(problem), .. }) => {
            (MemoryStatus::Candidate, *problem, Trust::Agent)
        }
        Some(_) => (MemoryStatus::Active, "the user's own words hold the quote", Trust::Agent),
    };
    let trust = trust.min(Trust::Agent).min(new.trust.unwrap_or(Trust::Agent));
    // Below an agent's own words, a statement rests on tools or others.
    let must_wait = trust < Trust::Agent || new.status == Some(MemoryStatus::Candidate);
    let status = if must_wait { MemoryStatus::Candidate } else { status };
    Ok(Judged { status, trust, explanation })
}

fn draft(edit: &Edit<'_, '_>, new: &NewMemory, judged: &Judged) -> Result<Memory> {
    let kind = new.kind.unwrap_or(MemoryKind::Knowledge);
    let subject = new.subject.as_deref().map(clean);
    let project = new.project.as_deref().map(|name| projects::canonical(edit.tx, name));
    let default = if edit.is_person() { 1.0 } else { AGENT_CONFIDENCE };
    let initial_confidence = new.confidence.unwrap_or(default).clamp(0.0, 1.0);
    Ok(Memory {
        id: MemoryId::from_random(edit.ids.random()),
        kind,
        subject: subject.or_else(|| kind.is_personal().then(|| USER_SUBJECT.to_owned())),
        content: clean(&new.content),
        status: judged.status,
        confidence: Memory::derive_confidence(initial_confidence, 0, 0),
        trust: judged.trust,
        project: project.transpose()?,
        tags: clean_tags(&new.tags),
        valid_from: new.valid_from,
        valid_until: new.valid_until,
        superseded_by: None,
        suspended_by: None,
        replaces: None,
        confirmed_at: None,
        origin: edit.actor.kind,
        initial_confidence: Memory::derive_confidence(initial_confidence, 0, 0),
        reference_count: 0,
        last_referenced_at: None,
        created_at: edit.now,
        updated_at: edit.now,
        citations: Vec::new(),
    })
}

/// A statement that was found in a conversation.
pub(crate) struct NewClaim<'n> {
    pub(crate) kind: MemoryKind,
    pub(crate) subject: Option<String>,
    pub(crate) content: &'n str,
    pub(crate) project: Option<String>,
    pub(crate) trust: Trust,
    pub(crate) status: MemoryStatus,
}

/// The memory of a statement that was found, to be written.
pub(crate) fn new_memory(edit: &Edit<'_, '_>, new: NewClaim<'_>) -> Memory {
    let initial_confidence =
        if new.trust == Trust::Owner { OWN_WORDS_CONFIDENCE } else { AGENT_CONFIDENCE };
    Memory {
        id: MemoryId::from_random(edit.ids.random()),
        kind: new.kind,
        subject: new.subject.map(|subject| clean(&subject)),
        content: clean(new.content),
        status: new.status,
        confidence: initial_confidence,
        trust: new.trust,
        project: new.project,
        tags: Vec::new(),
        valid_from: None,
        valid_until: None,
        superseded_by: None,
        suspended_by: None,
        replaces: None,
        confirmed_at: None,
        origin: edit.actor.kind,
        initial_confidence,
        reference_count: 0,
        last_referenced_at: None,
        created_at: edit.now,
        updated_at: edit.now,
        citations: Vec::new(),
    }
}

/// Adds a source to a memory.
pub(crate) fn add_citation(edit: &Edit<'_, '_>, known: &Memory, source: &Citation) -> Result<()> {
    if known.citations.contains(source) {
        return Ok(());
    }
    let mut after = known.clone();
    after.citations.push(source.clone());
    if !lifecycle::is_owned(edit.tx, known)? {
        // The least trusted source counts.
        after.trust = known.trust.min(source.trust);
    }
    edit.write(OperationVerb::Cite, Some(known), Some(&after)).map(|_| ())
}

/// Adds the sources and tags of a statement to the memory that already states it.
fn add_evidence(
    edit: &Edit<'_, '_>,
    known: &Memory,
    (new, replaced): (&Memory, Option<Memory>),
) -> Result<Remembered> {
    let mut after = known.clone();
    after.add_citations(&new.citations);
    if edit.is_person() || !lifecycle::is_owned(edit.tx, known)? {
        after.tags.extend(new.tags.iter().filter(|tag| !known.tags.contains(tag)).cloned());
        // The least trusted source counts, in whatever order they come.
        after.trust = known.trust.min(new.trust);
    }
    if edit.is_person() {
        // Who states it again confirms it, and the newest statement holds.
        (after.trust, after.confirmed_at) = (known.trust.max(new.trust), Some(edit.now));
        after.suspended_by = None;
    }
    let operation = edit.write(OperationVerb::Cite, Some(known), Some(&after))?;
    let mut explanation = "the same statement is already stored".to_owned();
    if let Some(old) = replaced {
        explanation.push_str(&replace(edit, &old, &after)?);
    }
    Ok(Remembered {
        memory: resolve(edit.tx, known.id.as_str())?,
        is_duplicate: true,
        explanation,
        contradicts: Vec::new(),
        group: operation.as_ref().and(edit.group).cloned(),
        operation: operation.map(|operation| operation.id),
    })
}

/// Text as it is stored: without secrets and private spans, and without spaces around it.
pub(crate) fn clean(text: &str) -> String {
    without_secrets(text.trim())
}

/// Tags as they are stored, in order, each once.
pub(super) fn clean_tags(tags: &[String]) -> Vec<String> {
    let mut cleaned = Vec::with_capacity(tags.len());
    for tag in tags.iter().map(|tag| clean(tag)) {
        if !tag.is_empty() && !cleaned.contains(&tag) {
            cleaned.push(tag);
        }
    }
    cleaned
}
