//! Errors as RFC 9457 problems. The table of error kinds determines the status; errors that exist
//! only in HTTP (method not allowed, unsupported media type) have a status of their own.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use oneiro::{Error, ErrorKind, Surface};
use schemars::JsonSchema;
use serde::Serialize;
use std::borrow::Cow;

pub(crate) const PROBLEM_JSON: &str = "application/problem+json";

/// Maximum length of a problem's detail.
const DETAIL_CHARS_MAX: usize = 2_000;

/// An error to be sent.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) error: Error,
    pub(crate) status: StatusCode,
    /// Allowed methods, for 405.
    pub(crate) allow: Option<String>,
}

/// An RFC 9457 problem with Oneiro's extensions.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Problem")]
pub(crate) struct ProblemJson {
    /// A URI reference for the kind of problem.
    r#type: String,
    /// The status text.
    title: String,
    /// The HTTP status.
    status: u16,
    /// The error kind, by which a program decides what to do.
    kind: ErrorKind,
    /// What is wrong.
    detail: String,
    /// The invalid field of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<String>,
    /// How to fix it.
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

impl Problem {
    /// A problem that exists only in HTTP.
    pub(crate) fn of(status: StatusCode, error: Error) -> Problem {
        Problem { error, status, allow: None }
    }

    /// The JSON body.
    pub(crate) fn json(&self) -> ProblemJson {
        let kind = self.error.kind();
        ProblemJson {
            r#type: format!("urn:oneiro:problem:{}", kind.name()),
            title: self.status.canonical_reason().unwrap_or("Error").to_owned(),
            status: self.status.as_u16(),
            kind,
            detail: cut(self.error.message()).into_owned(),
            field: self.error.field_name().map(|field| cut(field).into_owned()),
            remedy: self.error.remedy_for(Surface::Http).map(|remedy| cut(&remedy).into_owned()),
        }
    }

    /// Adds the headers of the problem.
    pub(crate) fn add_headers(&self, response: &mut Response) {
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        if self.error.is_retryable() {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        let allow = self.allow.as_deref().and_then(|allow| HeaderValue::from_str(allow).ok());
        if let Some(allow) = allow {
            headers.insert(header::ALLOW, allow);
        }
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
}

/// The detail may quote the request, but not megabytes of it.
fn cut(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(DETAIL_CHARS_MAX) {
        Some((at, _)) => Cow::Owned(format!("{}...", text.get(..at).unwrap_or_default())),
        None => Cow::Borrowed(text),
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Problem {
        let status = StatusCode::from_u16(error.http_status());
        let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        if status.is_server_error() && error.kind() != ErrorKind::Busy {
            tracing::error!(error = ?error, "a request failed");
        }
        Problem::of(status, error)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = serde_json::to_vec(&self.json()).unwrap_or_default();
        let mut response = ([(header::CONTENT_TYPE, HeaderValue::from_static(PROBLEM_JSON))], body)
            .into_response();
        self.add_headers(&mut response);
        response
    }
}
