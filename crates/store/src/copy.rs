//! Copies a space row by row into a new SQLite file, for engines that cannot copy themselves. The
//! twins of the schema have the same tables and columns, so nothing here knows their meaning.

use crate::backend::{Row, Value};
use crate::{Engine, Options, Progress, Store, Target, Tx};
use oneiro_model::{Error, Result, Timestamp};
use std::path::Path;

/// A table and its columns, in an order in which references come after what they refer to.
const TABLES: &[(&str, &str)] = &[
    ("settings", "name, value, updated_at"),
    ("payloads", "key, hash, size, data"),
    (
        "sessions",
        "key, id, source, started_at, last_active_at, active_minute, message_count, tool_call_count, \
         first_user_seq, repaired, rewind_count, archived, ended_at, end_reason, user_id, model, \
         model_config, system_prompt_key, parent_key, lineage, title, project, cwd, metadata, \
         input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, \
         api_call_count, estimated_cost_nanousd, actual_cost_nanousd",
    ),
    (
        "messages",
        "seq, session_key, at, role, external_id, compacted, rewind, tool_calls, payloads, body",
    ),
    ("message_payloads", "seq, pointer, payload_key"),
    (
        "usage",
        "session_key, model, provider, base_url, billing_mode, task, api_calls, input_tokens, \
         output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, \
         estimated_cost_nanousd, actual_cost_nanousd, first_at, last_at",
    ),
    (
        "jobs",
        "key, id, kind, state, payload, unique_key, holder, lease_until, attempts, last_error, \
         next_run_at, created_at, updated_at, needs",
    ),
    ("backups", "path, at, reason"),
    ("text_index", "id, build, generation"),
    (
        "segments",
        "id, build, live, first_seq, last_seq, messages, docs, words, blocks, analyzer, \
         embedder, created_at",
    ),
    ("segment_terms", "key, segment, first_term, part, data"),
    ("segment_docs", "key, data"),
    ("segment_vectors", "key, data"),
    ("embeddings", "seq, chunk, model, data"),
    ("tokens", "key, id, label, hash, role, name, actor, created_at, expires_at, revoked_at"),
    ("changes", "key, kind, subject_kind, session_id, operation, actor, at"),
    ("transcripts", "path, agent, position, updated_at"),
    (
        "summaries",
        "key, id, session_key, kind, depth, level, model, content, tokens, source_tokens, message_count, message_tokens, first_seq, last_seq, earliest_at, latest_at, created_at",
    ),
    ("summary_messages", "seq, summary_key"),
    ("summary_children", "parent_key, child_key"),
    ("context_items", "session_key, summary_key"),
    ("contexts", "session_key, epoch, history, reason, holder, lease_until, tried_at"),
    ("windows", "session_key, budget, format, epoch, step, first_seq, full_seq, hash, at"),
    ("pins", "session_key, seq, at"),
    ("message_costs", "session_key, seq, ordinal, total, tokens, short_tokens, begins"),
    ("digests", "session_key, question, head, content, level, model, created_at"),
    ("slots", "scope, name, session_key, value, updated_at"),
];

/// The tables and columns that are copied, for the test that none is forgotten.
#[doc(hidden)]
pub fn copied_tables() -> &'static [(&'static str, &'static str)] {
    TABLES
}

/// A value that outlives its row.
enum Owned {
    Null,
    Int(i64),
    Text(String),
    Bytes(Vec<u8>),
}

impl Owned {
    fn take(row: &dyn Row, column: usize) -> Result<Owned> {
        Ok(match row.value(column)? {
            Value::Null => Owned::Null,
            Value::Int(value) => Owned::Int(value),
            Value::Text(text) => Owned::Text(text.to_owned()),
            Value::Bytes(bytes) => Owned::Bytes(bytes.to_owned()),
        })
    }

    fn lend(&self) -> Value<'_> {
        match self {
            Owned::Null => Value::Null,
            Owned::Int(value) => Value::Int(*value),
            Owned::Text(text) => Value::Text(text),
            Owned::Bytes(bytes) => Value::Bytes(bytes),
        }
    }
}

/// Rows read before they are written, so that memory stays bounded.
const BATCH: i64 = 512;

pub(crate) fn rows_to_file(
    store: &Store,
    path: &Path,
    now: Timestamp,
    progress: &mut dyn FnMut(Progress),
) -> Result<()> {
    let target = Target::File { path: path.to_owned(), space: store.target().space().clone() };
    let copy = Store::open(&target, &Options { readers: 1, ..Options::default() }, now)?;
    debug_assert_eq!(copy.engine(), Engine::Sqlite);
    let progress = std::cell::RefCell::new(progress);
    store.read(|from| {
        copy.write_bulk(|to| {
            // A session may refer to one with a larger key; the check waits for the commit.
            to.execute("PRAGMA defer_foreign_keys = ON", &[])?;
            let mut done = 0;
            let mut total = 0;
            for (table, _) in TABLES {
                let count = format!("SELECT COUNT(*) FROM {table}");
                total += from.one(&count, &[], |row| row.int(0))? as u64;
            }
            for (table, columns) in TABLES {
                copy_table((from, to), table, columns, &mut |rows| {
                    done += rows;
                    (progress.borrow_mut())(Progress { done, total });
                })?;
            }
            let counters = from.one("SELECT message, key, settings FROM sequence", &[], |row| {
                Ok([row.int(0)?, row.int(1)?, row.int(2)?])
            })?;
            let counters = counters.map(Value::Int);
            to.execute("UPDATE sequence SET message = ?1, key = ?2, settings = ?3", &counters)?;
            Ok(())
        })
    })
}

fn copy_table(
    (from, to): (&Tx<'_>, &Tx<'_>),
    table: &str,
    columns: &str,
    done: &mut dyn FnMut(u64),
) -> Result<()> {
    let width = columns.split(',').count();
    let marks: Vec<String> = (1..=width).map(|n| format!("?{n}")).collect();
    let insert = format!("INSERT INTO {table} ({columns}) VALUES ({})", marks.join(", "));
    // A cursor keeps the server from sending a whole table at once.
    let cursor = format!("copy_{table}");
    from.execute(
        &format!("DECLARE {cursor} NO SCROLL CURSOR FOR SELECT {columns} FROM {table}"),
        &[],
    )?;
    let fetch = format!("FETCH FORWARD {BATCH} FROM {cursor}");
    loop {
        let rows = from.all(&fetch, &[], |row| {
            (0..width).map(|column| Owned::take(row, column)).collect::<Result<Vec<_>>>()
        })?;
        if rows.is_empty() {
            return from.execute(&format!("CLOSE {cursor}"), &[]).map(|_| ());
        }
        for row in &rows {
            let values: Vec<Value<'_>> = row.iter().map(Owned::lend).collect();
            if to.execute(&insert, &values)? != 1 {
                return Err(Error::internal(format!("a row of {table} was not copied")));
            }
        }
        done(rows.len() as u64);
    }
}
