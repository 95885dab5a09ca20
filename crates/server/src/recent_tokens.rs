//! Recently valid tokens, stored as keyed hashes with bounded memory.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Maximum number of tokens.
const ENTRIES_MAX: usize = 10_000;

/// How long a token is kept after its last use.
const KEEP_TIME: Duration = Duration::from_secs(3_600);

#[derive(Default)]
pub(crate) struct RecentTokens {
    key: RandomState,
    seen: Mutex<HashMap<u64, Instant>>,
}

impl RecentTokens {
    /// The keyed hash of a token.
    pub(crate) fn mark(&self, token: &str) -> u64 {
        self.key.hash_one(token)
    }

    pub(crate) fn knows(&self, mark: u64, now: Instant) -> bool {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.get(&mark).is_some_and(|at| now.saturating_duration_since(*at) < KEEP_TIME)
    }

    pub(crate) fn remember(&self, mark: u64, now: Instant) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() >= ENTRIES_MAX && !seen.contains_key(&mark) {
            seen.retain(|_, at| now.saturating_duration_since(*at) < KEEP_TIME);
        }
        if seen.len() < ENTRIES_MAX || seen.contains_key(&mark) {
            seen.insert(mark, now);
        }
    }

    pub(crate) fn forget(&self, mark: u64) {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).remove(&mark);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_known_for_a_while_and_memory_is_bounded() {
        let (recent_tokens, start) = (RecentTokens::default(), Instant::now());
        let mark = recent_tokens.mark("oneiro_a_b");
        recent_tokens.remember(mark, start);
        assert!(recent_tokens.knows(mark, start));
        assert!(!recent_tokens.knows(recent_tokens.mark("oneiro_a_c"), start));
        assert!(!recent_tokens.knows(mark, start + KEEP_TIME));
        for n in 0..ENTRIES_MAX as u64 * 2 {
            recent_tokens.remember(n, start);
        }
        assert_eq!(recent_tokens.seen.lock().unwrap().len(), ENTRIES_MAX);
        recent_tokens.remember(mark, start + KEEP_TIME);
        assert!(recent_tokens.knows(mark, start + KEEP_TIME));
        recent_tokens.forget(mark);
        assert!(!recent_tokens.knows(mark, start + KEEP_TIME));
    }
}
