//! Session search: discovers conversations, scrolls around a message, reads a session, or browses
//! recent sessions.

use crate::contract::Request;
use crate::contract::schema::one_of;
use crate::search::{Confidence, Hit, Sort, Tier};
use crate::{Error, MessageId, MessageRef, Role, Session, SessionId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Sources whose sessions are work of tools and other agents: not among what people talked about,
/// unless asked for by name.
pub const HIDDEN_SOURCES: [&str; 2] = ["tool", "subagent"];

/// Sources whose sessions a machine began: found, but below those of people.
pub const MACHINE_SOURCES: [&str; 2] = ["cron", "heartbeat"];

/// The default and the maximum of a limit.
#[derive(Debug, Clone, Copy)]
pub struct LimitRange {
    /// Used if the request has none.
    pub default: usize,
    /// A higher limit is refused.
    pub max: usize,
}

/// Conversations in the result of a session search.
pub const CONVERSATION_LIMIT: LimitRange = LimitRange { default: 3, max: 10 };

/// Messages before and after a hit or a given message.
pub const MESSAGE_WINDOW: LimitRange = LimitRange { default: 5, max: 20 };

/// Sessions in a list without a query.
pub const BROWSE_LIMIT: LimitRange = LimitRange { default: 10, max: 100 };

/// A search for conversations, told apart by what is given: a query discovers, a session with a
/// message scrolls, a session alone is read, nothing at all browses what was active lately.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(transform = session_search_modes)]
pub struct SessionSearchRequest {
    /// What to search for, in the query language.
    pub query: Option<String>,
    /// The session to read or to scroll in: an id, a unique prefix, or a title.
    #[schemars(extend("x-older-names" = ["session_id"]))]
    pub session: Option<SessionId>,
    /// The message to scroll around: its id, or its place in the session.
    #[schemars(extend("x-older-names" = ["around_message_id"]))]
    pub around: Option<MessageRef>,
    /// Messages to each side of the hit or of the message asked for; 5 by default.
    #[schemars(range(min = 1, max = MESSAGE_WINDOW.max))]
    pub window: Option<usize>,
    /// Maximum number of conversations, 3 by default and 10 at most; when browsing, 10 and 100.
    #[schemars(range(min = 1, max = BROWSE_LIMIT.max))]
    pub limit: Option<usize>,
    /// Leave out this session and its lineage: what an agent has before it already.
    #[schemars(extend("x-older-names" = ["current", "current_session_id"]))]
    pub exclude_lineage: Option<SessionId>,
    /// The order of conversations.
    pub sort: Sort,
    /// Only hits of these roles; of people and agents when empty.
    #[schemars(extend("x-older-names" = ["role_filter"]))]
    pub roles: Vec<Role>,
    /// Only in sessions of these sources.
    pub sources: Vec<String>,
    /// Not in sessions of these sources.
    pub exclude_sources: Vec<String>,
    /// Only in sessions of this project.
    pub project: Option<String>,
    /// Condense each conversation around the query.
    pub summarise: bool,
}

fn session_search_modes(schema: &mut schemars::Schema) {
    const AROUND_ALONE: &[&str] = &["around"];
    let modes: &[&[&str]] = &[&["query"], &["session"], &["session", "around"], AROUND_ALONE, &[]];
    one_of(schema, modes);
    let schemas = schema.get_mut("oneOf").and_then(serde_json::Value::as_array_mut);
    for (given, mode) in modes.iter().zip(schemas.into_iter().flatten()) {
        let Some(fields) = mode.get_mut("properties").and_then(serde_json::Value::as_object_mut)
        else {
            continue;
        };
        if *given == AROUND_ALONE {
            let place = format!("^[^\\u0000]{{1,{}}}#[1-9][0-9]{{0,14}}$", SessionId::MAX_CHARS);
            let place = serde_json::json!({"type": "string", "pattern": place});
            fields.insert("around".to_owned(), place);
        }
        if let (["query"], Some(limit)) = (*given, fields.get_mut("limit")) {
            limit["maximum"] = serde_json::json!(CONVERSATION_LIMIT.max);
        }
    }
}

impl Request for SessionSearchRequest {
    fn check(&self) -> Result<(), Error> {
        self.mode().map(|_| ())
    }
}

impl SessionSearchRequest {
    /// A search of all conversations.
    pub fn new(query: impl Into<String>) -> SessionSearchRequest {
        SessionSearchRequest { query: Some(query.into()), ..SessionSearchRequest::default() }
    }

    /// What is asked for.
    pub fn mode(&self) -> Result<SessionSearch, Error> {
        let window = self.window.unwrap_or(MESSAGE_WINDOW.default);
        match (&self.query, &self.session, &self.around) {
            (Some(query), None, None) => {
                let limit = self.limit.unwrap_or(CONVERSATION_LIMIT.default);
                if limit > CONVERSATION_LIMIT.max {
                    let problem = format!("is more than {} conversations", CONVERSATION_LIMIT.max);
                    return Err(Error::field("limit", problem));
                }
                Ok(SessionSearch::Discover(Discover {
                    query: query.clone(),
                    limit,
                    sort: self.sort,
                    roles: self.roles.clone(),
                    sources: self.sources.clone(),
                    exclude_sources: self.exclude_sources.clone(),
                    project: self.project.clone(),
                    exclude_lineage: self.exclude_lineage.clone(),
                    window,
                    summarise: self.summarise,
                }))
            }
            (None, Some(session), Some(around)) => {
                let (session, around) = (session.clone(), around.clone());
                Ok(SessionSearch::Scroll { session, around, window })
            }
            (None, None, Some(MessageRef::Place { session: Some(session), place })) => {
                let around = MessageRef::Place { session: None, place: *place };
                Ok(SessionSearch::Scroll { session: session.clone(), around, window })
            }
            (None, Some(session), None) => Ok(SessionSearch::Read(session.clone())),
            (None, None, None) => Ok(SessionSearch::Browse {
                limit: self.limit.unwrap_or(BROWSE_LIMIT.default),
                project: self.project.clone(),
                exclude_lineage: self.exclude_lineage.clone(),
            }),
            (_, None, Some(around)) => Err(Error::field(
                "around",
                "needs the session the message is in",
            )
            .remedy(format!(
                "give the session as the hit {around} named it, or the message as SESSION#PLACE, \
                     and leave query out"
            ))),
            (Some(_), Some(_), _) => {
                Err(Error::field("query", "and session ask for different things").remedy(
                    "to search inside that session, leave session out and add session:ID to the \
                     query; to read it, leave query out",
                ))
            }
        }
    }
}

/// What a session search is asked, told apart by what is given.
#[derive(Debug, Clone)]
pub enum SessionSearch {
    /// The best hit of each conversation, with what was said around it.
    Discover(Discover),
    /// What was said around a message.
    Scroll {
        /// The session it is in, or one of its lineage: an id, a unique prefix, or a title.
        session: SessionId,
        /// The message.
        around: MessageRef,
        /// Messages to each side.
        window: usize,
    },
    /// A session from its beginning: by id, unique prefix, or title.
    Read(SessionId),
    /// What was active lately.
    Browse {
        /// Maximum number of sessions.
        limit: usize,
        /// Only sessions of this project.
        project: Option<String>,
        /// Not this session, nor any other of its lineage.
        exclude_lineage: Option<SessionId>,
    },
}

/// A search for conversations.
#[derive(Debug, Clone)]
pub struct Discover {
    /// The query, in the query language.
    pub query: String,
    /// Maximum number of conversations.
    pub limit: usize,
    /// The order of conversations.
    pub sort: Sort,
    /// Only hits of these roles; of people and agents when empty.
    pub roles: Vec<Role>,
    /// Only in sessions of these sources; when empty, in all but [`HIDDEN_SOURCES`].
    pub sources: Vec<String>,
    /// Not in sessions of these sources.
    pub exclude_sources: Vec<String>,
    /// Only in sessions of this project.
    pub project: Option<String>,
    /// Not in this session, nor in any other of its lineage: what an agent has before it already.
    pub exclude_lineage: Option<SessionId>,
    /// Messages to each side of the hit.
    pub window: usize,
    /// Condense each conversation around the query.
    pub summarise: bool,
}

/// A message as session search shows it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ShownMessage {
    /// The message.
    pub id: MessageId,
    /// Who spoke.
    pub role: Role,
    /// The speaker's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// When it was said.
    pub at: Timestamp,
    /// Its text, cut when it is long.
    pub text: String,
    /// Whether it is the one that was asked for or found.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub anchor: bool,
}

/// A conversation that was found.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Conversation {
    /// The session that holds the hit, without its system prompt.
    pub session: Session,
    /// Where the conversation began, when that is another session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root_id: Option<SessionId>,
    /// Whether it comes first because its title has every word of the query.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub titled: bool,
    /// The hit; none when only the title has the words.
    pub hit: Option<Hit>,
    /// What was said around it, itself included; empty without a hit.
    pub window: Vec<ShownMessage>,
    /// Messages of the session before the window.
    pub before: i64,
    /// Messages of the session after the window.
    pub after: i64,
    /// How the session opened, as far as the window does not show it.
    pub opening: Vec<ShownMessage>,
    /// How the session ended, as far as the window does not show it.
    pub closing: Vec<ShownMessage>,
    /// The conversation condensed around the query, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<crate::SessionDigest>,
}

/// The answer to a session search.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "mode", rename_all = "lowercase")]
pub enum SessionFound {
    /// Conversations, best first.
    Discover {
        /// How sure the answer is: `strong`, the first very likely answer; `weak`, they are about it;
        /// `none`, nothing is about it.
        found: Confidence,
        /// How strictly the first was found.
        tier: Option<Tier>,
        /// The conversations.
        conversations: Vec<Conversation>,
        /// What the answer leaves out, when it could not look at everything.
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// What was said around a message.
    Scroll {
        /// The session it is in.
        session_id: SessionId,
        /// The messages, in order.
        messages: Vec<ShownMessage>,
        /// Messages of the session before them.
        before: i64,
        /// Messages of the session after them.
        after: i64,
        /// What was not as asked.
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// A session.
    Read {
        /// The session, without its system prompt.
        session: Box<Session>,
        /// Its messages, in order; of a long one the beginning and the end.
        messages: Vec<ShownMessage>,
        /// Messages left out between the beginning and the end.
        omitted: i64,
    },
    /// What was active lately.
    Browse {
        /// Sessions, most recently active first.
        sessions: Vec<Session>,
    },
}
