//! The features that depend on the whole list of candidates: the best of each session, corrections,
//! the order in time, and the similarity to the best.

use super::candidates::Candidate;
use super::features::{REPLY_WORDS_MAX, TOPIC_FADE, TOPIC_MESSAGES, similarity};
use super::known_text::Correction;
use super::scorer::{Scored, Scorer};
use oneiro_text::Recency;
use rustc_hash::FxHashMap;

/// A message corrects another if it has this share of the word weight that the other covers.
const CORRECTION_OVERLAP: f32 = 0.8;

/// Statements that cover less of the query are not corrected, nor sorted by time.
const STATEMENT_COVERAGE_MIN: f32 = 0.5;

impl Scorer<'_, '_> {
    /// Adds the features that depend on the whole list: the best coverage of each session, and the
    /// similarity to the best candidates.
    pub(super) fn add_list_features(&self, scored: &mut [Scored], others: &[Candidate]) {
        let mut sessions: FxHashMap<i64, f32> = FxHashMap::default();
        let exact = scored.iter().map(|one| (one.candidate.session, one.features.coverage));
        let cheap = others.iter().map(|one| (one.session, one.coverage));
        for (session, coverage) in exact.chain(cheap) {
            let best = sessions.entry(session).or_insert(0.0);
            *best = best.max(coverage);
        }
        for one in scored.iter_mut() {
            one.features.session = sessions.get(&one.candidate.session).copied().unwrap_or(0.0);
            one.features.feedback = 0.0;
        }
        self.add_topics(scored, others);
        self.add_corrections(scored);
        self.add_recency(scored);
        self.add_places(scored);
        sort(scored);
        self.add_completion(scored);
        sort(scored);
        let Some(wanted) = self.wanted.clone().or_else(|| self.feedback_vector(scored)) else {
            return;
        };
        for one in scored.iter_mut() {
            one.features.feedback =
                one.vector.as_deref().map_or(0.0, |vector| similarity(&wanted, vector));
        }
        sort(scored);
    }
}

impl Scorer<'_, '_> {
    /// Finds statements that a newer candidate corrects: it has their words of the query, and says
    /// that something changed.
    fn add_corrections(&self, scored: &mut [Scored]) {
        let words = &self.query_terms.words;
        for one in scored.iter_mut() {
            (one.features.corrects, one.features.corrected) = (0.0, 0.0);
        }
        let mut found = Vec::new();
        let corrects = |one: &Scored| {
            let is_short = self
                .text(one.candidate.seq)
                .is_some_and(|text| text.words <= REPLY_WORDS_MAX && text.asks < 0.5);
            one.correction != Correction::None && is_short
        };
        for (at, newer) in scored.iter().enumerate().filter(|(_, one)| corrects(one)) {
            for (other, older) in scored.iter().enumerate() {
                let is_older = older.candidate.seq < newer.candidate.seq
                    && older.candidate.session == newer.candidate.session
                    && self.query_terms.share(&older.own) >= STATEMENT_COVERAGE_MIN
                    && older.features.asks < 0.5;
                if !is_older {
                    continue;
                }
                let matched = words.iter().zip(older.own.iter().zip(&newer.own));
                let (mut shared, mut all) = (0.0, f32::MIN_POSITIVE);
                for (word, (older, newer)) in matched {
                    shared += word.weight * older.min(*newer);
                    all += word.weight * older;
                }
                let overlaps = shared / all >= CORRECTION_OVERLAP;
                let contradicts = newer.correction == Correction::Contradiction;
                // "Scrap the 640": it names the value that it takes back.
                if overlaps || contradicts && self.shares_number(newer, older) {
                    found.push((at, other));
                }
            }
        }
        for (newer, older) in found {
            if let Some(one) = scored.get_mut(newer) {
                one.features.corrects = 1.0;
            }
            if let Some(one) = scored.get_mut(older) {
                one.features.corrected = 1.0;
            }
        }
    }

    /// How far the messages shortly before each one cover the query: what a message speaks of is often
    /// named only there.
    fn add_topics(&self, scored: &mut [Scored], others: &[Candidate]) {
        let mut coverage: FxHashMap<i64, f32> =
            others.iter().map(|one| (one.seq, one.coverage)).collect();
        coverage.extend(scored.iter().map(|one| (one.candidate.seq, one.features.coverage)));
        for one in scored.iter_mut() {
            let before = self.before(one.candidate.doc, TOPIC_MESSAGES);
            let shares = before.map(|seq| coverage.get(&seq).copied().unwrap_or(0.0));
            let fades = std::iter::successors(Some(1.0), |fade| Some(fade * TOPIC_FADE));
            one.features.topic =
                shares.zip(fades).map(|(share, fade)| share * fade).fold(0.0, f32::max);
            one.features.continues = one.features.topic * one.statement;
        }
    }

    fn shares_number(&self, one: &Scored, other: &Scored) -> bool {
        let numbers = |one: &Scored| self.text(one.candidate.seq).map(|text| &text.numbers);
        let both = numbers(one).zip(numbers(other));
        both.is_some_and(|(one, other)| one.iter().any(|number| other.contains(number)))
    }

    /// The place in time among the candidates of a session in which tools worked: such a session works
    /// towards a result, and later messages know more.
    fn add_places(&self, scored: &mut [Scored]) {
        let mut sessions: FxHashMap<i64, Vec<i64>> = FxHashMap::default();
        for one in scored.iter().filter(|one| one.is_tool_work) {
            sessions.entry(one.candidate.session).or_default();
        }
        for one in scored.iter() {
            if let Some(seqs) = sessions.get_mut(&one.candidate.session) {
                seqs.push(one.candidate.seq);
            }
        }
        sessions.values_mut().for_each(|seqs| seqs.sort_unstable());
        for one in scored.iter_mut() {
            let Some(seqs) = sessions.get(&one.candidate.session) else { continue };
            let before = seqs.partition_point(|seq| *seq < one.candidate.seq);
            one.features.later = before as f32 / seqs.len().saturating_sub(1).max(1) as f32;
        }
    }

    /// Where the query asks for the newest or the first statement: the place in time among the
    /// candidates that cover it.
    fn add_recency(&self, scored: &mut [Scored]) {
        let recency = self.query_terms.question.recency;
        if recency == Recency::Any {
            return;
        }
        let covers = |one: &Scored| one.features.coverage >= STATEMENT_COVERAGE_MIN;
        let mut order: Vec<i64> =
            scored.iter().filter(|one| covers(one)).map(|one| one.candidate.seq).collect();
        order.sort_unstable();
        let last = order.len().saturating_sub(1).max(1) as f32;
        for one in scored.iter_mut().filter(|one| covers(one)) {
            let place = order.partition_point(|seq| *seq < one.candidate.seq) as f32 / last;
            let is_newest = recency == Recency::Newest;
            one.features.recency = if is_newest { place } else { 1.0 - place };
        }
    }

    /// What a message of the best hit's session has of the question that the best hit lacks.
    fn add_completion(&self, scored: &mut [Scored]) {
        let first = || scored.first().map(|one| (one.candidate.session, one.own));
        // Of a list of keywords, each hit is to have them all.
        let Some((session, best)) =
            self.best.or_else(first).filter(|_| !self.query_terms.is_keywords)
        else {
            return;
        };
        let total = self.query_terms.total_weight();
        for one in scored.iter_mut() {
            let words = self.query_terms.words.iter().zip(one.own.iter().zip(&best));
            let added = words.map(|(word, (own, best))| word.weight * (own - best).max(0.0));
            let is_there = one.candidate.session == session;
            one.features.completes = if is_there { added.sum::<f32>() / total } else { 0.0 };
        }
    }

    /// The query vector mixed with the vectors of the three best candidates.
    fn feedback_vector(&self, scored: &[Scored]) -> Option<Vec<f32>> {
        let (asked, _) = self.query_terms.vector.as_ref()?;
        let top: Vec<&[f32]> =
            scored.iter().take(3).filter_map(|one| one.vector.as_deref()).collect();
        let mut wanted = asked.clone();
        for vector in &top {
            let share = 0.5 / top.len() as f32;
            wanted.iter_mut().zip(*vector).for_each(|(sum, value)| *sum += share * value);
        }
        (!top.is_empty()).then_some(wanted)
    }

    /// Keeps the best hit and the feedback vector of the first batch for all later ones.
    pub(super) fn fix_feedback(&mut self, scored: &[Scored]) {
        if self.best.is_none() {
            self.best = scored.first().map(|one| (one.candidate.session, one.own));
        }
        if self.wanted.is_none() {
            self.wanted = self.feedback_vector(scored);
        }
    }
}

fn sort(scored: &mut [Scored]) {
    let key = |one: &Scored| (one.features.score(), one.candidate.seq);
    scored.sort_by(|a, b| {
        let ((a, a_seq), (b, b_seq)) = (key(a), key(b));
        b.total_cmp(&a).then(b_seq.cmp(&a_seq))
    });
}
