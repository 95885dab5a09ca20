//! Fits sessions and their messages into a budget: first a heading for each session, then messages
//! in order of priority. It does not know which mode selected them.

use crate::budget::Budget;
use crate::recalled::{indented, one_line};
use crate::text::minute;
use oneiro::count::{prefix, tokens};
use oneiro::{MessageId, ShownMessage};
use serde_json::{Map, Value, json};

/// A message is cut only if at least this much of it can be shown, in tokens.
const CUT_MIN_TOKENS: usize = 40;

/// One session of an answer.
pub(super) struct SessionItem {
    /// Its lines in the text, before its messages.
    pub heading: String,
    /// Its fields in the structured content, besides the ids of its messages.
    pub fields: Map<String, Value>,
    /// Its messages, in order.
    pub messages: Vec<ShownMessage>,
    /// Indexes into `messages`, the most important first.
    pub priority: Vec<usize>,
}

/// The part of the items that fits.
pub(super) struct Fitted {
    /// The lines of the text.
    pub lines: String,
    /// The sessions of the structured content.
    pub sessions: Vec<Value>,
    /// Sessions left out.
    pub sessions_cut: usize,
    /// Messages left out.
    pub messages_cut: usize,
    /// Messages shown in part.
    pub shortened: usize,
    /// For each session shown, the indexes of the messages shown, in order.
    pub shown: Vec<Vec<usize>>,
}

/// A message that fits.
struct FittedMessage {
    index: usize,
    id: MessageId,
    line: String,
    is_whole: bool,
}

/// Takes as much as the budget allows.
pub(super) fn fit(items: &[SessionItem], mut budget: Budget) -> Fitted {
    // One long message must not push out all others.
    let message_max = (budget.left() / 3).max(CUT_MIN_TOKENS);
    let headings = items.iter().take_while(|item| {
        let fields = Value::Object(item.fields.clone()).to_string();
        // The ids of messages have a key and brackets.
        budget.spend(&format!("{}\n", item.heading), &format!("{fields},\"message_ids\":[],"))
    });
    let session_count = headings.count();
    let mut fitted: Vec<Vec<FittedMessage>> = (0..session_count).map(|_| Vec::new()).collect();
    let sessions = items.iter().take(session_count).enumerate();
    // The first message of every session comes before the second of any.
    let first = sessions.clone().filter_map(|(at, item)| Some((at, *item.priority.first()?)));
    let rest = sessions.flat_map(|(at, item)| item.priority.iter().skip(1).map(move |i| (at, *i)));
    for (session, index) in first.chain(rest) {
        let message = items.get(session).and_then(|item| item.messages.get(index));
        let (Some(message), Some(of_session)) = (message, fitted.get_mut(session)) else {
            continue;
        };
        let Some(one) = fit_message(message, index, &mut budget, message_max) else { break };
        of_session.push(one);
    }
    let all: usize = items.iter().map(|item| item.priority.len()).sum();
    let mut answer = Fitted {
        lines: String::new(),
        sessions: Vec::new(),
        sessions_cut: items.len() - session_count,
        messages_cut: all - fitted.iter().map(Vec::len).sum::<usize>(),
        shortened: fitted.iter().flatten().filter(|one| !one.is_whole).count(),
        shown: Vec::new(),
    };
    for (item, messages) in items.iter().zip(fitted) {
        answer.add(item, messages);
    }
    answer
}

impl Fitted {
    fn add(&mut self, item: &SessionItem, mut messages: Vec<FittedMessage>) {
        messages.sort_by_key(|one| one.index);
        self.lines.push_str(&item.heading);
        self.lines.push('\n');
        messages.iter().for_each(|one| self.lines.push_str(&one.line));
        let mut fields = item.fields.clone();
        if !messages.is_empty() {
            let ids: Vec<MessageId> = messages.iter().map(|one| one.id).collect();
            fields.insert("message_ids".to_owned(), json!(ids));
        }
        self.sessions.push(Value::Object(fields));
        self.shown.push(messages.iter().map(|one| one.index).collect());
    }
}

/// As much of a message as fits, at most `max` tokens; `None` if too little of it would be left.
fn fit_message(
    message: &ShownMessage,
    index: usize,
    budget: &mut Budget,
    max: usize,
) -> Option<FittedMessage> {
    let room = budget.text.min(max);
    let id = format!("{},", message.id);
    // A message may be very long: no more of it is looked at than can fit.
    let mut text = prefix(&message.text, room);
    loop {
        let is_whole = text.len() == message.text.len();
        let line = message_line(message, text, is_whole);
        // Indents make a text longer than it is, so the finished line is measured.
        let cost = tokens(&line);
        if cost <= room && budget.spend(&line, &id) {
            return Some(FittedMessage { index, id: message.id, line, is_whole });
        }
        let over = cost.saturating_sub(room).max(1);
        let keep = tokens(text).saturating_sub(over);
        if room < CUT_MIN_TOKENS || keep < CUT_MIN_TOKENS / 4 {
            return None;
        }
        text = prefix(text, keep);
    }
}

fn message_line(message: &ShownMessage, text: &str, is_whole: bool) -> String {
    let mark = if message.anchor { ">" } else { " " };
    let name = message.name.as_deref().map_or(String::new(), |name| format!(" {}", one_line(name)));
    let end = if is_whole { "" } else { " [cut]" };
    let role = one_line(message.role.as_str());
    let at = minute(message.at);
    format!("{mark} id {} {at} {role}{name}: {}{end}\n", message.id, indented(text))
}
