//! The door: a token in, where tokens are required. It must not know whether a token is good.

use crate::LocalPath;
use crate::layout::{Frame, Tab, document};
use crate::text::plain;
use crate::welcome::copyable;
use maud::html;

/// The form.
#[derive(Debug, Clone)]
pub struct LoginView {
    /// What every page knows; the space is not known yet.
    pub frame: Frame,
    /// Why the last token was refused.
    pub refused: Option<String>,
    /// Where to go then.
    pub next: LocalPath,
}

/// The whole page.
pub fn page(view: &LoginView) -> String {
    let main = html! {
        div #view.door data-view="login" {
            h1 { "Log in" }
            p { "This server asks for a token. It says which space you see." }
            @if let Some(refused) = &view.refused {
                p.notice role="alert" { (plain(refused)) }
            }
            form action="/login" method="post" {
                label for="token" { "Token" }
                input
                    #token
                    type="password"
                    name="token"
                    required
                    autocomplete="current-password"
                    placeholder="oneiro_default_..."
                    autofocus;
                input type="hidden" name="next" value=(view.next);
                button type="submit" { "Log in" }
            }
            p { "Whoever runs this server can make one:" }
            (copyable("oneiro token create --space default --role read"))
        }
    };
    document(&view.frame, Tab::None, "Log in", &main)
}
