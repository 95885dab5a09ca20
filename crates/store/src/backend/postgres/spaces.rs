//! The spaces of a database: one schema each, listed and removed.
//!
//! Every connection holds a shared advisory lock on its space, so that a process that removes one
//! can tell whether others use it.

use super::errors::explain;
use super::{Postgres, PostgresConnection};
use crate::backend::in_use;
use oneiro_model::{ErrorKind, Result, SpaceInfo, SpaceName};

/// What the schemas of spaces begin with.
pub(super) const SCHEMA_PREFIX: &str = "oneiro_";

/// Schemas that hold a table of migrations, and the bytes of each.
const LIST: &str = "SELECT n.nspname::TEXT, COALESCE(SUM(pg_total_relation_size(c.oid)), 0)::BIGINT \
                    FROM pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid \
                    WHERE starts_with(n.nspname::TEXT, $1) AND c.relkind = 'r' \
                    GROUP BY 1 HAVING BOOL_OR(c.relname = 'migrations')";

/// The statement by which a connection says that it uses a space.
pub(super) fn shared_lock(schema: &str) -> String {
    format!("SELECT pg_advisory_lock_shared({})", lock_key(schema))
}

fn lock_key(schema: &str) -> String {
    format!("hashtext('oneiro open'), hashtext('{schema}')")
}

pub(super) fn list(postgres: &Postgres) -> Result<Vec<SpaceInfo>> {
    let mut connection = postgres.open()?;
    let rows = connection.call(async |client| client.query(LIST, &[&SCHEMA_PREFIX]).await)?;
    let mut spaces = Vec::with_capacity(rows.len());
    for row in rows {
        let read = row.try_get::<_, String>(0).and_then(|name| Ok((name, row.try_get(1)?)));
        let (schema, bytes): (String, i64) =
            read.map_err(|error| explain(&postgres.place, error.into()))?;
        let name = schema.strip_prefix(SCHEMA_PREFIX).unwrap_or_default();
        if let Ok(name) = SpaceName::new(name) {
            let bytes = u64::try_from(bytes).unwrap_or(0);
            spaces.push(SpaceInfo { name, bytes, damaged: false });
        }
    }
    spaces.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(spaces)
}

pub(super) fn delete(postgres: &Postgres) -> Result<()> {
    let mut connection = postgres.open()?;
    lock_alone(&mut connection, postgres)?;
    connection.batch(&format!("DROP SCHEMA \"{}\" CASCADE", postgres.schema))
}

/// How long the server may take to notice that a connection was closed, in milliseconds. Until then
/// the connection holds its lock, and often it is one that this very process has just closed.
const CLOSE_MILLIS: u32 = 2_000;

fn lock_alone(connection: &mut PostgresConnection, postgres: &Postgres) -> Result<()> {
    let key = lock_key(&postgres.schema);
    let sql = format!("SET lock_timeout = {CLOSE_MILLIS}; SELECT pg_advisory_lock({key})");
    connection.batch(&sql).map_err(|error| match error.kind() {
        ErrorKind::Busy => in_use(&postgres.place).because(error),
        _ => error,
    })
}
