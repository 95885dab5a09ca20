//! The hook point before messages leave a window: called in the background while the window is
//! nearly full, so that whatever learns from messages can read them while they are still shown.

use crate::Oneiro;
use crate::sessions::key_of;
use oneiro_model::{MessageId, Result, SessionId};
use oneiro_store::message_rows::{self, Include, Position};

/// Messages that the next step of a window may take out of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaving {
    /// The session.
    pub session_id: SessionId,
    /// The budget of the window.
    pub budget: usize,
    /// The newest message of the session: it and every older one may leave. Which of them do,
    /// depends on what is appended until the window is full.
    pub last: MessageId,
}

/// Reads messages before they leave a window.
pub trait LeavingHook: Send + Sync {
    /// Called in the background, outside any transaction. It may be called again for the same
    /// messages. A single message that overfills a window moves it before the hook is called.
    fn before_leaving(&self, oneiro: &Oneiro, leaving: &Leaving) -> Result<()>;
}

impl Oneiro {
    /// Calls the hook, if there is one, for a nearly full window. A failed hook does not stop the
    /// compaction: the messages stay stored and can be read later.
    pub(super) fn call_leaving_hook(&self, id: &SessionId, budget: usize) {
        let Some(hook) = &self.leaving_hook else { return };
        let called = self.newest_message(id).and_then(|last| match last {
            Some(last) => {
                hook.before_leaving(self, &Leaving { session_id: id.clone(), budget, last })
            }
            None => Ok(()),
        });
        if let Err(error) = called {
            tracing::warn!(%error, session = %id, "the hook before messages leave a window failed");
        }
    }

    fn newest_message(&self, id: &SessionId) -> Result<Option<MessageId>> {
        self.store.read(|tx| {
            let end = Position { session_key: key_of(tx, id)?, seq: i64::MAX };
            let newest = message_rows::session_ids_before(tx, end, Include::Live, 1)?;
            Ok(newest.first().copied().map(MessageId))
        })
    }
}
