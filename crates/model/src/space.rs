//! The name of a space, which becomes a file name or a schema name and so is kept narrow.

use crate::{Error, Result};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::fmt;

/// The pattern of a space's name, as published.
const NAME_PATTERN: &str = "^[a-z0-9][a-z0-9_-]{0,47}$";

/// What is done with a space. Commands and endpoints each say so, so that none creates a space by
/// reading from a mistyped one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpaceUse {
    /// What is there is read or changed.
    MustExist,
    /// Something is added, and the space is created if it does not exist.
    CreateMissing,
}

/// A space of a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SpaceInfo {
    /// Its name.
    pub name: SpaceName,
    /// Bytes on disk.
    pub bytes: u64,
    /// Whether its file is damaged so that it cannot be opened.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub damaged: bool,
}

/// A space that was deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DeletedSpace {
    /// Its name.
    pub name: SpaceName,
    /// Files that may still contain what was in it: its backups.
    pub backups: Vec<String>,
}

/// The name of an isolated memory: `[a-z0-9][a-z0-9_-]{0,47}`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SpaceName(String);

impl SpaceName {
    /// Reads a space's name.
    pub fn new(name: &str) -> Result<SpaceName> {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let good = name.len() <= 48
            && name.bytes().next().is_some_and(plain)
            && name.bytes().all(|byte| plain(byte) || byte == b'_' || byte == b'-');
        if good {
            Ok(SpaceName(name.to_owned()))
        } else {
            Err(Error::field("space", format!("{name:?} is not a space name"))
                .remedy("use 1 to 48 of a-z, 0-9, _ and -, beginning with a letter or digit"))
        }
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

text_schema!(SpaceName "pattern": NAME_PATTERN);

impl Serialize for SpaceName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl Default for SpaceName {
    fn default() -> SpaceName {
        SpaceName("default".to_owned())
    }
}

impl fmt::Display for SpaceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_could_leave_their_folder_are_refused() {
        for good in ["default", "a", "0x", "team_a-1", &"a".repeat(48)] {
            assert!(SpaceName::new(good).is_ok(), "{good}");
        }
        for bad in ["", "_a", "-a", "A", "a/b", "..", "a.b", "é", &"a".repeat(49), "a b"] {
            assert!(SpaceName::new(bad).is_err(), "{bad}");
        }
    }
}
