//! Memories of the demonstration, with a past: each rests on words of its conversations and is
//! proposed, decided, contradicted, replaced or undone as the month goes on.

use crate::claims::{By, CLAIMS, Claim, STEPS, Step, StepKind};
use crate::nights::{self, Question};
use crate::notes::{self, NoteStep};
use crate::stage::Staged;
use oneiro::{
    Actor, ActorKind, ActorSurface, Clock, Error, Ids, ListMemories, ListOperations, Memory,
    MemoryId, MemoryStatus, NewMemory, Oneiro, OperationId, RandomIds, ReinforceRequest, Result,
    SessionId, Span, Timestamp,
};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The tag that marks memories of the demonstration.
pub(crate) const DEMO_TAG: &str = "demo";

/// How long after the cited words a statement is recorded.
const RECORDING_DELAY: Span = Span::seconds(20);

/// Maximum number of memories of the demonstration that are listed at once.
const MAX_LISTED_MEMORIES: usize = 200;

/// One thing that happens, at its time.
enum Event {
    Claim(&'static Claim),
    Step(&'static Step),
    Note(&'static NoteStep),
    Question(&'static Question),
    Night,
}

/// Records the memories and notes, and dreams each night, unless the space has the memories. In a space with
/// memories or notes of others it dreams nothing. Returns how many memories and dreams are new.
pub(crate) fn remember(
    oneiro: &Oneiro,
    staged: &[Staged],
    now: Timestamp,
    seed: u64,
) -> Result<(usize, usize)> {
    if !existing(oneiro)?.is_empty() {
        return Ok((0, 0));
    }
    let dreams = nights::is_space_free(oneiro)? && !notes::any_name_taken(oneiro, now)?;
    // The identity of a store is its own, whatever the seed.
    oneiro.operations().store_id()?;
    // What is recorded here is what was learnt from these conversations.
    oneiro.learning().skip()?;
    Recorder { oneiro, staged, ids: seeded_ids(oneiro, seed)?, now, dreams }.record()
}

/// The memories of the demonstration.
pub(crate) fn existing(oneiro: &Oneiro) -> Result<Vec<Memory>> {
    let tag = Some(DEMO_TAG.to_owned());
    let request = ListMemories { tag, limit: MAX_LISTED_MEMORIES, ..ListMemories::default() };
    Ok(oneiro.memories().list(&request)?.items)
}

/// Ids that follow from the seed and the last operation of the space: a demonstration that was removed
/// and made again does not take the ids of the erased one.
fn seeded_ids(oneiro: &Oneiro, seed: u64) -> Result<Arc<dyn Ids>> {
    let last = ListOperations { limit: 1, ..ListOperations::default() };
    let last = oneiro.operations().list(&last)?.items.pop();
    let last = last.map(|operation| operation.id.to_string()).unwrap_or_default();
    let seed = last
        .bytes()
        .fold(seed, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    Ok(Arc::new(SeededIds(Mutex::new(fastrand::Rng::with_seed(seed)))))
}

/// Records events at their times.
struct Recorder<'o> {
    oneiro: &'o Oneiro,
    staged: &'o [Staged],
    ids: Arc<dyn Ids>,
    now: Timestamp,
    /// Whether the nights are dreamt.
    dreams: bool,
}

impl<'o> Recorder<'o> {
    fn record(&self) -> Result<(usize, usize)> {
        let mut at: HashMap<&str, Timestamp> = HashMap::new();
        for claim in CLAIMS {
            at.insert(claim.name, time_of(claim, self.staged)?.plus(RECORDING_DELAY));
        }
        let mut events = Vec::new();
        events.extend(CLAIMS.iter().map(|claim| (at.get(claim.name), Event::Claim(claim))));
        events.extend(STEPS.iter().map(|step| (at.get(step.name), Event::Step(step))));
        let mut events: Vec<(Timestamp, Event)> = events
            .into_iter()
            .map(|(at, event)| {
                let at = at.copied().unwrap_or(self.now);
                let after = match &event {
                    Event::Step(step) => Span::seconds(step.after * 60),
                    _ => Span::seconds(0),
                };
                (at.plus(after).min(self.now), event)
            })
            .collect();
        if !notes::any_name_taken(self.oneiro, self.now)? {
            events.extend(notes::STEPS.iter().map(|step| (step.at(self.now), Event::Note(step))));
        }
        if self.dreams {
            let questions = nights::QUESTIONS.iter();
            events.extend(questions.map(|one| (one.at(self.now), Event::Question(one))));
            events.extend(nights::nights(self.now)?.into_iter().map(|at| (at, Event::Night)));
        }
        // Equal times keep the order in which they are written.
        events.sort_by_key(|(at, _)| *at);
        let mut known = Known::default();
        let mut dreams = 0;
        for (at, event) in events {
            match event {
                Event::Claim(claim) => self.state(claim, at, &mut known)?,
                Event::Step(step) => self.act(step, at, &mut known)?,
                Event::Note(step) => step.apply(&self.at(at, step.actor()), self.now)?,
                Event::Question(question) => question.search(&self.at(at, person()))?,
                Event::Night => {
                    nights::dream(&self.at(at, person()))?;
                    dreams += 1;
                }
            }
        }
        Ok((known.memories.len(), dreams))
    }

    fn state(&self, claim: &'static Claim, at: Timestamp, known: &mut Known) -> Result<()> {
        let actor = match claim.by {
            By::Person => person(),
            By::Agent | By::Proposal => {
                let source =
                    session(claim, self.staged)?.fields.get("source").and_then(Value::as_str);
                Actor::new(ActorKind::Agent, ActorSurface::Mcp)
                    .with_client(source.unwrap_or("agent"))
            }
        };
        let valid_from = claim.valid_from.map(|days| self.now.plus(Span::days(days)));
        let new = NewMemory {
            content: claim.content.to_owned(),
            kind: Some(claim.kind),
            subject: Some(claim.subject.to_owned()),
            project: claim.project.map(str::to_owned),
            tags: vec![DEMO_TAG.to_owned()],
            status: (claim.by == By::Proposal).then_some(MemoryStatus::Candidate),
            quote: Some(claim.quote.to_owned()),
            session: Some(SessionId::new(claim.session)?),
            replaces: claim.replaces.and_then(|name| known.memories.get(name).cloned()),
            valid_from,
            ..NewMemory::default()
        };
        let remembered = self.at(at, actor).memories().remember(new)?;
        known.memories.insert(claim.name, remembered.memory.id);
        Ok(())
    }

    fn act(&self, step: &'static Step, at: Timestamp, known: &mut Known) -> Result<()> {
        let oneiro = self.at(at, person());
        let id = known.memories.get(step.name).map(ToString::to_string).unwrap_or_default();
        let reason = |text: &str| Some(text.to_owned());
        let memories = oneiro.memories();
        let changed = match step.kind {
            StepKind::Promote => memories.promote(&id, None)?,
            StepKind::Reject(why) => memories.reject(&id, reason(why))?,
            StepKind::Confirm => memories.confirm(&id, None)?,
            StepKind::Forget(why) => memories.forget(&id, reason(why))?,
            StepKind::Undo(why) => {
                let last = known.last.get(step.name).map(ToString::to_string);
                oneiro.operations().undo(&last.unwrap_or_default(), reason(why))?;
                return Ok(());
            }
            StepKind::Use(question) => {
                let query = Some(question.to_owned());
                memories.reinforce(&id, ReinforceRequest { query })?;
                return Ok(());
            }
        };
        known.last.extend(changed.operation.map(|operation| (step.name, operation)));
        Ok(())
    }

    /// A handle that acts as somebody at a time.
    fn at(&self, at: Timestamp, actor: Actor) -> Oneiro {
        self.oneiro.with_clock(Arc::new(FixedClock(at)), Arc::clone(&self.ids)).acting_as(actor)
    }
}

/// What was recorded so far, by the names of statements.
#[derive(Default)]
struct Known {
    memories: HashMap<&'static str, MemoryId>,
    last: HashMap<&'static str, OperationId>,
}

/// The person whose month it is.
pub(crate) fn person() -> Actor {
    Actor::new(ActorKind::Person, ActorSurface::Page)
}

fn session<'s>(claim: &Claim, staged: &'s [Staged]) -> Result<&'s Staged> {
    staged.iter().find(|session| session.id.as_str() == claim.session).ok_or_else(|| {
        Error::internal(format!("{:?} cites a session that is not there", claim.name))
    })
}

/// When the cited words were said.
fn time_of(claim: &Claim, staged: &[Staged]) -> Result<Timestamp> {
    let holds = |message: &&Value| {
        let text = message.get("content").and_then(Value::as_str);
        text.is_some_and(|text| text.contains(claim.quote))
    };
    let message = session(claim, staged)?.messages.iter().find(holds);
    let at = message.and_then(|message| message.get("at")).and_then(Value::as_str);
    let at = at.ok_or_else(|| Error::internal(format!("nobody said {:?}", claim.quote)))?;
    Timestamp::parse(at)
}

struct FixedClock(Timestamp);

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        self.0
    }
}

struct SeededIds(Mutex<fastrand::Rng>);

impl Ids for SeededIds {
    fn random(&self) -> [u8; 10] {
        let mut bytes = [0; 10];
        self.0.lock().unwrap_or_else(PoisonError::into_inner).fill(&mut bytes);
        bytes
    }

    /// Secrets are never seeded.
    fn secret(&self) -> Result<[u8; 32]> {
        RandomIds.secret()
    }
}
