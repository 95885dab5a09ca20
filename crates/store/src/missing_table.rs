//! Damage of one kind: a table that is gone. Callers tell it from rows that make no sense, because a
//! transaction that met it can do nothing more, and because tables of the text index can be made
//! again.

use oneiro_model::{Error, ErrorKind};

/// What a driver says when a table is gone.
#[derive(Debug)]
struct MissingTable(Box<dyn std::error::Error + Send + Sync>);

impl std::fmt::Display for MissingTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for MissingTable {}

/// The error of a statement that needs a table which is gone.
pub(crate) fn missing_table(
    what: String,
    cause: impl std::error::Error + Send + Sync + 'static,
) -> Error {
    Error::new(ErrorKind::Corrupt, what)
        .remedy(
            "a table of the text index is made again by `oneiro doctor --fix`; for any other, \
             restore the newest backup",
        )
        .because(MissingTable(Box::new(cause)))
}

/// Whether an error says that a table is gone.
pub fn is_missing_table(error: &Error) -> bool {
    std::error::Error::source(error).is_some_and(|cause| cause.is::<MissingTable>())
}
