//! The spaces of the store, and a button that switches to each.

use crate::layout::{Frame, Tab, document};
use crate::numbers::bytes;
use crate::text::plain;
use maud::{Markup, html};
use oneiro::SpaceInfo;

/// The list of spaces.
#[derive(Debug, Clone)]
pub struct SpacesView {
    /// What every page knows.
    pub frame: Frame,
    /// The spaces that the reader may see.
    pub spaces: Vec<SpaceInfo>,
}

/// The whole page.
pub fn page(view: &SpacesView) -> String {
    document(&view.frame, Tab::None, "Spaces", &main(view))
}

/// The content alone.
pub fn fragment(view: &SpacesView) -> String {
    main(view).into_string()
}

fn main(view: &SpacesView) -> Markup {
    html! {
        div #view data-view="spaces" {
            h1 { "Spaces" }
            p.lead { "Each space is an isolated memory with its own sessions and tokens." }
            ul.rows.spaces {
                @for space in &view.spaces { (row(space, &view.frame)) }
            }
            @if view.frame.signed_in {
                p { "A token opens one space. Log out to use a token of another space." }
            }
        }
    }
}

fn row(space: &SpaceInfo, frame: &Frame) -> Markup {
    let name = space.name.as_str();
    html! {
        li {
            p.name { (plain(name)) }
            p.facts {
                span { (bytes(i64::try_from(space.bytes).unwrap_or(i64::MAX))) }
                @if name == frame.space {
                    span.badge { "current" }
                }
                @if space.damaged {
                    span.badge { "damaged" }
                }
            }
            @if name != frame.space && !space.damaged {
                form action="/space" method="post" {
                    input type="hidden" name="space" value=(name);
                    button type="submit" { "Switch to " (name) }
                }
            }
        }
    }
}
