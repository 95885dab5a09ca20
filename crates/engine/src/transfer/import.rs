//! Imports sessions from JSONL, all of a file or nothing. Existing sessions are skipped, so an import can
//! be repeated. A parent that is missing or would make a cycle is not set.

use super::import_records::RecordImport;
use super::lines::{LINES_AHEAD, LineContent, ReadSession, read_lines};
use super::message_ids::{MessageIds, SourceMessage};
use super::records::RecordLine;
use super::{ImportFile, TransferProgress};
use crate::append::append_prepared;
use crate::sessions::{Draft, create_in};
use crate::transcripts::Agent;
use crate::views::Transfer;
use crate::{Oneiro, sessions::key_of};
use oneiro_model::{
    ChangeKind, Error, ErrorKind, Imported, Lineage, NewSession, Remedy, Result, SessionId,
    Timestamp, Title, Usage, UsageKey,
};
use oneiro_store::messages::Prepared;
use oneiro_store::session_updates::{self, ImportedState};
use oneiro_store::usage::Charge;
use oneiro_store::{Tx, changes, lineage, sequence, sessions, titles, usage};
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::io::BufRead;
use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

/// How often the transaction is kept alive while the next line, which may have gigabytes, is read.
/// Shorter than the idle timeout of transactions.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(1);

/// Limits of one import.
#[derive(Debug, Clone, Copy)]
pub struct ImportLimits {
    /// Sessions in a file.
    pub sessions: usize,
    /// Messages in a session.
    pub messages: usize,
    /// Bytes of a session.
    pub session_bytes: usize,
    /// Bytes of a file.
    pub bytes: u64,
}

impl Default for ImportLimits {
    fn default() -> ImportLimits {
        ImportLimits {
            sessions: 1_000_000,
            messages: 1_000_000,
            session_bytes: 2 << 30,
            bytes: 64 << 30,
        }
    }
}

impl Transfer<'_> {
    /// Imports one file. See [`Transfer::import`].
    pub fn import_file(
        &self,
        file: &ImportFile,
        limits: ImportLimits,
        progress: &mut dyn FnMut(TransferProgress),
    ) -> Result<Imported> {
        self.import(&mut file.reader()?, limits, progress).map_err(|error| {
            let agent = file.reader().ok().and_then(Agent::of_lines);
            match agent.filter(|_| error.kind() == ErrorKind::Invalid).map(Agent::as_str) {
                Some(agent) => {
                    let what = format!("this is a transcript of {agent}, not an export");
                    let remedy = Remedy::ImportTranscript { agent: agent.to_owned() };
                    Error::invalid(what).remedy(remedy).because(error)
                }
                None => error,
            }
        })
    }

    /// Imports JSONL. An invalid line rejects the whole import. `input` is read while the write lock is
    /// held, so it must not wait for another process: copy such input to an [`ImportFile`] first.
    pub fn import(
        &self,
        input: &mut (dyn BufRead + Send),
        limits: ImportLimits,
        progress: &mut dyn FnMut(TransferProgress),
    ) -> Result<Imported> {
        let input = Mutex::new(input);
        let progress = RefCell::new(progress);
        self.oneiro.store.write_bulk(|tx| {
            let mut import = Import {
                oneiro: self.oneiro,
                tx,
                done: Imported::default(),
                parents: Vec::new(),
                ids: MessageIds::default(),
                records: None,
            };
            let mut at = TransferProgress::default();
            // One thread reads and prepares while this one inserts; the lock is held for the
            // slower of the two and not for their sum.
            std::thread::scope(|scope| {
                let (lines, read) = sync_channel(LINES_AHEAD);
                let (input, now) = (&input, self.oneiro.now());
                scope.spawn(move || read_lines(input, limits, now, &lines));
                loop {
                    let line = match read.recv_timeout(KEEP_ALIVE_INTERVAL) {
                        Ok(line) => line?,
                        Err(RecvTimeoutError::Timeout) => {
                            tx.keep_alive()?;
                            continue;
                        }
                        Err(RecvTimeoutError::Disconnected) => break,
                    };
                    at.bytes += line.bytes;
                    if let Some(content) = line.content {
                        let place = |error: Error| error.at(format!("line {}", line.number));
                        match content.map_err(place)? {
                            LineContent::Session(session) => {
                                import.line(session, limits).map_err(place)?;
                            }
                            LineContent::Record(RecordLine::Store(store)) => {
                                import.finish_source()?;
                                let records = RecordImport::new(self.oneiro, tx, store);
                                import.records = Some(records.map_err(place)?);
                            }
                            LineContent::Record(record) => {
                                import.record(record, line.number).map_err(place)?;
                                at.records += 1;
                            }
                        }
                    }
                    at.sessions = (import.done.sessions + import.done.skipped) as u64;
                    at.messages = import.done.messages as u64;
                    (progress.borrow_mut())(at);
                }
                Ok(())
            })?;
            import.finish_source()?;
            import.link_parents()?;
            changes::record(tx, ChangeKind::Imported, None, self.oneiro.now())?;
            Ok(import.done)
        })
    }
}

struct Import<'t, 'c> {
    oneiro: &'t Oneiro,
    tx: &'t Tx<'c>,
    done: Imported,
    /// Parents are set at the end, when all sessions exist.
    parents: Vec<ParentLink>,
    /// Messages of the current source.
    ids: MessageIds,
    /// Records of the current source; `None` before its first line.
    records: Option<RecordImport<'t, 'c>>,
}

struct ParentLink {
    child: SessionId,
    parent: SessionId,
    kind: Option<Lineage>,
}

impl Import<'_, '_> {
    fn line(&mut self, read: ReadSession, limits: ImportLimits) -> Result<()> {
        let settings = self.oneiro.settings_in(self.tx)?;
        if settings.ignores(&read.id) || sessions::key(self.tx, &read.id)?.is_some() {
            self.done.skipped += 1;
            self.ids.skipped(read.id, read.sources);
            return Ok(());
        }
        if self.done.sessions >= limits.sessions {
            return Err(Error::too_large(format!("more than {} sessions", limits.sessions))
                .remedy(Remedy::RaiseLimit { limit: "sessions".to_owned() }));
        }
        let is_stateless = settings.is_stateless(&read.id);
        let messages = if is_stateless { Vec::new() } else { read.messages? };
        self.session(read.id, read.fields, (messages, read.sources))
    }

    fn record(&mut self, record: RecordLine, number: usize) -> Result<()> {
        match &mut self.records {
            Some(records) => records.line(record, number, &mut self.ids),
            None => {
                let problem = "is on no line before this one, so nobody knows whose this is";
                Err(Error::field("store", problem).remedy(Remedy::ImportExported))
            }
        }
    }

    /// Takes over the records of the current source, when all its lines are read.
    fn finish_source(&mut self) -> Result<()> {
        self.ids = MessageIds::default();
        match self.records.take() {
            Some(records) => records.finish(&mut self.done),
            None => Ok(()),
        }
    }

    fn session(
        &mut self,
        id: SessionId,
        mut fields: Map<String, Value>,
        (messages, sources): (Vec<Prepared>, Vec<SourceMessage>),
    ) -> Result<()> {
        let tx = self.tx;
        let text =
            |fields: &mut Map<String, Value>, name: &'static str| match fields.shift_remove(name) {
                None | Some(Value::Null) => Ok(None),
                Some(Value::String(text)) => Ok(Some(text)),
                Some(_) => Err(Error::field(name, "is not a string")),
            };
        let time = |fields: &mut Map<String, Value>, name: &'static str| {
            let text = text(fields, name)?;
            let parse =
                |text: String| Timestamp::parse(&text).map_err(|error| Error::field(name, error));
            text.map(parse).transpose()
        };
        if let Some(parent) = text(&mut fields, "parent_id")? {
            let kind = text(&mut fields, "lineage")?.as_deref().map(Lineage::parse).transpose()?;
            let parent = SessionId::new(parent)?;
            self.parents.push(ParentLink { child: id.clone(), parent, kind });
        }
        let title = text(&mut fields, "title")?.as_deref().map(Title::clean).transpose()?.flatten();
        // A title that is in use gets the next number.
        let title = match title {
            Some(title) if titles::session_with(tx, title.as_str())?.is_some() => {
                Some(titles::next(tx, title.as_str())?)
            }
            title => title.map(|title| title.as_str().to_owned()),
        };
        let started_at = time(&mut fields, "started_at")?;
        let session = NewSession {
            id: Some(id.clone()),
            source: text(&mut fields, "source")?,
            user_id: text(&mut fields, "user_id")?,
            model: text(&mut fields, "model")?,
            model_config: fields.shift_remove("model_config").filter(|config| !config.is_null()),
            system_prompt: text(&mut fields, "system_prompt")?,
            title,
            project: text(&mut fields, "project")?,
            cwd: text(&mut fields, "cwd")?,
            metadata: match fields.shift_remove("metadata") {
                None | Some(Value::Null) => Map::new(),
                Some(Value::Object(metadata)) => metadata,
                Some(_) => return Err(Error::field("metadata", "is not an object")),
            },
            started_at,
            ..NewSession::default()
        };
        let key = create_in(tx, &Draft::new(self.oneiro, session)?)?;
        let now = self.oneiro.now();
        let taken = sequence::next_messages(tx)?;
        let appended = append_prepared(tx, key, taken.first, &messages)?;
        self.ids.created(&sources, &appended.ids);
        let begun = sessions::get(tx, key)?.map_or(now, |session| session.last_active_at);
        let state = ImportedState {
            ended_at: time(&mut fields, "ended_at")?,
            end_reason: text(&mut fields, "end_reason")?,
            archived: fields.get("archived").and_then(Value::as_bool).unwrap_or(false),
            rewind_count: count(&fields, "rewind_count")?,
            last_active_at: time(&mut fields, "last_active_at")?.unwrap_or(begun),
        };
        session_updates::set_imported(tx, key, &state)?;
        import_usage(tx, key, &fields)?;
        self.done.sessions += 1;
        self.done.duplicates += appended.duplicates;
        self.done.messages += appended.ids.len() - appended.duplicates;
        Ok(())
    }

    fn link_parents(&mut self) -> Result<()> {
        for ParentLink { child, parent, kind } in std::mem::take(&mut self.parents) {
            let child = key_of(self.tx, &child)?;
            let Some(parent) = sessions::key(self.tx, &parent)? else {
                self.done.detached += 1;
                continue;
            };
            if lineage::is_descendant(self.tx, parent, child)? {
                self.done.detached += 1;
                continue;
            }
            lineage::attach(self.tx, child, parent, kind.unwrap_or(Lineage::Branch))?;
        }
        Ok(())
    }
}

fn count(fields: &Map<String, Value>, name: &'static str) -> Result<i64> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(0),
        Some(value) => value
            .as_i64()
            .filter(|count| *count >= 0)
            .ok_or_else(|| Error::field(name, "is not a whole number")),
    }
}

fn money(fields: &Map<String, Value>, name: &'static str) -> Result<i64> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(0),
        Some(value) => Usage::nanousd(name, value.as_f64().unwrap_or(f64::NAN)),
    }
}

/// Sets the totals of the session and its accounts, independently of each other.
fn import_usage(tx: &Tx<'_>, key: i64, fields: &Map<String, Value>) -> Result<()> {
    if let Some(Value::Array(rows)) = fields.get("usage") {
        for row in rows {
            let Value::Object(row) = row else {
                return Err(Error::field("usage", "is not a list of accounts"));
            };
            let text = |name| row.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
            let account = UsageKey {
                model: text("model"),
                provider: text("provider"),
                base_url: text("base_url"),
                billing_mode: text("billing_mode"),
                task: text("task"),
            };
            account.check()?;
            let time = |name| {
                Timestamp::parse(&text(name))
                    .map_err(|error| Error::field("usage", format!("{name}: {error}")))
            };
            let last = time("last_at")?;
            let first = if row.contains_key("first_at") { time("first_at")? } else { last };
            let used = used(row, "api_calls")?;
            used.check()?;
            let charge = Charge { account: &account, used: &used, first_at: first, last_at: last };
            usage::add_to_account(tx, key, charge)?;
        }
    }
    let totals = used(fields, "api_call_count")?;
    totals.check()?;
    usage::set_totals(tx, key, &totals)
}

fn used(fields: &Map<String, Value>, calls: &'static str) -> Result<Usage> {
    Ok(Usage {
        api_calls: count(fields, calls)?,
        input_tokens: count(fields, "input_tokens")?,
        output_tokens: count(fields, "output_tokens")?,
        cache_read_tokens: count(fields, "cache_read_tokens")?,
        cache_write_tokens: count(fields, "cache_write_tokens")?,
        reasoning_tokens: count(fields, "reasoning_tokens")?,
        estimated_cost_nanousd: money(fields, "estimated_cost_usd")?,
        actual_cost_nanousd: money(fields, "actual_cost_usd")?,
    })
}
