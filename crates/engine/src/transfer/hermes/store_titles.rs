//! Titles of imported sessions. Titles are unique: if several sessions have the same, the newest keeps
//! it and the others get a number. A title that was set here is not changed.

use super::checkpoint::{Checkpoint, fingerprint_of};
use super::session_row::SessionRow;
use crate::sessions::fetch_session;
use oneiro_model::{Result, Session, Timestamp, Title};
use oneiro_store::{Tx, titles};

/// Sets the title of one session.
pub(super) struct TitleWriter<'w, 'c> {
    pub(super) tx: &'w Tx<'c>,
    pub(super) key: i64,
    pub(super) row: &'w SessionRow,
    pub(super) now: Timestamp,
}

/// How a title was updated.
#[derive(Default)]
pub(super) struct TitleUpdate {
    /// Titles that got a number.
    pub(super) numbered: usize,
    /// Whether a title that was set here was kept.
    pub(super) is_kept: bool,
}

impl TitleWriter<'_, '_> {
    /// Sets the title of a session without one. Returns how many titles got a number.
    pub(super) fn assign(&self, checkpoint: &mut Checkpoint) -> Result<usize> {
        let TitleWriter { tx, key, .. } = *self;
        let Some(title) = self.row.title.as_ref().map(Title::as_str) else { return Ok(0) };
        checkpoint.title_told = fingerprint_of(Some(title));
        let holder = titles::session_with(tx, title)?.filter(|holder| *holder != key);
        let Some(holder) = holder else {
            checkpoint.title_given = checkpoint.title_told;
            titles::set(tx, key, Some(title))?;
            return Ok(0);
        };
        let other = fetch_session(tx, holder)?;
        let other_id = other.id.as_str().as_bytes();
        let other_checkpoint = Checkpoint::read(tx, other_id)?
            .filter(|other| other.title_given == checkpoint.title_told);
        let numbered = titles::next(tx, title)?;
        match other_checkpoint {
            Some(mut other_checkpoint) if other.started_at < fetch_session(tx, key)?.started_at => {
                titles::set(tx, holder, Some(&numbered))?;
                other_checkpoint.title_given = fingerprint_of(Some(&numbered));
                other_checkpoint.write(tx, other_id, self.now)?;
                titles::set(tx, key, Some(title))?;
                checkpoint.title_given = checkpoint.title_told;
            }
            _ => {
                titles::set(tx, key, Some(&numbered))?;
                checkpoint.title_given = fingerprint_of(Some(&numbered));
            }
        }
        Ok(1)
    }

    /// Updates the title of a known session, unless it was changed here.
    pub(super) fn update(
        &self,
        stored: &Session,
        checkpoint: &mut Checkpoint,
    ) -> Result<TitleUpdate> {
        let fingerprint = fingerprint_of(self.row.title.as_ref().map(Title::as_str));
        if fingerprint == checkpoint.title_told {
            return Ok(TitleUpdate::default());
        }
        if fingerprint_of(stored.title.as_deref()) != checkpoint.title_given {
            checkpoint.title_told = fingerprint;
            return Ok(TitleUpdate { numbered: 0, is_kept: true });
        }
        titles::set(self.tx, self.key, None)?;
        (checkpoint.title_told, checkpoint.title_given) = (0, 0);
        Ok(TitleUpdate { numbered: self.assign(checkpoint)?, is_kept: false })
    }
}
