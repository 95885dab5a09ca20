//! Which memories a response rests on: those whose words it has. A short memory needs 70 % of its words,
//! a long one twelve words and 35 %.

use crate::Oneiro;
use crate::memories::USER_SUBJECT;
use oneiro_model::{MemoryId, MemoryStatus, Result};
use oneiro_store::memories::{self, Filter};
use oneiro_store::{Tx, operations};
use oneiro_text::Analyzer;
use rustc_hash::{FxHashSet, FxHasher};
use std::hash::{Hash, Hasher};
use std::sync::{Arc, PoisonError};

/// Memories with fewer words are matched by chance.
const WORDS_MIN: usize = 3;
/// Memories with more words are long.
const SHORT_WORDS_MAX: usize = 15;
/// The part of a short memory's words that a response must have.
const SHORT_SHARE: f64 = 0.7;
/// The words, and the part of them, that a response must have of a long memory.
const LONG_WORDS_MIN: usize = 12;
const LONG_SHARE: f64 = 0.35;

/// Newest active memories that responses are compared with.
const POOL_MEMORIES: usize = 20_000;

/// The words of every active memory.
#[derive(Default)]
pub(crate) struct UsageMatcher {
    /// The last operation that it knows.
    last_operation: i64,
    entries: Vec<Entry>,
}

struct Entry {
    id: MemoryId,
    is_personal: bool,
    subject: Option<String>,
    project: Option<String>,
    /// Hashes of the distinct stems.
    words: Vec<u64>,
}

impl UsageMatcher {
    /// The memories that a text rests on: of the project, and personal ones of the speaker.
    pub(crate) fn used_by(
        &self,
        text: &str,
        subject: &str,
        project: Option<&str>,
    ) -> Vec<MemoryId> {
        if self.entries.is_empty() {
            return Vec::new();
        }
        let said: FxHashSet<u64> = stems(&mut Analyzer::default(), text).into_iter().collect();
        let is_in_pool = |entry: &Entry| {
            if entry.is_personal {
                entry.subject.as_deref().is_none_or(|of| of == subject || of == USER_SUBJECT)
            } else {
                entry.project.is_none() || entry.project.as_deref() == project
            }
        };
        let used = self.entries.iter().filter(|entry| is_in_pool(entry) && entry.is_in(&said));
        used.map(|entry| entry.id.clone()).collect()
    }
}

impl Entry {
    fn is_in(&self, said: &FxHashSet<u64>) -> bool {
        let total = self.words.len();
        let shared = self.words.iter().filter(|word| said.contains(word)).count();
        let share = shared as f64 / total.max(1) as f64;
        if total <= SHORT_WORDS_MAX {
            total >= WORDS_MIN && share >= SHORT_SHARE
        } else {
            shared >= LONG_WORDS_MIN && share >= LONG_SHARE
        }
    }
}

/// Hashes of the distinct stems of a text, without stop words.
fn stems(analyzer: &mut Analyzer, text: &str) -> Vec<u64> {
    let mut found = FxHashSet::default();
    analyzer.tokens(text, |token| {
        if !token.stop {
            let mut hasher = FxHasher::default();
            token.term.hash(&mut hasher);
            found.insert(hasher.finish());
        }
    });
    found.into_iter().collect()
}

impl Oneiro {
    /// The words of every active memory, as this transaction sees them.
    pub(crate) fn usage_matcher(&self, tx: &Tx<'_>) -> Result<Arc<UsageMatcher>> {
        let last_operation = operations::last_key(tx)?;
        {
            let known = self.usage_matcher.lock().unwrap_or_else(PoisonError::into_inner);
            if known.last_operation == last_operation {
                return Ok(Arc::clone(&known));
            }
        }
        let filter = Filter { status: Some(MemoryStatus::Active), ..Filter::default() };
        let mut analyzer = Analyzer::default();
        let rows = memories::list_without_citations(tx, &filter, POOL_MEMORIES)?;
        let believed = rows.into_iter().filter(|row| row.memory.suspended_by.is_none());
        let entries = believed.map(|row| Entry {
            is_personal: row.memory.kind.is_personal(),
            words: stems(&mut analyzer, &row.memory.content),
            id: row.memory.id,
            subject: row.memory.subject,
            project: row.memory.project,
        });
        let pool = Arc::new(UsageMatcher { last_operation, entries: entries.collect() });
        *self.usage_matcher.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&pool);
        Ok(pool)
    }
}
