//! Speakers and days at the start of lines, and what relative dates meant.

use crate::{Told, assert_extracted, extract_told};

const CHAT: &[Told<'static>] = &[
    (
        "8 May 2023",
        "Ana",
        "Hey Ben! Good to see you. I went to the support group in Porto yesterday.",
    ),
    ("8 May 2023", "Ben", "Nice job, Ana! My kids start school in Ghent next month."),
    ("25 May 2023", "Ana", "We ran the charity race for the hospital last Saturday, 10 km in all."),
    ("25 May 2023", "Ben", "That's amazing! I'm so proud of you. See ya later!"),
    ("9 June 2023", "Ben", "I sold the harmonium for 300 euros two weeks ago. Thanks for asking!"),
    ("9 June 2023", "Ana", "Ilse tuned our piano last week, and it sounds like new."),
];

#[test]
fn every_line_has_its_day_and_speaker() {
    let text = extract_told(CHAT, 150);
    let starts = ["8 May 2023 ", "25 May 2023 ", "9 June 2023 "];
    let mut days = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with("(left out: ")) {
        let day = starts.iter().position(|start| line.starts_with(start));
        assert!(day.is_some(), "{line:?} has no day in:\n{text}");
        let rest = &line[starts[day.unwrap()].len()..];
        assert!(rest.starts_with("Ana: ") || rest.starts_with("Ben: "), "{line:?} in:\n{text}");
        days.push(day);
    }
    assert!(days.len() >= 3 && days.is_sorted(), "{text}");
}

#[test]
fn relative_dates_are_followed_by_their_date() {
    assert_extracted(
        &extract_told(CHAT, 185),
        &[
            "yesterday (7 May 2023)",
            "next month (June 2023)",
            "last Saturday (20 May 2023)",
            "two weeks ago (around 26 May 2023)",
            "last week (week of 29 May 2023)",
        ],
        &["See ya", "Nice job", "proud of you", "Good to see you", "Thanks for asking"],
    );
}

#[test]
fn relative_dates_are_resolved_in_other_languages() {
    for (said, expected) in [
        ("Wir waren gestern mit Frieda in Leipzig beim Notar Krämer.", "gestern (7 May 2023)"),
        ("Wir fahren morgen mit dem Zug nach Kiel zu Frieda.", "morgen (9 May 2023)"),
        ("Hier nous avons visité le musée de Lyon avec Odile.", "Hier (7 May 2023)"),
        ("Ayer firmamos el contrato con Lucía en Sevilla.", "Ayer (7 May 2023)"),
        ("La semana pasada visitamos a Lucía en Sevilla.", "semana pasada (week of 1 May 2023)"),
        ("Ieri abbiamo venduto la barca a Matteo per 900 euro.", "Ieri (7 May 2023)"),
        ("Ontem a Inês foi ao hospital de Setúbal.", "Ontem (7 May 2023)"),
        ("Gisteren hebben we de boot van Pieter verkocht.", "Gisteren (7 May 2023)"),
        ("Вчера Вера пошла в музыкальную школу в Казани.", "Вчера (7 May 2023)"),
    ] {
        let told = [("8 May 2023", "Ana", said), ("8 May 2023", "Ben", "ok ".repeat(60).leak())];
        assert_extracted(&extract_told(&told, 95), &["8 May 2023 Ana: ", expected], &[]);
    }
}

#[test]
fn an_extract_of_extracts_keeps_days_and_dates_once() {
    let leaf = extract_told(CHAT, 150);
    let text = extract_told(&[("", "", &leaf), ("", "", &leaf.replace("2023", "2024"))], 150);
    for line in text.lines().filter(|line| !line.starts_with("(left out: ")) {
        assert!(line.contains(" 2023 ") || line.contains(" 2024 "), "{line:?} in:\n{text}");
        assert!(line.contains(" Ana: ") || line.contains(" Ben: "), "{line:?} in:\n{text}");
    }
    assert_extracted(&text, &["yesterday (7 May 2023)"], &[") (", "yesterday (7 May 2023) (7"]);
}

#[test]
fn what_leans_on_another_clause_is_never_alone() {
    let told = [
        (
            "8 May 2023",
            "Ana",
            "I keep things that remind me of home, like my hand-painted bowl from Delft.",
        ),
        (
            "8 May 2023",
            "Ben",
            "The ferry was late because the bridge in Rotterdam was closed. Which is why I missed Odile.",
        ),
        (
            "8 May 2023",
            "Ana",
            "When we moved to Delft, the piano broke, and Ilse repaired it for 90 euros.",
        ),
    ];
    for target in 20..90 {
        let text = extract_told(&told, target);
        for statement in text.lines().flat_map(|line| line.split(" … ")) {
            let statement = statement.split_once(": ").map_or(statement, |(_, rest)| rest);
            for start in ["like", "because", "which", "Which", "and ", "the piano broke"] {
                assert!(!statement.starts_with(start), "{statement:?} at {target} in:\n{text}");
            }
            assert_ne!(statement, "When we moved to Delft", "at {target} in:\n{text}");
        }
    }
}
