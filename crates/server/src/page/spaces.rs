//! Spaces on the page: the list of them, and the cookie that says which one is shown.

use super::login::{field, redirect};
use super::view_request::ViewRequest;
use crate::auth::Cookie;
use crate::body::read_form;
use crate::state::State;
use axum::extract::{Request, State as Shared};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use oneiro::{Result, SpaceName};
use oneiro_page::spaces::SpacesView;
use std::sync::Arc;

/// How long a space stays chosen, in seconds: a year.
const CHOSEN_SECONDS: u64 = 31_536_000;

/// The list.
pub(super) fn list(request: &ViewRequest) -> Result<String> {
    let spaces = request.state.spaces.visible_to(request.visitor())?;
    let view = SpacesView { frame: request.frame.clone(), spaces };
    Ok(request.render(&view, oneiro_page::spaces::page, oneiro_page::spaces::fragment))
}

/// Switches to the space that a form names. Whether it exists is found when it is shown.
pub(super) async fn switch(Shared(state): Shared<Arc<State>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = match read_form(&state, &parts.headers, body).await {
        Ok(body) => body,
        Err(problem) => return problem.into_response(),
    };
    match SpaceName::new(&field(&body, "space").unwrap_or_default()) {
        Ok(space) => {
            let mut response = redirect("/");
            set_cookie(&mut response, &parts.headers, space.as_str(), CHOSEN_SECONDS);
            response
        }
        Err(error) => super::problem(&error.into()),
    }
}

/// Removes the choice from a browser.
pub(super) fn forget(response: &mut Response, headers: &HeaderMap) {
    set_cookie(response, headers, "", 0);
}

fn set_cookie(response: &mut Response, headers: &HeaderMap, space: &str, seconds: u64) {
    let name = Cookie::Space.name(headers);
    let cookie = format!("{name}={space}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict");
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
}
