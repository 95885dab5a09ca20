//! The text index: what is said, found by its words and its vectors. Immutable segments cover the
//! rows up to a watermark, the rest is read as it is; both engines keep the same bytes. It owns
//! terms, documents and vectors; it must not know questions or ranking.

mod bits;
mod build;
mod codec;
mod docs;
mod fold;
mod folding;
mod forget;
mod handle;
mod inspect;
mod merge;
mod read;
mod rebuild;
mod remote;
mod terms;
mod view;

pub(crate) use bits::{Bits, cosine, distance, scan, signs};
pub(crate) use build::weight;
pub(crate) use docs::{Doc, role, role_code};
pub(crate) use folding::Folder;
pub(crate) use forget::forget;
pub(crate) use handle::Index;
pub(crate) use inspect::{figures, inspect};
pub(crate) use read::{Reader, indexed, name_term};
pub(crate) use remote::{kept_as, stored_of};
pub(crate) use view::{TermLists, View};
