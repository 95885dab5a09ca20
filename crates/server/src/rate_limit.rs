//! Rate limits by token buckets, with bounded memory.

use oneiro::{Error, ErrorKind, Result};
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Maximum number of buckets.
const ENTRIES_MAX: usize = 10_000;

/// One bucket per key, initially full and refilled at a constant rate.
pub(crate) struct Buckets<K> {
    per_second: f64,
    burst: f64,
    filled: Mutex<HashMap<K, (f64, Instant)>>,
}

impl<K: Eq + Hash> Buckets<K> {
    pub(crate) fn new(per_second: f64, burst: f64) -> Buckets<K> {
        Buckets { per_second, burst, filled: Mutex::default() }
    }

    /// Takes one token from the bucket, or fails.
    pub(crate) fn take(&self, visitor: K, now: Instant) -> Result<()> {
        let mut filled = self.filled.lock().unwrap_or_else(PoisonError::into_inner);
        if filled.len() >= ENTRIES_MAX {
            // A full bucket holds no information.
            filled.retain(|_, (left, at)| self.refilled(*left, *at, now) < self.burst);
        }
        if filled.len() >= ENTRIES_MAX && !filled.contains_key(&visitor) {
            return Err(rate_limited());
        }
        let bucket = filled.entry(visitor).or_insert((self.burst, now));
        let left = self.refilled(bucket.0, bucket.1, now);
        // A refused request takes nothing, otherwise a client that keeps retrying would never be
        // accepted.
        let is_enough = left >= 1.0;
        *bucket = (if is_enough { left - 1.0 } else { left }, now);
        if is_enough { Ok(()) } else { Err(rate_limited()) }
    }

    /// Whether a token was taken recently.
    pub(crate) fn knows(&self, visitor: &K) -> bool {
        let filled = self.filled.lock().unwrap_or_else(PoisonError::into_inner);
        filled.contains_key(visitor)
    }

    /// Whether the bucket is empty, without taking a token.
    pub(crate) fn is_empty(&self, visitor: &K, now: Instant) -> bool {
        let filled = self.filled.lock().unwrap_or_else(PoisonError::into_inner);
        filled.get(visitor).is_some_and(|(left, at)| self.refilled(*left, *at, now) < 1.0)
    }

    fn refilled(&self, left: f64, at: Instant, now: Instant) -> f64 {
        let seconds = now.saturating_duration_since(at).as_secs_f64();
        (left + seconds * self.per_second).min(self.burst)
    }
}

pub(crate) fn rate_limited() -> Error {
    Error::new(ErrorKind::RateLimited, "too many requests").remedy("wait a second and try again")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_bucket_empties_and_fills_again_for_each_visitor() {
        let buckets = Buckets::new(2.0, 3.0);
        let start = Instant::now();
        let after = |millis| start + Duration::from_millis(millis);
        for _ in 0..3 {
            assert!(buckets.take("a", start).is_ok());
        }
        assert!(buckets.is_empty(&"a", start));
        assert_eq!(buckets.take("a", start).unwrap_err().kind(), ErrorKind::RateLimited);
        assert!(buckets.take("b", start).is_ok());
        assert!(buckets.take("a", after(400)).is_err());
        assert!(buckets.take("a", after(500)).is_ok());
        // Constant retrying does not change the rate of accepted requests: two per second.
        let passed = (501..10_501).filter(|millis| buckets.take("a", after(*millis)).is_ok());
        assert!((19..=20).contains(&passed.count()));
        assert!(!buckets.is_empty(&"a", after(20_000)));
    }

    #[test]
    fn visitors_without_end_take_no_memory_without_end() {
        let buckets = Buckets::new(0.001, 2.0);
        let now = Instant::now();
        let refused = (0..ENTRIES_MAX * 2).filter(|n| buckets.take(*n, now).is_err()).count();
        assert_eq!(refused, ENTRIES_MAX);
        assert!(buckets.filled.lock().unwrap().len() <= ENTRIES_MAX);
    }
}
