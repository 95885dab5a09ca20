//! The name of a space, which becomes a file name or a schema name and so is kept narrow.

use crate::{Error, Result};
use std::fmt;

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
        match good {
            true => Ok(SpaceName(name.to_owned())),
            false => Err(Error::field("space", format!("{name:?} is not a space name"))
                .remedy("use 1 to 48 of a-z, 0-9, _ and -, beginning with a letter or digit")),
        }
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
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
