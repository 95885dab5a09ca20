//! The score of a candidate: a sum of absolute parts, so that it means the same whatever else was
//! looked at. Each part has a reason to hold for any conversation.

use oneiro_text::DateSpan;

/// What each part counts.
pub(super) struct Weights {
    /// How far the words of the question are covered.
    pub(super) coverage: f32,
    /// How near the meaning is.
    pub(super) similarity: f32,
    /// How well the best message of its session covers the question.
    pub(super) session: f32,
    /// It answers a question that covers ours.
    pub(super) answers: f32,
    /// The question names its speaker.
    pub(super) speaker: f32,
    /// It was said on a day that the question names.
    pub(super) date: f32,
    /// The question asks for a time, and it tells one.
    pub(super) time: f32,
    /// Somebody tells of themselves.
    pub(super) person: f32,
    /// It asks, and does not tell.
    pub(super) asks: f32,
    /// It is near to the best candidates.
    pub(super) feedback: f32,
    /// How much of the question its whole session covers.
    pub(super) conversation: f32,
    /// It tells much, rather than little.
    pub(super) length: f32,
}

/// Fitted on half of LoCoMo's conversations, near to the weights that were fitted elsewhere; to
/// change any of them by a quarter changes little.
pub(super) const WEIGHTS: Weights = Weights {
    coverage: 1.3,
    similarity: 1.45,
    session: 1.65,
    answers: 0.7,
    speaker: 0.9,
    date: 1.8,
    time: 0.8,
    person: 0.17,
    asks: -0.25,
    feedback: 0.5,
    conversation: 0.2,
    length: 0.25,
};

/// What a match in the previous, next, second previous and second next message counts.
pub(super) const NEIGHBOURS: [f32; 4] = [0.65, 0.52, 0.325, 0.26];

/// What their vectors add to that of a message.
pub(super) const CONTEXT: [f32; 4] = [0.4, 0.3, 0.15, 0.15];

/// What a message of so many words takes from its neighbours and gives to them: one that is long
/// speaks for itself.
pub(super) fn fade(words: usize) -> f32 {
    (60.0 / words.max(1) as f32).min(1.0)
}

/// The similarity of a message in its context from its own and what its neighbours add. They are
/// near to each other, so the sum of all is about so much longer than one.
pub(super) fn in_context(own: f32, context: f32) -> f32 {
    0.5 * own + 0.5 * (own + context) / 1.3
}

/// How much a message of so many words tells; what comes after a hundred and forty adds nothing.
pub(super) fn length(words: usize) -> f32 {
    ((1.0 + words as f32).ln() / 60f32.ln()).min(1.2)
}

/// How well a day fits the days that a question names. People tell of things on the day and in the
/// week after.
pub(super) fn date_fit(dates: &[DateSpan], day: i64) -> f32 {
    let fit = |span: &DateSpan| {
        let length = span.until - span.from;
        let inside = match length {
            ..2 => 1.0,
            2..=8 => 0.8,
            9..=31 => 0.6,
            _ => 0.25,
        };
        match day {
            day if day >= span.from && day < span.until => inside,
            day if day >= span.until && day < span.until + 8 => inside * 0.5,
            _ => 0.0,
        }
    };
    dates.iter().map(fit).fold(0.0, f32::max)
}

/// What was measured of one candidate.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Measured {
    pub(super) coverage: f32,
    pub(super) similarity: f32,
    pub(super) session: f32,
    pub(super) answers: f32,
    pub(super) speaker: f32,
    pub(super) date: f32,
    pub(super) time: f32,
    pub(super) person: f32,
    pub(super) asks: f32,
    pub(super) feedback: f32,
    pub(super) conversation: f32,
    pub(super) length: f32,
}

impl Measured {
    /// Each part: its name, what was measured, and what it adds.
    pub(super) fn parts(&self) -> [(&'static str, f32, f32); 12] {
        let w = &WEIGHTS;
        [
            ("coverage", self.coverage, w.coverage),
            ("similarity", self.similarity, w.similarity),
            ("session", self.session, w.session),
            ("answers", self.answers, w.answers),
            ("speaker", self.speaker, w.speaker),
            ("date", self.date, w.date),
            ("time", self.time, w.time),
            ("person", self.person, w.person),
            ("asks", self.asks, w.asks),
            ("feedback", self.feedback, w.feedback),
            ("conversation", self.conversation, w.conversation),
            ("length", self.length, w.length),
        ]
        .map(|(name, value, weight)| (name, value, value * weight))
    }

    /// The sum.
    pub(super) fn score(&self) -> f32 {
        self.parts().iter().map(|(_, _, added)| added).sum()
    }
}

/// The dot product, in eight sums: one alone would have to be added in order.
pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sums = [0.0f32; 8];
    for (a, b) in a.iter().zip(b) {
        sums.iter_mut().zip(a.iter().zip(b)).for_each(|(sum, (a, b))| *sum += a * b);
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}

/// The cosine of two vectors, which need not be normalised.
pub(super) fn similarity(a: &[f32], b: &[f32]) -> f32 {
    let length = (dot(a, a) * dot(b, b)).sqrt();
    if length > 0.0 { dot(a, b) / length } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_fits_itself_best_and_the_week_after_half() {
        let day = [DateSpan { from: 100, until: 101, start: 0, end: 0 }];
        assert_eq!(date_fit(&day, 100), 1.0);
        assert_eq!(date_fit(&day, 103), 0.5);
        assert_eq!(date_fit(&day, 99), 0.0);
        assert_eq!(date_fit(&day, 120), 0.0);
        let month = [DateSpan { from: 100, until: 130, start: 0, end: 0 }];
        assert!(date_fit(&month, 110) < 1.0);
        assert_eq!(date_fit(&[], 100), 0.0);
    }

    #[test]
    fn long_messages_stand_alone() {
        assert_eq!(fade(0), 1.0);
        assert_eq!(fade(60), 1.0);
        assert_eq!(fade(600), 0.1);
    }
}
