//! The login form, where tokens are required.

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
    /// The page to open after logging in.
    pub next: LocalPath,
}

/// The whole page.
pub fn page(view: &LoginView) -> String {
    let main = html! {
        div #view.login data-view="login" {
            h1 { "Log in" }
            p { "This server requires a token. The token selects the space." }
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
            p { "The operator of this server can create one:" }
            (copyable("oneiro token create --space default --role read"))
        }
    };
    document(&view.frame, Tab::None, "Log in", &main)
}
