//! The one public error: a kind the caller can act on, a message that names what is wrong, and a
//! remedy, which each surface renders in its own words. The table [`KINDS`] is the only mapping
//! from kinds to HTTP, exit codes and Python.

use crate::{Remedy, Surface};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// What every fallible call of Oneiro answers with.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What the caller can do about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The request is malformed; change it and try again.
    Invalid,
    /// No credentials, or bad ones.
    Unauthorized,
    /// The credentials, or the file's permissions, do not allow this.
    Forbidden,
    /// What the request names does not exist.
    NotFound,
    /// The request contradicts what is stored.
    Conflict,
    /// The request passes a size limit.
    TooLarge,
    /// Too many requests; wait.
    RateLimited,
    /// Another writer held the store for longer than the wait; try again.
    Busy,
    /// The store, disk or server cannot be reached now; fix it and try again.
    Unavailable,
    /// The store was written by a newer Oneiro; upgrade.
    NewerSchema,
    /// The store is damaged; restore a backup.
    Corrupt,
    /// A fault of Oneiro itself.
    Internal,
}

/// One row of the table that maps a kind to every surface.
#[derive(Debug, Clone, Copy)]
pub struct KindRow {
    /// The kind.
    pub kind: ErrorKind,
    /// Its name in JSON.
    pub name: &'static str,
    /// HTTP status (an invalid field of a well-formed body answers 422 instead).
    pub http: u16,
    /// Exit code of the binary.
    pub exit: u8,
    /// Exception class of the Python package.
    pub python: &'static str,
    /// JSON-RPC error code over MCP.
    pub mcp: i32,
}

macro_rules! kinds {
    ($($kind:ident $name:literal $http:literal $exit:literal $python:literal $mcp:literal;)*) => {
        /// Every kind and what it becomes on each surface.
        pub const KINDS: &[KindRow] = &[$(KindRow {
            kind: ErrorKind::$kind, name: $name, http: $http, exit: $exit, python: $python, mcp: $mcp,
        }),*];

        impl ErrorKind {
            /// The row of the table for this kind.
            pub const fn row(self) -> KindRow {
                match self {
                    $(ErrorKind::$kind => KindRow {
                        kind: ErrorKind::$kind, name: $name, http: $http, exit: $exit,
                        python: $python, mcp: $mcp,
                    },)*
                }
            }
        }
    };
}

kinds! {
    Invalid      "invalid"      400 2 "InvalidError"     -32602;
    Unauthorized "unauthorized" 401 6 "PermissionError_" -32001;
    Forbidden    "forbidden"    403 6 "PermissionError_" -32003;
    NotFound     "not_found"    404 3 "NotFoundError"    -32004;
    Conflict     "conflict"     409 4 "ConflictError"    -32009;
    TooLarge     "too_large"    413 2 "TooLargeError"    -32013;
    RateLimited  "rate_limited" 429 5 "BusyError"        -32029;
    Busy         "busy"         503 5 "BusyError"        -32030;
    Unavailable  "unavailable"  503 5 "UnavailableError" -32031;
    NewerSchema  "newer_schema" 500 7 "StoreError"       -32050;
    Corrupt      "corrupt"      500 7 "StoreError"       -32051;
    Internal     "internal"     500 1 "InternalError"    -32603;
}

word_schema!(ErrorKind KINDS.iter().map(|row| row.name).collect::<Vec<_>>());

impl serde::Serialize for ErrorKind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl ErrorKind {
    /// The name of this kind in JSON.
    pub const fn name(self) -> &'static str {
        self.row().name
    }
}

/// The error of every public call. Cheap to clone, so that one failed commit can answer all the
/// writers that shared it.
#[derive(Clone)]
pub struct Error(Arc<Inner>);

struct Inner {
    kind: ErrorKind,
    message: String,
    field: Option<Cow<'static, str>>,
    remedy: Option<Remedy>,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// An error of `kind` that says what is wrong.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error(Arc::new(Inner {
            kind,
            message: message.into(),
            field: None,
            remedy: None,
            source: None,
        }))
    }

    /// A field of a request that cannot be taken, and why.
    pub fn field(field: impl Into<Cow<'static, str>>, problem: impl fmt::Display) -> Error {
        let field = field.into();
        let message = format!("{field}: {problem}");
        Error::new(ErrorKind::Invalid, message).change(|inner| inner.field = Some(field))
    }

    /// A malformed request.
    pub fn invalid(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Invalid, message)
    }

    /// Something named that does not exist.
    pub fn not_found(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::NotFound, message)
    }

    /// A request that contradicts what is stored.
    pub fn conflict(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Conflict, message)
    }

    /// A request past a limit.
    pub fn too_large(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::TooLarge, message)
    }

    /// A fault of Oneiro itself.
    pub fn internal(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Internal, message)
    }

    /// Adds what the caller can do about it.
    #[must_use]
    pub fn remedy(self, remedy: impl Into<Remedy>) -> Error {
        let remedy = remedy.into();
        self.change(|inner| inner.remedy = Some(remedy))
    }

    /// Adds the cause.
    #[must_use]
    pub fn because(self, source: impl std::error::Error + Send + Sync + 'static) -> Error {
        self.change(|inner| inner.source = Some(Arc::new(source)))
    }

    /// Puts `place` (a line, a file) before the message.
    #[must_use]
    pub fn at(self, place: impl fmt::Display) -> Error {
        self.change(|inner| inner.message = format!("{place}: {}", inner.message))
    }

    /// What the caller can do.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// What is wrong, in one line.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The field of the request that is wrong, if it is one.
    pub fn field_name(&self) -> Option<&str> {
        self.0.field.as_deref()
    }

    /// What to do about it, if that is known.
    pub fn remedy_code(&self) -> Option<&Remedy> {
        self.0.remedy.as_ref()
    }

    /// What to do about it, if that is known, in the words of a surface.
    pub fn remedy_for(&self, surface: Surface) -> Option<Cow<'_, str>> {
        self.0.remedy.as_ref().map(|remedy| remedy.render(surface))
    }

    /// What to do about it, in the words of the library.
    pub fn remedy_text(&self) -> Option<Cow<'_, str>> {
        self.remedy_for(Surface::Library)
    }

    /// Whether the same request may pass later, unchanged.
    pub fn is_retryable(&self) -> bool {
        matches!(self.kind(), ErrorKind::Busy | ErrorKind::Unavailable | ErrorKind::RateLimited)
    }

    /// The HTTP status of this error.
    pub fn http_status(&self) -> u16 {
        match (self.kind(), &self.0.field) {
            (ErrorKind::Invalid, Some(_)) => 422,
            (kind, _) => kind.row().http,
        }
    }

    fn change(self, change: impl FnOnce(&mut Inner)) -> Error {
        let mut inner = match Arc::try_unwrap(self.0) {
            Ok(inner) => inner,
            Err(shared) => Inner {
                kind: shared.kind,
                message: shared.message.clone(),
                field: shared.field.clone(),
                remedy: shared.remedy.clone(),
                source: shared.source.clone(),
            },
        };
        change(&mut inner);
        Error(Arc::new(inner))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind().name(), self.message())?;
        if let Some(remedy) = self.remedy_text() {
            write!(f, " ({remedy})")?;
        }
        if let Some(source) = &self.0.source {
            write!(f, " <- {source:?}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|source| source.as_ref() as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_holds_every_kind_once_and_names_are_unique() {
        let mut names: Vec<_> = KINDS.iter().map(|row| row.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), KINDS.len());
        for row in KINDS {
            assert_eq!(row.kind.row().name, row.name);
        }
    }

    #[test]
    fn a_bad_field_answers_422_and_a_bad_request_400() {
        assert_eq!(Error::field("role", "is missing").http_status(), 422);
        assert_eq!(Error::invalid("not JSON").http_status(), 400);
        assert_eq!(Error::field("role", "is missing").message(), "role: is missing");
    }

    #[test]
    fn a_shared_error_can_still_be_given_a_place() {
        let error = Error::invalid("bad");
        let copy = error.clone();
        assert_eq!(error.at("line 3").message(), "line 3: bad");
        assert_eq!(copy.message(), "bad");
    }
}
