//! The benchmarks of `oneiro bench`: the engine compared with a minimal SQLite loop that does the
//! same work on the same machine in the same run.

pub mod agents;
pub mod context;
mod dataset;
mod distractors;
pub mod dreams;
pub mod evidence;
pub mod http;
pub mod junk;
pub mod kept;
pub mod load;
mod locomo;
mod machine;
pub mod memory;
pub mod notes;
mod processes;
mod raw;
pub mod recall;
pub mod report;
mod search;
mod text;

pub use processes::Writer;
pub use search::SearchTimes;
