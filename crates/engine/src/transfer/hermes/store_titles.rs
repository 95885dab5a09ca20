//! Titles of imported sessions. They are unique here: of several sessions with one title the newest
//! keeps it and the others are numbered, and a title that was given here stays.

use super::note::{Note, mark_of};
use super::session_row::SessionRow;
use crate::sessions::fetch_session;
use oneiro_model::{Result, Session, Timestamp, Title};
use oneiro_store::{Tx, titles};

/// Gives a session that has none its title; answers how many titles were numbered.
pub(super) fn give(
    tx: &Tx<'_>,
    (key, row): (i64, &SessionRow),
    (note, now): (&mut Note, Timestamp),
) -> Result<usize> {
    let Some(title) = row.title.as_ref().map(Title::as_str) else { return Ok(0) };
    note.title_told = mark_of(Some(title));
    let holder = titles::session_with(tx, title)?.filter(|holder| *holder != key);
    let Some(holder) = holder else {
        note.title_given = note.title_told;
        titles::set(tx, key, Some(title))?;
        return Ok(0);
    };
    let other = fetch_session(tx, holder)?;
    let mine = fetch_session(tx, key)?;
    let other_id = other.id.as_str().as_bytes();
    let its_note = Note::read(tx, other_id)?.filter(|other| other.title_given == note.title_told);
    match its_note {
        Some(mut its_note) if other.started_at < mine.started_at => {
            let free = titles::next(tx, title)?;
            titles::set(tx, holder, Some(&free))?;
            its_note.title_given = mark_of(Some(&free));
            its_note.write(tx, other_id, now)?;
            titles::set(tx, key, Some(title))?;
            note.title_given = note.title_told;
        }
        _ => {
            let free = titles::next(tx, title)?;
            titles::set(tx, key, Some(&free))?;
            note.title_given = mark_of(Some(&free));
        }
    }
    Ok(1)
}

/// Brings the title of a known session up to date, if it still has the one that was imported.
/// Answers how many titles were numbered, and whether a title that was given here was kept.
pub(super) fn renew(
    tx: &Tx<'_>,
    (key, row): (i64, &SessionRow),
    stored: &Session,
    (note, now): (&mut Note, Timestamp),
) -> Result<(usize, bool)> {
    let mark = mark_of(row.title.as_ref().map(Title::as_str));
    if mark == note.title_told {
        return Ok((0, false));
    }
    if mark_of(stored.title.as_deref()) != note.title_given {
        note.title_told = mark;
        return Ok((0, true));
    }
    titles::set(tx, key, None)?;
    (note.title_told, note.title_given) = (0, 0);
    Ok((give(tx, (key, row), (note, now))?, false))
}
