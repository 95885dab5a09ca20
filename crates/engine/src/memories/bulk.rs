//! Changes of many memories at once: forget by source, and decide about candidates by filter.

use super::{change, lifecycle, list, resolve};
use crate::operations::{Edit, Grouping};
use crate::views::Memories;
use oneiro_model::{
    ChangedMemories, ForgetRequest, LIST_MAX, ListMemories, Memory, MemoryStatus, OperationVerb,
    Result, ReviewAction, ReviewRequest,
};
use oneiro_store::Tx;
use oneiro_store::memories::{self, Cited, Filter};

impl Memories<'_> {
    /// Forgets every memory that rests on a session, a source or a participant.
    pub fn forget_many(&self, request: ForgetRequest) -> Result<ChangedMemories> {
        let (reason, is_dry) = (request.reason.clone(), request.dry_run);
        self.change_many((OperationVerb::Forget, reason, is_dry), move |tx| {
            let mut ids = match (&request.session, &request.source, &request.participant) {
                (Some(session), ..) => memories::citing(tx, Cited::Session(session.as_str()))?,
                (None, Some(source), _) => memories::citing(tx, Cited::Source(source))?,
                (None, None, Some(user)) => {
                    let filter = Filter { subject: Some(user.clone()), ..Filter::default() };
                    let about = memories::all_without_citations(tx, &filter)?;
                    let mut ids = memories::citing(tx, Cited::User(user))?;
                    ids.extend(about.into_iter().map(|row| row.memory.id.to_string()));
                    ids
                }
                (None, None, None) => Vec::new(),
            };
            ids.sort();
            ids.dedup();
            let found: Result<Vec<Memory>> = ids.iter().map(|id| resolve(tx, id)).collect();
            let mut found = found?;
            found.retain(|memory| memory.status.is_standing());
            Ok(found)
        })
    }

    /// Promotes or rejects every candidate that the filters select, at most a page of them.
    pub fn review_many(&self, request: ReviewRequest) -> Result<ChangedMemories> {
        let (reason, is_dry) = (request.reason.clone(), request.dry_run);
        let verb = match request.action {
            ReviewAction::Promote => OperationVerb::Promote,
            ReviewAction::Reject => OperationVerb::Reject,
        };
        let candidates = ListMemories {
            status: Some(MemoryStatus::Candidate),
            kind: request.kind,
            project: request.project,
            subject: request.subject,
            tag: request.tag,
            text: request.text,
            limit: LIST_MAX,
            ..ListMemories::default()
        };
        self.change_many(
            (verb, reason, is_dry),
            move |tx| Ok(list::list_in(tx, &candidates)?.items),
        )
    }

    /// Applies one decision to the selected memories, or shows what it would change.
    fn change_many(
        &self,
        (verb, reason, is_dry): (OperationVerb, Option<String>, bool),
        select: impl Fn(&Tx<'_>) -> Result<Vec<Memory>> + Send + Sync + 'static,
    ) -> Result<ChangedMemories> {
        if is_dry {
            let mut memories = self.oneiro.store.read(|tx| select(tx))?;
            for memory in &mut memories {
                memory.status = match verb {
                    OperationVerb::Promote => MemoryStatus::Active,
                    _ => MemoryStatus::Invalid,
                };
            }
            return Ok(ChangedMemories { memories, group: None, dry_run: true });
        }
        self.oneiro.edit(reason, Grouping::Group, move |edit| {
            let selected = select(edit.tx)?;
            let changed: Result<Vec<Memory>> =
                selected.iter().map(|memory| decide(edit, verb, memory)).collect();
            let memories = changed?;
            let group = edit.group.filter(|_| !memories.is_empty()).cloned();
            Ok(ChangedMemories { memories, group, dry_run: false })
        })
    }
}

fn decide(edit: &Edit<'_, '_>, verb: OperationVerb, memory: &Memory) -> Result<Memory> {
    // An earlier decision of the same group may have changed it.
    let memory = resolve(edit.tx, memory.id.as_str())?;
    lifecycle::check(edit, verb, &memory)?;
    match verb {
        OperationVerb::Promote => change::promote(edit, &memory)?,
        _ => change::invalidate(edit, &memory)?,
    };
    resolve(edit.tx, memory.id.as_str())
}
