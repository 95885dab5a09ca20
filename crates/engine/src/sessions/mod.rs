//! Use cases of sessions, one per file.

mod branch;
mod change;
mod create;
mod delete;
mod ending;
mod list;
mod place;
mod prune;
mod relatives;
mod resolve;
mod rewind;
mod show;
mod split;
mod titles;
mod usage;

pub(crate) use create::{Draft, create_in};
pub(crate) use delete::{delete_and_record, delete_in};
pub(crate) use place::{message_at, message_in};
pub(crate) use resolve::{fetch_session, key_of, key_of_title, no_session, resolve_in};
pub(crate) use rewind::{hide, refuse_continued, rewind_target};
pub(crate) use show::{PAGE_BYTES, no_message};
pub use show::{Stretch, StretchFrom, StretchRequest};
pub(crate) use split::COMPRESSION;
