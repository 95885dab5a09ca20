//! Titles: unique in a space, numbered `base #N`.

use crate::Tx;
use oneiro_model::{Result, Title};

statements! {
    SESSION_WITH = "SELECT key FROM sessions WHERE title = ?1";
    // '$' is the character after '#', so the range holds every title that begins with `base #`.
    WITH_BASE = "SELECT title, key FROM sessions WHERE title = ?1 OR (title >= ?2 AND title < ?3) \
                ORDER BY started_at DESC, key DESC";
    SET = "UPDATE sessions SET title = ?2 WHERE key = ?1";
}

/// The session that has a title.
pub fn session_with(tx: &Tx<'_>, title: &str) -> Result<Option<i64>> {
    tx.first(SESSION_WITH, &[title.into()], |row| row.int(0))
}

/// Sets or removes a title.
pub fn set(tx: &Tx<'_>, key: i64, title: Option<&str>) -> Result<()> {
    tx.execute(SET, &[key.into(), title.into()]).map(|_| ())
}

/// The sessions titled `base` or `base #N`, most recently started first.
pub fn with_base(tx: &Tx<'_>, base: &str) -> Result<Vec<(String, i64)>> {
    let (from, to) = (format!("{base} #"), format!("{base} $"));
    let values = [base.into(), from.as_str().into(), to.as_str().into()];
    let mut found = tx.all(WITH_BASE, &values, |row| Ok((row.text(0)?.to_owned(), row.int(1)?)))?;
    found.retain(|(title, _)| title == base || Title::split_number(title).0 == base);
    Ok(found)
}

/// The title that continues `title`: its base with the next free number.
pub fn next(tx: &Tx<'_>, title: &str) -> Result<String> {
    let (base, _) = Title::split_number(title);
    let taken = with_base(tx, base)?;
    let Some(highest) = taken.iter().map(|(title, _)| Title::split_number(title).1).max() else {
        return Ok(base.to_owned());
    };
    // A long base is truncated to make room for its number, so it may collide with another.
    let mut number = highest + 1;
    loop {
        let title = Title::numbered(base, number);
        if session_with(tx, &title)?.is_none() {
            return Ok(title);
        }
        number += 1;
    }
}
