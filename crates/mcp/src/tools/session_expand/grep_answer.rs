//! The answer of `session_expand` to a grep: matching summaries and messages with ids to expand,
//! within the budget.

use super::request::ExpandCall;
use crate::budget::Budget;
use crate::recalled::{FRAME, delimit, one_line};
use crate::text::{minute, second, shortened};
use crate::tools::Answer;
use oneiro::count::tokens;
use oneiro::{Grepped, SessionId, Timestamp};
use serde_json::{Map, Value, json};

/// The structured content without hits, in tokens.
const STRUCTURED_TOKENS: usize = 10;

/// The longest headline, in tokens.
const HEADLINE_TOKENS: usize = 16;

/// The longest snippet, in tokens; in a small answer, a third of it.
const SNIPPET_TOKENS: usize = 60;

/// The longest name of a project, in tokens.
const PROJECT_TOKENS: usize = 12;

/// The longest note and proposed call, in tokens.
const END_TOKENS: usize = 200;

/// A hit of either kind.
struct GrepHit<'a> {
    id: Value,
    at: Timestamp,
    session: &'a SessionId,
    project: Option<&'a str>,
    /// The role of a message, or the depth of a summary.
    by: String,
    snippet: &'a str,
}

/// Makes the answer.
pub(super) fn answer(found: &Grepped, call: &ExpandCall) -> Answer {
    let all = hits(found);
    let mut budget = Budget::tokens(call.tokens);
    budget.set_aside(Budget { text: FRAME + HEADLINE_TOKENS, json: STRUCTURED_TOKENS });
    let end = (budget.left() / 3).min(END_TOKENS);
    let mut end = budget.set_aside(Budget { text: end, json: 0 });
    let (mut lines, mut shown) = (String::new(), Vec::new());
    let snippet_max = SNIPPET_TOKENS.min(budget.left() / 3);
    for hit in &all {
        let (line, fields) = (hit.line(call, snippet_max), hit.fields(call));
        if !budget.spend(&line, &format!("{fields},")) {
            break;
        }
        lines.push_str(&line);
        shown.push(fields);
    }
    let mut text = match all.len() {
        0 => "Nothing was found. Try fewer words, or anywhere=true.".to_owned(),
        many => format!("Found {many}, summaries first. Expand an id to read it."),
    };
    if !lines.is_empty() {
        text = format!("{text}\n{}", delimit(&lines));
    }
    let mut notes = call.notes.clone();
    let not_shown =
        all.len() - shown.len() + found.summary_total.saturating_sub(found.summaries.len());
    if not_shown > 0 {
        notes.push(format!("{not_shown} not shown; use more words to find fewer"));
    }
    let note = format!("\nNote: {}", notes.join("; "));
    if !notes.is_empty() && end.spend(&note, "") {
        text.push_str(&note);
    }
    if let (Some(first), false) = (all.first(), shown.is_empty()) {
        let more = format!("\nMore: {}", call.propose(&first.id_text(), ""));
        if end.spend(&more, "") {
            text.push_str(&more);
        }
    }
    let structured = Map::from_iter([("hits".to_owned(), Value::Array(shown))]);
    Answer::text(text, Value::Object(structured))
}

fn hits(found: &Grepped) -> Vec<GrepHit<'_>> {
    let summaries = found.summaries.iter().map(|hit| GrepHit {
        id: json!(hit.id),
        at: hit.at,
        session: &hit.session_id,
        project: hit.project.as_deref(),
        by: format!("summary of depth {}", hit.depth),
        snippet: &hit.snippet,
    });
    let messages = found.messages.iter().map(|hit| GrepHit {
        id: json!(hit.id),
        at: hit.at,
        session: &hit.session_id,
        project: hit.project.as_deref(),
        by: hit.role.as_str().to_owned(),
        snippet: &hit.snippet,
    });
    summaries.chain(messages).collect()
}

impl GrepHit<'_> {
    fn id_text(&self) -> String {
        self.id.as_str().map_or_else(|| self.id.to_string(), str::to_owned)
    }

    /// The project, where hits of several are mixed.
    fn project(&self, call: &ExpandCall) -> Option<String> {
        let project = self.project.filter(|_| !call.is_in_named_session(self.session))?;
        Some(shortened(&one_line(project), PROJECT_TOKENS))
    }

    fn line(&self, call: &ExpandCall, snippet_max: usize) -> String {
        let mark = if self.id.is_number() { "id " } else { "" };
        let project = self.project(call).map_or(String::new(), |name| format!(", project {name}"));
        let snippet = shortened(&one_line(self.snippet), snippet_max);
        let (at, by) = (minute(self.at), one_line(&self.by));
        format!("  {mark}{} {at} {by}{project}: {snippet}\n", self.id_text())
    }

    fn fields(&self, call: &ExpandCall) -> Value {
        let mut fields = Map::from_iter([
            ("id".to_owned(), self.id.clone()),
            ("by".to_owned(), json!(self.by)),
            ("at".to_owned(), json!(second(self.at))),
        ]);
        let is_named = call.is_in_named_session(self.session);
        if !is_named && tokens(self.session.as_str()) <= SNIPPET_TOKENS {
            fields.insert("session_id".to_owned(), json!(self.session));
        }
        if let Some(project) = self.project(call) {
            fields.insert("project".to_owned(), json!(project));
        }
        Value::Object(fields)
    }
}
