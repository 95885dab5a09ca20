//! Memories: durable statements with a kind, a status, a source and a validity; the signals about
//! them; answers.

use crate::{
    Actor, ActorKind, GroupId, MemoryId, MessageId, Operation, OperationId, SessionId, Timestamp,
    Trust,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

json_name! {
    /// What a memory is about.
    MemoryKind "kind" {
        /// Who somebody is.
        Identity "identity",
        /// What somebody likes or wants.
        Preference "preference",
        /// A fact of a project.
        Project "project",
        /// Something that happened.
        Episodic "episodic",
        /// A fact about the world.
        Knowledge "knowledge",
        /// A correction of how the agent works.
        Adaptation "adaptation",
    }
}

impl MemoryKind {
    /// Whether a memory of this kind is always about somebody.
    pub fn is_personal(self) -> bool {
        matches!(self, MemoryKind::Identity | MemoryKind::Preference)
    }
}

json_name! {
    /// Whether a memory is believed.
    MemoryStatus "status" {
        /// It waits for review.
        Candidate "candidate",
        /// It is believed.
        Active "active",
        /// Another memory replaced it.
        Superseded "superseded",
        /// It was rejected or forgotten.
        Invalid "invalid",
    }
}

impl MemoryStatus {
    /// Whether it is believed or may come to be: neither replaced nor refused.
    pub fn is_standing(self) -> bool {
        matches!(self, MemoryStatus::Active | MemoryStatus::Candidate)
    }
}

json_name! {
    /// What happened to a memory when it was served.
    SignalKind "signal" {
        /// It was shown without being asked for.
        Exposed "exposed",
        /// A query found it.
        Recalled "recalled",
        /// An answer rests on it.
        Used "used",
        /// A person confirmed it.
        Confirmed "confirmed",
        /// A later statement contradicts it.
        Contradicted "contradicted",
    }
}

/// What one use adds to the confidence.
pub const USE_CONFIDENCE: f64 = 0.02;
/// Active days of a space without a reference after which the confidence decays.
pub const DAYS_BEFORE_DECAY: i64 = 30;
/// What is left of the confidence after each further active day.
pub const DAILY_DECAY: f64 = 0.97;
/// Below this confidence a memory that decays becomes invalid.
pub const DECAYED_CONFIDENCE: f64 = 0.30;
/// Confidences are stored in steps of a ten-thousandth.
pub const CONFIDENCE_STEPS: f64 = 10_000.0;

/// A source of a memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Citation {
    /// The message that holds the quote; null if no captured message does.
    pub message_id: Option<MessageId>,
    /// The session of that message.
    pub session_id: Option<SessionId>,
    /// The cited words.
    pub quote: String,
    /// How far the cited words are trusted.
    pub trust: Trust,
}

/// A durable statement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Memory {
    /// Its id.
    pub id: MemoryId,
    /// What it is about.
    pub kind: MemoryKind,
    /// The person or thing it is about.
    pub subject: Option<String>,
    /// The statement.
    pub content: String,
    /// Whether it is believed.
    pub status: MemoryStatus,
    /// How certain it is, between 0 and 1: `initial_confidence` and what signals add to it.
    pub confidence: f64,
    /// The trust of its least trusted source.
    pub trust: Trust,
    /// The project it belongs to; null for all projects.
    pub project: Option<String>,
    /// Tags.
    pub tags: Vec<String>,
    /// When it starts to hold.
    pub valid_from: Option<Timestamp>,
    /// When it stops holding.
    pub valid_until: Option<Timestamp>,
    /// The memory that replaced it.
    pub superseded_by: Option<MemoryId>,
    /// The memory that contradicts it, until a person settles which holds.
    pub suspended_by: Option<MemoryId>,
    /// The memory that it is to replace when it becomes active.
    #[serde(default)]
    pub replaces: Option<MemoryId>,
    /// When a person confirmed it.
    pub confirmed_at: Option<Timestamp>,
    /// Who created it.
    pub origin: ActorKind,
    /// The confidence it was created with.
    pub initial_confidence: f64,
    /// How often an answer rested on it.
    pub reference_count: i64,
    /// When an answer last rested on it.
    pub last_referenced_at: Option<Timestamp>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// Its sources.
    pub citations: Vec<Citation>,
}

impl Memory {
    /// The fields that follow from signals and changes. They are not part of an operation.
    pub const DERIVED_FIELDS: [&'static str; 5] =
        ["id", "confidence", "reference_count", "last_referenced_at", "updated_at"];

    /// The confidence that follows from the initial one, the number of references, and the active days
    /// of the space without one.
    pub fn derive_confidence(initial: f64, references: i64, idle_days: i64) -> f64 {
        let added = references as f64 * USE_CONFIDENCE;
        let decaying_days = (idle_days - DAYS_BEFORE_DECAY).clamp(0, i64::from(i32::MAX)) as i32;
        let confidence = (initial + added).clamp(0.0, 1.0) * DAILY_DECAY.powi(decaying_days);
        // Rounded, because sums of decimal fractions are not exact.
        (confidence * CONFIDENCE_STEPS).round() / CONFIDENCE_STEPS
    }

    /// Whether its confidence decays while no answer rests on it: a machine made it, and no person
    /// stood by it.
    pub fn decays(&self) -> bool {
        self.origin != ActorKind::Person
            && (self.trust != Trust::Owner || self.status == MemoryStatus::Candidate)
            && self.confirmed_at.is_none()
            && self.kind != MemoryKind::Identity
            && self.reference_count == 0
    }

    /// Whether a person created or confirmed it.
    pub fn is_stated_or_confirmed(&self) -> bool {
        self.origin == ActorKind::Person || self.confirmed_at.is_some()
    }

    /// Adds sources that it does not have yet.
    pub fn add_citations(&mut self, citations: &[Citation]) {
        for citation in citations {
            if !self.citations.contains(citation) {
                self.citations.push(citation.clone());
            }
        }
    }

    /// When it starts to hold, or was created.
    pub fn holds_from(&self) -> Timestamp {
        self.valid_from.unwrap_or(self.created_at)
    }

    /// Whether it holds at a moment, as far as its validity says.
    pub fn is_valid_at(&self, at: Timestamp) -> bool {
        self.valid_from.is_none_or(|from| from <= at)
            && self.valid_until.is_none_or(|until| at < until)
    }

    /// Whether it and another hold at a common time, as far as their validities say.
    pub fn validity_overlaps(&self, other: &Memory) -> bool {
        let ends_before = |one: &Memory, other: &Memory| {
            one.valid_until.zip(other.valid_from).is_some_and(|(until, from)| until <= from)
        };
        !ends_before(self, other) && !ends_before(other, self)
    }
}

/// The answer to a new memory.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Remembered {
    /// The memory, or the one with the same statement that got the new evidence.
    pub memory: Memory,
    /// Whether the statement was known before.
    pub is_duplicate: bool,
    /// Why it has its status.
    pub explanation: String,
    /// Memories that this one contradicts.
    pub contradicts: Vec<RelatedMemory>,
    /// The operation that recorded it; null if nothing changed.
    pub operation: Option<OperationId>,
    /// The group of that operation and of what it changed elsewhere, which undoes them together.
    pub group: Option<GroupId>,
}

json_name! {
    /// How two statements relate.
    Relation "relation" {
        /// They say the same.
        Same "same",
        /// One says more about what the other says.
        Refines "refines",
        /// They cannot both hold.
        Contradicts "contradicts",
        /// They are about different things.
        Unrelated "unrelated",
    }
}

/// A memory that relates to another.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RelatedMemory {
    /// The other memory.
    pub id: MemoryId,
    /// Its statement.
    pub content: String,
    /// Its status.
    pub status: MemoryStatus,
    /// How they relate.
    pub relation: Relation,
    /// How much of their words they share, between 0 and 1.
    pub overlap: f64,
    /// Why.
    pub reason: String,
    /// When the other was created.
    pub created_at: Timestamp,
}

/// A memory with what it relates to.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MemoryView {
    /// The memory.
    #[serde(flatten)]
    pub memory: Memory,
    /// The parts that add up to its confidence; only with `explain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<ConfidenceExplained>,
    /// Memories that say the same or contradict it; only with `explain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub related: Option<Vec<RelatedMemory>>,
    /// Projects whose packs leave it out, because it was served often and never used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub muted_in: Vec<String>,
}

/// The parts that add up to a confidence.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ConfidenceExplained {
    /// The parts, in order; the last one is the result.
    pub parts: Vec<ConfidencePart>,
    /// How many signals of each kind there are.
    pub signals: Vec<SignalCount>,
}

/// One part of a confidence.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ConfidencePart {
    /// What it is.
    pub name: String,
    /// What it adds, or the result.
    pub value: f64,
}

/// How many signals of a kind a memory has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SignalCount {
    /// The kind.
    pub kind: SignalKind,
    /// How many.
    pub count: i64,
}

/// The answer to a change of several memories.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ChangedMemories {
    /// The memories as they are now; with `dry_run`, as they would be.
    pub memories: Vec<Memory>,
    /// The group of the operations, which undoes them together; null if nothing changed.
    pub group: Option<GroupId>,
    /// Whether nothing was written.
    pub dry_run: bool,
}

/// The answer to a change of one memory.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ChangedMemory {
    /// The memory as it is now.
    #[serde(flatten)]
    pub memory: Memory,
    /// The operation that changed it; null if nothing changed.
    pub operation: Option<OperationId>,
    /// The group of that operation and of what it changed elsewhere, which undoes them together.
    pub group: Option<GroupId>,
}

/// The answer to a reinforcement.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Reinforced {
    /// The memory as it is now.
    pub memory: Memory,
    /// Whether the signal was new.
    pub is_new: bool,
    /// The confidence before.
    pub old_confidence: f64,
    /// The confidence now.
    pub new_confidence: f64,
}

/// Evidence about a memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Signal {
    /// The memory.
    pub memory_id: MemoryId,
    /// What happened.
    pub kind: SignalKind,
    /// The question that was asked.
    pub query: Option<String>,
    /// How much of the question the memory has, between 0 and 1, if a query found it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relevance: Option<f64>,
    /// The day it counts for.
    pub date: String,
    /// When it happened.
    pub at: Timestamp,
}

json_name! {
    /// What a node of an explanation is.
    WhyKind "kind" {
        /// A memory.
        Memory "memory",
        /// A fact of a project.
        State "state",
        /// A quoted source.
        Quote "quote",
        /// A message.
        Message "message",
        /// A message before or after a cited one.
        Neighbour "neighbour",
        /// A recorded change.
        Operation "operation",
        /// A source that is no longer stored.
        Missing "missing",
    }
}

/// Why something is believed: a tree from the memory down to its sources.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Why {
    /// What the node is.
    pub kind: WhyKind,
    /// Its id.
    pub id: String,
    /// Its text.
    pub text: String,
    /// When it was said or done.
    pub at: Option<Timestamp>,
    /// Who did it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor: Option<Actor>,
    /// What it rests on.
    pub children: Vec<Why>,
}

/// Every operation on a memory, oldest first.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MemoryHistory {
    /// The memory, if it still exists.
    pub memory: Option<Memory>,
    /// The operations.
    pub items: Vec<Operation>,
}
