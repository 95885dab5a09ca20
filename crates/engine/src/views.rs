//! The capabilities of a space, as the handle gives them: each view borrows the handle, and its
//! methods stand in the file of their use case.

use crate::Oneiro;

/// Declares one view per capability and the method of [`Oneiro`] that gives it.
macro_rules! views {
    ($($(#[doc = $doc:literal])+ $method:ident: $View:ident,)+) => {
        $(
            $(#[doc = $doc])+
            #[derive(Clone, Copy)]
            pub struct $View<'a> {
                pub(crate) oneiro: &'a Oneiro,
            }
        )+

        impl Oneiro {
            $(
                $(#[doc = $doc])+
                pub fn $method(&self) -> $View<'_> {
                    $View { oneiro: self }
                }
            )+
        }
    };
}

views! {
    /// Sessions: begin, find, change, end, list, rewind, branch and remove.
    sessions: Sessions,
    /// Messages of sessions: append, read and pin.
    messages: Messages,
    /// Search in messages, summaries and sessions.
    search: Search,
    /// The text index: bring it up to date, or build it anew.
    index: Index,
    /// Windows of sessions, and the summaries in them.
    context: Context,
    /// The queue of background work.
    jobs: Jobs,
    /// Tokens that let clients in.
    tokens: Tokens,
    /// Settings of the space.
    settings: Settings,
    /// Sessions on their way in and out: import, export, transcripts and backups.
    transfer: Transfer,
    /// What is captured as agents write it: projects and pauses.
    capture: Capture,
    /// What only programs need that keep their own sessions in the space, such as hermes.
    host: Host,
}
