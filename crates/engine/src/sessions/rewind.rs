//! Rewind a session to a user message, and restore rewound messages. Only the visibility of messages
//! changes.

use super::{key_of, message_in, show::no_message};
use crate::context::change_visibility;
use crate::views::{Messages, Sessions};
use oneiro_model::contract::Request;
use oneiro_model::{
    ChangeKind, Error, Message, MessageCounts, MessageId, Remedy, RestoreRequest, Restored, Result,
    RewindRequest, Rewound, Role, SessionId, Visibility,
};
use oneiro_store::{SessionRef, Tx, changes, messages, sessions, summaries, visibility};

impl Sessions<'_> {
    /// Hides a live user message and everything after it.
    pub fn rewind(&self, id: &SessionId, request: RewindRequest) -> Result<Rewound> {
        request.check()?;
        let (id, now) = (id.clone(), self.oneiro.now());
        self.oneiro.store.write(move |tx| {
            let key = key_of(tx, &id)?;
            // In the same transaction, so that a message appended meanwhile is not counted as a turn.
            let to = match &request.to {
                Some(to) => message_in(tx, to, Some(SessionRef { key, id: &id }))?,
                None => nth_user_message(
                    tx,
                    SessionRef { key, id: &id },
                    request.turns.unwrap_or_default(),
                )?,
            };
            let rewound = rewind_in(tx, SessionRef { key, id: &id }, to)?;
            changes::record(tx, ChangeKind::Rewound, Some(&id), now)?;
            Ok(rewound)
        })
    }

    /// The newest live user messages, newest first: the possible targets of a rewind.
    pub fn rewind_points(&self, id: &SessionId, limit: usize) -> Result<Vec<Message>> {
        self.oneiro.store.read(|tx| {
            let key = key_of(tx, id)?;
            messages::recent_user(tx, SessionRef { key, id }, limit)
        })
    }

    /// Restores what the latest rewind hid, or with `all` every rewind. Compacted messages stay
    /// compacted.
    pub fn restore(&self, id: &SessionId, request: RestoreRequest) -> Result<Restored> {
        let (id, now) = (id.clone(), self.oneiro.now());
        self.oneiro.store.write(move |tx| {
            let key = key_of(tx, &id)?;
            let from = if request.all { 1 } else { visibility::last_rewind(tx, key)? };
            let restored = match from {
                0 => 0,
                from => {
                    refuse_continued(tx, SessionRef { key, id: &id })?;
                    let range = visibility::rewound_range(tx, key, from)?;
                    change_visibility(tx, (key, &id), range, || visibility::restore(tx, key, from))?
                }
            };
            sessions::recount(tx, key)?;
            changes::record(tx, ChangeKind::Restored, Some(&id), now)?;
            Ok(Restored { restored })
        })
    }
}

impl Messages<'_> {
    /// The number of messages of a session by visibility.
    pub fn counts(&self, id: &SessionId) -> Result<MessageCounts> {
        self.oneiro.store.read(|tx| visibility::counts(tx, key_of(tx, id)?))
    }
}

/// The user message that starts the last `turns` turns.
fn nth_user_message(tx: &Tx<'_>, session: SessionRef<'_>, turns: usize) -> Result<MessageId> {
    let recent = messages::recent_user(tx, session, turns)?;
    let target = turns.checked_sub(1).and_then(|index| recent.get(index));
    target.map(|message| message.id).ok_or_else(|| {
        let count = recent.len();
        Error::field("turns", format!("the session has {count} live user messages"))
            .remedy("give a number between 1 and that")
    })
}

/// Hides `to` and everything after it.
fn rewind_in(tx: &Tx<'_>, session: SessionRef<'_>, to: MessageId) -> Result<Rewound> {
    let target = rewind_target(tx, session, to)?;
    if target.visibility == Visibility::Rewound {
        return Err(Error::conflict(format!("message {to} is rewound already"))
            .remedy(Remedy::RestoreRewound));
    }
    hide(tx, session, target)
}

/// The target of a rewind, which must be a user message of the session.
pub(crate) fn rewind_target(
    tx: &Tx<'_>,
    session: SessionRef<'_>,
    to: MessageId,
) -> Result<Message> {
    let SessionRef { key, id } = session;
    let target = messages::get(tx, to)?.filter(|(session, _)| *session == key);
    let (_, target) =
        target.ok_or_else(|| no_message(to).at(format!("session {:?}", id.as_str())))?;
    if target.role != Role::User {
        return Err(Error::field(
            "message",
            format!(
                "{to} was said by the {}, and a rewind goes to a user message",
                target.role.as_str()
            ),
        )
        .remedy(Remedy::ListRewindPoints));
    }
    Ok(target)
}

/// Hides a message and everything after it.
pub(crate) fn hide(tx: &Tx<'_>, session: SessionRef<'_>, target: Message) -> Result<Rewound> {
    let SessionRef { key, id } = session;
    let to = target.id;
    refuse_continued(tx, session)?;
    let rewound = change_visibility(tx, (key, id), (to.0, i64::MAX), || {
        let number = sessions::count_rewind(tx, key)?;
        visibility::rewind(tx, key, to, number)
    })?;
    sessions::recount(tx, key)?;
    Ok(Rewound { rewound, target, head: visibility::head(tx, key)? })
}

/// Fails for a session whose summaries are in the window of another: what they summarise must not
/// change.
pub(crate) fn refuse_continued(tx: &Tx<'_>, session: SessionRef<'_>) -> Result<()> {
    let SessionRef { key, id } = session;
    for node in summaries::keys_of_session(tx, key)? {
        let mut elsewhere = summaries::sessions_with_root(tx, node)?;
        for above in summaries::parent_keys(tx, node)? {
            elsewhere.extend(summaries::get(tx, above)?.map(|above| above.session_key));
        }
        for context in elsewhere {
            if context == key {
                continue;
            }
            let there = sessions::id_and_project(tx, context)?;
            let there = there.map(|(id, _)| id.to_string()).unwrap_or_default();
            return Err(Error::conflict(format!(
                "session {:?} was split, and its summaries are in the window of {there:?}",
                id.as_str()
            ))
            .remedy(format!("rewind {there:?}, or branch {:?}", id.as_str())));
        }
    }
    Ok(())
}
