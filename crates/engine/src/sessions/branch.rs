//! Branch: a new session that starts with a copy of the messages of another.

use super::create::{child_of, refuse_ignored};
use super::{Draft, create_in, fetch_session, key_of, message_in, show::no_message};
use crate::views::Sessions;
use oneiro_model::{
    BranchRequest, ChangeKind, Error, Lineage, NewSession, Result, Session, SessionId,
};
use oneiro_store::{SessionRef, changes, messages, sequence, sessions};

impl Sessions<'_> {
    /// Branches a session. The shared messages are copied with new ids; their payloads are shared.
    pub fn branch(&self, from: &SessionId, request: BranchRequest) -> Result<Session> {
        let parent = self.find(from)?.ok_or_else(|| super::no_session(from.as_str()))?;
        let draft = Draft::new(
            self.oneiro,
            NewSession {
                id: request.id,
                title: request.title,
                ..child_of(parent, Lineage::Branch)
            },
        )?;
        let (oneiro, from, at) = (self.oneiro.clone(), from.clone(), request.at);
        self.oneiro.store.write(move |tx| {
            let parent = key_of(tx, &from)?;
            refuse_ignored(&oneiro, tx, &draft.id)?;
            if sessions::key(tx, &draft.id)?.is_some() {
                return Err(Error::conflict(format!("session {:?} exists", draft.id.as_str()))
                    .remedy("give the branch another id, or none"));
            }
            let at = at
                .as_ref()
                .map(|at| message_in(tx, at, Some(SessionRef { key: parent, id: &from })))
                .transpose()?;
            if let Some(at) = at {
                let held = messages::get(tx, at)?.is_some_and(|(session, _)| session == parent);
                if !held {
                    return Err(no_message(at).at(format!("session {:?}", from.as_str())));
                }
            }
            let key = create_in(tx, &draft)?;
            let shared = messages::seqs_until(tx, parent, at.map_or(i64::MAX, |at| at.0))?;
            let taken = sequence::next_messages(tx)?;
            for (from, to) in shared.into_iter().zip(taken.first..) {
                messages::copy(tx, from, to, key)?;
            }
            sessions::recount(tx, key)?;
            changes::record(tx, ChangeKind::Created, Some(&draft.id), oneiro.now())?;
            fetch_session(tx, key)
        })
    }
}
