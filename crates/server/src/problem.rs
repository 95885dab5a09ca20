//! Errors as RFC 9457 problems: the one table of kinds says the status, and what only HTTP knows (a
//! method that is not there, a type that is not JSON) has a status of its own.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use oneiro::{Error, ErrorKind};
use serde_json::{Map, Value, json};
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

impl Problem {
    /// A problem that only HTTP knows.
    pub(crate) fn of(status: StatusCode, error: Error) -> Problem {
        Problem { error, status, allow: None }
    }

    /// What is said in JSON.
    pub(crate) fn json(&self) -> Value {
        let kind = self.error.kind().name();
        let mut body = Map::from_iter([
            ("type".to_owned(), json!(format!("urn:oneiro:problem:{kind}"))),
            ("title".to_owned(), json!(self.status.canonical_reason().unwrap_or("Error"))),
            ("status".to_owned(), json!(self.status.as_u16())),
            ("kind".to_owned(), json!(kind)),
            ("detail".to_owned(), json!(cut(self.error.message()))),
        ]);
        if let Some(field) = self.error.field_name() {
            body.insert("field".to_owned(), json!(cut(field)));
        }
        if let Some(remedy) = self.error.remedy_text() {
            body.insert("remedy".to_owned(), json!(cut(remedy)));
        }
        Value::Object(body)
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
        let body = self.json().to_string();
        let mut response = ([(header::CONTENT_TYPE, HeaderValue::from_static(PROBLEM_JSON))], body)
            .into_response();
        self.dress(&mut response);
        response
    }
}
