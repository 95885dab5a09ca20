//! Requests as Python writes them: what the native half takes, by the contract that reads it.

use super::{comment, docstring};
use oneiro_model::contract::schema::Schemas;
use oneiro_model::contract::{Field, FieldKind, Request, Shape, shape_of};
use oneiro_model::host::{
    DeleteRequest, ExpandAnywhere, Grep, OpenRequest, PageRequest, SessionTimes,
};
use oneiro_model::{
    BranchRequest, CompactRequest, DeleteNote, DiffNotes, DistrustRequest, DreamRequest, EditNote,
    EndState, Ending, ExtractRequest, ForgetRequest, ListCandidates, ListInteractions,
    ListMemories, ListNotes, ListOperations, ListPacks, ListRevisions, ListSessions, ListState,
    MemoryPatch, MemoryStatsRequest, MergeRequest, MountNotes, NewInteraction, NewMemory,
    NewSession, NewUsage, NotePromptRequest, PackRequest, PageOf, PauseRequest, ProjectChoice,
    ProjectRequest, PruneRequest, ReasonRequest, ReinforceRequest, RestoreNotes, RestoreRequest,
    ReviewRequest, RewindRequest, ScheduleDreams, SearchRequest, SessionPatch,
    SessionSearchRequest, ShowMemory, ShowRevision, SplitRequest, StateRequest, SupersedeRequest,
    UndoDream, UnmountNotes, UnmuteRequest, WhyPackRequest, WhyRequest, WindowRequest, WriteNote,
};
use serde_json::Value;

const HEAD: &str = r#""""Requests as the native half takes them. A field that is absent, or None where None clears
nothing, has its default; a time is whole microseconds since the epoch, or text.

Made of the contract by `cargo run -p xtask`.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict
"#;

/// A request as Python knows it.
struct RequestType {
    name: String,
    description: String,
    shape: &'static Shape,
}

fn request_type<R: Request>() -> RequestType {
    let name = R::schema_name().into_owned();
    let mut schemas = Schemas::under("/$defs");
    schemas.request::<R>();
    let definitions = schemas.definitions();
    let description = definitions.get(&name).and_then(|schema| schema.get("description"));
    let description = description.and_then(Value::as_str).unwrap_or_default().to_owned();
    RequestType { name, description, shape: shape_of::<R>() }
}

fn all() -> Vec<RequestType> {
    let mut all = vec![
        request_type::<BranchRequest>(),
        request_type::<CompactRequest>(),
        request_type::<DeleteRequest>(),
        request_type::<Ending>(),
        request_type::<ExpandAnywhere>(),
        request_type::<Grep>(),
        request_type::<ListSessions>(),
        request_type::<NewSession>(),
        request_type::<NewUsage>(),
        request_type::<OpenRequest>(),
        request_type::<PageOf>(),
        request_type::<PageRequest>(),
        request_type::<PauseRequest>(),
        request_type::<ProjectChoice>(),
        request_type::<PruneRequest>(),
        request_type::<RestoreRequest>(),
        request_type::<RewindRequest>(),
        request_type::<SearchRequest>(),
        request_type::<SessionPatch>(),
        request_type::<SessionSearchRequest>(),
        request_type::<SessionTimes>(),
        request_type::<SplitRequest>(),
        request_type::<WindowRequest>(),
        request_type::<DistrustRequest>(),
        request_type::<EndState>(),
        request_type::<ForgetRequest>(),
        request_type::<ListMemories>(),
        request_type::<ListOperations>(),
        request_type::<ListState>(),
        request_type::<MemoryPatch>(),
        request_type::<MemoryStatsRequest>(),
        request_type::<UnmuteRequest>(),
        request_type::<MergeRequest>(),
        request_type::<NewMemory>(),
        request_type::<ListPacks>(),
        request_type::<PackRequest>(),
        request_type::<WhyPackRequest>(),
        request_type::<ProjectRequest>(),
        request_type::<ReasonRequest>(),
        request_type::<ReinforceRequest>(),
        request_type::<ReviewRequest>(),
        request_type::<ShowMemory>(),
        request_type::<ExtractRequest>(),
        request_type::<ListInteractions>(),
        request_type::<NewInteraction>(),
        request_type::<WhyRequest>(),
        request_type::<DreamRequest>(),
        request_type::<ListCandidates>(),
        request_type::<ScheduleDreams>(),
        request_type::<UndoDream>(),
        request_type::<DeleteNote>(),
        request_type::<DiffNotes>(),
        request_type::<EditNote>(),
        request_type::<ListNotes>(),
        request_type::<ListRevisions>(),
        request_type::<NotePromptRequest>(),
        request_type::<RestoreNotes>(),
        request_type::<ShowRevision>(),
        request_type::<MountNotes>(),
        request_type::<UnmountNotes>(),
        request_type::<WriteNote>(),
        request_type::<StateRequest>(),
        request_type::<SupersedeRequest>(),
    ];
    all.sort_by(|one, other| one.name.cmp(&other.name));
    all
}

/// The name of every request that Python writes.
#[cfg(test)]
pub(super) fn names() -> Vec<String> {
    all().into_iter().map(|request| request.name).collect()
}

/// The module.
pub(super) fn module() -> String {
    let all = all();
    let names: String = all.iter().map(|one| format!("    {:?},\n", one.name)).collect();
    let classes: String = all.iter().map(class).collect();
    format!("{HEAD}\n__all__ = [\n{names}]\n{classes}")
}

fn class(request: &RequestType) -> String {
    let (needed, others): (Vec<_>, Vec<_>) =
        request.shape.fields.iter().partition(|field| field.required);
    let (name, doc) = (&request.name, docstring(&request.description));
    let mut text = String::new();
    let mut parents = "TypedDict".to_owned();
    // Python 3.10 has no way to say it of one field.
    if !needed.is_empty() {
        parents = format!("_{name}Required");
        let fields: String = needed.into_iter().map(|field| declaration(field, "")).collect();
        text += &format!("\n\nclass {parents}(TypedDict):\n{fields}");
    }
    let fields: String = others.into_iter().map(|field| declaration(field, " | None")).collect();
    text + &format!("\n\nclass {name}({parents}, total=False):\n{doc}\n{fields}")
}

fn declaration(field: &Field, or_none: &str) -> String {
    let or_none = if matches!(field.kind, FieldKind::Any) { "" } else { or_none };
    format!("{}    {}: {}{or_none}\n", comment(&field.doc), field.name, annotation(&field.kind))
}

fn annotation(kind: &FieldKind) -> String {
    match kind {
        FieldKind::Text(_) => "str".to_owned(),
        FieldKind::Word(words) => {
            let words: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
            format!("Literal[{}]", words.join(", "))
        }
        FieldKind::Time { .. } | FieldKind::Message => "int | str".to_owned(),
        FieldKind::Int(..) => "int".to_owned(),
        FieldKind::Number(..) => "float".to_owned(),
        FieldKind::Bool => "bool".to_owned(),
        FieldKind::List { of, .. } => format!("list[{}]", annotation(of)),
        FieldKind::Object => "dict[str, Any]".to_owned(),
        FieldKind::Any => "Any".to_owned(),
    }
}
