//! A reference to a session that is known to exist.

use oneiro_model::SessionId;

/// A session by its key, with its id.
#[derive(Debug, Clone, Copy)]
pub struct SessionRef<'a> {
    /// The key of its row.
    pub key: i64,
    /// Its id.
    pub id: &'a SessionId,
}

impl<'a> From<(i64, &'a SessionId)> for SessionRef<'a> {
    fn from((key, id): (i64, &'a SessionId)) -> Self {
        SessionRef { key, id }
    }
}
