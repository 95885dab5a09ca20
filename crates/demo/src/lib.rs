//! The demonstration: a seeded month of conversations, written into a space through the engine.
//! It must not know surfaces, or how anything is stored.

mod calendar;
mod condense;
mod fill;
mod holding;
mod prompts;
mod routine;
mod scene;
mod script;
mod stage;
mod texture;

pub use fill::{Filled, Progress, Request, fill};
pub use holding::{Holding, Removed, holding, remove};

/// The space that the demonstration is kept in unless somebody says otherwise.
pub const SPACE: &str = "demo";

/// Questions that the month answers, for whoever does not know yet what to ask.
pub const QUESTIONS: [&str; 3] =
    ["what did the tiler quote", "which ferry to Naoshima", "why did we drop async-std"];
