//! The web page: functions from answers of the engine to HTML, and the files it loads. It must not
//! know HTTP.
//!
//! Each view has a struct of what it shows, `page` for the whole document and `fragment` for the
//! content of `<main>`. Nothing here needs JavaScript; the script only avoids page loads.

pub mod assets;
pub mod decided;
pub mod dream;
pub mod dreams;
pub mod jobs;
pub mod layout;
pub mod lineage;
pub mod login;
pub mod memories;
pub mod memory;
pub mod message;
pub mod note;
pub mod note_editor;
pub mod notes;
pub mod overview;
pub mod packs;
pub mod plot;
pub mod problem;
pub mod review;
pub mod revisions;
pub mod search;
pub mod session;
pub mod sessions;
pub mod spaces;
pub mod summaries;
pub mod summary;
pub mod window;

mod axis;
mod band;
mod belief;
mod budget;
mod call;
mod diff;
mod forms;
mod history;
mod learnt;
mod link;
mod local_path;
mod markdown;
mod numbers;
mod results;
mod session_nav;
mod text;
mod tree;
mod turn;
mod turns;
mod welcome;
mod when;
mod why;

pub use layout::Frame;
pub use local_path::LocalPath;
