//! Talk between people: order, speakers, gaps, the last line, questions that stayed open.

use crate::{assert_extracted, count, extract_about, extract_of};

const TRIP: &[(&str, &str)] = &[
    ("Mira", "Morning! The boiler is broken again, the plumber Joaquim comes on Tuesday at 9:30."),
    ("Tomas", "Oh no. Sounds annoying! Thanks for telling me."),
    ("Mira", "It's okay. My sister Clara starts at the observatory in Tenerife in September."),
    ("Tomas", "Wow, cool! That is so great."),
    (
        "Mira",
        "She never eats shellfish, she is allergic. We agreed on vegetarian paella for Sunday.",
    ),
    ("Tomas", "Sure. I'll bring the saffron and two bottles of Albariño."),
    ("Mira", "Great. Great. Sounds great! Thank you so much, you're the best."),
    ("Tomas", "No problem at all! Happy to help, always."),
    ("Mira", "The kayak rental in Setúbal wants 35 euros a day, and the weather looks good."),
    ("Tomas", "Nice, very nice. Let's go with the red kayak for two."),
    ("Mira", "Will the visa for Angola be ready by then?"),
];

#[test]
fn lines_are_in_order_with_their_speakers() {
    let text = extract_of(TRIP, 110);
    let places: Vec<usize> = ["Joaquim", "Tenerife", "paella", "kayak"]
        .iter()
        .map(|word| text.find(word).unwrap_or_else(|| panic!("{word} is missing in:\n{text}")))
        .collect();
    assert!(places.is_sorted(), "{text}");
    for line in text.lines() {
        let known = ["Mira: ", "Tomas: ", "(left out: "];
        assert!(known.iter().any(|start| line.starts_with(start)), "{line:?} in:\n{text}");
    }
    let speakers: Vec<&str> = text.lines().filter_map(|line| line.split(':').next()).collect();
    assert!(speakers.windows(2).all(|pair| pair[0] != pair[1]), "{text}");
    assert_extracted(&text, &[], &["Sounds great", "Happy to help"]);
}

#[test]
fn the_last_line_says_what_is_missing() {
    let text = extract_of(TRIP, 60);
    let last = text.lines().last().unwrap();
    assert!(last.starts_with("(left out: ") && last.ends_with(')'), "{text}");
    let shown = text.lines().filter(|line| !line.starts_with('(')).count();
    let told: usize = last["(left out: ".len()..].split(' ').next().unwrap().parse().unwrap();
    assert!(told + shown <= TRIP.len() && told >= 3, "{text}");
    let roomy = extract_of(TRIP, 110);
    let terms = roomy.lines().last().unwrap().split("terms: ").nth(1).unwrap_or_default();
    let lines = roomy.rsplit_once('\n').unwrap().0;
    for term in terms.trim_end_matches(')').split(", ").filter(|term| !term.is_empty()) {
        assert!(TRIP.iter().any(|(_, text)| text.contains(term)), "{term} was never said");
        assert!(!lines.contains(term), "{term} is in the lines of:\n{roomy}");
    }
}

#[test]
fn what_fits_stays_as_it_is() {
    let said = [("user", "One.\n\n- two\n"), ("", "three"), ("assistant", "  ")];
    assert_eq!(extract_of(&said, 100), "user: One. - two\nthree");
}

#[test]
fn the_question_that_stayed_open_is_kept() {
    let text = extract_of(TRIP, 75);
    assert_extracted(&text, &["visa for Angola"], &[]);
    let mut answered = TRIP.to_vec();
    answered.extend([
        ("Tomas", "Yes. The embassy sent both passports back on Friday with the stamps."),
        ("Mira", "Perfect, then I book flights with TAP for 612 euros through Luanda."),
    ]);
    assert_extracted(&extract_of(&answered, 115), &["612 euros"], &["Will the visa"]);
}

#[test]
fn about_a_question_is_around_its_words() {
    let plain = extract_of(TRIP, 40);
    let about = extract_about(TRIP, 40, Some("What is Clara allergic to?"));
    assert_extracted(&about, &["allergic", "shellfish"], &[]);
    assert_ne!(plain, about);
    let absent = extract_about(TRIP, 40, Some("zeppelin?"));
    assert_eq!(plain, absent, "a word that was never said changes nothing");
}

#[test]
fn gaps_are_marked_and_neighbours_are_not() {
    let said = [
        (
            "A",
            "Karl lives in Bremen. He plays the oboe. Well, yes, well, you know how it is. Oslo has trams.",
        ),
        (
            "B",
            "Ok. Thanks. Good. Right. Sure. Well. Yes. Nice. So it is. Great stuff, really great stuff.",
        ),
    ];
    assert_eq!(
        extract_of(&said, 24),
        "A: Karl lives in Bremen. He plays the oboe. … Oslo has trams."
    );
}

#[test]
fn a_small_target_gets_one_clause_or_nothing() {
    for target in 0..12 {
        let text = extract_of(TRIP, target);
        assert!(count(&text) <= target, "{text}");
        assert!(!text.contains('\n') || target >= 10, "{text}");
        assert_eq!(text.is_empty(), target < 2, "{target}: {text:?}");
    }
}

#[test]
fn the_same_words_count_once() {
    let mut said = Vec::new();
    for _ in 0..50 {
        said.push(("user", "The backup of Atlas failed with code 17."));
        said.push(("assistant", "The backup of Atlas failed with code 17."));
    }
    said.push(("user", "Zora wants the Helsinki report on Thursday."));
    let text = extract_of(&said, 60);
    assert_eq!(text.matches("Atlas").count(), 1, "{text}");
    assert_extracted(&text, &["Helsinki", "code 17"], &[]);
}

#[test]
fn long_and_absent_names_of_speakers() {
    let long = "The Right Honourable Bartholomew Featherstonehaugh the Third of Somewhere";
    let text = extract_of(&[(long, "Lisbon has seven hills."), ("", "And two airports.")], 40);
    assert_eq!(
        text,
        "The Right Honourable Bartholomew…: Lisbon has seven hills.\nAnd two airports."
    );
}
