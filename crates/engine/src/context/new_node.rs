//! New nodes of the summary DAG before they have a text, and what their text is written from.

use super::lines::line;
use super::markup;
use super::summarise::Line;
use crate::Oneiro;
use crate::settings::MODEL_SOURCE_TOKENS;
use oneiro_model::{MessageId, Result, SessionId, SummaryId, SummaryKind, SummaryLevel};
use oneiro_store::summaries::Node;
use oneiro_store::{Tx, messages, summaries};

impl Oneiro {
    /// A node that covers nothing yet.
    pub(super) fn node(
        &self,
        (key, id): (i64, &SessionId),
        kind: SummaryKind,
        source_tokens: i64,
    ) -> Node {
        let now = self.now();
        Node {
            key: 0,
            id: SummaryId::from_random(self.ids.random()),
            session_id: id.clone(),
            session_key: key,
            kind,
            depth: 0,
            level: SummaryLevel::Extract,
            model: None,
            content: String::new(),
            tokens: 0,
            source_tokens,
            message_count: 0,
            message_tokens: 0,
            first_seq: 0,
            last_seq: 0,
            earliest_at: now,
            latest_at: now,
            created_at: now,
            overview_target: 0,
        }
    }

    /// A condensed node over others, without text.
    pub(super) fn node_over(&self, session: (i64, &SessionId), nodes: &[Node]) -> Node {
        let sum = |of: fn(&Node) -> i64| nodes.iter().map(of).sum::<i64>();
        let mut node = self.node(session, SummaryKind::Condensed, sum(|node| node.tokens));
        node.depth = nodes.iter().map(|node| node.depth).max().unwrap_or(0) + 1;
        node.message_count = sum(|node| node.message_count);
        node.message_tokens = sum(|node| node.message_tokens);
        node.first_seq = nodes.first().map_or(0, |node| node.first_seq);
        node.last_seq = nodes.last().map_or(0, |node| node.last_seq);
        let earliest = nodes.iter().map(|node| node.earliest_at).min();
        node.earliest_at = earliest.unwrap_or(node.created_at);
        let latest = nodes.iter().map(|node| node.latest_at).max();
        node.latest_at = latest.unwrap_or(node.created_at);
        node
    }

    /// What a model reads for a condensed summary: the summaries below if models wrote them or the
    /// messages are too many, otherwise the messages.
    pub(super) fn model_lines(
        &self,
        tx: &Tx<'_>,
        nodes: &[Node],
        node: &Node,
    ) -> Result<Vec<Line>> {
        let by_models = nodes.iter().all(|child| child.level != SummaryLevel::Extract);
        if by_models || node.message_tokens > MODEL_SOURCE_TOKENS as i64 {
            return Ok(summary_lines(nodes));
        }
        let mut lines = Vec::new();
        for child in nodes {
            for seq in summaries::seqs_under(tx, child.key)? {
                let message = messages::get(tx, MessageId(seq))?;
                lines.extend(message.map(|(_, message)| line(&message)));
            }
        }
        Ok(lines)
    }
}

/// Summaries as the source of another.
pub(super) fn summary_lines(nodes: &[Node]) -> Vec<Line> {
    let when = |node: &Node| {
        format!("{} to {}", markup::minute(node.earliest_at), markup::minute(node.latest_at))
    };
    let line = |node: &Node| Line {
        when: when(node),
        day: None,
        speaker: String::new(),
        text: node.content.clone(),
    };
    nodes.iter().map(line).collect()
}
