//! What a view gets: who looks, what was typed, and whether only the content is wanted. What was
//! typed is read forgivingly, since people edit addresses.

use crate::auth::Authenticated;
use crate::decode::unescape;
use crate::state::State;
use oneiro::{Cursor, Error, Oneiro, Result};
use oneiro_page::Frame;
use oneiro_page::problem::ProblemView;
use std::sync::Arc;

/// What a view gets.
pub(super) struct Look {
    pub(super) state: Arc<State>,
    visitor: Authenticated,
    /// The open parts of the path, unescaped.
    parts: Vec<String>,
    typed: Vec<(String, String)>,
    is_fragment: bool,
    pub(super) frame: Frame,
}

impl Look {
    pub(super) fn new(
        state: Arc<State>,
        visitor: Authenticated,
        (parts, query): (Vec<String>, &str),
        is_fragment: bool,
    ) -> Result<Look> {
        let pairs = query.split('&').filter_map(|pair| {
            let (name, value) = pair.split_once('=')?;
            Some((unescape(name).ok()?, unescape(value).ok()?.replace('\0', "")))
        });
        let oneiro = visitor.oneiro()?;
        let frame = Frame {
            space: oneiro.target().space().to_string(),
            signed_in: visitor.token.is_some(),
            now: oneiro.now(),
        };
        let typed = pairs.collect();
        Ok(Look { state, visitor, parts, typed, is_fragment, frame })
    }

    pub(super) fn oneiro(&self) -> Result<&Oneiro> {
        self.visitor.oneiro()
    }

    pub(super) fn visitor(&self) -> &Authenticated {
        &self.visitor
    }

    /// An open part of the path, by its place among them.
    pub(super) fn part(&self, at: usize) -> &str {
        self.parts.get(at).map(String::as_str).unwrap_or_default()
    }

    /// What was typed under a name; nothing when it was not.
    pub(super) fn text(&self, name: &str) -> &str {
        let found = self.typed.iter().find(|(there, _)| there == name);
        found.map(|(_, value)| value.trim()).unwrap_or_default()
    }

    /// The same, if anything was.
    pub(super) fn given(&self, name: &str) -> Option<String> {
        Some(self.text(name)).filter(|text| !text.is_empty()).map(str::to_owned)
    }

    /// Whether something was chosen.
    pub(super) fn is_on(&self, name: &str) -> bool {
        matches!(self.text(name), "1" | "true" | "on")
    }

    pub(super) fn cursor(&self) -> Result<Option<Cursor>> {
        self.given("cursor").as_deref().map(Cursor::parse).transpose()
    }

    /// The page, or what is asked of it.
    pub(super) fn draw<V>(
        &self,
        view: &V,
        page: fn(&V) -> String,
        fragment: fn(&V) -> String,
    ) -> String {
        if self.is_fragment { fragment(view) } else { page(view) }
    }

    /// What went wrong, in the frame of the space.
    pub(super) fn problem(&self, error: Error) -> String {
        let view = ProblemView { frame: self.frame.clone(), error };
        self.draw(&view, oneiro_page::problem::page, oneiro_page::problem::fragment)
    }

    /// The sources and projects there are; the content alone does not offer them.
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
