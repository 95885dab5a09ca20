//! Properties that hold for every text.

use std::collections::HashSet;

use oneiro_text::{Analyzer, Kind, Phrase, QueryWord, chunks, find_dates, normalise};
use proptest::prelude::*;

/// Arbitrary texts, and texts of fragments that the rules are about.
fn texts() -> impl Strategy<Value = String> {
    let folded = prop::sample::select(vec![
        "the",
        "Caroline's",
        "don’t",
        "l'amour",
        "fooBar",
        "HTTPServer",
        "URLs",
        "snake_case",
        "a-b",
        "/a/b.rs",
        "C:\\x\\y",
        "v1.2.3-rc.1",
        "https://www.x.com/a?b=1&c#d",
        "j.d@ex.com",
        "#12",
        "@me",
        "c++",
        "C#",
        "error[E0277]",
        "x[0].y",
        "1,000",
        "1,234,567.89",
        "2023-05-07",
        "10am",
        "3f2a9c1b7d",
        "café",
        "STRASSE",
        "Straße",
        "ﬁle",
        "½",
        "1½",
        "㍿",
        "㏠",
        "0",
        "ໜ",
        "㎒",
        "①",
        "ﷺ",
        "東京",
        "ｶﾞｷﾞ",
        "カタカナ",
        "ひら",
        "학교",
        "\u{1112}\u{1161}\u{11ab}",
        "สวัสดี",
        "เก่ง",
        "ខ្មែរ",
        "မြန်မာ",
        "हिन्दी",
        "мы",
        "Ёлка",
        "за\u{301}мок",
        "Ωραία",
        "שָׁלוֹם",
        "مُحَمَّد",
        "أحمد",
        "👍🏽",
        "👩‍💻",
        "🇩🇪🇫🇷",
        "❤️",
        "1️⃣",
        "\u{301}",
        "\u{200b}",
        "\u{200d}",
        "\u{feff}",
        "\u{202e}",
        "\0",
        "\u{ad}",
        "'",
        "’",
        ".",
        "..",
        "--",
        "-",
        "_",
        "/",
        ":",
        "[",
        "]",
        "#",
        "@",
        "+",
        ",",
        "…",
        "—",
        "™",
        "ŉ",
        "ı",
        "İ",
        "ς",
        "ǅ",
        "ᾳ",
        "\n",
        " ",
        " ",
        " ",
        "  ",
        "\u{a0}",
        "\u{3000}",
        "。",
        "a",
        "B",
        "7",
    ]);
    prop_oneof![
        any::<String>(),
        prop::collection::vec(folded, 0..24).prop_map(|pieces| pieces.concat()),
        prop::collection::vec(prop_oneof![any::<char>(), Just('a'), Just(' ')], 0..24)
            .prop_map(|letters| letters.into_iter().collect()),
    ]
}

fn is_found(word: &QueryWord, terms: &HashSet<String>) -> bool {
    let recognised = if word.all {
        word.terms.iter().all(|term| terms.contains(term))
    } else {
        word.terms.iter().any(|term| terms.contains(term))
    };
    recognised || (!word.parts.is_empty() && word.parts.iter().all(|part| is_found(part, terms)))
}

fn dump(analyzer: &mut Analyzer, text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    analyzer.tokens(text, |token| tokens.push(format!("{token:?}")));
    tokens
}

fn forms(analyzer: &mut Analyzer, text: &str) -> Vec<(String, Vec<String>, bool)> {
    let words = analyzer.query_words(text);
    words.into_iter().map(|word| (word.norm, word.terms, word.stop)).collect()
}

proptest! {
    #![proptest_config(oneiro_testkit::proptest_config(500))]

    #[test]
    fn tokens_are_ranges_of_the_text_in_order(text in texts()) {
        let mut last = (0, 0);
        let mut count = 0;
        Analyzer::default().tokens(&text, |token| {
            assert!(text.get(token.start as usize..token.end as usize).is_some(), "{token:?}");
            assert!(token.start < token.end, "{token:?}");
            assert!((token.position, token.start) >= last || token.start >= last.1, "{token:?}");
            assert!(token.position >= last.0, "{token:?}");
            assert!(!token.term.is_empty() && token.norm.len() <= 96, "{token:?}");
            last = (token.position, token.start);
            count += 1;
        });
        // The most that one character stands for is a sentence of Arabic.
        prop_assert!(count <= 40 * text.len());
    }

    #[test]
    fn a_query_for_the_text_of_a_token_matches_it(text in texts()) {
        let mut analyzer = Analyzer::default();
        let mut terms = HashSet::new();
        let mut ranges = Vec::new();
        analyzer.tokens(&text, |token| {
            terms.insert(token.term.to_owned());
            ranges.push(token.start as usize..token.end as usize);
        });
        for range in ranges {
            let slice = &text[range];
            let words = analyzer.query_words(slice);
            prop_assert!(!words.is_empty(), "{slice:?} is no word");
            for word in words {
                prop_assert!(is_found(&word, &terms), "{slice:?} {word:?} in {terms:?}");
            }
        }
    }

    #[test]
    fn a_reused_analyzer_gives_the_same_tokens_as_a_new_one(first in texts(), second in texts()) {
        let mut used = Analyzer::default();
        dump(&mut used, &first);
        used.query_words(&first);
        prop_assert_eq!(dump(&mut used, &second), dump(&mut Analyzer::default(), &second));
    }

    #[test]
    fn chunks_cover_the_text(text in texts(), times in 1_usize..200) {
        let text = text.repeat(times);
        let mut end = 0;
        for chunk in chunks(&text) {
            prop_assert_eq!(chunk.start, end);
            prop_assert!(text.get(chunk.clone()).is_some() && !chunk.is_empty());
            end = chunk.end;
        }
        prop_assert_eq!(end, text.len());
    }

    #[test]
    fn normalisation_is_idempotent(text in texts()) {
        let once = normalise(&text);
        prop_assert_eq!(normalise(&once), once);
    }

    #[test]
    fn queries_ignore_case(
        text in "([a-zäöüßéñçøåα-ωа-яё]{1,9}|[0-9]{1,4}|東京|ไทย|[ .,'’:/_-])*"
    ) {
        let mut analyzer = Analyzer::default();
        prop_assert_eq!(
            forms(&mut analyzer, &text.to_uppercase()),
            forms(&mut analyzer, &text.to_lowercase())
        );
    }

    #[test]
    fn adjacent_words_are_found_as_a_phrase(text in texts(), from in 0_usize..9, count in 1_usize..4) {
        let mut ranges = Vec::new();
        Analyzer::default().tokens(&text, |token| {
            // Humps are no words of a phrase.
            if token.kind != Kind::Part && ranges.last() != Some(&(token.start as usize..token.end as usize)) {
                ranges.push(token.start as usize..token.end as usize);
            }
        });
        if let (Some(first), Some(last)) = (ranges.get(from), ranges.get(from + count - 1)) {
            let range = first.start..last.end.max(first.end);
            let slice = &text[range];
            let recognised = Phrase::new(slice).find(&text);
            prop_assert!(recognised.is_some(), "{slice:?}");
            prop_assert!(text.get(recognised.unwrap()).is_some());
        }
    }

    #[test]
    fn dates_are_ranges_of_the_text(text in texts(), year in 1900..2100_i16, month in 1..=12_i8, day in 1..=28_i8) {
        for span in find_dates(&text, jiff::civil::date(year, month, day)) {
            prop_assert!(span.from < span.until);
            prop_assert!(text.get(span.start as usize..span.end as usize).is_some());
        }
    }
}

#[test]
fn every_character_can_be_analysed_and_normalises_idempotently() {
    let mut analyzer = Analyzer::default();
    // Not the thousands of characters that are all alike, nor those that do not exist.
    let alike = |letter: &char| matches!(letter, '\u{3500}'..='\u{9f00}' | '\u{ad00}'..='\u{d600}' | '\u{17100}'..='\u{18c00}');
    for letter in ('\0'..='\u{20010}').chain('\u{e0000}'..='\u{e01f0}').filter(|l| !alike(l)) {
        for text in [letter.to_string(), format!("a{letter}b"), format!("{letter}\u{301}")] {
            let once = normalise(&text);
            assert_eq!(normalise(&once), once, "{text:?}");
            analyzer.tokens(&text, |token| assert!(!token.term.is_empty()));
        }
    }
}

#[test]
fn extreme_texts_can_be_analysed() {
    let mut analyzer = Analyzer::default();
    let size = 1 << 18;
    for folded in [
        "a",
        "aB",
        "a1",
        "aGVsbG8gd29ybGQhIQ+Zm9vYmFy/",
        "\u{301}",
        "\u{200d}",
        "👩\u{200d}",
        "東",
        "ก",
        "\u{e31}",
        "a/",
        "_",
        ".",
        "'",
        "l'",
        "1,000,",
        "[",
        "a[",
        "#",
        "\u{fdfa}",
        " ",
        "\n ",
        "🇩",
    ] {
        let text = folded.repeat(size / folded.len());
        let mut count = 0;
        analyzer.tokens(&text, |_| count += 1);
        assert!(count <= 2 * size, "{folded:?}: {count}");
        let chunks = chunks(&text);
        assert!(chunks.len() <= size / 32, "{folded:?}: {}", chunks.len());
        let longest = chunks.iter().map(|chunk| chunk.len()).max().unwrap();
        assert!(folded.trim().is_empty() || longest <= 1 << 14, "{folded:?}: {longest}");
        assert!(Phrase::new(&text).find(&text).is_some() || count == 0, "{folded:?}");
    }
}

/// Work that grows with the square of the length takes 256 times as long for 16 times the text.
#[test]
fn text_without_breaks_is_analysed_in_linear_time() {
    const SMALL_BYTES: usize = 1 << 13;
    const TIMES: usize = 16;
    for unit in ["a", "-", "字", "ก", "😀", "\n", "[", "e\u{301}", "_", "a.", "/a", "aB"] {
        let small = unit.repeat(SMALL_BYTES / unit.len());
        let large = small.repeat(TIMES);
        let analysed = |text: &str| {
            let mut count = 0;
            for chunk in chunks(text) {
                Analyzer::default().tokens(&text[chunk], |_| count += 1);
            }
            Analyzer::default().tokens(text, |_| count += 1);
            count
        };
        let is_linear = oneiro_testkit::takes_at_most(
            6 * TIMES as u32,
            || analysed(&small),
            || analysed(&large),
        );
        assert!(is_linear, "{unit:?}");
    }
}
