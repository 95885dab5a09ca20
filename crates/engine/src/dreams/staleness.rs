//! Whether a claim or a line of a note is bound to a time: to a date, an end, a condition or the moment, or
//! tells that something is over. Such a claim is never promoted, and such a line is stale after two weeks.

use super::evidence::day_of;
use jiff::civil::Date;
use oneiro_model::{MemoryKind, Timestamp};
use oneiro_text::{find_dates, is_time_word, normalise, padded_words};
use std::sync::LazyLock;

/// Days after which what is bound to a time is stale.
pub(crate) const STALE_DAYS: i64 = 14;

const WORDS: &str = include_str!("../../assets/dream_words.txt");

/// Words that say that a day comes back: a birthday is no deadline.
const RECURRING: [&str; 12] = [
    "birthday",
    "born",
    "anniversary",
    "every",
    "each",
    "always",
    "usually",
    "geburtstag",
    "geboren",
    "jeden",
    "cumpleanos",
    "cada",
];

/// Words that say since when something holds.
const SINCE: [&str; 6] = ["since", "seit", "desde", "moved", "started", "joined"];

struct Lists {
    end: Vec<String>,
    condition: Vec<String>,
    moment: Vec<String>,
    over: Vec<String>,
    small_talk: Vec<String>,
}

static LISTS: LazyLock<Lists> = LazyLock::new(|| {
    let of = |name: &str| {
        let entries = oneiro_text::sections(WORDS).filter(|(section, _)| *section == name);
        entries.map(|(_, entry)| padded_words(entry)).collect()
    };
    Lists {
        end: of("end"),
        condition: of("condition"),
        moment: of("moment"),
        over: of("over"),
        small_talk: of("small_talk"),
    }
});

/// What a claim is bound to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bound {
    /// A date, or the end of its validity.
    Date,
    /// An end that it names.
    End,
    /// A condition.
    Condition,
    /// The moment it was said.
    Moment,
    /// It happened once.
    Event,
    /// It says that something is over.
    Over,
}

impl Bound {
    /// For people.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Bound::Date => "it is bound to a date",
            Bound::End => "it names its end",
            Bound::Condition => "it holds under a condition",
            Bound::Moment => "it is about the moment it was said",
            Bound::Event => "it happened once",
            Bound::Over => "it says that something is over",
        }
    }
}

/// A claim, as far as its time matters.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TimedClaim<'c> {
    pub(crate) content: &'c str,
    pub(crate) kind: MemoryKind,
    pub(crate) valid_until: Option<Timestamp>,
    /// When it was said.
    pub(crate) said_at: Timestamp,
}

/// What a claim is bound to; `None` if it may last.
pub(crate) fn bound(claim: TimedClaim<'_>) -> Option<Bound> {
    if claim.valid_until.is_some() {
        return Some(Bound::Date);
    }
    if claim.kind == MemoryKind::Episodic {
        return Some(Bound::Event);
    }
    let text = padded_words(claim.content);
    let bound =
        bound_by_words(&text).filter(|bound| *bound != Bound::Over || is_over(claim.content));
    bound.or_else(|| {
        let is_origin = has_word(&text, &RECURRING) || has_word(&text, &SINCE);
        let names_day = !is_origin && names_date(claim.content, claim.said_at);
        names_day.then_some(Bound::Date)
    })
}

/// Whether a claim only says how somebody is at the moment.
pub(crate) fn is_small_talk(content: &str) -> bool {
    let mut words = 0;
    let mut passing = 0;
    oneiro_text::Analyzer::default().tokens(content, |token| {
        if !token.stop {
            words += 1;
            let word = padded_words(token.norm);
            passing += usize::from(LISTS.small_talk.contains(&word));
        }
    });
    words == passing
}

/// Why a line of a note is stale: it is bound to a time that passed two weeks ago. `written` is when the line
/// was written.
pub(crate) fn stale_line(line: &str, written: Timestamp, now: Timestamp) -> Option<Bound> {
    let text = padded_words(line);
    if has_phrase(&text, &LISTS.over) && age(written, now) > STALE_DAYS {
        return Some(Bound::Over);
    }
    if has_word(&text, &RECURRING) || has_word(&text, &SINCE) {
        return None;
    }
    let last = dates(line, written).into_iter().max();
    if let Some(last) = last {
        return (day_of(now) - last > STALE_DAYS).then_some(Bound::Date);
    }
    let is_bound = has_phrase(&text, &LISTS.moment) || has_phrase(&text, &LISTS.end);
    (is_bound && age(written, now) > STALE_DAYS).then_some(Bound::Moment)
}

fn age(written: Timestamp, now: Timestamp) -> i64 {
    day_of(now) - day_of(written)
}

fn bound_by_words(text: &str) -> Option<Bound> {
    let lists = [
        (&LISTS.end, Bound::End),
        (&LISTS.condition, Bound::Condition),
        (&LISTS.moment, Bound::Moment),
        (&LISTS.over, Bound::Over),
    ];
    let found = lists.into_iter().find(|(phrases, _)| has_phrase(text, phrases));
    // "Every morning before work" and "each week" come back.
    let recurs = has_word(text, &RECURRING);
    found.map(|(_, bound)| bound).filter(|bound| *bound != Bound::Moment || !recurs)
}

/// Whether a claim is about what is over. "It runs on Linux now, no longer on Windows" is about what holds.
fn is_over(content: &str) -> bool {
    let first = content.split([',', ';']).next().unwrap_or_default();
    has_phrase(&padded_words(first), &LISTS.over)
}

fn has_phrase(text: &str, phrases: &[String]) -> bool {
    phrases.iter().any(|phrase| text.contains(phrase.as_str()))
}

fn has_word(text: &str, words: &[&str]) -> bool {
    text.split(' ').any(|word| words.contains(&word))
}

/// Whether a text names a day, with a number: a weekday alone may come back.
fn names_date(content: &str, said_at: Timestamp) -> bool {
    !dates(content, said_at).is_empty()
}

/// The last days, counted from 1970, of the dates in a text that name a day or a month by number.
fn dates(content: &str, said_at: Timestamp) -> Vec<i64> {
    let Some(today) = date_of(said_at) else { return Vec::new() };
    let spans = find_dates(content, today).into_iter();
    let numbered = spans.filter(|span| {
        let words = content.get(span.start as usize..span.end as usize).unwrap_or_default();
        let has_number = words.contains(|letter: char| letter.is_ascii_digit());
        let has_name = normalise(words)
            .split(|letter: char| !letter.is_alphanumeric())
            .any(|word| is_time_word(word) && word.len() > 2);
        has_number && (has_name || words.contains(['-', '/', '.']))
    });
    numbered.map(|span| span.until - 1).collect()
}

fn date_of(at: Timestamp) -> Option<Date> {
    let at = jiff::Timestamp::from_microsecond(at.micros()).ok()?;
    Some(at.to_zoned(jiff::tz::TimeZone::UTC).date())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound_of(content: &str) -> Option<Bound> {
        let said_at = Timestamp::parse("2026-05-07T12:00:00Z").unwrap();
        let kind = MemoryKind::Preference;
        bound(TimedClaim { content, kind, valid_until: None, said_at })
    }

    #[test]
    fn what_lasts_is_not_bound() {
        for lasting in [
            "I live in Porto.",
            "I prefer tea over coffee.",
            "My birthday is on 14 March.",
            "I've been vegan since 2019.",
            "I run every Tuesday and Thursday.",
            "I moved to Porto on 19 June 2025",
            "The staging server runs on port 8443.",
            "Deploys must go through staging first.",
            "My sister Clara lives in Berlin.",
            "Ich trinke keinen Alkohol.",
            "Me encanta el queso de cabra.",
            "We settled on Rust for the backend.",
            "Never send me reminders before 9 am.",
            "I was born on 3 May 1980",
            "The shop runs on Fly now, no longer on Heroku.",
        ] {
            assert_eq!(bound_of(lasting), None, "{lasting}");
        }
    }

    #[test]
    fn what_passes_is_bound() {
        for (passing, expected) in [
            ("The deadline for the booking app is 30 June 2026.", Bound::Date),
            ("I take the train until Friday.", Bound::End),
            ("I drink decaf for now", Bound::End),
            ("We use the old server as long as the new one is broken", Bound::Condition),
            ("If it rains I work from home", Bound::Condition),
            ("I prefer silence today", Bound::Moment),
            ("I am in Berlin this week", Bound::Moment),
            ("Ich bin diese Woche in Berlin", Bound::Moment),
            ("I no longer eat meat", Bound::Over),
            ("I quit fencing.", Bound::Over),
            ("Ich habe den Skoda verkauft.", Bound::Over),
        ] {
            assert_eq!(bound_of(passing), Some(expected), "{passing}");
        }
    }

    #[test]
    fn small_talk_says_how_somebody_is_now() {
        for talk in ["I'm tired.", "I am so hungry", "I'm fine, thanks", "Ich bin müde"] {
            assert!(is_small_talk(talk), "{talk}");
        }
        for claim in ["I'm married.", "I love jazz.", "I am a beekeeper"] {
            assert!(!is_small_talk(claim), "{claim}");
        }
    }

    #[test]
    fn a_line_is_stale_two_weeks_after_its_date() {
        let written = Timestamp::parse("2026-05-01T00:00:00Z").unwrap();
        let at = |text: &str| Timestamp::parse(text).unwrap();
        let line = "Ann: the workshop is on 12 May 2026";
        assert_eq!(stale_line(line, written, at("2026-05-20T00:00:00Z")), None);
        assert_eq!(stale_line(line, written, at("2026-05-28T00:00:00Z")), Some(Bound::Date));
        let finished = "the migration is done";
        assert_eq!(stale_line(finished, written, at("2026-05-10T00:00:00Z")), None);
        assert_eq!(stale_line(finished, written, at("2026-05-20T00:00:00Z")), Some(Bound::Over));
        assert_eq!(stale_line("Ann: I live in Porto.", written, at("2027-05-20T00:00:00Z")), None);
    }
}
