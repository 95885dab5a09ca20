//! Extracts of extracts.

use crate::{assert_extracted, count, extract_of};

#[test]
fn extracts_are_condensed_by_their_lines() {
    let first = "Ana: I moved to Porto … the greyhound Biscuit sleeps all day\nBen: the piano tuner Ilse comes on Friday … I like it\n(left out: 120 messages; 4 tool results; terms: sourdough, marathon)";
    let second = "Ana: the marathon in Ghent is on 12 April … that was a long day … thanks\ntool bash: exit status 2\nBen: We decided to sell the harmonium for 300 euros\n(left out: 80 messages; terms: lighthouse)";
    let text = extract_of(&[("", first), ("", second)], 75);
    assert_extracted(
        &text,
        &["Ana: ", "Porto", "Biscuit", "Ben: ", "harmonium", "Ghent", "(left out: 20"],
        &[": Ana", "thanks", "120 messages"],
    );
    let last = text.lines().last().unwrap();
    let messages: usize = last["(left out: ".len()..].split(' ').next().unwrap().parse().unwrap();
    assert!((200..=206).contains(&messages), "{last}");
}

#[test]
fn terms_that_were_only_named_are_named_again() {
    let first = "Ana: the Ghent trip and the Porto flat and the Oslo ferry are all booked for spring, she said, and then some more of it\n(left out: 9 messages; terms: lighthouse, sourdough)";
    let text = extract_of(&[("", first)], 48);
    assert!(text.contains("lighthouse"), "{text}");
}

#[test]
fn again_and_again_it_stays_within_its_targets() {
    let places = ["Oslo", "Ghent", "Porto", "Lyon", "Turin", "Malmö", "Cork", "Bergen"];
    let mut leaves = Vec::new();
    for (day, place) in places.iter().enumerate() {
        let said: Vec<(String, String)> = (0..40)
            .map(|turn| {
                let name = if turn % 2 == 0 { "Ana" } else { "Ben" };
                let said =
                    format!("On day {day} item {turn} went to {place} by ship{}. Great!", turn * 7);
                (name.to_owned(), said)
            })
            .collect();
        let said: Vec<(&str, &str)> =
            said.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        leaves.push(extract_of(&said, 80));
    }
    let leaves: Vec<(&str, &str)> = leaves.iter().map(|leaf| ("", leaf.as_str())).collect();
    let text = extract_of(&leaves, 120);
    assert!(count(&text) > 100, "{text}");
    assert_extracted(&text, &places, &[]);
}

#[test]
fn extracts_that_fit_become_one() {
    let text = extract_of(
        &[
            ("", "Ana: Porto is steep\n(left out: 2 messages; terms: kayak)"),
            ("", "Ana: Ghent is flat\n(left out: 3 messages; terms: visa)"),
        ],
        usize::MAX,
    );
    assert_eq!(
        text,
        "Ana: Porto is steep … Ghent is flat\n(left out: 5 messages; terms: kayak, visa)"
    );
}
