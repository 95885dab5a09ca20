//! The capabilities of a space. Each view borrows the handle; its methods are in the file of their
//! use case.

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
    /// Sessions: create, find, change, end, list, rewind, branch and delete.
    sessions: Sessions,
    /// Messages of sessions: append, read and pin.
    messages: Messages,
    /// Search in messages, summaries and sessions.
    search: Search,
    /// The text index: catch up, or rebuild.
    index: Index,
    /// Windows of sessions, and the summaries in them.
    context: Context,
    /// The queue of background work.
    jobs: Jobs,
    /// Access tokens.
    tokens: Tokens,
    /// Settings of the space.
    settings: Settings,
    /// Import, export, transcripts and backups.
    transfer: Transfer,
    /// Projects to capture, pauses, and stored secrets.
    capture: Capture,
    /// Memories: remember, review, correct, forget, explain.
    memories: Memories,
    /// Learning from conversations: extraction, interactions, reinforcement.
    learning: Learning,
    /// Notes and their history: edit, log, compare, restore, undo.
    notes: Notes,
    /// Recorded changes of memories, notes, projects and state: list and undo.
    operations: Operations,
    /// Projects with their aliases and their state.
    projects: Projects,
    /// Dreams: consolidation runs, their candidates and their ledger.
    dreams: Dreams,
    /// Packs: lines of memory for a prompt.
    packs: Packs,
    /// Operations for hosts that manage their own sessions in the space, such as hermes.
    host: Host,
}
