//! Sessions over HTTP.

use crate::call::{Answer, Call, segment};
use oneiro::{
    BranchRequest, Cursor, Deleted, Ending, Error, ListSessions, Message, NewSession, Page,
    PageRequest, PruneRequest, Pruned, RestoreRequest, Restored, Result, RewindRequest, Rewound,
    Session, SessionPatch, ShowSession, SplitRequest,
};
use schemars::JsonSchema;
use serde::Serialize;

/// Sessions of a family that are answered.
const FAMILY_MAX: usize = 1_000;

pub(super) fn list(call: &Call, request: ListSessions) -> Result<Answer<Page<Session>>> {
    Answer::ok(call.oneiro()?.sessions().list(&request)?)
}

pub(super) fn create(call: &Call, session: NewSession) -> Result<Answer<Session>> {
    let oneiro = call.oneiro()?;
    let exists = match &session.id {
        Some(id) => oneiro.sessions().find(id)?.is_some(),
        None => false,
    };
    let session = oneiro.sessions().create(session)?;
    if exists { Answer::ok(session) } else { created(session) }
}

fn created(session: Session) -> Result<Answer<Session>> {
    let place = format!("/v1/sessions/{}", segment(session.id.as_str()));
    Answer::created(session, place)
}

/// A session with a page of its messages.
#[derive(Serialize, JsonSchema)]
pub(super) struct SessionWithMessages {
    #[serde(flatten)]
    session: Session,
    /// Its messages, in the order they came.
    #[serde(skip_serializing_if = "Option::is_none")]
    messages: Option<Vec<Message>>,
    /// Where the next page begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-may-be-null" = true))]
    next: Option<Option<Cursor>>,
}

pub(super) fn show(call: &Call, request: ShowSession) -> Result<Answer<SessionWithMessages>> {
    let (oneiro, id) = (call.oneiro()?, call.session()?);
    let session = oneiro
        .sessions()
        .find(&id)?
        .ok_or_else(|| Error::not_found(format!("there is no session {:?}", id.as_str())))?;
    if !request.messages {
        return Answer::ok(SessionWithMessages { session, messages: None, next: None });
    }
    let page = oneiro.messages().list(
        &id,
        PageRequest {
            after: request.cursor.map_or(0, |cursor| cursor.key),
            hidden: request.hidden,
            limit: request.limit,
        },
    )?;
    let (messages, next) = (Some(page.items), Some(page.next));
    Answer::ok(SessionWithMessages { session, messages, next })
}

pub(super) fn change(call: &Call, patch: SessionPatch) -> Result<Answer<Session>> {
    Answer::ok(call.oneiro()?.sessions().change(&call.session()?, patch)?)
}

pub(super) fn delete(call: &Call) -> Result<Answer<Deleted>> {
    Answer::ok(call.oneiro()?.sessions().delete(&call.session()?)?)
}

pub(super) fn end(call: &Call, ending: Ending) -> Result<Answer<Session>> {
    Answer::ok(call.oneiro()?.sessions().end(&call.session()?, ending)?)
}

pub(super) fn reopen(call: &Call) -> Result<Answer<Session>> {
    Answer::ok(call.oneiro()?.sessions().reopen(&call.session()?)?)
}

pub(super) fn rewind(call: &Call, request: RewindRequest) -> Result<Answer<Rewound>> {
    Answer::ok(call.oneiro()?.sessions().rewind(&call.session()?, request)?)
}

pub(super) fn restore(call: &Call, request: RestoreRequest) -> Result<Answer<Restored>> {
    Answer::ok(call.oneiro()?.sessions().restore(&call.session()?, request)?)
}

pub(super) fn branch(call: &Call, request: BranchRequest) -> Result<Answer<Session>> {
    created(call.oneiro()?.sessions().branch(&call.session()?, request)?)
}

pub(super) fn split(call: &Call, request: SplitRequest) -> Result<Answer<Session>> {
    created(call.oneiro()?.sessions().split(&call.session()?, request)?)
}

pub(super) fn family(call: &Call) -> Result<Answer<Page<Session>>> {
    Answer::ok(call.oneiro()?.sessions().family(&call.session()?, FAMILY_MAX)?.into())
}

pub(super) fn prune(call: &Call, request: PruneRequest) -> Result<Answer<Pruned>> {
    Answer::ok(call.oneiro()?.sessions().prune(request)?)
}
