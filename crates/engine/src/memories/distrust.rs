//! Distrust: a message, a session or a source is no longer trusted, and what rests on it is judged
//! again.

use super::resolve;
use crate::operations::{Edit, Grouping, needs_person};
use crate::sessions::{key_of, message_in};
use crate::views::Memories;
use oneiro_model::{
    ChangedMemories, Distrust, DistrustId, DistrustKind, DistrustRequest, Error, Memory,
    MemoryStatus, OperationVerb, Result, Trust,
};
use oneiro_store::memories::{self, Cited};
use oneiro_store::{Tx, distrusts, messages, sessions};

/// A source that is distrusted.
struct Target {
    kind: DistrustKind,
    name: String,
}

impl Memories<'_> {
    /// Stops trusting a source. The memories that rest on it get the trust `external`, and active
    /// ones that no person stated or confirmed become candidates.
    pub fn distrust(&self, request: DistrustRequest) -> Result<ChangedMemories> {
        if request.dry_run {
            return self.oneiro.store.read(|tx| {
                let target = target_of(tx, &request)?;
                let affected = affected(tx, &target)?;
                let memories = affected.iter().map(|memory| judge_again(tx, memory, &target));
                let memories = memories.collect::<Result<Vec<_>>>()?;
                Ok(ChangedMemories { memories, group: None, dry_run: true })
            });
        }
        let reason = request.reason.clone();
        self.oneiro.edit(reason, Grouping::Group, move |edit| distrust(edit, &request))
    }
}

fn distrust(edit: &Edit<'_, '_>, request: &DistrustRequest) -> Result<ChangedMemories> {
    if !edit.is_person() {
        return Err(needs_person("distrust a source"));
    }
    let target = target_of(edit.tx, request)?;
    if distrusts::find(edit.tx, target.kind, &target.name)?.is_some() {
        return Err(Error::conflict(format!("{:?} is already distrusted", target.name)));
    }
    let entry = Distrust {
        id: DistrustId::from_random(edit.ids.random()),
        target_kind: target.kind,
        target: target.name.clone(),
        at: edit.now,
    };
    edit.write(OperationVerb::Create, None, Some(&entry))?;
    let mut memories = Vec::new();
    for memory in affected(edit.tx, &target)? {
        let after = judge_again(edit.tx, &memory, &target)?;
        edit.write(OperationVerb::Distrust, Some(&memory), Some(&after))?;
        memories.push(resolve(edit.tx, memory.id.as_str())?);
    }
    Ok(ChangedMemories { memories, group: edit.group.cloned(), dry_run: false })
}

/// Judges memories again that rest on a source which is distrusted in another store.
pub(super) fn apply(
    edit: &Edit<'_, '_>,
    entry: &Distrust,
    is_wanted: impl Fn(&Memory) -> bool,
) -> Result<()> {
    let target = Target { kind: entry.target_kind, name: entry.target.clone() };
    for memory in affected(edit.tx, &target)?.iter().filter(|memory| is_wanted(memory)) {
        let after = judge_again(edit.tx, memory, &target)?;
        edit.write(OperationVerb::Distrust, Some(memory), Some(&after))?;
    }
    Ok(())
}

fn target_of(tx: &Tx<'_>, request: &DistrustRequest) -> Result<Target> {
    let (kind, name) = match (&request.message, &request.session, &request.source) {
        (Some(message), ..) => {
            let id = message_in(tx, message, None)?;
            messages::get(tx, id)?
                .ok_or_else(|| Error::not_found(format!("there is no message {id}")))?;
            (DistrustKind::Message, id.to_string())
        }
        (None, Some(session), _) => {
            key_of(tx, session)?;
            (DistrustKind::Session, session.to_string())
        }
        (None, None, Some(source)) => (DistrustKind::Source, source.clone()),
        (None, None, None) => return Err(Error::internal("nothing is distrusted")),
    };
    Ok(Target { kind, name })
}

/// The memories that cite a source.
fn affected(tx: &Tx<'_>, target: &Target) -> Result<Vec<Memory>> {
    let cited = match target.kind {
        DistrustKind::Message => Cited::Message(target.name.parse().unwrap_or_default()),
        DistrustKind::Session => Cited::Session(&target.name),
        DistrustKind::Source => Cited::Source(&target.name),
    };
    memories::citing(tx, cited)?.iter().map(|id| resolve(tx, id)).collect()
}

/// The memory, with the citations of a source no longer trusted.
fn judge_again(tx: &Tx<'_>, memory: &Memory, target: &Target) -> Result<Memory> {
    let mut after = memory.clone();
    for citation in &mut after.citations {
        let is_cited = match (target.kind, &citation.session_id) {
            (DistrustKind::Message, _) => {
                citation.message_id.is_some_and(|id| id.to_string() == target.name)
            }
            (DistrustKind::Session, Some(session)) => session.as_str() == target.name,
            (DistrustKind::Source, Some(session)) => match sessions::key(tx, session)? {
                Some(key) => sessions::get_without_prompt(tx, key)?
                    .is_some_and(|session| session.source == target.name),
                None => false,
            },
            (_, None) => false,
        };
        if is_cited {
            citation.trust = Trust::External;
        }
    }
    // A person's own statement stands, whatever it cites.
    if !memory.is_stated_or_confirmed() {
        after.trust = Trust::External;
        if memory.status == MemoryStatus::Active {
            after.status = MemoryStatus::Candidate;
            after.suspended_by = None;
        }
    }
    Ok(after)
}
