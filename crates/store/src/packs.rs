//! Packs that were given, with their lines, for as long as they can be shown again. The prompt of a pack
//! is not stored.

use crate::aggregates::Table;
use crate::{Tx, sequence};
use oneiro_model::{
    Band, Error, GivenPack, MemoryId, Pack, PackId, PackItem, PackKind, PackOmission, Result,
    SessionId, Timestamp,
};
use serde_json::json;

statements! {
    ADD = "INSERT INTO packs (key, id, session_id, client, project, text, tokens, omitted, created_at) \
           VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    ADD_ITEM = "INSERT INTO pack_items (pack_key, place, kind, item_id, band, text, at) \
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    GET = "SELECT key, id, text, tokens, omitted FROM packs WHERE id = ?1";
    LIST = "SELECT p.id, p.session_id, p.client, p.project, p.tokens, p.omitted, p.created_at, \
            (SELECT COUNT(*) FROM pack_items i WHERE i.pack_key = p.key) FROM packs p \
            WHERE (CAST(?1 AS TEXT) IS NULL OR p.session_id = ?1) \
            AND (CAST(?2 AS TEXT) IS NULL OR p.project = ?2) \
            AND (CAST(?3 AS BIGINT) = 0 OR p.text <> '') \
            AND (CAST(?4 AS TEXT) IS NULL OR p.id = ?4) \
            ORDER BY p.key DESC LIMIT CAST(?5 AS BIGINT)";
    ITEMS = "SELECT kind, item_id, band, text, at FROM pack_items WHERE pack_key = ?1 ORDER BY place";
    REMOVE_OLD = "DELETE FROM packs WHERE key IN (SELECT key FROM packs WHERE created_at < ?1 \
                  ORDER BY created_at LIMIT CAST(?2 AS BIGINT))";
    REMOVE_SHOWING = "DELETE FROM packs WHERE key IN (SELECT pack_key FROM pack_items \
                      WHERE item_id = ?1 AND kind = ?2)";
    REMOVE_OF_SESSION = "DELETE FROM packs WHERE session_id = ?1";
    TEXTS = "SELECT text FROM packs";
    ITEM_TEXTS = "SELECT text FROM pack_items";
}

pub(crate) const TABLES: &[Table] = &[
    Table {
        name: "packs",
        columns: "key, id, session_id, client, project, text, tokens, omitted, created_at",
    },
    Table { name: "pack_items", columns: "pack_key, place, kind, item_id, band, text, at" },
];

/// Who asked for a pack.
#[derive(Debug, Clone, Default)]
pub struct AskedBy {
    /// The session.
    pub session: Option<SessionId>,
    /// The program.
    pub client: Option<String>,
    /// The project.
    pub project: Option<String>,
}

/// Stores a pack.
pub fn add(tx: &Tx<'_>, pack: &Pack, by: &AskedBy, now: Timestamp) -> Result<()> {
    let key = sequence::take_key(tx)?;
    let omitted = json!(pack.omitted).to_string();
    let values = [
        key.into(),
        pack.id.as_str().into(),
        by.session.as_ref().map(SessionId::as_str).into(),
        by.client.as_deref().into(),
        by.project.as_deref().into(),
        pack.text.as_str().into(),
        (pack.tokens as i64).into(),
        omitted.as_str().into(),
        now.micros().into(),
    ];
    tx.execute(ADD, &values)?;
    for (place, item) in pack.items.iter().enumerate() {
        let values = [
            key.into(),
            (place as i64).into(),
            item.kind.as_str().into(),
            item.id.as_str().into(),
            item.band.as_str().into(),
            item.text.as_str().into(),
            item.at.micros().into(),
        ];
        tx.execute(ADD_ITEM, &values)?;
    }
    Ok(())
}

/// The pack with this id.
pub fn get(tx: &Tx<'_>, id: &PackId) -> Result<Option<Pack>> {
    let found = tx.first(GET, &[id.as_str().into()], |row| {
        let omitted = omissions(row.text(4)?)?;
        let pack = Pack {
            id: PackId::parse(row.text(1)?)?,
            text: row.text(2)?.to_owned(),
            tokens: row.int(3)?.max(0) as usize,
            items: Vec::new(),
            omitted,
        };
        Ok((row.int(0)?, pack))
    })?;
    let Some((key, mut pack)) = found else { return Ok(None) };
    pack.items = tx.all(ITEMS, &[key.into()], |row| {
        Ok(PackItem {
            kind: PackKind::parse(row.text(0)?)?,
            id: row.text(1)?.to_owned(),
            band: Band::parse(row.text(2)?)?,
            text: row.text(3)?.to_owned(),
            at: Timestamp::from_micros(row.int(4)?),
        })
    })?;
    Ok(Some(pack))
}

/// Filters of a list.
#[derive(Debug, Clone, Copy, Default)]
pub struct Filter<'f> {
    /// Only this pack.
    pub id: Option<&'f str>,
    /// Only of this session.
    pub session: Option<&'f SessionId>,
    /// Only of this project.
    pub project: Option<&'f str>,
    /// Only packs with lines.
    pub with_lines: bool,
}

/// Packs, newest first.
pub fn list(tx: &Tx<'_>, filter: Filter<'_>, limit: usize) -> Result<Vec<GivenPack>> {
    let values = [
        filter.session.map(SessionId::as_str).into(),
        filter.project.into(),
        i64::from(filter.with_lines).into(),
        filter.id.into(),
        (limit as i64).into(),
    ];
    tx.all(LIST, &values, |row| {
        Ok(GivenPack {
            id: PackId::parse(row.text(0)?)?,
            session_id: row.opt_text(1)?.map(SessionId::new).transpose()?,
            client: row.opt_string(2)?,
            project: row.opt_string(3)?,
            tokens: row.int(4)?.max(0) as usize,
            omitted: omissions(row.text(5)?)?.len(),
            created_at: Timestamp::from_micros(row.int(6)?),
            lines: row.int(7)?.max(0) as usize,
        })
    })
}

fn omissions(text: &str) -> Result<Vec<PackOmission>> {
    serde_json::from_str(text)
        .map_err(|error| Error::internal("a pack is not readable").because(error))
}

/// Removes packs from before `before`, at most `limit`.
pub fn remove_older(tx: &Tx<'_>, before: Timestamp, limit: usize) -> Result<()> {
    tx.execute(REMOVE_OLD, &[before.micros().into(), (limit as i64).into()]).map(|_| ())
}

/// Removes the packs that show a memory.
pub(crate) fn remove_showing_memory(tx: &Tx<'_>, id: &MemoryId) -> Result<()> {
    remove_showing(tx, PackKind::Memory, id.as_str())
}

/// Removes the packs that show a message.
pub fn remove_showing_message(tx: &Tx<'_>, seq: i64) -> Result<()> {
    remove_showing(tx, PackKind::Message, &seq.to_string())
}

fn remove_showing(tx: &Tx<'_>, kind: PackKind, id: &str) -> Result<()> {
    tx.execute(REMOVE_SHOWING, &[id.into(), kind.as_str().into()]).map(|_| ())
}

/// Removes the packs that a session was given.
pub fn remove_of_session(tx: &Tx<'_>, session: &SessionId) -> Result<()> {
    tx.execute(REMOVE_OF_SESSION, &[session.as_str().into()]).map(|_| ())
}

pub(crate) fn each_text(tx: &Tx<'_>, each: &mut dyn FnMut(&[u8])) -> Result<()> {
    for texts in [TEXTS, ITEM_TEXTS] {
        tx.each(texts, &[], |row| {
            each(row.text(0)?.as_bytes());
            Ok(())
        })?;
    }
    Ok(())
}
