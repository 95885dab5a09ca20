//! Keeps the k highest-scored documents of a stream.

pub(super) struct TopK {
    limit: usize,
    /// A score must be higher to enter.
    pub(super) bound: f32,
    kept: Vec<(f32, u32)>,
}

/// Entries beyond the limit that are buffered before the lowest are dropped.
const TRUNCATE_SLACK: usize = 1_024;

impl TopK {
    pub(super) fn new(limit: usize) -> TopK {
        TopK { limit, bound: f32::NEG_INFINITY, kept: Vec::new() }
    }

    /// Whether a document with this score would enter.
    #[inline]
    pub(super) fn would_enter(&self, score: f32) -> bool {
        score > self.bound
    }

    pub(super) fn insert(&mut self, score: f32, doc: u32) {
        self.kept.push((score, doc));
        if self.kept.len() >= self.limit.saturating_add(TRUNCATE_SLACK) {
            self.truncate();
        }
    }

    fn truncate(&mut self) {
        if self.kept.len() <= self.limit {
            return;
        }
        let by_score = |a: &(f32, u32), b: &(f32, u32)| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1));
        let (_, last, _) = self.kept.select_nth_unstable_by(self.limit.saturating_sub(1), by_score);
        self.bound = last.0;
        self.kept.truncate(self.limit);
    }

    /// The documents, best first; of equals the newest.
    pub(super) fn into_sorted(mut self) -> Vec<(f32, u32)> {
        self.truncate();
        self.kept.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        self.kept
    }
}

/// The k best of an iterator.
pub(super) fn top_k(scored: impl IntoIterator<Item = (f32, u32)>, limit: usize) -> Vec<(f32, u32)> {
    let mut top_k = TopK::new(limit);
    scored.into_iter().for_each(|(score, doc)| top_k.insert(score, doc));
    top_k.into_sorted()
}
