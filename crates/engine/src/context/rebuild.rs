//! Rebuilds leaves without an erased message, so that everything else they covered stays available
//! in every context that showed them. Always as extracts: no model call inside a transaction.

use super::invalidate::AffectedLeaf;
use super::lines::line;
use super::markup;
use super::node_text::fill;
use super::summarise::{Condensed, Line, Source, summarise};
use crate::Oneiro;
use oneiro_model::{MessageId, Result, SessionId, SummaryId, SummaryKind, SummaryLevel};
use oneiro_store::summaries::{self, Node};
use oneiro_store::{Tx, messages};

/// Rebuilds leaves over their remaining messages.
pub(crate) fn rebuild_leaves(
    oneiro: &Oneiro,
    tx: &Tx<'_>,
    affected_leaves: Vec<AffectedLeaf>,
) -> Result<()> {
    for leaf in affected_leaves {
        let mut lines: Vec<Line> = Vec::new();
        let mut node = leaf.node;
        let mut seqs = Vec::new();
        let (mut tokens, mut times) = (0, Vec::new());
        for seq in leaf.seqs {
            let Some((_, message)) = messages::get(tx, MessageId(seq))? else { continue };
            tokens += super::form::costs(&message).0 as i64;
            times.push(message.at);
            lines.push(line(&message));
            seqs.push(seq);
        }
        let (Some(first), Some(last)) = (seqs.first(), seqs.last()) else { continue };
        node.id = SummaryId::from_random(oneiro.ids.random());
        (node.first_seq, node.last_seq) = (*first, *last);
        node.message_count = seqs.len() as i64;
        (node.source_tokens, node.message_tokens) = (tokens, tokens);
        node.earliest_at = times.iter().min().copied().unwrap_or(node.earliest_at);
        node.latest_at = times.iter().max().copied().unwrap_or(node.latest_at);
        let target = node.tokens;
        node.content = String::new();
        let bare = oneiro_count::tokens(&markup::summary(&node, true)) as i64 + 1;
        let room = target.min(tokens - 1) - bare;
        let source = Source {
            prompt: "leaf",
            lines: &lines,
            prior: &[],
            question: None,
            target: usize::try_from(room).unwrap_or(8),
            input_tokens: 0,
        };
        fill(&mut node, summarise(&source, None));
        if room < 8 || node.tokens >= node.source_tokens || node.content.is_empty() {
            // Too little is left for a summary to be smaller. The session itself shows the messages
            // again; a continuation reaches them only through the leaf.
            if leaf.contexts.iter().all(|context| *context == node.session_key) {
                continue;
            }
            let left = Condensed {
                content: format!("({} messages)", seqs.len()),
                level: SummaryLevel::Extract,
                model: None,
            };
            fill(&mut node, left);
        }
        node.created_at = oneiro.now();
        let key = summaries::insert(tx, &node)?;
        summaries::cover_messages(tx, key, &seqs)?;
        for context in leaf.contexts {
            summaries::add_root(tx, context, key)?;
        }
    }
    Ok(())
}

/// A manual summary.
pub(crate) fn written(oneiro: &Oneiro, (key, id): (i64, &SessionId), text: &str) -> Node {
    let mut node = oneiro.node((key, id), SummaryKind::Written, 0);
    node.level = SummaryLevel::Hand;
    node.content = text.to_owned();
    node.tokens = oneiro_count::tokens(&markup::summary(&node, true)) as i64 + 1;
    node
}
