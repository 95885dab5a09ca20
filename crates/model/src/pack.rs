//! Packs: the lines of memory that go into a prompt, within a budget of tokens, and what was left out.

use crate::contract::Request;
use crate::{LIST_MAX, PackId, SessionId, Timestamp, Why};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Tokens of a pack by default.
pub const PACK_BUDGET: usize = 800;
/// The most tokens of a pack.
const PACK_BUDGET_MAX: usize = 100_000;
/// The most characters of a prompt.
pub const PACK_PROMPT_CHARS_MAX: usize = 1_000_000;
/// The most characters of the name of a client or a project.
const NAME_CHARS_MAX: usize = 500;

/// What to make a pack for.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PackRequest {
    /// The prompt. Without one, the pack is for the start of a task: the state of the project, the
    /// person, and the newest memories of the project.
    #[serde(default)]
    #[schemars(length(max = PACK_PROMPT_CHARS_MAX))]
    pub prompt: Option<String>,
    /// The project, by name, alias or folder: only what belongs to it, or to none, is shown.
    #[serde(default)]
    #[schemars(length(min = 1, max = NAME_CHARS_MAX))]
    pub project: Option<String>,
    /// The session that asks. Its own messages are left out.
    #[serde(default)]
    pub session: Option<SessionId>,
    /// The program that asks.
    #[serde(default)]
    #[schemars(length(min = 1, max = NAME_CHARS_MAX))]
    pub client: Option<String>,
    /// Maximum number of tokens of the text.
    #[serde(default = "default_budget")]
    #[schemars(range(min = 0, max = PACK_BUDGET_MAX))]
    pub budget: usize,
    /// The moment it is asked for; now when absent.
    #[serde(default)]
    pub at: Option<Timestamp>,
    /// Leave out lines that this session was shown already.
    #[serde(default)]
    pub new_only: bool,
    /// Texts that the host shows already; lines that stand in them are left out.
    #[serde(skip)]
    pub host_texts: Vec<String>,
}

fn default_budget() -> usize {
    PACK_BUDGET
}

impl Request for PackRequest {}

impl PackRequest {
    /// A pack for a prompt, with the default budget.
    pub fn new(prompt: impl Into<String>) -> PackRequest {
        PackRequest { prompt: Some(prompt.into()), ..PackRequest::starting() }
    }

    /// A pack for the start of a task.
    pub fn starting() -> PackRequest {
        PackRequest {
            prompt: None,
            project: None,
            session: None,
            client: None,
            budget: PACK_BUDGET,
            at: None,
            new_only: false,
            host_texts: Vec::new(),
        }
    }
}

json_name! {
    /// A part of a pack, in the order of trust.
    Band "band" {
        /// Facts of the project that a person set.
        State "state",
        /// Who the person is, and what they prefer.
        Person "person",
        /// Facts of the project, and general ones.
        Project "project",
        /// What happened.
        Episodic "episodic",
        /// Parts of documents.
        Documents "documents",
        /// Messages of earlier conversations.
        Messages "messages",
    }
}

json_name! {
    /// What a line of a pack is.
    PackKind "kind" {
        /// A fact of a project.
        State "state",
        /// A memory.
        Memory "memory",
        /// A message.
        Message "message",
        /// An entry of a note. A recall serves it; packs do not.
        Note "note",
    }
}

json_name! {
    /// Why a line is not in a pack.
    OmitReason "reason" {
        /// It does not fit into the budget.
        Budget "budget",
        /// It is not relevant enough.
        Irrelevant "irrelevant",
        /// Another line says the same.
        Duplicate "duplicate",
        /// Nobody reviewed it.
        Candidate "candidate",
        /// Another memory contradicts it.
        Suspended "suspended",
        /// Another memory replaced it.
        Superseded "superseded",
        /// It does not hold at this time.
        Ended "ended",
        /// The session was shown it already.
        Shown "shown",
        /// The host shows it already.
        Host "host",
        /// It was shown often in this project and never used.
        Muted "muted",
        /// It holds text that Oneiro served.
        Echo "echo",
    }
}

/// A line of a pack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PackItem {
    /// What it is.
    pub kind: PackKind,
    /// The id of the fact, the memory or the message.
    pub id: String,
    /// The line as it is in the text, without its id and date.
    pub text: String,
    /// Its part of the pack.
    pub band: Band,
    /// Since when it holds, or when it was said.
    pub at: Timestamp,
}

/// A line that is not in a pack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PackOmission {
    /// What it is.
    pub kind: PackKind,
    /// The id of the fact, the memory or the message.
    pub id: String,
    /// The part of the pack it would be in.
    pub band: Band,
    /// Why it is left out.
    pub reason: OmitReason,
}

/// Lines of memory for a prompt. It is empty if nothing is relevant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Pack {
    /// Its id, by which it is shown again for 30 days.
    pub id: PackId,
    /// The lines, delimited as data; empty if there are none. The same lines give the same text.
    pub text: String,
    /// Tokens of the text.
    pub tokens: usize,
    /// The lines, in their order.
    pub items: Vec<PackItem>,
    /// What was considered and left out.
    pub omitted: Vec<PackOmission>,
}

/// Which packs to list, newest first.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ListPacks {
    /// Only of this session.
    pub session: Option<SessionId>,
    /// Only of this project, by name, alias or folder.
    #[schemars(length(min = 1, max = NAME_CHARS_MAX))]
    pub project: Option<String>,
    /// Maximum number; more than 500 counts as 500.
    #[schemars(range(min = 0, max = LIST_MAX))]
    pub limit: usize,
}

/// How many packs a list has by default, and at most.
const LIST_DEFAULT: usize = 50;
/// Maximum number of packs in a list.
pub const PACKS_MAX: usize = 500;

impl Default for ListPacks {
    fn default() -> ListPacks {
        ListPacks { session: None, project: None, limit: LIST_DEFAULT }
    }
}

impl Request for ListPacks {}

/// A pack that was given, without its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GivenPack {
    /// Its id.
    pub id: PackId,
    /// The session that asked.
    pub session_id: Option<SessionId>,
    /// The program that asked.
    pub client: Option<String>,
    /// The project.
    pub project: Option<String>,
    /// Tokens of its text.
    pub tokens: usize,
    /// How many lines it has.
    pub lines: usize,
    /// How many lines were considered and left out.
    pub omitted: usize,
    /// When it was given.
    pub created_at: Timestamp,
}

/// Which pack to explain: one by its id, else the last one with lines.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WhyPackRequest {
    /// The pack.
    #[schemars(length(min = 1, max = NAME_CHARS_MAX))]
    pub pack: Option<String>,
    /// The last one of this session.
    pub session: Option<SessionId>,
    /// The last one of this project, by name, alias or folder.
    #[schemars(length(min = 1, max = NAME_CHARS_MAX))]
    pub project: Option<String>,
}

impl Request for WhyPackRequest {}

/// A line of a pack with where it came from.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ExplainedLine {
    /// The line.
    #[serde(flatten)]
    pub item: PackItem,
    /// Where it came from.
    pub why: Why,
}

/// What a session was shown, and where each line came from.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ExplainedPack {
    /// The pack; null if none was given.
    pub pack: Option<GivenPack>,
    /// Its lines, in their order.
    pub lines: Vec<ExplainedLine>,
}
