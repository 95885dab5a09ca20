//! Counts, times and shortened texts, as answers to models show them.

use oneiro::Timestamp;
use oneiro::count::prefix;

/// A number and what it counts.
pub(crate) fn count(number: i64, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    }
}

/// The beginning of a text, marked if that is not all of it.
pub(crate) fn shortened(text: &str, max: usize) -> String {
    let short = prefix(text, max);
    if short.len() < text.len() { format!("{short}…") } else { text.to_owned() }
}

/// A time to the minute, as it is shown to models.
pub(crate) fn minute(at: Timestamp) -> String {
    at.minute_text()
}

/// A time to the second.
pub(crate) fn second(at: Timestamp) -> Timestamp {
    Timestamp::from_micros(at.micros().div_euclid(1_000_000) * 1_000_000)
}
