//! The files that pages load. Their names change with their content, so they are kept for ever.

use crate::problem::Problem;
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use oneiro::Error;

pub(super) async fn asset(Path(name): Path<String>, headers: HeaderMap) -> Response {
    let Some(asset) = oneiro_page::assets::asset(&name) else {
        let error = Error::not_found("no such file").remedy("reload the page");
        return Problem::from(error).into_response();
    };
    let tag = HeaderValue::from_static(asset.etag);
    let is_known = headers.get(header::IF_NONE_MATCH).is_some_and(|known| *known == tag);
    let status = if is_known { StatusCode::NOT_MODIFIED } else { StatusCode::OK };
    let body: &'static [u8] = if is_known { &[] } else { asset.bytes };
    let answer_headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(asset.content_type)),
        (header::ETAG, tag),
        (header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable")),
    ];
    (status, answer_headers, body).into_response()
}
