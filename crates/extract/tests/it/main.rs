//! Extracts from outside: conversations by table, awkward texts, and laws by random ones.

mod agents;
mod awkward;
mod condensed;
mod dated;
mod languages;
mod laws;
mod people;
mod work;

use oneiro_extract::{ExtractRequest, SourceMessage, extract};

/// About what a model's own tokens are: words in pieces of seven letters, every other sign for one.
fn count(text: &str) -> usize {
    let mut run = 0;
    let mut tokens = 0;
    for letter in text.chars() {
        if letter.is_ascii_alphabetic() {
            tokens += usize::from(run % 7 == 0);
            run += 1;
        } else {
            run = 0;
            tokens += usize::from(!letter.is_whitespace() || letter == '\n');
        }
    }
    tokens
}

fn extract_of(said: &[(&str, &str)], target: usize) -> String {
    extract_about(said, target, None)
}

fn extract_about(said: &[(&str, &str)], target: usize, about: Option<&str>) -> String {
    let said: Vec<SourceMessage<'_>> =
        said.iter().map(|(speaker, text)| SourceMessage { speaker, text, day: None }).collect();
    let text = extract(&ExtractRequest { said: &said, target, about, count: &count });
    assert!(count(&text) <= target, "{} over {target}: {text}", count(&text));
    text
}

/// A day, a speaker and the words; without a day and a speaker, an earlier extract.
type Told<'a> = (&'a str, &'a str, &'a str);

fn extract_told(told: &[Told<'_>], target: usize) -> String {
    let day = |day: &str| jiff::civil::Date::strptime("%d %B %Y", day).ok();
    let said: Vec<SourceMessage<'_>> = told
        .iter()
        .map(|&(said_on, speaker, text)| SourceMessage { speaker, text, day: day(said_on) })
        .collect();
    let text = extract(&ExtractRequest { said: &said, target, about: None, count: &count });
    assert!(count(&text) <= target, "{} over {target}: {text}", count(&text));
    text
}

/// Every one of these is in the extract, and none of those.
fn assert_extracted(text: &str, there: &[&str], not_there: &[&str]) {
    for piece in there {
        assert!(text.contains(piece), "{piece:?} is missing in:\n{text}");
    }
    for piece in not_there {
        assert!(!text.contains(piece), "{piece:?} is in:\n{text}");
    }
}
