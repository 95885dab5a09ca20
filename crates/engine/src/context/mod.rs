//! Lossless context: any conversation in any budget, with every word still reachable. It owns what
//! a prompt shows of a session; messages themselves it never changes.

mod assemble;
mod boundaries;
mod cells;
mod commit;
mod compact;
mod counting;
mod digest;
mod expand;
mod explain;
mod form;
mod frontier;
mod inherited;
mod invalidate;
mod lease;
mod leaving;
mod lines;
mod manual_summary;
mod markup;
mod media;
mod new_node;
mod node_text;
mod outline;
mod over_budget;
mod overview;
mod pairs;
mod part;
mod pins;
mod plan;
mod preamble;
mod prompts;
mod rebuild;
mod redo;
mod render;
mod repair;
#[cfg(test)]
mod samples;
mod scope;
mod select;
mod summarise;
mod window;

pub(crate) use boundaries::rejoin_calls;
pub(crate) use invalidate::{
    change_visibility, remove_summaries_after_session, remove_summaries_of_message,
    remove_summaries_of_session,
};
pub use leaving::{Leaving, LeavingHook};
pub(crate) use outline::uncovered;
pub use prompts::{PROMPTS, Prompts};
pub(crate) use rebuild::rebuild_leaves;
pub(crate) use scope::Reach;
