//! The web page over HTTP: decode, call the engine, and let `oneiro-page` draw what came back.

use crate::problem::Problem;
use crate::state::State;
use axum::Router;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use std::sync::Arc;

/// The routes of the page, as figures know them.
pub(crate) const ROUTES: &[&str] = &[];

/// The routes of the page.
pub(crate) fn routes() -> Router<Arc<State>> {
    Router::new()
}

/// Whether a browser asks for something to look at.
pub(crate) fn wants_page(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    accept.is_some_and(|accept| accept.contains("text/html"))
}

/// An error as a page.
pub(crate) fn problem(problem: &Problem) -> Response {
    problem.json().to_string().into_response()
}
