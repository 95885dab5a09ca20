//! What a window shows of a conversation, which items it offers to expand, and what two kinds of
//! truncation would keep.

use oneiro::{
    ContextScope, EXPAND_TOKENS, ExpandRequest, ExpandWhat, MessageId, Oneiro, Result, SessionId,
    Window,
};
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// A stored turn of a conversation.
pub(super) struct StoredTurn {
    pub(super) message: MessageId,
    pub(super) turn: String,
    pub(super) text: String,
    pub(super) speaker: String,
    /// Its tokens in a window.
    pub(super) tokens: usize,
}

/// Sets the token counts of messages, as the engine counts them.
pub(super) fn count(oneiro: &Oneiro, id: &SessionId, stored: &mut [StoredTurn]) -> Result<()> {
    for one in stored {
        let request = ExpandRequest {
            what: ExpandWhat::Message(one.message.into()),
            scope: ContextScope::Lineage(id.clone()),
            tokens: 1,
            cursor: None,
        };
        one.tokens = oneiro.context().expand(&request)?.tokens;
    }
    Ok(())
}

/// An item of a window that can be expanded.
pub(super) struct ExpandableItem {
    /// Its text in the window.
    pub(super) content: String,
    /// The turns under it, in the order of its pages.
    pages: Vec<Vec<String>>,
}

/// A parsed window.
pub(super) struct WindowView {
    /// Turns that are shown as complete messages.
    messages: HashSet<String>,
    /// The text before the messages: the summaries.
    head: String,
    /// The complete text.
    pub(super) text: String,
    /// The items that can be expanded, in order.
    pub(super) named: Vec<ExpandableItem>,
    /// The depth of its deepest summary.
    pub(super) depth: i64,
}

impl WindowView {
    pub(super) fn of(
        oneiro: &Oneiro,
        id: &SessionId,
        window: &Window,
        stored: &[StoredTurn],
    ) -> Result<WindowView> {
        let turns: HashMap<i64, &str> =
            stored.iter().map(|one| (one.message.0, one.turn.as_str())).collect();
        let short: HashSet<i64> = window.omitted.shortened.iter().map(|id| id.0).collect();
        let items = window.items.iter().flatten().filter(|item| item.kind == "message");
        let messages = items
            .filter_map(|item| item.id.as_ref().and_then(Value::as_i64))
            .filter(|id| !short.contains(id))
            .filter_map(|id| turns.get(&id).map(|turn| (*turn).to_owned()))
            .collect();
        let scope = ContextScope::Lineage(id.clone());
        let mut view = WindowView {
            messages,
            head: head(window),
            text: window.messages.iter().map(words).collect::<Vec<_>>().join("\n"),
            named: Vec::new(),
            depth: 0,
        };
        let pages = |what: ExpandWhat| -> Result<Vec<Vec<String>>> {
            let mut request =
                ExpandRequest { what, scope: scope.clone(), tokens: EXPAND_TOKENS, cursor: None };
            let mut pages = Vec::new();
            loop {
                let page = oneiro.context().expand(&request)?;
                let read = page.messages.iter().filter_map(|one| one.external_id.clone());
                pages.push(read.collect());
                request.cursor = page.next;
                if request.cursor.is_none() {
                    return Ok(pages);
                }
            }
        };
        for id in &window.summaries {
            let summary = oneiro.context().summary(id.as_str(), &scope)?;
            view.depth = view.depth.max(summary.depth);
            view.named.push(ExpandableItem {
                content: summary.content,
                pages: pages(ExpandWhat::Summary(id.as_str().to_owned()))?,
            });
        }
        if let (Some(first), Some(last)) = (window.omitted.first, window.omitted.last) {
            let pages = pages(ExpandWhat::Range(first.into(), last.into()))?;
            view.named.push(ExpandableItem { content: String::new(), pages });
        }
        Ok(view)
    }

    /// Whether every word of a turn is in the window: as a message, or line for line in a summary.
    pub(super) fn shows(&self, stored: &StoredTurn) -> bool {
        self.messages.contains(&stored.turn)
            || stored.text.lines().all(|line| self.head.contains(line.trim()))
    }

    /// Expansions until a turn is read, if the right item is expanded.
    pub(super) fn pages_until(&self, turn: &str) -> Option<usize> {
        let at = self.named.iter().filter_map(|named| named.page_of(turn));
        at.min().map(|page| page + 1)
    }

    /// Expansions until a turn is read, if items are expanded completely in an order.
    pub(super) fn guided(&self, order: &[usize], turn: &str) -> Option<usize> {
        let mut read = 0;
        for named in order.iter().filter_map(|index| self.named.get(*index)) {
            match named.page_of(turn) {
                Some(page) => return Some(read + page + 1),
                None => read += named.pages.len(),
            }
        }
        None
    }
}

impl ExpandableItem {
    fn page_of(&self, turn: &str) -> Option<usize> {
        self.pages.iter().position(|page| page.iter().any(|read| read == turn))
    }
}

/// The system message of a window.
fn head(window: &Window) -> String {
    let is_system = |message: &&Value| message.get("role").is_some_and(|role| role == "system");
    window.messages.first().filter(is_system).map(words).unwrap_or_default()
}

/// The speaker and the text of a message of a window.
fn words(message: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let name = message.get("name").map(text).unwrap_or_default();
    let content = match message.get("content") {
        Some(Value::Array(parts)) => {
            let parts = parts.iter().filter_map(|part| part.get("text")).map(text);
            parts.collect::<Vec<_>>().join("\n")
        }
        Some(content) => text(content),
        None => String::new(),
    };
    format!("{name}: {content}")
}

/// The turns that a truncation keeps.
pub(super) struct Truncated {
    pub(super) turns: HashSet<String>,
    pub(super) text: String,
}

/// The oldest and the newest turns that fit into this many tokens each.
pub(super) fn truncate(stored: &[StoredTurn], oldest: usize, newest: usize) -> Truncated {
    let fitting = |all: &mut dyn Iterator<Item = &StoredTurn>, limit: usize| {
        let mut left = limit;
        all.take_while(|one| match left.checked_sub(one.tokens) {
            Some(rest) => {
                left = rest;
                true
            }
            None => false,
        })
        .count()
    };
    let first = fitting(&mut stored.iter(), oldest);
    let last = fitting(&mut stored.iter().rev(), newest);
    let (mut turns, mut text) = (HashSet::new(), String::new());
    for (index, one) in stored.iter().enumerate() {
        if index < first || index >= stored.len() - last {
            turns.insert(one.turn.clone());
            text.push_str(&format!("{}: {}\n", one.speaker, one.text));
        }
    }
    Truncated { turns, text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(number: i64) -> StoredTurn {
        StoredTurn {
            message: MessageId(number),
            turn: format!("D1:{number}"),
            text: format!("turn {number}"),
            speaker: "Mira".to_owned(),
            tokens: 10,
        }
    }

    #[test]
    fn a_truncation_keeps_the_turns_that_fit_at_both_ends() {
        let all: Vec<StoredTurn> = (1..=9).map(stored).collect();
        let kept = |oldest, newest| {
            let kept = truncate(&all, oldest, newest).turns;
            let mut kept: Vec<String> = kept.into_iter().collect();
            kept.sort();
            kept
        };
        assert_eq!(kept(0, 29), ["D1:8", "D1:9"]);
        assert_eq!(kept(10, 20), ["D1:1", "D1:8", "D1:9"]);
        assert_eq!(kept(500, 500).len(), 9);
    }

    #[test]
    fn expansions_are_pages_of_the_right_item_or_of_all_items_before_it() {
        let named = |pages: &[&[&str]]| ExpandableItem {
            content: String::new(),
            pages: pages
                .iter()
                .map(|page| page.iter().map(|id| (*id).to_owned()).collect())
                .collect(),
        };
        let view = WindowView {
            messages: HashSet::from(["D9:9".to_owned()]),
            head: "<summary>\nMira: turn 3\n</summary>".to_owned(),
            text: String::new(),
            named: vec![named(&[&["D1:1"], &["D1:2", "D1:3"]]), named(&[&["D2:1"]])],
            depth: 0,
        };
        assert!(view.shows(&stored(3)) && !view.shows(&stored(2)));
        assert_eq!(view.pages_until("D1:2"), Some(2));
        assert_eq!(view.guided(&[1, 0], "D1:2"), Some(3));
        assert_eq!(view.guided(&[0, 1], "D2:1"), Some(3));
        assert_eq!(view.guided(&[0, 1], "D7:7"), None);
    }
}
