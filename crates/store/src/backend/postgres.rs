//! PostgreSQL through the blocking client: one schema per space, `?1` rewritten to `$1` once per
//! statement, the one writer of a space held by a row lock on its sequence. The client panics on
//! an async thread, so callers use and drop it on blocking threads only.

use super::{Access, Backend, Connection, Engine, Row, State, Value};
use crate::options::{Durability, Options};
use crate::schema::{SchemaSet, refuse_newer};
use crate::store::{Progress, Scrubbed};
use oneiro_model::{Error, ErrorKind, Result, SpaceName};
use postgres::error::SqlState;
use postgres::fallible_iterator::FallibleIterator;
use postgres::types::{IsNull, ToSql, Type, private::BytesMut};
use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// How often a reader looks whether a newer version migrated the store: it writes nothing, so it may
/// learn that a moment later than a writer.
const READER_LOOKS: Duration = Duration::from_secs(1);

pub(crate) struct Postgres {
    config: postgres::Config,
    place: String,
    schema: String,
    durability: Durability,
    busy_timeout: Duration,
    schema_set: SchemaSet,
}

impl Postgres {
    pub(crate) fn new(url: &str, space: &SpaceName, options: &Options) -> Result<Postgres> {
        let mut config: postgres::Config = url.parse().map_err(|error| {
            Error::field("store", "is not a PostgreSQL address")
                .remedy("write postgres://user:password@host:5432/database")
                .because(error)
        })?;
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(Duration::from_secs(5));
        }
        if config.get_application_name().is_none() {
            config.application_name("oneiro");
        }
        Ok(Postgres {
            config,
            place: crate::Target::Postgres { url: url.to_owned(), space: space.clone() }
                .to_string(),
            schema: format!("oneiro_{space}"),
            durability: options.durability,
            busy_timeout: options.busy_timeout,
            schema_set: options.schema,
        })
    }

    fn explain(&self, error: postgres::Error) -> Error {
        explain(&self.place, error)
    }

    fn open(&self) -> Result<PostgresConnection> {
        let mut client =
            self.config.connect(postgres::NoTls).map_err(|error| self.explain(error))?;
        let commit = match self.durability {
            Durability::Full => "on",
            Durability::Normal => "off",
        };
        // A space's name holds nothing that needs escaping inside quotes.
        let setup = format!(
            "SET search_path TO \"{}\"; SET synchronous_commit = {commit}; \
             SET lock_timeout = {}; SET client_min_messages = warning;",
            self.schema,
            self.busy_timeout.as_millis().max(1),
        );
        client.batch_execute(&setup).map_err(|error| self.explain(error))?;
        Ok(PostgresConnection {
            client,
            place: self.place.clone(),
            schema: self.schema.clone(),
            statements: HashMap::new(),
            open: false,
            schema_set: self.schema_set,
            settings: None,
            checked: None,
        })
    }
}

impl Backend for Postgres {
    fn engine(&self) -> Engine {
        Engine::Postgres
    }

    fn connect(&self) -> Result<Box<dyn Connection>> {
        Ok(Box::new(self.open()?))
    }

    fn make_durable(&self) -> Result<()> {
        // The server does this before it answers a commit.
        Ok(())
    }

    fn group_limit(&self) -> usize {
        32
    }

    fn bytes(&self) -> Result<u64> {
        let mut connection = self.open()?;
        let sql = "SELECT COALESCE(SUM(pg_total_relation_size(c.oid)), 0)::BIGINT \
                   FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
                   WHERE n.nspname = $1 AND c.relkind = 'r'";
        let row = connection.client.query_one(sql, &[&self.schema]);
        Ok(row.map_err(|error| self.explain(error))?.get::<_, i64>(0) as u64)
    }

    fn copy_to(&self, _path: &Path, _progress: &mut dyn FnMut(Progress)) -> Result<Option<()>> {
        Ok(None)
    }

    fn integrity(&self) -> Result<Vec<String>> {
        // The server checks its own pages; a query that answers is what a client can ask for.
        self.open().map(|_| Vec::new())
    }

    fn scrub(&self, _needles: &[Vec<u8>]) -> Result<Scrubbed> {
        let mut connection = self.open()?;
        let sql = "SELECT c.relname::TEXT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
                   WHERE n.nspname = $1 AND c.relkind = 'r' ORDER BY 1";
        let tables = connection.client.query(sql, &[&self.schema]);
        for table in tables.map_err(|error| self.explain(error))? {
            let name: String = table.get(0);
            let vacuum = format!("VACUUM (FULL, ANALYZE) \"{}\".\"{name}\"", self.schema);
            connection.client.batch_execute(&vacuum).map_err(|error| self.explain(error))?;
        }
        Ok(Scrubbed {
            searched: false,
            found: Vec::new(),
            bytes: 0,
            out_of_reach: vec![
                format!("the write-ahead log of {} until it is recycled", self.place),
                "replicas, archived logs and dumps of that server".to_owned(),
            ],
        })
    }
}

struct PostgresConnection {
    client: postgres::Client,
    place: String,
    schema: String,
    statements: HashMap<String, postgres::Statement>,
    open: bool,
    /// What this version of Oneiro knows.
    schema_set: SchemaSet,
    /// The generation of the settings when the version of the schema was last looked at; a
    /// migration changes it.
    settings: Option<String>,
    /// When a reader last looked at the version of the schema.
    checked: Option<Instant>,
}

impl PostgresConnection {
    fn explain(&self, error: postgres::Error) -> Error {
        explain(&self.place, error)
    }

    /// Refuses a store that a newer version migrated while it was open. A writer looks when the
    /// row it has just locked changed, a reader now and then.
    fn check_schema(&mut self, access: Access, row: Option<String>) -> Result<()> {
        let is_due = match access {
            Access::Write => self.settings != row,
            Access::Read => self.checked.is_none_or(|at| at.elapsed() >= READER_LOOKS),
            Access::Migrate => false,
        };
        if !is_due {
            return Ok(());
        }
        let sql = "SELECT COALESCE(MAX(version), 0) FROM migrations";
        let version = self.client.query_one(sql, &[]).map_err(|error| self.explain(error))?;
        refuse_newer(version.get(0), self.schema_set)?;
        match access {
            Access::Write => self.settings = row,
            _ => self.checked = Some(Instant::now()),
        }
        Ok(())
    }

    fn statement(&mut self, sql: &str) -> Result<postgres::Statement> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(&number(sql)).map_err(|error| self.explain(error))?;
        self.statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }
}

/// `?1` becomes `$1`; a question mark inside quotes stays.
fn number(sql: &str) -> String {
    let mut quoted = false;
    sql.chars()
        .map(|letter| match letter {
            '\'' => {
                quoted = !quoted;
                letter
            }
            '?' if !quoted => '$',
            _ => letter,
        })
        .collect()
}

impl Connection for PostgresConnection {
    fn begin(&mut self, access: Access) -> Result<()> {
        let sql = match access {
            Access::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY".to_owned(),
            // The row lock makes commit order sequence order, and one writer at a time means that
            // what a write has checked still holds when it commits, as with SQLite.
            Access::Write => {
                "BEGIN; SELECT settings FROM sequence WHERE id = 1 FOR UPDATE".to_owned()
            }
            Access::Migrate => format!(
                "BEGIN; SELECT pg_advisory_xact_lock(hashtext('oneiro migrate'), hashtext('{0}')); \
                 CREATE SCHEMA IF NOT EXISTS \"{0}\"",
                self.schema
            ),
        };
        match self.client.simple_query(&sql) {
            Ok(answers) => {
                self.open = true;
                let row = answers.iter().find_map(|answer| match answer {
                    postgres::SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
                    _ => None,
                });
                self.check_schema(access, row).inspect_err(|_| self.rollback())
            }
            Err(error) => {
                let _ = self.client.batch_execute("ROLLBACK");
                Err(self.explain(error))
            }
        }
    }

    fn execute(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64> {
        let statement = self.statement(sql)?;
        let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| value as _).collect();
        self.client.execute(&statement, &values).map_err(|error| explain(&self.place, error))
    }

    fn query(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
        each: &mut dyn FnMut(&dyn Row) -> Result<()>,
    ) -> Result<()> {
        let statement = self.statement(sql)?;
        let values = values.iter().map(|value| value as &(dyn ToSql + Sync));
        let place = &self.place;
        let mut rows =
            self.client.query_raw(&statement, values).map_err(|error| explain(place, error))?;
        while let Some(row) = rows.next().map_err(|error| explain(place, error))? {
            each(&PostgresRow(&row))?;
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        self.open = false;
        // A COMMIT of a failed transaction answers ROLLBACK without an error; nothing commits
        // after a statement failed, because the group rolls back first.
        self.client.batch_execute("COMMIT").map_err(|error| {
            let lost = error.is_closed() || error.as_db_error().is_none();
            let said = explain(&self.place, error);
            match lost {
                true => said.remedy(
                    "whether this write was kept is unknown: send it again with the same external_id",
                ),
                false => said,
            }
        })
    }

    fn rollback(&mut self) {
        if std::mem::take(&mut self.open) {
            let _ = self.client.batch_execute("ROLLBACK");
        }
    }

    fn rows_at_once(&self) -> usize {
        32
    }

    fn state(&self) -> State {
        match (self.client.is_closed(), self.open) {
            (true, _) => State::Broken,
            (false, true) => State::Open,
            (false, false) => State::Idle,
        }
    }
}

struct PostgresRow<'r>(&'r postgres::Row);

impl Row for PostgresRow<'_> {
    fn value(&self, column: usize) -> Result<Value<'_>> {
        let unread = |error: postgres::Error| {
            Error::internal(format!("column {column} of an answer")).because(error)
        };
        let kind = self.0.columns().get(column).map(|column| column.type_().clone());
        Ok(match kind {
            Some(Type::INT8) => self
                .0
                .try_get::<_, Option<i64>>(column)
                .map_err(unread)?
                .map_or(Value::Null, Value::Int),
            Some(Type::INT4) => {
                let value = self.0.try_get::<_, Option<i32>>(column).map_err(unread)?;
                value.map_or(Value::Null, |value| Value::Int(i64::from(value)))
            }
            Some(Type::TEXT | Type::VARCHAR | Type::NAME) => self
                .0
                .try_get::<_, Option<&str>>(column)
                .map_err(unread)?
                .map_or(Value::Null, Value::Text),
            Some(Type::BYTEA) => self
                .0
                .try_get::<_, Option<&[u8]>>(column)
                .map_err(unread)?
                .map_or(Value::Null, Value::Bytes),
            other => {
                return Err(Error::internal(format!("column {column} has the type {other:?}")));
            }
        })
    }
}

impl ToSql for Value<'_> {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Value::Null => Ok(IsNull::Yes),
            Value::Int(value) if *kind == Type::INT4 => i32::try_from(*value)?.to_sql(kind, out),
            Value::Int(value) => value.to_sql(kind, out),
            Value::Text(text) => text.to_sql(kind, out),
            Value::Bytes(bytes) => bytes.to_sql(kind, out),
        }
    }

    fn accepts(kind: &Type) -> bool {
        matches!(*kind, Type::INT8 | Type::INT4 | Type::TEXT | Type::VARCHAR | Type::BYTEA)
    }

    postgres::types::to_sql_checked!();
}

fn explain(place: &str, error: postgres::Error) -> Error {
    let Some(state) = error.code() else {
        // No SQLSTATE: the network, not the server, said no.
        return Error::new(
            ErrorKind::Unavailable,
            format!("{place} does not answer: {}", cause(&error)),
        )
        .remedy(match cause(&error).contains("TLS") {
            true => "TLS is not supported yet: reach the server over a local or private network",
            false => "check that the server runs and the address is right, then try again",
        })
        .because(error);
    };
    let what = error.as_db_error().map_or_else(|| error.to_string(), |db| db.message().to_owned());
    let class = state.code().get(..2).unwrap_or_default();
    let said = match *state {
        SqlState::LOCK_NOT_AVAILABLE
        | SqlState::T_R_DEADLOCK_DETECTED
        | SqlState::T_R_SERIALIZATION_FAILURE => {
            Error::new(ErrorKind::Busy, format!("another writer held {place} for too long"))
                .remedy("try again; raise busy_timeout_ms if this happens often")
        }
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
    said.because(error)
}

fn cause(error: &postgres::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), |source| source.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_renumbered_outside_quotes() {
        assert_eq!(number("a = ?1 AND b = '?2' AND c = ?12"), "a = $1 AND b = '?2' AND c = $12");
    }
}
