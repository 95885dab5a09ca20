//! Stores sessions of hermes: begins those that are new, and brings those that are known up to date
//! where hermes moved on and nobody changed the same here.

use super::note::{Note, mark_of};
use super::pass::{Pass, Seen, Standing};
use super::session_row::SessionRow;
use super::usage_row::{beyond, numbers};
use super::{store_titles, usage_row};
use crate::Oneiro;
use crate::sessions::{Draft, create_in, fetch_session};
use oneiro_model::{Result, Session, Timestamp, Usage};
use oneiro_store::session_updates::{self, ImportedState};
use oneiro_store::sessions::Fields;
use oneiro_store::{Tx, sessions, usage};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// What became of one session.
struct Stored {
    standing: Standing,
    note: Note,
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
            let store = |(row, draft)| Writing { oneiro, tx, row, draft }.store();
            rows.iter().zip(&drafts).map(store).collect::<Result<Vec<_>>>()
        })?;
        for (row, stored) in rows.into_iter().zip(stored) {
            self.saw(row, stored);
        }
        Ok(())
    }

    fn saw(&mut self, row: SessionRow, stored: Stored) {
        self.at.sessions += 1;
        self.done.kept_here += stored.kept_here;
        self.done.retitled += stored.retitled;
        match stored.standing {
            Standing::New => self.done.sessions += 1,
            Standing::Known => self.done.sessions_changed += usize::from(stored.is_changed),
            Standing::LeftOut => self.done.left_out_sessions += 1,
        }
        if stored.standing == Standing::New || stored.is_changed {
            self.done.repaired(&row.repairs);
        }
        self.by_id.insert(row.raw_id.clone(), self.seen.len());
        self.seen.push(Seen {
            raw_id: row.raw_id,
            id: row.id,
            standing: stored.standing,
            until: stored.note.until,
            known: stored.note.runs,
            runs: Default::default(),
            parent: row.parent,
            descends: row.descends,
            is_of_tool: row.new.source.as_deref() == Some("tool"),
            is_compressed: row.end_reason.as_deref() == Some("compression"),
            link: stored.note.link,
        });
    }
}

/// One session while it is stored.
struct Writing<'w, 'c> {
    oneiro: &'w Oneiro,
    tx: &'w Tx<'c>,
    row: &'w SessionRow,
    draft: &'w Draft,
}

impl Writing<'_, '_> {
    fn store(&self) -> Result<Stored> {
        let key = sessions::key(self.tx, &self.row.id)?;
        let note = Note::read(self.tx, &self.row.raw_id)?;
        let unchanged = |standing, note| Stored {
            standing,
            note,
            is_changed: false,
            kept_here: 0,
            retitled: 0,
        };
        let settings = self.oneiro.settings_in(self.tx)?;
        if settings.ignores(&self.row.id) || settings.is_stateless(&self.row.id) {
            return Ok(unchanged(Standing::LeftOut, note.unwrap_or_default()));
        }
        match (key, note) {
            (None, None) => self.begin(Standing::New),
            (Some(_), None) => self.begin(Standing::Known),
            // It was imported and is not there any more: it must not come back.
            (None, Some(note)) => Ok(unchanged(Standing::LeftOut, note)),
            (Some(_), Some(note)) if note.row == self.row.mark => {
                Ok(unchanged(Standing::Known, note))
            }
            (Some(key), Some(note)) => self.update(key, note),
        }
    }

    /// Begins a session, or fills in one that is here by itself.
    fn begin(&self, standing: Standing) -> Result<Stored> {
        let (tx, row) = (self.tx, self.row);
        let key = create_in(tx, self.draft)?;
        let stored = fetch_session(tx, key)?;
        let is_fresh = standing == Standing::New;
        if is_fresh || stored.ended_at.is_none() {
            self.set_state(key, &stored, (row.ended_at, row.end_reason.clone()))?;
        }
        let mut note = Note { row: row.mark, ..Note::default() };
        let unused = totals_of(&stored) == [0; 8];
        if unused {
            usage::set_totals(tx, key, &row.totals)?;
        }
        note.totals = numbers(&row.totals);
        if is_fresh || usage::of_session(tx, key)?.is_empty() {
            self.charge(key, &mut note)?;
        }
        let retitled = match stored.title {
            None => store_titles::give(tx, (key, row), (&mut note, self.oneiro.now()))?,
            Some(_) => 0,
        };
        note.fields = marks(&fields_of_row(row));
        note.write(tx, &row.raw_id, self.oneiro.now())?;
        Ok(Stored { standing, note, is_changed: !is_fresh, kept_here: 0, retitled })
    }

    fn update(&self, key: i64, mut note: Note) -> Result<Stored> {
        let (tx, row) = (self.tx, self.row);
        let stored = fetch_session(tx, key)?;
        let (there, here) = (fields_of_row(row), fields_of(&stored));
        let mut changes = Changes::default();
        let names: BTreeSet<&String> = there.keys().chain(note.fields.keys()).collect();
        for name in names {
            let new = mark_of(there.get(name).map(String::as_str));
            let known = note.fields.get(name).copied().unwrap_or(0);
            let held = mark_of(here.get(name).map(String::as_str));
            if new == known || held == new {
                continue;
            }
            if held == known { changes.names.push(name.clone()) } else { changes.kept_here += 1 }
        }
        self.apply(key, &stored, &changes.names)?;
        let more = beyond(&row.totals, note.totals);
        if more != Usage::default() {
            usage::add_totals(tx, key, &more)?;
            note.totals = numbers(&row.totals);
        }
        self.charge(key, &mut note)?;
        let now = self.oneiro.now();
        let (retitled, is_kept) = store_titles::renew(tx, (key, row), &stored, (&mut note, now))?;
        note.fields = marks(&there);
        note.row = row.mark;
        note.write(tx, &row.raw_id, now)?;
        Ok(Stored {
            standing: Standing::Known,
            note,
            is_changed: true,
            kept_here: changes.kept_here + usize::from(is_kept),
            retitled,
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
                (self.row.ended_at, self.row.end_reason.clone())
            } else {
                (stored.ended_at, stored.end_reason.clone())
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
        let changed: Vec<&str> = names.iter().filter_map(|name| name.strip_prefix(META)).collect();
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

    fn set_state(
        &self,
        key: i64,
        stored: &Session,
        end: (Option<Timestamp>, Option<String>),
    ) -> Result<()> {
        session_updates::set_imported(self.tx, key, &self.state(stored, end))
    }

    fn state(
        &self,
        stored: &Session,
        (ended_at, end_reason): (Option<Timestamp>, Option<String>),
    ) -> ImportedState {
        ImportedState {
            ended_at,
            end_reason,
            archived: self.row.archived,
            rewind_count: self.row.rewind_count,
            last_active_at: stored.last_active_at,
        }
    }

    /// Charges each account what it used beyond what was known.
    fn charge(&self, key: i64, note: &mut Note) -> Result<()> {
        for account in &self.row.accounts {
            let name = account_name(account);
            let known = note.accounts.get(&name).copied();
            let more = beyond(&account.used, known.unwrap_or_default());
            if known.is_some() && more == Usage::default() {
                continue;
            }
            let now = self.oneiro.now();
            let last = account.last_at.or(account.first_at).unwrap_or(now);
            let first = account.first_at.unwrap_or(last);
            usage::charge(self.tx, key, (&account.key, &more), (first, last))?;
            note.accounts.insert(name, numbers(&account.used));
        }
        Ok(())
    }
}

#[derive(Default)]
struct Changes {
    names: Vec<String>,
    kept_here: usize,
}

/// What the fields of the metadata are called among all fields.
const META: &str = "metadata ";

fn account_name(account: &usage_row::Account) -> String {
    format!("{:x}", super::note::mark(&format!("{:?}", account.key)))
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
    together(fields, &new.metadata)
}

/// The same fields as they are here.
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
    together(fields, &stored.metadata)
}

fn together(
    fields: [(&str, Option<String>); 8],
    metadata: &Map<String, Value>,
) -> BTreeMap<String, String> {
    let fields = fields.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text?)));
    let metadata =
        metadata.iter().map(|(name, value)| (format!("{META}{name}"), value.to_string()));
    fields.chain(metadata).collect()
}

fn ended(at: Option<Timestamp>, reason: Option<&str>) -> Option<String> {
    match (at, reason) {
        (None, None) => None,
        (at, reason) => Some(format!("{:?} {reason:?}", at.map(Timestamp::micros))),
    }
}

fn marks(fields: &BTreeMap<String, String>) -> BTreeMap<String, i64> {
    fields.iter().map(|(name, text)| (name.clone(), super::note::mark(text))).collect()
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
