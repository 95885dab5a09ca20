//! What single words show about the message that they stand in: it gives a reason, it decides, it
//! corrects, it tells a time, somebody speaks of themselves. Also how much of a message asks.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::date_words;
use crate::fold::normalise;
use crate::lists::{entries, sections};

/// A set of marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Marks(u8);

impl Marks {
    /// It speaks of time: yesterday, week, May.
    pub const TIME: Marks = Marks(1);
    /// It refers to the speaker: I, my, ich.
    pub const FIRST_PERSON: Marks = Marks(1 << 1);
    /// It gives a reason: because, weil.
    pub const REASON: Marks = Marks(1 << 2);
    /// It decides: agreed, beschlossen.
    pub const DECISION: Marks = Marks(1 << 3);
    /// It corrects: actually, instead.
    pub const CORRECTION: Marks = Marks(1 << 4);
    /// It corrects at the beginning of a message: no, sorry.
    pub const CONTRADICTION: Marks = Marks(1 << 5);
    /// It speaks of a change: now, updated.
    pub const CHANGE: Marks = Marks(1 << 7);
    /// It only introduces a question: tell, know.
    pub const FILLER: Marks = Marks(1 << 6);

    /// The marks of a normalised word.
    pub fn of(norm: &str) -> Marks {
        MARKS.get(norm).copied().unwrap_or_default()
    }

    /// Whether any of these marks is in the set.
    pub fn has(self, marks: Marks) -> bool {
        self.0 & marks.0 != 0
    }

    /// Both sets together.
    pub fn and(self, other: Marks) -> Marks {
        Marks(self.0 | other.0)
    }
}

const MARK_WORDS: &str = include_str!("../assets/marks.txt");

static MARKS: LazyLock<FxHashMap<String, Marks>> = LazyLock::new(|| {
    let mut marks: FxHashMap<String, Marks> = FxHashMap::default();
    let mut add = |word: &str, mark: Marks| {
        let set = marks.entry(normalise(word)).or_default();
        *set = set.and(mark);
    };
    for (section, word) in sections(MARK_WORDS) {
        match section {
            "reason" => add(word, Marks::REASON),
            "decision" => add(word, Marks::DECISION),
            "correction" => add(word, Marks::CORRECTION),
            "change" => add(word, Marks::CHANGE),
            "contradiction" => add(word, Marks::CONTRADICTION),
            _ => {}
        }
    }
    entries(include_str!("../assets/first_person.txt"))
        .for_each(|word| add(word, Marks::FIRST_PERSON));
    entries(include_str!("../assets/filler.txt")).for_each(|word| add(word, Marks::FILLER));
    date_words::time_words().for_each(|word| add(word, Marks::TIME));
    marks
});

/// The share of a text, from 0 to 1, that is in sentences that ask.
pub fn question_share(text: &str) -> f32 {
    let (mut all, mut asked, mut here) = (0u32, 0u32, 0u32);
    let mut last = ' ';
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter.is_alphanumeric() {
            here += 1;
            last = letter;
            continue;
        }
        // Inside an address or an expression these end no sentence.
        let is_end = letters.peek().is_none_or(|next| !next.is_alphanumeric());
        let asks = match letter {
            '?' if is_end => true,
            '？' | '؟' => true,
            '.' | '!' if is_end => false,
            '。' | '！' | '\n' => asks_by_ending(last),
            _ => continue,
        };
        all += here;
        asked += if asks { here } else { 0 };
        (here, last) = (0, ' ');
    }
    all += here;
    asked += if asks_by_ending(last) { here } else { 0 };
    if all == 0 { 0.0 } else { asked as f32 / all as f32 }
}

/// Whether a sentence without a question mark asks by its last character, in Chinese or Japanese.
fn asks_by_ending(last: char) -> bool {
    matches!(last, 'か' | '吗' | '呢')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_their_marks() {
        for (word, mark) in [
            ("because", Marks::REASON),
            ("weil", Marks::REASON),
            ("原因", Marks::REASON),
            ("agreed", Marks::DECISION),
            ("actually", Marks::CORRECTION),
            ("stattdessen", Marks::CORRECTION),
            ("改成", Marks::CORRECTION),
            ("no", Marks::CONTRADICTION),
            ("ich", Marks::FIRST_PERSON),
            ("yesterday", Marks::TIME),
            ("describe", Marks::FILLER),
        ] {
            assert!(Marks::of(&normalise(word)).has(mark), "{word}");
        }
        assert_eq!(Marks::of("database"), Marks::default());
    }

    #[test]
    fn the_share_of_questions_is_by_sentence() {
        for (text, share) in [
            ("Which port?", 1.0),
            ("The port is 5433.", 0.0),
            ("abcd. abcd?", 0.5),
            ("see https://example.org/a?b=c for more", 0.0),
            ("端口是多少？", 1.0),
            ("ポートは何番ですか", 1.0),
            ("端口对吗", 1.0),
            ("", 0.0),
        ] {
            assert_eq!(question_share(text), share, "{text}");
        }
    }
}
