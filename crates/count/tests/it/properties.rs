//! Properties of all texts, and texts that are slow to count.

use oneiro_count::{exceeds, prefix, suffix, tokens};
use oneiro_testkit::takes_at_most;
use proptest::prelude::*;

proptest! {
    #![proptest_config(oneiro_testkit::proptest_config(256))]

    #[test]
    fn a_text_has_between_one_token_and_one_per_byte(text in any::<String>()) {
        let count = tokens(&text);
        prop_assert!(count <= text.len());
        prop_assert_eq!(count == 0, text.is_empty());
    }

    #[test]
    fn bytes_read_as_text_are_counted(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        let text = String::from_utf8_lossy(&bytes);
        prop_assert!(tokens(&text) <= text.len());
    }

    #[test]
    fn a_text_exceeds_every_limit_below_its_count(text in "[a-zA-Z0-9é字 \\n-]{0,400}") {
        let count = tokens(&text);
        prop_assert!(!exceeds(&text, count));
        prop_assert!(count == 0 || exceeds(&text, count - 1));
    }

    #[test]
    fn prefix_and_suffix_stay_within_the_limit_and_lose_no_more_than_a_word(text in "(?s)([a-z]{1,9}|[ -~]{0,9}|[字漢あ。]{0,60}|x{0,200}|.|\\s{0,4}){0,30}", limit in 0..200_usize) {
        for (part, is_side) in [
            (prefix(&text, limit), text.starts_with(prefix(&text, limit))),
            (suffix(&text, limit), text.ends_with(suffix(&text, limit))),
        ] {
            prop_assert!(is_side);
            prop_assert!(tokens(part) <= limit, "{} of {limit}: {part:?}", tokens(part));
            prop_assert_eq!(part.len() == text.len(), !exceeds(&text, limit));
            // No word is lost that would fit.
            prop_assert!(part.len() == text.len() || tokens(part) + 40 >= limit, "{part:?}");
        }
    }

    /// A line that ends in a letter is cut from a line that begins with one.
    #[test]
    fn the_count_of_lines_of_words_is_the_sum(
        first in "[a-z]{1,8}( [a-z]{1,8}){0,9}",
        second in "[a-z]{1,8}( [a-z]{1,8}){0,9}",
    ) {
        let together = tokens(&format!("{first}\n{second}"));
        prop_assert_eq!(together, tokens(&first) + tokens("\n") + tokens(&second));
    }
}

#[test]
fn a_text_of_a_megabyte_exceeds_a_small_limit_but_not_its_length() {
    for unit in ["a", "-", " ", "\n", "字"] {
        let text = unit.repeat((1 << 20) / unit.len());
        assert!(exceeds(&text, 2_000) && !exceeds(&text, text.len()), "{unit:?}");
    }
}

/// Merging that looks through a whole piece for each pair takes 256 times as long for 16 times the
/// text.
#[test]
fn a_long_piece_is_counted_in_linear_time() {
    const SMALL: usize = 1 << 15;
    const LARGE: usize = SMALL * 16;
    let mut random = fastrand::Rng::with_seed(oneiro_testkit::test_seed());
    let letters: String = std::iter::repeat_with(|| random.lowercase()).take(LARGE).collect();
    // Each piece gives back all the capitals that it has looked at.
    let capitals = |length| format!("{}{}", "あ", "B".repeat(length)).repeat(2);
    let texts = |length: usize| {
        let random = letters.get(..length).unwrap().to_owned();
        ["a".repeat(length), " ".repeat(length), random, capitals(length)]
    };
    for (small, large) in texts(SMALL).iter().zip(texts(LARGE).iter()) {
        let count = tokens(large);
        assert!(count > 0 && count < large.len());
        let is_linear = takes_at_most(100, || tokens(small), || tokens(large));
        assert!(is_linear, "{:?}", large.get(..9));
    }
}
