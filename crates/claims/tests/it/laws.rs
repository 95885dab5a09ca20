//! What holds for any text: no panic, quotes inside the text, and work that grows with the text.

use oneiro_claims::Claim;
use proptest::prelude::*;

use crate::claims_of;

/// Pieces that rules and readers look at, so that random texts reach them.
fn pieces() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "I live in Porto",
        "I'm a nurse",
        "my sister Clara",
        "She lives in Köln",
        " and ",
        ", ",
        ". ",
        "\n",
        "```",
        "> ",
        "\"",
        "„",
        "”",
        "<a>",
        "</a>",
        "From: x",
        "Subject: y",
        " tomorrow",
        "’s",
        "Ich wohne in Köln",
        "morgen fahre ich",
        "Me gusta el té",
        "mañana",
        "no, it's ",
        "Decision: ",
        "—",
        "…",
        "3. Juni",
        "on Friday",
        "in 3 days",
        "in 90 months",
        "always ",
        "ß",
        "é",
        "👩‍👩‍👧",
        "if ",
        "imagine ",
        "(",
        ")",
        "*",
        "- ",
        "1. ",
        ":",
        ";",
        "4111 1111 1111 1111",
        "we use ",
    ]);
    prop_oneof![4 => known.prop_map(str::to_owned), 1 => "\\PC{0,6}"]
}

fn assert_sound(text: &str, claims: &[Claim]) {
    for claim in claims {
        let quote = text.get(claim.quote.clone());
        assert!(quote.is_some_and(|quote| !quote.is_empty()), "{:?} in {text:?}", claim.quote);
        let characters = claim.content.chars().count();
        assert!((8..=280).contains(&characters), "{characters}: {:?}", claim.content);
        assert!(!claim.content.contains(['\n', '\r']), "{:?}", claim.content);
    }
    let mut contents: Vec<&str> = claims.iter().map(|claim| claim.content.as_str()).collect();
    contents.sort_unstable();
    contents.dedup();
    assert_eq!(contents.len(), claims.len(), "a claim twice in {text:?}");
}

proptest! {
    #![proptest_config(oneiro_testkit::proptest_config(256))]

    #[test]
    fn claims_quote_the_text(parts in prop::collection::vec(pieces(), 0..24)) {
        let text = parts.concat();
        assert_sound(&text, &claims_of(&text));
    }

    #[test]
    fn any_text_is_read(text in "\\PC{0,200}") {
        assert_sound(&text, &claims_of(&text));
    }
}

/// Four times the text takes at most about four times as long, whatever it repeats.
#[test]
fn work_grows_with_the_text() {
    for piece in
        ["a", "-", "\n", "- \n", "I live in ", "and i ", "\"", "<a>", "my sister ", ", ", ". ", "ß"]
    {
        let text = |bytes: usize| piece.repeat(bytes / piece.len());
        let (small, large) = (text(1 << 18), text(1 << 20));
        let is_linear =
            oneiro_testkit::takes_at_most(10, || claims_of(&small), || claims_of(&large));
        assert!(is_linear, "{piece:?} four times takes more than ten times as long");
    }
}
