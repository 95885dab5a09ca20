//! A summary of a session written by hand, pinned to the beginning of every window.

use super::rebuild::written;
use crate::sessions::key_of;
use crate::views::Context;
use oneiro_model::{ChangeKind, Error, Result, SessionId, Summary, SummaryKind};
use oneiro_store::{Tx, changes, contexts, summaries};

/// Maximum size of a summary.
const SUMMARY_BYTES: usize = 1 << 20;

impl Context<'_> {
    /// The summary of a session as one text: the manual one, then those of its context.
    pub fn summary_text(&self, id: &SessionId) -> Result<String> {
        self.oneiro.store.read(|tx| {
            let shown = summaries::roots(tx, key_of(tx, id)?)?;
            let texts: Vec<String> = shown.into_iter().map(|node| node.content).collect();
            Ok(texts.join("\n\n"))
        })
    }

    /// Sets the manual summary of a session; an empty text removes it.
    pub fn set_summary(&self, id: &SessionId, text: &str) -> Result<Option<Summary>> {
        let text = text.trim();
        if text.len() > SUMMARY_BYTES {
            return Err(Error::field("content", format!("is longer than {SUMMARY_BYTES} bytes")));
        }
        if text.contains('\0') {
            return Err(Error::field("content", "has a NUL character"));
        }
        let (oneiro, id, text) = (self.oneiro.clone(), id.clone(), text.to_owned());
        self.oneiro.store.write(move |tx| {
            let key = key_of(tx, &id)?;
            for node in summaries::written(tx, key)? {
                summaries::remove(tx, node)?;
            }
            // One that came from the session before this one stays there.
            for node in summaries::roots(tx, key)? {
                if node.kind == SummaryKind::Written {
                    summaries::remove_root(tx, key, node.key)?;
                }
            }
            contexts::record_change(tx, key, "compaction")?;
            changes::record(tx, ChangeKind::Compacted, Some(&id), oneiro.now())?;
            if text.is_empty() {
                return Ok(None);
            }
            let node = put(tx, key, written(&oneiro, (key, &id), &text))?;
            Ok(Some(node))
        })
    }
}

fn put(tx: &Tx<'_>, session_key: i64, node: summaries::Node) -> Result<Summary> {
    let key = summaries::insert(tx, &node)?;
    summaries::add_root(tx, session_key, key)?;
    summaries::Node { key, ..node }.into_summary(tx)
}
