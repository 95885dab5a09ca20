//! One API call as handlers see it: the caller, the path, the query string, the body; and the
//! answer.

use crate::auth::Authenticated;
use crate::body::Received;
use crate::decode;
use crate::state::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use oneiro::contract::Request;
use oneiro::{Cancel, Error, MessageRef, NoteName, Oneiro, Result, SessionId, SpaceUse};
use serde::Serialize;
use std::sync::Arc;

pub(crate) struct Call {
    pub(crate) state: Arc<State>,
    pub(crate) visitor: Authenticated,
    /// The path parameters, unescaped.
    pub(crate) path: Vec<(String, String)>,
    /// The raw query string.
    pub(crate) query: String,
    pub(crate) body: Received,
    /// The header If-Match.
    pub(crate) if_match: Option<String>,
}

impl Call {
    pub(crate) fn oneiro(&self) -> Result<&Oneiro> {
        self.visitor.oneiro()
    }

    /// The same call, whose long work ends once `cancel` is set.
    pub(crate) fn cancelled_by(self, cancel: &Cancel) -> Result<Call> {
        let visitor = self.visitor.cancelled_by(cancel)?;
        Ok(Call { visitor, ..self })
    }

    /// The same call in the space that it creates, if that does not exist yet.
    pub(crate) fn in_created_space(self) -> Result<Option<Call>> {
        let Some(name) = &self.visitor.space_to_create else { return Ok(None) };
        let space = self.state.spaces.space(name, SpaceUse::CreateMissing)?;
        Ok(Some(Call { visitor: self.visitor.in_space(space), ..self }))
    }

    pub(crate) fn part(&self, name: &str) -> Result<&str> {
        let found = self.path.iter().find(|(there, _)| there == name);
        found
            .map(|(_, value)| value.as_str())
            .ok_or_else(|| Error::internal(format!("the path has no {name}")))
    }

    /// The note in the path.
    pub(crate) fn note(&self) -> Result<NoteName> {
        NoteName::parse(self.part("name")?)
    }

    /// The etag that the header If-Match names; any text matches `*`.
    pub(crate) fn matching_etag(&self) -> Option<String> {
        let tag = self.if_match.as_deref()?.trim();
        let tag = tag.strip_prefix("W/").unwrap_or(tag).trim_matches('"');
        (tag != "*" && !tag.is_empty()).then(|| tag.to_owned())
    }

    /// The session in the path.
    pub(crate) fn session(&self) -> Result<SessionId> {
        SessionId::new(self.part("id")?)
    }

    /// A message in the path.
    pub(crate) fn message(&self, name: &'static str) -> Result<MessageRef> {
        MessageRef::parse(self.part(name)?).map_err(|error| {
            let field = Error::field(name, error.message());
            match error.remedy_code().cloned() {
                Some(remedy) => field.remedy(remedy),
                None => field,
            }
        })
    }

    /// Decodes the query string.
    pub(crate) fn query_as<R: Request>(&self) -> Result<R> {
        decode::query(&self.query, self.oneiro()?.now())
    }

    /// Decodes the body.
    pub(crate) fn body_as<R: Request>(&self) -> Result<R> {
        decode::body(&self.body, self.oneiro()?.now())
    }
}

/// The answer of a handler.
#[derive(Debug)]
pub(crate) struct Answer<A> {
    value: A,
    /// The location of a created resource.
    location: Option<String>,
    /// The etag of what is answered.
    etag: Option<String>,
}

impl<A> Answer<A> {
    /// 200 with a value.
    pub(crate) fn ok(value: A) -> Result<Answer<A>> {
        Ok(Answer { value, location: None, etag: None })
    }

    /// 201 with a value and its location.
    pub(crate) fn created(value: A, location: String) -> Result<Answer<A>> {
        Ok(Answer { value, location: Some(location), etag: None })
    }

    /// 200 with a value and its etag.
    pub(crate) fn tagged(value: A, etag: &str) -> Result<Answer<A>> {
        Ok(Answer { value, location: None, etag: Some(format!("\"{etag}\"")) })
    }
}

impl<A: Serialize> Answer<A> {
    /// Encodes the value as JSON.
    pub(crate) fn encode(self) -> Result<Encoded> {
        let body = serde_json::to_vec(&self.value)
            .map_err(|error| Error::internal("an answer is not JSON").because(error))?;
        Ok(Encoded { body, location: self.location, etag: self.etag })
    }
}

/// An encoded answer.
#[derive(Debug)]
pub(crate) struct Encoded {
    body: Vec<u8>,
    location: Option<String>,
    etag: Option<String>,
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
        let etag = self.etag.and_then(|etag| HeaderValue::from_str(&etag).ok());
        if let Some(etag) = etag {
            response.headers_mut().insert(header::ETAG, etag);
        }
        response
    }
}

/// Escapes one path segment.
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
