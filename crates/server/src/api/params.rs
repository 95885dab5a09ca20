//! The parameters of query strings, by endpoint.

use crate::decode::{Kind, Param};

const fn param(name: &'static str, kind: Kind, doc: &'static str) -> Param {
    Param { name, kind, doc, needed: false }
}

/// The most tokens that a window may have.
const TOKENS: i64 = 100_000_000;

const CURSOR: Param = param("cursor", Kind::Text, "The `next` of the page before");
const LIMIT: Param = param("limit", Kind::Int(1, 1_000), "At most so many");
const HIDDEN: Param = param("hidden", Kind::Bool, "Rewound and compacted messages too");

pub(super) const PAGE: &[Param] = &[LIMIT, CURSOR];

pub(super) const LIST: &[Param] = &[
    LIMIT,
    CURSOR,
    param("all", Kind::Bool, "Every session, not only conversations as their tips"),
    param("source", Kind::Text, "Only this source"),
    param("exclude_source", Kind::Texts, "Not these sources"),
    param("project", Kind::Text, "Only this project"),
    param("user_id", Kind::Text, "Only this person"),
    param("parent_id", Kind::Text, "Only children of this session"),
    param("cwd_prefix", Kind::Text, "Only working directories that begin so"),
    param("min_messages", Kind::Int(0, i64::MAX), "At least so many messages"),
    param("archived", Kind::Word(&["true", "false", "any"]), "Archived ones; false by default"),
    param("ended", Kind::Bool, "Only those that ended, or that did not"),
    param("since", Kind::Time, "Active at or after"),
    param("until", Kind::Time, "Active before"),
    param("q", Kind::Text, "Id or title contains this"),
    param("order", Kind::Word(&["active", "started"]), "The order; by activity by default"),
];

pub(super) const SHOW: &[Param] = &[
    LIMIT,
    CURSOR,
    HIDDEN,
    param("messages", Kind::Bool, "Whether messages are answered; true by default"),
];

pub(super) const MESSAGES: &[Param] = &[LIMIT, CURSOR, HIDDEN];

pub(super) const APPEND: &[Param] = &[
    param("create", Kind::Bool, "Begin the session if it does not exist"),
    param("source", Kind::Text, "The source of a session that is begun"),
];

pub(super) const EVENTS: &[Param] =
    &[param("since", Kind::Text, "The id of the last event seen, as the header Last-Event-ID")];

pub(super) const ACTIVITY: &[Param] =
    &[param("days", Kind::Int(1, 3_660), "So many days, today included; 30 by default")];

pub(super) const EXPORT: &[Param] = &[
    param("session", Kind::Texts, "Only these sessions"),
    param("source", Kind::Text, "Only this source"),
];

pub(super) const CONTEXT: &[Param] = &[
    param("budget", Kind::Int(1, TOKENS), "The most tokens it may have; 100000 by default"),
    param("reserve", Kind::Int(0, TOKENS - 1), "Of these, tokens kept free for the answer"),
    param("format", Kind::Word(&["openai", "anthropic", "text"]), "For whom; openai by default"),
    param("explain", Kind::Bool, "Tell of every item why it is in or out"),
    param("peek", Kind::Bool, "Only look: compact nothing, and leave no mark for the next"),
];

const SESSION: Param = param(
    "session",
    Kind::Text,
    "Look within the lineage of this session; without it in all of the space, where that is allowed",
);

pub(super) const SCOPE: &[Param] = &[SESSION];

const EXPAND_TOKENS: Param = param(
    "tokens",
    Kind::Int(1, 1_000_000),
    "The most tokens to answer, 4000 by default; a message that is larger comes alone",
);

pub(super) const EXPAND: &[Param] = &[EXPAND_TOKENS, CURSOR, SESSION];

pub(super) const EXPAND_ANY: &[Param] = &[
    Param {
        name: "id",
        kind: Kind::Text,
        doc: "A summary (sum_...), a message (1234) or a range of them (1234-1300)",
        needed: true,
    },
    EXPAND_TOKENS,
    CURSOR,
];
