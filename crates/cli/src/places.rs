//! Messages by their place in a session: the places of what is shown, and places in arguments.

use crate::output::one_line;
use oneiro::{Error, Message, MessageId, MessageRef, Oneiro, Result, SessionId};
use std::collections::BTreeMap;

/// Columns of a session's id before a place.
const SESSION_WIDTH: usize = 64;

/// The places of messages that are about to be shown.
#[derive(Debug, Default)]
pub struct Places(BTreeMap<MessageId, usize>);

impl Places {
    /// The places of messages in a session.
    pub fn in_session(
        oneiro: &Oneiro,
        session: &SessionId,
        messages: impl IntoIterator<Item = MessageId>,
    ) -> Result<Places> {
        Places::new(oneiro, messages.into_iter().map(|id| (session, id)))
    }

    /// The places of messages, each in its session.
    pub fn new<'s>(
        oneiro: &Oneiro,
        messages: impl IntoIterator<Item = (&'s SessionId, MessageId)>,
    ) -> Result<Places> {
        let mut by_session: BTreeMap<&SessionId, Vec<MessageId>> = BTreeMap::new();
        for (session, id) in messages {
            by_session.entry(session).or_default().push(id);
        }
        let mut places = BTreeMap::new();
        for (session, ids) in by_session {
            let found = oneiro.messages().places(session, &ids)?;
            places.extend(ids.into_iter().zip(found).filter_map(|(id, at)| Some((id, at?))));
        }
        Ok(Places(places))
    }

    /// A message where its session is named already: `#3`.
    pub fn label(&self, id: MessageId) -> String {
        self.0.get(&id).map_or_else(|| format!("id {id}"), |place| format!("#{place}"))
    }

    /// A message on its own: `monday#3`.
    pub fn full_label(&self, message: &Message) -> String {
        match self.0.get(&message.id) {
            Some(place) => {
                format!("{}#{place}", one_line(message.session_id.as_str(), SESSION_WIDTH))
            }
            None => format!("id {}", message.id),
        }
    }
}

/// The session and the message that two arguments name; `monday#3` alone names both.
pub fn session_and_message(
    oneiro: &Oneiro,
    session: &str,
    message: Option<&str>,
) -> Result<(SessionId, Option<MessageRef>)> {
    // A session whose id looks like a place is named by its whole id; a place comes before a prefix.
    let has_id = |id: SessionId| Ok::<_, Error>(oneiro.sessions().find(&id)?.is_some());
    if message.is_none()
        && let Ok(MessageRef::Place { session: Some(named), place }) = MessageRef::parse(session)
        && !SessionId::new(session).map_or(Ok(false), has_id)?
    {
        let place = MessageRef::Place { session: None, place };
        return match oneiro.sessions().resolve(named.as_str()) {
            Ok(id) => Ok((id, Some(place))),
            // A title may end like a place.
            Err(error) => Ok((oneiro.sessions().resolve(session).map_err(|_| error)?, None)),
        };
    }
    let id = oneiro.sessions().resolve(session)?;
    Ok((id, message.map(MessageRef::parse).transpose()?))
}
