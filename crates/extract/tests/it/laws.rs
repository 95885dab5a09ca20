//! What holds for any conversation.

use oneiro_extract::{ExtractRequest, SourceMessage, extract};
use proptest::prelude::*;

use crate::count;

fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[A-Z]?[a-z]{1,9}( [a-zA-Z]{1,8}){0,9}[.!?,;:]? ",
        1 => "[0-9]{1,6}([.,][0-9]{1,3})? ",
        1 => "(src|crates)/[a-z_]{1,8}\\.(rs|py) ",
        1 => "(We decided to |I'll |thanks! |error: |because |and we |Oh wow, )",
        1 => "(昨天我们去了山上，|孩子们看到了雪。|你呢？|こんにちは。|京都に行く)",
        1 => "(مرحبا |القاهرة |أين؟ |решили |купили дом. |ไทยแลนด์)",
        1 => "(\n|\n- |\n```\n|\\| |> | … |\u{0}|\t|🙂|e\u{301}|\u{200d}|\\(left out: 3 messages\\))",
        1 => "\\PC{0,12}",
    ];
    prop::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
}

fn conversations() -> impl Strategy<Value = Vec<(String, String)>> {
    let speaker = prop_oneof!["Ana", "Ben", "user", "assistant", "tool bash", "", "\\PC{0,30}"];
    prop::collection::vec((speaker, texts()), 0..24)
}

fn run(said: &[(String, String)], target: usize, about: Option<&str>) -> String {
    let said: Vec<SourceMessage<'_>> =
        said.iter().map(|(speaker, text)| SourceMessage { speaker, text, day: None }).collect();
    extract(&ExtractRequest { said: &said, target, about, count: &count })
}

/// The pieces between the marks that an extract adds itself.
fn pieces(line: &str) -> impl Iterator<Item = &str> {
    line.split('…').map(str::trim).filter(|piece| !piece.is_empty())
}

proptest! {
    #![proptest_config(oneiro_testkit::proptest_config(128))]

    #[test]
    fn never_above_the_target_nor_the_input(said in conversations(), target in 0_usize..300) {
        let text = run(&said, target, None);
        prop_assert!(count(&text) <= target, "{} > {}: {}", count(&text), target, text);
        let all: usize = said.iter().map(|(speaker, text)| count(speaker) + count(text) + 2).sum();
        prop_assert!(count(&text) <= all + 1);
    }

    #[test]
    fn the_same_request_gives_the_same_extract(said in conversations(), target in 0_usize..200) {
        prop_assert_eq!(run(&said, target, None), run(&said, target, None));
        prop_assert_eq!(run(&said, target, Some("home")), run(&said, target, Some("home")));
    }

    #[test]
    fn every_counter_is_obeyed(said in conversations(), target in 0_usize..200) {
        let said: Vec<SourceMessage<'_>> = said.iter().map(|(speaker, text)| SourceMessage { speaker, text, day: None }).collect();
        for count in [str::len as fn(&str) -> usize, |text: &str| text.len().div_ceil(4), |text: &str| text.chars().count() * 3] {
            let text = extract(&ExtractRequest { said: &said, target, about: None, count: &count });
            prop_assert!(count(&text) <= target);
        }
    }

    #[test]
    fn what_a_line_says_was_said_in_that_order(words in prop::collection::vec("[a-z]{3,9}", 30..400), target in 20_usize..120) {
        // Every word once, with its place: so that order can be read off the extract.
        let mut said = Vec::new();
        for (number, chunk) in words.chunks(7).enumerate() {
            let text: Vec<String> =
                chunk.iter().enumerate().map(|(at, word)| format!("{word}x{}", number * 7 + at)).collect();
            let name = if number % 2 == 0 { "Ana" } else { "Ben" };
            said.push((name.to_owned(), format!("{}.", text.join(" "))));
        }
        let text = run(&said, target, None);
        for line in text.lines().filter(|line| !line.starts_with("(left out: ")) {
            let mut last = None;
            let shown = line.strip_prefix("Ana: ").or(line.strip_prefix("Ben: ")).unwrap_or(line);
            for piece in pieces(shown) {
                prop_assert!(said.iter().any(|(_, text)| text.contains(piece) || piece.contains(text.as_str())), "{piece:?}");
            }
            for word in shown.split([' ', '.', '…']).filter(|word| word.contains('x')) {
                let place: usize = word.rsplit('x').next().unwrap().parse().unwrap();
                prop_assert!(last < Some(place), "{text}");
                last = Some(place);
            }
        }
    }

    #[test]
    fn every_clause_was_said(said in conversations(), target in 10_usize..120) {
        let text = run(&said, target, None);
        let all: String = said.iter().map(|(speaker, text)| format!("{speaker}: {text}\n")).collect();
        let squeeze = |text: &str| text.split(|letter: char| letter.is_whitespace() || letter.is_control() || matches!(letter, '…' | '*')).collect::<String>();
        let all = squeeze(&all);
        for line in text.lines().filter(|line| !line.starts_with("(left out: ")) {
            // Sentences of one speaker are joined by a space, where a line or a mark was between
            // them: so word by word, a clause being a run of them.
            for word in line.split_whitespace() {
                prop_assert!(all.contains(&squeeze(word)), "{word:?} of {line:?}");
            }
        }
    }
}

/// Work that grows with the square of the length takes 256 times as long for 16 times the text.
#[test]
fn text_without_breaks_is_extracted_in_linear_time() {
    const SMALL_BYTES: usize = 1 << 13;
    const TIMES: usize = 16;
    for unit in [
        "a",
        "-",
        "字",
        "ก",
        "😀",
        "\n",
        "[",
        "e\u{301}",
        "ab ",
        "a.",
        "I left yesterday. ",
        "because we, like ",
        "called x {}\n",
    ] {
        let small = unit.repeat(SMALL_BYTES / unit.len());
        let large = small.repeat(TIMES);
        let extracted = |text: &str| {
            let day = Some(jiff::civil::Date::constant(2023, 5, 8));
            let said = [SourceMessage { speaker: "user", text, day }];
            extract(&ExtractRequest { said: &said, target: 200, about: None, count: &count })
        };
        let is_linear = oneiro_testkit::takes_at_most(
            6 * TIMES as u32,
            || extracted(&small),
            || extracted(&large),
        );
        assert!(is_linear, "{unit:?}");
    }
}
