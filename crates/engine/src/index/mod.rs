//! When the text index is extended, merged, rebuilt and checked, where it is stored, and which
//! texts it covers. Its format is defined in `oneiro_index`.

mod erase_texts;
mod extend;
mod handle;
mod inspect;
mod rebuild;
mod remote;
mod scheduler;
mod storage;
mod texts;

pub(crate) use erase_texts::{erase_missing_texts, erase_texts};
pub(crate) use handle::Index;
pub(crate) use inspect::{inspect, stats};
pub(crate) use remote::{stored_vectors, vector_set_name};
pub(crate) use scheduler::Indexer;
pub(crate) use storage::Segments;
pub(crate) use texts::{memory_text, texts};
