//! The baseline: SQLite with the same columns, indexes, page size and durability, prepared
//! statements and one connection, without any feature.

use oneiro::{Error, Result};
use rusqlite::{Connection, params};
use std::path::Path;

/// The tables and indexes that an append to the store touches.
const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS sessions (key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
    source TEXT NOT NULL, last_active_at INTEGER NOT NULL) STRICT;
CREATE INDEX IF NOT EXISTS sessions_active ON sessions (last_active_at, key);
CREATE TABLE IF NOT EXISTS messages (seq INTEGER PRIMARY KEY, session_key INTEGER NOT NULL,
    at INTEGER NOT NULL, role TEXT NOT NULL, external_id TEXT, compacted INTEGER NOT NULL,
    rewind INTEGER NOT NULL, tool_calls INTEGER NOT NULL, payloads INTEGER NOT NULL,
    body TEXT NOT NULL) STRICT;
CREATE INDEX IF NOT EXISTS messages_session ON messages (session_key, seq);
CREATE UNIQUE INDEX IF NOT EXISTS messages_external ON messages (session_key, external_id)
    WHERE external_id IS NOT NULL;
CREATE VIRTUAL TABLE IF NOT EXISTS messages_text USING fts5(tokens, content='', contentless_delete=1);";

const INSERT_TOKENS: &str = "INSERT INTO messages_text (rowid, tokens) VALUES (?1, ?2)";

const INSERT_MESSAGE: &str = "INSERT INTO messages (session_key, at, role, external_id, compacted, rewind, \
                      tool_calls, payloads, body) VALUES (?1, ?2, 'user', ?3, 0, 0, 0, 0, ?4)";

/// A row of the raw loop.
pub(crate) struct RawRow<'a> {
    pub(crate) session: i64,
    pub(crate) external_id: Option<&'a str>,
    pub(crate) body: &'a str,
    /// The analysed tokens, if the text is indexed.
    pub(crate) tokens: Option<&'a str>,
}

/// The tokens of a text as the store indexes them.
pub(crate) fn tokens(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    oneiro_text::Analyzer::default().tokens(text, |token| {
        joined.push_str(token.term);
        joined.push(' ');
    });
    joined
}

/// One raw connection.
pub(crate) struct Raw(Connection);

fn failed(error: rusqlite::Error) -> Error {
    Error::internal(format!("raw SQLite: {error}")).because(error)
}

impl Raw {
    pub(crate) fn open(path: &Path) -> Result<Raw> {
        let raw = Connection::open(path).map_err(failed)?;
        raw.busy_timeout(std::time::Duration::from_secs(60)).map_err(failed)?;
        raw.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;")
            .map_err(failed)?;
        raw.execute_batch(SCHEMA).map_err(failed)?;
        Ok(Raw(raw))
    }

    pub(crate) fn session(&self, id: &str) -> Result<i64> {
        self.0
            .execute("INSERT INTO sessions (id, source, last_active_at) VALUES (?1, 'b', 0)", [id])
            .map_err(failed)?;
        Ok(self.0.last_insert_rowid())
    }

    /// Inserts rows with commits of `group` rows; 1 is autocommit.
    pub(crate) fn insert(&self, rows: &[RawRow<'_>], group: usize) -> Result<()> {
        for chunk in rows.chunks(group.max(1)) {
            if group > 1 {
                self.0.execute_batch("BEGIN IMMEDIATE").map_err(failed)?;
            }
            let mut insert = self.0.prepare_cached(INSERT_MESSAGE).map_err(failed)?;
            let mut index = self.0.prepare_cached(INSERT_TOKENS).map_err(failed)?;
            for row in chunk {
                insert
                    .execute(params![
                        row.session,
                        1_700_000_000_000_000_i64,
                        row.external_id,
                        row.body
                    ])
                    .map_err(failed)?;
                if let Some(tokens) = row.tokens {
                    let seq = self.0.last_insert_rowid();
                    index.execute(params![seq, tokens]).map_err(failed)?;
                }
            }
            if group > 1 {
                self.0.execute_batch("COMMIT").map_err(failed)?;
            }
        }
        Ok(())
    }

    pub(crate) fn read(&self, session: i64) -> Result<usize> {
        let sql = "SELECT seq, at, role, external_id, body FROM messages WHERE session_key = ?1 ORDER BY seq";
        let mut query = self.0.prepare_cached(sql).map_err(failed)?;
        let mut rows = query.query([session]).map_err(failed)?;
        let mut bytes = 0;
        while let Some(row) = rows.next().map_err(failed)? {
            bytes += row.get::<_, String>(4).map_err(failed)?.len();
        }
        Ok(bytes)
    }

    /// Searches with FTS5 for any word of a question, best first.
    pub(crate) fn search_any(&self, question: &str) -> Result<usize> {
        let words: Vec<String> =
            tokens(question).split_whitespace().map(|word| format!("\"{word}\"")).collect();
        self.matching(&words.join(" OR "))
    }

    fn matching(&self, words: &str) -> Result<usize> {
        let sql = "SELECT rowid, rank FROM messages_text WHERE messages_text MATCH ?1 \
                   ORDER BY rank LIMIT 10";
        let mut query = self.0.prepare_cached(sql).map_err(failed)?;
        let mut rows = query.query([words]).map_err(failed)?;
        let mut found = 0;
        while rows.next().map_err(failed)?.is_some() {
            found += 1;
        }
        Ok(found)
    }

    /// The newest messages of a session, parsed as JSON: the minimum work for a window.
    pub(crate) fn newest(&self, session: i64, limit: usize) -> Result<usize> {
        let sql = "SELECT body FROM messages WHERE session_key = ?1 ORDER BY seq DESC LIMIT ?2";
        let mut query = self.0.prepare_cached(sql).map_err(failed)?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut rows = query.query([session, limit]).map_err(failed)?;
        let mut fields = 0;
        while let Some(row) = rows.next().map_err(failed)? {
            let body = row.get_ref(0).and_then(|body| Ok(body.as_str()?)).map_err(failed)?;
            let body: serde_json::Map<String, serde_json::Value> = serde_json::from_str(body)
                .map_err(|error| Error::internal(format!("a raw body: {error}")))?;
            fields += std::hint::black_box(body).len();
        }
        Ok(fields)
    }

    /// Searches with FTS5 for all words, best first.
    pub(crate) fn search_all(&self, words: &str) -> Result<usize> {
        let words: Vec<String> =
            tokens(words).split_whitespace().map(|word| format!("\"{word}\"")).collect();
        self.matching(&words.join(" AND "))
    }

    /// The number of bodies of a session that match a pattern.
    pub(crate) fn scan(&self, session: i64, pattern: &regex::Regex) -> Result<usize> {
        let sql = "SELECT body FROM messages WHERE session_key = ?1";
        let mut query = self.0.prepare_cached(sql).map_err(failed)?;
        let mut rows = query.query([session]).map_err(failed)?;
        let mut found = 0;
        while let Some(row) = rows.next().map_err(failed)? {
            let body = row.get_ref(0).and_then(|body| Ok(body.as_str()?)).map_err(failed)?;
            found += usize::from(pattern.is_match(body));
        }
        Ok(found)
    }

    /// A session and its messages in one transaction.
    pub(crate) fn session_with(&self, id: &str, bodies: &[String]) -> Result<i64> {
        self.0.execute_batch("BEGIN IMMEDIATE").map_err(failed)?;
        let session = self.session(id)?;
        let mut insert = self.0.prepare_cached(INSERT_MESSAGE).map_err(failed)?;
        for body in bodies {
            insert
                .execute(params![session, 1_700_000_000_000_000_i64, None::<&str>, body])
                .map_err(failed)?;
        }
        self.0.execute_batch("COMMIT").map_err(failed)?;
        Ok(session)
    }

    pub(crate) fn list(&self) -> Result<usize> {
        let sql = "SELECT key, id, source, last_active_at FROM sessions \
                   ORDER BY last_active_at DESC, key DESC LIMIT 20";
        let mut query = self.0.prepare_cached(sql).map_err(failed)?;
        let mut rows = query.query([]).map_err(failed)?;
        let mut bytes = 0;
        while let Some(row) = rows.next().map_err(failed)? {
            bytes += row.get::<_, String>(1).map_err(failed)?.len();
        }
        Ok(bytes)
    }
}
