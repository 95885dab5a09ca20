//! The text index of a handle: who extends, merges, rebuilds and checks it, and when. What is in it
//! is the business of `oneiro_index`; here are its storage and the texts it covers.

mod fold;
mod folding;
mod forget;
mod handle;
mod inspect;
mod rebuild;
mod remote;
mod storage;
mod texts;

pub(crate) use folding::Folder;
pub(crate) use forget::forget;
pub(crate) use handle::Index;
pub(crate) use inspect::{figures, inspect};
pub(crate) use remote::{kept_as, stored_of};
pub(crate) use storage::Segments;
pub(crate) use texts::texts;
