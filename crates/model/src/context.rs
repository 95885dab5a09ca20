//! Lossless context: summaries and what covers what, the windows that are assembled of them, and
//! the ways back to the exact words.

use crate::WindowFormat;
use crate::contract::Request;
use crate::contract::schema::{EXACT_INTEGER_MAX, one_of};
use crate::message::{BATCH_MAX, KeptMessage};
use crate::{
    Cursor, Error, Message, MessageId, MessageRef, Result, SessionId, SummaryId, Timestamp,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

json_name! {
    /// What a summary covers.
    SummaryKind "kind" {
        /// Messages.
        Leaf "leaf",
        /// Summaries of lower depth.
        Condensed "condensed",
        /// Whatever a person or a host says it does: it was written by hand.
        Written "written",
    }
}

json_name! {
    /// How a summary was made.
    SummaryLevel "level" {
        /// A model wrote it.
        Model "model",
        /// A model wrote it when asked again, more strictly.
        Strict "strict",
        /// It is an extract, made without a model.
        Extract "extract",
        /// A person or a host wrote it.
        Hand "hand",
    }
}

/// A node of the summary DAG.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Summary {
    /// Its id.
    pub id: SummaryId,
    /// The session it belongs to.
    pub session_id: SessionId,
    /// What it covers.
    pub kind: SummaryKind,
    /// 0 for what covers messages; one more than the deepest it covers otherwise.
    pub depth: i64,
    /// How it was made.
    pub level: SummaryLevel,
    /// The model that wrote it.
    pub model: Option<String>,
    /// The words.
    pub content: String,
    /// What it costs in a window, markup included.
    pub tokens: i64,
    /// Tokens of what it covers directly.
    pub source_tokens: i64,
    /// How many messages are under it.
    pub message_count: i64,
    /// Tokens of the messages under it.
    pub message_tokens: i64,
    /// The first message under it.
    pub first_message: Option<MessageId>,
    /// The last message under it.
    pub last_message: Option<MessageId>,
    /// When the first of them was said.
    pub earliest_at: Timestamp,
    /// When the last of them was said.
    pub latest_at: Timestamp,
    /// When it was made.
    pub created_at: Timestamp,
    /// The summaries it covers.
    pub children: Vec<SummaryId>,
    /// The summaries that cover it.
    pub parents: Vec<SummaryId>,
    /// Whether it is a root: no other summary of its session covers it, but for overviews.
    pub in_context: bool,
}

/// The tokens a window may have when nobody says.
pub const WINDOW_BUDGET: usize = 100_000;

/// What a window is asked to be.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WindowRequest {
    /// The most tokens the prompt may have.
    #[schemars(range(min = 1, max = TOKENS_MAX))]
    pub budget: usize,
    /// Of these, tokens kept free for the answer and for whatever the caller adds.
    #[schemars(range(min = 0, max = TOKENS_MAX - 1))]
    pub reserve: usize,
    /// For which provider it is written.
    pub format: WindowFormat,
    /// Explain each item: why it is in or out.
    pub explain: bool,
    /// Only look: prepare no summaries, and leave no mark for the next window.
    pub peek: bool,
}

/// The most tokens that a window may be asked to have, or a context to be brought down to.
pub const TOKENS_MAX: usize = 100_000_000;

impl Request for WindowRequest {
    fn check(&self) -> Result<()> {
        WindowRequest::check(self)
    }
}

impl Default for WindowRequest {
    fn default() -> WindowRequest {
        WindowRequest {
            budget: WINDOW_BUDGET,
            reserve: 0,
            format: WindowFormat::Openai,
            explain: false,
            peek: false,
        }
    }
}

impl WindowRequest {
    /// Refuses a budget that leaves nothing.
    pub fn check(&self) -> Result<()> {
        if self.budget == 0 || self.budget > TOKENS_MAX {
            let problem = format!("is not between 1 and {TOKENS_MAX} tokens");
            return Err(Error::field("budget", problem));
        }
        if self.reserve >= self.budget {
            return Err(Error::field("reserve", "leaves nothing of the budget")
                .remedy("give a reserve smaller than the budget"));
        }
        Ok(())
    }
}

/// The assembled content of a prompt.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Window {
    /// The messages, as the provider takes them.
    pub messages: Vec<Value>,
    /// The system text, where the provider takes it apart from the messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// The whole window as text, for the format `text`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// What the window costs; the reserve is not in it.
    pub tokens: usize,
    /// The budget that was asked for.
    pub budget: usize,
    /// What of it was kept free.
    pub reserve: usize,
    /// By how much the window is over its budget: its newest turn alone is larger.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_budget: Option<usize>,
    /// The summaries it shows, oldest first.
    pub summaries: Vec<SummaryId>,
    /// What it leaves out.
    pub omitted: Omitted,
    /// Equal for two windows of a session when the later one begins with the earlier.
    pub prefix_hash: String,
    /// Why the window does not begin with the one that was assembled before it, and what that
    /// costs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broke: Option<PrefixBreak>,
    /// Every item, and why it is in or out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<Vec<WindowItem>>,
}

/// What a window leaves out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Omitted {
    /// Messages that are neither shown nor under a summary that is.
    pub messages: usize,
    /// Their tokens.
    pub tokens: usize,
    /// The first of them; the window names the range, and it can be expanded.
    pub first: Option<MessageId>,
    /// The last of them.
    pub last: Option<MessageId>,
    /// Messages that are shown in their short form.
    pub shortened: Vec<MessageId>,
    /// Calls whose results are not there yet, with what belongs to them.
    pub pending: Vec<MessageId>,
    /// Results of calls that are not there.
    pub unpaired: Vec<MessageId>,
    /// Why anything is left out.
    pub reason: Option<String>,
}

/// The window before was not the beginning of this one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PrefixBreak {
    /// Why.
    pub reason: BreakReason,
    /// Tokens that a provider has to read again.
    pub tokens: usize,
}

json_name! {
    /// Why a window does not begin with the one before.
    BreakReason "reason" {
        /// The budget was full, and the cut moved.
        Step "step",
        /// Summaries were made, redone, or became invalid with what they covered.
        Compaction "compaction",
        /// Messages were rewound, restored, set aside or removed.
        History "history",
        /// Messages were pinned, or no longer are.
        Pin "pin",
        /// The system prompt is another.
        Prompt "prompt",
    }
}

json_name! {
    /// Where an item of a context is, as a window sees it.
    ItemPlace "place" {
        /// In the window.
        In "in",
        /// Under a summary that is in the window.
        Summarised "summarised",
        /// Left out, and named by the window.
        Out "out",
    }
}

/// An item of a session's context, as a window treats it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WindowItem {
    /// `system`, `tools`, `summary`, `messages` or `message`.
    #[schemars(extend("enum" = ["system", "tools", "summary", "messages", "message"]))]
    pub kind: &'static str,
    /// The id of the message or summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("type" = ["integer", "string"]))]
    pub id: Option<Value>,
    /// The last message of a run of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<MessageId>,
    /// The depth of the summary, or of the summary that the messages are under: 0 for a leaf.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<i64>,
    /// Where it is.
    pub place: ItemPlace,
    /// What it costs, or would.
    pub tokens: usize,
    /// Why.
    pub why: String,
}

/// How far to compact.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CompactRequest {
    /// Prepare summaries until a window of this many tokens leaves nothing uncovered.
    #[schemars(range(min = 1, max = TOKENS_MAX))]
    pub until: Option<usize>,
    /// Have summaries that are extracts written again by the model.
    pub redo: bool,
}

impl Request for CompactRequest {}

/// How a session is split.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SplitRequest {
    /// The id of the continuation; one is made when absent.
    pub id: Option<SessionId>,
    /// Compact the context to this many tokens first; when absent, as far as it is worth it.
    #[schemars(range(min = 1, max = TOKENS_MAX))]
    pub until: Option<usize>,
}

impl Request for SplitRequest {}

/// The text of a summary that is written by hand; an empty one clears it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSummary {
    /// The words.
    pub content: String,
}

impl Request for NewSummary {}

/// What stands for the beginning of a session.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SessionSummary {
    /// The whole of it as one text.
    pub content: String,
    /// Of it, the part that was written by hand.
    pub summary: Option<Summary>,
}

/// What a session is to show.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(transform = history_alternatives)]
pub struct HistoryRequest {
    /// The messages to show.
    #[schemars(with = "Option<Vec<KeptMessage>>", length(max = BATCH_MAX))]
    pub messages: Option<Vec<Value>>,
    /// How many of the newest messages to keep.
    #[schemars(range(min = 0, max = EXACT_INTEGER_MAX))]
    pub keep: Option<usize>,
}

fn history_alternatives(schema: &mut schemars::Schema) {
    one_of(schema, &[&["messages"], &["keep"]]);
}

impl Request for HistoryRequest {
    fn check(&self) -> Result<()> {
        match (&self.messages, self.keep) {
            (Some(_), None) | (None, Some(_)) => Ok(()),
            _ => Err(Error::field("messages", "or `keep` is needed, and not both")
                .remedy("send the messages to show, or how many of the newest to keep")),
        }
    }
}

/// Within what a thing is looked up that is named by its id.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LookupRequest {
    /// Look within the lineage of this session; without it in all of the space, where that is
    /// allowed.
    #[schemars(extend("x-older-names" = ["session_id"]))]
    pub session: Option<SessionId>,
}

impl Request for LookupRequest {}

impl LookupRequest {
    /// Within what to look.
    pub fn scope(self) -> ContextScope {
        self.session.map_or(ContextScope::Space, ContextScope::Lineage)
    }
}

/// How much of a summary to expand.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ExpandOptions {
    /// The most tokens to answer; a message that is larger comes alone.
    #[schemars(range(min = 1, max = EXPAND_TOKENS_MAX))]
    pub tokens: usize,
    /// The `next` of the answer before.
    pub cursor: Option<Cursor>,
    /// Look within the lineage of this session; without it in all of the space, where that is
    /// allowed.
    #[schemars(extend("x-older-names" = ["session_id"]))]
    pub session: Option<SessionId>,
}

impl Default for ExpandOptions {
    fn default() -> ExpandOptions {
        ExpandOptions { tokens: EXPAND_TOKENS, cursor: None, session: None }
    }
}

impl Request for ExpandOptions {}

/// What to expand within a session, and how much of it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpandWithin {
    /// A summary (sum_...), a message (1234, or #3 by its place in the session) or a range of
    /// messages (1234-1300, #3-7).
    #[schemars(extend("pattern" = EXPAND_PATTERN, "x-parsed" = true))]
    pub id: String,
    /// The most tokens to answer; a message that is larger comes alone.
    #[serde(default = "default_expand_tokens")]
    #[schemars(range(min = 1, max = EXPAND_TOKENS_MAX))]
    pub tokens: usize,
    /// The `next` of the answer before.
    #[serde(default)]
    pub cursor: Option<Cursor>,
}

impl Request for ExpandWithin {}

fn default_expand_tokens() -> usize {
    EXPAND_TOKENS
}

/// What a compaction did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Compacted {
    /// The summaries it made, in order.
    pub created: Vec<SummaryId>,
    /// The summaries it had rewritten.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redone: Vec<SummaryId>,
    /// Tokens of a prompt with every message in full.
    pub tokens_before: usize,
    /// Tokens of the window of `until` tokens; without `until` those of the shortest form, with
    /// summaries in place of all messages that have one.
    pub tokens_after: usize,
    /// Why it went no further.
    pub stopped: String,
}

/// Within what something is looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContextScope {
    /// A session and those it descends from or that continue it.
    Lineage(SessionId),
    /// All of the space, if its setting `other_sessions` allows it.
    Space,
}

/// What to expand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExpandWhat {
    /// A summary, by its id or the beginning of it.
    Summary(String),
    /// One message.
    Message(MessageRef),
    /// The messages of the session from one to another.
    Range(MessageRef, MessageRef),
}

/// What can be expanded, as the published schemas describe it.
const EXPAND_PATTERN: &str = "^(sum_[a-z2-7]{1,64}|[1-9][0-9]{0,14}(-[1-9][0-9]{0,14})?\
    |[^\\u0000]{0,512}#[1-9][0-9]{0,14}(-#?[1-9][0-9]{0,14})?)$";

impl ExpandWhat {
    /// Reads `sum_...`, a message (`1234`, `monday#3`) or a range (`1234-1300`, `monday#3-7`).
    pub fn parse(text: &str) -> Result<ExpandWhat> {
        let text = text.trim();
        if let Some(rest) = text.strip_prefix(SummaryId::PREFIX)
            && rest.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        {
            return Ok(ExpandWhat::Summary(text.to_owned()));
        }
        // A range first: `#3-#7` would also be message 7 of a session called `#3-`.
        if let Some((first, last)) = text.rsplit_once('-').and_then(range) {
            return Ok(ExpandWhat::Range(first, last));
        }
        MessageRef::parse(text).map(ExpandWhat::Message).map_err(|_| {
            let shown: String = text.chars().take(60).collect();
            Error::field("id", format!("{shown:?} is not a summary, a message or a range")).remedy(
                "give a summary (sum_...), a message (12, monday#3) or a range (12-34, monday#3-7)",
            )
        })
    }
}

/// The ends of a range. After a place, the end is a place in the same session, with or without `#`.
fn range((first, last): (&str, &str)) -> Option<(MessageRef, MessageRef)> {
    let first = MessageRef::parse(first).ok()?;
    match (&first, MessageRef::parse(last).ok()?) {
        (MessageRef::Id(start), last @ MessageRef::Id(end)) if *start <= end => Some((first, last)),
        (
            MessageRef::Place { session, place },
            MessageRef::Id(MessageId(end)) | MessageRef::Place { session: None, place: end },
        ) if *place <= end => {
            let last = MessageRef::Place { session: session.clone(), place: end };
            Some((first, last))
        }
        _ => None,
    }
}

/// The tokens an expansion may have when nobody says.
pub const EXPAND_TOKENS: usize = 4_000;

/// The most tokens an expansion may be asked for.
const EXPAND_TOKENS_MAX: usize = 1_000_000;

/// What to expand, and how far.
#[derive(Debug, Clone)]
pub struct ExpandRequest {
    /// What.
    pub what: ExpandWhat,
    /// Within what it must be.
    pub scope: ContextScope,
    /// The most tokens to answer; a message is never split, so one may pass it alone.
    pub tokens: usize,
    /// Where an earlier answer ended.
    pub cursor: Option<Cursor>,
}

/// The exact messages under something.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Expanded {
    /// They, in the order they came.
    pub messages: Vec<Message>,
    /// Their tokens.
    pub tokens: usize,
    /// Where to go on.
    pub next: Option<Cursor>,
}

/// What to look for in messages and summaries.
#[derive(Debug, Clone)]
pub struct GrepRequest {
    /// Words, or `/a regular expression/`.
    pub pattern: String,
    /// Within what.
    pub scope: ContextScope,
    /// Look into messages.
    pub messages: bool,
    /// Look into summaries.
    pub summaries: bool,
    /// Only messages of these roles.
    pub roles: Vec<crate::Role>,
    /// Only in sessions of this project.
    pub project: Option<String>,
    /// Only what was said at or after this.
    pub since: Option<Timestamp>,
    /// Only what was said before this.
    pub until: Option<Timestamp>,
    /// The most hits of each kind.
    pub limit: usize,
}

/// What a grep found.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Grepped {
    /// Summaries, best first.
    pub summaries: Vec<SummaryHit>,
    /// Messages, best first.
    pub messages: Vec<crate::Hit>,
    /// How many summaries met the pattern in all.
    pub summary_total: usize,
}

/// A summary that was found.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SummaryHit {
    /// What it is.
    #[schemars(extend("enum" = ["summary"]))]
    pub kind: crate::HitKind,
    /// Its id.
    pub id: SummaryId,
    /// Its session.
    pub session_id: SessionId,
    /// The project of its session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// What it covers.
    pub summary_kind: SummaryKind,
    /// How many levels of summaries are below it.
    pub depth: i64,
    /// How well it meets the pattern.
    pub score: f64,
    /// The part that shows why.
    pub snippet: String,
    /// When the first of what it covers was said.
    pub earliest_at: Timestamp,
    /// When the last of it was said.
    pub at: Timestamp,
}

/// A session condensed around a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SessionDigest {
    /// The words.
    pub content: String,
    /// How it was made.
    pub level: SummaryLevel,
    /// The model that wrote it.
    pub model: Option<String>,
}

/// What any id names.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "found", rename_all = "lowercase")]
pub enum LookedUp {
    /// A summary.
    Summary(Box<Summary>),
    /// A message.
    Message(Box<Message>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_to_expand_is_read_or_refused() {
        let message = |text: &str| MessageRef::parse(text).unwrap();
        for one in ["12", "#3", "monday#3", "2026-11-16#3", "2026-11#3"] {
            assert_eq!(ExpandWhat::parse(one).unwrap(), ExpandWhat::Message(message(one)));
        }
        for (range, first, last) in [
            (" 12-14 ", "12", "14"),
            ("12 - 14", "12", "14"),
            ("#3-7", "#3", "#7"),
            ("#3 - #7", "#3", "#7"),
            ("monday#3-7", "monday#3", "monday#7"),
            ("monday#3-#7", "monday#3", "monday#7"),
            ("2026-11-16#3-7", "2026-11-16#3", "2026-11-16#7"),
        ] {
            let want = ExpandWhat::Range(message(first), message(last));
            assert_eq!(ExpandWhat::parse(range).unwrap(), want, "{range}");
        }
        assert_eq!(ExpandWhat::parse("sum_ab").unwrap(), ExpandWhat::Summary("sum_ab".to_owned()));
        for bad in
            ["", "-3", "0", "14-12", "#7-3", "x", "1-", "mem_a", "sum_\0", "sum_A", "sum_a b"]
        {
            assert_eq!(ExpandWhat::parse(bad).unwrap_err().field_name(), Some("id"), "{bad:?}");
        }
    }

    #[test]
    fn a_budget_must_leave_something() {
        let window =
            |budget, reserve| WindowRequest { budget, reserve, ..WindowRequest::default() };
        assert!(window(10, 9).check().is_ok());
        assert_eq!(window(10, 10).check().unwrap_err().field_name(), Some("reserve"));
        assert_eq!(window(0, 0).check().unwrap_err().field_name(), Some("budget"));
    }
}
