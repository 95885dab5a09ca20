//! Kinds of damage that callers distinguish: a missing table, which can be recreated if it belongs to the
//! text index, and a file that the engine cannot read.

use oneiro_model::{Error, ErrorKind, Remedy};

/// The cause of an error, as reported by a driver.
#[derive(Debug)]
enum Damage {
    MissingTable(Box<dyn std::error::Error + Send + Sync>),
    Unreadable(Box<dyn std::error::Error + Send + Sync>),
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Damage::MissingTable(cause) | Damage::Unreadable(cause) => cause.fmt(f),
        }
    }
}

impl std::error::Error for Damage {}

/// The error of a statement whose table is missing.
pub(crate) fn missing_table(
    what: String,
    cause: impl std::error::Error + Send + Sync + 'static,
) -> Error {
    Error::new(ErrorKind::Corrupt, what)
        .remedy(Remedy::RestoreTable)
        .because(Damage::MissingTable(Box::new(cause)))
}

/// Marks `error` as caused by a file that the engine cannot read.
pub(crate) fn unreadable(
    error: Error,
    cause: impl std::error::Error + Send + Sync + 'static,
) -> Error {
    error.because(Damage::Unreadable(Box::new(cause)))
}

fn damage(error: &Error) -> Option<&Damage> {
    std::error::Error::source(error).and_then(|cause| cause.downcast_ref())
}

/// Whether an error is about a missing table.
pub fn is_missing_table(error: &Error) -> bool {
    matches!(damage(error), Some(Damage::MissingTable(_)))
}

/// Whether the engine could not read its own file.
pub fn is_unreadable(error: &Error) -> bool {
    matches!(damage(error), Some(Damage::Unreadable(_)))
}
