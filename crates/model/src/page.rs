//! The shape of every list: items and a cursor to the next page.

use crate::{Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

/// One page of a list.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "{T}Page")]
pub struct Page<T> {
    /// What was found, in order.
    pub items: Vec<T>,
    /// Where the next page begins, if there is one.
    pub next: Option<Cursor>,
}

impl<T> From<Vec<T>> for Page<T> {
    /// All there is, on one page.
    fn from(items: Vec<T>) -> Page<T> {
        Page { items, next: None }
    }
}

impl<T> Page<T> {
    /// The page of up to `limit` of what was found, each with its key; whatever was found beyond
    /// that says only that there is more.
    pub fn of(mut found: Vec<(i64, T)>, limit: usize) -> Page<T> {
        let more = found.len() > limit;
        found.truncate(limit);
        let next = found.last().filter(|_| more).map(|(key, _)| Cursor { order: *key, key: *key });
        Page { items: found.into_iter().map(|(_, item)| item).collect(), next }
    }
}

/// A page of a list that is asked for by place alone.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PageOf {
    /// Maximum number of items.
    #[schemars(range(min = 1, max = crate::LIST_MAX))]
    pub limit: usize,
    /// The `next` of the page before.
    pub cursor: Option<Cursor>,
}

impl Default for PageOf {
    fn default() -> PageOf {
        PageOf { limit: 50, cursor: None }
    }
}

impl crate::contract::Request for PageOf {}

/// A place in a list ordered by a time or number and, within it, by a unique key. Opaque to callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// The value that the list is ordered by.
    pub order: i64,
    /// The unique key that breaks ties.
    pub key: i64,
}

impl Cursor {
    /// Reads a cursor that an earlier page answered.
    pub fn parse(text: &str) -> Result<Cursor> {
        let cursor = text.split_once('.').and_then(|(order, key)| {
            Some(Cursor { order: order.parse().ok()?, key: key.parse().ok()? })
        });
        cursor.ok_or_else(|| {
            Error::field("cursor", "was not made by an earlier page")
                .remedy("pass the `next` of the page before, unchanged")
        })
    }
}

impl std::fmt::Display for Cursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.order, self.key)
    }
}

parsed_from_text!(Cursor);
text_schema!(Cursor "pattern": "^-?[0-9]{1,18}\\.-?[0-9]{1,18}$");

impl Serialize for Cursor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_round_trip_and_refuse_others() {
        let cursor = Cursor { order: -5, key: 7 };
        assert_eq!(Cursor::parse(&cursor.to_string()).unwrap(), cursor);
        for bad in ["", ".", "1", "1.x", "abc"] {
            assert!(Cursor::parse(bad).is_err());
        }
    }
}
