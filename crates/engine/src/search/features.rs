//! The score of a candidate: a weighted sum of absolute features, so that a score does not depend
//! on which other candidates were scored.

use oneiro_text::DateSpan;

/// Declares each feature once: the field that holds its value, and its weight in the score.
macro_rules! features {
    ($($(#[doc = $doc:literal])* $name:ident: $weight:expr,)*) => {
        /// The features of one candidate.
        #[derive(Debug, Clone, Copy, Default)]
        pub(super) struct Features {
            $($(#[doc = $doc])* pub(super) $name: f32,)*
        }

        impl Features {
            const COUNT: usize = [$(stringify!($name)),*].len();

            /// Each feature: its name, its value, and what it adds to the score.
            pub(super) fn parts(&self) -> [(&'static str, f32, f32); Features::COUNT] {
                [$((stringify!($name), self.$name, self.$name * $weight)),*]
            }
        }
    };
}

// Fitted on half of LoCoMo's conversations with `oneiro bench recall`. A change of any weight by a
// quarter changes little.
features! {
    /// Share of the query's word weight that the message covers.
    coverage: 1.3,
    /// Cosine similarity to the query.
    similarity: 1.45,
    /// Coverage by the best message of the session.
    session: 1.65,
    /// The message follows a question that covers the query.
    answers: 0.7,
    /// The speaker is the one that the query asks about.
    speaker: 0.9,
    /// The message is from a day that the query names.
    date: 1.8,
    /// The query asks for a time and the message contains a time word.
    time: 0.8,
    /// The message is in the first person.
    person: 0.17,
    /// The message is itself a question.
    asks: -0.25,
    /// Similarity to the best candidates.
    feedback: 0.5,
    /// Share of the query's word weight that the session covers.
    conversation: 0.2,
    /// Length, which saturates.
    length: 0.25,
}

impl Features {
    pub(super) fn score(&self) -> f32 {
        self.parts().iter().map(|(_, _, added)| added).sum()
    }
}

/// The share of a match in the previous, next, second previous and second next message.
pub(super) const NEIGHBOURS: [f32; 4] = [0.65, 0.52, 0.325, 0.26];

/// The share of their vectors in the context vector of a message.
pub(super) const CONTEXT: [f32; 4] = [0.4, 0.3, 0.15, 0.15];

/// How much a message of this length takes from its neighbours and gives to them: a long message
/// needs no context.
pub(super) fn length_discount(words: usize) -> f32 {
    (60.0 / words.max(1) as f32).min(1.0)
}

/// The similarity of a message with its context, given its own and the weighted sum of its
/// neighbours'. Neighbours resemble each other, so the sum is about 1.3 times as long as one
/// vector.
pub(super) fn similarity_in_context(own: f32, context: f32) -> f32 {
    0.5 * own + 0.5 * (own + context) / 1.3
}

/// The length feature; words after the 140th add nothing.
pub(super) fn length(words: usize) -> f32 {
    ((1.0 + words as f32).ln() / 60f32.ln()).min(1.2)
}

/// How well a day matches the days that a query names. People report events on the day itself and
/// in the week after.
pub(super) fn date_score(dates: &[DateSpan], day: i64) -> f32 {
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

/// The dot product in eight independent sums, which the compiler can vectorise.
pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sums = [0.0f32; 8];
    for (a, b) in a.iter().zip(b) {
        sums.iter_mut().zip(a.iter().zip(b)).for_each(|(sum, (a, b))| *sum += a * b);
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}

/// The cosine similarity of two vectors, which need not be normalised.
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
        assert_eq!(date_score(&day, 100), 1.0);
        assert_eq!(date_score(&day, 103), 0.5);
        assert_eq!(date_score(&day, 99), 0.0);
        assert_eq!(date_score(&day, 120), 0.0);
        let month = [DateSpan { from: 100, until: 130, start: 0, end: 0 }];
        assert!(date_score(&month, 110) < 1.0);
        assert_eq!(date_score(&[], 100), 0.0);
    }

    #[test]
    fn long_messages_stand_alone() {
        assert_eq!(length_discount(0), 1.0);
        assert_eq!(length_discount(60), 1.0);
        assert_eq!(length_discount(600), 0.1);
    }
}
