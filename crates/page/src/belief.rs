//! Words, badges and rows for memories, shared by the views that show them.

use crate::layout::Frame;
use crate::text::{line, one_line, plain};
use crate::{link, when};
use maud::{Markup, html};
use oneiro::{
    Actor, ActorKind, ActorSurface, Citation, Memory, MemoryKind, MemoryStatus, OperationVerb,
    RelatedMemory, Relation, Trust,
};

/// Characters of a statement on one line.
pub(crate) const STATEMENT_CHARS: usize = 240;

/// Tags shown in a row; a memory has a few.
const TAGS_SHOWN: usize = 6;

/// Every status, in the order of a memory's life.
pub(crate) const STATUSES: [MemoryStatus; 4] = [
    MemoryStatus::Candidate,
    MemoryStatus::Active,
    MemoryStatus::Superseded,
    MemoryStatus::Invalid,
];

/// Every kind.
pub(crate) const KINDS: [MemoryKind; 6] = [
    MemoryKind::Identity,
    MemoryKind::Preference,
    MemoryKind::Project,
    MemoryKind::Episodic,
    MemoryKind::Knowledge,
    MemoryKind::Adaptation,
];

/// A status as people read it.
pub(crate) fn status_name(status: MemoryStatus) -> &'static str {
    match status {
        MemoryStatus::Candidate => "waiting for review",
        MemoryStatus::Active => "active",
        MemoryStatus::Superseded => "superseded",
        MemoryStatus::Invalid => "invalid",
    }
}

/// The status of a memory, and whether a contradiction suspends it.
pub(crate) fn status_badges(memory: &Memory) -> Markup {
    html! {
        span.badge data-status=(memory.status.as_str()) { (status_name(memory.status)) }
        @if memory.suspended_by.is_some() {
            span.badge.contradicted { "contradicted" }
        }
    }
}

/// How far a memory is trusted, and why.
pub(crate) fn trust_name(trust: Trust) -> &'static str {
    match trust {
        Trust::Owner => "owner: a person stated it",
        Trust::Agent => "agent: an agent stated it",
        Trust::Tool => "tool: it rests on the output of a tool",
        Trust::External => "external: it rests on somebody else's words",
        Trust::System => "system: it rests on a system message",
    }
}

/// A confidence as a percentage.
pub(crate) fn percent(value: f64) -> String {
    format!("{:.0} %", value * 100.0)
}

/// Who acts, and where.
pub(crate) fn actor(actor: &Actor) -> Markup {
    let kind = match actor.kind {
        ActorKind::Person => "a person",
        ActorKind::Agent => "an agent",
        ActorKind::Job => "a job",
        ActorKind::Dream => "a dream",
        ActorKind::Import => "an import",
        ActorKind::File => "a file",
    };
    let surface = match actor.surface {
        ActorSurface::Cli => "on the command line",
        ActorSurface::Http => "over HTTP",
        ActorSurface::Mcp => "over MCP",
        ActorSurface::Page => "on this page",
        ActorSurface::Library => "in a program",
        ActorSurface::Background => "in the background",
    };
    // The name of a browser says nothing about the person.
    let client = actor.client.as_deref().filter(|_| actor.surface != ActorSurface::Page);
    html! {
        (kind)
        " "
        (surface)
        @if let Some(client) = client {
            " ("
            (line(client, 40))
            ")"
        }
    }
}

/// What an operation did, as a heading.
pub(crate) fn verb_name(verb: OperationVerb) -> &'static str {
    match verb {
        OperationVerb::Create => "Created",
        OperationVerb::Edit => "Edited",
        OperationVerb::Promote => "Promoted",
        OperationVerb::Reject => "Rejected",
        OperationVerb::Confirm => "Confirmed",
        OperationVerb::Supersede => "Superseded",
        OperationVerb::Suspend => "Suspension changed",
        OperationVerb::Cite => "Source added",
        OperationVerb::Merge => "Merged",
        OperationVerb::Forget => "Forgotten",
        OperationVerb::Distrust => "Source distrusted",
        OperationVerb::End => "Ended",
        OperationVerb::Delete => "Deleted",
        OperationVerb::Restore => "Restored",
        OperationVerb::Undo => "Undone",
    }
}

/// What the kind of an operation, such as `memory.promote`, did.
pub(crate) fn operation_name(kind: &str) -> &'static str {
    let verb = kind.rsplit('.').next().and_then(|verb| OperationVerb::parse(verb).ok());
    verb.map_or("Changed", verb_name)
}

/// Kind, subject, project, tags, trust, confidence and age of a memory.
pub(crate) fn facts(memory: &Memory, frame: &Frame) -> Markup {
    html! {
        p.facts {
            (status_badges(memory))
            span { "kind " (memory.kind.as_str()) }
            @if let Some(subject) = &memory.subject {
                span { "about " (line(subject, 40)) }
            }
            @if let Some(project) = &memory.project {
                span { "project " (line(project, 40)) }
            }
            @for tag in memory.tags.iter().take(TAGS_SHOWN) {
                span { "#" (plain(&one_line(tag, 30))) }
            }
            span { "trust " (memory.trust.as_str()) }
            span { "confidence " (percent(memory.confidence)) }
            span.when { (when::ago(memory.created_at, frame.now)) }
        }
    }
}

/// Memories, a row to each.
pub(crate) fn rows(memories: &[Memory], frame: &Frame) -> Markup {
    html! {
        ul.rows {
            @for memory in memories {
                li {
                    a.name href=(link::memory(&memory.id)) { (line(&memory.content, STATEMENT_CHARS)) }
                    (facts(memory, frame))
                }
            }
        }
    }
}

/// The cited words with their place.
pub(crate) fn source(citation: &Citation) -> Markup {
    html! {
        blockquote.quote { p { (plain(&citation.quote)) } }
        p.facts {
            @match (&citation.session_id, citation.message_id) {
                (Some(session), Some(message)) => {
                    a href=(link::at(session, message)) {
                        "message "
                        (message)
                        " in "
                        (line(session.as_str(), 60))
                    }
                }
                (None, Some(message)) => a href=(link::message(message)) { "message " (message) },
                (_, None) => span { "no captured message holds these words" },
            }
            span { "trust " (citation.trust.as_str()) }
        }
    }
}

/// How another memory relates to this one.
pub(crate) fn relation_badge(related: &RelatedMemory) -> Markup {
    html! {
        @match related.relation {
            Relation::Contradicts => span.badge.contradicted { "contradicts" },
            Relation::Same => span.badge { "says the same" },
            Relation::Refines | Relation::Unrelated => span.badge { "similar" },
        }
    }
}
