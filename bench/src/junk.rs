//! What a summary should not say: pleasantries, fragments, relative dates without a date, and lines
//! without a speaker or a day. A checker with word lists of its own.

use oneiro_text::sections;
use serde::Serialize;

const LISTS: &str = include_str!("../assets/junk.txt");

/// Words of a sentence that begins with a pleasantry and may still be nothing else.
const PLEASANTRY_WORDS_MAX: usize = 5;

/// Words below which a statement without a number has lost what it speaks of.
const STATEMENT_WORDS_MIN: usize = 2;

/// What is between the statements of a line.
const GAP: &str = " … ";

/// What was found in the lines of summaries.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Junk {
    /// Lines, without the last line that tells what was left out.
    pub lines: usize,
    /// Lines without a speaker, or without a day.
    pub without_start: usize,
    /// Statements in these lines.
    pub statements: usize,
    /// Statements with a greeting, thanks, a compliment or a farewell.
    pub pleasantries: usize,
    /// Statements that lack what they go back to.
    pub fragments: usize,
    /// Statements with a relative date that no date follows.
    pub undated: usize,
    /// Junk, in percent of the statements.
    pub percent: f64,
    /// Some of it.
    pub examples: Vec<String>,
}

/// Examples that are kept.
const EXAMPLES_MAX: usize = 12;

impl Junk {
    /// Adds the lines of a summary.
    pub(crate) fn add(&mut self, summary: &str) {
        for line in summary.lines().filter(|line| !line.starts_with("(left out: ")) {
            self.lines += 1;
            let start = line.split_once(": ").filter(|(start, _)| has_day_and_speaker(start));
            let text = start.map_or(line, |(_, text)| text);
            if start.is_none() {
                self.without_start += 1;
                self.note(line);
            }
            for statement in text.split(GAP) {
                self.statements += 1;
                let found = [
                    (is_fragment(statement), &mut self.fragments),
                    (has_pleasantry(statement), &mut self.pleasantries),
                    (is_undated(statement), &mut self.undated),
                ];
                // Each statement counts once, whatever is wrong with it.
                let junk = found.into_iter().find(|(is, _)| *is);
                if let Some((_, count)) = junk {
                    *count += 1;
                    self.note(statement);
                }
            }
        }
        let junk = self.pleasantries + self.fragments + self.undated;
        self.percent = (1e4 * junk as f64 / self.statements.max(1) as f64).round() / 100.0;
    }

    /// The metrics as people read them.
    pub(crate) fn describe(&self) -> String {
        let counts = format!(
            "junk: {:.2} % of {} statements ({} pleasantries, {} fragments, {} undated); {} of {} \
             lines lack a speaker or a day",
            self.percent,
            self.statements,
            self.pleasantries,
            self.fragments,
            self.undated,
            self.without_start,
            self.lines
        );
        let examples = self.examples.iter().map(|example| format!("  {example}"));
        std::iter::once(counts).chain(examples).collect::<Vec<_>>().join("\n")
    }

    fn note(&mut self, text: &str) {
        if self.examples.len() < EXAMPLES_MAX {
            self.examples.push(text.chars().take(120).collect());
        }
    }
}

/// `8 May 2023 Ana`.
fn has_day_and_speaker(start: &str) -> bool {
    let is_number = |word: &str| word.parse::<u16>().is_ok();
    let mut words = start.split(' ');
    words.next().is_some_and(is_number)
        && words.next().is_some_and(|month| month.starts_with(char::is_uppercase))
        && words.next().is_some_and(is_number)
        && words.next().is_some()
}

fn list(wanted: &str) -> impl Iterator<Item = &'static str> {
    let wanted = wanted.to_owned();
    sections(LISTS).filter(move |(section, _)| *section == wanted).map(|(_, phrase)| phrase)
}

/// A text in lower case with a space on either side, marks taken as spaces.
fn spaced(text: &str) -> String {
    let text = text.to_lowercase().replace('’', "'");
    let letters = text.chars().map(|letter| match letter {
        letter if letter.is_alphanumeric() || letter == '\'' => letter,
        _ => ' ',
    });
    let words: String = letters.collect();
    format!(" {} ", words.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn begins(text: &str, phrase: &str) -> bool {
    text.strip_prefix(' ')
        .and_then(|text| text.strip_prefix(phrase))
        .is_some_and(|rest| rest.starts_with(' '))
}

/// Whether a statement that stands alone, such as a memory, is junk.
pub(crate) fn is_junk(statement: &str) -> bool {
    is_fragment(statement) || has_pleasantry(statement) || is_undated(statement)
}

fn is_fragment(statement: &str) -> bool {
    let words = spaced(statement);
    let is_question = statement.trim_end().ends_with('?');
    let is_short = words.split_whitespace().count() < STATEMENT_WORDS_MIN
        && !statement.contains(|letter: char| letter.is_numeric() || !letter.is_ascii());
    is_short || (!is_question && list("fragment").any(|phrase| begins(&words, phrase)))
}

fn has_pleasantry(statement: &str) -> bool {
    statement.split_inclusive(['.', '!', '?']).any(|sentence| {
        let words = spaced(sentence);
        words.split_whitespace().count() <= PLEASANTRY_WORDS_MAX
            && list("pleasantry").any(|phrase| begins(&words, phrase))
    })
}

fn is_undated(statement: &str) -> bool {
    let text = statement.to_lowercase();
    list("relative").any(|phrase| {
        text.match_indices(phrase).any(|(at, found)| {
            let (before, after) = (text.get(..at), text.get(at + found.len()..));
            let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
            let is_word = !before.ends_with(char::is_alphanumeric)
                && !after.starts_with(|letter: char| letter.is_alphanumeric() || letter == '\'');
            // "The last year of school" is not counted from the day of the line.
            let is_elsewhere = before.trim_end().ends_with(" the") || after.starts_with(" of ");
            is_word && !is_elsewhere && !after.starts_with(" (")
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn junk_is_told_from_statements() {
        let mut junk = Junk::default();
        junk.add(
            "8 May 2023 Ana: I moved yesterday (7 May 2023) … like my hand-painted bowl. … See ya \
             later! … We met last week. … Nice job, John! … Who pays for it?\n\
             Ben: The flat costs 950 euros … because it rained\n\
             (left out: 3 messages; terms: thanks)",
        );
        let expected = Junk {
            lines: 2,
            without_start: 1,
            statements: 8,
            pleasantries: 2,
            fragments: 2,
            undated: 1,
            percent: 62.5,
            examples: junk.examples.clone(),
        };
        assert_eq!(junk, expected);
        assert_eq!(junk.examples.len(), 6);
    }
}
