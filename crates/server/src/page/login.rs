//! Logging in on the page: a token becomes a cookie that scripts cannot read and other sites cannot
//! send.

use super::{frame_without_space, html};
use crate::auth::{Cookie, Credentials};
use crate::body::read_form;
use crate::decode::unescape;
use crate::dispatch::{blocking, peer};
use crate::state::State;
use axum::extract::{Request, State as Shared};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header, uri::Scheme};
use axum::response::{IntoResponse, Response};
use oneiro::{Error, Result};
use oneiro_page::LocalPath;
use oneiro_page::login::LoginView;
use std::sync::Arc;

/// How long a login lasts: 30 days.
const LOGIN_SECONDS: u64 = 2_592_000;

/// Redirects to the login form, and from there back.
pub(super) fn redirect_to_login(next: &str, headers: &HeaderMap) -> Response {
    without_cookie(redirect(&format!("/login?next={}", crate::call::segment(next))), headers)
}

/// Redirects to the same page without the cookie.
pub(super) fn redirect_without_cookie(place: &str, headers: &HeaderMap) -> Response {
    let place = LocalPath::parse(place).unwrap_or_default();
    without_cookie(redirect(place.as_str()), headers)
}

/// Removes the cookie.
fn without_cookie(mut response: Response, headers: &HeaderMap) -> Response {
    let name = Cookie::Token.name(headers);
    if let Ok(cookie) = cookie((&name, ""), 0, false) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

/// Redirects to a path of this server.
pub(super) fn redirect(place: &str) -> Response {
    let place = HeaderValue::from_str(place).unwrap_or(HeaderValue::from_static("/"));
    (StatusCode::SEE_OTHER, [(header::LOCATION, place)]).into_response()
}

/// The page to open after the login: a path of this server, or the overview.
fn next_path(text: Option<String>) -> LocalPath {
    text.and_then(|text| LocalPath::parse(&text)).unwrap_or_default()
}

fn render_form(status: StatusCode, refused: Option<String>, next: LocalPath) -> Response {
    let view = LoginView { frame: frame_without_space(), refused, next };
    html(status, oneiro_page::login::page(&view))
}

/// The form.
pub(super) async fn form(request: Request) -> Response {
    let next = field(request.uri().query().unwrap_or_default().as_bytes(), "next");
    render_form(StatusCode::OK, None, next_path(next))
}

/// Checks a token and sets the cookie.
pub(super) async fn login(Shared(state): Shared<Arc<State>>, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    let body = match read_form(&state, &parts.headers, body).await {
        Ok(body) => body,
        Err(problem) => return problem.into_response(),
    };
    let next = next_path(field(&body, "next"));
    let token = field(&body, "token").unwrap_or_default().trim().to_owned();
    let is_secure = parts.uri.scheme() == Some(&Scheme::HTTPS) || is_forwarded_tls(&parts.headers);
    let name = Cookie::Token.name(&parts.headers);
    let Ok(cookie) = cookie((&name, &token), LOGIN_SECONDS, is_secure) else {
        return render_form(
            StatusCode::UNAUTHORIZED,
            Some("This is not a token.".to_owned()),
            next,
        );
    };
    parts.headers.remove(header::COOKIE);
    if let Ok(bearer) = HeaderValue::from_str(&format!("Bearer {token}")) {
        parts.headers.insert(header::AUTHORIZATION, bearer);
    }
    let credentials = Credentials::read(&parts.headers, peer(&parts));
    let entered = blocking(move || {
        // The space is opened and dropped where blocking is allowed.
        state.auth.authenticate(&state.spaces, &credentials?).map(|_| ())
    });
    match entered.await {
        Ok(()) => {
            let mut response = redirect(next.as_str());
            response.headers_mut().insert(header::SET_COOKIE, cookie);
            response
        }
        Err(error) => {
            let status = StatusCode::from_u16(error.http_status());
            render_form(
                status.unwrap_or(StatusCode::UNAUTHORIZED),
                Some(error.message().into()),
                next,
            )
        }
    }
}

/// Removes the cookie.
pub(super) async fn logout(headers: HeaderMap) -> Response {
    without_cookie(redirect("/login"), &headers)
}

/// Whether a proxy says that the request came over TLS.
fn is_forwarded_tls(headers: &HeaderMap) -> bool {
    headers.get("x-forwarded-proto").is_some_and(|proto| proto == "https")
}

fn cookie((name, token): (&str, &str), seconds: u64, is_secure: bool) -> Result<HeaderValue> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if !token.bytes().all(plain) || (token.is_empty() && seconds > 0) {
        return Err(Error::field("token", "is not a token"));
    }
    let secure = if is_secure { "; Secure" } else { "" };
    let text =
        format!("{name}={token}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}");
    HeaderValue::from_str(&text).map_err(|_| Error::field("token", "is not a token"))
}

/// A field of a form, or of a query string.
pub(super) fn field(text: &[u8], name: &str) -> Option<String> {
    let text = std::str::from_utf8(text).ok()?;
    let mut pairs = text.split('&').filter_map(|pair| pair.split_once('='));
    let (_, value) = pairs.find(|(there, _)| *there == name)?;
    unescape(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_holds_a_token_and_nothing_else() {
        let text = cookie(("t", "oneiro_default_abc"), 5, false).unwrap();
        let text = text.to_str().unwrap();
        assert!(text.contains("HttpOnly") && text.contains("SameSite=Strict"), "{text}");
        assert!(!text.contains("Secure"));
        assert!(cookie(("t", "x"), 5, true).unwrap().to_str().unwrap().contains("; Secure"));
        for bad in ["", "a;b", "a b", "a\nb", "é"] {
            assert!(cookie(("t", bad), 5, false).is_err(), "{bad:?}");
        }
    }
}
