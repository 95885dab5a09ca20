//! Messages: append, read, take back, set aside.

use crate::decode::{self, Reader, refused};
use crate::encode;
use crate::handle::Handle;
use crate::sessions::session_id;
use oneiro::host::MessageAmend;
use oneiro::{
    Error, MessageId, NewSession, PageRequest, RestoreRequest, RewindRequest, Rewound, Timestamp,
    Visibility,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

fn rewound<'py>(py: Python<'py>, rewound: &Rewound) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("rewound", rewound.rewound)?;
    dict.set_item("target", encode::message(py, &rewound.target)?)?;
    dict.set_item("head", rewound.head.map(|head| head.0))?;
    Ok(dict)
}

#[pymethods]
impl Handle {
    #[pyo3(signature = (session, messages, create=None))]
    fn append<'py>(
        &self,
        py: Python<'py>,
        session: &str,
        messages: &Bound<'py, PyAny>,
        create: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let id = session_id(py, session)?;
        let messages = Reader::default().messages(messages)?;
        let create = create.map(decode::request::<NewSession>).transpose()?;
        let appended = self.call(py, |oneiro| match create {
            Some(create) => oneiro.messages().append_or_create(&id, messages, create),
            None => oneiro.messages().append(&id, messages),
        })?;
        encode::answer(py, &appended)
    }

    /// Messages that a host keeps by its own rules: any role, and none need have content.
    #[pyo3(signature = (session, messages, create=None))]
    fn append_kept<'py>(
        &self,
        py: Python<'py>,
        session: &str,
        messages: &Bound<'py, PyAny>,
        create: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let id = session_id(py, session)?;
        let messages = Reader::default().messages(messages)?;
        let create = create.map(decode::request::<NewSession>).transpose()?;
        let appended = self.call(py, |oneiro| oneiro.host().append(&id, messages, create))?;
        encode::answer(py, &appended)
    }

    /// One message that a host keeps by its own rules: its id and nothing else.
    fn append_one(
        &self,
        py: Python<'_>,
        session: &str,
        message: &Bound<'_, PyDict>,
    ) -> PyResult<i64> {
        let id = session_id(py, session)?;
        let message = Reader::default().message(message)?;
        let appended = self.call(py, |oneiro| oneiro.host().append(&id, vec![message], None))?;
        appended.ids.first().map(|id| id.0).ok_or_else(|| {
            let wrong = Error::conflict(format!("nothing said in session {session:?} is stored"));
            let wrong = wrong.remedy("the space's ignore or stateless patterns match its id");
            crate::error::raised(py, &wrong)
        })
    }

    fn messages<'py>(
        &self,
        py: Python<'py>,
        session: &str,
        request: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let id = session_id(py, session)?;
        let request = decode::request::<PageRequest>(request)?;
        let page = self.call(py, |oneiro| oneiro.messages().list(&id, request))?;
        let dict = PyDict::new(py);
        dict.set_item("items", encode::messages(py, &page.items)?)?;
        dict.set_item("next_after", page.next.map(|next| next.key))?;
        Ok(dict)
    }

    fn all_messages<'py>(
        &self,
        py: Python<'py>,
        session: &str,
        hidden: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let id = session_id(py, session)?;
        let all = PageRequest { after: 0, hidden, limit: usize::MAX };
        let messages = self.call(py, |oneiro| oneiro.host().all_messages(&id, all))?;
        encode::messages(py, &messages)
    }

    fn message<'py>(
        &self,
        py: Python<'py>,
        id: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let message = decode::message_ref(id)?;
        encode::message(py, &self.call(py, |oneiro| oneiro.messages().get(message))?)
    }

    fn find_messages<'py>(&self, py: Python<'py>, ids: Vec<i64>) -> PyResult<Bound<'py, PyList>> {
        let ids: Vec<MessageId> = ids.into_iter().map(MessageId).collect();
        let list = PyList::empty(py);
        for message in self.call(py, |oneiro| oneiro.messages().find_many(&ids))? {
            match message {
                Some(message) => list.append(encode::message(py, &message)?)?,
                None => list.append(py.None())?,
            }
        }
        Ok(list)
    }

    fn find_message(
        &self,
        py: Python<'_>,
        session: &str,
        field: &str,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<Option<i64>> {
        let (id, value) = (session_id(py, session)?, Reader::default().value(value, 0)?);
        let found = self.call(py, |oneiro| oneiro.host().find_message(&id, field, &value))?;
        Ok(found.map(|id| id.0))
    }

    fn rewind<'py>(
        &self,
        py: Python<'py>,
        session: &str,
        request: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (id, request) = (session_id(py, session)?, decode::request::<RewindRequest>(request)?);
        rewound(py, &self.call(py, |oneiro| oneiro.sessions().rewind(&id, request))?)
    }

    /// Takes back whatever is still shown from a message on, even if that is taken back already.
    fn rewind_again<'py>(
        &self,
        py: Python<'py>,
        session: &str,
        to: i64,
    ) -> PyResult<Bound<'py, PyDict>> {
        let id = session_id(py, session)?;
        rewound(py, &self.call(py, |oneiro| oneiro.host().rewind_again(&id, MessageId(to)))?)
    }

    /// Shows again what the latest rewind hid, or every rewind; how many messages.
    fn restore(
        &self,
        py: Python<'_>,
        session: &str,
        request: &Bound<'_, PyDict>,
    ) -> PyResult<usize> {
        let (id, request) = (session_id(py, session)?, decode::request::<RestoreRequest>(request)?);
        Ok(self.call(py, |oneiro| oneiro.sessions().restore(&id, request))?.restored)
    }

    /// Shows again whatever was rewound from a message on; how many messages.
    fn restore_since(&self, py: Python<'_>, session: &str, since: i64) -> PyResult<usize> {
        let id = session_id(py, session)?;
        self.call(py, |oneiro| oneiro.host().restore_since(&id, MessageId(since)))
    }

    fn rewind_points<'py>(
        &self,
        py: Python<'py>,
        session: &str,
        limit: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        let id = session_id(py, session)?;
        encode::messages(py, &self.call(py, |oneiro| oneiro.sessions().rewind_points(&id, limit))?)
    }

    /// When messages were said and where they stand, as a host knows better: id, at, visibility.
    fn amend_messages(
        &self,
        py: Python<'_>,
        session: &str,
        amends: Vec<(i64, Option<i64>, Option<String>)>,
    ) -> PyResult<()> {
        let id = session_id(py, session)?;
        let visibility = |name: String| {
            Visibility::parse(&name).map_err(|error| crate::error::raised(py, &error))
        };
        let mut read = Vec::with_capacity(amends.len());
        for (id, at, stands) in amends {
            read.push(MessageAmend {
                id: MessageId(id),
                at: at.map(Timestamp::from_micros),
                visibility: stands.map(visibility).transpose()?,
            });
        }
        self.call(py, |oneiro| oneiro.host().amend_messages(&id, read))
    }

    fn set_history<'py>(
        &self,
        py: Python<'py>,
        session: &str,
        messages: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyList>> {
        let id = session_id(py, session)?;
        let messages = Reader::default().messages(messages)?;
        encode::messages(py, &self.call(py, |oneiro| oneiro.messages().set_history(&id, messages))?)
    }

    fn replace_history<'py>(
        &self,
        py: Python<'py>,
        session: &str,
        messages: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyList>> {
        let id = session_id(py, session)?;
        let messages = Reader::default().messages(messages)?;
        encode::messages(py, &self.call(py, |oneiro| oneiro.host().replace_history(&id, messages))?)
    }

    fn compact_into<'py>(
        &self,
        py: Python<'py>,
        session: &str,
        messages: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let id = session_id(py, session)?;
        let messages = Reader::default().messages(messages)?;
        encode::answer(py, &self.call(py, |oneiro| oneiro.host().compact_into(&id, messages))?)
    }

    fn truncate_history(&self, py: Python<'_>, session: &str, keep: usize) -> PyResult<usize> {
        let id = session_id(py, session)?;
        self.call(py, |oneiro| oneiro.messages().truncate_history(&id, keep))
    }

    /// A session or a message, removed for good.
    fn erase<'py>(&self, py: Python<'py>, what: &str) -> PyResult<Bound<'py, PyAny>> {
        if what.is_empty() {
            return Err(refused(py, "name a session or the number of a message"));
        }
        let erased = self.call(py, |oneiro| oneiro.erase(&oneiro.erase_target(what)?))?;
        encode::answer(py, &erased)
    }
}
