//! The session store that agents know from picoclaw, over immutable rows: setting or truncating a
//! history hides and never deletes, and every failure is told.

use crate::Oneiro;
use oneiro_model::{Error, Message, NewMessage, Result, SessionId, Summary};

impl Oneiro {
    /// Makes what a session shows be exactly these messages: what it begins with already stays,
    /// everything else is hidden, and what is new is appended. Answers what it shows now.
    pub fn set_history(&self, _id: &SessionId, _messages: Vec<NewMessage>) -> Result<Vec<Message>> {
        Err(Error::internal("set_history is not there yet"))
    }

    /// Sets aside all but the newest messages of a session; answers how many it set aside.
    pub fn truncate_history(&self, _id: &SessionId, _keep: usize) -> Result<usize> {
        Err(Error::internal("truncate_history is not there yet"))
    }

    /// The summary of a session as one text: the one written by hand, then those of its context.
    pub fn session_summary(&self, _id: &SessionId) -> Result<String> {
        Err(Error::internal("session_summary is not there yet"))
    }

    /// Pins a summary written by hand to the beginning of a session's windows, in place of the one
    /// before; an empty text takes it away.
    pub fn set_summary(&self, _id: &SessionId, _text: &str) -> Result<Option<Summary>> {
        Err(Error::internal("set_summary is not there yet"))
    }
}
