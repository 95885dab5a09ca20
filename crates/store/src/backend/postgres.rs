//! PostgreSQL: one schema per space, `?1` rewritten to `$1` once per statement, and one writer at a
//! time by a row lock on the sequence of the space. Calls block the thread.

mod address;
mod client;
mod errors;
mod hosts;
mod spaces;
mod tls;

use super::{Access, Backend, Connection, CopyOutcome, Engine, Row, State, Value};
use crate::options::{Durability, Options};
use crate::schema::{SchemaSet, refuse_newer};
use crate::store::{Progress, Scrubbed};
use address::Address;
use client::{Client, Dialer, Failure};
use errors::explain;
use oneiro_model::{Error, ErrorKind, Remedy, Result, SpaceInfo, SpaceName};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_postgres::SimpleQueryMessage;
use tokio_postgres::types::{IsNull, ToSql, Type, private::BytesMut};
use tokio_stream::StreamExt;

/// The shortest limit on the time between two statements of a write.
const MIN_IDLE_TIMEOUT: Duration = Duration::from_secs(5);

/// How often a reader checks whether a newer version has migrated the store. A writer checks sooner,
/// because it could do damage.
const READER_CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// The most writes in one commit.
const GROUP_LIMIT: usize = 32;

/// Rows in one INSERT, to save round trips.
const ROWS_PER_INSERT: usize = 32;

pub(crate) struct Postgres {
    dialer: Arc<Dialer>,
    place: String,
    schema: String,
    durability: Durability,
    timeouts: Timeouts,
    schema_set: SchemaSet,
}

/// The time-outs of the server. The client waits longer, in case the server hangs.
#[derive(Clone, Copy)]
struct Timeouts {
    /// The wait for a lock.
    lock: Duration,
    /// A statement, including the wait for its locks.
    statement: Duration,
    /// The time between two statements of a write, whose process may be stopped or disconnected. It
    /// is shorter than the wait for the lock, so that those that wait get it in time.
    idle_in_transaction: Duration,
    /// How much longer than the server the client waits.
    client_extra: Duration,
}

impl Timeouts {
    fn new(options: &Options, dialer: &Dialer) -> Timeouts {
        let lock = options.busy_timeout.max(Duration::from_millis(1));
        Timeouts {
            lock,
            statement: options.statement_timeout.saturating_add(lock),
            idle_in_transaction: (lock / 2).max(MIN_IDLE_TIMEOUT),
            client_extra: dialer.connect_timeout(),
        }
    }

    fn client_statement_limit(self) -> Option<Duration> {
        Some(self.statement.saturating_add(self.client_extra))
    }

    /// SQL that lowers the lock time-out of one transaction to `wait`, or nothing if the difference is
    /// less than an eighth: almost every write has waited a little in its queue.
    fn set_lock_timeout(self, wait: Duration) -> String {
        if wait >= self.lock - self.lock / 8 {
            return String::new();
        }
        format!("SET LOCAL lock_timeout = {}; ", millis(wait))
    }
}

impl Postgres {
    pub(crate) fn new(url: &str, space: &SpaceName, options: &Options) -> Result<Postgres> {
        let dialer = Dialer::new(Address::parse(url)?);
        Ok(Postgres {
            timeouts: Timeouts::new(options, &dialer),
            dialer: Arc::new(dialer),
            place: crate::Target::Postgres { url: url.to_owned(), space: space.clone() }
                .to_string(),
            schema: format!("{}{space}", spaces::SCHEMA_PREFIX),
            durability: options.durability,
            schema_set: options.schema,
        })
    }

    fn open(&self) -> Result<PostgresConnection> {
        let client = self.dialer.connect().map_err(|failure| explain(&self.place, failure))?;
        let mut connection = PostgresConnection {
            client,
            place: self.place.clone(),
            schema: self.schema.clone(),
            statements: HashMap::new(),
            in_transaction: false,
            timeouts: self.timeouts,
            limit: Some(self.timeouts.client_extra),
            schema_set: self.schema_set,
            checked_generation: None,
            checked_at: None,
        };
        let commit = match self.durability {
            Durability::Full => "on",
            Durability::Normal => "off",
        };
        // A space's name holds nothing that needs escaping inside quotes.
        connection.batch(&format!(
            "SET search_path TO \"{}\"; SET synchronous_commit = {commit}; \
             SET lock_timeout = {}; SET statement_timeout = {}; \
             SET client_min_messages = warning; {}",
            self.schema,
            millis(self.timeouts.lock),
            millis(self.timeouts.statement),
            spaces::shared_lock(&self.schema),
        ))?;
        connection.limit = self.timeouts.client_statement_limit();
        Ok(connection)
    }
}

/// A duration as a setting of the server: milliseconds, at least 1, since 0 means no limit.
fn millis(duration: Duration) -> i32 {
    i32::try_from(duration.as_millis()).unwrap_or(i32::MAX).max(1)
}

impl Backend for Postgres {
    fn engine(&self) -> Engine {
        Engine::Postgres
    }

    fn connect(&self) -> Result<Box<dyn Connection>> {
        Ok(Box::new(self.open()?))
    }

    fn make_durable(&self) -> Result<()> {
        // The server syncs before it confirms a commit.
        Ok(())
    }

    fn group_limit(&self) -> usize {
        GROUP_LIMIT
    }

    fn bytes(&self) -> Result<u64> {
        let mut connection = self.open()?;
        let sql = "SELECT COALESCE(SUM(pg_total_relation_size(c.oid)), 0)::BIGINT \
                   FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
                   WHERE n.nspname = $1 AND c.relkind = 'r'";
        let schema = &self.schema;
        let row = connection.call(async |client| client.query_one(sql, &[schema]).await)?;
        Ok(row.try_get::<_, i64>(0).map_err(|error| explain(&self.place, error.into()))? as u64)
    }

    fn spaces(&self) -> Result<Vec<SpaceInfo>> {
        spaces::list(self)
    }

    fn delete(&self) -> Result<()> {
        spaces::delete(self)
    }

    fn copy_to(&self, _path: &Path, _progress: &mut dyn FnMut(Progress)) -> Result<CopyOutcome> {
        Ok(CopyOutcome::Unsupported)
    }

    fn integrity(&self) -> Result<Vec<String>> {
        // The server checks its own pages; a client can only check that it responds.
        self.open().map(|_| Vec::new())
    }

    fn scrub(
        &self,
        _needles: &[Vec<u8>],
        is_cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<Scrubbed> {
        let mut connection = self.open()?;
        let sql = "SELECT c.relname::TEXT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
                   WHERE n.nspname = $1 AND c.relkind = 'r' ORDER BY 1";
        let schema = &self.schema;
        let tables = connection.call(async |client| client.query(sql, &[schema]).await)?;
        // Rewriting a table takes as long as the table is large.
        connection.batch("SET statement_timeout = 0")?;
        connection.limit = None;
        for table in tables {
            if is_cancelled() {
                return Err(Error::new(ErrorKind::Unavailable, "not all tables are rewritten yet")
                    .remedy(Remedy::RunJobs));
            }
            let name: String =
                table.try_get(0).map_err(|error| explain(&self.place, error.into()))?;
            connection.batch(&format!("VACUUM (FULL, ANALYZE) \"{schema}\".\"{name}\""))?;
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
    client: Client,
    place: String,
    schema: String,
    statements: HashMap<String, tokio_postgres::Statement>,
    in_transaction: bool,
    timeouts: Timeouts,
    /// How long a call may take; `None` waits as long as the server responds to others.
    limit: Option<Duration>,
    /// The schema that this version of Oneiro knows.
    schema_set: SchemaSet,
    /// The settings generation at the last check of the schema version; a migration changes it.
    checked_generation: Option<String>,
    /// When a reader last checked the schema version.
    checked_at: Option<Instant>,
}

impl PostgresConnection {
    fn call<T>(
        &mut self,
        work: impl AsyncFnOnce(&tokio_postgres::Client) -> Result<T, tokio_postgres::Error>,
    ) -> Result<T> {
        self.client.call(self.limit, work).map_err(|failure| explain(&self.place, failure))
    }

    fn batch(&mut self, sql: &str) -> Result<()> {
        self.call(async |client| client.batch_execute(sql).await)
    }

    /// Refuses a store that a newer version migrated while it was open. A writer checks when the
    /// settings generation in the row it has locked changed, a reader at intervals.
    fn check_schema(&mut self, access: Access, generation: Option<String>) -> Result<()> {
        let is_due = match access {
            Access::Write { .. } => self.checked_generation != generation,
            Access::Read => self.checked_at.is_none_or(|at| at.elapsed() >= READER_CHECK_INTERVAL),
            Access::Migrate => false,
        };
        if !is_due {
            return Ok(());
        }
        let sql = "SELECT COALESCE(MAX(version), 0) FROM migrations";
        let version = self.call(async |client| client.query_one(sql, &[]).await)?;
        let version = version.try_get(0).map_err(|error| explain(&self.place, error.into()))?;
        refuse_newer(version, self.schema_set)?;
        match access {
            Access::Write { .. } => self.checked_generation = generation,
            Access::Read | Access::Migrate => self.checked_at = Some(Instant::now()),
        }
        Ok(())
    }

    fn statement(&mut self, sql: &str) -> Result<tokio_postgres::Statement> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let numbered = number_parameters(sql);
        let statement = self.call(async |client| client.prepare(&numbered).await)?;
        self.statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }
}

/// Rewrites `?1` to `$1`; a question mark inside quotes stays.
fn number_parameters(sql: &str) -> String {
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
        // The server ends a write that is idle for too long. A reader may be idle: an export waits for
        // its consumer. Set per transaction, because a rollback would undo a setting of the session.
        let idle_timeout = format!(
            "SET LOCAL idle_in_transaction_session_timeout = {}; ",
            millis(self.timeouts.idle_in_transaction)
        );
        let begin = match access {
            Access::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY".to_owned(),
            // The row lock makes the order of commits that of the sequence. With one writer at a time,
            // what a write has read is still true when it commits, as with SQLite.
            Access::Write { wait } => {
                let lock_timeout = self.timeouts.set_lock_timeout(wait);
                format!(
                    "BEGIN; {idle_timeout}{lock_timeout}\
                     SELECT settings FROM sequence WHERE id = 1 FOR UPDATE"
                )
            }
            // A step of a migration may rewrite a table.
            Access::Migrate => format!(
                "BEGIN; {idle_timeout}\
                 SELECT pg_advisory_xact_lock(hashtext('oneiro migrate'), hashtext('{0}')); \
                 SET LOCAL statement_timeout = 0; CREATE SCHEMA IF NOT EXISTS \"{0}\"",
                self.schema
            ),
        };
        let lock = match access {
            Access::Write { wait } => wait,
            Access::Read | Access::Migrate => self.timeouts.lock,
        };
        let limit = Some(lock.saturating_add(self.timeouts.client_extra));
        let begun = self.client.call(limit, async |client| client.simple_query(&begin).await);
        let messages = match begun {
            Ok(messages) => messages,
            Err(failure) => {
                let _ = self.batch("ROLLBACK");
                return Err(explain(&self.place, failure));
            }
        };
        self.in_transaction = true;
        self.limit = match access {
            Access::Read | Access::Write { .. } => self.timeouts.client_statement_limit(),
            Access::Migrate => None,
        };
        let generation = messages.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        });
        self.check_schema(access, generation).inspect_err(|_| self.rollback())
    }

    fn execute(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64> {
        let statement = self.statement(sql)?;
        let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| value as _).collect();
        self.call(async |client| client.execute(&statement, &values).await)
    }

    fn execute_script(&mut self, sql: &str) -> Result<()> {
        self.batch(sql)
    }

    fn query(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
        each: &mut dyn FnMut(&dyn Row) -> Result<()>,
    ) -> Result<()> {
        let statement = self.statement(sql)?;
        let values = values.iter().map(|value| value as &(dyn ToSql + Sync));
        let rows = self.call(async |client| client.query_raw(&statement, values).await)?;
        let mut rows = Box::pin(rows);
        while let Some(row) = self.call(async |_| rows.try_next().await)? {
            each(&PostgresRow(&row))?;
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        self.in_transaction = false;
        // COMMIT of a failed transaction rolls back without an error. That cannot happen here: a group
        // with a failed statement rolls back instead.
        let committed =
            self.client.call(self.limit, async |client| client.batch_execute("COMMIT").await);
        committed.map_err(|failure| {
            // A lost connection does not tell whether the server committed.
            let is_refused = !failure.ends_connection()
                && matches!(&failure, Failure::Driver(error) if error.as_db_error().is_some());
            let explained = explain(&self.place, failure);
            if is_refused {
                return explained;
            }
            explained.remedy(
                "whether this write was kept is unknown: send it again with the same external_id",
            )
        })
    }

    fn rollback(&mut self) {
        if std::mem::take(&mut self.in_transaction) {
            let _ = self.batch("ROLLBACK");
        }
    }

    fn rows_per_insert(&self) -> usize {
        ROWS_PER_INSERT
    }

    fn state(&self) -> State {
        match (self.client.is_closed(), self.in_transaction) {
            (true, _) => State::Broken,
            (false, true) => State::Open,
            (false, false) => State::Idle,
        }
    }
}

struct PostgresRow<'r>(&'r tokio_postgres::Row);

impl Row for PostgresRow<'_> {
    fn value(&self, column: usize) -> Result<Value<'_>> {
        let unreadable = |error: tokio_postgres::Error| {
            Error::internal(format!("column {column} of a result")).because(error)
        };
        let kind = self.0.columns().get(column).map(|column| column.type_().clone());
        Ok(match kind {
            Some(Type::INT8) => self
                .0
                .try_get::<_, Option<i64>>(column)
                .map_err(unreadable)?
                .map_or(Value::Null, Value::Int),
            Some(Type::INT4) => {
                let value = self.0.try_get::<_, Option<i32>>(column).map_err(unreadable)?;
                value.map_or(Value::Null, |value| Value::Int(i64::from(value)))
            }
            Some(Type::TEXT | Type::VARCHAR | Type::NAME) => self
                .0
                .try_get::<_, Option<&str>>(column)
                .map_err(unreadable)?
                .map_or(Value::Null, Value::Text),
            Some(Type::BYTEA) => self
                .0
                .try_get::<_, Option<&[u8]>>(column)
                .map_err(unreadable)?
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

    tokio_postgres::types::to_sql_checked!();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_renumbered_outside_quotes() {
        assert_eq!(
            number_parameters("a = ?1 AND b = '?2' AND c = ?12"),
            "a = $1 AND b = '?2' AND c = $12"
        );
    }
}
