//! The request for a view: the visitor, the parts of the address, and whether only the content of
//! `<main>` is wanted. Unknown or unreadable parameters are ignored, since people edit addresses.

use crate::auth::Authenticated;
use crate::decode::unescape;
use crate::state::State;
use oneiro::{Cursor, Error, Oneiro, Result, TokenRole};
use oneiro_page::Frame;
use oneiro_page::problem::ProblemView;
use std::sync::Arc;

/// The parts of an address that a view reads.
pub(super) struct Address {
    /// The variable parts of the path, unescaped.
    pub(super) path_parts: Vec<String>,
    /// The query string.
    pub(super) query: String,
}

/// The request for a view.
pub(super) struct ViewRequest {
    pub(super) state: Arc<State>,
    visitor: Authenticated,
    path_parts: Vec<String>,
    params: Vec<(String, String)>,
    is_fragment: bool,
    pub(super) frame: Frame,
}

impl ViewRequest {
    pub(super) fn new(
        state: Arc<State>,
        visitor: Authenticated,
        address: Address,
        is_fragment: bool,
    ) -> Result<ViewRequest> {
        let pairs = address.query.split('&').filter_map(|pair| {
            let (name, value) = pair.split_once('=')?;
            Some((unescape(name).ok()?, unescape(value).ok()?.replace('\0', "")))
        });
        let may_write = visitor.role.require(TokenRole::Write).is_ok();
        let form_token = may_write.then(|| state.form_tokens.issue(&visitor)).transpose()?;
        let oneiro = visitor.oneiro()?;
        let frame = Frame {
            space: oneiro.target().space().to_string(),
            notice: None,
            signed_in: visitor.token.is_some(),
            form_token,
            now: oneiro.now(),
        };
        let params = pairs.collect();
        let path_parts = address.path_parts;
        Ok(ViewRequest { state, visitor, path_parts, params, is_fragment, frame })
    }

    /// The same with a notice above the view.
    pub(super) fn with_notice(mut self, notice: Option<String>) -> ViewRequest {
        self.frame.notice = notice;
        self
    }

    pub(super) fn oneiro(&self) -> Result<&Oneiro> {
        self.visitor.oneiro()
    }

    pub(super) fn visitor(&self) -> &Authenticated {
        &self.visitor
    }

    /// A variable part of the path, by its place.
    pub(super) fn path_part(&self, at: usize) -> &str {
        self.path_parts.get(at).map(String::as_str).unwrap_or_default()
    }

    /// The value of a parameter; empty when it is not given.
    pub(super) fn text(&self, name: &str) -> &str {
        let found = self.params.iter().find(|(there, _)| there == name);
        found.map(|(_, value)| value.trim()).unwrap_or_default()
    }

    /// The value of a parameter, unless it is empty.
    pub(super) fn param(&self, name: &str) -> Option<String> {
        Some(self.text(name)).filter(|text| !text.is_empty()).map(str::to_owned)
    }

    /// Whether a checkbox is checked.
    pub(super) fn is_on(&self, name: &str) -> bool {
        matches!(self.text(name), "1" | "true" | "on")
    }

    pub(super) fn cursor(&self) -> Result<Option<Cursor>> {
        self.param("cursor").as_deref().map(Cursor::parse).transpose()
    }

    /// The whole page, or the content of `<main>`.
    pub(super) fn render<V>(
        &self,
        view: &V,
        page: fn(&V) -> String,
        fragment: fn(&V) -> String,
    ) -> String {
        if self.is_fragment { fragment(view) } else { page(view) }
    }

    /// An error in the frame of the space.
    pub(super) fn problem(&self, error: Error) -> String {
        let view = ProblemView { frame: self.frame.clone(), error, back: None };
        self.render(&view, oneiro_page::problem::page, oneiro_page::problem::fragment)
    }

    /// The sources and projects to choose from; a fragment does not show them.
    pub(super) fn groups(&self) -> Result<(Vec<String>, Vec<String>)> {
        if self.is_fragment {
            return Ok((Vec::new(), Vec::new()));
        }
        let (sources, projects) = self.oneiro()?.sessions().groups()?;
        let names = |groups: Vec<oneiro::SessionGroup>| {
            groups.into_iter().map(|group| group.name).collect()
        };
        Ok((names(sources), names(projects)))
    }
}
