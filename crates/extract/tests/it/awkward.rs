//! Texts that are hard on purpose.

use std::fmt::Write as _;

use crate::{assert_extracted, count, extract_of};

#[test]
fn nothing_of_nothing() {
    assert_eq!(extract_of(&[], 100), "");
    assert_eq!(extract_of(&[("user", ""), ("assistant", " \n\t")], 100), "");
    assert_eq!(extract_of(&[("user", "Oslo is cold.")], 0), "");
}

#[test]
fn a_message_of_megabytes() {
    let mut log = String::new();
    for number in 0..20_000 {
        let _ = writeln!(log, "2026-02-03T10:00:00Z INFO request {number} served in 3 ms");
    }
    log.push_str("2026-02-03T10:00:09Z ERROR disk full on /var/lib/atlas\n");
    let text = extract_of(&[("tool logs", &log)], 100);
    assert_extracted(&text, &["ERROR disk full on /var/lib/atlas"], &[]);
}

#[test]
fn a_hundred_thousand_tiny_ones() {
    let mut said = vec![("user", "ok"); 100_000];
    said[77_777] = ("user", "The spare key is under the cactus.");
    let text = extract_of(&said, 60);
    assert_extracted(&text, &["spare key is under the cactus", "(left out: 99999 messages"], &[]);
}

#[test]
fn blobs_count_as_nothing() {
    let blob =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkM9QDwADhgGAWjR9aw".repeat(400);
    let text = format!("The logo of Atlas is this: {blob} and the colour is teal.");
    let text = extract_of(&[("user", &text)], 60);
    assert_extracted(&text, &["logo of Atlas is this: … ", "colour is teal"], &["iVBOR", "GAWjR"]);
}

#[test]
fn what_is_one_long_line() {
    let mut json = String::from("{\"rows\":[");
    for number in 0..20_000 {
        let _ = write!(json, "{{\"id\":{number},\"state\":\"ok\"}},");
    }
    json.push_str("{\"id\":-1,\"state\":\"corrupt\",\"path\":\"/srv/atlas\"}]}");
    let text = extract_of(&[("tool query", &json)], 200);
    assert!(!text.is_empty() && text.len() < 2_000, "{text}");
    let chinese = "山".repeat(100_000);
    assert!(count(&extract_of(&[("user", &chinese)], 50)) <= 50);
}

#[test]
fn no_text_is_too_strange() {
    for piece in [
        "a",
        "🙂",
        "👩\u{200d}👩\u{200d}👧",
        "\u{301}",
        "e\u{301}",
        "\u{200d}",
        "\0",
        "\r",
        "\u{2028}",
        "…",
        " … ",
        ". ",
        "!",
        "؟",
        "شكرا ",
        "\u{202e}abc ",
        "\u{feff}",
        "```\n",
        "| ",
        "- ",
        "1. ",
        "> ",
        "(",
        "(a) ",
        ", ",
        ": ",
        "\"",
        "\u{fdfa}",
        "ก",
        "\u{e31}",
        "a\n",
        "?\n",
        "(left out: ",
        "user: ",
        "\u{7f}",
        "\u{85}",
    ] {
        let text = piece.repeat(4_000 / piece.len() + 1);
        for target in [0, 1, 5, 12, 40, 300] {
            extract_of(&[("user", &text), ("", &text), (piece, piece)], target);
        }
    }
}

#[test]
fn control_characters_are_left_behind() {
    let long =
        "Nina\0paid 40 crowns\u{1}for the map of Uppsala. ".to_owned() + &"Fine, fine. ".repeat(40);
    let text = extract_of(&[("user", &long)], 40);
    assert_extracted(&text, &["paid 40 crowns", "map of Uppsala"], &["\0", "\u{1}"]);
}
