//! The longest conversations condensed, as they would be if an agent had asked for small windows of
//! them, so that there are summaries to look at. It must not know what was said.

use crate::stage::Staged;
use oneiro::{CompactRequest, Oneiro, Result};

/// Sessions that are condensed.
const SESSIONS: usize = 2;

/// How far, in parts of their size: once to leaves, once more so that some of them are condensed.
const PARTS: [usize; 2] = [2, 4];

/// Condenses what is long and has no summary yet.
pub(crate) fn condense(oneiro: &Oneiro, staged: &[Staged]) -> Result<()> {
    let size = |session: &&Staged| -> usize {
        session.messages.iter().map(|message| message.to_string().len()).sum()
    };
    let mut longest: Vec<&Staged> = staged.iter().collect();
    longest.sort_by_cached_key(|session| std::cmp::Reverse(size(session)));
    for session in longest.into_iter().take(SESSIONS) {
        if !oneiro.context().summaries(&session.id)?.is_empty() {
            continue;
        }
        let far = |until: usize| CompactRequest { until: Some(until), redo: false };
        let whole = oneiro.context().compact(&session.id, &far(usize::MAX))?.tokens_before;
        for part in PARTS {
            oneiro.context().compact(&session.id, &far((whole / part).max(1)))?;
        }
    }
    Ok(())
}
