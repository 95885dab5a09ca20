//! The score of a candidate: a weighted sum of absolute features, so that a score does not depend
//! on which other candidates were scored.

use oneiro_index::role;
use oneiro_text::{DateSpan, Preferred, Question};

/// Declares each feature once: the field that holds its value, and its weight in the sum.
macro_rules! features {
    ($(#[doc = $about:literal])* $table:ident {
        $($(#[doc = $doc:literal])* $name:ident: $weight:expr,)*
    }) => {
        $(#[doc = $about])*
        #[derive(Debug, Clone, Copy, Default)]
        pub(super) struct $table {
            $($(#[doc = $doc])* pub(super) $name: f32,)*
        }

        impl $table {
            const COUNT: usize = [$(stringify!($name)),*].len();

            /// Each feature: its name, its value, and what it adds to the sum.
            pub(super) fn parts(&self) -> [(&'static str, f32, f32); $table::COUNT] {
                [$((stringify!($name), self.$name, self.$name * $weight)),*]
            }

            /// The weighted sum.
            pub(super) fn score(&self) -> f32 {
                self.parts().iter().map(|(_, _, added)| added).sum()
            }
        }
    };
}

// Fitted with the loss of `scripts/fit-ranking --fit` on the tune halves of LoCoMo's conversations and
// of the transcripts of agents. `speaker`, `assistant`, `replies`, `reason`, `first_person`,
// `corrects`, `corrected`, `recency`, `completes` and `believed` were held where they were set by
// hand. `ids`, `topic` and `continues` were set by hand afterwards: a message that has the words of
// the query comes before the one that follows it, and an identifier before words of the same
// language. bench/RESULTS.md says how far the held-out figures can be trusted.
features! {
    /// The features of one candidate.
    Features {
        /// Share of the query's word weight that the message covers, neighbours included.
        coverage: 1.45,
        /// Cosine similarity to the query.
        similarity: 1.29,
        /// Coverage by the best message of the session.
        session: 1.83,
        /// Share of the query's word weight that the session covers.
        conversation: 0.64,
        /// Share of the query's numbers, versions, identifiers and words in other letters that it has.
        ids: 0.4,
        /// The message follows a question that covers the query.
        answers: 0.59,
        /// The exchange that it ends began with a message that covers the query.
        exchange: 0.5,
        /// The query names the speaker.
        speaker: 0.93,
        /// The question asks about the person, and the user wrote it.
        person: 1.05,
        /// The question asks what the assistant said, and the assistant wrote it.
        assistant: 0.5,
        /// The question asks for a conclusion, and the assistant wrote it.
        conclusion: 0.86,
        /// The output of a tool, and the question does not ask for it.
        output: 0.42,
        /// The question asks for the output of a tool, and this is one.
        printed: 0.48,
        /// It calls a tool: it announces what it will find.
        calls: -0.94,
        /// The user's short reply: how far what it replies to covers the query.
        replies: 0.15,
        /// How far the messages shortly before it cover the query.
        topic: 0.2,
        /// The same of a user's short statement, which continues what they speak of.
        continues: 0.2,
        /// A user's short statement that corrects and has a number, where one is asked for.
        replaces: 0.79,
        /// Length of the user's message, where the question does not prefer another's.
        user_length: 0.45,
        /// The question asks for a decision, and the user replied.
        decision: 0.95,
        /// The question asks who, and the message has a name that the query has not.
        who: 0.28,
        /// Its place in time among the candidates of a session in which tools worked.
        later: 0.66,
        /// The message is from a day that the query names.
        date: 1.58,
        /// The query asks for a time and the message contains a time word.
        time: 1.0,
        /// The query asks for a number and the message has one that the query has not.
        number: 0.35,
        /// The query asks for a reason or a decision and the message has words of one.
        reason: 0.05,
        /// The message is in the first person.
        first_person: 0.05,
        /// Share of the message that asks.
        asks: -0.84,
        /// The message repeats the query and adds nothing.
        repeats: -0.73,
        /// It corrects an older candidate.
        corrects: 0.3,
        /// A newer candidate corrects it.
        corrected: -0.3,
        /// The query asks for the newest or the first statement: its place among the candidates by time.
        recency: 0.2,
        /// Word weight that the best hit lacks and this message of the same session has.
        completes: 0.15,
        /// Similarity to the best candidates.
        feedback: 0.3,
        /// Length, which saturates.
        length: 0.66,
        /// A memory that is believed. Not fitted: a statement that was reviewed comes before the same
        /// words in a conversation, which has its neighbours' words too.
        believed: 1.0,
    }
}

// Fitted by the same command: the chance that the first three hits hold the answer, as a logistic
// regression.
features! {
    /// What the first hits show about whether they answer.
    Evidence {
        /// Always 1.
        bias: -1.88,
        /// The best coverage of one of the first three, without neighbours.
        own: 1.51,
        /// Similarity of the first hit.
        similarity: 0.73,
        /// How far the score of the first hit lies above that of the fourth.
        gap: 1.27,
        /// Share of the query's word weight that no message has.
        missing: -0.89,
        /// The first hit is from a day that the query names.
        date: 2.66,
        /// The first hit is by the person whom the question names or asks about.
        speaker: 0.63,
    }
}

/// The features that follow from who wrote a message and whose message the question prefers.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RoleFeatures {
    pub(super) person: f32,
    pub(super) assistant: f32,
    pub(super) conclusion: f32,
    pub(super) output: f32,
    pub(super) printed: f32,
}

/// Shorter messages of an assistant are less of a conclusion.
const CONCLUSION_WORDS: f32 = 30.0;

impl RoleFeatures {
    pub(super) fn of(preferred: Preferred, by: u8, words: usize) -> RoleFeatures {
        let mut features = RoleFeatures::default();
        match (preferred, by) {
            (Preferred::Person, role::USER) => features.person = 1.0,
            (Preferred::Assistant, role::ASSISTANT) => features.assistant = 1.0,
            (Preferred::Conclusion, role::ASSISTANT) => {
                features.conclusion = (words as f32 / CONCLUSION_WORDS).min(1.0);
            }
            (Preferred::Tool, role::TOOL) => features.printed = 1.0,
            (_, role::TOOL) => features.output = 1.0,
            _ => {}
        }
        features
    }
}

/// A longer message of a user does not only reply.
pub(super) const REPLY_WORDS_MAX: usize = 60;

/// The decision feature: users decide what assistants propose. Where the question asks about the
/// person, that says so already.
pub(super) fn decision(question: &Question, by: u8) -> f32 {
    let is_asked = question.decision && question.preferred != Preferred::Person;
    f32::from(u8::from(is_asked && by == role::USER))
}

/// Messages before a message that may name what it speaks of.
pub(super) const TOPIC_MESSAGES: usize = 6;

/// What each further message between takes from the topic.
pub(super) const TOPIC_FADE: f32 = 0.85;

/// Whether a question leaves open that a user's message answers it.
pub(super) fn may_be_user(preferred: Preferred) -> bool {
    matches!(preferred, Preferred::Person | Preferred::Nobody)
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
