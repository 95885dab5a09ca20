//! Sets of words that are treated specially in queries.

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

use crate::date_words;
use crate::fold::normalise;
use crate::lists::entries;

static FILLER_SET: LazyLock<FxHashSet<String>> =
    LazyLock::new(|| set_of(include_str!("../assets/filler.txt")));
static FIRST_PERSON_SET: LazyLock<FxHashSet<String>> =
    LazyLock::new(|| set_of(include_str!("../assets/first_person.txt")));

fn set_of(list: &'static str) -> FxHashSet<String> {
    entries(list).map(normalise).collect()
}

/// Whether a normalised word only introduces a question: tell, know, describe, kind, thing.
pub fn is_filler(norm: &str) -> bool {
    FILLER_SET.contains(norm)
}

/// Whether a normalised word is about time: yesterday, week, May, Monday, ago.
pub fn is_time_word(norm: &str) -> bool {
    date_words::is_time_word(norm)
}

/// Whether a normalised word refers to the speaker: I, my, we, ich, je.
pub fn is_first_person(norm: &str) -> bool {
    FIRST_PERSON_SET.contains(norm)
}
