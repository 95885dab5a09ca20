//! What the text of a key means: numbers, waits, lists, yes and no. It must not know where the text
//! comes from.

use super::{Key, KeyKind};
use oneiro::{Error, Result};
use std::time::Duration;

/// A wait, in whole milliseconds.
pub fn milliseconds(key: &'static str, value: &str) -> Result<Duration> {
    const DAY: u64 = 86_400_000;
    match value.parse::<u64>() {
        Ok(number) if number <= DAY => Ok(Duration::from_millis(number)),
        _ => Err(Error::field(
            key,
            format!("{value:?} is not a whole number of milliseconds up to a day"),
        )),
    }
}

/// Names separated by commas.
pub fn names(value: &str) -> Vec<String> {
    let names = value.split(',').map(str::trim).filter(|name| !name.is_empty() && *name != "none");
    names.map(str::to_owned).collect()
}

/// True or false.
pub fn yes_or_no(key: &'static str, value: &str) -> Result<bool> {
    match value {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(Error::field(key, format!("{value:?} is not true or false"))),
    }
}

/// A whole number, within the bounds of its key.
pub fn number(key: &Key, value: &str) -> Result<u32> {
    let (least, most) = match key.kind {
        KeyKind::Number(least, most) => (least, most),
        _ => (0, u32::MAX),
    };
    let number = value.parse().ok().filter(|number| (least..=most).contains(number));
    let wrong = || format!("{value:?} is not a whole number between {least} and {most}");
    number.ok_or_else(|| Error::field(key.name, wrong()))
}
