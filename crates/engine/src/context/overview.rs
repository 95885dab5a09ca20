//! Overviews: one summary in place of the oldest roots of a session, for windows that are too small
//! even for these. An overview is a cache like any other: it is made when a window wants it, always
//! as an extract, and removed when no window shows it.

use super::markup;
use super::new_node::summary_lines;
use super::node_text::fill;
use super::select::{WantedOverview, overview_of};
use super::summarise::{Source, summarise};
use crate::Oneiro;
use oneiro_model::{Error, Result, SessionId};
use oneiro_store::summaries::{self, Node};
use oneiro_store::{Tx, contexts, segments};

/// Overviews of a session that are kept without a window that shows them: another process may be
/// about to mark them.
const UNMARKED_MAX: usize = 8;

impl Oneiro {
    /// Makes the overview of these summaries; false if it could not be made or stored.
    pub(super) fn add_overview(&self, session: (i64, &SessionId), wanted: &WantedOverview) -> bool {
        let made = self.make_overview(session, wanted);
        if let Err(error) = &made {
            // The window names the summaries without their text.
            tracing::info!(%error, "an overview was not made");
        }
        made.unwrap_or(false)
    }

    fn make_overview(&self, (key, id): (i64, &SessionId), wanted: &WantedOverview) -> Result<bool> {
        let WantedOverview { children, target } = wanted;
        let (nodes, generation) = self.store.read(|tx| {
            let nodes = children.iter().map(|key| summaries::get(tx, *key));
            let nodes = nodes.collect::<Result<Vec<_>>>()?;
            let nodes: Vec<Node> = nodes.into_iter().flatten().collect();
            Ok((nodes, segments::state(tx)?.generation))
        })?;
        if nodes.len() != children.len() || nodes.is_empty() {
            return Ok(false);
        }
        let mut overview = self.node_over((key, id), &nodes);
        overview.overview_target = *target;
        let bare = oneiro_count::tokens(&markup::summary(&overview, true)) as i64 + 1;
        let source = Source {
            prompt: "condensed",
            lines: &summary_lines(&nodes),
            prior: &[],
            question: None,
            target: usize::try_from((*target).min(overview.source_tokens - 1) - bare).unwrap_or(0),
            input_tokens: 0,
        };
        fill(&mut overview, summarise(&source, None));
        if overview.content.is_empty() || overview.tokens > *target {
            return Ok(false);
        }
        self.cancel.check()?;
        self.store.write_derived(|tx| {
            if segments::state(tx)?.generation != generation {
                return Err(Error::conflict("something was erased meanwhile"));
            }
            let found = overview_of(tx, key, wanted)?;
            if found.is_some_and(|found| found.overview_target == *target) {
                return Ok(true);
            }
            for child in children {
                if summaries::get(tx, *child)?.is_none() {
                    return Err(Error::conflict("a summary was removed meanwhile"));
                }
            }
            remove_unmarked(tx, key)?;
            let added = summaries::insert(tx, &overview)?;
            summaries::cover_children(tx, added, children)?;
            Ok(true)
        })
    }
}

/// Removes the oldest overviews that no window shows.
fn remove_unmarked(tx: &Tx<'_>, session_key: i64) -> Result<()> {
    let marked = contexts::marked_summaries(tx, session_key)?;
    let overviews = summaries::overviews(tx, session_key)?;
    let unmarked: Vec<i64> =
        overviews.iter().map(|node| node.key).filter(|key| !marked.contains(key)).collect();
    let surplus = unmarked.len().saturating_sub(UNMARKED_MAX);
    unmarked.into_iter().take(surplus).try_for_each(|key| summaries::remove(tx, key))
}
