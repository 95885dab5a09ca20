//! The ids that imported messages have here, by the ids they have in the store they come from. Each
//! space numbers its messages itself, so citations of messages are carried over by these.

use crate::sessions::fetch_session;
use oneiro_model::{
    Citation, DistrustKind, Message, MessageId, NewMessage, Result, Role, SessionId,
};
use oneiro_store::messages::{self, PageRequest};
use oneiro_store::{SessionRef, Tx, sessions};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Messages of a stored session that are read at a time.
const PAGE_MESSAGES: usize = 1_024;

/// Bytes of large values that are read at once.
const PAGE_BYTES: usize = 16 << 20;

/// Bytes of the hash by which messages are compared.
const DIGEST_BYTES: usize = 16;

type Digest = [u8; DIGEST_BYTES];

/// A message as it is known where it comes from.
#[derive(Debug, Clone)]
pub(super) struct SourceMessage {
    id: Option<i64>,
    external_id: Option<String>,
    digest: Digest,
}

impl SourceMessage {
    pub(super) fn new(id: Option<i64>, message: &NewMessage) -> SourceMessage {
        let digest = digest(&message.role, &message.body);
        SourceMessage { id, external_id: message.external_id.clone(), digest }
    }
}

/// A hash of who said what.
fn digest(role: &Role, body: &Map<String, Value>) -> Digest {
    let mut hasher = blake3::Hasher::new();
    hasher.update(role.as_str().as_bytes()).update(&[0]);
    // Into memory this cannot fail.
    let _ = serde_json::to_writer(&mut hasher, body);
    let mut digest = [0; DIGEST_BYTES];
    hasher.finalize_xof().fill(&mut digest);
    digest
}

/// The ids of the messages of one source.
#[derive(Debug, Default)]
pub(super) struct MessageIds {
    /// Ids here by ids there.
    ids: HashMap<i64, i64>,
    /// Messages of sessions that are stored already; looked up when one is cited.
    skipped: HashMap<SessionId, Vec<SourceMessage>>,
}

impl MessageIds {
    /// Notes the messages of a session that was created.
    pub(super) fn created(&mut self, sources: &[SourceMessage], ids: &[MessageId]) {
        let pairs = sources.iter().zip(ids);
        self.ids.extend(pairs.filter_map(|(source, id)| Some((source.id?, id.0))));
    }

    /// Notes the messages of a session that is stored already.
    pub(super) fn skipped(&mut self, session: SessionId, sources: Vec<SourceMessage>) {
        if !sources.is_empty() {
            self.skipped.insert(session, sources);
        }
    }

    /// Points citations to the messages here. One whose message is not found keeps its quote.
    pub(super) fn map_citations(&mut self, tx: &Tx<'_>, citations: &mut [Citation]) -> Result<()> {
        for citation in citations {
            if let Some(MessageId(source)) = citation.message_id {
                let id = self.find(tx, citation.session_id.as_ref(), source)?;
                citation.message_id = id.map(MessageId);
            }
        }
        Ok(())
    }

    /// The same for the fields of an operation.
    pub(super) fn map_fields(&mut self, tx: &Tx<'_>, fields: &mut Value) -> Result<()> {
        if let Some(citations) = fields.get_mut("citations").and_then(Value::as_array_mut) {
            for citation in citations {
                let Some(source) = citation.get("message_id").and_then(Value::as_i64) else {
                    continue;
                };
                let session = citation.get("session_id").and_then(Value::as_str);
                let session = session.and_then(|id| SessionId::new(id).ok());
                let id = self.find(tx, session.as_ref(), source)?;
                if let Some(fields) = citation.as_object_mut() {
                    fields.insert("message_id".to_owned(), id.into());
                }
            }
        }
        Ok(())
    }

    /// The target of a distrusted message here. One that is not found gets a name that no message has.
    pub(super) fn map_target(
        &mut self,
        tx: &Tx<'_>,
        (kind, target): (DistrustKind, &str),
        store: &str,
    ) -> Result<String> {
        match (kind, target.parse::<i64>()) {
            (DistrustKind::Message, Ok(source)) => Ok(match self.find(tx, None, source)? {
                Some(id) => id.to_string(),
                None => format!("{store}:{source}"),
            }),
            _ => Ok(target.to_owned()),
        }
    }

    /// The id here of a message.
    fn find(
        &mut self,
        tx: &Tx<'_>,
        session: Option<&SessionId>,
        source: i64,
    ) -> Result<Option<i64>> {
        if let Some(id) = self.ids.get(&source) {
            return Ok(Some(*id));
        }
        let holds = |sources: &[SourceMessage]| sources.iter().any(|it| it.id == Some(source));
        let session = match session {
            Some(session) => Some(session.clone()),
            None => {
                let mut found = self.skipped.iter().filter(|(_, sources)| holds(sources));
                found.next().map(|(session, _)| session.clone())
            }
        };
        // Each session is compared once.
        if let Some(session) = session
            && let Some(sources) = self.skipped.remove(&session)
        {
            self.match_stored(tx, &session, &sources)?;
        }
        Ok(self.ids.get(&source).copied())
    }

    /// Matches the messages of a stored session: by their external id, or by their place if the same
    /// is said there.
    fn match_stored(
        &mut self,
        tx: &Tx<'_>,
        session: &SessionId,
        sources: &[SourceMessage],
    ) -> Result<()> {
        let Some(key) = sessions::key(tx, session)? else { return Ok(()) };
        let stored = stored_messages(tx, key)?;
        let by_external_id: HashMap<&str, i64> =
            stored.iter().filter_map(|it| Some((it.external_id.as_deref()?, it.id?))).collect();
        for (place, source) in sources.iter().enumerate() {
            let Some(source_id) = source.id else { continue };
            let named = source.external_id.as_deref().and_then(|id| by_external_id.get(id));
            let same = stored.get(place).filter(|it| it.digest == source.digest);
            if let Some(id) = named.copied().or(same.and_then(|it| it.id)) {
                self.ids.insert(source_id, id);
            }
        }
        Ok(())
    }
}

fn stored_messages(tx: &Tx<'_>, key: i64) -> Result<Vec<SourceMessage>> {
    let session = fetch_session(tx, key)?;
    let mut found = Vec::new();
    let mut after = 0;
    loop {
        let request = PageRequest { after, hidden: true, limit: PAGE_MESSAGES };
        let page =
            messages::page_within(tx, SessionRef { key, id: &session.id }, request, PAGE_BYTES)?.0;
        let Some(last) = page.last() else { return Ok(found) };
        after = last.id.0;
        found.extend(page.iter().map(|message: &Message| SourceMessage {
            id: Some(message.id.0),
            external_id: message.external_id.clone(),
            digest: digest(&message.role, &message.body),
        }));
    }
}
