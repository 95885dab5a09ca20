//! Where the lines of a note came from, as of one of its revisions. A blame starts there, and not at the
//! beginning of a long history.

use crate::Tx;
use crate::aggregates::Table;
use oneiro_model::{Error, NoteName, Result};

statements! {
    GET = "SELECT key, origins FROM note_origins WHERE name = ?1";
    PUT = "INSERT INTO note_origins (name, key, origins) VALUES (?1, ?2, ?3) \
           ON CONFLICT (name) DO UPDATE SET key = excluded.key, origins = excluded.origins";
    DELETE = "DELETE FROM note_origins WHERE name = ?1";
    CLEAR = "DELETE FROM note_origins";
}

pub(crate) const TABLES: &[Table] =
    &[Table { name: "note_origins", columns: "name, key, origins" }];

/// The origins of the lines that a note had after a revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineOrigins {
    /// The key of the revision.
    pub key: i64,
    /// The ids of the revisions that wrote the lines, in order, each with how many lines follow each
    /// other.
    pub runs: Vec<(String, usize)>,
}

/// What is stored for a note.
pub fn get(tx: &Tx<'_>, name: &NoteName) -> Result<Option<LineOrigins>> {
    tx.first(GET, &[name.as_str().into()], |row| {
        let runs = row.text(1)?.lines().map(parse_run).collect::<Result<_>>()?;
        Ok(LineOrigins { key: row.int(0)?, runs })
    })
}

fn parse_run(line: &str) -> Result<(String, usize)> {
    let run =
        line.split_once(' ').and_then(|(id, count)| Some((id.to_owned(), count.parse().ok()?)));
    run.ok_or_else(|| Error::internal("the origins of a note are not readable"))
}

/// Stores the origins of a note in place of earlier ones.
pub fn put(tx: &Tx<'_>, name: &NoteName, origins: &LineOrigins) -> Result<()> {
    let lines: Vec<String> =
        origins.runs.iter().map(|(id, count)| format!("{id} {count}")).collect();
    let text = lines.join("\n");
    tx.execute(PUT, &[name.as_str().into(), origins.key.into(), text.as_str().into()]).map(|_| ())
}

/// Removes what is stored for a note, because its history changed.
pub(crate) fn remove(tx: &Tx<'_>, name: &NoteName) -> Result<()> {
    tx.execute(DELETE, &[name.as_str().into()]).map(|_| ())
}

/// Removes everything, because the order of revisions changed.
pub(crate) fn clear(tx: &Tx<'_>) -> Result<()> {
    tx.execute(CLEAR, &[]).map(|_| ())
}
