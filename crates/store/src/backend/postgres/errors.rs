//! Converts errors of PostgreSQL, the network and TLS into errors for callers. No message contains the
//! address as configured, which may hold a password.

use super::client::{Failure, is_tls};
use crate::damage::missing_table;
use oneiro_model::{Error, ErrorKind};
use tokio_postgres::error::SqlState;

/// The error of a call to the server at `place`.
pub(super) fn explain(place: &str, failure: Failure) -> Error {
    let unavailable = |what: String| Error::new(ErrorKind::Unavailable, what);
    match failure {
        Failure::Driver(error) if error.code().is_some() => explain_sql_state(place, error),
        Failure::Driver(error) if is_tls(&error) => explain_tls(place, error),
        // Without a SQLSTATE the error is one of the network.
        Failure::Driver(error) => {
            unavailable(format!("{place} does not respond: {}", cause(&error)))
                .remedy("check that the server runs and the address is right, then try again")
                .because(error)
        }
        Failure::NotResponding => {
            unavailable(format!("{place} does not respond: it accepts no new connections")).remedy(
                "check that the server runs and the network is up; raise connect_timeout in the \
                 address if it only needs longer",
            )
        }
        Failure::TimedOut(limit) => {
            unavailable(format!("{place} has not responded within {} s", limit.as_secs_f64()))
                .remedy("try again; raise statement_timeout_ms if the statement needs longer")
        }
        Failure::Closed => unavailable(format!("the connection to {place} is lost"))
            .remedy("try again when the server is back"),
        Failure::Runtime(error) => unavailable(format!("no connection to {place}: {error}"))
            .remedy("check the limits on open files and threads")
            .because(error),
    }
}

fn explain_tls(place: &str, error: tokio_postgres::Error) -> Error {
    let cause = cause(&error);
    let (what, remedy) = if cause.contains("does not support TLS") {
        (
            format!("{place} does not offer TLS, which the sslmode of the address requires"),
            "turn on ssl in the server's configuration, or use sslmode=prefer on a network you \
             trust",
        )
    } else {
        (
            format!("the TLS handshake with {place} failed: {cause}"),
            "check sslmode, sslrootcert and the host name in the address, and the server's \
             certificate",
        )
    };
    Error::new(ErrorKind::Unavailable, what).remedy(remedy).because(error)
}

fn explain_sql_state(place: &str, error: tokio_postgres::Error) -> Error {
    let what = error.as_db_error().map_or_else(|| error.to_string(), |db| db.message().to_owned());
    let state = error.code().cloned().unwrap_or(SqlState::INTERNAL_ERROR);
    let class = state.code().get(..2).unwrap_or_default();
    let explained = match state {
        SqlState::LOCK_NOT_AVAILABLE
        | SqlState::T_R_DEADLOCK_DETECTED
        | SqlState::T_R_SERIALIZATION_FAILURE => {
            Error::new(ErrorKind::Busy, format!("another writer held {place} for too long"))
                .remedy("try again; raise busy_timeout_ms if this happens often")
        }
        SqlState::QUERY_CANCELED => {
            Error::new(ErrorKind::Unavailable, format!("{place} cancelled a statement: {what}"))
                .remedy("try again; raise statement_timeout_ms if the statement needs longer")
        }
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT => Error::new(
            ErrorKind::Unavailable,
            format!("{place} ended a write that was idle for too long"),
        )
        .remedy("try again; nothing of this write was kept"),
        SqlState::DISK_FULL => {
            Error::new(ErrorKind::Unavailable, format!("the disk of {place} is full"))
                .remedy("free some space and try again; nothing of this write was kept")
        }
        SqlState::INVALID_PASSWORD | SqlState::INVALID_AUTHORIZATION_SPECIFICATION => {
            Error::new(ErrorKind::Unauthorized, format!("{place} refused the login: {what}"))
                .remedy("check user and password in the address")
        }
        SqlState::INSUFFICIENT_PRIVILEGE => {
            Error::new(ErrorKind::Forbidden, format!("{place}: {what}"))
                .remedy("grant the user CREATE on the database, or the rights of the schema")
        }
        SqlState::INVALID_CATALOG_NAME => {
            Error::new(ErrorKind::NotFound, format!("{place}: {what}"))
                .remedy("create the database first")
        }
        SqlState::DATA_CORRUPTED | SqlState::INDEX_CORRUPTED => {
            Error::new(ErrorKind::Corrupt, format!("{place} is damaged: {what}"))
                .remedy("restore a backup")
        }
        SqlState::UNDEFINED_TABLE => {
            return missing_table(format!("{place} is damaged: {what}"), error);
        }
        SqlState::PROGRAM_LIMIT_EXCEEDED => Error::too_large(format!("{place}: {what}")),
        _ => match class {
            "08" | "57" | "53" => {
                Error::new(ErrorKind::Unavailable, format!("{place} is not available: {what}"))
                    .remedy("try again when the server is back; nothing of this write was kept")
            }
            "23" => Error::conflict(format!("the store refused a row: {what}")),
            _ => Error::internal(format!("PostgreSQL: {what} ({})", state.code())),
        },
    };
    explained.because(error)
}

fn cause(error: &tokio_postgres::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), |source| source.to_string())
}
