//! Files of hermes for tests, in the tables of any of its versions, and what is in them. Written by
//! us after what is known of each version.

use crate::support::Fixed;
use oneiro::{HermesImported, Oneiro, Result};
use oneiro_testkit::TestSpace;
use rusqlite::{Connection, ToSql, params};
use std::path::{Path, PathBuf};

/// A `state.db`. It is opened for each change and closed again: an import refuses a file that its own
/// process has open.
pub struct Hermes {
    pub path: PathBuf,
}

/// Columns with the version that brought them.
const SESSION_COLUMNS: &[(i64, &str)] = &[
    (3, "title TEXT"),
    (5, "cache_read_tokens INTEGER DEFAULT 0"),
    (5, "cache_write_tokens INTEGER DEFAULT 0"),
    (5, "reasoning_tokens INTEGER DEFAULT 0"),
    (5, "billing_provider TEXT"),
    (5, "billing_base_url TEXT"),
    (5, "billing_mode TEXT"),
    (5, "estimated_cost_usd REAL"),
    (5, "actual_cost_usd REAL"),
    (5, "cost_status TEXT"),
    (5, "cost_source TEXT"),
    (5, "pricing_version TEXT"),
    (8, "api_call_count INTEGER DEFAULT 0"),
    (15, "rewind_count INTEGER NOT NULL DEFAULT 0"),
    (15, "archived INTEGER NOT NULL DEFAULT 0"),
    (17, "session_key TEXT"),
    (17, "chat_id TEXT"),
    (17, "chat_type TEXT"),
    (17, "thread_id TEXT"),
    (18, "display_name TEXT"),
    (18, "origin_json TEXT"),
    (18, "expiry_finalized INTEGER DEFAULT 0"),
    (19, "cwd TEXT"),
    (19, "git_branch TEXT"),
    (19, "git_repo_root TEXT"),
    (20, "handoff_state TEXT"),
    (20, "handoff_platform TEXT"),
    (20, "handoff_error TEXT"),
    (21, "compression_failure_cooldown_until REAL"),
    (21, "compression_failure_error TEXT"),
    (21, "compression_fallback_streak INTEGER NOT NULL DEFAULT 0"),
    (22, "profile_name TEXT"),
    (24, "last_activity_at REAL"),
    (25, "system_prompt_hash TEXT"),
    (26, "git_metadata_generation INTEGER DEFAULT 0"),
    (27, "created_source TEXT"),
    (28, "title_source TEXT"),
    (29, "pinned INTEGER DEFAULT 0"),
    (29, "hidden INTEGER DEFAULT 0"),
    (30, "tool_names TEXT"),
];

const MESSAGE_COLUMNS: &[(i64, &str)] = &[
    (2, "finish_reason TEXT"),
    (6, "reasoning TEXT"),
    (6, "reasoning_details TEXT"),
    (6, "codex_reasoning_items TEXT"),
    (7, "reasoning_content TEXT"),
    (9, "codex_message_items TEXT"),
    (12, "platform_message_id TEXT"),
    (13, "observed INTEGER DEFAULT 0"),
    (15, "active INTEGER NOT NULL DEFAULT 1"),
    (17, "compacted INTEGER NOT NULL DEFAULT 0"),
    (21, "api_content TEXT"),
    (21, "effect_disposition TEXT"),
    (27, "display_kind TEXT"),
    (27, "display_metadata TEXT"),
    (27, "display_identity BLOB"),
    (27, "display_order INTEGER"),
];

impl Hermes {
    pub fn new(space: &TestSpace, version: i64) -> Hermes {
        Hermes::at(space.folder().join(format!("state-{version}.db")), version)
    }

    pub fn at(path: PathBuf, version: i64) -> Hermes {
        let db = Connection::open(&path).unwrap();
        let added = |columns: &[(i64, &str)]| -> String {
            let columns = columns.iter().filter(|(since, _)| *since <= version);
            columns.map(|(_, column)| format!(", {column}")).collect()
        };
        db.execute_batch(&format!(
            "PRAGMA journal_mode = WAL; PRAGMA foreign_keys = OFF;
             CREATE TABLE schema_version (version INTEGER NOT NULL);
             INSERT INTO schema_version VALUES ({version});
             CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT NOT NULL, user_id TEXT,
               model TEXT, model_config TEXT, system_prompt TEXT, parent_session_id TEXT,
               started_at REAL NOT NULL, ended_at REAL, end_reason TEXT,
               message_count INTEGER DEFAULT 0, tool_call_count INTEGER DEFAULT 0,
               input_tokens INTEGER DEFAULT 0, output_tokens INTEGER DEFAULT 0{});
             CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT,
               session_id TEXT NOT NULL, role TEXT NOT NULL, content TEXT, tool_call_id TEXT,
               tool_calls TEXT, tool_name TEXT, timestamp REAL NOT NULL, token_count INTEGER{});
             CREATE INDEX idx_messages_session ON messages (session_id, timestamp);
             CREATE VIRTUAL TABLE messages_fts USING fts5(content);",
            added(SESSION_COLUMNS),
            added(MESSAGE_COLUMNS),
        ))
        .unwrap();
        let later: &[(i64, &str)] = &[
            (4, "CREATE UNIQUE INDEX idx_title ON sessions (title) WHERE title IS NOT NULL"),
            (14, "CREATE TABLE state_meta (key TEXT PRIMARY KEY, value TEXT)"),
            (
                14,
                "CREATE TABLE compression_locks (session_id TEXT PRIMARY KEY, holder TEXT, \
                 acquired_at REAL, expires_at REAL)",
            ),
            (
                19,
                "CREATE TABLE gateway_routing (scope TEXT NOT NULL DEFAULT '', session_key TEXT, \
                 entry_json TEXT, updated_at REAL, PRIMARY KEY (scope, session_key))",
            ),
            (
                20,
                "CREATE TABLE session_model_usage (session_id TEXT NOT NULL, model TEXT NOT NULL, \
                 billing_provider TEXT NOT NULL DEFAULT '', billing_base_url TEXT NOT NULL \
                 DEFAULT '', billing_mode TEXT NOT NULL DEFAULT '', task TEXT NOT NULL DEFAULT '', \
                 api_call_count INTEGER DEFAULT 0, input_tokens INTEGER DEFAULT 0, \
                 output_tokens INTEGER DEFAULT 0, cache_read_tokens INTEGER DEFAULT 0, \
                 cache_write_tokens INTEGER DEFAULT 0, reasoning_tokens INTEGER DEFAULT 0, \
                 estimated_cost_usd REAL DEFAULT 0, actual_cost_usd REAL DEFAULT 0, \
                 cost_status TEXT, cost_source TEXT, first_seen REAL, last_seen REAL, PRIMARY KEY \
                 (session_id, model, billing_provider, billing_base_url, billing_mode, task))",
            ),
            (25, "CREATE TABLE system_prompts (hash TEXT PRIMARY KEY, prompt TEXT)"),
        ];
        for (_, sql) in later.iter().filter(|(since, _)| *since <= version) {
            db.execute_batch(sql).unwrap();
        }
        db.close().unwrap();
        Hermes { path }
    }

    /// The file, open as hermes has it.
    pub fn db(&self) -> Connection {
        let db = Connection::open(&self.path).unwrap();
        db.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
        db
    }

    pub fn run(&self, sql: &str) {
        self.db().execute_batch(sql).unwrap();
    }

    pub fn set(&self, sql: &str, values: &[&dyn ToSql]) {
        self.db().execute(sql, values).unwrap();
    }

    pub fn session(&self, id: &str, started_at: f64) {
        let sql = "INSERT INTO sessions (id, source, started_at) VALUES (?1, 'cli', ?2)";
        self.db().execute(sql, params![id, started_at]).unwrap();
    }

    /// Says something; answers the id of the row.
    pub fn say(&self, session: &str, role: &str, content: &str) -> i64 {
        let sql = "INSERT INTO messages (session_id, role, content, timestamp) \
                   VALUES (?1, ?2, ?3, ?4)";
        let at = 1_700_000_000.0 + self.count("messages") as f64;
        let db = self.db();
        db.execute(sql, params![session, role, content, at]).unwrap();
        db.last_insert_rowid()
    }

    pub fn count(&self, table: &str) -> i64 {
        self.db().query_row(&format!("SELECT COUNT(*) FROM {table}"), [], |row| row.get(0)).unwrap()
    }
}

pub fn import(oneiro: &Fixed, path: &Path) -> HermesImported {
    let done = try_import(oneiro, path).unwrap();
    assert_eq!(done.agrees, Some(true), "{done:#?}");
    done
}

pub fn try_import(oneiro: &Oneiro, path: &Path) -> Result<HermesImported> {
    oneiro.transfer().import_hermes(path, &mut |_| {})
}
