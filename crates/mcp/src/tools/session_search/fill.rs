//! Fills an answer while its budget lasts: first a line to each session, then messages, the most
//! wanted first. It must not know which mode made them.

use crate::budget::Budget;
use crate::recalled::{indented, one_line};
use oneiro::count::{prefix, tokens};
use oneiro::{ShownMessage, Timestamp};
use serde_json::{Map, Value, json};

/// What a message must have left of the budget to be shown in part, in tokens.
const WORTH_CUTTING: usize = 40;

/// One session of an answer.
pub(super) struct Item {
    /// Its line in the text.
    pub line: String,
    /// What is told of it beside its messages.
    pub facts: Map<String, Value>,
    /// Its messages, in order.
    pub messages: Vec<ShownMessage>,
    /// Places in `messages`, the most wanted first.
    pub wanted: Vec<usize>,
}

/// What of the items fits.
pub(super) struct Filled {
    /// The lines of the text.
    pub lines: String,
    /// The sessions of the structured part.
    pub sessions: Vec<Value>,
    /// Sessions left out.
    pub sessions_cut: usize,
    /// Messages left out.
    pub messages_cut: usize,
    /// Messages of which a part is left out.
    pub shortened: usize,
    /// To each session shown, the places of the messages shown, in order.
    pub places: Vec<Vec<usize>>,
}

/// A message that fits: its place, its line and its structured form.
struct Chosen {
    place: usize,
    line: String,
    json: Value,
}

/// Fills with as much as the budget allows.
pub(super) fn fill(items: &[Item], mut budget: Budget) -> Filled {
    // A single long message shall not hide all others.
    let most = (budget.left() / 3).max(WORTH_CUTTING);
    let heads = items.iter().take_while(|item| {
        let facts = Value::Object(item.facts.clone()).to_string();
        // With it come the key of the messages, their brackets, and the end of the line.
        budget.spend(&format!("{}\n", item.line), &format!("{facts},\"messages\":[],"))
    });
    let shown = heads.count();
    let mut chosen: Vec<Vec<Chosen>> = (0..shown).map(|_| Vec::new()).collect();
    let mut shortened = 0;
    let wanted = items.iter().take(shown).enumerate();
    // What was found in each session comes before what was said around it in any.
    let first = wanted.clone().filter_map(|(item, of)| Some((item, *of.wanted.first()?)));
    let rest = wanted.flat_map(|(item, of)| of.wanted.iter().skip(1).map(move |at| (item, *at)));
    for (item, place) in first.chain(rest) {
        let message = items.get(item).and_then(|item| item.messages.get(place));
        let (Some(message), Some(of_item)) = (message, chosen.get_mut(item)) else { continue };
        let Some((one, whole)) = choose(message, place, (&mut budget, most)) else { break };
        shortened += usize::from(!whole);
        of_item.push(one);
    }
    let all: usize = items.iter().map(|item| item.wanted.len()).sum();
    let mut filled = Filled {
        lines: String::new(),
        sessions: Vec::new(),
        sessions_cut: items.len() - shown,
        messages_cut: all - chosen.iter().map(Vec::len).sum::<usize>(),
        shortened,
        places: Vec::new(),
    };
    for (item, of_item) in items.iter().zip(chosen) {
        filled.add(item, of_item);
    }
    filled
}

impl Filled {
    fn add(&mut self, item: &Item, mut chosen: Vec<Chosen>) {
        chosen.sort_by_key(|one| one.place);
        self.lines.push_str(&item.line);
        self.lines.push('\n');
        let mut facts = item.facts.clone();
        self.places.push(chosen.iter().map(|one| one.place).collect());
        let mut messages = Vec::new();
        for one in chosen {
            self.lines.push_str(&one.line);
            messages.push(one.json);
        }
        if !messages.is_empty() {
            facts.insert("messages".to_owned(), Value::Array(messages));
        }
        self.sessions.push(Value::Object(facts));
    }
}

/// A message as far as it fits, and whether that is all of it.
fn choose(
    message: &ShownMessage,
    place: usize,
    (budget, most): (&mut Budget, usize),
) -> Option<(Chosen, bool)> {
    let left = budget.left().min(most);
    // No more is looked at than fits in any case: a message may be very long.
    let mut text = prefix(&message.text, left);
    let mut whole = text.len() == message.text.len();
    // Escapes and indents make a text longer than it is, so what is cut is measured as shown.
    loop {
        let one = shown(message, place, (text, whole));
        let json = format!("{},", one.json);
        let dear = tokens(&one.line).max(tokens(&json));
        if dear <= left && budget.spend(&one.line, &json) {
            return Some((one, whole));
        }
        let over = dear.saturating_sub(left).max(1);
        let keep = tokens(text).saturating_sub(over);
        if left < WORTH_CUTTING || keep < WORTH_CUTTING / 4 {
            return None;
        }
        text = prefix(text, keep);
        whole = false;
    }
}

fn shown(message: &ShownMessage, place: usize, (text, whole): (&str, bool)) -> Chosen {
    let mark = if message.anchor { ">" } else { " " };
    let name = message.name.as_deref().map_or(String::new(), |name| format!(" {}", one_line(name)));
    let end = if whole { "" } else { " [cut]" };
    let line = format!(
        "{mark} id {} {} {}{name}: {}{end}\n",
        message.id,
        when(message.at),
        one_line(message.role.as_str()),
        indented(text)
    );
    let mut json = json!({
        "id": message.id,
        "role": message.role,
        "at": seconds(message.at),
        "text": text,
    });
    if let Some(fields) = json.as_object_mut() {
        if let Some(name) = &message.name {
            fields.insert("name".to_owned(), json!(name));
        }
        if message.anchor {
            fields.insert("anchor".to_owned(), json!(true));
        }
        if !whole {
            fields.insert("cut".to_owned(), json!(true));
        }
    }
    Chosen { place, line, json }
}

/// A time to the minute, as models read it.
pub(in crate::tools) fn when(at: Timestamp) -> String {
    let text = at.to_string().replace('T', " ");
    text.chars().take(16).collect()
}

/// A time to the second.
pub(in crate::tools) fn seconds(at: Timestamp) -> Timestamp {
    Timestamp::from_micros(at.micros().div_euclid(1_000_000) * 1_000_000)
}
