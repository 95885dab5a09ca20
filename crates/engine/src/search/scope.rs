//! What a search covers: texts of one kind, and the filters as sets of keys, which are checked for a
//! document without reading its row.

use super::doc_set::DocSet;
use super::rows::{MemoryFilter, NoteFilter, Rows};
use crate::projects;
use crate::sessions::resolve_in;
use crate::settings::Settings;
use oneiro_index::{Doc, Kind, Kinds, View, name_term, role_code};
use oneiro_model::{Filters, HitKind, Result, Role, SearchRequest, Timestamp};
use oneiro_store::message_rows::MessageRow;
use oneiro_store::{Tx, lineage, sessions};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// Which texts a search may return.
#[derive(Default)]
pub(super) struct Scope {
    /// Where their rows are read.
    pub(super) rows: Rows,
    /// The documents of these texts, if they are few among others.
    pub(super) docs: Option<Vec<u32>>,
    /// The numbers of the texts that exist, if the index has many others.
    existing: Option<FxHashSet<i64>>,
    only: Option<FxHashSet<i64>>,
    not: FxHashSet<i64>,
    /// A message must have a role of each list that is not empty.
    roles: [Vec<Role>; 2],
    not_roles: Vec<Role>,
    names: Vec<String>,
    not_names: Vec<String>,
    named: Option<DocSet>,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
    /// The kinds to search, if the index holds others.
    kinds: Option<Kinds>,
    /// Messages after this one are excluded, so that all pages of a search see the same messages.
    last: Option<i64>,
}

impl Scope {
    pub(super) fn new(
        tx: &Tx<'_>,
        view: &View<'_>,
        request: &SearchRequest,
        filters: &Filters,
    ) -> Result<Scope> {
        let wanted = Kinds::of(&[Kind::Message]);
        let mut scope = Scope {
            kinds: (!view.kinds().are_in(wanted)).then_some(wanted),
            roles: [request.roles.clone(), filters.roles.clone()],
            not_roles: filters.exclude_roles.clone(),
            names: filters.names.iter().map(|name| oneiro_text::normalise(name)).collect(),
            not_names: filters
                .exclude_names
                .iter()
                .map(|name| oneiro_text::normalise(name))
                .collect(),
            since: request.since.max(filters.since),
            until: [request.until, filters.until].into_iter().flatten().min(),
            last: request.cursor.map(|cursor| cursor.key),
            ..Scope::default()
        };
        for sources in [&request.sources, &filters.sources] {
            scope.narrow(sources, |source| sessions::keys_of_source(tx, source))?;
        }
        for projects in [request.project.as_slice(), &filters.projects] {
            scope.narrow(projects, |project| sessions_of_project(tx, project))?;
        }
        let named = filters
            .sessions
            .iter()
            .map(|id| Ok(resolve_in(tx, id)?.0))
            .collect::<Result<Vec<_>>>()?;
        let asked = request.session.iter().map(|id| Ok(resolve_in(tx, id.as_str())?.0));
        for keys in [named, asked.collect::<Result<Vec<_>>>()?] {
            if !keys.is_empty() {
                scope.keep_only(keys.into_iter().collect());
            }
        }
        for source in request.exclude_sources.iter().chain(&filters.exclude_sources) {
            scope.not.extend(sessions::keys_of_source(tx, source)?);
        }
        for project in &filters.exclude_projects {
            scope.not.extend(sessions_of_project(tx, project)?);
        }
        for id in &filters.exclude_sessions {
            scope.not.insert(resolve_in(tx, id)?.0);
        }
        if let Some(id) = &request.lineage {
            let (key, _) = resolve_in(tx, id.as_str())?;
            scope.keep_only(lineage::family(tx, key)?.into_iter().collect());
        }
        if let Some(id) = &request.exclude_lineage
            && let Some(key) = sessions::key(tx, id)?
        {
            scope.not.extend(lineage::family(tx, key)?);
        }
        if !scope.names.is_empty() {
            let mut named = DocSet::none(view.docs());
            for name in &scope.names {
                let mut lists = view.lists(&name_term(name))?;
                view.read_rest(&mut lists, u64::MAX)?;
                lists.postings().for_each(|(doc, _)| named.insert(doc));
            }
            scope.named = Some(named);
        }
        Ok(scope)
    }

    /// The texts of a kind that is no message; with a filter that none of them can meet, its name.
    pub(super) fn of_kind(
        view: &View<'_>,
        request: &SearchRequest,
        filters: &Filters,
        (kind, rows): (Kind, Rows),
    ) -> std::result::Result<Scope, &'static str> {
        let of_messages = [
            ("session", request.session.is_some() || !filters.sessions.is_empty()),
            ("lineage", request.lineage.is_some()),
            ("sources", !request.sources.is_empty() || !filters.sources.is_empty()),
            ("roles", !request.roles.is_empty() || !filters.roles.is_empty()),
            ("one_per_lineage", request.one_per_lineage),
        ];
        if let Some((name, _)) = of_messages.iter().find(|(_, given)| *given) {
            return Err(name);
        }
        let names =
            |names: &[String]| names.iter().map(|name| oneiro_text::normalise(name)).collect();
        Ok(Scope {
            rows,
            docs: Some(view.docs_of(kind)),
            kinds: Some(Kinds::of(&[kind])),
            names: names(&filters.names),
            not_names: names(&filters.exclude_names),
            since: request.since.max(filters.since),
            until: [request.until, filters.until].into_iter().flatten().min(),
            last: request.cursor.map(|cursor| cursor.key),
            ..Scope::default()
        })
    }

    /// Which memories a request may show. A project in the query counts like one in the request.
    pub(super) fn memory_filter(
        tx: &Tx<'_>,
        request: &SearchRequest,
        filters: &Filters,
        now: Timestamp,
    ) -> Result<MemoryFilter> {
        let project = request.project.as_deref().or(filters.projects.first().map(String::as_str));
        Ok(MemoryFilter {
            history: request.history,
            at: request.at,
            now,
            project: project.map(|name| projects::canonical(tx, name)).transpose()?,
        })
    }

    /// Which notes a request may show. Generated ones are shown where only notes are searched.
    pub(super) fn note_filter(
        tx: &Tx<'_>,
        request: &SearchRequest,
        filters: &Filters,
        settings: Arc<Settings>,
    ) -> Result<NoteFilter> {
        let project = request.project.as_deref().or(filters.projects.first().map(String::as_str));
        let only_notes = request.kinds.iter().all(|kind| *kind == HitKind::Note);
        Ok(NoteFilter {
            project: project.map(|name| projects::names_in_sessions(tx, name)).transpose()?,
            with_generated: only_notes,
            settings,
        })
    }

    /// Leaves out texts that no longer exist before they take the places of others: a note that is often
    /// edited has many former entries in the index.
    pub(super) fn keep_existing(mut self, view: &View<'_>, numbers: Vec<i64>) -> Scope {
        let existing: FxHashSet<i64> = numbers.into_iter().collect();
        if let Some(docs) = &mut self.docs {
            docs.retain(|doc| view.doc(*doc).is_some_and(|doc| existing.contains(&doc.seq)));
        }
        self.existing = Some(existing);
        self
    }

    fn narrow(&mut self, values: &[String], keys: impl Fn(&str) -> Result<Vec<i64>>) -> Result<()> {
        if values.is_empty() {
            return Ok(());
        }
        let mut found = FxHashSet::default();
        for value in values {
            found.extend(keys(value)?);
        }
        self.keep_only(found);
        Ok(())
    }

    fn keep_only(&mut self, keys: FxHashSet<i64>) {
        self.only = Some(match self.only.take() {
            Some(only) => only.intersection(&keys).copied().collect(),
            None => keys,
        });
    }

    /// Whether no document needs to be checked.
    pub(super) fn allows_all(&self) -> bool {
        self.is_everything() && self.kinds.is_none()
    }

    /// Whether there is no filter.
    pub(super) fn is_everything(&self) -> bool {
        self.only.is_none()
            && self.not.is_empty()
            && self.roles.iter().all(Vec::is_empty)
            && self.not_roles.is_empty()
            && self.names.is_empty()
            && self.not_names.is_empty()
            && self.since.is_none()
            && self.until.is_none()
            && self.last.is_none()
    }

    /// Whether a document may be in scope, judged by the index; `first` is the first document of
    /// its message.
    pub(super) fn allows(&self, doc: &Doc, first: u32) -> bool {
        let minute = |at: Timestamp| at.micros().div_euclid(60_000_000);
        let is_role = |role: &Role| role_code(role) == doc.role;
        self.last.is_none_or(|last| doc.seq <= last)
            && self.kinds.is_none_or(|kinds| kinds.has(doc.kind))
            && self.existing.as_ref().is_none_or(|existing| existing.contains(&doc.seq))
            && self.only.as_ref().is_none_or(|only| only.contains(&doc.session))
            && !self.not.contains(&doc.session)
            && self.roles.iter().all(|some| some.is_empty() || some.iter().any(is_role))
            && self.since.is_none_or(|since| doc.minute >= minute(since))
            && self.until.is_none_or(|until| doc.minute <= minute(until))
            && self.named.as_ref().is_none_or(|named| named.has(first))
    }

    /// Whether a message is in scope.
    pub(super) fn holds(&self, said: &MessageRow) -> bool {
        let name = said.body.get("name").and_then(serde_json::Value::as_str);
        let name = name.map(oneiro_text::normalise);
        let is_named = |wanted: &String| {
            name.as_ref()
                .is_some_and(|name| name == wanted || name.split(' ').any(|word| word == wanted))
        };
        said.visibility != oneiro_model::Visibility::Rewound
            && self.roles.iter().all(|some| some.is_empty() || some.contains(&said.role))
            && !self.not_roles.contains(&said.role)
            && (self.names.is_empty() || self.names.iter().any(is_named))
            && !self.not_names.iter().any(is_named)
            && self.since.is_none_or(|since| said.at >= since)
            && self.until.is_none_or(|until| said.at < until)
    }
}

/// The sessions of a project, under whatever name.
fn sessions_of_project(tx: &Tx<'_>, project: &str) -> Result<Vec<i64>> {
    let mut keys = Vec::new();
    for name in projects::names_in_sessions(tx, project)? {
        keys.extend(sessions::keys_of_project(tx, &name)?);
    }
    Ok(keys)
}
