//! Dreams on the page: the list with its calendar, one dream, and the forms that start and undo one.

use super::decisions::{Outcome, handle_form};
use super::view_request::ViewRequest;
use crate::state::State;
use axum::extract::{RawPathParams, Request, State as Shared};
use axum::http::StatusCode;
use axum::response::Response;
use oneiro::{DreamPreset, DreamRequest, PageOf, Result, UndoDream};
use oneiro_page::dream::DreamView;
use oneiro_page::dreams::DreamsView;
use std::sync::Arc;

/// Dreams on a page.
const DREAMS_PER_PAGE: usize = 100;

pub(super) fn list(request: &ViewRequest) -> Result<String> {
    let dreams = request.oneiro()?.dreams();
    let wanted = PageOf { limit: DREAMS_PER_PAGE, cursor: request.cursor()? };
    let view = DreamsView {
        frame: request.frame.clone(),
        status: dreams.status()?,
        digest: dreams.digest()?,
        dreams: dreams.list(&wanted)?,
    };
    Ok(request.render(&view, oneiro_page::dreams::page, oneiro_page::dreams::fragment))
}

pub(super) fn dream(request: &ViewRequest) -> Result<String> {
    let view = DreamView {
        frame: request.frame.clone(),
        detail: request.oneiro()?.dreams().show(request.path_part(0))?,
        left: Vec::new(),
    };
    Ok(request.render(&view, oneiro_page::dream::page, oneiro_page::dream::fragment))
}

/// Starts a dream now.
pub(super) async fn start(
    Shared(state): Shared<Arc<State>>,
    path: RawPathParams,
    request: Request,
) -> Response {
    handle_form(state, path, request, |form, oneiro| {
        let preset = form.field("preset").map(|name| DreamPreset::parse(&name)).transpose()?;
        let apply = form.field("apply").is_some_and(|apply| apply == "yes");
        let asked = DreamRequest { preset, apply: Some(apply), ..DreamRequest::default() };
        let run = oneiro.dreams().run(&asked)?;
        Ok(Outcome::Dream(run.dream.map(|detail| detail.dream.id)))
    })
    .await
}

/// Undoes a dream, as far as nobody changed the same since.
pub(super) async fn undo(
    Shared(state): Shared<Arc<State>>,
    path: RawPathParams,
    request: Request,
) -> Response {
    handle_form(state, path, request, |form, oneiro| {
        let undone = oneiro.dreams().undo(form.part(0), &UndoDream::default())?;
        if undone.left.is_empty() {
            return Ok(Outcome::Dream(Some(undone.dream.id)));
        }
        let detail = oneiro.dreams().show(form.part(0))?;
        let shown =
            move |frame| oneiro_page::dream::page(&DreamView { frame, detail, left: undone.left });
        Ok(Outcome::Page(StatusCode::OK, Box::new(shown)))
    })
    .await
}
