//! The web page over HTTP: decodes the address, calls the engine, and renders the answer with
//! `oneiro-page`. Everything it does can be done through the API.

mod assets;
mod context;
mod decisions;
mod dreams;
mod form_token;
mod login;
mod memories;
mod note_forms;
mod notes;
mod overview;
mod packs;
mod search;
mod sessions;
mod spaces;
mod view_request;

pub(crate) use form_token::FormTokens;

use crate::auth::{Authenticated, Credentials};
use crate::dispatch::peer;
use crate::problem::Problem;
use crate::state::State;
use axum::Router;
use axum::extract::{RawPathParams, Request, State as Shared};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use oneiro::{ActorSurface, Clock, Error, ErrorKind, Result, SystemClock, TokenRole};
use oneiro_mcp::run_cancellable;
use oneiro_page::Frame;
use std::sync::Arc;
use view_request::{Address, ViewRequest};

/// Only scripts, styles and connections of this server: no stored text can load anything.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; \
                      img-src 'self' data:; font-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Renders a view.
type View = fn(&ViewRequest) -> Result<String>;

/// The views and their paths.
const VIEWS: &[(&str, View)] = &[
    ("/", overview::overview),
    ("/search", search::search),
    ("/memories", memories::list),
    ("/memories/{id}", memories::memory),
    ("/notes", notes::list),
    ("/notes/{name}", notes::note),
    ("/notes/{name}/edit", notes::edit),
    ("/new-note", notes::create),
    ("/revisions/{id}", notes::revision),
    ("/dreams", dreams::list),
    ("/dreams/{id}", dreams::dream),
    ("/packs", packs::list),
    ("/packs/{id}", packs::pack),
    ("/review", memories::review),
    ("/sessions", sessions::list),
    ("/sessions/{id}", sessions::conversation),
    ("/sessions/{id}/summaries", context::summaries),
    ("/sessions/{id}/summaries/{summary}", context::summary),
    ("/sessions/{id}/window", context::window),
    ("/messages/{id}", sessions::message),
    ("/jobs", overview::jobs),
    ("/spaces", spaces::list),
];

/// The routes of the page, for metrics.
pub(crate) const ROUTES: &[&str] = &[
    "/",
    "/search",
    "/memories",
    "/memories/{id}",
    "/memories/{id}/{action}",
    "/operations/{id}/undo",
    "/notes",
    "/notes/{name}",
    "/notes/{name}/edit",
    "/notes/{name}/delete",
    "/new-note",
    "/revisions/{id}",
    "/revisions/{id}/undo",
    "/revisions/{id}/restore",
    "/dreams",
    "/dreams/{id}",
    "/dreams/{id}/undo",
    "/packs",
    "/packs/{id}",
    "/review",
    "/sessions",
    "/sessions/{id}",
    "/sessions/{id}/summaries",
    "/sessions/{id}/summaries/{summary}",
    "/sessions/{id}/window",
    "/messages/{id}",
    "/jobs",
    "/spaces",
    "/space",
    "/login",
    "/logout",
    "/assets/{name}",
];

/// The routes of the page.
pub(crate) fn routes() -> Router<Arc<State>> {
    let mut router = Router::new()
        .route("/login", get(login::form).post(login::login))
        .route("/logout", post(login::logout))
        .route("/space", post(spaces::switch))
        .route("/memories/{id}/{action}", post(decisions::change))
        .route("/operations/{id}/undo", post(decisions::undo))
        .route("/notes", post(note_forms::create))
        .route("/notes/{name}/edit", post(note_forms::write))
        .route("/notes/{name}/delete", post(note_forms::delete))
        .route("/revisions/{id}/undo", post(note_forms::undo))
        .route("/revisions/{id}/restore", post(note_forms::restore))
        .route("/dreams", post(dreams::start))
        .route("/dreams/{id}/undo", post(dreams::undo))
        .route("/assets/{name}", get(assets::asset));
    for (path, view) in VIEWS {
        let view = *view;
        let answer = move |Shared(state): Shared<Arc<State>>, parts: RawPathParams, request| {
            show(view, state, parts, request)
        };
        router = router.route(path, get(answer));
    }
    router
}

async fn show(view: View, state: Arc<State>, path: RawPathParams, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let is_fragment = parts.headers.contains_key("oneiro-fragment");
    let path_and_query = parts.uri.path_and_query().map_or("/", |it| it.as_str()).to_owned();
    let credentials = Credentials::read(&parts.headers, peer(&parts));
    let address = Address {
        path_parts: path.iter().map(|(_, value)| value.to_owned()).collect(),
        query: parts.uri.query().unwrap_or_default().to_owned(),
    };
    // Where no token is needed, a cookie with an invalid token is dropped instead of refused.
    let is_open = state.auth.is_open() && !parts.headers.contains_key(header::AUTHORIZATION);
    let rendered = run_cancellable(move |cancel| {
        let credentials = credentials?.at(ActorSurface::Page);
        let (visitor, notice) = authenticate(&state, credentials, is_fragment)?;
        visitor.role.require(TokenRole::Read)?;
        let visitor = visitor.cancelled_by(cancel)?;
        let forgets_space = notice.is_some();
        let request = ViewRequest::new(state, visitor, address, is_fragment)?.with_notice(notice);
        // Errors of a view are shown inside the frame of the space.
        Ok(match view(&request) {
            Ok(text) => (StatusCode::OK, text, forgets_space),
            Err(error) => {
                let problem = Problem::from(error);
                (problem.status, request.problem(problem.error), forgets_space)
            }
        })
    });
    match rendered.await {
        Ok((status, text, forgets_space)) => {
            let mut response = html(status, text);
            if forgets_space {
                spaces::forget(&mut response, &parts.headers);
            }
            response
        }
        Err(error) if error.kind() == ErrorKind::Unauthorized && !is_fragment => {
            if is_open {
                login::redirect_without_cookie(&path_and_query, &parts.headers)
            } else {
                login::redirect_to_login(&path_and_query, &parts.headers)
            }
        }
        Err(error) => problem(&error.into()),
    }
}

/// The visitor of a page. If the space that was chosen there cannot be opened, the default space is
/// shown with a notice that says so.
fn authenticate(
    state: &State,
    credentials: Credentials,
    is_fragment: bool,
) -> Result<(Authenticated, Option<String>)> {
    let unusable =
        [ErrorKind::NotFound, ErrorKind::Invalid, ErrorKind::Corrupt, ErrorKind::NewerSchema];
    let error = match state.auth.authenticate(&state.spaces, &credentials) {
        Ok(visitor) => return Ok((visitor, None)),
        Err(error) => error,
    };
    match credentials.without_chosen_space() {
        Some(default) if !is_fragment && unusable.contains(&error.kind()) => {
            let visitor = state.auth.authenticate(&state.spaces, &default)?;
            let shown = state.spaces.first();
            let notice = format!("{}. This is space {shown}.", error.message());
            Ok((visitor, Some(notice)))
        }
        _ => Err(error),
    }
}

/// An HTML response.
fn html(status: StatusCode, text: String) -> Response {
    let kind = HeaderValue::from_static("text/html; charset=utf-8");
    let mut response = (status, [(header::CONTENT_TYPE, kind)], text).into_response();
    let headers = response.headers_mut();
    headers
        .insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(CONTENT_SECURITY_POLICY));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Whether a browser asks for a page.
pub(crate) fn wants_page(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    accept.is_some_and(|accept| accept.contains("text/html"))
}

/// An error as a page of its own, outside any space.
pub(crate) fn problem(problem: &Problem) -> Response {
    let view = oneiro_page::problem::ProblemView {
        frame: frame_without_space(),
        error: problem.error.clone(),
        back: None,
    };
    let mut response = html(problem.status, oneiro_page::problem::page(&view));
    problem.add_headers(&mut response);
    response
}

/// The frame of a page that belongs to no space.
fn frame_without_space() -> Frame {
    Frame {
        space: String::new(),
        notice: None,
        signed_in: false,
        form_token: None,
        now: SystemClock.now(),
    }
}

/// The error for a path that names nothing.
fn not_found(what: &str) -> Error {
    Error::not_found(format!("there is no {what}"))
}
