//! One call of the API as its handlers see it: who calls, what the path, the query string and the
//! body say; and the answer to it.

use crate::auth::Visitor;
use crate::body::Received;
use crate::decode;
use crate::state::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use oneiro::contract::Request;
use oneiro::contract::schema::EXACT_INTEGER_MAX;
use oneiro::{Cancel, Error, MessageId, Oneiro, Result, SessionId};
use serde::Serialize;
use std::sync::Arc;

/// One call.
pub(crate) struct Call {
    pub(crate) state: Arc<State>,
    pub(crate) visitor: Visitor,
    /// The parts of the path that the table leaves open, unescaped.
    pub(crate) path: Vec<(String, String)>,
    /// The query string as it came.
    pub(crate) query: String,
    pub(crate) body: Received,
}

impl Call {
    pub(crate) fn oneiro(&self) -> Result<&Oneiro> {
        self.visitor.oneiro()
    }

    /// The same, whose long work ends once `cancel` is set.
    pub(crate) fn cancelled_by(self, cancel: &Cancel) -> Result<Call> {
        let visitor = self.visitor.cancelled_by(cancel)?;
        Ok(Call { visitor, ..self })
    }

    pub(crate) fn part(&self, name: &str) -> Result<&str> {
        let found = self.path.iter().find(|(there, _)| there == name);
        found
            .map(|(_, value)| value.as_str())
            .ok_or_else(|| Error::internal(format!("the path has no {name}")))
    }

    /// The session that the path names.
    pub(crate) fn session(&self) -> Result<SessionId> {
        SessionId::new(self.part("id")?)
    }

    /// The message that a part of the path names.
    pub(crate) fn message(&self, name: &'static str) -> Result<MessageId> {
        let text = self.part(name)?;
        let id = text.parse().ok().filter(|id| (1..=EXACT_INTEGER_MAX).contains(id)).map(MessageId);
        id.ok_or_else(|| Error::field(name, format!("{text:?} is not the number of a message")))
    }

    /// The request that the query string holds.
    pub(crate) fn query_as<R: Request>(&self) -> Result<R> {
        decode::query(&self.query, self.oneiro()?.now())
    }

    /// The request that the body holds.
    pub(crate) fn body_as<R: Request>(&self) -> Result<R> {
        decode::body(&self.body, self.oneiro()?.now())
    }
}

/// The answer of a handler.
#[derive(Debug)]
pub(crate) struct Answer<A> {
    value: A,
    /// Where what was created is.
    location: Option<String>,
}

impl<A> Answer<A> {
    /// Something.
    pub(crate) fn ok(value: A) -> Result<Answer<A>> {
        Ok(Answer { value, location: None })
    }

    /// Something new, and where it is.
    pub(crate) fn created(value: A, location: String) -> Result<Answer<A>> {
        Ok(Answer { value, location: Some(location) })
    }
}

impl<A: Serialize> Answer<A> {
    /// As JSON.
    pub(crate) fn encode(self) -> Result<Encoded> {
        let body = serde_json::to_vec(&self.value)
            .map_err(|error| Error::internal("an answer is not JSON").because(error))?;
        Ok(Encoded { body, location: self.location })
    }
}

/// An answer as it is sent.
#[derive(Debug)]
pub(crate) struct Encoded {
    body: Vec<u8>,
    location: Option<String>,
}

impl IntoResponse for Encoded {
    fn into_response(self) -> Response {
        let status = if self.location.is_some() { StatusCode::CREATED } else { StatusCode::OK };
        let json = HeaderValue::from_static("application/json");
        let none = HeaderValue::from_static("no-store");
        let headers = [(header::CONTENT_TYPE, json), (header::CACHE_CONTROL, none)];
        let mut response = (status, headers, self.body).into_response();
        let location = self.location.and_then(|place| HeaderValue::from_str(&place).ok());
        if let Some(location) = location {
            response.headers_mut().insert(header::LOCATION, location);
        }
        response
    }
}

/// One segment of a path, escaped.
pub(crate) fn segment(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'~' => {
                escaped.push(char::from(byte));
            }
            b'.' if text != "." && text != ".." => escaped.push('.'),
            other => escaped.push_str(&format!("%{other:02X}")),
        }
    }
    escaped
}
