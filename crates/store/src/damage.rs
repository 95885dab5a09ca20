//! Damage of the store, as callers tell it apart: a table that is gone, after which a transaction can
//! do nothing more and which can be made again if it is one of the text index; and bytes of the file
//! that the engine cannot read.

use oneiro_model::{Error, ErrorKind, Remedy};

/// What a driver says about damage.
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

/// The error of a statement that needs a table which is gone.
pub(crate) fn missing_table(
    what: String,
    cause: impl std::error::Error + Send + Sync + 'static,
) -> Error {
    Error::new(ErrorKind::Corrupt, what)
        .remedy(Remedy::RestoreTable)
        .because(Damage::MissingTable(Box::new(cause)))
}

/// The same error, caused by bytes that the engine cannot read.
pub(crate) fn unreadable(
    error: Error,
    cause: impl std::error::Error + Send + Sync + 'static,
) -> Error {
    error.because(Damage::Unreadable(Box::new(cause)))
}

fn damage(error: &Error) -> Option<&Damage> {
    std::error::Error::source(error).and_then(|cause| cause.downcast_ref())
}

/// Whether an error says that a table is gone.
pub fn is_missing_table(error: &Error) -> bool {
    matches!(damage(error), Some(Damage::MissingTable(_)))
}

/// Whether an error says that the engine cannot read its own file.
pub fn is_unreadable(error: &Error) -> bool {
    matches!(damage(error), Some(Damage::Unreadable(_)))
}
