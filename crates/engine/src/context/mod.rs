//! Lossless context: any conversation in any budget, with every word still reachable. It owns what
//! a prompt shows of a session; messages themselves it never changes.

mod around;
mod assemble;
mod boundaries;
mod commit;
mod compact;
mod counting;
mod cut;
mod digest;
mod expand;
mod explain;
mod form;
mod hand_written;
mod invalidate;
mod lease;
mod lines;
mod markup;
mod media;
mod mend;
mod node_text;
mod outgrown;
mod outline;
mod pairs;
mod part;
mod pins;
mod plan;
mod prompts;
mod rebuild;
mod redo;
mod render;
#[cfg(test)]
mod samples;
mod scope;
mod select;
mod summarise;

pub(crate) use boundaries::rejoin_calls;
pub(crate) use invalidate::{change_visibility, message_going, session_erased, session_going};
pub(crate) use outline::uncovered;
pub use prompts::{PROMPTS, Prompts};
pub(crate) use rebuild::resummarise;
pub(crate) use scope::Reach;
