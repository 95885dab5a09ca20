//! All routes, and what wraps them: the site check, request ids, metrics, security headers and
//! compression.

use crate::api::{ENDPOINTS, Verb};
use crate::auth::Credentials;
use crate::dispatch::{blocking, dispatch, peer};
use crate::metrics::RequestRecord;
use crate::problem::Problem;
use crate::readiness::public_reason;
use crate::state::State;
use crate::{mcp, openapi, page};
use axum::Router;
use axum::extract::{MatchedPath, Request, State as Shared};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter, any, get};
use oneiro::{BackgroundMonitor, Error, ErrorKind, SpaceUse, SystemClock, TokenRole};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;
use tower_http::compression::CompressionLayer;
use tracing::Instrument;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Responses must not be embedded by other sites.
const SAME_ORIGIN: (HeaderName, &str) =
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin");

/// Maximum length of a request id chosen by the caller.
const REQUEST_ID_CHARS: usize = 64;

pub(crate) fn router(state: Arc<State>) -> Router {
    let mut router = Router::new()
        .route("/healthz", get(healthz))
        .route("/readyz", get(readyz))
        .route("/metrics", get(metrics))
        .route("/openapi.json", get(openapi_json));
    let tools = oneiro_mcp::http_service(state.models.clone());
    let mcp = move |state, request| mcp::mcp(tools.clone(), state, request);
    router = router.route("/mcp", any(mcp));
    let mut paths: BTreeMap<&'static str, MethodRouter<Arc<State>>> = BTreeMap::new();
    for endpoint in ENDPOINTS.iter() {
        let filter = match endpoint.verb {
            Verb::Get => MethodFilter::GET,
            Verb::Post => MethodFilter::POST,
            Verb::Put => MethodFilter::PUT,
            Verb::Patch => MethodFilter::PATCH,
            Verb::Delete => MethodFilter::DELETE,
        };
        let answer = move |Shared(state): Shared<Arc<State>>, request: Request| {
            dispatch(endpoint, state, request)
        };
        let route = paths.remove(endpoint.path).unwrap_or_default().on(filter, answer);
        paths.insert(endpoint.path, route);
    }
    for (path, route) in paths {
        router = router.route(path, route);
    }
    router
        .merge(page::routes())
        .fallback(nothing_here)
        .method_not_allowed_fallback(wrong_method)
        .layer(CompressionLayer::new())
        .layer(from_fn_with_state(Arc::clone(&state), around))
        .with_state(state)
}

/// Wraps every request.
async fn around(Shared(state): Shared<Arc<State>>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let id = request_id(&request);
    let method = method_name(request.method());
    let route = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let route = known_route(route.as_deref());
    let span = tracing::info_span!("request", id = %id.to_str().unwrap_or_default(), method, route);
    let mut response = async {
        match state.auth.check_site(request.headers(), request.uri()) {
            Ok(()) => next.run(request).await,
            Err(error) => Problem::from(error).into_response(),
        }
    }
    .instrument(span.clone())
    .await;
    let took = started.elapsed();
    let status = response.status().as_u16();
    let now = oneiro::Clock::now(&SystemClock);
    state.metrics.count(RequestRecord { method, route, status, took }, now);
    span.in_scope(|| tracing::debug!(status, took = ?took, "answered"));
    let headers = response.headers_mut();
    headers.insert(REQUEST_ID, id);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(SAME_ORIGIN.0, HeaderValue::from_static(SAME_ORIGIN.1));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers
        .entry(header::CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"));
    response
}

/// The caller's request id if it is valid, otherwise a new one.
fn request_id(request: &Request) -> HeaderValue {
    let given = request.headers().get(&REQUEST_ID).filter(|id| {
        let bytes = id.as_bytes();
        (1..=REQUEST_ID_CHARS).contains(&bytes.len()) && bytes.iter().all(u8::is_ascii_graphic)
    });
    given.cloned().unwrap_or_else(|| {
        let random = oneiro::Ids::random(&oneiro::RandomIds);
        let id = random.iter().fold(String::from("req_"), |id, byte| id + &format!("{byte:02x}"));
        HeaderValue::from_str(&id).unwrap_or(HeaderValue::from_static("req"))
    })
}

fn method_name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::PATCH => "PATCH",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        Method::HEAD => "HEAD",
        _ => "OTHER",
    }
}

/// The route as a metrics label: arbitrary paths must not become labels.
fn known_route(matched: Option<&str>) -> &'static str {
    let Some(matched) = matched else { return "none" };
    let api = ENDPOINTS.iter().map(|endpoint| endpoint.path);
    api.chain(page::ROUTES.iter().copied())
        .chain(["/healthz", "/readyz", "/metrics", "/openapi.json", "/mcp"])
        .find(|path| *path == matched)
        .unwrap_or("none")
}

/// Reports that the process is alive.
async fn healthz() -> Response {
    axum::Json(serde_json::json!({"status": "ok"})).into_response()
}

/// Reports whether the store is readable and the background work runs.
async fn readyz(Shared(state): Shared<Arc<State>>) -> Response {
    let lanes = state.background.get().map(BackgroundMonitor::status).unwrap_or_default();
    if let Some(dead) = lanes.iter().find(|lane| !lane.is_alive) {
        let what = format!("not ready: the background thread {:?} does not run", dead.lane);
        let error = Error::new(ErrorKind::Unavailable, what).remedy("restart the server");
        return Problem::of(StatusCode::SERVICE_UNAVAILABLE, error).into_response();
    }
    let shared = Arc::clone(&state);
    let checked = state.readiness.check(move || {
        let space = shared.spaces.space(shared.spaces.first(), SpaceUse::MustExist)?;
        space.oneiro()?.settings().list().map(|_| ())
    });
    match checked.await {
        Ok(()) => axum::Json(serde_json::json!({"status": "ready"})).into_response(),
        Err(error) => {
            tracing::warn!(error = ?error, "the store cannot be read");
            // The endpoint is public, so the location of the store is only in the log.
            let what = format!("not ready: {}", public_reason(&error));
            let error = Error::new(ErrorKind::Unavailable, what);
            Problem::of(StatusCode::SERVICE_UNAVAILABLE, error).into_response()
        }
    }
}

/// Metrics for Prometheus; a token sees only its own space.
async fn metrics(Shared(state): Shared<Arc<State>>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let credentials = Credentials::read(&parts.headers, peer(&parts));
    let text = blocking(move || {
        let visitor = state.auth.authenticate(&state.spaces, &credentials?)?;
        visitor.role.require(TokenRole::Read)?;
        let spaces = match visitor.token {
            Some(token) => vec![(token.space().clone(), visitor.space)],
            None => state.spaces.all(),
        };
        let background = state.background.get().map(BackgroundMonitor::status);
        state.metrics.text(&spaces, &background.unwrap_or_default())
    });
    match text.await {
        Ok(text) => {
            let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
            ([(header::CONTENT_TYPE, HeaderValue::from_static(kind))], text).into_response()
        }
        Err(error) => Problem::from(error).into_response(),
    }
}

async fn openapi_json() -> Response {
    let kind = HeaderValue::from_static("application/json");
    ([(header::CONTENT_TYPE, kind)], openapi::text()).into_response()
}

async fn nothing_here(request: Request) -> Response {
    let path: String = request.uri().path().chars().take(200).collect();
    let error = Error::not_found(format!("there is nothing at {path}"))
        .remedy("/openapi.json describes every endpoint");
    if page::wants_page(request.headers()) && !path.starts_with("/v1/") {
        page::problem(&error.into())
    } else {
        Problem::from(error).into_response()
    }
}

async fn wrong_method(request: Request) -> Response {
    let path = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let verbs = ENDPOINTS.iter().filter(|endpoint| Some(endpoint.path) == path.as_deref());
    let mut verbs: Vec<&str> = verbs.map(|endpoint| endpoint.verb.as_str()).collect();
    let error = Error::invalid(format!("{} is not allowed here", request.method())).remedy(
        format!("use {}", if verbs.is_empty() { "GET".into() } else { verbs.join(" or ") }),
    );
    let mut problem = Problem::of(StatusCode::METHOD_NOT_ALLOWED, error);
    if verbs.contains(&"GET") {
        verbs.push("HEAD");
    }
    problem.allow = Some(if verbs.is_empty() { "GET, HEAD".into() } else { verbs.join(", ") });
    problem.into_response()
}
