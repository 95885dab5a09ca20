//! Operations for hosts: programs that manage sessions in the space by their own rules.

mod amend;
mod messages;
mod sessions;
mod slots;

pub use oneiro_model::host::*;
pub use slots::SetSlots;
