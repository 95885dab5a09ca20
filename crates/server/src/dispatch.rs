//! What happens around every endpoint: read the body within its limits, authenticate, check the
//! role, call the handler where blocking is allowed, and turn errors into problems.

use crate::api::{Endpoint, Run, events, export};
use crate::auth::Credentials;
use crate::body::{Sender, read_body, unfold};
use crate::call::Call;
use crate::peer::Peer;
use crate::problem::Problem;
use crate::state::State;
use axum::extract::{FromRequestParts, RawPathParams, Request};
use axum::http::{HeaderMap, StatusCode, header, request::Parts};
use axum::response::{IntoResponse, Response};
use oneiro::{Error, Result};
use oneiro_mcp::run_cancellable;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

/// Answers one request to an endpoint.
pub(crate) async fn dispatch(
    endpoint: &'static Endpoint,
    state: Arc<State>,
    request: Request,
) -> Response {
    match answer(endpoint, state, request).await {
        Ok(response) => response,
        Err(problem) => problem.into_response(),
    }
}

async fn answer(
    endpoint: &'static Endpoint,
    state: Arc<State>,
    request: Request,
) -> Result<Response, Problem> {
    let (mut parts, body) = request.into_parts();
    let path = path_parts(&mut parts).await?;
    let credentials = Credentials::read(&parts.headers, peer(&parts))?;
    let query = parts.uri.query().unwrap_or_default().to_owned();
    let credentials = credentials.using(endpoint.creates_space.space_use(&query));
    if endpoint.body.is_some() {
        check_type(&parts.headers)?;
    }
    // Refuse before reading a body in vain.
    let entering = Arc::clone(&state);
    let visitor = blocking(move || {
        let visitor = entering.auth.authenticate(&entering.spaces, &credentials)?;
        visitor.role.require(endpoint.role)?;
        Ok(visitor)
    })
    .await?;
    let sender = Sender { role: visitor.role, is_body_used: endpoint.body.is_some() };
    let body = read_body((&state, sender), &parts.headers, body).await?;
    let body = unfold((&state, sender), body).await?;
    let if_match = parts.headers.get(header::IF_MATCH).and_then(|value| value.to_str().ok());
    let if_match = if_match.map(str::to_owned);
    let call = Call { state, visitor, path, query, body, if_match };
    match &endpoint.run {
        Run::Call(run) => {
            // Waiting here holds no thread, so requests that need no model proceed.
            let permit = if endpoint.model.is_needed(&call.body) {
                Some(call.state.models.acquire().await?)
            } else {
                None
            };
            let answer = run_cancellable(move |cancel| {
                let _permit = permit;
                let call = call.cancelled_by(cancel)?;
                let answer = run(&call)?;
                // Until here the request ran on an empty scratch space.
                match call.in_created_space()? {
                    Some(call) => run(&call.cancelled_by(cancel)?),
                    None => Ok(answer),
                }
            });
            Ok(answer.await?.into_response())
        }
        Run::Events => events(call, &parts.headers).await,
        Run::Export => export(call).await,
    }
}

/// The path parameters, unescaped.
async fn path_parts(parts: &mut Parts) -> Result<Vec<(String, String)>> {
    let found = RawPathParams::from_request_parts(parts, &())
        .await
        .map_err(|_| Error::invalid("the path is not percent-encoded UTF-8"))?;
    Ok(found.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

/// The address of the client.
pub(crate) fn peer(parts: &Parts) -> IpAddr {
    parts.extensions.get::<Peer>().map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |peer| peer.0.ip())
}

/// A body must be declared as JSON, which a form on another site cannot do.
fn check_type(headers: &HeaderMap) -> Result<(), Problem> {
    let Some(kind) = headers.get(header::CONTENT_TYPE) else {
        let has_body = headers.contains_key(header::TRANSFER_ENCODING)
            || headers.get(header::CONTENT_LENGTH).is_some_and(|length| length != "0");
        return if has_body { Err(not_json("nothing")) } else { Ok(()) };
    };
    let kind = kind.to_str().unwrap_or_default();
    let plain = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_json = plain == "application/json"
        || (plain.starts_with("application/") && plain.ends_with("+json"));
    if is_json { Ok(()) } else { Err(not_json(&plain)) }
}

fn not_json(kind: &str) -> Problem {
    let error = Error::invalid(format!("the Content-Type of the body is {kind}, not JSON"))
        .remedy("send the header Content-Type: application/json");
    Problem::of(StatusCode::UNSUPPORTED_MEDIA_TYPE, error)
}

/// Runs an engine call where blocking is allowed, and drops what it captured there.
pub(crate) async fn blocking<T: Send + 'static>(
    call: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(call)
        .await
        .unwrap_or_else(|error| Err(Error::internal("a call panicked").because(error)))
}
