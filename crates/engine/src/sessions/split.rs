//! Split a session: it ends, and a continuation goes on with its compacted window.

use crate::Oneiro;
use oneiro_model::{Error, Result, Session, SessionId};

/// How to split.
#[derive(Debug, Clone, Default)]
pub struct SplitRequest {
    /// The id of the continuation; one is made when absent.
    pub id: Option<SessionId>,
    /// Compact the context to so many tokens first; the fresh tail alone stays as it is when absent.
    pub until: Option<usize>,
}

impl Oneiro {
    /// Ends a session with the reason `compression` and begins its continuation, which carries its
    /// settings, its next title and its compacted window.
    pub fn split_session(&self, _id: &SessionId, _request: SplitRequest) -> Result<Session> {
        Err(Error::internal("split is not there yet"))
    }
}
