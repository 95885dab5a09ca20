//! Tokens that opened something lately, as keyed hashes: enough to know one again, nothing to open
//! anything with. Bounded in memory.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Tokens that are remembered at once.
const REMEMBERED: usize = 10_000;

/// How long one is remembered after it was last shown.
const LATELY: Duration = Duration::from_secs(3_600);

/// Tokens that were good lately.
#[derive(Default)]
pub(crate) struct Recent {
    key: RandomState,
    seen: Mutex<HashMap<u64, Instant>>,
}

impl Recent {
    /// What a token is known by.
    pub(crate) fn mark(&self, token: &str) -> u64 {
        self.key.hash_one(token)
    }

    pub(crate) fn knows(&self, mark: u64, now: Instant) -> bool {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.get(&mark).is_some_and(|at| now.saturating_duration_since(*at) < LATELY)
    }

    pub(crate) fn remember(&self, mark: u64, now: Instant) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() >= REMEMBERED && !seen.contains_key(&mark) {
            seen.retain(|_, at| now.saturating_duration_since(*at) < LATELY);
        }
        if seen.len() < REMEMBERED || seen.contains_key(&mark) {
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
        let (recent, start) = (Recent::default(), Instant::now());
        let mark = recent.mark("oneiro_a_b");
        recent.remember(mark, start);
        assert!(recent.knows(mark, start));
        assert!(!recent.knows(recent.mark("oneiro_a_c"), start));
        assert!(!recent.knows(mark, start + LATELY));
        for n in 0..REMEMBERED as u64 * 2 {
            recent.remember(n, start);
        }
        assert_eq!(recent.seen.lock().unwrap().len(), REMEMBERED);
        recent.remember(mark, start + LATELY);
        assert!(recent.knows(mark, start + LATELY));
        recent.forget(mark);
        assert!(!recent.knows(mark, start + LATELY));
    }
}
