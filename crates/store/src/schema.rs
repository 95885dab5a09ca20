//! Schema migrations: numbered, forward only, recorded in a table, and run under the write lock. Each has
//! a file for SQLite and one for PostgreSQL.

use crate::backend::{Access, Backend, Connection, Engine, Value};
use crate::{Tx, sequence};
use oneiro_model::{Error, ErrorKind, Result, Timestamp};

/// A migration for both engines. It must create, change or drop a table or an index: that is how a
/// process that has the SQLite file open notices it.
#[derive(Debug, Clone, Copy)]
pub struct Migration {
    /// Its name, as in the file name.
    pub name: &'static str,
    /// Statements for SQLite, each ended by a semicolon at the end of a line.
    pub sqlite: &'static str,
    /// The same for PostgreSQL.
    pub postgres: &'static str,
}

/// The migrations of a store, in order; the first is number 1.
pub type SchemaSet = &'static [Migration];

/// The schema of this version of Oneiro.
pub const CURRENT: SchemaSet = &[
    Migration {
        name: "foundation",
        sqlite: include_str!("schema/0001_foundation.sqlite.sql"),
        postgres: include_str!("schema/0001_foundation.postgres.sql"),
    },
    Migration {
        name: "text_index",
        sqlite: include_str!("schema/0002_text_index.sqlite.sql"),
        postgres: include_str!("schema/0002_text_index.postgres.sql"),
    },
    Migration {
        name: "serving",
        sqlite: include_str!("schema/0003_serving.sqlite.sql"),
        postgres: include_str!("schema/0003_serving.postgres.sql"),
    },
    Migration {
        name: "context",
        sqlite: include_str!("schema/0004_context.sqlite.sql"),
        postgres: include_str!("schema/0004_context.postgres.sql"),
    },
    Migration {
        name: "slots",
        sqlite: include_str!("schema/0005_slots.sqlite.sql"),
        postgres: include_str!("schema/0005_slots.postgres.sql"),
    },
    Migration {
        name: "job_needs",
        sqlite: include_str!("schema/0006_job_needs.sqlite.sql"),
        postgres: include_str!("schema/0006_job_needs.postgres.sql"),
    },
    Migration {
        name: "actors",
        sqlite: include_str!("schema/0007_actors.sqlite.sql"),
        postgres: include_str!("schema/0007_actors.postgres.sql"),
    },
    Migration {
        name: "capture",
        sqlite: include_str!("schema/0008_capture.sqlite.sql"),
        postgres: include_str!("schema/0008_capture.postgres.sql"),
    },
    Migration {
        name: "frontiers",
        sqlite: include_str!("schema/0009_frontiers.sqlite.sql"),
        postgres: include_str!("schema/0009_frontiers.postgres.sql"),
    },
    Migration {
        name: "erased_messages",
        sqlite: include_str!("schema/0010_erased_messages.sqlite.sql"),
        postgres: include_str!("schema/0010_erased_messages.postgres.sql"),
    },
    Migration {
        name: "memories",
        sqlite: include_str!("schema/0011_memories.sqlite.sql"),
        postgres: include_str!("schema/0011_memories.postgres.sql"),
    },
    Migration {
        name: "notes",
        sqlite: include_str!("schema/0012_notes.sqlite.sql"),
        postgres: include_str!("schema/0012_notes.postgres.sql"),
    },
    Migration {
        name: "note_entries",
        sqlite: include_str!("schema/0013_note_entries.sqlite.sql"),
        postgres: include_str!("schema/0013_note_entries.postgres.sql"),
    },
    Migration {
        name: "dreams",
        sqlite: include_str!("schema/0014_dreams.sqlite.sql"),
        postgres: include_str!("schema/0014_dreams.postgres.sql"),
    },
    Migration {
        name: "mounts",
        sqlite: include_str!("schema/0015_mounts.sqlite.sql"),
        postgres: include_str!("schema/0015_mounts.postgres.sql"),
    },
];

/// Statements that create the missing tables of the text index.
pub(crate) fn index_tables(engine: Engine) -> Vec<String> {
    let sql =
        CURRENT.iter().find(|migration| migration.name == "text_index").map(
            |migration| match engine {
                Engine::Sqlite => migration.sqlite,
                Engine::Postgres => migration.postgres,
            },
        );
    let statements = sql.unwrap_or_default().split(";\n").map(str::trim);
    let statements = statements.filter(|statement| !statement.is_empty()).map(|statement| {
        statement
            .trim_end_matches(';')
            .replacen("CREATE TABLE ", "CREATE TABLE IF NOT EXISTS ", 1)
            .replacen("CREATE UNIQUE INDEX ", "CREATE UNIQUE INDEX IF NOT EXISTS ", 1)
    });
    statements.collect()
}

const RECORD: &str = "INSERT INTO migrations (version, name, applied_at) VALUES (?1, ?2, ?3)";
const VERSION: &str = "SELECT COALESCE(MAX(version), 0) FROM migrations";

/// The version a store is at; 0 when it is new.
pub(crate) fn version(engine: Engine, connection: &mut dyn Connection) -> Result<i64> {
    let exists = match engine {
        Engine::Sqlite => "SELECT COUNT(*) FROM sqlite_schema WHERE name = 'migrations'",
        Engine::Postgres => {
            "SELECT COUNT(*) FROM pg_tables \
             WHERE schemaname = current_schema() AND tablename = 'migrations'"
        }
    };
    if query_number(connection, exists)? == 0 {
        return Ok(0);
    }
    query_number(connection, VERSION)
}

fn query_number(connection: &mut dyn Connection, sql: &str) -> Result<i64> {
    let mut found = 0;
    connection.query(sql, &[], &mut |row| {
        found = row.int(0)?;
        Ok(())
    })?;
    Ok(found)
}

/// Refuses a store that a newer Oneiro wrote.
pub(crate) fn refuse_newer(version: i64, schema: SchemaSet) -> Result<()> {
    let known = schema.len() as i64;
    if version <= known {
        return Ok(());
    }
    let what = format!("this store has schema {version}, and this Oneiro knows up to {known}");
    Err(Error::new(ErrorKind::NewerSchema, what)
        .remedy("upgrade oneiro and start it again; the store was not touched"))
}

/// Migrates a store to `schema` in one transaction. For a store that is not new, `before` is called
/// with its version, under the lock.
#[expect(clippy::too_many_arguments, reason = "one step of opening a store, not an interface")]
pub(crate) fn migrate(
    backend: &dyn Backend,
    connection: &mut dyn Connection,
    schema: SchemaSet,
    now: Timestamp,
    before: impl FnOnce(i64) -> Result<()>,
) -> Result<()> {
    connection.begin(Access::Migrate)?;
    let done = match version(backend.engine(), connection) {
        // Read again under the lock: another process may have migrated meanwhile.
        Ok(at) if at == 0 || at >= schema.len() as i64 => Ok(()),
        Ok(at) => before(at),
        Err(error) => Err(error),
    };
    let done = done.and_then(|()| apply(backend.engine(), connection, schema, now));
    done.and_then(|()| connection.commit()).inspect_err(|_| connection.rollback())
}

fn apply(
    engine: Engine,
    connection: &mut dyn Connection,
    schema: SchemaSet,
    now: Timestamp,
) -> Result<()> {
    let at = version(engine, connection)?;
    refuse_newer(at, schema)?;
    if at == 0 {
        let table = match engine {
            Engine::Sqlite => {
                "CREATE TABLE migrations (version INTEGER PRIMARY KEY, \
                 name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT"
            }
            Engine::Postgres => {
                "CREATE TABLE migrations (version BIGINT PRIMARY KEY, \
                 name TEXT COLLATE \"C\" NOT NULL, applied_at BIGINT NOT NULL)"
            }
        };
        connection.execute(table, &[])?;
    }
    if at > 0 && at < schema.len() as i64 {
        // PostgreSQL writers lock this row and check the schema version when it changed.
        sequence::change_settings(&Tx::new(&mut *connection))?;
    }
    for (index, migration) in schema.iter().enumerate().skip(at.max(0) as usize) {
        let sql = match engine {
            Engine::Sqlite => migration.sqlite,
            Engine::Postgres => migration.postgres,
        };
        connection.execute_script(sql)?;
        let record =
            [Value::Int(index as i64 + 1), Value::Text(migration.name), Value::Int(now.micros())];
        connection.execute(RECORD, &record)?;
    }
    Ok(())
}
