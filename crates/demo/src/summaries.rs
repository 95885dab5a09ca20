//! Summarises the longest conversations, so that the demonstration has summaries.

use crate::stage::Staged;
use oneiro::{CompactRequest, Oneiro, Result};

/// The number of sessions that are summarised.
const SUMMARISED_SESSIONS: usize = 2;

/// Each window is so much smaller than the session: the first compaction makes leaves, the second
/// condenses some of them.
const WINDOW_DIVISORS: [usize; 2] = [2, 4];

/// Summarises long sessions that have no summary yet.
pub(crate) fn summarise(oneiro: &Oneiro, staged: &[Staged]) -> Result<()> {
    let size = |session: &&Staged| -> usize {
        session.messages.iter().map(|message| message.to_string().len()).sum()
    };
    let mut longest: Vec<&Staged> = staged.iter().collect();
    longest.sort_by_cached_key(|session| std::cmp::Reverse(size(session)));
    for session in longest.into_iter().take(SUMMARISED_SESSIONS) {
        if !oneiro.context().summaries(&session.id)?.is_empty() {
            continue;
        }
        let far = |until: usize| CompactRequest { until: Some(until), redo: false };
        let whole = oneiro.context().compact(&session.id, &far(usize::MAX))?.tokens_before;
        for part in WINDOW_DIVISORS {
            oneiro.context().compact(&session.id, &far((whole / part).max(1)))?;
        }
    }
    Ok(())
}
