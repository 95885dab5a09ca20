//! What only hosts need: programs that keep their own sessions in the space and know better than
//! the clock and the engine what was said when and what is shown.

mod amend;
mod messages;
mod sessions;
mod slots;

pub use oneiro_model::host::*;
pub use slots::SetSlots;
