//! Sessions: begin, find, list, change, end, remove, and their accounts.

use crate::decode::Fields;
use crate::encode;
use crate::handle::{Handle, decoded};
use oneiro::{
    BranchRequest, Cursor, DeleteRequest, Ending, EndingOver, Lineage, ListOrder, ListSessions,
    NewSession, PruneRequest, Result, SessionField, SessionId, SessionPatch, SessionTimes,
    SplitRequest, Timestamp, Usage, UsageKey,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// A session's id; one that cannot be is an exception.
pub(crate) fn session_id(py: Python<'_>, id: &str) -> PyResult<SessionId> {
    SessionId::new(id).map_err(|error| crate::error::raised(py, &error))
}

pub(crate) fn new_session(fields: &mut Fields) -> Result<NewSession> {
    Ok(NewSession {
        id: fields.session("id")?,
        source: fields.text("source")?,
        user_id: fields.text("user_id")?,
        model: fields.text("model")?,
        model_config: fields.value("model_config"),
        system_prompt: fields.text("system_prompt")?,
        parent_id: fields.session("parent_id")?,
        lineage: fields.text("lineage")?.as_deref().map(Lineage::parse).transpose()?,
        title: fields.text("title")?,
        project: fields.text("project")?,
        cwd: fields.text("cwd")?,
        metadata: fields.object("metadata")?,
        started_at: fields.time("started_at")?,
        untitled: fields.truth("untitled")?.unwrap_or(false),
    })
}

fn patch(fields: &mut Fields) -> Result<SessionPatch> {
    let has_title = fields.has("title");
    // What is given as nothing is taken away.
    let unset = CLEARED.iter().filter(|(name, _)| fields.is_nothing(name));
    let unset = unset.map(|(_, field)| *field).collect();
    Ok(SessionPatch {
        title: match (has_title, fields.text("title")?) {
            (false, _) => None,
            (true, title) => Some(title),
        },
        title_if_unset: fields.truth("title_if_unset")?.unwrap_or(false),
        archived: fields.truth("archived")?,
        model: fields.text("model")?,
        model_config: fields.value("model_config"),
        system_prompt: fields.text("system_prompt")?,
        project: fields.text("project")?,
        cwd: fields.text("cwd")?,
        metadata: fields.object("metadata")?,
        user_id: fields.text("user_id")?,
        lineage: fields.text("lineage")?.as_deref().map(Lineage::parse).transpose()?,
        source: fields.text("source")?,
        unset,
        metadata_is: fields.object("metadata_is")?,
    })
}

const CLEARED: [(&str, SessionField); 6] = [
    ("model", SessionField::Model),
    ("model_config", SessionField::ModelConfig),
    ("system_prompt", SessionField::SystemPrompt),
    ("project", SessionField::Project),
    ("cwd", SessionField::Cwd),
    ("user_id", SessionField::UserId),
];

fn listing(fields: &mut Fields) -> Result<ListSessions> {
    let plain = ListSessions::default();
    Ok(ListSessions {
        all: fields.truth("all")?.unwrap_or(plain.all),
        source: fields.text("source")?,
        exclude_sources: fields.texts("exclude_sources")?,
        project: fields.text("project")?,
        user_id: fields.text("user_id")?,
        parent_id: fields.session("parent_id")?,
        cwd_prefix: fields.text("cwd_prefix")?,
        min_messages: fields.number("min_messages")?.unwrap_or(plain.min_messages),
        archived: match fields.has("archived") {
            true => fields.truth("archived")?,
            false => plain.archived,
        },
        ended: fields.truth("ended")?,
        since: fields.time("since")?,
        until: fields.time("until")?,
        id_prefix: fields.text("id_prefix")?,
        started_since: fields.time("started_since")?,
        started_until: fields.time("started_until")?,
        metadata_is: fields.object("metadata_is")?,
        has_metadata: fields.texts("has_metadata")?,
        with_prompts: fields.truth("with_prompts")?.unwrap_or(false),
        matching: fields.text("matching")?,
        order: match fields.text("order")?.as_deref() {
            None | Some("active") => ListOrder::Active,
            Some("started") => ListOrder::Started,
            Some(other) => {
                let wrong = format!("{other:?} is not active or started");
                return Err(oneiro::Error::field("order", wrong));
            }
        },
        limit: fields.count("limit")?.unwrap_or(plain.limit),
        cursor: fields.text("cursor")?.as_deref().map(Cursor::parse).transpose()?,
    })
}

fn ending(fields: &mut Fields) -> Result<Ending> {
    let mut ending = Ending::new(fields.text("reason")?.unwrap_or_else(|| "ended".to_owned()))?;
    ending.at = fields.time("at")?;
    ending.over = match fields.value("over") {
        None => EndingOver::Nothing,
        Some(serde_json::Value::String(text)) if text == "nothing" => EndingOver::Nothing,
        Some(serde_json::Value::String(text)) if text == "anything" => EndingOver::Anything,
        Some(serde_json::Value::Array(reasons)) => EndingOver::Reasons(
            reasons.iter().filter_map(|reason| reason.as_str().map(str::to_owned)).collect(),
        ),
        Some(_) => {
            return Err(oneiro::Error::field(
                "over",
                "is not nothing, anything or a list of reasons",
            ));
        }
    };
    Ok(ending)
}

fn used(fields: &mut Fields) -> Result<Usage> {
    Ok(Usage {
        api_calls: fields.number("api_calls")?.unwrap_or(0),
        input_tokens: fields.number("input_tokens")?.unwrap_or(0),
        output_tokens: fields.number("output_tokens")?.unwrap_or(0),
        cache_read_tokens: fields.number("cache_read_tokens")?.unwrap_or(0),
        cache_write_tokens: fields.number("cache_write_tokens")?.unwrap_or(0),
        reasoning_tokens: fields.number("reasoning_tokens")?.unwrap_or(0),
        estimated_cost_nanousd: dollars(fields, "estimated_cost_usd")?,
        actual_cost_nanousd: dollars(fields, "actual_cost_usd")?,
    })
}

fn dollars(fields: &mut Fields, name: &'static str) -> Result<i64> {
    fields.amount(name)?.map_or(Ok(0), |dollars| Usage::nanousd(name, dollars))
}

fn account(fields: &mut Fields) -> Result<UsageKey> {
    Ok(UsageKey {
        model: fields.text("model")?.unwrap_or_default(),
        provider: fields.text("provider")?.unwrap_or_default(),
        base_url: fields.text("base_url")?.unwrap_or_default(),
        billing_mode: fields.text("billing_mode")?.unwrap_or_default(),
        task: fields.text("task")?.unwrap_or_default(),
    })
}

fn pruning(fields: &mut Fields, now: Timestamp) -> Result<PruneRequest> {
    Ok(PruneRequest {
        ended_before: fields.time("ended_before")?.unwrap_or(now),
        source: fields.text("source")?,
        project: fields.text("project")?,
        user_id: fields.text("user_id")?,
        model: fields.text("model")?,
        title: fields.text("title")?,
        end_reason: fields.text("end_reason")?,
        min_messages: fields.number("min_messages")?,
        max_messages: fields.number("max_messages")?,
        archived: fields.truth("archived")?,
        dry_run: fields.truth("dry_run")?.unwrap_or(false),
    })
}

type Answer<'py> = PyResult<Bound<'py, PyAny>>;

#[pymethods]
impl Handle {
    fn create_session<'py>(&self, py: Python<'py>, fields: &Bound<'py, PyDict>) -> Answer<'py> {
        let session = decoded(fields, new_session)?;
        encode::session(py, &self.call(py, |oneiro| oneiro.create_session(session))?)
    }

    fn insert_session<'py>(&self, py: Python<'py>, fields: &Bound<'py, PyDict>) -> Answer<'py> {
        let session = decoded(fields, new_session)?;
        encode::session(py, &self.call(py, |oneiro| oneiro.begin_session(session))?)
    }

    fn find_session<'py>(&self, py: Python<'py>, id: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        // An id that no session can have is one that none has.
        let Ok(id) = SessionId::new(id) else { return Ok(None) };
        let found = self.call(py, |oneiro| oneiro.find_session(&id))?;
        found.map(|session| encode::session(py, &session)).transpose()
    }

    fn resolve_session(&self, py: Python<'_>, text: &str) -> PyResult<String> {
        self.call(py, |oneiro| Ok(oneiro.resolve_session(text)?.to_string()))
    }

    fn list_sessions<'py>(
        &self,
        py: Python<'py>,
        request: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let request = decoded(request, listing)?;
        encode::page(py, &self.call(py, |oneiro| oneiro.list_sessions(&request))?)
    }

    fn change_session<'py>(
        &self,
        py: Python<'py>,
        id: &str,
        change: &Bound<'py, PyDict>,
    ) -> Answer<'py> {
        let (id, change) = (session_id(py, id)?, decoded(change, patch)?);
        encode::session(py, &self.call(py, |oneiro| oneiro.change_session(&id, change))?)
    }

    fn end_session<'py>(
        &self,
        py: Python<'py>,
        id: &str,
        request: &Bound<'py, PyDict>,
    ) -> Answer<'py> {
        let (id, ending) = (session_id(py, id)?, decoded(request, ending)?);
        encode::session(py, &self.call(py, |oneiro| oneiro.end_session(&id, ending))?)
    }

    fn reopen_session<'py>(&self, py: Python<'py>, id: &str) -> Answer<'py> {
        let id = session_id(py, id)?;
        encode::session(py, &self.call(py, |oneiro| oneiro.reopen_session(&id))?)
    }

    /// When a session began, and when and why it ended, as a host knows better.
    fn amend_session<'py>(
        &self,
        py: Python<'py>,
        id: &str,
        times: &Bound<'py, PyDict>,
    ) -> Answer<'py> {
        let id = session_id(py, id)?;
        let times = decoded(times, |fields| {
            let ended = match (fields.has("ended_at"), fields.time("ended_at")?) {
                (false, _) => None,
                (true, at) => Some(at),
            };
            let reason = fields.text("end_reason")?.unwrap_or_default();
            let kind = fields.text("lineage")?;
            let kind = kind.as_deref().map_or(Ok(Lineage::Branch), Lineage::parse)?;
            let parent = match (fields.has("parent_id"), fields.session("parent_id")?) {
                (false, _) => None,
                (true, parent) => Some(parent.map(|parent| (parent, kind))),
            };
            Ok(SessionTimes {
                started_at: fields.time("started_at")?,
                ended: ended.map(|at| at.map(|at| (at, reason))),
                parent,
            })
        })?;
        encode::session(py, &self.call(py, |oneiro| oneiro.amend_session(&id, times))?)
    }

    fn branch_session<'py>(
        &self,
        py: Python<'py>,
        id: &str,
        request: &Bound<'py, PyDict>,
    ) -> Answer<'py> {
        let id = session_id(py, id)?;
        let request = decoded(request, |fields| {
            Ok(BranchRequest {
                at: fields.message_id("at")?,
                id: fields.session("id")?,
                title: fields.text("title")?,
            })
        })?;
        encode::session(py, &self.call(py, |oneiro| oneiro.branch_session(&id, request))?)
    }

    fn split_session<'py>(
        &self,
        py: Python<'py>,
        id: &str,
        request: &Bound<'py, PyDict>,
    ) -> Answer<'py> {
        let id = session_id(py, id)?;
        let request = decoded(request, |fields| {
            Ok(SplitRequest { id: fields.session("id")?, until: fields.count("until")? })
        })?;
        encode::session(py, &self.call(py, |oneiro| oneiro.split_session(&id, request))?)
    }

    fn delete_session<'py>(&self, py: Python<'py>, id: &str) -> Answer<'py> {
        let id = session_id(py, id)?;
        encode::answer(py, &self.call(py, |oneiro| oneiro.delete_session(&id))?)
    }

    #[pyo3(signature = (ids, options=None))]
    fn delete_sessions<'py>(
        &self,
        py: Python<'py>,
        ids: Vec<String>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> Answer<'py> {
        // An id that no session can have is one that none has.
        let ids = ids.into_iter().filter_map(|id| SessionId::new(id).ok()).collect();
        let plain = DeleteRequest { ids, ..DeleteRequest::default() };
        let request = match options {
            Some(options) => decoded(options, |fields| {
                Ok(DeleteRequest {
                    keep_delegates: !fields.truth("cascade")?.unwrap_or(true),
                    only_ended: fields.truth("ended")?.unwrap_or(false),
                    only_empty: fields.truth("empty")?.unwrap_or(false),
                    ..plain
                })
            })?,
            None => plain,
        };
        encode::answer(py, &self.call(py, |oneiro| oneiro.delete_sessions(request))?)
    }

    fn count_sessions(&self, py: Python<'_>, request: &Bound<'_, PyDict>) -> PyResult<usize> {
        let request = decoded(request, listing)?;
        self.call(py, |oneiro| oneiro.count_sessions(&request))
    }

    /// Those of these sessions that are there; without their prompts and previews where nobody
    /// wants them.
    #[pyo3(signature = (ids, whole=true))]
    fn find_sessions<'py>(
        &self,
        py: Python<'py>,
        ids: Vec<String>,
        whole: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let known: Vec<Option<SessionId>> =
            ids.into_iter().map(|id| SessionId::new(id).ok()).collect();
        let asked: Vec<SessionId> = known.iter().flatten().cloned().collect();
        let mut found = self.call(py, |oneiro| oneiro.find_sessions(&asked, whole))?.into_iter();
        let list = PyList::empty(py);
        for id in known {
            match id.and_then(|_| found.next().flatten()) {
                Some(session) => list.append(encode::session(py, &session)?)?,
                None => list.append(py.None())?,
            }
        }
        Ok(list)
    }

    fn find_title(&self, py: Python<'_>, title: &str) -> PyResult<Option<String>> {
        self.call(py, |oneiro| Ok(oneiro.find_title(title)?.map(|id| id.to_string())))
    }

    fn resolve_title(&self, py: Python<'_>, title: &str) -> PyResult<Option<String>> {
        self.call(py, |oneiro| Ok(oneiro.resolve_title(title)?.map(|id| id.to_string())))
    }

    fn prune_sessions<'py>(&self, py: Python<'py>, request: &Bound<'py, PyDict>) -> Answer<'py> {
        let now = self.call(py, |oneiro| Ok(oneiro.now()))?;
        let request = decoded(request, |fields| pruning(fields, now))?;
        encode::answer(py, &self.call(py, |oneiro| oneiro.prune_sessions(request))?)
    }

    fn session_children(&self, py: Python<'_>, id: &str) -> PyResult<Vec<String>> {
        let id = session_id(py, id)?;
        let children = self.call(py, |oneiro| oneiro.session_children(&id))?;
        Ok(children.iter().map(ToString::to_string).collect())
    }

    fn session_root(&self, py: Python<'_>, id: &str) -> PyResult<String> {
        let id = session_id(py, id)?;
        self.call(py, |oneiro| Ok(oneiro.session_root(&id)?.to_string()))
    }

    fn session_tip(&self, py: Python<'_>, id: &str) -> PyResult<String> {
        let id = session_id(py, id)?;
        self.call(py, |oneiro| Ok(oneiro.session_tip(&id)?.to_string()))
    }

    fn session_family<'py>(
        &self,
        py: Python<'py>,
        id: &str,
        limit: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        let id = session_id(py, id)?;
        encode::sessions(py, &self.call(py, |oneiro| oneiro.session_family(&id, limit))?)
    }

    fn counts<'py>(&self, py: Python<'py>, id: &str) -> Answer<'py> {
        let id = session_id(py, id)?;
        encode::answer(py, &self.call(py, |oneiro| oneiro.message_counts(&id))?)
    }

    fn next_title(&self, py: Python<'_>, base: &str) -> PyResult<String> {
        self.call(py, |oneiro| oneiro.next_title(base))
    }

    fn add_usage<'py>(
        &self,
        py: Python<'py>,
        id: &str,
        charged: &Bound<'py, PyDict>,
        amounts: &Bound<'py, PyDict>,
    ) -> Answer<'py> {
        let (id, key, used) =
            (session_id(py, id)?, decoded(charged, account)?, decoded(amounts, used)?);
        encode::session(py, &self.call(py, |oneiro| oneiro.add_usage(&id, key, used))?)
    }

    fn set_usage<'py>(
        &self,
        py: Python<'py>,
        id: &str,
        amounts: &Bound<'py, PyDict>,
    ) -> Answer<'py> {
        let (id, used) = (session_id(py, id)?, decoded(amounts, used)?);
        encode::session(py, &self.call(py, |oneiro| oneiro.set_usage(&id, used))?)
    }

    fn usage<'py>(&self, py: Python<'py>, id: &str) -> Answer<'py> {
        let id = session_id(py, id)?;
        encode::answer(py, &self.call(py, |oneiro| oneiro.usage(&id))?)
    }
}
