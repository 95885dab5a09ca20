//! Writes the text of a new node, by the model or as an extract, smaller than what it covers.

use super::compact::Compaction;
use super::markup;
use super::summarise::{Condensed, Line, Source, summarise};
use crate::Llm;
use oneiro_count::tokens;
use oneiro_model::{SummaryKind, SummaryLevel};
use oneiro_store::summaries::Node;

impl Compaction<'_> {
    /// Sets the text of a node; returns false if it would not be smaller than what it covers.
    pub(super) fn write_node_text(
        &self,
        node: &mut Node,
        lines: &[Line],
        (prior, target): (&[String], i64),
    ) -> bool {
        let bare = tokens(&markup::summary(node, true)) as i64 + 1;
        let room = target.min(node.source_tokens - 1) - bare;
        if room < 8 {
            return false;
        }
        let source = Source {
            prompt: if node.kind == SummaryKind::Leaf { "leaf" } else { "condensed" },
            lines,
            prior,
            question: None,
            target: usize::try_from(room).unwrap_or(8),
            input_tokens: self.rules.model_input_tokens(),
        };
        let asks = self.goal.model && self.is_for_model(node.message_tokens);
        let model = self.oneiro.model().filter(|_| asks);
        let model = model.as_ref().map(|llm| (llm as &dyn Llm, self.oneiro.prompts.as_ref()));
        let mut condensed = match model {
            Some(_) => self.while_held(|| summarise(&source, model)),
            None => summarise(&source, None),
        };
        if condensed.content.is_empty() {
            // Only images, or characters without words: keep what it covers.
            condensed.content = format!("({} messages without words)", lines.len());
        }
        fill(node, condensed);
        if node.tokens >= node.source_tokens && node.level != SummaryLevel::Extract {
            condensed = summarise(&source, None);
            fill(node, condensed);
        }
        !node.content.is_empty() && node.tokens < node.source_tokens
    }
}

/// Sets the text of a node and its tokens.
pub(super) fn fill(node: &mut Node, condensed: Condensed) {
    node.content = condensed.content;
    node.level = condensed.level;
    node.model = condensed.model;
    node.tokens = tokens(&markup::summary(node, true)) as i64 + 1;
}
