//! Resolves the dates of a clause by the day it was written: what replaces the words, and which days
//! they mean.

use jiff::civil::Date;
use jiff::{Span, ToSpan};
use oneiro_model::Timestamp;
use oneiro_text::{DatedText, Precision, find_dates, relative_dates};

use crate::language::{Language, VOCABULARY};
use crate::sentence::Sentence;

const EPOCH: Date = Date::constant(1970, 1, 1);
const DAY_SECONDS: i64 = 86_400;

/// The day and the time zone that dates are counted from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WrittenOn {
    pub day: Date,
    offset_seconds: i64,
}

impl WrittenOn {
    pub fn new(at: Timestamp, utc_offset_seconds: i32) -> WrittenOn {
        let offset_seconds = i64::from(utc_offset_seconds);
        let seconds = at.micros().div_euclid(1_000_000).saturating_add(offset_seconds);
        let day = date_of(seconds.div_euclid(DAY_SECONDS)).unwrap_or(EPOCH);
        WrittenOn { day, offset_seconds }
    }

    /// The first moment of a day.
    pub fn start_of(self, day: Date) -> Timestamp {
        let seconds = day_number(day) * DAY_SECONDS - self.offset_seconds;
        Timestamp::from_micros(seconds.saturating_mul(1_000_000))
    }

    /// The first moment after a day.
    pub fn end_of(self, day: Date) -> Timestamp {
        let seconds = (day_number(day) + 1) * DAY_SECONDS - self.offset_seconds;
        Timestamp::from_micros(seconds.saturating_mul(1_000_000))
    }
}

fn date_of(days: i64) -> Option<Date> {
    EPOCH.checked_add(Span::new().try_days(days).ok()?).ok()
}

fn day_number(day: Date) -> i64 {
    EPOCH.until(day).map_or(0, |span| i64::from(span.get_days()))
}

/// The dates of a clause.
#[derive(Debug, Default)]
pub(crate) struct ClauseDates {
    /// Places in the text, and what is written there instead, in order.
    pub replacements: Vec<(usize, usize, String)>,
    /// First and last days.
    pub days: Vec<(Date, Date)>,
}

impl ClauseDates {
    /// The last day that is not over.
    pub fn last_ahead(&self, today: Date) -> Option<Date> {
        self.days.iter().map(|(_, last)| *last).filter(|last| *last >= today).max()
    }

    /// The first day, if everything is over.
    pub fn first_behind(&self, today: Date) -> Option<Date> {
        let is_over = !self.days.is_empty() && self.days.iter().all(|(first, _)| *first <= today);
        self.days.first().map(|(first, _)| *first).filter(|_| is_over)
    }

    fn overlaps(&self, start: usize, end: usize) -> bool {
        self.replacements.iter().any(|(from, to, _)| *from < end && *to > start)
    }
}

/// What dates are read in.
pub(crate) struct DatedClause<'c> {
    pub text: &'c str,
    pub sentence: &'c Sentence,
    /// The tokens of the clause.
    pub tokens: (usize, usize),
    pub language: Language,
    pub today: Date,
    /// Whether a weekday means the next one.
    pub is_plan: bool,
}

/// The dates that a clause names.
pub(crate) fn clause_dates(clause: &DatedClause<'_>) -> ClauseDates {
    let mut dates = ClauseDates::default();
    let tokens = clause.sentence.tokens.get(clause.tokens.0..clause.tokens.1).unwrap_or_default();
    let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else { return dates };
    let words = clause.text.get(first.start..last.end).unwrap_or_default();
    let dated = DatedText { text: words, around: sentence_text(clause), written_on: clause.today };
    for found in relative_dates(&dated) {
        let (mut start, end) = (first.start + found.start, first.start + found.end);
        let mut found = found;
        let before = clause.text.get(first.start..start).unwrap_or_default();
        if let Some(lead) =
            ["the day after ", "day after "].into_iter().find(|it| before.ends_with(it))
        {
            start -= lead.len();
            found.first = found.first.checked_add(1.day()).unwrap_or(found.first);
            found.last = found.last.checked_add(1.day()).unwrap_or(found.last);
        }
        let rest = clause.text.get(end..).unwrap_or_default();
        let is_owner = rest.starts_with("'s") || rest.starts_with("’s");
        let named = Named { first: found.first, last: found.last, precision: found.precision };
        dates.days.push((found.first, found.last));
        if is_owner {
            let day = named.render(clause.language, false);
            dates.replacements.push((end + 2, end + 2, format!(" ({day})")));
            continue;
        }
        add(clause, &mut dates, (start, end), &named);
    }
    if clause.is_plan {
        add_planned_days(clause, &mut dates);
    }
    add_calendar_dates(clause, (words, first.start), &mut dates);
    dates.replacements.sort();
    dates
}

/// The whole sentence, by which its language is seen.
fn sentence_text<'c>(clause: &DatedClause<'c>) -> &'c str {
    let tokens = &clause.sentence.tokens;
    let range = tokens.first().zip(tokens.last()).map(|(first, last)| first.start..last.end);
    range.and_then(|range| clause.text.get(range)).unwrap_or_default()
}

/// Writes a date in place of words, with a preposition unless there is one.
fn add(clause: &DatedClause<'_>, dates: &mut ClauseDates, place: (usize, usize), named: &Named) {
    let (mut start, end) = place;
    if dates.overlaps(start, end) {
        return;
    }
    let tokens = &clause.sentence.tokens;
    let at = tokens.iter().rposition(|token| token.end <= start);
    let before = at.map_or("", |at| clause.sentence.word(at));
    let is_article = matches!(
        (clause.language, before),
        (Language::Spanish, "el" | "la" | "los")
            | (Language::German, "am" | "im" | "den")
            | (Language::English, "on" | "the")
    );
    if let Some(token) = at.and_then(|at| tokens.get(at)).filter(|_| is_article) {
        start = token.start;
    }
    let prepositions: &[&str] = match clause.language {
        Language::English => &[
            "by", "until", "till", "for", "since", "from", "to", "of", "before", "after", "in",
            "is", "as",
        ],
        Language::German => {
            &["bis", "ab", "seit", "von", "vom", "zum", "für", "fur", "vor", "nach"]
        }
        Language::Spanish => &["para", "hasta", "desde", "de", "del", "al", "a", "en"],
    };
    let has_preposition = prepositions.contains(&before) && !is_article;
    let is_first = tokens.first().is_some_and(|token| token.start == start);
    let mut day = named.render(clause.language, !has_preposition);
    if is_first && let Some(letter) = day.chars().next() {
        day = letter.to_uppercase().chain(day.chars().skip(1)).collect();
    }
    dates.replacements.push((start, end, day));
}

/// Today, a weekday, this weekend, in three days: days that only a plan names.
fn add_planned_days(clause: &DatedClause<'_>, dates: &mut ClauseDates) {
    let today = clause.today;
    let mut at = clause.tokens.0;
    while at < clause.tokens.1 {
        let found = planned_days(clause, at);
        let Some((words, first, last)) = found else {
            at += 1;
            continue;
        };
        let start = clause.sentence.tokens.get(at).map_or(0, |token| token.start);
        let end = clause.sentence.tokens.get(at + words - 1).map_or(0, |token| token.end);
        if !dates.overlaps(start, end) && last >= today {
            let named = Named { first, last, precision: Precision::Exact };
            dates.days.push((first, last));
            add(clause, dates, (start, end), &named);
        }
        at += words;
    }
}

/// How many words from a token on name planned days, and which.
fn planned_days(clause: &DatedClause<'_>, at: usize) -> Option<(usize, Date, Date)> {
    let word = |offset: usize| clause.sentence.word(at + offset);
    let today = clause.today;
    let day = |days: i64| today.checked_add(days.days()).ok();
    let one = |words: usize, days: i64| day(days).map(|day| (words, day, day));
    match (word(0), word(1), word(2)) {
        ("today" | "tonight" | "heute" | "hoy", ..) => {
            let is_evening = matches!(word(1), "abend" | "nachmittag" | "mittag");
            return one(1 + usize::from(is_evening), 0);
        }
        ("this", "evening" | "afternoon", _) | ("esta", "noche" | "tarde", _) => return one(2, 0),
        ("this" | "dieses", "weekend" | "wochenende", _) => {
            let sunday = 6 - i64::from(today.weekday().to_monday_zero_offset());
            return Some((2, day((sunday - 1).max(0))?, day(sunday)?));
        }
        ("in" | "en", count, unit) => {
            return counted_days(clause, (count, unit)).map(|(a, b)| (3, a, b));
        }
        ("semana", "que", "viene") | ("proxima", "semana", _) => {
            let monday = 7 - i64::from(today.weekday().to_monday_zero_offset());
            let words = if word(0) == "semana" { 3 } else { 2 };
            return Some((words, day(monday)?, day(monday + 6)?));
        }
        ("mes", "que", "viene") | ("proximo", "mes", _) => {
            let next = today.checked_add(1.month()).ok()?;
            let words = if word(0) == "mes" { 3 } else { 2 };
            return Some((words, next.first_of_month(), next.last_of_month()));
        }
        ("dentro", "de", count) => {
            return counted_days(clause, (count, word(3))).map(|(first, last)| (4, first, last));
        }
        _ => {}
    }
    let is_led = matches!(
        word(0),
        "this" | "coming" | "diesen" | "kommenden" | "nachsten" | "este" | "proximo"
    );
    let named = usize::from(is_led);
    let weekday = VOCABULARY.get(word(named)).and_then(|entry| entry.weekday)?;
    let follow = match word(named + 1) {
        "que" if word(named + 2) == "viene" => 2,
        "proximo" => 1,
        _ => 0,
    };
    let before = at.checked_sub(1).map_or("", |before| clause.sentence.word(before));
    // "Every Friday" is no day, and "the next Friday" one of a story.
    let repeats = [
        "every",
        "each",
        "jeden",
        "jeder",
        "cada",
        "los",
        "all",
        "alle",
        "a",
        "one",
        "next",
        "last",
        "ein",
        "einem",
        "einen",
        "un",
        "letzten",
        "vergangenen",
    ];
    if repeats.contains(&before) {
        return None;
    }
    // "On Tuesday evenings" is every week.
    if matches!(word(named + 1), "evenings" | "mornings" | "afternoons" | "nights") {
        return None;
    }
    if is_date_behind(clause, at + named + 1) {
        return None;
    }
    let days = i64::from(weekday) - i64::from(today.weekday().to_monday_zero_offset());
    one(named + 1 + follow, if days <= 0 { days + 7 } else { days })
}

/// Whether a weekday is only a part of the date behind it: "Friday, the 1st of December".
fn is_date_behind(clause: &DatedClause<'_>, mut at: usize) -> bool {
    let word = |at: usize| clause.sentence.word(at);
    let is_month = |at: usize| VOCABULARY.get(word(at)).is_some_and(|entry| entry.is_month);
    let has_digit = |at: usize| word(at).starts_with(|letter: char| letter.is_ascii_digit());
    while matches!(word(at), "," | "the" | "den" | "dem" | "der" | "el") {
        at += 1;
    }
    let is_linked = matches!(word(at + 1), "of" | "de");
    has_digit(at) && (is_month(at + 1) || is_linked && is_month(at + 2))
        || is_month(at) && has_digit(at + 1)
}

/// The days after "in": two weeks, drei Tagen, un mes.
fn counted_days(clause: &DatedClause<'_>, (count, unit): (&str, &str)) -> Option<(Date, Date)> {
    let count = match count {
        "a" | "an" | "one" | "einem" | "einer" | "un" | "una" => 1,
        "two" | "zwei" | "dos" => 2,
        "three" | "drei" | "tres" => 3,
        "four" | "vier" | "cuatro" => 4,
        "five" | "funf" | "cinco" => 5,
        "six" | "sechs" | "seis" => 6,
        "ten" | "zehn" | "diez" => 10,
        digits => digits.parse::<i64>().ok().filter(|count| (1..=90).contains(count))?,
    };
    let today = clause.today;
    match unit {
        "day" | "days" | "tag" | "tagen" | "dia" | "dias" => {
            let day = today.checked_add(count.days()).ok()?;
            Some((day, day))
        }
        "week" | "weeks" | "woche" | "wochen" | "semana" | "semanas" => {
            let day = today.checked_add((count * 7).days()).ok()?;
            Some((day, day))
        }
        "month" | "months" | "monat" | "monaten" | "mes" | "meses" => {
            let day = today.checked_add(count.months()).ok()?;
            Some((day.first_of_month(), day.last_of_month()))
        }
        _ => None,
    }
}

/// Days that are named by day and month; without a year, the next ones in a plan.
fn add_calendar_dates(
    clause: &DatedClause<'_>,
    (words, base): (&str, usize),
    dates: &mut ClauseDates,
) {
    let mut last_end = 0;
    for span in find_dates(words, clause.today) {
        let (start, end) = (span.start as usize, span.end as usize);
        let named = words.get(start..end).unwrap_or_default();
        // Weekdays are read above, and only in plans.
        let has_digit = named.contains(|letter: char| letter.is_ascii_digit());
        let is_weekday = !has_digit
            && named.split(' ').any(|word| {
                let entry = VOCABULARY.get(crate::sentence::fold(word).as_str());
                entry.is_some_and(|entry| entry.weekday.is_some())
            });
        // An ambiguous date comes twice; its first reading counts.
        if start < last_end || is_weekday || dates.overlaps(base + start, base + end) {
            continue;
        }
        last_end = end;
        let (Some(mut first), Some(mut last)) = (date_of(span.from), date_of(span.until - 1))
        else {
            continue;
        };
        let has_year = named.split(|it: char| !it.is_ascii_digit()).any(|run| run.len() == 4);
        let is_named = named.chars().any(char::is_alphabetic) || named.contains(['.', '/', '-']);
        if !has_year && !is_named {
            continue;
        }
        if clause.is_plan && !has_year && last < clause.today {
            first = first.checked_add(1.year()).unwrap_or(first);
            last = last.checked_add(1.year()).unwrap_or(last);
        }
        dates.days.push((first, last));
    }
}

struct Named {
    first: Date,
    last: Date,
    precision: Precision,
}

impl Named {
    /// The days in words of a language.
    fn render(&self, language: Language, with_preposition: bool) -> String {
        let (first, last) = (self.first, self.last);
        let days = day_number(last) - day_number(first) + 1;
        let is_month = first.day() == 1 && last == first.last_of_month();
        let is_year = first.day() == 1 && first.month() == 1 && last == first.last_of_year();
        let day = |date| day_in_words(language, date);
        let (preposition, words) = if self.precision == Precision::Near {
            let middle = date_of(day_number(first) + days / 2).unwrap_or(first);
            (["", "", ""], choose(language, ["around ", "um den ", "hacia el "]) + &day(middle))
        } else if first == last {
            (["on ", "am ", "el "], day(first))
        } else if is_year {
            (["in ", "", "en "], first.year().to_string())
        } else if is_month {
            (["in ", "im ", "en "], month_in_words(language, first))
        } else if days == 7 {
            let lead = choose(language, ["the week of ", "der Woche vom ", "la semana del "]);
            (["in ", "in ", "en "], lead + &day(first))
        } else if days == 2 {
            let lead =
                choose(language, ["the weekend of ", "Wochenende vom ", "fin de semana del "]);
            (["on ", "am ", "el "], lead + &day(first))
        } else {
            let to = choose(language, [" to ", " bis ", " al "]);
            (["from ", "vom ", "del "], format!("{}{to}{}", day(first), day(last)))
        };
        let preposition = choose(language, preposition);
        if with_preposition { preposition + &words } else { words }
    }
}

fn choose(language: Language, words: [&str; 3]) -> String {
    let [english, german, spanish] = words;
    match language {
        Language::English => english,
        Language::German => german,
        Language::Spanish => spanish,
    }
    .to_owned()
}

fn month_name(language: Language, date: Date) -> &'static str {
    let at = usize::try_from(date.month() - 1).unwrap_or(0);
    language.list("months").nth(at).unwrap_or_default()
}

fn month_in_words(language: Language, date: Date) -> String {
    let (month, year) = (month_name(language, date), date.year());
    match language {
        Language::Spanish => format!("{month} de {year}"),
        _ => format!("{month} {year}"),
    }
}

fn day_in_words(language: Language, date: Date) -> String {
    let (day, month) = (date.day(), month_in_words(language, date));
    match language {
        Language::English => format!("{day} {month}"),
        Language::German => format!("{day}. {month}"),
        Language::Spanish => format!("{day} de {month}"),
    }
}
