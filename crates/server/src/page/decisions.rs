//! Decisions of a person on the page: forms that change memories or undo an operation, and how every
//! form is received. A form is accepted from the page itself only.

use super::memories::{BY_OTHERS, DID};
use super::notes::{CHANGED, MERGED};
use super::view_request::{Address, ViewRequest};
use super::{html, login, problem};
use crate::auth::{Authenticated, Credentials};
use crate::body::{Received, Sender, read_body};
use crate::dispatch::{blocking, peer};
use crate::problem::Problem;
use crate::state::State;
use axum::extract::{RawPathParams, Request, State as Shared};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use oneiro::contract::{Form, Reading, Request as Contract, decode};
use oneiro::{
    ActorSurface, ChangedMemory, DreamId, Error, ErrorKind, MemoryPatch, MergeRequest, Oneiro,
    OperationId, Result, RevisionId, ShowMemory, SupersedeRequest, TokenRole, UnmuteRequest,
};
use oneiro_mcp::run_cancellable;
use oneiro_page::problem::ProblemView;
use oneiro_page::{Frame, LocalPath};
use serde_json::{Value, json};
use std::sync::Arc;

/// What became of a form.
pub(super) enum Outcome {
    /// It is recorded.
    Done(Option<OperationId>),
    /// Somebody else changed the memory first.
    ByOthers,
    /// Notes were changed, if there is a revision.
    Revision(Option<RevisionId>),
    /// The same, together with changes of others.
    Merged(Option<RevisionId>),
    /// A dream ran or was undone, if there is one.
    Dream(Option<DreamId>),
    /// It is answered with a page, made from the frame of the space.
    Page(StatusCode, Box<dyn FnOnce(Frame) -> String>),
}

/// Changes a memory as a form asks.
pub(super) async fn change(
    Shared(state): Shared<Arc<State>>,
    path: RawPathParams,
    request: Request,
) -> Response {
    handle_form(state, path, request, |form, oneiro| {
        if form.part(1) == "unmute" {
            let unmute = UnmuteRequest { project: form.field("project") };
            oneiro.memories().unmute(form.part(0), &unmute)?;
            return Ok(Outcome::Done(None));
        }
        if form.is_stale(oneiro)? {
            return Ok(Outcome::ByOthers);
        }
        match apply(form, oneiro) {
            Ok(changed) => Ok(Outcome::Done(changed.operation)),
            // Somebody was faster between the check and the change.
            Err(error) if error.kind() == ErrorKind::Conflict && form.is_stale(oneiro)? => {
                Ok(Outcome::ByOthers)
            }
            Err(error) => Err(error),
        }
    })
    .await
}

/// Undoes an operation or a group.
pub(super) async fn undo(
    Shared(state): Shared<Arc<State>>,
    path: RawPathParams,
    request: Request,
) -> Response {
    handle_form(state, path, request, |form, oneiro| {
        let undone = oneiro.operations().undo(form.part(0), form.field("reason"))?;
        Ok(Outcome::Done(undone.operations.into_iter().next().map(|operation| operation.id)))
    })
    .await
}

fn apply(form: &PostedForm, oneiro: &Oneiro) -> Result<ChangedMemory> {
    let (memories, id, reason) = (oneiro.memories(), form.part(0), form.field("reason"));
    let now = oneiro.now();
    match form.part(1) {
        "promote" => memories.promote(id, reason),
        "reject" => memories.reject(id, reason),
        "confirm" => memories.confirm(id, reason),
        "forget" => memories.forget(id, reason),
        "edit" => memories.edit(id, patch(form, oneiro)?),
        "merge" => {
            let fields = json!({"into": form.field("into"), "reason": reason});
            memories.merge(id, decoded::<MergeRequest>(fields, now)?)
        }
        "supersede" => {
            let fields = json!({
                "content": form.field("content"),
                "by": form.field("by"),
                "reason": reason,
            });
            memories.supersede(id, decoded::<SupersedeRequest>(fields, now)?)
        }
        other => Err(super::not_found(&format!("action {other:?}"))),
    }
}

/// What a form changes. Fields that are as they were are left alone: a browser does not send them
/// back as they are, and a tag may hold a comma.
fn patch(form: &PostedForm, oneiro: &Oneiro) -> Result<MemoryPatch> {
    let memory = oneiro.memories().show(form.part(0), &ShowMemory::default())?.memory;
    let (content, tags) = (form.field("content"), form.field("tags").unwrap_or_default());
    let is_same = content.as_deref() == Some(normalised(&memory.content).as_str());
    let names = tags.split(',').map(str::trim).filter(|tag| !tag.is_empty());
    let fields = json!({
        "content": content.filter(|_| !is_same),
        "kind": form.field("kind"),
        "subject": form.field("subject"),
        "project": form.field("project"),
        "tags": (tags != memory.tags.join(", ")).then(|| names.collect::<Vec<_>>()),
        "reason": form.field("reason"),
    });
    decoded(fields, oneiro.now())
}

/// Text with line breaks as one character: browsers send two.
fn normalised(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// Reads fields by the contract of the API; null clears a value where it may.
fn decoded<R: Contract>(fields: Value, now: oneiro::Timestamp) -> Result<R> {
    let Value::Object(mut fields) = fields else {
        return Err(Error::internal("the fields of a form are no object"));
    };
    let clears = ["subject", "project"];
    fields.retain(|name, value| !value.is_null() || clears.contains(&name.as_str()));
    Ok(decode(fields, Reading { form: Form::Json, now })?.request)
}

/// A form that was received.
pub(super) struct PostedForm {
    path_parts: Vec<String>,
    body: Received,
}

impl PostedForm {
    pub(super) fn part(&self, at: usize) -> &str {
        self.path_parts.get(at).map(String::as_str).unwrap_or_default()
    }

    /// The value of a field, unless it is empty.
    pub(super) fn field(&self, name: &str) -> Option<String> {
        let text = normalised(&login::field(&self.body, name)?).replace('\0', "");
        Some(text).filter(|text| !text.trim().is_empty())
    }

    /// The page to return to.
    fn next(&self) -> LocalPath {
        self.field("next").and_then(|text| LocalPath::parse(&text)).unwrap_or_default()
    }

    /// Whether the memory is no longer as the form saw it.
    fn is_stale(&self, oneiro: &Oneiro) -> Result<bool> {
        let memory = oneiro.memories().show(self.part(0), &ShowMemory::default())?.memory;
        Ok(self.field("seen").is_some_and(|seen| memory.updated_at.to_string() != seen))
    }
}

pub(super) async fn handle_form(
    state: Arc<State>,
    path: RawPathParams,
    request: Request,
    work: fn(&PostedForm, &Oneiro) -> Result<Outcome>,
) -> Response {
    let path_parts = path.iter().map(|(_, value)| value.to_owned()).collect();
    match try_form(state, path_parts, request, work).await {
        Ok(response) => response,
        Err(problem) if problem.error.kind() == ErrorKind::Unauthorized => {
            login::redirect("/login")
        }
        Err(failed) => problem(&failed),
    }
}

async fn try_form(
    state: Arc<State>,
    path_parts: Vec<String>,
    request: Request,
    work: fn(&PostedForm, &Oneiro) -> Result<Outcome>,
) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    check_sender(&parts.headers)?;
    let credentials = Credentials::read(&parts.headers, peer(&parts))?.at(ActorSurface::Page);
    let entering = Arc::clone(&state);
    let visitor = blocking(move || {
        let visitor = entering.auth.authenticate(&entering.spaces, &credentials)?;
        visitor.role.require(TokenRole::Write)?;
        Ok(visitor)
    })
    .await?;
    let sender = Sender { role: visitor.role, is_body_used: true };
    let body = read_body((&state, sender), &parts.headers, body).await?;
    let form = PostedForm { path_parts, body };
    Ok(run_cancellable(move |cancel| {
        let visitor = visitor.cancelled_by(cancel)?;
        let token = form.field("form_token").unwrap_or_default();
        let done = state.form_tokens.check(&visitor, &token);
        let done = done.and_then(|()| work(&form, visitor.oneiro()?));
        match done {
            Ok(Outcome::Page(status, page)) => {
                let address = Address { path_parts: Vec::new(), query: String::new() };
                let request = ViewRequest::new(state, visitor, address, false)?;
                Ok(html(status, page(request.frame)))
            }
            Ok(outcome) => Ok(login::redirect(&return_address(&form, outcome))),
            Err(error) => refused(state, visitor, &form, error),
        }
    })
    .await?)
}

/// The page to return to, with what the form did.
fn return_address(form: &PostedForm, outcome: Outcome) -> String {
    let next = form.next();
    let (name, value) = match outcome {
        Outcome::Done(None)
        | Outcome::Revision(None)
        | Outcome::Merged(None)
        | Outcome::Dream(None)
        | Outcome::Page(..) => return next.to_string(),
        Outcome::Dream(Some(id)) => return format!("/dreams/{id}"),
        Outcome::Done(Some(id)) => (DID, id.to_string()),
        Outcome::Revision(Some(id)) => (CHANGED, id.to_string()),
        Outcome::Merged(Some(id)) => (MERGED, id.to_string()),
        Outcome::ByOthers => (BY_OTHERS, form.part(0).to_owned()),
    };
    let mark = if next.as_str().contains('?') { '&' } else { '?' };
    format!("{next}{mark}{name}={}", crate::call::segment(&value))
}

/// The error in the frame of the space, with a way back.
fn refused(
    state: Arc<State>,
    visitor: Authenticated,
    form: &PostedForm,
    error: Error,
) -> Result<Response> {
    let address = Address { path_parts: Vec::new(), query: String::new() };
    let request = ViewRequest::new(state, visitor, address, false)?;
    let status = StatusCode::from_u16(error.http_status()).unwrap_or(StatusCode::BAD_REQUEST);
    let back = Some(form.next());
    let view = ProblemView { frame: request.frame.clone(), error, back };
    Ok(html(status, oneiro_page::problem::page(&view)))
}

/// Refuses what no form of a browser sends. Browsers name the origin of every form, which was
/// compared with this server before; programs use the API, where they are not taken for a person.
fn check_sender(headers: &HeaderMap) -> Result<()> {
    let site = headers.get("sec-fetch-site").map(|site| site.as_bytes());
    let is_form = headers.contains_key(header::ORIGIN)
        && !headers.contains_key(header::AUTHORIZATION)
        && site.is_none_or(|site| site == b"same-origin");
    if is_form {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Forbidden, "only a form of this page may be sent here")
        .remedy("programs use the API, which /openapi.json describes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_forms_of_the_page_are_accepted() {
        let own = [("origin", "http://localhost:4747")];
        let cases: [(&[(&'static str, &str)], bool); 5] = [
            (&own, true),
            (&[own[0], ("sec-fetch-site", "same-origin")], true),
            (&[own[0], ("sec-fetch-site", "same-site")], false),
            (&[own[0], ("authorization", "Bearer x")], false),
            (&[], false),
        ];
        for (pairs, is_accepted) in cases {
            let mut headers = HeaderMap::new();
            for (name, value) in pairs {
                headers.insert(*name, value.parse().unwrap());
            }
            assert_eq!(check_sender(&headers).is_ok(), is_accepted, "{pairs:?}");
        }
    }
}
