//! Stores the sessions of hermes: creates new ones, and applies the changes of hermes to known ones
//! except to fields that were changed here.

use super::checkpoint::{Checkpoint, fingerprint_of};
use super::pass::{Pass, SessionStatus, SourceSession};
use super::session_row::SessionRow;
use super::store_titles::TitleWriter;
use super::usage_row;
use super::usage_row::{difference, usage_numbers};
use crate::Oneiro;
use crate::sessions::{Draft, create_in, fetch_session};
use oneiro_model::{Result, Session, Timestamp, Usage};
use oneiro_store::session_updates::{self, ImportedState};
use oneiro_store::sessions::Fields;
use oneiro_store::usage::Charge;
use oneiro_store::{Tx, sessions, usage};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// How a session was stored.
struct Stored {
    status: SessionStatus,
    checkpoint: Checkpoint,
    is_changed: bool,
    kept_here: usize,
    retitled: usize,
}

impl Pass<'_> {
    pub(super) fn store_sessions(&mut self, rows: Vec<SessionRow>) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let drafts = rows
            .iter()
            .map(|row| Draft::new(self.oneiro, row.new.clone()))
            .collect::<Result<Vec<_>>>()?;
        let oneiro = self.oneiro;
        let stored = oneiro.store.write_bulk(|tx| {
            let store = |(row, draft)| SessionWriter { oneiro, tx, row, draft }.store();
            rows.iter().zip(&drafts).map(store).collect::<Result<Vec<_>>>()
        })?;
        for (row, stored) in rows.into_iter().zip(stored) {
            self.record_session(row, stored);
        }
        Ok(())
    }

    fn record_session(&mut self, row: SessionRow, stored: Stored) {
        self.at.sessions += 1;
        self.done.kept_here += stored.kept_here;
        self.done.retitled += stored.retitled;
        match stored.status {
            SessionStatus::New => self.done.sessions += 1,
            SessionStatus::Known => self.done.sessions_changed += usize::from(stored.is_changed),
            SessionStatus::Skipped => self.done.left_out_sessions += 1,
        }
        if stored.status == SessionStatus::New || stored.is_changed {
            self.done.repaired(&row.repairs);
        }
        self.by_id.insert(row.raw_id.clone(), self.seen.len());
        self.seen.push(SourceSession {
            raw_id: row.raw_id,
            id: row.id,
            status: stored.status,
            until: stored.checkpoint.until,
            known: stored.checkpoint.runs,
            runs: Default::default(),
            parent: row.parent,
            descends: row.descends,
            is_of_tool: row.new.source.as_deref() == Some("tool"),
            is_compressed: row.end_reason.as_deref() == Some("compression"),
            link: stored.checkpoint.link,
        });
    }
}

/// Stores one session.
struct SessionWriter<'w, 'c> {
    oneiro: &'w Oneiro,
    tx: &'w Tx<'c>,
    row: &'w SessionRow,
    draft: &'w Draft,
}

impl<'w, 'c> SessionWriter<'w, 'c> {
    fn store(&self) -> Result<Stored> {
        let key = sessions::key(self.tx, &self.row.id)?;
        let checkpoint = Checkpoint::read(self.tx, &self.row.raw_id)?;
        let unchanged = |status, checkpoint| Stored {
            status,
            checkpoint,
            is_changed: false,
            kept_here: 0,
            retitled: 0,
        };
        let settings = self.oneiro.settings_in(self.tx)?;
        if settings.ignores(&self.row.id) || settings.is_stateless(&self.row.id) {
            return Ok(unchanged(SessionStatus::Skipped, checkpoint.unwrap_or_default()));
        }
        match (key, checkpoint) {
            (None, None) => self.create(SessionStatus::New),
            (Some(_), None) => self.create(SessionStatus::Known),
            // It was deleted after an import.
            (None, Some(checkpoint)) => Ok(unchanged(SessionStatus::Skipped, checkpoint)),
            (Some(_), Some(checkpoint)) if checkpoint.row == self.row.fingerprint => {
                Ok(unchanged(SessionStatus::Known, checkpoint))
            }
            (Some(key), Some(checkpoint)) => self.update(key, checkpoint),
        }
    }

    /// Creates a session, or fills in one that exists without a checkpoint.
    fn create(&self, status: SessionStatus) -> Result<Stored> {
        let (tx, row) = (self.tx, self.row);
        let key = create_in(tx, self.draft)?;
        let stored = fetch_session(tx, key)?;
        let is_new = status == SessionStatus::New;
        if is_new || stored.ended_at.is_none() {
            let end = SessionEnd { at: row.ended_at, reason: row.end_reason.clone() };
            session_updates::set_imported(tx, key, &self.state(&stored, end))?;
        }
        let mut checkpoint = Checkpoint { row: row.fingerprint, ..Checkpoint::default() };
        let unused = totals_of(&stored) == [0; 8];
        if unused {
            usage::set_totals(tx, key, &row.totals)?;
        }
        checkpoint.totals = usage_numbers(&row.totals);
        if is_new || usage::of_session(tx, key)?.is_empty() {
            self.charge(key, &mut checkpoint)?;
        }
        let retitled = match stored.title {
            None => self.title_writer(key).assign(&mut checkpoint)?,
            Some(_) => 0,
        };
        checkpoint.fields = fingerprints(&fields_of_row(row));
        checkpoint.write(tx, &row.raw_id, self.oneiro.now())?;
        Ok(Stored { status, checkpoint, is_changed: !is_new, kept_here: 0, retitled })
    }

    fn update(&self, key: i64, mut checkpoint: Checkpoint) -> Result<Stored> {
        let (tx, row) = (self.tx, self.row);
        let stored = fetch_session(tx, key)?;
        let (source, here) = (fields_of_row(row), fields_of(&stored));
        let mut changes = Changes::default();
        let names: BTreeSet<&String> = source.keys().chain(checkpoint.fields.keys()).collect();
        for name in names {
            let new = fingerprint_of(source.get(name).map(String::as_str));
            let known = checkpoint.fields.get(name).copied().unwrap_or(0);
            let held = fingerprint_of(here.get(name).map(String::as_str));
            if new == known || held == new {
                continue;
            }
            if held == known { changes.names.push(name.clone()) } else { changes.kept_here += 1 }
        }
        self.apply(key, &stored, &changes.names)?;
        let more = difference(&row.totals, checkpoint.totals);
        if more != Usage::default() {
            usage::add_totals(tx, key, &more)?;
            checkpoint.totals = usage_numbers(&row.totals);
        }
        self.charge(key, &mut checkpoint)?;
        let now = self.oneiro.now();
        let title = self.title_writer(key).update(&stored, &mut checkpoint)?;
        checkpoint.fields = fingerprints(&source);
        checkpoint.row = row.fingerprint;
        checkpoint.write(tx, &row.raw_id, now)?;
        Ok(Stored {
            status: SessionStatus::Known,
            checkpoint,
            is_changed: true,
            kept_here: changes.kept_here + usize::from(title.is_kept),
            retitled: title.numbered,
        })
    }

    fn apply(&self, key: i64, stored: &Session, names: &[String]) -> Result<()> {
        let has = |name: &str| names.iter().any(|changed| changed == name);
        let new = &self.row.new;
        let mut fields = Fields::default();
        if has("model") {
            fields.model = new.model.clone();
        }
        if has("user_id") {
            fields.user_id = new.user_id.clone();
        }
        if has("cwd") {
            fields.cwd = new.cwd.clone();
        }
        if has("model_config") {
            fields.model_config = new.model_config.as_ref().map(Value::to_string);
        }
        if let Some(prompt) = new.system_prompt.as_deref().filter(|_| has("system_prompt")) {
            fields.system_prompt = Some(sessions::pack_prompt(prompt)?);
        }
        fields.metadata = self.metadata(&stored.metadata, names);
        sessions::overwrite(self.tx, key, &fields)?;
        if has("ended") || has("archived") || has("rewind_count") {
            let end = if has("ended") {
                SessionEnd { at: self.row.ended_at, reason: self.row.end_reason.clone() }
            } else {
                SessionEnd { at: stored.ended_at, reason: stored.end_reason.clone() }
            };
            let mut state = self.state(stored, end);
            if !has("archived") {
                state.archived = stored.archived;
            }
            if !has("rewind_count") {
                state.rewind_count = stored.rewind_count;
            }
            session_updates::set_imported(self.tx, key, &state)?;
        }
        Ok(())
    }

    fn metadata(&self, stored: &Map<String, Value>, names: &[String]) -> Option<String> {
        let changed: Vec<&str> =
            names.iter().filter_map(|name| name.strip_prefix(METADATA_PREFIX)).collect();
        if changed.is_empty() {
            return None;
        }
        let mut all = stored.clone();
        for name in changed {
            match self.row.new.metadata.get(name) {
                Some(value) => all.insert(name.to_owned(), value.clone()),
                None => all.shift_remove(name),
            };
        }
        Some(Value::Object(all).to_string())
    }

    fn state(&self, stored: &Session, end: SessionEnd) -> ImportedState {
        ImportedState {
            ended_at: end.at,
            end_reason: end.reason,
            archived: self.row.archived,
            rewind_count: self.row.rewind_count,
            last_active_at: stored.last_active_at,
        }
    }

    fn title_writer(&self, key: i64) -> TitleWriter<'w, 'c> {
        TitleWriter { tx: self.tx, key, row: self.row, now: self.oneiro.now() }
    }

    /// Charges each account what it used since the last import.
    fn charge(&self, key: i64, checkpoint: &mut Checkpoint) -> Result<()> {
        for account in &self.row.accounts {
            let name = account_name(account);
            let known = checkpoint.accounts.get(&name).copied();
            let more = difference(&account.used, known.unwrap_or_default());
            if known.is_some() && more == Usage::default() {
                continue;
            }
            let now = self.oneiro.now();
            let last = account.last_at.or(account.first_at).unwrap_or(now);
            let first = account.first_at.unwrap_or(last);
            let charge =
                Charge { account: &account.key, used: &more, first_at: first, last_at: last };
            usage::add_to_account(self.tx, key, charge)?;
            checkpoint.accounts.insert(name, usage_numbers(&account.used));
        }
        Ok(())
    }
}

/// When and why a session ended.
struct SessionEnd {
    at: Option<Timestamp>,
    reason: Option<String>,
}

#[derive(Default)]
struct Changes {
    names: Vec<String>,
    kept_here: usize,
}

/// Precedes the names of metadata fields.
const METADATA_PREFIX: &str = "metadata ";

fn account_name(account: &usage_row::Account) -> String {
    format!("{:x}", super::checkpoint::fingerprint(&format!("{:?}", account.key)))
}

/// The fields that hermes may change, as text.
fn fields_of_row(row: &SessionRow) -> BTreeMap<String, String> {
    let new = &row.new;
    let config = new.model_config.as_ref().map(Value::to_string);
    let ended = ended(row.ended_at, row.end_reason.as_deref());
    let fields = [
        ("model", new.model.clone()),
        ("model_config", config),
        ("system_prompt", new.system_prompt.clone()),
        ("cwd", new.cwd.clone()),
        ("user_id", new.user_id.clone()),
        ("ended", ended),
        ("archived", Some(row.archived.to_string())),
        ("rewind_count", Some(row.rewind_count.to_string())),
    ];
    with_metadata(fields, &new.metadata)
}

/// The same fields of the stored session.
fn fields_of(stored: &Session) -> BTreeMap<String, String> {
    let config = stored.model_config.as_ref().map(Value::to_string);
    let ended = ended(stored.ended_at, stored.end_reason.as_deref());
    let fields = [
        ("model", stored.model.clone()),
        ("model_config", config),
        ("system_prompt", stored.system_prompt.clone()),
        ("cwd", stored.cwd.clone()),
        ("user_id", stored.user_id.clone()),
        ("ended", ended),
        ("archived", Some(stored.archived.to_string())),
        ("rewind_count", Some(stored.rewind_count.to_string())),
    ];
    with_metadata(fields, &stored.metadata)
}

fn with_metadata(
    fields: [(&str, Option<String>); 8],
    metadata: &Map<String, Value>,
) -> BTreeMap<String, String> {
    let fields = fields.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text?)));
    let metadata = metadata
        .iter()
        .map(|(name, value)| (format!("{METADATA_PREFIX}{name}"), value.to_string()));
    fields.chain(metadata).collect()
}

fn ended(at: Option<Timestamp>, reason: Option<&str>) -> Option<String> {
    match (at, reason) {
        (None, None) => None,
        (at, reason) => Some(format!("{:?} {reason:?}", at.map(Timestamp::micros))),
    }
}

fn fingerprints(fields: &BTreeMap<String, String>) -> BTreeMap<String, i64> {
    fields.iter().map(|(name, text)| (name.clone(), super::checkpoint::fingerprint(text))).collect()
}

fn totals_of(stored: &Session) -> [i64; 8] {
    let nano = |dollars: f64| (dollars * 1e9).round() as i64;
    [
        stored.api_call_count,
        stored.input_tokens,
        stored.output_tokens,
        stored.cache_read_tokens,
        stored.cache_write_tokens,
        stored.reasoning_tokens,
        nano(stored.estimated_cost_usd),
        nano(stored.actual_cost_usd),
    ]
}
