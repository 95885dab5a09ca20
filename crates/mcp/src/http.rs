//! MCP over streamable HTTP: stateless, answered with JSON. Authentication happens before: it leaves
//! a [`Caller`] in the request and has checked Host and Origin.

use crate::caller::Held;
use crate::{Caller, Mcp, ModelPermits};
use http::{Request, Response, StatusCode, header};
use http_body::Body;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use oneiro::ErrorKind;
use rmcp::transport::StreamableHttpService;
use rmcp::transport::streamable_http_server::StreamableHttpServerConfig;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use std::convert::Infallible;
use std::fmt::Display;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tower_service::Service;

/// Maximum size of a request; a call of a tool has a few hundred bytes.
const REQUEST_BYTES_MAX: usize = 4 << 20;

type HttpResponse = Response<BoxBody<bytes::Bytes, Infallible>>;

/// A service to mount at `/mcp`. It needs a [`Caller`] in the extensions of each request and
/// answers 401 without one.
///
/// No protocol session is kept, which every version allows: any node behind a load balancer can
/// answer any request, and nothing is left of a client that disconnects. Calls that may call a model
/// wait for a permit of `models`.
pub fn http_service(models: ModelPermits) -> OverHttp {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(REQUEST_BYTES_MAX)
        .disable_allowed_hosts()
        .disable_allowed_origins();
    let handler = move || Ok(Mcp::of_each_request(models.clone()));
    let sessions = Arc::new(NeverSessionManager::default());
    OverHttp { inner: StreamableHttpService::new(handler, sessions, config) }
}

/// The service that [`http_service`] returns.
#[derive(Clone)]
pub struct OverHttp {
    inner: StreamableHttpService<Mcp, NeverSessionManager>,
}

impl<B> Service<Request<B>> for OverHttp
where
    B: Body + Send + 'static,
    B::Data: Send + 'static,
    B::Error: Display,
{
    type Response = HttpResponse;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<HttpResponse, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        let Some(caller) = request.extensions_mut().remove::<Caller>() else {
            return Box::pin(std::future::ready(Ok(unauthorized())));
        };
        request.extensions_mut().insert(Arc::new(Held::new(caller)));
        let inner = self.inner.clone();
        Box::pin(async move { Ok(inner.handle(request).await) })
    }
}

fn unauthorized() -> HttpResponse {
    let row = ErrorKind::Unauthorized.row();
    let problem = serde_json::json!({
        "status": row.http,
        "kind": row.name,
        "title": "authentication required",
        "detail": "send a token: Authorization: Bearer TOKEN",
    });
    let mut response = Response::new(Full::from(problem.to_string()).boxed());
    *response.status_mut() = StatusCode::UNAUTHORIZED;
    let kind = header::HeaderValue::from_static("application/problem+json");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    let how = header::HeaderValue::from_static("Bearer");
    response.headers_mut().insert(header::WWW_AUTHENTICATE, how);
    response
}
