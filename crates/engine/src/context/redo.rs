//! Rewrites extracts with the model: the text changes, the coverage does not.

use super::lines::line;
use super::markup;
use super::node_text::fill;
use super::summarise::{Line, Source, summarise};
use crate::Oneiro;
use oneiro_model::{Error, MessageId, Result, SessionId, SummaryId, SummaryKind, SummaryLevel};
use oneiro_store::summaries::{self, Node, Rewriting};
use oneiro_store::{Tx, contexts, messages, segments};

/// Extracts read at a time.
const BATCH: usize = 256;

impl Oneiro {
    /// Rewrites the extracts of a session with the model, lowest depth first; returns the rewritten
    /// ones. Stops at the first failure of the model.
    pub(super) fn redo_extracts(
        &self,
        (key, id): (i64, &SessionId),
        limit: usize,
    ) -> Result<Vec<SummaryId>> {
        let Some(llm) = self.model() else {
            return Ok(Vec::new());
        };
        let mut redone = Vec::new();
        let rules = self.store.read(|tx| self.settings_in(tx))?;
        let least = rules.model_chunk_tokens as i64;
        let extracts = |tx: &Tx<'_>| summaries::extracts(tx, key, least, limit.min(BATCH));
        for node in self.store.read(extracts)? {
            self.cancel.check()?;
            let Some((node, lines, generation)) = self.store.read(|tx| {
                let Some(node) = summaries::get(tx, node)? else { return Ok(None) };
                let lines = sources(self, tx, &node)?;
                Ok(Some((node, lines, segments::state(tx)?.generation)))
            })?
            else {
                continue;
            };
            let bare = oneiro_count::tokens(&markup::summary(
                &Node { content: String::new(), ..node.clone() },
                true,
            ));
            let room = usize::try_from(node.tokens).unwrap_or(0).saturating_sub(bare + 1);
            let source = Source {
                prompt: if node.kind == SummaryKind::Leaf { "leaf" } else { "condensed" },
                lines: &lines,
                prior: &[],
                question: None,
                // The new text must not be longer than the old one: the window has no more room.
                target: room * 4 / 5,
                input_tokens: rules.model_input_tokens(),
            };
            let condensed = summarise(&source, Some((&llm, self.prompts.as_ref())));
            if condensed.level == SummaryLevel::Extract {
                break;
            }
            let mut rewritten = node.clone();
            fill(&mut rewritten, condensed);
            let (now, context) = (self.now(), key);
            let done = self.store.write(move |tx| {
                if segments::state(tx)?.generation != generation {
                    return Ok(false);
                }
                let to = Rewriting {
                    content: &rewritten.content,
                    level: rewritten.level,
                    model: rewritten.model.as_deref(),
                    tokens: rewritten.tokens,
                };
                let done = summaries::rewrite(tx, rewritten.key, &to, now)?;
                if done {
                    contexts::record_change(tx, context, "compaction")?;
                }
                Ok(done)
            })?;
            if done {
                redone.push(node.id);
            }
        }
        tracing::debug!(session = id.as_str(), redone = redone.len(), "extracts were redone");
        Ok(redone)
    }
}

/// The source of a node, as lines.
fn sources(oneiro: &Oneiro, tx: &Tx<'_>, node: &Node) -> Result<Vec<Line>> {
    if node.kind == SummaryKind::Condensed {
        return oneiro.model_lines(tx, &summaries::children(tx, node.key)?, node);
    }
    let mut lines = Vec::new();
    for seq in summaries::seqs_under(tx, node.key)? {
        let (_, message) = messages::get(tx, MessageId(seq))?
            .ok_or_else(|| Error::internal("a summary covers a message that is gone"))?;
        lines.push(line(&message));
    }
    Ok(lines)
}
