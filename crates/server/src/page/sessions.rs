//! The list of sessions, a conversation, a message.

use super::not_found;
use super::view_request::ViewRequest;
use oneiro::{
    ArchivedFilter, ListOrder, ListSessions, MessageRef, Result, Session, SessionId, StretchFrom,
    StretchRequest,
};
use oneiro_page::lineage::Relative;
use oneiro_page::message::MessageView;
use oneiro_page::session::{ConversationView, MESSAGES};
use oneiro_page::sessions::{SessionsForm, SessionsView};

/// Sessions per page.
const SESSIONS_PER_PAGE: usize = 50;

/// Sessions of a lineage that are read for its graph.
const FAMILY: usize = 200;

pub(super) fn list(request: &ViewRequest) -> Result<String> {
    let form = SessionsForm {
        q: request.text("q").to_owned(),
        source: request.text("source").to_owned(),
        project: request.text("project").to_owned(),
        archived: request.is_on("archived"),
        all: request.is_on("all"),
        order: match request.text("order") {
            "started" => ListOrder::Started,
            _ => ListOrder::Active,
        },
    };
    let filter = ListSessions {
        all: form.all,
        source: request.param("source"),
        project: request.param("project"),
        archived: if form.archived { ArchivedFilter::Only } else { ArchivedFilter::Without },
        matching: request.param("q"),
        order: form.order,
        limit: SESSIONS_PER_PAGE,
        cursor: request.cursor()?,
        ..ListSessions::default()
    };
    let (sources, projects) = request.groups()?;
    let sessions = request.oneiro()?.sessions().list(&filter)?;
    let view = SessionsView { frame: request.frame.clone(), form, sources, projects, sessions };
    Ok(request.render(&view, oneiro_page::sessions::page, oneiro_page::sessions::fragment))
}

pub(super) fn conversation(request: &ViewRequest) -> Result<String> {
    let oneiro = request.oneiro()?;
    let id = SessionId::new(request.path_part(0))?;
    let session = session(request, &id)?;
    let at = MessageRef::parse(request.text("at")).ok();
    let at = at.map(|at| oneiro.messages().resolve(&at, Some(&id))).transpose()?;
    let from = match at {
        Some(at) => StretchFrom::Around(at),
        None => StretchFrom::After(request.cursor()?),
    };
    let hidden = request.is_on("hidden");
    // Rewound messages are read even when they are not shown: a line marks their place.
    let range = StretchRequest { from, hidden: true, limit: MESSAGES };
    let stretch = oneiro.messages().stretch(&id, range)?;
    let family = oneiro.sessions().family(&id, FAMILY)?;
    let pinned = oneiro.messages().pinned(&id)?.into_iter().map(|message| message.id).collect();
    let messages: Vec<_> = stretch.messages.iter().map(|message| message.id).collect();
    let view = ConversationView {
        frame: request.frame.clone(),
        family: family.into_iter().map(relative).collect(),
        session,
        messages: stretch.messages,
        earlier: stretch.earlier,
        later: stretch.later,
        hidden,
        at,
        pinned,
        learnt: oneiro.memories().learnt_from(&messages)?,
    };
    Ok(request.render(&view, oneiro_page::session::page, oneiro_page::session::fragment))
}

fn relative(session: Session) -> Relative {
    Relative {
        id: session.id,
        title: session.title.or(session.preview),
        parent: session.parent_id,
        lineage: session.lineage,
        message_count: session.message_count,
    }
}

pub(super) fn message(request: &ViewRequest) -> Result<String> {
    let message = request.oneiro()?.messages().get(MessageRef::parse(request.path_part(0))?)?;
    let session = session(request, &message.session_id)?;
    let view = MessageView { frame: request.frame.clone(), message, session };
    Ok(request.render(&view, oneiro_page::message::page, oneiro_page::message::fragment))
}

pub(super) fn session(request: &ViewRequest, id: &SessionId) -> Result<Session> {
    let found = request.oneiro()?.sessions().find(id)?;
    found.ok_or_else(|| not_found(&format!("session {:?}", id.as_str())))
}
