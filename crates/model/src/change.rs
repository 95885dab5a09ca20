//! Changes: what happened in a space, for everyone who watches it. Messages are reported by
//! their ids; everything else that happens to sessions is noted in passing.

use crate::contract::Request;
use crate::{Actor, DreamOutcome, Error, MessageId, Result, SessionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// Messages were appended.
    Appended,
    /// A session began.
    Created,
    /// A session's fields changed.
    Changed,
    /// A session ended.
    Ended,
    /// A session's end was taken back.
    Reopened,
    /// Messages were taken back.
    Rewound,
    /// Messages that were taken back came again.
    Restored,
    /// A session was deleted.
    Deleted,
    /// Something was erased, and is not named.
    Erased,
    /// Sessions were imported.
    Imported,
    /// Messages or summaries of a session were put under a summary.
    Compacted,
    /// A dream started or ended.
    Dream,
    /// More happened than is reported: read again what is shown.
    Missed,
}

impl ChangeKind {
    const ALL: [ChangeKind; 13] = [
        ChangeKind::Appended,
        ChangeKind::Created,
        ChangeKind::Changed,
        ChangeKind::Ended,
        ChangeKind::Reopened,
        ChangeKind::Rewound,
        ChangeKind::Restored,
        ChangeKind::Deleted,
        ChangeKind::Erased,
        ChangeKind::Imported,
        ChangeKind::Compacted,
        ChangeKind::Dream,
        ChangeKind::Missed,
    ];

    /// Every kind.
    pub fn all() -> &'static [ChangeKind] {
        &ChangeKind::ALL
    }

    /// The kind as text.
    pub fn as_str(self) -> &'static str {
        match self {
            ChangeKind::Appended => "appended",
            ChangeKind::Created => "created",
            ChangeKind::Changed => "changed",
            ChangeKind::Ended => "ended",
            ChangeKind::Reopened => "reopened",
            ChangeKind::Rewound => "rewound",
            ChangeKind::Restored => "restored",
            ChangeKind::Deleted => "deleted",
            ChangeKind::Erased => "erased",
            ChangeKind::Imported => "imported",
            ChangeKind::Compacted => "compacted",
            ChangeKind::Dream => "dream",
            ChangeKind::Missed => "missed",
        }
    }

    /// Reads a kind; one of a newer Oneiro is a change of which nothing more is known.
    pub fn parse(name: &str) -> ChangeKind {
        let known = ChangeKind::ALL.into_iter().find(|kind| kind.as_str() == name);
        known.unwrap_or(ChangeKind::Changed)
    }
}

word_schema!(ChangeKind ChangeKind::ALL.map(ChangeKind::as_str));

/// How far somebody has seen: the last message and the last note of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ChangeMark {
    /// The last message seen.
    pub message: i64,
    /// The key of the last change seen.
    pub change: i64,
    /// What was seen of the messages after that one, if it was not all of them.
    pub part: Option<SeenPart>,
}

/// A part of the messages that are reported together: sessions overlap, so no single message says
/// how far somebody has seen while they are being told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeenPart {
    /// The last of the reported messages.
    pub until: i64,
    /// Sessions whose last message among these is no later were seen.
    pub told: i64,
}

impl ChangeMark {
    /// Reads the id of an event.
    pub fn parse(text: &str) -> Result<ChangeMark> {
        let numbers: Option<Vec<i64>> = text
            .trim()
            .split('.')
            .map(|number| number.parse().ok().filter(|number| *number >= 0))
            .collect();
        let mark = match numbers.as_deref() {
            Some([message, change]) => {
                Some(ChangeMark { message: *message, change: *change, part: None })
            }
            Some([message, change, until, told]) => {
                let part = Some(SeenPart { until: *until, told: *told });
                Some(ChangeMark { message: *message, change: *change, part })
            }
            _ => None,
        };
        mark.ok_or_else(|| {
            Error::field("Last-Event-ID", "was not the id of an event")
                .remedy("send the id of the last event you saw, or none")
        })
    }
}

impl fmt::Display for ChangeMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.message, self.change)?;
        match self.part {
            Some(part) => write!(f, ".{}.{}", part.until, part.told),
            None => Ok(()),
        }
    }
}

text_schema!(ChangeMark "pattern": "^[0-9]{1,18}\\.[0-9]{1,18}(\\.[0-9]{1,18}\\.[0-9]{1,18})?$");

impl Serialize for ChangeMark {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// From where on changes are answered.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EventsRequest {
    /// The id of the last event seen, as the header Last-Event-ID.
    pub since: Option<ChangeMark>,
}

impl Request for EventsRequest {}

/// What is exported: everything, or only the selected sessions.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ExportRequest {
    /// Only these sessions; all when empty.
    #[serde(rename = "session")]
    #[schemars(extend("x-older-names" = ["sessions"]))]
    pub sessions: Vec<SessionId>,
    /// Only this source.
    pub source: Option<String>,
}

impl Request for ExportRequest {}

impl ExportRequest {
    /// Whether only some sessions are exported, without memories, operations and state.
    pub fn is_selection(&self) -> bool {
        !self.sessions.is_empty() || self.source.is_some()
    }
}

parsed_from_text!(ChangeMark);

json_name! {
    /// What kind of thing a change happened to.
    SubjectKind "subject" {
        /// A session.
        Session "session",
        /// A memory.
        Memory "memory",
        /// A project.
        Project "project",
        /// A fact of a project.
        State "state",
        /// A source that is not trusted.
        Distrust "distrust",
        /// A note.
        Note "note",
        /// A dream.
        Dream "dream",
    }
}

/// What a change happened to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Subject {
    /// What kind of thing it is.
    pub kind: SubjectKind,
    /// Its id.
    pub id: String,
}

impl Subject {
    /// A session.
    pub fn session(id: &SessionId) -> Subject {
        Subject { kind: SubjectKind::Session, id: id.to_string() }
    }
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Change {
    /// The position to continue from after this change.
    pub id: ChangeMark,
    /// What happened.
    pub kind: ChangeKind,
    /// What it happened to, if to one thing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<Subject>,
    /// What has become of the dream by now, if it happened to one: `running` until it ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<DreamOutcome>,
    /// The operation that did it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// Who did it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor: Option<Actor>,
    /// To which session, if to one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The first message appended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_id: Option<MessageId>,
    /// The last message appended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_id: Option<MessageId>,
    /// How many were appended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<i64>,
}

impl Change {
    /// A change of which only the kind and the session are known.
    pub fn new(id: ChangeMark, kind: ChangeKind, session_id: Option<SessionId>) -> Change {
        Change {
            id,
            kind,
            subject: session_id.as_ref().map(Subject::session),
            outcome: None,
            operation: None,
            actor: None,
            session_id,
            first_id: None,
            last_id: None,
            count: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_round_trip_and_refuse_others() {
        let part = Some(SeenPart { until: 30, told: 21 });
        for part in [None, part] {
            let mark = ChangeMark { message: 12, change: 7, part };
            assert_eq!(ChangeMark::parse(&mark.to_string()).unwrap(), mark);
        }
        for bad in ["", "1", "1.", "-1.2", "1.x", "1.2.3", "1.2.3.-4", "1.2.3.4.5"] {
            assert!(ChangeMark::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn kinds_round_trip() {
        for kind in ChangeKind::all() {
            assert_eq!(ChangeKind::parse(kind.as_str()), *kind);
        }
        assert_eq!(ChangeKind::parse("dreamt"), ChangeKind::Changed);
    }
}
