//! Changes of a space, for clients that watch it. Only recent ones are kept.

use crate::aggregates::Table;
use crate::{Tx, sequence};
use oneiro_model::{
    Change, ChangeKind, ChangeMark, DreamId, DreamOutcome, MessageId, Operation, Result, SeenPart,
    SessionId, Subject, SubjectKind, Timestamp,
};

statements! {
    RECORD = "INSERT INTO changes (key, kind, subject_kind, session_id, actor, at) \
              VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    REMOVE_OLD = "DELETE FROM changes WHERE key <= (SELECT key FROM changes ORDER BY key DESC \
             LIMIT 1 OFFSET CAST(?1 AS BIGINT))";
    REMOVE_OF_SESSION = "DELETE FROM changes WHERE session_id = ?1";
    MARK = "SELECT (SELECT MAX(seq) FROM messages), (SELECT MAX(key) FROM changes)";
    OLDEST = "SELECT MIN(key) FROM changes";
    RECORD_OPERATION = "INSERT INTO changes (key, kind, subject_kind, session_id, operation, \
                        actor, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    RECORDED_AFTER = "SELECT c.key, c.kind, c.session_id, c.operation, c.actor, c.subject_kind, \
                      d.outcome FROM changes c LEFT JOIN dreams d \
                      ON c.subject_kind = 'dream' AND d.id = c.session_id \
                      WHERE c.key > CAST(?1 AS BIGINT) ORDER BY c.key";
    APPENDED = "SELECT s.id, MIN(m.seq), MAX(m.seq), COUNT(*) FROM messages m \
                JOIN sessions s ON s.key = m.session_key WHERE m.seq > CAST(?1 AS BIGINT) \
                AND m.seq <= CAST(?2 AS BIGINT) GROUP BY s.id \
                HAVING MAX(m.seq) > CAST(?3 AS BIGINT) ORDER BY MAX(m.seq)";
}

pub(crate) const TABLES: &[Table] = &[Table {
    name: "changes",
    columns: "key, kind, subject_kind, session_id, operation, actor, at",
}];

/// How many changes are kept.
const MAX_CHANGES: i64 = 4_096;

/// Old changes are removed when the key is a multiple of this.
const REMOVE_OLD_EVERY: i64 = 64;

/// Records a change.
pub fn record(
    tx: &Tx<'_>,
    kind: ChangeKind,
    session: Option<&SessionId>,
    now: Timestamp,
) -> Result<()> {
    let subject = session.map(|session| (SubjectKind::Session, session.as_str()));
    record_of(tx, kind, subject, now)
}

/// Records that a dream started or ended, whose id stands in the place of a session.
pub(crate) fn record_dream(tx: &Tx<'_>, id: &DreamId, now: Timestamp) -> Result<()> {
    record_of(tx, ChangeKind::Dream, Some((SubjectKind::Dream, id.as_str())), now)
}

fn record_of(
    tx: &Tx<'_>,
    kind: ChangeKind,
    subject: Option<(SubjectKind, &str)>,
    now: Timestamp,
) -> Result<()> {
    let key = sequence::take_key(tx)?;
    let actor = tx.actor().and_then(|actor| serde_json::to_string(actor.as_ref()).ok());
    let values = [
        key.into(),
        kind.as_str().into(),
        subject.map(|(kind, _)| kind.as_str()).into(),
        subject.map(|(_, id)| id).into(),
        actor.as_deref().into(),
        now.micros().into(),
    ];
    tx.execute(RECORD, &values)?;
    remove_old(tx, key)
}

/// Records that an operation changed its subject, whose id stands in the place of a session.
pub(crate) fn record_operation(tx: &Tx<'_>, operation: &Operation) -> Result<()> {
    let key = sequence::take_key(tx)?;
    let actor = serde_json::to_string(&operation.actor).ok();
    let values = [
        key.into(),
        ChangeKind::Changed.as_str().into(),
        operation.subject.kind.as_str().into(),
        (&operation.subject.id).into(),
        operation.id.as_str().into(),
        actor.as_deref().into(),
        operation.at.micros().into(),
    ];
    tx.execute(RECORD_OPERATION, &values)?;
    remove_old(tx, key)
}

fn remove_old(tx: &Tx<'_>, key: i64) -> Result<()> {
    if key % REMOVE_OLD_EVERY == 0 {
        tx.execute(REMOVE_OLD, &[MAX_CHANGES.into()])?;
    }
    Ok(())
}

/// Removes the changes of a session.
pub fn remove_of_session(tx: &Tx<'_>, session: &SessionId) -> Result<()> {
    tx.execute(REMOVE_OF_SESSION, &[session.as_str().into()]).map(|_| ())
}

/// The position after the newest message and change.
pub fn mark(tx: &Tx<'_>) -> Result<ChangeMark> {
    tx.one(MARK, &[], |row| {
        Ok(ChangeMark {
            message: row.opt_int(0)?.unwrap_or(0),
            change: row.opt_int(1)?.unwrap_or(0),
            part: None,
        })
    })
}

/// The oldest recorded change.
pub fn oldest(tx: &Tx<'_>) -> Result<Option<i64>> {
    tx.one(OLDEST, &[], |row| row.opt_int(0))
}

/// The recorded changes after `mark`, in order.
pub fn recorded_after(tx: &Tx<'_>, mark: ChangeMark) -> Result<Vec<Change>> {
    tx.all(RECORDED_AFTER, &[mark.change.into()], |row| {
        let id = ChangeMark { change: row.int(0)?, ..mark };
        let kind = ChangeKind::parse(row.text(1)?);
        let subject_kind = row.opt_text(5)?.and_then(|kind| SubjectKind::parse(kind).ok());
        let change = match (subject_kind, row.opt_string(2)?) {
            (Some(kind_of), Some(subject)) if kind_of != SubjectKind::Session => Change {
                subject: Some(Subject { kind: kind_of, id: subject }),
                ..Change::new(id, kind, None)
            },
            (_, session) => Change::new(id, kind, session.map(SessionId::new).transpose()?),
        };
        // An actor of a newer version that does not parse is left out.
        let actor = row.opt_text(4)?.and_then(|actor| serde_json::from_str(actor).ok());
        let outcome = row.opt_text(6)?.and_then(|outcome| DreamOutcome::parse(outcome).ok());
        Ok(Change { operation: row.opt_string(3)?, actor, outcome, ..change })
    })
}

/// The messages after `mark` up to `last`, one change per session, ordered by their last message.
/// Sessions that were already reported are left out.
pub fn appended(tx: &Tx<'_>, mark: ChangeMark, last: i64) -> Result<Vec<Change>> {
    let Some(part) = mark.part else {
        return appended_by_session(tx, mark, SeenPart { until: last, told: 0 });
    };
    let mut changes = appended_by_session(tx, mark, part)?;
    let after = ChangeMark { message: part.until, part: None, ..mark };
    changes.extend(appended_by_session(tx, after, SeenPart { until: last, told: 0 })?);
    Ok(changes)
}

fn appended_by_session(tx: &Tx<'_>, mark: ChangeMark, part: SeenPart) -> Result<Vec<Change>> {
    let values = [mark.message.into(), part.until.into(), part.told.into()];
    let mut changes = tx.all(APPENDED, &values, |row| {
        let last = row.int(2)?;
        let id = ChangeMark { part: Some(SeenPart { told: last, ..part }), ..mark };
        let session = SessionId::new(row.text(0)?)?;
        Ok(Change {
            first_id: Some(MessageId(row.int(1)?)),
            last_id: Some(MessageId(last)),
            count: Some(row.int(3)?),
            ..Change::new(id, ChangeKind::Appended, Some(session))
        })
    })?;
    if let Some(change) = changes.last_mut() {
        change.id = ChangeMark { message: part.until, part: None, ..mark };
    }
    Ok(changes)
}
