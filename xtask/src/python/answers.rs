//! Answers as Python reads them: a dataclass of each schema, and how a native answer becomes one.

use super::{comment, docstring};
use oneiro_model::contract::schema::Schemas;
use oneiro_model::host::FoundByKind;
use oneiro_model::{
    Appended, BlameLine, CapturePause, CaptureProject, CaptureStatus, CapturedInteraction,
    ChangedMemories, ChangedMemory, ChangedNote, Citation, Compacted, ConfidenceExplained,
    ConfidencePart, Conversation, CountedEvidence, Deleted, Dream, DreamCandidate, DreamCounts,
    DreamDecision, DreamDetail, DreamEvidence, DreamFinding, DreamInputs, DreamLine, DreamNote,
    DreamPromotion, DreamRun, DreamStatus, DreamThresholds, Expanded, ExplainedCandidate,
    ExplainedLine, ExplainedPack, Extracted, FileConflict, FileProblem, GivenPack, Hit, Imported,
    Interaction, Job, LeftOperation, Memory, MemoryHistory, MemoryHit, MemoryStats, MemoryView,
    Mount, MutedMemory, Neighbour, Note, NoteBlock, NoteDiff, NoteHit, NoteInfo, NotePrompt,
    NotesDiff, Omitted, Operation, Pack, PackItem, PackOmission, ProjectState, Pruned,
    RegisteredProject, Reinforced, ReinforcedMemory, RelatedMemory, Remembered, ReplayedDream,
    Revision, RevisionDetail, Rewound, ScoreParts, Session, SignalCount, Summary, SummaryHit,
    SyncedMount, Undone, UndoneDream, UsageRow, VerdictCount, Why, Window,
};
use schemars::JsonSchema;
use serde_json::Value;

const HEAD: &str = r#""""What Oneiro answers, as dataclasses. Messages are plain dicts, as they were handed in.

Made of the contract by `cargo run -p xtask`; what it cannot say is in `parts.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from oneiro.parts import Marked, Message, Page, known, message_from, moments
"#;

/// Names of `parts.py` that people import from here.
const FROM_PARTS: [&str; 3] = ["Message", "Page", "message_from"];

/// An answer that is a class in Python.
struct Class {
    /// The name of its schema.
    schema: String,
    /// Its name in Python.
    name: String,
    /// Asks for its schema.
    ask: fn(&mut Schemas) -> Value,
    /// Where methods that no schema knows are.
    base: &'static str,
    /// Fields whose type in Python is given here rather than read off the schema.
    given: &'static [(&'static str, &'static str)],
}

fn class<A: JsonSchema>() -> Class {
    let schema = A::schema_name().into_owned();
    Class { name: schema.clone(), schema, ask: Schemas::answer::<A>, base: "", given: &[] }
}

fn classes() -> Vec<Class> {
    vec![
        class::<Appended>(),
        class::<BlameLine>(),
        class::<CapturePause>(),
        class::<CaptureProject>(),
        class::<CaptureStatus>(),
        class::<CapturedInteraction>(),
        class::<ChangedMemories>(),
        class::<ChangedMemory>(),
        class::<ChangedNote>(),
        class::<Citation>(),
        class::<Compacted>(),
        class::<ConfidenceExplained>(),
        class::<ConfidencePart>(),
        // Sessions in answers to searches are shown, not worked with.
        Class { given: &[("session", "dict[str, Any]")], ..class::<Conversation>() },
        class::<CountedEvidence>(),
        class::<Deleted>(),
        class::<Expanded>(),
        class::<ExplainedCandidate>(),
        class::<ExplainedLine>(),
        class::<Dream>(),
        class::<DreamCandidate>(),
        class::<DreamCounts>(),
        class::<DreamDecision>(),
        class::<DreamDetail>(),
        class::<DreamEvidence>(),
        class::<DreamFinding>(),
        class::<DreamInputs>(),
        class::<DreamLine>(),
        class::<DreamNote>(),
        class::<DreamPromotion>(),
        class::<DreamRun>(),
        class::<DreamStatus>(),
        class::<DreamThresholds>(),
        class::<LeftOperation>(),
        class::<ReplayedDream>(),
        class::<ScoreParts>(),
        class::<UndoneDream>(),
        class::<VerdictCount>(),
        class::<ExplainedPack>(),
        class::<Extracted>(),
        class::<FileConflict>(),
        class::<FileProblem>(),
        class::<GivenPack>(),
        class::<FoundByKind<'_>>(),
        Class { base: "(Marked)", ..class::<Hit>() },
        class::<Imported>(),
        class::<Interaction>(),
        class::<Job>(),
        class::<Memory>(),
        Class { base: "(Marked)", ..class::<MemoryHit>() },
        class::<MemoryHistory>(),
        class::<MemoryStats>(),
        class::<MemoryView>(),
        class::<Mount>(),
        class::<MutedMemory>(),
        class::<Neighbour>(),
        class::<Note>(),
        class::<NoteBlock>(),
        class::<NoteDiff>(),
        Class { base: "(Marked)", ..class::<NoteHit>() },
        class::<NoteInfo>(),
        class::<NotePrompt>(),
        class::<NotesDiff>(),
        class::<Omitted>(),
        class::<Operation>(),
        class::<Pack>(),
        class::<PackItem>(),
        class::<PackOmission>(),
        class::<ProjectState>(),
        class::<Pruned>(),
        class::<RegisteredProject>(),
        class::<Reinforced>(),
        class::<ReinforcedMemory>(),
        class::<RelatedMemory>(),
        class::<Remembered>(),
        class::<Revision>(),
        class::<RevisionDetail>(),
        class::<Rewound>(),
        class::<Session>(),
        class::<SignalCount>(),
        class::<Summary>(),
        class::<SummaryHit>(),
        class::<SyncedMount>(),
        class::<Undone>(),
        Class { name: "Usage".to_owned(), ..class::<UsageRow>() },
        class::<Why>(),
        // In the schema its messages are whatever a provider takes.
        Class { given: &[("messages", "list[dict[str, Any]]")], ..class::<Window>() },
    ]
}

/// The module.
pub(super) fn module() -> String {
    let classes = classes();
    let mut schemas = Schemas::under("/$defs");
    for class in &classes {
        (class.ask)(&mut schemas);
    }
    let definitions = schemas.definitions();
    let mut names: Vec<&str> = classes.iter().map(|class| class.name.as_str()).collect();
    names.extend(FROM_PARTS);
    names.sort_by_key(|name| (name.starts_with(char::is_lowercase), *name));
    let names: String = names.iter().map(|name| format!("    {name:?},\n")).collect();
    let written = classes.iter().map(|class| {
        let schema = definitions.get(&class.schema).unwrap_or(&Value::Null);
        written(class, schema, &fields(class, schema, &classes))
    });
    format!("{HEAD}\n__all__ = [\n{names}]\n{}", written.collect::<String>())
}

/// What a field holds.
#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Text,
    Time,
    Int,
    Float,
    Bool,
    Pair,
    Message,
    Any,
    Dict,
    Class(String),
    List(Box<Kind>),
}

impl Kind {
    /// What a schema allows, and whether it may be null.
    fn of(schema: &Value, classes: &[Class]) -> (Kind, bool) {
        let Some(object) = schema.as_object() else { return (Kind::Any, false) };
        if let Some([one, null]) = object.get("anyOf").and_then(Value::as_array).map(Vec::as_slice)
            && null.get("type").and_then(Value::as_str) == Some("null")
        {
            return (Kind::of(one, classes).0, true);
        }
        if let Some(reference) = object.get("$ref").and_then(Value::as_str) {
            let name = reference.rsplit('/').next().unwrap_or_default();
            let class = classes.iter().find(|class| class.schema == name);
            let kind = match name {
                "Message" => Kind::Message,
                _ => class.map_or(Kind::Dict, |class| Kind::Class(class.name.clone())),
            };
            return (kind, false);
        }
        let types: Vec<&str> = match object.get("type") {
            Some(Value::String(name)) => vec![name],
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let is_time = object.get("format").and_then(Value::as_str) == Some("date-time");
        let kind = match types.iter().find(|name| **name != "null") {
            Some(&"string") if is_time => Kind::Time,
            Some(&"string") => Kind::Text,
            Some(&"integer") => Kind::Int,
            Some(&"number") => Kind::Float,
            Some(&"boolean") => Kind::Bool,
            Some(&"object") => Kind::Dict,
            Some(&"array") if object.contains_key("prefixItems") => Kind::Pair,
            Some(&"array") => {
                let items =
                    object.get("items").map_or(Kind::Any, |items| Kind::of(items, classes).0);
                Kind::List(Box::new(items))
            }
            _ => Kind::Any,
        };
        (kind, types.contains(&"null"))
    }

    fn annotation(&self) -> String {
        match self {
            Kind::Text => "str".to_owned(),
            Kind::Time => "datetime".to_owned(),
            Kind::Int => "int".to_owned(),
            Kind::Float => "float".to_owned(),
            Kind::Bool => "bool".to_owned(),
            Kind::Pair => "tuple[int, int]".to_owned(),
            Kind::Message => "Message".to_owned(),
            Kind::Any => "Any".to_owned(),
            Kind::Dict => "dict[str, Any]".to_owned(),
            Kind::Class(name) => name.clone(),
            Kind::List(of) => format!("list[{}]", of.annotation()),
        }
    }

    /// The value that says nothing; none where there is no such value.
    fn empty(&self) -> Option<&'static str> {
        match self {
            Kind::Int => Some("0"),
            Kind::Float => Some("0.0"),
            Kind::Bool => Some("False"),
            Kind::List(_) => Some("field(default_factory=list)"),
            Kind::Dict => Some("field(default_factory=dict)"),
            Kind::Any => Some("None"),
            Kind::Text | Kind::Time | Kind::Pair | Kind::Message | Kind::Class(_) => None,
        }
    }

    /// How a native value becomes this; none where it is this already.
    fn conversion(&self, native: &str) -> Option<String> {
        match self {
            Kind::Message => Some(format!("message_from({native})")),
            Kind::Class(name) => Some(format!("{name}._from({native})")),
            Kind::Pair => Some(format!("({native}[0], {native}[1])")),
            Kind::List(of) => {
                let one = of.conversion("one")?;
                Some(format!("[{one} for one in {native}]"))
            }
            _ => None,
        }
    }
}

/// A field of a class.
struct Field {
    name: String,
    doc: String,
    kind: Kind,
    annotation: String,
    /// Its default, unless it must be given.
    default: Option<&'static str>,
    /// Whether every answer has it, be it as null.
    is_always_there: bool,
}

fn fields(class: &Class, schema: &Value, classes: &[Class]) -> Vec<Field> {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let properties = schema.get("properties").and_then(Value::as_object);
    let read = |(name, schema): (&String, &Value)| {
        let (mut kind, is_nullable) = Kind::of(schema, classes);
        let given = class.given.iter().find(|(field, _)| field == name);
        let mut annotation = kind.annotation();
        let mut default = if is_nullable { Some("None") } else { kind.empty() };
        if let Some((_, given)) = given {
            annotation = (*given).to_owned();
            if matches!(kind, Kind::Class(_)) {
                kind = Kind::Dict;
            }
        }
        if is_nullable && kind != Kind::Any {
            annotation += " | None";
        }
        let is_always_there = required.contains(&name.as_str());
        if !is_always_there && !is_nullable {
            // Left out where it says nothing.
            default = default.or(Some("None"));
            if default == Some("None") && kind != Kind::Any {
                annotation += " | None";
            }
        }
        let doc = schema.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
        Field { name: name.clone(), doc, kind, annotation, default, is_always_there }
    };
    let mut fields: Vec<Field> = properties.into_iter().flatten().map(read).collect();
    // A count or a list before something that must be given must be given as well, so that the
    // order of what every answer has is that of the schema.
    let last = fields.iter().rposition(|field| field.default.is_none()).unwrap_or(0);
    for field in fields.iter_mut().take(last).filter(|field| field.is_always_there) {
        if !matches!(field.default, Some("None")) && field.kind != Kind::Dict {
            field.default = None;
        }
    }
    fields.sort_by_key(|field| (field.default.is_some(), !field.is_always_there));
    fields
}

fn written(class: &Class, schema: &Value, fields: &[Field]) -> String {
    let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let name = &class.name;
    let mut text = format!("\n\n@dataclass(slots=True)\nclass {name}{}:\n", class.base);
    text += &docstring(description);
    text.push('\n');
    for field in fields {
        let default = field.default.map(|default| format!(" = {default}")).unwrap_or_default();
        text += &comment(&field.doc);
        text += &format!("    {}: {}{default}\n", field.name, field.annotation);
    }
    text += &format!(
        "\n    @classmethod\n    def _from(cls, native: dict[str, Any]) -> {name}:\n{}        return cls(**known(cls, native))\n",
        conversions(fields)
    );
    text
}

/// The lines that make a native answer what the class holds.
fn conversions(fields: &[Field]) -> String {
    let times = fields.iter().filter(|field| field.kind == Kind::Time);
    let times: Vec<String> = times.map(|field| format!("{:?}", field.name)).collect();
    let mut text = String::new();
    if !times.is_empty() {
        text += &format!("        moments(native, [{}])\n", times.join(", "));
    }
    for field in fields {
        let native = format!("native[{:?}]", field.name);
        let Some(conversion) = field.kind.conversion(&native) else { continue };
        text += &if field.default.is_some() {
            format!(
                "        if native.get({:?}) is not None:\n            {native} = {conversion}\n",
                field.name
            )
        } else {
            format!("        {native} = {conversion}\n")
        };
    }
    text
}
