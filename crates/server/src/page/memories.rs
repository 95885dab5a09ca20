//! Memories on the page: the list, one memory, and the review.

use super::view_request::ViewRequest;
use oneiro::contract::{Form, Reading, decode};
use oneiro::{
    GroupId, ListMemories, ListOperations, Memory, MemoryId, MemoryStatus, Oneiro, Operation,
    OperationId, Result, ShowMemory, WhyRequest,
};
use oneiro_page::decided::Decided;
use oneiro_page::memories::{CONTRADICTED, Listed, MemoriesForm, MemoriesView};
use oneiro_page::memory::MemoryDetailView;
use oneiro_page::overview::Beliefs;
use oneiro_page::review::{Candidate, Known, ReviewView};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Memories per page of the list.
const MEMORIES_PER_PAGE: usize = 50;

/// Memories on the overview.
const NEWEST: usize = 5;

/// Operations of a group that are counted.
const GROUP_OPERATIONS: usize = 100;

/// The parameter that names the operation of the last form.
pub(super) const DID: &str = "did";

/// The parameter that names the memory that somebody else decided about first.
pub(super) const BY_OTHERS: &str = "by_others";

pub(super) fn list(request: &ViewRequest) -> Result<String> {
    let form = form(request);
    let (_, projects) = request.groups()?;
    let listed = match filters(request, &form) {
        Ok(filters) => Listed::Found(request.oneiro()?.memories().list(&filters)?),
        Err(error) => Listed::Refused(error),
    };
    let view = MemoriesView { frame: request.frame.clone(), form, projects, listed };
    Ok(request.render(&view, oneiro_page::memories::page, oneiro_page::memories::fragment))
}

/// The filters as typed.
fn form(request: &ViewRequest) -> MemoriesForm {
    let text = |name: &str| request.text(name).to_owned();
    MemoriesForm {
        text: text("text"),
        status: text("status"),
        kind: text("kind"),
        project: text("project"),
        subject: text("subject"),
        tag: text("tag"),
    }
}

fn filters(request: &ViewRequest, form: &MemoriesForm) -> Result<ListMemories> {
    let is_contradicted = form.status == CONTRADICTED;
    let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let fields = json!({
        "text": given(&form.text),
        "status": given(&form.status).filter(|_| !is_contradicted),
        "kind": given(&form.kind),
        "project": given(&form.project),
        "subject": given(&form.subject),
        "tag": given(&form.tag),
        "suspended": is_contradicted,
        "limit": MEMORIES_PER_PAGE,
        "cursor": request.param("cursor"),
    });
    decoded(request, fields)
}

fn decoded(request: &ViewRequest, fields: Value) -> Result<ListMemories> {
    let Value::Object(fields) = fields else { return Ok(ListMemories::default()) };
    let reading = Reading { form: Form::CommandLine, now: request.oneiro()?.now() };
    Ok(decode(fields, reading)?.request)
}

pub(super) fn memory(request: &ViewRequest) -> Result<String> {
    let oneiro = request.oneiro()?;
    let id = request.path_part(0);
    let shown = oneiro.memories().show(id, &explained())?;
    let suspended_by = match &shown.memory.suspended_by {
        Some(by) => Some(oneiro.memories().show(by.as_str(), &ShowMemory::default())?.memory),
        None => None,
    };
    let superseded_by = match &shown.memory.superseded_by {
        Some(by) => Some(oneiro.memories().show(by.as_str(), &ShowMemory::default())?.memory),
        None => None,
    };
    let operations = oneiro.memories().history(id)?.items;
    let groups = groups(oneiro, &operations)?;
    let view = MemoryDetailView {
        frame: request.frame.clone(),
        explanation: shown.explanation,
        related: shown.related.unwrap_or_default(),
        suspended_by,
        superseded_by,
        supersedes: superseded(oneiro, &groups, &shown.memory.id)?,
        why: oneiro.memories().why(id, &WhyRequest::default())?,
        group_sizes: groups.into_iter().map(|(id, items)| (id, count_not_undone(&items))).collect(),
        operations,
        decided: decided(request)?,
        muted_in: shown.muted_in,
        memory: shown.memory,
    };
    Ok(request.render(&view, oneiro_page::memory::page, oneiro_page::memory::fragment))
}

fn explained() -> ShowMemory {
    ShowMemory { explain: true, ..ShowMemory::default() }
}

/// The operations of every group that these belong to.
fn groups(oneiro: &Oneiro, operations: &[Operation]) -> Result<BTreeMap<GroupId, Vec<Operation>>> {
    let mut groups = BTreeMap::new();
    for group in operations.iter().filter_map(|operation| operation.group.clone()) {
        if groups.contains_key(&group) {
            continue;
        }
        let of_group = ListOperations {
            group: Some(group.clone()),
            limit: GROUP_OPERATIONS,
            ..ListOperations::default()
        };
        groups.insert(group, oneiro.operations().list(&of_group)?.items);
    }
    Ok(groups)
}

/// How many operations are not undone.
fn count_not_undone(operations: &[Operation]) -> usize {
    operations.iter().filter(|operation| operation.undone_by.is_none()).count()
}

/// The memories that these groups replaced by `id`.
fn superseded(
    oneiro: &Oneiro,
    groups: &BTreeMap<GroupId, Vec<Operation>>,
    id: &MemoryId,
) -> Result<Vec<Memory>> {
    let others = groups.values().flatten().filter(|operation| operation.subject.id != id.as_str());
    let mut found: Vec<Memory> = Vec::new();
    for other in others {
        let Ok(shown) = oneiro.memories().show(&other.subject.id, &ShowMemory::default()) else {
            continue;
        };
        let is_new = found.iter().all(|known| known.id != shown.memory.id);
        if is_new && shown.memory.superseded_by.as_ref() == Some(id) {
            found.push(shown.memory);
        }
    }
    Ok(found)
}

pub(super) fn review(request: &ViewRequest) -> Result<String> {
    let oneiro = request.oneiro()?;
    let form = MemoriesForm { status: String::new(), ..form(request) };
    let queue = ListMemories {
        status: Some(MemoryStatus::Candidate),
        limit: 1,
        ..filters(request, &form)?
    };
    let page = oneiro.memories().list(&queue)?;
    let skip = page.next.map(|next| next.to_string());
    let candidate = match page.items.into_iter().next() {
        Some(memory) => Some(Box::new(candidate(oneiro, memory.id.as_str(), skip)?)),
        None => None,
    };
    let view = ReviewView {
        frame: request.frame.clone(),
        form,
        cursor: request.text("cursor").to_owned(),
        waiting: count(oneiro, MemoryStatus::Candidate)?,
        candidate,
        decided: decided(request)?,
    };
    Ok(request.render(&view, oneiro_page::review::page, oneiro_page::review::fragment))
}

fn candidate(oneiro: &Oneiro, id: &str, skip: Option<String>) -> Result<Candidate> {
    let memories = oneiro.memories();
    let shown = memories.show(id, &explained())?;
    let mut known = Vec::new();
    for related in shown.related.unwrap_or_default() {
        let memory = memories.show(related.id.as_str(), &ShowMemory::default())?.memory;
        known.push(Known { related, memory });
    }
    Ok(Candidate {
        why: memories.why(id, &WhyRequest::default())?,
        memory: shown.memory,
        known,
        skip,
    })
}

fn count(oneiro: &Oneiro, status: MemoryStatus) -> Result<i64> {
    let counts = oneiro.memories().counts()?;
    Ok(counts.into_iter().find(|(one, _)| *one == status).map_or(0, |(_, count)| count))
}

/// What the last form did, as the address names it. What it names is looked up: an address that
/// somebody made up can show nothing that did not happen.
fn decided(request: &ViewRequest) -> Result<Option<Decided>> {
    let oneiro = request.oneiro()?;
    let memory_of = |id: &str| oneiro.memories().show(id, &ShowMemory::default()).ok();
    if let Ok(id) = OperationId::parse(request.text(DID)) {
        let Ok(operation) = oneiro.operations().show(id.as_str()) else { return Ok(None) };
        let memory = memory_of(&operation.subject.id).map(|shown| Box::new(shown.memory));
        return Ok(Some(Decided::Done { operation: Box::new(operation), memory }));
    }
    let Some(shown) = memory_of(request.text(BY_OTHERS)) else { return Ok(None) };
    let last = oneiro.memories().history(shown.memory.id.as_str())?.items.pop();
    Ok(Some(Decided::ByOthers { memory: Box::new(shown.memory), operation: last.map(Box::new) }))
}

/// What the overview shows of memories.
pub(super) fn beliefs(oneiro: &Oneiro) -> Result<Beliefs> {
    let memories = oneiro.memories();
    let newest_of = |status| {
        let newest =
            ListMemories { status: Some(status), limit: NEWEST, ..ListMemories::default() };
        memories.list(&newest)
    };
    let mut newest = newest_of(MemoryStatus::Active)?.items;
    newest.extend(newest_of(MemoryStatus::Candidate)?.items);
    newest.sort_by_key(|memory| std::cmp::Reverse(memory.created_at));
    newest.truncate(NEWEST);
    let contradicted = memories.count_suspended()?;
    Ok(Beliefs {
        active: count(oneiro, MemoryStatus::Active)?.saturating_sub(contradicted),
        waiting: count(oneiro, MemoryStatus::Candidate)?,
        contradicted,
        newest,
    })
}
