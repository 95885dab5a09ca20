//! The words by which people ask for a statement although it does not have them: "where do I live?"
//! finds "I moved to Porto". They stand in the text index beside the words of the statement.

use oneiro_text::padded_words;
use std::sync::LazyLock;

const WORDS: &str = include_str!("../../assets/asked_words.txt");

struct Topic {
    /// With a space on each side, so that whole words are found.
    phrases: Vec<String>,
    asked: Vec<&'static str>,
}

static TOPICS: LazyLock<Vec<Topic>> = LazyLock::new(|| {
    let lines = WORDS.lines().filter(|line| !line.starts_with('#'));
    let topics = lines.filter_map(|line| {
        let (phrases, asked) = line.split_once("=>")?;
        Some(Topic {
            phrases: phrases.split(", ").map(|phrase| padded_words(phrase.trim())).collect(),
            asked: asked.split(", ").map(str::trim).collect(),
        })
    });
    topics.collect()
});

/// A statement with the words by which people ask for it.
pub(crate) fn with_asked_words(content: &str) -> String {
    let statement = padded_words(content);
    let mut asked: Vec<&str> = Vec::new();
    for topic in TOPICS.iter() {
        if topic.phrases.iter().any(|phrase| statement.contains(phrase.as_str())) {
            asked.extend(
                topic.asked.iter().filter(|word| !asked.contains(word)).collect::<Vec<_>>(),
            );
        }
    }
    if asked.is_empty() { content.to_owned() } else { format!("{content}\n{}", asked.join(" ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_found_by_what_people_ask_for() {
        for (content, word) in [
            ("I moved to Porto on 19 June 2026.", "live"),
            ("Ich wohne in Berlin", "wohnort"),
            ("Me mudé a Madrid", "ciudad"),
            ("I'm allergic to peanuts", "food"),
            ("We decided to use PostgreSQL for the rota app.", "decision"),
        ] {
            let text = with_asked_words(content);
            assert!(text.starts_with(content));
            assert!(text.split_whitespace().any(|found| found == word), "{text}");
        }
        assert_eq!(
            with_asked_words("The heron nests in the reeds"),
            "The heron nests in the reeds"
        );
    }
}
