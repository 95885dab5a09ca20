//! The best of many by a score, without keeping them all.

/// The best so far.
pub(super) struct Best {
    limit: usize,
    /// What a score must pass to be among the best so far.
    pub(super) bound: f32,
    kept: Vec<(f32, u32)>,
}

/// Scores kept before the worst of them are dropped.
const SPARE: usize = 1_024;

impl Best {
    /// At most so many.
    pub(super) fn new(limit: usize) -> Best {
        Best { limit, bound: f32::NEG_INFINITY, kept: Vec::new() }
    }

    /// Whether a score may be among the best.
    #[inline]
    pub(super) fn may_take(&self, score: f32) -> bool {
        score > self.bound
    }

    /// Takes one.
    pub(super) fn take(&mut self, score: f32, doc: u32) {
        self.kept.push((score, doc));
        if self.kept.len() >= self.limit.saturating_add(SPARE) {
            self.drop_worst();
        }
    }

    fn drop_worst(&mut self) {
        if self.kept.len() <= self.limit {
            return;
        }
        let by_score = |a: &(f32, u32), b: &(f32, u32)| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1));
        let (_, last, _) = self.kept.select_nth_unstable_by(self.limit.saturating_sub(1), by_score);
        self.bound = last.0;
        self.kept.truncate(self.limit);
    }

    /// The best, best first; of equals the newest.
    pub(super) fn done(mut self) -> Vec<(f32, u32)> {
        self.drop_worst();
        self.kept.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        self.kept
    }
}

/// The best of many.
pub(super) fn best(scored: impl IntoIterator<Item = (f32, u32)>, limit: usize) -> Vec<(f32, u32)> {
    let mut best = Best::new(limit);
    scored.into_iter().for_each(|(score, doc)| best.take(score, doc));
    best.done()
}
