//! Echoes in every form in which they come back, and what is not one.

use super::*;
use oneiro_model::PackKind;
use oneiro_store::identity::Identity;

const SEATS: &str = "I prefer window seats on long flights because I sleep better there.";
const DEPLOY: &str = "The payments gateway is deployed every Thursday at noon by Bob.";
const SHORT: &str = "I like green tea";

fn served() -> ServedLines {
    let identity = identity_for_tests();
    let mut analyzer = Analyzer::default();
    let hasher = identity.line_hasher();
    let line = |id: &str, text: &str, analyzer: &mut Analyzer| {
        let words = tokens(text);
        ServedLine {
            kind: PackKind::Memory,
            item_id: id.to_owned(),
            tokens: words.len(),
            shingles: shingles(&hasher, &words),
            terms: terms(&hasher, analyzer, text),
            repeatable: false,
        }
    };
    let lines = vec![
        line("mem_aaaa", SEATS, &mut analyzer),
        line("mem_bbbb", DEPLOY, &mut analyzer),
        line("mem_cccc", SHORT, &mut analyzer),
    ];
    ServedLines::new(Some(identity.line_hasher()), lines)
}

fn identity_for_tests() -> Identity {
    Identity::new("sto_test".to_owned(), vec![7; 32])
}

fn ids(stripped: &Stripped) -> Vec<&str> {
    stripped.echoed.iter().map(MemoryId::as_str).collect()
}

/// Nothing but `rest` is left of a text, and the line of the seats came back.
fn assert_stripped(text: &str, rest: &str) {
    let stripped = served().strip(text);
    assert_eq!(stripped.text.trim(), rest, "{text}");
    assert!(ids(&stripped).contains(&"mem_aaaa"), "{text}");
}

#[test]
fn invisible_characters_do_not_hide_an_echo() {
    for hidden in ['\u{200B}', '\u{AD}', '\u{2060}', '\u{FEFF}'] {
        assert_stripped(&SEATS.replace("window", &format!("win{hidden}dow")), "");
    }
}

#[test]
fn a_text_that_repeats_a_run_without_end_is_compared_in_bounded_work() {
    let identity = identity_for_tests();
    let hasher = identity.line_hasher();
    let words = tokens(&"gnu ".repeat(85));
    let line = ServedLine {
        kind: PackKind::Memory,
        item_id: "mem_gnu".to_owned(),
        tokens: words.len(),
        shingles: shingles(&hasher, &words),
        terms: Vec::new(),
        repeatable: false,
    };
    let served = ServedLines::new(Some(identity.line_hasher()), vec![line; 64]);
    let places: usize = served.runs.values().map(Vec::len).sum();
    assert!(places <= REPEATS_MAX, "{places} places of one run are compared");
    assert!(!served.strip(&"gnu ".repeat(16_000)).text.is_empty());
}

#[test]
fn a_line_is_known_again_in_every_form() {
    for text in [
        SEATS.to_owned(),
        format!("> {SEATS}"),
        format!("- {SEATS}"),
        format!("  * {SEATS}"),
        format!("1. {SEATS}").replace("1. ", "- "),
        format!("- [mem_aaaa, 2026-05-07] {SEATS}"),
        format!("- [mem_aaaa, 2026-05-07] Ann: {SEATS}"),
        "I prefer window seats\non long flights\nbecause I sleep better there.".to_owned(),
        "> I prefer window seats on long\n> flights because I sleep better there".to_owned(),
        "I PREFER window seats, on long flights; because I sleep better there!".to_owned(),
        "“I prefer window-seats on long flights — because I sleep better there”".to_owned(),
        "I prefer window seats on long flights because I sleep…".to_owned(),
        "- I prefer window seats on long\n- ".to_owned(),
        "ｉ prefer window seats on long flights because I sleep better there".to_owned(),
    ] {
        let stripped = served().strip(&text);
        assert_eq!(stripped.text.replace(['-', '>', ' ', '\n'], ""), "", "{text:?}");
        assert_eq!(ids(&stripped), ["mem_aaaa"], "{text}");
        assert!(!stripped.consecutive, "{text}");
    }
}

#[test]
fn what_stands_around_a_line_stays() {
    assert_stripped(
        &format!("Thanks!\n- {SEATS}\nBook the train instead."),
        "Thanks!\nBook the train instead.",
    );
    assert_stripped(&format!("{SEATS} No, Lisbon."), "No, Lisbon.");
    assert_stripped(&format!("Please note that {SEATS}"), "Please note that");
}

#[test]
fn a_line_that_is_cut_before_a_new_line_is_an_echo() {
    assert_stripped(
        "I prefer window seats on long flights because\nThanks for that",
        "Thanks for that",
    );
    assert_stripped("I prefer window seats on long\nThat sounds good", "That sounds good");
    // A wrapped line whose last word is another is a correction.
    let wrapped = "The payments gateway is deployed every Thursday at noon by\nCarol.";
    assert!(served().strip(wrapped).echoed.is_empty());
}

#[test]
fn lines_joined_in_one_and_blocks_are_consecutive() {
    for text in [
        format!("{SEATS} {DEPLOY}"),
        format!("- {SEATS}\n- {DEPLOY}"),
        format!("[mem_aaaa, 2026-05-07] Ann: {SEATS}\n[mem_bbbb, 2026-05-07] {DEPLOY}"),
    ] {
        let stripped = served().strip(&text);
        assert_eq!(stripped.text.trim(), "", "{text}");
        assert_eq!(ids(&stripped), ["mem_aaaa", "mem_bbbb"]);
        assert!(stripped.consecutive, "{text}");
    }
    let block =
        format!("hello\n<{TAG}>\n- [mem_zzzz, 2026-01-01] unknown\n- {SEATS}\n</{TAG}>\nworld");
    let stripped = served().strip(&block);
    assert_eq!((stripped.text.as_str(), stripped.consecutive), ("hello\nworld", true));
    let recalled = "<recalled-00ff00>\n[mem_zzzz] anything\n</recalled-00ff00> and mine";
    assert_eq!(ServedLines::new(None, Vec::new()).strip(recalled).text.trim(), "and mine");
}

#[test]
fn a_correction_is_not_an_echo() {
    for text in [
        "The payments gateway is deployed every Thursday at noon by Carol.",
        "The payments gateway is deployed every Friday at noon by Bob.",
        "The payments gateway is not deployed every Thursday at noon by Bob.",
        "I prefer window seats on long flights because I like the view",
        "I prefer aisle seats on long flights because I sleep better there.",
        "No, I like green tea only in summer",
        "I like black tea",
    ] {
        let stripped = served().strip(text);
        assert_eq!((stripped.text.as_str(), stripped.echoed.len()), (text, 0));
    }
}

#[test]
fn a_short_line_is_an_echo_as_a_whole_sentence_only() {
    for text in ["- I like green tea.", "Ann: I like green tea", "> I like green tea"] {
        assert_eq!(ids(&served().strip(text)), ["mem_cccc"], "{text}");
    }
    assert!(served().strip("My sister says I like green tea too much").echoed.is_empty());
}

#[test]
fn a_sentence_rests_on_a_line_that_it_repeats_or_rephrases() {
    let rests = |sentence: &str| served().sentence_rests_on(sentence).map(|id| id.to_string());
    let seats = Some("mem_aaaa".to_owned());
    assert_eq!(rests(SEATS), seats);
    assert_eq!(
        rests("You prefer window seats on long flights, as you sleep better, so I chose 12A."),
        seats
    );
    assert_eq!(
        rests("Deployed on Thursdays at noon: Bob runs the payments gateway."),
        Some("mem_bbbb".to_owned())
    );
    assert_eq!(rests("The museum opens at nine."), None);
}
