//! Operations for hosts: programs that manage sessions in the space by their own rules.

mod amend;
mod messages;
mod notes;
mod sessions;
mod slots;

pub use notes::CommitNotes;
pub use oneiro_model::host::*;
pub use oneiro_scan::{Category, Finding, scan_all};
pub use slots::SetSlots;
