//! Sessions over HTTP.

use crate::call::{Answer, Call, segment};
use crate::decode::Fields;
use oneiro::{
    BranchRequest, Ending, Error, Lineage, ListOrder, ListSessions, NewSession, PageRequest,
    PruneRequest, Result, Session, SessionPatch, SplitRequest,
};
use serde_json::{Value, json};

/// Messages to a page of a session.
const MESSAGES: usize = 1_000;

/// Sessions of a family that are answered.
const FAMILY: usize = 1_000;

/// The most tokens that a context may be brought down to.
const MOST_TOKENS: i64 = 100_000_000;

pub(super) fn list(call: &Call) -> Result<Answer> {
    let query = &call.query;
    let plain = ListSessions::default();
    let request = ListSessions {
        all: query.bool("all").unwrap_or(false),
        source: query.text("source"),
        exclude_sources: query.texts("exclude_source"),
        project: query.text("project"),
        user_id: query.text("user_id"),
        parent_id: query.session("parent_id")?,
        cwd_prefix: query.text("cwd_prefix"),
        min_messages: query.int("min_messages").unwrap_or(0),
        archived: match query.text("archived").as_deref() {
            None | Some("false") => Some(false),
            Some("true") => Some(true),
            Some(_) => None,
        },
        ended: query.bool("ended"),
        since: query.time("since"),
        until: query.time("until"),
        matching: query.text("q").filter(|text| !text.is_empty()),
        order: match query.text("order").as_deref() {
            Some("started") => ListOrder::Started,
            _ => ListOrder::Active,
        },
        limit: query.count("limit", plain.limit),
        cursor: query.cursor()?,
        ..plain
    };
    Answer::ok(&call.oneiro()?.list_sessions(&request)?)
}

pub(super) fn create(call: &Call) -> Result<Answer> {
    let mut fields = call.fields()?;
    let session = NewSession {
        id: fields.session("id")?,
        source: fields.text("source")?,
        user_id: fields.text("user_id")?,
        model: fields.text("model")?,
        model_config: fields.value("model_config"),
        system_prompt: fields.text("system_prompt")?,
        parent_id: fields.session("parent_id")?,
        lineage: fields.text("lineage")?.as_deref().map(Lineage::parse).transpose()?,
        title: fields.text("title")?,
        project: fields.text("project")?,
        cwd: fields.text("cwd")?,
        metadata: fields.object("metadata")?,
        started_at: fields.time("started_at")?,
        untitled: false,
    };
    fields.end()?;
    let oneiro = call.oneiro()?;
    let is_there = match &session.id {
        Some(id) => oneiro.find_session(id)?.is_some(),
        None => false,
    };
    let session = oneiro.create_session(session)?;
    if is_there { Answer::ok(&session) } else { created(&session) }
}

fn created(session: &Session) -> Result<Answer> {
    Answer::created(session, format!("/v1/sessions/{}", segment(session.id.as_str())))
}

pub(super) fn show(call: &Call) -> Result<Answer> {
    let (oneiro, id) = (call.oneiro()?, call.session()?);
    let session = oneiro
        .find_session(&id)?
        .ok_or_else(|| Error::not_found(format!("there is no session {:?}", id.as_str())))?;
    let request = page_request(call)?;
    let mut answer = serde_json::to_value(&session)
        .map_err(|error| Error::internal("a session is not JSON").because(error))?;
    if call.query.bool("messages").unwrap_or(true)
        && let Value::Object(fields) = &mut answer
    {
        let page = oneiro.messages(&id, request)?;
        fields.insert("messages".to_owned(), json!(page.items));
        fields.insert("next".to_owned(), json!(page.next));
    }
    Answer::ok(&answer)
}

/// Which messages of a session are asked for.
pub(super) fn page_request(call: &Call) -> Result<PageRequest> {
    Ok(PageRequest {
        after: call.query.cursor()?.map_or(0, |cursor| cursor.key),
        hidden: call.query.bool("hidden").unwrap_or(false),
        limit: call.query.count("limit", MESSAGES),
    })
}

pub(super) fn change(call: &Call) -> Result<Answer> {
    let mut fields = call.fields()?;
    let patch = SessionPatch {
        title: title(&mut fields)?,
        title_if_unset: fields.bool("title_if_unset")?.unwrap_or(false),
        archived: fields.bool("archived")?,
        model: fields.text("model")?,
        model_config: fields.value("model_config"),
        system_prompt: fields.text("system_prompt")?,
        project: fields.text("project")?,
        cwd: fields.text("cwd")?,
        metadata: fields.object("metadata")?,
        ..SessionPatch::default()
    };
    fields.end()?;
    Answer::ok(&call.oneiro()?.change_session(&call.session()?, patch)?)
}

/// A title that is null is taken away.
fn title(fields: &mut Fields) -> Result<Option<Option<String>>> {
    match fields.given("title") {
        None => Ok(None),
        Some(Value::Null) => Ok(Some(None)),
        Some(Value::String(title)) if title.contains('\0') => {
            Err(Error::field("title", "contains a NUL character"))
        }
        Some(Value::String(title)) => Ok(Some(Some(title))),
        Some(_) => Err(Error::field("title", "is not a string")),
    }
}

pub(super) fn delete(call: &Call) -> Result<Answer> {
    Answer::ok(&call.oneiro()?.delete_session(&call.session()?)?)
}

pub(super) fn end(call: &Call) -> Result<Answer> {
    let mut fields = call.fields()?;
    let reason = fields.text("reason")?.unwrap_or_else(|| "ended".to_owned());
    fields.end()?;
    Answer::ok(&call.oneiro()?.end_session(&call.session()?, Ending::new(reason)?)?)
}

pub(super) fn reopen(call: &Call) -> Result<Answer> {
    call.fields()?.end()?;
    Answer::ok(&call.oneiro()?.reopen_session(&call.session()?)?)
}

pub(super) fn rewind(call: &Call) -> Result<Answer> {
    let mut fields = call.fields()?;
    let to = fields.message("to")?;
    let turns = fields.int("turns", (1, 1_000_000))?;
    fields.end()?;
    let (oneiro, id) = (call.oneiro()?, call.session()?);
    let rewound = match (to, turns) {
        (Some(to), None) => oneiro.rewind_session(&id, to)?,
        (None, Some(turns)) => oneiro.rewind_turns(&id, usize::try_from(turns).unwrap_or(1))?,
        _ => {
            return Err(Error::field("to", "or `turns` is needed, and not both")
                .remedy("name the user message to rewind to, or how many turns to take back"));
        }
    };
    Answer::ok(&rewound)
}

pub(super) fn restore(call: &Call) -> Result<Answer> {
    let mut fields = call.fields()?;
    let all = fields.bool("all")?.unwrap_or(false);
    fields.end()?;
    let restored = call.oneiro()?.restore_session(&call.session()?, all)?;
    Answer::ok(&json!({ "restored": restored }))
}

pub(super) fn branch(call: &Call) -> Result<Answer> {
    let mut fields = call.fields()?;
    let request = BranchRequest {
        at: fields.message("at")?,
        id: fields.session("id")?,
        title: fields.text("title")?,
    };
    fields.end()?;
    created(&call.oneiro()?.branch_session(&call.session()?, request)?)
}

pub(super) fn split(call: &Call) -> Result<Answer> {
    let mut fields = call.fields()?;
    let request = SplitRequest { id: fields.session("id")?, until: tokens(&mut fields, "until")? };
    fields.end()?;
    created(&call.oneiro()?.split_session(&call.session()?, request)?)
}

/// A number of tokens that a context is brought down to.
pub(super) fn tokens(fields: &mut Fields, name: &'static str) -> Result<Option<usize>> {
    let tokens = fields.int(name, (1, MOST_TOKENS))?;
    Ok(tokens.and_then(|tokens| usize::try_from(tokens).ok()))
}

pub(super) fn family(call: &Call) -> Result<Answer> {
    let family = call.oneiro()?.session_family(&call.session()?, FAMILY)?;
    Answer::ok(&json!({ "items": family, "next": null }))
}

pub(super) fn prune(call: &Call) -> Result<Answer> {
    let mut fields = call.fields()?;
    let ended_before = fields.time("ended_before")?;
    let request = PruneRequest {
        ended_before: ended_before.ok_or_else(|| Error::field("ended_before", "is missing"))?,
        source: fields.text("source")?,
        project: fields.text("project")?,
        user_id: fields.text("user_id")?,
        model: fields.text("model")?,
        title: fields.text("title")?,
        end_reason: fields.text("end_reason")?,
        min_messages: fields.int("min_messages", (0, i64::MAX))?,
        max_messages: fields.int("max_messages", (0, i64::MAX))?,
        archived: fields.bool("archived")?,
        dry_run: fields.bool("dry_run")?.unwrap_or(false),
    };
    fields.end()?;
    Answer::ok(&call.oneiro()?.prune_sessions(request)?)
}
