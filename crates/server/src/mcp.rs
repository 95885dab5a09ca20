//! MCP over HTTP, with the same authentication, space and role as the API.

use crate::auth::Credentials;
use crate::body::{Sender, read_body};
use crate::dispatch::{blocking, peer};
use crate::problem::Problem;
use crate::state::State;
use axum::body::Body;
use axum::extract::{Request, State as Shared};
use axum::http::Method;
use axum::response::{IntoResponse, Response};
use oneiro::ActorSurface;
use oneiro_mcp::{Caller, OverHttp};
use std::sync::Arc;
use tower::ServiceExt;

/// Answers one request.
pub(crate) async fn mcp(
    tools: OverHttp,
    Shared(state): Shared<Arc<State>>,
    request: Request,
) -> Response {
    match answer(tools, state, request).await {
        Ok(response) => response,
        Err(problem) => problem.into_response(),
    }
}

async fn answer(tools: OverHttp, state: Arc<State>, request: Request) -> Result<Response, Problem> {
    let (mut parts, body) = request.into_parts();
    let credentials = Credentials::read(&parts.headers, peer(&parts))?.at(ActorSurface::Mcp);
    let entering = Arc::clone(&state);
    // Refuse before reading a body in vain.
    let visitor =
        blocking(move || entering.auth.authenticate(&entering.spaces, &credentials)).await?;
    let sender = Sender { role: visitor.role, is_body_used: parts.method == Method::POST };
    let body = read_body((&state, sender), &parts.headers, body).await?;
    // No await between here and the tools, which drop the caller where blocking is allowed.
    let oneiro = visitor.space.oneiro()?.clone();
    let caller = Caller { oneiro, role: visitor.role, actor: visitor.actor };
    parts.extensions.insert(caller);
    let answered = tools.oneshot(Request::from_parts(parts, Body::from(body.clone()))).await;
    Ok(answered.map_or_else(|never| match never {}, |answer| answer.map(Body::new)))
}
