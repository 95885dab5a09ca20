//! Statements without the time from which they hold, so that "I moved to Lisbon in October" and "I live in
//! Porto" are compared by their places alone. English, German and Spanish.

use oneiro_text::normalise;

/// Words that begin a phrase of time.
const LEADS: &[&str] = &[
    "on", "in", "since", "around", "from", "am", "im", "seit", "um", "ab", "en", "desde", "hacia",
    "el",
];

/// The leads of what still goes on.
const SINCE: &[&str] = &["since", "seit", "desde"];

/// Words inside a phrase of time: "in the week of", "um den", "el fin de semana del".
const LINKS: &[&str] = &[
    "the",
    "week",
    "weekend",
    "of",
    "to",
    "early",
    "mid",
    "late",
    "der",
    "den",
    "dem",
    "woche",
    "wochenende",
    "vom",
    "bis",
    "anfang",
    "mitte",
    "ende",
    "la",
    "de",
    "del",
    "al",
    "fin",
    "semana",
];

/// Words that say when without a date.
const RECENTLY: &[&str] = &["recently", "kurzlich", "neulich", "recientemente"];

const MONTHS: &[&str] = &[
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "januar",
    "februar",
    "marz",
    "mai",
    "juni",
    "juli",
    "oktober",
    "dezember",
    "enero",
    "febrero",
    "marzo",
    "abril",
    "mayo",
    "junio",
    "julio",
    "agosto",
    "septiembre",
    "octubre",
    "noviembre",
    "diciembre",
];

/// What goes on since a time, and how it is said without one.
const GOING_ON: &[(&str, &str)] = &[
    ("have been working ", "work "),
    ("have worked ", "work "),
    ("have been living ", "live "),
    ("have lived ", "live "),
    ("has been working ", "works "),
    ("has worked ", "works "),
    ("has been living ", "lives "),
    ("has lived ", "lives "),
    ("he trabajado ", "trabajo "),
    ("he vivido ", "vivo "),
];

/// What began, and how it is said of the present.
const BEGUN: &[(&str, &str)] = &[
    ("I've ", "I have "),
    ("I’ve ", "I have "),
    ("started working ", "work "),
    ("started at ", "work at "),
];

/// German verbs whose place stands between two parts: the words before the place, those behind it, and
/// how the same is said of the present.
const GERMAN_BEGUN: &[(&str, &str, &str)] = &[
    ("ich bin nach ", " gezogen", "Ich wohne in "),
    ("ich bin nach ", " umgezogen", "Ich wohne in "),
    ("ich habe bei ", " angefangen", "Ich arbeite bei "),
];

/// Words of a phrase of time, at most: "del 3 de mayo de 2026 al 9 de mayo de 2026" has eleven.
const PHRASE_WORDS_MAX: usize = 16;

/// What a word does in a phrase of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TimeWord {
    Lead,
    Link,
    /// A number of one or two digits.
    Day,
    /// A month, a year or a date in digits.
    Date,
}

impl TimeWord {
    fn of(word: &str) -> Option<TimeWord> {
        let word = plain(word);
        let has = |list: &[&str]| list.contains(&word.as_str());
        if has(LEADS) {
            Some(TimeWord::Lead)
        } else if has(LINKS) {
            Some(TimeWord::Link)
        } else if has(MONTHS) || is_year(&word) || is_date_in_digits(&word) {
            Some(TimeWord::Date)
        } else {
            is_day(&word).then_some(TimeWord::Day)
        }
    }
}

/// A word in lower case, without accents and the marks around it.
fn plain(word: &str) -> String {
    normalise(word.trim_matches(|letter: char| !letter.is_alphanumeric()))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_year(word: &str) -> bool {
    word.len() == 4 && is_digits(word) && (word.starts_with("19") || word.starts_with("20"))
}

/// 1.11.2026, 2026-11-01, 11/1/2026.
fn is_date_in_digits(word: &str) -> bool {
    let parts: Vec<&str> = word.split(['.', '-', '/']).collect();
    parts.len() == 3 && parts.into_iter().all(is_digits)
}

fn is_day(word: &str) -> bool {
    let endings = ["st", "nd", "rd", "th"];
    let number = endings.into_iter().find_map(|ending| word.strip_suffix(ending)).unwrap_or(word);
    number.len() <= 2 && is_digits(number)
}

/// How many words from the first on are a phrase of time: "since 1 November", "in der Woche vom 2. Mai".
fn phrase_length(words: &[&str]) -> Option<usize> {
    let roles = words.iter().take(PHRASE_WORDS_MAX).map_while(|word| TimeWord::of(word));
    let roles: Vec<TimeWord> = roles.collect();
    if roles.first() != Some(&TimeWord::Lead) || !roles.contains(&TimeWord::Date) {
        return None;
    }
    let is_time = |role: &TimeWord| matches!(role, TimeWord::Day | TimeWord::Date);
    roles.iter().rposition(is_time).map(|last| last + 1)
}

/// A statement as it is said of the present, without the time from which it holds; `None` if it is said
/// so already.
pub(super) fn without_time(content: &str) -> Option<String> {
    let words: Vec<&str> = content.split_whitespace().collect();
    let mut kept: Vec<&str> = Vec::with_capacity(words.len());
    let mut goes_on = false;
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let time = phrase_length(words.get(at..).unwrap_or_default());
        if time.is_some() {
            goes_on |= SINCE.contains(&plain(word).as_str());
        } else if !RECENTLY.contains(&plain(word).as_str()) {
            kept.push(*word);
        }
        at += time.unwrap_or(1);
    }
    // "Seit Oktober arbeite ich": the verb stands before its subject only because of the time.
    let is_inverted = kept.len() < words.len()
        && kept.get(1).is_some_and(|word| matches!(plain(word).as_str(), "ich" | "wir"));
    if is_inverted {
        kept.swap(0, 1);
    }
    let mut text = kept.join(" ");
    let going_on: &[(&str, &str)] = if goes_on { GOING_ON } else { &[] };
    for (said, present) in BEGUN.iter().chain(going_on) {
        text = text.replacen(*said, present, 1);
    }
    let text = german_present(&text).unwrap_or(text);
    (text != words.join(" ")).then_some(text)
}

/// "Ich bin nach Bern gezogen" as "Ich wohne in Bern".
fn german_present(text: &str) -> Option<String> {
    let text = text.trim_end_matches('.');
    GERMAN_BEGUN.iter().find_map(|(before, behind, present)| {
        let head = text.get(..before.len())?;
        let place = text.get(before.len()..)?.strip_suffix(*behind)?;
        head.eq_ignore_ascii_case(before).then(|| format!("{present}{place}"))
    })
}

/// Words before the day of an event, at the end of a statement: "We moved to Postgres on 19 June 2026".
const BEFORE_DAYS: &[&str] = &[
    " in the week of ",
    " on the weekend of ",
    " on ",
    " in der woche vom ",
    " in der woche ",
    " am wochenende vom ",
    " am ",
    " en la semana del ",
    " el fin de semana del ",
    " el ",
];

/// A statement without the day on which it began to hold; `None` if it names none.
pub(super) fn without_day(content: &str) -> Option<&str> {
    let lower = content.to_lowercase();
    if lower.len() != content.len() {
        return None;
    }
    let starts = BEFORE_DAYS.iter().filter_map(|words| {
        let at = lower.find(words)?;
        let rest = lower.get(at + words.len()..)?;
        rest.starts_with(|letter: char| letter.is_ascii_digit()).then_some(at)
    });
    starts.min().and_then(|at| content.get(..at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_of_time_are_left_out() {
        for (content, expected) in [
            ("I moved to Lisbon in October.", "I moved to Lisbon"),
            ("I moved to Lisbon in October 2026.", "I moved to Lisbon"),
            ("I moved to Lisbon on 1 November.", "I moved to Lisbon"),
            ("I moved to Lisbon on November 1st, 2026, with Ann.", "I moved to Lisbon with Ann."),
            ("I moved to Lisbon around 27 October 2026.", "I moved to Lisbon"),
            ("I moved to Lisbon in the week of 2 November 2026.", "I moved to Lisbon"),
            ("I recently moved to Lisbon.", "I moved to Lisbon."),
            ("I've moved to Lisbon.", "I have moved to Lisbon."),
            ("Since 1 November I work at Acme.", "I work at Acme."),
            ("I have worked at Acme since October 2026.", "I work at Acme"),
            ("I have worked at Acme in 2019.", "I have worked at Acme"),
            ("I started working at Acme on 2026-10-01.", "I work at Acme"),
            ("Ich bin in der Woche vom 2. November 2026 nach Bern gezogen.", "Ich wohne in Bern"),
            ("Im Oktober 2026 bin ich nach Bern gezogen.", "Ich wohne in Bern"),
            ("Seit Oktober arbeite ich bei Acme.", "ich arbeite bei Acme."),
            ("Ich wohne seit März 2020 in Bern.", "Ich wohne in Bern."),
            ("Me mudé a Bilbao en abril de 2023.", "Me mudé a Bilbao"),
            ("Desde el 3 de mayo de 2026 trabajo en Acme.", "trabajo en Acme."),
        ] {
            assert_eq!(without_time(content).as_deref(), Some(expected), "{content}");
        }
    }

    #[test]
    fn statements_without_a_time_stay_as_they_are() {
        for content in [
            "I live in Porto.",
            "I work at the May Company.",
            "I live in the 3 rooms above the shop.",
            "Ich wohne in der Nähe von Bern.",
            "Vivo en la calle de Goya.",
        ] {
            assert_eq!(without_time(content), None, "{content}");
        }
    }
}
