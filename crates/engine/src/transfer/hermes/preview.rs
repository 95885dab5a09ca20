//! What an import would do, counted and not done.

use super::account::HermesImported;
use super::message_row;
use super::note::Note;
use super::pass::{Pass, Seen, Standing, scan};
use super::session_row::bytes_of;
use crate::Oneiro;
use crate::transfer::TransferProgress;
use oneiro_model::{Result, SessionId};
use oneiro_store::{ForeignFile, sessions};
use std::ops::ControlFlow;
use std::path::Path;

pub(super) fn preview(
    oneiro: &Oneiro,
    file: (&Path, &ForeignFile),
    progress: &mut dyn FnMut(TransferProgress),
) -> Result<HermesImported> {
    let mut pass = Pass::new(oneiro, file)?;
    let file = file.1;
    let columns = pass.layout.sessions.only(&["id"]);
    let lost = scan(file, ("sessions", &columns.names, None), |row| {
        pass.expect(bytes_of(row.value(0)))?;
        Ok(ControlFlow::Continue(()))
    })?;
    pass.done.not_kept.extend(lost);
    let columns = pass.layout.messages.only(&["session_id", "active", "compacted"]);
    let lost = scan(file, ("messages", &columns.names, None), |row| {
        let session = bytes_of(columns.get(row, "session_id"));
        let place = match pass.by_id.get(&session).copied() {
            Some(place) => place,
            None => pass.expect(session)?,
        };
        if let Some(seen) = pass.seen.get_mut(place) {
            seen.runs.push(row.number, message_row::visibility(&columns, row));
            match seen.standing {
                Standing::LeftOut => pass.done.left_out += 1,
                _ => pass.done.messages += usize::from(Some(row.number) > seen.until),
            }
        }
        pass.at.messages += 1;
        if pass.at.messages.is_multiple_of(4_096) {
            pass.at.tell(progress);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    pass.done.not_kept.extend(lost);
    pass.compare(file)?;
    pass.done.agrees = None;
    pass.done.differences.clear();
    Ok(pass.done)
}

impl Pass<'_> {
    /// Takes note of a session as an import would find it; answers its place.
    fn expect(&mut self, raw_id: Vec<u8>) -> Result<usize> {
        let text = String::from_utf8_lossy(&raw_id).into_owned();
        let id = SessionId::new(text).ok();
        let (key, note, is_ignored) = self.oneiro.store.read(|tx| {
            let key = id.as_ref().map(|id| sessions::key(tx, id)).transpose()?.flatten();
            let settings = self.oneiro.settings_in(tx)?;
            let is_ignored =
                id.as_ref().is_some_and(|id| settings.ignores(id) || settings.is_stateless(id));
            Ok((key, Note::read(tx, &raw_id)?, is_ignored))
        })?;
        let standing = match (key, &note) {
            _ if is_ignored => Standing::LeftOut,
            (None, Some(_)) if id.is_some() => Standing::LeftOut,
            (None, _) => Standing::New,
            (Some(_), _) => Standing::Known,
        };
        match standing {
            Standing::New => self.done.sessions += 1,
            Standing::LeftOut => self.done.left_out_sessions += 1,
            Standing::Known => {}
        }
        let note = note.unwrap_or_default();
        let place = self.seen.len();
        self.by_id.insert(raw_id.clone(), place);
        self.seen.push(Seen {
            raw_id,
            id: id.unwrap_or_else(|| SessionId::from_random([0; 10])),
            standing,
            until: note.until,
            known: note.runs,
            runs: Default::default(),
            parent: None,
            descends: None,
            is_of_tool: false,
            is_compressed: false,
            link: note.link,
        });
        Ok(place)
    }
}
