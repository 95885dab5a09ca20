//! Append: stores messages durably, exactly once per external id.

use crate::Oneiro;
use crate::sessions::{Draft, create_in, no_session};
use crate::views::{Host, Messages};
use oneiro_model::{
    Appended, ChangeKind, Error, MessageId, NewMessage, NewSession, Remedy, Result, SessionId,
    Visibility,
};
use oneiro_store::messages::Prepared;
use oneiro_store::{Tx, changes, messages, sequence, sessions};
use std::sync::Arc;

/// The session to create if it does not exist.
pub type CreateMissing = NewSession;

/// Larger batches skip the group commit, because they fill a transaction by themselves.
const GROUP_COMMIT_MESSAGES_MAX: usize = 256;

impl Messages<'_> {
    /// Appends messages to an existing session. When this returns they are durable, in this order,
    /// all or none. Unknown roles and messages without content are refused.
    pub fn append(&self, session: &SessionId, messages: Vec<NewMessage>) -> Result<Appended> {
        check_clients(&messages)?;
        self.oneiro.append_to(session, messages, None)
    }

    /// Appends messages, creating the session in the same transaction if it does not exist.
    pub fn append_or_create(
        &self,
        session: &SessionId,
        messages: Vec<NewMessage>,
        create: CreateMissing,
    ) -> Result<Appended> {
        check_clients(&messages)?;
        self.oneiro.append_to(session, messages, Some(create))
    }
}

impl Host<'_> {
    /// Appends messages that a host keeps by its own rules: any role, and none need have content.
    /// With `create` a session that does not exist begins in the same transaction.
    pub fn append(
        &self,
        session: &SessionId,
        messages: Vec<NewMessage>,
        create: Option<CreateMissing>,
    ) -> Result<Appended> {
        self.oneiro.append_to(session, messages, create)
    }
}

fn check_clients(messages: &[NewMessage]) -> Result<()> {
    messages.iter().enumerate().try_for_each(|(index, message)| {
        message.check_client().map_err(|error| error.at(format!("message {}", index + 1)))
    })
}

impl Oneiro {
    fn append_to(
        &self,
        session: &SessionId,
        messages: Vec<NewMessage>,
        create: Option<CreateMissing>,
    ) -> Result<Appended> {
        let draft = |create| Draft::new(self, NewSession { id: Some(session.clone()), ..create });
        let create = create.map(draft).transpose()?;
        let now = self.now();
        let repaired = messages.iter().map(|message| message.repaired).sum();
        let withheld = messages.iter().map(|message| message.withheld).sum();
        let prepared = messages
            .into_iter()
            .enumerate()
            .map(|(index, message)| {
                // The visibility of an imported message does not apply here: an appended message is
                // live.
                let message = NewMessage { visibility: Visibility::Live, ..message };
                messages::prepare(message, now)
                    .map_err(|error| error.at(format!("message {}", index + 1)))
            })
            .collect::<Result<Vec<_>>>()?;
        let count = prepared.len();
        let append = Append {
            oneiro: self.clone(),
            session: session.clone(),
            prepared: Arc::new(prepared),
            create: create.map(Arc::new),
        };
        let mut appended = match count {
            0..=GROUP_COMMIT_MESSAGES_MAX => self.store.write(move |tx| append.run(tx))?,
            _ => self.store.write_bulk(|tx| append.run(tx))?,
        };
        if let Some(last) = appended.ids.last() {
            self.index.schedule_indexing(last.0);
        }
        appended.repaired = repaired;
        appended.withheld = withheld;
        Ok(appended)
    }
}

/// One append, which may be run again if its group is retried.
struct Append {
    oneiro: Oneiro,
    session: SessionId,
    prepared: Arc<Vec<Prepared>>,
    create: Option<Arc<Draft>>,
}

impl Append {
    fn run(&self, tx: &Tx<'_>) -> Result<Appended> {
        let (taken, key) = sequence::next_of_session(tx, &self.session)?;
        let settings = self.oneiro.settings_at(tx, taken.settings)?;
        let skipped = Appended { skipped: self.prepared.len(), ..Appended::default() };
        if settings.ignores(&self.session) {
            return Ok(skipped);
        }
        let key = match (key, &self.create) {
            (Some(key), _) => key,
            (None, Some(draft)) => {
                let key = create_in(tx, draft)?;
                let now = self.oneiro.now();
                changes::record(tx, ChangeKind::Created, Some(&self.session), now)?;
                key
            }
            (None, None) if settings.is_stateless(&self.session) => return Ok(skipped),
            (None, None) => {
                return Err(no_session(self.session.as_str())
                    .remedy(Remedy::CreateSession { id: self.session.to_string() }));
            }
        };
        if settings.is_stateless(&self.session) {
            return Ok(skipped);
        }
        append_prepared(tx, key, taken.first, &self.prepared)
    }
}

/// Inserts prepared messages with ids from `first` on, and counts them.
pub(crate) fn append_prepared(
    tx: &Tx<'_>,
    key: i64,
    first: i64,
    prepared: &[Prepared],
) -> Result<Appended> {
    let inserted = messages::insert(tx, key, first, prepared)?;
    if inserted.duplicates < prepared.len() {
        sessions::count_appended(tx, key, &inserted.added)?;
    }
    if inserted.seqs.len() != prepared.len() {
        return Err(Error::internal("an append answered fewer ids than messages"));
    }
    Ok(Appended {
        ids: inserted.seqs.into_iter().map(MessageId).collect(),
        duplicates: inserted.duplicates,
        ..Appended::default()
    })
}
