//! Words that a question uses without asking for them, and those that speak of time or of the
//! speaker. It must not know what a caller makes of
//! them.

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

/// Whether a normalised word only carries a question: tell, know, describe, kind, thing.
pub fn is_filler(norm: &str) -> bool {
    FILLER_SET.contains(norm)
}

/// Whether a normalised word speaks of time: yesterday, week, May, Monday, ago.
pub fn is_time_word(norm: &str) -> bool {
    date_words::is_time_word(norm)
}

/// Whether a normalised word is the speaker's own: I, my, we, ich, je.
pub fn is_first_person(norm: &str) -> bool {
    FIRST_PERSON_SET.contains(norm)
}
