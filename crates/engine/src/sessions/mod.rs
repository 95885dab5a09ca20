//! Sessions: begin, find, change, end, list, hide, branch and remove. One use case per file.

mod amend;
mod branch;
mod change;
mod create;
mod delete;
mod ending;
mod list;
mod prune;
mod relatives;
mod resolve;
mod rewind;
mod show;
mod split;
mod titles;
mod usage;

pub(crate) use create::{Draft, create_in};
pub(crate) use delete::delete_in;
pub(crate) use resolve::{key_of, no_session, resolve_in, whole};
pub(crate) use rewind::refuse_continued;
pub use show::{Stretch, StretchFrom, StretchRequest};
