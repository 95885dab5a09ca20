//! Dreams: consolidation runs, what they decided about each candidate and why, and the requests that
//! start, list and undo them.

use crate::contract::Request;
use crate::{
    CandidateId, Cursor, DreamId, GroupId, LIST_MAX, MemoryId, MemoryKind, NoteName, OperationId,
    RevisionId, Timestamp,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum characters of the body of a host's message.
const BODY_CHARS_MAX: usize = 100_000;
/// Maximum characters of a project or a subject.
const NAME_CHARS_MAX: usize = 500;

/// Scores are rounded to this many parts of 1, so that both engines and a replay compare the same numbers.
pub const SCORE_STEPS: f64 = 10_000.0;

json_name! {
    /// Whether and how often a space dreams by itself.
    DreamMode "mode" {
        /// It does not.
        Off "off",
        /// Every night.
        Core "core",
        /// Every twelve hours, with stricter thresholds.
        Deep "deep",
        /// Every six hours, with the strictest thresholds.
        Rem "rem",
    }
}

json_name! {
    /// A set of thresholds.
    DreamPreset "preset" {
        /// Three recalls by two prompts.
        Core "core",
        /// Three recalls by three prompts.
        Deep "deep",
        /// Four recalls by three prompts.
        Rem "rem",
        /// As the settings of the space say.
        Custom "custom",
    }
}

json_name! {
    /// What started a dream.
    DreamTrigger "trigger" {
        /// Somebody asked for it: it runs now.
        Manual "manual",
        /// A host's heartbeat: it runs if it is due.
        Heartbeat "heartbeat",
        /// A schedule: it runs if it is due.
        Cron "cron",
    }
}

json_name! {
    /// What became of a dream.
    DreamOutcome "outcome" {
        /// It runs, or its process died.
        Running "running",
        /// It ran.
        Processed "processed",
        /// Its time passed while no process was there; a later run did its work.
        Missed "missed",
        /// Dreams are switched off.
        Disabled "disabled",
        /// The limit of promotions is 0.
        DisabledByLimit "disabled_by_limit",
        /// The host gave no workspace.
        MissingWorkspace "missing_workspace",
        /// The period was dreamt already.
        NotDue "not_due",
        /// Another process dreams.
        Busy "busy",
        /// It failed; nothing was changed.
        Failed "failed",
    }
}

json_name! {
    /// What a dream decided about a candidate.
    DreamVerdict "decision" {
        /// It is believed and stands in the note, or will when there is room.
        Promoted "promoted",
        /// It says the same as another candidate, which has its evidence.
        Merged "merged",
        /// A newer statement replaced it.
        Superseded "superseded",
        /// It no longer holds.
        Retired "retired",
        /// Its evidence is not enough yet.
        Waiting "waiting",
        /// It is never promoted as it is.
        Rejected "rejected",
    }
}

json_name! {
    /// A condition of promotion.
    DreamGate "gate" {
        /// Where the claim comes from: only what a person said is promoted.
        Origin "origin",
        /// A person refused it, and nothing newer speaks for it.
        Refused "refused",
        /// It is bound to a date, an end or a condition.
        Bound "bound",
        /// It is small talk.
        SmallTalk "small_talk",
        /// A contradiction suspends it, or a newer statement stands against it.
        Contradiction "contradiction",
        /// How often it was recalled, stated again or confirmed.
        Recalls "recalls",
        /// By how many different prompts.
        Prompts "prompts",
        /// On how many days.
        Days "days",
        /// Its score.
        Score "score",
        /// More candidates passed than a run promotes.
        Limit "limit",
        /// The note is full of more valuable entries.
        Budget "budget",
    }
}

/// The parts of a score, each between 0 and 1, without their weights.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScoreParts {
    /// How often it was recalled.
    pub frequency: f64,
    /// How relevant it was: the mean of its best three recalls.
    pub relevance: f64,
    /// By how many different prompts.
    pub diversity: f64,
    /// How long ago the last one was.
    pub recency: f64,
    /// Over how many days.
    pub consolidation: f64,
    /// How many concepts it has.
    pub conceptual: f64,
    /// What uses and confirmations add to the weighted sum.
    pub boost: f64,
}

/// The evidence for a candidate, summed up. Exposure is not part of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DreamEvidence {
    /// Recalls by people, later statements and confirmations.
    pub recalls: u32,
    /// Different prompts among them.
    pub prompts: u32,
    /// Different days among them.
    pub days: u32,
    /// Days between the first and the last of them.
    pub span_days: u32,
    /// The relevance of the best three, best first.
    pub best: Vec<f64>,
    /// Statements of the person after the first.
    pub statements: u32,
    /// Confirmations by a person.
    pub confirmations: u32,
    /// Days on which an answer rested on it.
    pub uses: u32,
    /// When the last recall, statement or confirmation was.
    pub last_at: Option<Timestamp>,
}

/// A claim that may be promoted, with the last decision about it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DreamCandidate {
    /// Its id.
    pub id: CandidateId,
    /// The memory that states it.
    pub memory_id: MemoryId,
    /// What it states.
    pub claim: String,
    /// What it is about.
    pub kind: MemoryKind,
    /// The project it belongs to.
    pub project: Option<String>,
    /// The person or thing it is about.
    pub subject: Option<String>,
    /// Its concepts, as they were when it was staged.
    pub tags: Vec<String>,
    /// Its evidence.
    pub evidence: DreamEvidence,
    /// The parts of its score.
    pub parts: ScoreParts,
    /// Its score, calibrated so that the documented minimum of the preset reaches the threshold.
    pub score: f64,
    /// What was decided last.
    pub decision: DreamVerdict,
    /// Why.
    pub reason: String,
    /// The gate that it did not pass.
    pub gate: Option<DreamGate>,
    /// When that was decided.
    pub decided_at: Timestamp,
    /// The dream that decided it.
    pub dream_id: DreamId,
    /// When it was staged.
    pub staged_at: Timestamp,
    /// When it was first promoted.
    pub promoted_at: Option<Timestamp>,
}

json_name! {
    /// What speaks for a candidate.
    CountedKind "kind" {
        /// A person's prompt asked for it.
        Recall "recall",
        /// The person said it.
        Statement "statement",
        /// A person confirmed it.
        Confirmation "confirmation",
        /// An answer rested on it; that counts for the rank alone.
        Use "use",
    }
}

/// One piece of evidence for a candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CountedEvidence {
    /// The day.
    pub date: String,
    /// What it is.
    pub kind: CountedKind,
    /// The prompt or the cited words.
    pub text: Option<String>,
}

/// The decision that promoted a candidate.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DreamPromotion {
    /// The dream.
    pub dream_id: DreamId,
    /// When.
    pub at: Timestamp,
    /// Why.
    pub reason: String,
    /// Its score at that time.
    pub score: f64,
    /// The parts of that score.
    pub parts: ScoreParts,
    /// The evidence at that time.
    pub evidence: DreamEvidence,
}

/// The line that a dream wrote into a note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DreamLine {
    /// The note.
    pub note: NoteName,
    /// What it says there.
    pub text: String,
}

/// A candidate with what its last decision rests on.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ExplainedCandidate {
    /// The candidate.
    #[serde(flatten)]
    pub candidate: DreamCandidate,
    /// The name of the thresholds that it was measured by last.
    pub preset: DreamPreset,
    /// Those thresholds.
    pub thresholds: DreamThresholds,
    /// What promoted it, if it is promoted.
    pub promotion: Option<DreamPromotion>,
    /// The evidence for its memory, oldest first. The first statement made the claim, and does not count. Evidence
    /// of candidates that say the same is not listed.
    pub counted: Vec<CountedEvidence>,
    /// Its line in a note, if it stands in one.
    pub line: Option<DreamLine>,
}

/// What one dream decided about one candidate.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DreamDecision {
    /// The candidate.
    pub candidate_id: CandidateId,
    /// The memory that states it.
    pub memory_id: MemoryId,
    /// What it states.
    pub claim: String,
    /// The person or thing it is about.
    pub subject: Option<String>,
    /// The project it belongs to.
    pub project: Option<String>,
    /// What was decided.
    pub decision: DreamVerdict,
    /// Why.
    pub reason: String,
    /// The gate that it did not pass.
    pub gate: Option<DreamGate>,
    /// The parts of its score.
    pub parts: ScoreParts,
    /// Its calibrated score.
    pub score: f64,
    /// The evidence that the score follows from.
    pub evidence: DreamEvidence,
    /// What the note was to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
}

/// How the reason of a promotion begins that an earlier dream decided.
pub const HOLDS_STILL: &str = "it was promoted before and still holds";

impl DreamDecision {
    /// Whether it only says that an earlier promotion still holds.
    pub fn holds_still(&self) -> bool {
        self.decision == DreamVerdict::Promoted && self.reason.starts_with(HOLDS_STILL)
    }
}

/// The thresholds of a dream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DreamThresholds {
    /// Maximum number of promotions.
    pub limit: usize,
    /// The least calibrated score.
    pub min_score: f64,
    /// The least number of recalls.
    pub min_recall_count: u32,
    /// The least number of different prompts.
    pub min_unique_queries: u32,
    /// Days after which a recall counts half.
    pub half_life_days: f64,
    /// The weights of the parts of the score.
    #[serde(default)]
    pub weights: DreamWeights,
}

/// The weights of the parts of a score; they add up to 1. The defaults are those of openclaw.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DreamWeights {
    /// How often it was recalled.
    pub frequency: f64,
    /// How well it matched the prompts.
    pub relevance: f64,
    /// By how many different prompts.
    pub diversity: f64,
    /// How long ago it was last recalled.
    pub recency: f64,
    /// On how many days, and how far apart.
    pub consolidation: f64,
    /// How many concepts it has.
    pub conceptual: f64,
}

impl Default for DreamWeights {
    fn default() -> DreamWeights {
        DreamWeights {
            frequency: 0.24,
            relevance: 0.30,
            diversity: 0.15,
            recency: 0.15,
            consolidation: 0.10,
            conceptual: 0.06,
        }
    }
}

/// What a dream read, and up to where.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DreamInputs {
    /// The last message it knew.
    pub last_message: i64,
    /// The key of the last operation it knew.
    pub last_operation: i64,
    /// The last revision of the notes it knew.
    pub revision: Option<RevisionId>,
    /// The notes that it keeps, with the hash of their text before it.
    #[serde(default)]
    pub notes: Vec<DreamNote>,
}

/// A note that a dream keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DreamNote {
    /// Its name.
    pub name: NoteName,
    /// The hash of its text before the dream; null if there was none.
    pub before: Option<String>,
    /// The hash of its text after it.
    pub after: Option<String>,
    /// The most characters it may have.
    pub budget: Option<usize>,
}

/// How much a dream did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DreamCounts {
    /// Candidates that it looked at.
    pub candidates: usize,
    /// Those that it saw for the first time.
    pub staged: usize,
    /// Promoted ones.
    pub promoted: usize,
    /// Merged ones.
    pub merged: usize,
    /// Superseded ones.
    pub superseded: usize,
    /// Retired ones.
    pub retired: usize,
    /// Those that wait.
    pub waiting: usize,
    /// Rejected ones.
    pub rejected: usize,
    /// Lines added to notes.
    pub lines_added: usize,
    /// Lines removed from notes.
    pub lines_removed: usize,
}

json_name! {
    /// What a dream noticed.
    DreamFindingKind "kind" {
        /// A concept of several candidates.
        Theme "theme",
        /// A claim that is likely to be true and lasting, but is not promoted yet.
        Truth "truth",
        /// Two memories that contradict each other.
        Contradiction "contradiction",
        /// A line of a note that no longer holds.
        Stale "stale",
    }
}

/// Something that a dream noticed. It changes nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DreamFinding {
    /// What it is.
    pub kind: DreamFindingKind,
    /// The concept, the ids of memories, or the note and the line.
    pub what: String,
    /// How sure it is, between 0 and 1.
    pub confidence: f64,
    /// Why.
    pub reason: String,
}

/// One consolidation run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Dream {
    /// Its id.
    pub id: DreamId,
    /// The mode of the space.
    pub mode: DreamMode,
    /// Its thresholds by name.
    pub preset: DreamPreset,
    /// What started it.
    pub trigger: DreamTrigger,
    /// The scheduled time that it stands for; null if somebody asked for it.
    pub period: Option<Timestamp>,
    /// Whether it changed anything, or only said what it would change.
    pub apply: bool,
    /// When it started.
    pub started_at: Timestamp,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// What became of it.
    pub outcome: DreamOutcome,
    /// Why, if it did not run.
    pub reason: Option<String>,
    /// Whether it ran.
    pub ran: bool,
    /// Its thresholds.
    pub thresholds: DreamThresholds,
    /// What it read.
    pub inputs: DreamInputs,
    /// How much it did.
    pub counts: DreamCounts,
    /// What it noticed.
    pub findings: Vec<DreamFinding>,
    /// The group of its operations.
    pub group: Option<GroupId>,
    /// The revision of the notes that it made.
    pub revision: Option<RevisionId>,
    /// When it was undone.
    pub undone_at: Option<Timestamp>,
}

impl Dream {
    /// Whether it was a dry run that would change something.
    pub fn is_dry_with_changes(&self) -> bool {
        let counts = &self.counts;
        let changes = [
            counts.promoted,
            counts.merged,
            counts.superseded,
            counts.retired,
            counts.lines_added,
            counts.lines_removed,
        ];
        self.outcome == DreamOutcome::Processed && !self.apply && changes.iter().any(|it| *it > 0)
    }
}

/// A dream with its decisions.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DreamDetail {
    /// The dream.
    #[serde(flatten)]
    pub dream: Dream,
    /// What it decided.
    pub decisions: Vec<DreamDecision>,
    /// The same in sentences.
    pub diary: String,
}

/// The answer to a request to dream.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DreamRun {
    /// Whether the request was meant for Oneiro; a host's other heartbeats are not.
    pub handled: bool,
    /// What became of it.
    pub outcome: DreamOutcome,
    /// Why.
    pub reason: String,
    /// The dream, if there is one.
    pub dream: Option<DreamDetail>,
}

/// A request to dream.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DreamRequest {
    /// What starts it: `manual` runs now, the others if it is due.
    pub trigger: DreamTrigger,
    /// What the host said with its heartbeat.
    #[schemars(length(max = BODY_CHARS_MAX))]
    pub body: Option<String>,
    /// The thresholds; core by default, or those of the space's mode if it is due.
    pub preset: Option<DreamPreset>,
    /// Whether to change anything; by default yes if somebody asks for it, otherwise as the setting
    /// `dream_apply` says.
    pub apply: Option<bool>,
}

impl Default for DreamRequest {
    fn default() -> DreamRequest {
        DreamRequest { trigger: DreamTrigger::Manual, body: None, preset: None, apply: None }
    }
}

impl Request for DreamRequest {}

/// Which candidates to list, the best first.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ListCandidates {
    /// Only with this decision.
    pub decision: Option<DreamVerdict>,
    /// Only about this person or thing.
    #[schemars(length(max = NAME_CHARS_MAX))]
    pub subject: Option<String>,
    /// Only of this project.
    #[schemars(length(max = NAME_CHARS_MAX))]
    pub project: Option<String>,
    /// Maximum number of candidates.
    #[schemars(range(min = 1, max = LIST_MAX))]
    pub limit: usize,
    /// The `next` of the page before.
    pub cursor: Option<Cursor>,
}

impl Default for ListCandidates {
    fn default() -> ListCandidates {
        ListCandidates { decision: None, subject: None, project: None, limit: 50, cursor: None }
    }
}

impl Request for ListCandidates {}

/// How to undo a dream.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct UndoDream {
    /// Undo everything or nothing. Otherwise what cannot be undone is left and reported.
    pub strict: bool,
    /// Why.
    #[schemars(length(max = 500))]
    pub reason: Option<String>,
}

impl Request for UndoDream {}

/// The answer to the undo of a dream.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct UndoneDream {
    /// The dream.
    pub dream: Dream,
    /// The operations that were undone.
    pub undone: Vec<OperationId>,
    /// What could not be undone, and why.
    pub left: Vec<LeftOperation>,
    /// The revision of the notes that the undo made.
    pub revision: Option<RevisionId>,
}

/// An operation that could not be undone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LeftOperation {
    /// The operation.
    pub operation: OperationId,
    /// What it changed.
    pub subject: String,
    /// Why it stands.
    pub reason: String,
}

/// The answer to a replay.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ReplayedDream {
    /// The dream.
    pub dream_id: DreamId,
    /// Whether the same decisions and the same notes came out.
    pub same: bool,
    /// Decisions that were made again.
    pub decisions: usize,
    /// What came out differently, or could not be compared.
    pub differences: Vec<String>,
}

/// Whether a space dreams, and when next.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DreamStatus {
    /// Whether and how often it dreams by itself.
    pub mode: DreamMode,
    /// Whether such dreams change anything.
    pub apply: bool,
    /// The schedule as a cron expression.
    pub cron: String,
    /// The time zone of the schedule.
    pub timezone: String,
    /// The thresholds of such dreams.
    pub thresholds: DreamThresholds,
    /// When the next one is due; null if dreams are off.
    pub next_at: Option<Timestamp>,
    /// The last dream that ran.
    pub last: Option<Dream>,
    /// Candidates by decision.
    pub candidates: Vec<VerdictCount>,
}

/// How many candidates have a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VerdictCount {
    /// The decision.
    pub decision: DreamVerdict,
    /// How many.
    pub count: i64,
}

/// A change of the schedule.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ScheduleDreams {
    /// Whether and how often to dream.
    pub mode: Option<DreamMode>,
    /// Whether dreams by schedule change anything.
    pub apply: Option<bool>,
    /// A cron expression in place of the mode's.
    #[schemars(length(max = 100))]
    pub cron: Option<String>,
    /// The time zone of the schedule.
    #[schemars(length(max = 100))]
    pub timezone: Option<String>,
}

impl Request for ScheduleDreams {}
