//! Windows, compaction, and the ways back to the exact words.

use crate::decode::Fields;
use crate::encode;
use crate::handle::{Handle, decoded};
use crate::sessions::session_id;
use oneiro::{
    CompactRequest, ContextScope, Cursor, EXPAND_TOKENS, Error, ExpandRequest, ExpandWhat,
    GrepRequest, MessageId, Result, Role, SEARCH_LIMIT, WindowFormat, WindowRequest,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

fn window(fields: &mut Fields) -> Result<WindowRequest> {
    let plain = WindowRequest::default();
    Ok(WindowRequest {
        budget: fields.count("budget")?.unwrap_or(plain.budget),
        reserve: fields.count("reserve")?.unwrap_or(plain.reserve),
        format: fields.text("format")?.as_deref().map_or(Ok(plain.format), WindowFormat::parse)?,
        explain: fields.truth("explain")?.unwrap_or(plain.explain),
        peek: fields.truth("peek")?.unwrap_or(plain.peek),
    })
}

/// Within what something is looked up: a session and its kin, or the whole space.
fn scope(fields: &mut Fields) -> Result<ContextScope> {
    Ok(fields.session("session")?.map_or(ContextScope::Space, ContextScope::Lineage))
}

fn expansion(fields: &mut Fields) -> Result<ExpandRequest> {
    let what = fields.text("id")?.ok_or_else(|| Error::field("id", "is missing"))?;
    Ok(ExpandRequest {
        what: ExpandWhat::parse(&what)?,
        scope: scope(fields)?,
        tokens: fields.count("tokens")?.unwrap_or(EXPAND_TOKENS),
        cursor: fields.text("cursor")?.as_deref().map(Cursor::parse).transpose()?,
    })
}

fn grepping(fields: &mut Fields) -> Result<GrepRequest> {
    Ok(GrepRequest {
        pattern: fields.text("pattern")?.unwrap_or_default(),
        scope: scope(fields)?,
        messages: fields.truth("messages")?.unwrap_or(true),
        summaries: fields.truth("summaries")?.unwrap_or(true),
        roles: fields
            .texts("roles")?
            .iter()
            .map(|role| Role::parse(role))
            .collect::<Result<Vec<_>>>()?,
        since: fields.time("since")?,
        until: fields.time("until")?,
        limit: fields.count("limit")?.unwrap_or(SEARCH_LIMIT),
    })
}

type Answer<'py> = PyResult<Bound<'py, PyAny>>;

#[pymethods]
impl Handle {
    fn context<'py>(
        &self,
        py: Python<'py>,
        session: &str,
        request: &Bound<'py, PyDict>,
    ) -> Answer<'py> {
        let (id, request) = (session_id(py, session)?, decoded(request, window)?);
        encode::answer(py, &self.call(py, |oneiro| oneiro.context(&id, &request))?)
    }

    fn compact<'py>(
        &self,
        py: Python<'py>,
        session: &str,
        request: &Bound<'py, PyDict>,
    ) -> Answer<'py> {
        let id = session_id(py, session)?;
        let request = decoded(request, |fields| {
            Ok(CompactRequest {
                until: fields.count("until")?,
                redo: fields.truth("redo")?.unwrap_or(false),
            })
        })?;
        encode::answer(py, &self.call(py, |oneiro| oneiro.compact(&id, &request))?)
    }

    fn expand<'py>(
        &self,
        py: Python<'py>,
        request: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let request = decoded(request, expansion)?;
        let expanded = self.call(py, |oneiro| oneiro.expand(&request))?;
        let dict = PyDict::new(py);
        dict.set_item("messages", encode::messages(py, &expanded.messages)?)?;
        dict.set_item("tokens", expanded.tokens)?;
        dict.set_item("next", expanded.next.map(|next| next.to_string()))?;
        Ok(dict)
    }

    fn grep<'py>(&self, py: Python<'py>, request: &Bound<'py, PyDict>) -> Answer<'py> {
        let request = decoded(request, grepping)?;
        encode::answer(py, &self.call(py, |oneiro| oneiro.grep(&request))?)
    }

    fn summaries<'py>(&self, py: Python<'py>, session: &str) -> Answer<'py> {
        let id = session_id(py, session)?;
        encode::answer(py, &self.call(py, |oneiro| oneiro.summaries(&id))?)
    }

    #[pyo3(signature = (id, session=None))]
    fn summary<'py>(&self, py: Python<'py>, id: &str, session: Option<&str>) -> Answer<'py> {
        let session = session.map(|id| session_id(py, id)).transpose()?;
        let scope = session.map_or(ContextScope::Space, ContextScope::Lineage);
        encode::answer(py, &self.call(py, |oneiro| oneiro.summary(id, &scope))?)
    }

    fn session_summary(&self, py: Python<'_>, session: &str) -> PyResult<String> {
        let id = session_id(py, session)?;
        self.call(py, |oneiro| oneiro.session_summary(&id))
    }

    fn set_summary<'py>(&self, py: Python<'py>, session: &str, text: &str) -> Answer<'py> {
        let id = session_id(py, session)?;
        encode::answer(py, &self.call(py, |oneiro| oneiro.set_summary(&id, text))?)
    }

    fn pin(&self, py: Python<'_>, session: &str, message: i64) -> PyResult<bool> {
        let id = session_id(py, session)?;
        self.call(py, |oneiro| oneiro.pin_message(&id, MessageId(message)))
    }

    fn unpin(&self, py: Python<'_>, session: &str, message: i64) -> PyResult<bool> {
        let id = session_id(py, session)?;
        self.call(py, |oneiro| oneiro.unpin_message(&id, MessageId(message)))
    }

    fn pins<'py>(&self, py: Python<'py>, session: &str) -> PyResult<Bound<'py, PyList>> {
        let id = session_id(py, session)?;
        encode::messages(py, &self.call(py, |oneiro| oneiro.pinned_messages(&id))?)
    }
}
