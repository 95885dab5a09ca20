//! The demonstration: a seeded month of conversations, what is remembered of them, notes, and a
//! dream each night, written into a space through the engine.

mod bulk_text;
mod calendar;
mod claims;
mod existing;
mod fill;
mod memories;
mod nights;
mod notes;
mod prompts;
mod routine;
mod scene;
mod script;
mod stage;
mod summaries;

pub use existing::{Removed, SessionCounts, count_sessions, remove};
pub use fill::{Filled, Progress, Request, fill};

/// The default space of the demonstration.
pub const DEMO_SPACE: &str = "demo";

/// Questions that the month answers, as examples.
pub const EXAMPLE_QUESTIONS: [&str; 3] =
    ["what did the tiler quote", "which ferry to Naoshima", "why did we drop async-std"];
