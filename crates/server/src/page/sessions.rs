//! Sessions: the list, a conversation, a message.

use super::look::Look;
use super::not_there;
use oneiro::{
    ArchivedFilter, ListOrder, ListSessions, MessageRef, Result, Session, SessionId, StretchFrom,
    StretchRequest,
};
use oneiro_page::lineage::Relative;
use oneiro_page::message::MessageView;
use oneiro_page::session::{ConversationView, MESSAGES};
use oneiro_page::sessions::{SessionsForm, SessionsView};

/// Sessions to a page.
const SESSIONS: usize = 50;

/// Sessions of a family that may be drawn.
const FAMILY: usize = 200;

pub(super) fn list(look: &Look) -> Result<String> {
    let form = SessionsForm {
        q: look.text("q").to_owned(),
        source: look.text("source").to_owned(),
        project: look.text("project").to_owned(),
        archived: look.is_on("archived"),
        all: look.is_on("all"),
        order: match look.text("order") {
            "started" => ListOrder::Started,
            _ => ListOrder::Active,
        },
    };
    let request = ListSessions {
        all: form.all,
        source: look.given("source"),
        project: look.given("project"),
        archived: if form.archived { ArchivedFilter::Only } else { ArchivedFilter::Without },
        matching: look.given("q"),
        order: form.order,
        limit: SESSIONS,
        cursor: look.cursor()?,
        ..ListSessions::default()
    };
    let (sources, projects) = look.groups()?;
    let sessions = look.oneiro()?.sessions().list(&request)?;
    let view = SessionsView { frame: look.frame.clone(), form, sources, projects, sessions };
    Ok(look.draw(&view, oneiro_page::sessions::page, oneiro_page::sessions::fragment))
}

pub(super) fn conversation(look: &Look) -> Result<String> {
    let oneiro = look.oneiro()?;
    let id = SessionId::new(look.part(0))?;
    let session = session(look, &id)?;
    let at = MessageRef::parse(look.text("at")).ok();
    let at = at.map(|at| oneiro.messages().resolve(&at, Some(&id))).transpose()?;
    let from = match at {
        Some(at) => StretchFrom::Around(at),
        None => StretchFrom::After(look.cursor()?),
    };
    let hidden = look.is_on("hidden");
    // What was rewound is told of where it was, even when it is not shown.
    let request = StretchRequest { from, hidden: true, limit: MESSAGES };
    let stretch = oneiro.messages().stretch(&id, request)?;
    let family = oneiro.sessions().family(&id, FAMILY)?;
    let pinned = oneiro.messages().pinned(&id)?.into_iter().map(|message| message.id).collect();
    let view = ConversationView {
        frame: look.frame.clone(),
        family: family.into_iter().map(relative).collect(),
        session,
        messages: stretch.messages,
        earlier: stretch.earlier,
        later: stretch.later,
        hidden,
        at,
        pinned,
    };
    Ok(look.draw(&view, oneiro_page::session::page, oneiro_page::session::fragment))
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

pub(super) fn message(look: &Look) -> Result<String> {
    let message = look.oneiro()?.messages().get(MessageRef::parse(look.part(0))?)?;
    let session = session(look, &message.session_id)?;
    let view = MessageView { frame: look.frame.clone(), message, session };
    Ok(look.draw(&view, oneiro_page::message::page, oneiro_page::message::fragment))
}

pub(super) fn session(look: &Look, id: &SessionId) -> Result<Session> {
    let found = look.oneiro()?.sessions().find(id)?;
    found.ok_or_else(|| not_there(&format!("session {:?}", id.as_str())))
}
