//! Errors as RFC 9457 problems: the one table of kinds says the status, and what only HTTP knows (a
//! method that is not there, a type that is not JSON) has a status of its own.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use oneiro::{Error, ErrorKind, Surface};
use schemars::JsonSchema;
use serde::Serialize;
use std::borrow::Cow;

/// The media type of a problem.
pub(crate) const PROBLEM_JSON: &str = "application/problem+json";

/// Characters of a problem's detail.
const SHOWN: usize = 2_000;

/// An error on its way out.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) error: Error,
    pub(crate) status: StatusCode,
    /// Methods that would be taken, when this one is not.
    pub(crate) allow: Option<String>,
}

/// A problem as RFC 9457 describes one, with what Oneiro adds.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Problem")]
pub(crate) struct ProblemJson {
    /// A name of the kind of problem.
    r#type: String,
    /// The status in words.
    title: String,
    /// The HTTP status.
    status: u16,
    /// What the caller can do about it.
    kind: ErrorKind,
    /// What is wrong.
    detail: String,
    /// The field of the request that is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<String>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

impl Problem {
    /// A problem that only HTTP knows.
    pub(crate) fn of(status: StatusCode, error: Error) -> Problem {
        Problem { error, status, allow: None }
    }

    /// What is said in JSON.
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

    /// Headers that go with it whatever its body.
    pub(crate) fn dress(&self, response: &mut Response) {
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

/// What somebody sent is shown back to them, but not all of sixteen megabytes.
fn cut(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(SHOWN) {
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
        self.dress(&mut response);
        response
    }
}
