//! The API under `/v1`: one table of endpoints, from which the routes, the roles, the decoding of
//! query strings and the OpenAPI document come. Each handler is a plain function that may block.

mod context;
mod erasures;
mod events;
mod export;
mod history;
mod jobs;
mod messages;
mod params;
mod pins;
mod search;
mod sessions;
mod stats;
mod summaries;
mod tokens;
mod usage;

use crate::call::{Answer, Call};
use crate::decode::Param;
use oneiro::{Result, TokenRole};

pub(crate) use events::events;
pub(crate) use export::export;

/// What answers an endpoint.
#[derive(Clone, Copy)]
pub(crate) enum Run {
    /// A function, called where blocking is allowed.
    Call(fn(&Call) -> Result<Answer>),
    /// The stream of changes.
    Events,
    /// The stream of an export.
    Export,
}

/// Whether an endpoint may call a model, and needs a permit for it.
#[derive(Clone, Copy)]
pub(crate) enum ModelUse {
    Never,
    Always,
    /// If the body says so.
    If(fn(&[u8]) -> bool),
}

impl ModelUse {
    pub(crate) fn is_needed(self, body: &[u8]) -> bool {
        match self {
            ModelUse::Never => false,
            ModelUse::Always => true,
            ModelUse::If(says_so) => says_so(body),
        }
    }
}

/// A method of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

impl Verb {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Verb::Get => "GET",
            Verb::Post => "POST",
            Verb::Put => "PUT",
            Verb::Patch => "PATCH",
            Verb::Delete => "DELETE",
        }
    }
}

/// One endpoint.
#[derive(Clone, Copy)]
pub(crate) struct Endpoint {
    pub(crate) verb: Verb,
    pub(crate) path: &'static str,
    /// The least role that may call it.
    pub(crate) role: TokenRole,
    pub(crate) summary: &'static str,
    pub(crate) query: &'static [Param],
    /// The schema of the body, if there is one.
    pub(crate) body: Option<&'static str>,
    /// The statuses of a good answer.
    pub(crate) statuses: &'static [u16],
    /// The schema of the answer.
    pub(crate) answer: &'static str,
    pub(crate) model: ModelUse,
    pub(crate) run: Run,
}

impl Endpoint {
    const fn new(verb: Verb, path: &'static str, answer: &'static str, run: Run) -> Endpoint {
        let role = match verb {
            Verb::Get => TokenRole::Read,
            Verb::Post | Verb::Put | Verb::Patch => TokenRole::Write,
            Verb::Delete => TokenRole::Admin,
        };
        let (query, body, statuses) = (&[], None, &[200]);
        let model = ModelUse::Never;
        Endpoint { verb, path, role, summary: "", query, body, statuses, answer, model, run }
    }

    const fn says(self, summary: &'static str) -> Endpoint {
        Endpoint { summary, ..self }
    }

    const fn model(self, model: ModelUse) -> Endpoint {
        Endpoint { model, ..self }
    }

    const fn role(self, role: TokenRole) -> Endpoint {
        Endpoint { role, ..self }
    }

    const fn query(self, query: &'static [Param]) -> Endpoint {
        Endpoint { query, ..self }
    }

    const fn body(self, schema: &'static str) -> Endpoint {
        Endpoint { body: Some(schema), ..self }
    }

    const fn statuses(self, statuses: &'static [u16]) -> Endpoint {
        Endpoint { statuses, ..self }
    }
}

const fn get(path: &'static str, answer: &'static str, run: Handler) -> Endpoint {
    Endpoint::new(Verb::Get, path, answer, Run::Call(run))
}

const fn post(path: &'static str, answer: &'static str, run: Handler) -> Endpoint {
    Endpoint::new(Verb::Post, path, answer, Run::Call(run))
}

const fn put(path: &'static str, answer: &'static str, run: Handler) -> Endpoint {
    Endpoint::new(Verb::Put, path, answer, Run::Call(run))
}

const fn delete(path: &'static str, answer: &'static str, run: Handler) -> Endpoint {
    Endpoint::new(Verb::Delete, path, answer, Run::Call(run))
}

type Handler = fn(&Call) -> Result<Answer>;

/// Every endpoint.
pub(crate) const ENDPOINTS: &[Endpoint] = &[
    get("/v1/sessions", "Sessions", sessions::list)
        .query(params::LIST)
        .says("List conversations, or with `all` every session, newest first"),
    post("/v1/sessions", "Session", sessions::create)
        .body("NewSession")
        .statuses(&[200, 201])
        .says("Create a session; one with this id is filled in where it is unset"),
    get("/v1/sessions/{id}", "SessionWithMessages", sessions::show)
        .query(params::SHOW)
        .says("A session with its messages, page by page"),
    Endpoint::new(Verb::Patch, "/v1/sessions/{id}", "Session", Run::Call(sessions::change))
        .body("SessionPatch")
        .says("Change a session: what is given overwrites"),
    delete("/v1/sessions/{id}", "Deleted", sessions::delete)
        .says("Delete a session and the delegates under it"),
    post("/v1/sessions/{id}/end", "Session", sessions::end)
        .body("Ending")
        .says("End a session; the first reason stays"),
    post("/v1/sessions/{id}/reopen", "Session", sessions::reopen)
        .says("Take back the end of a session"),
    post("/v1/sessions/{id}/rewind", "Rewound", sessions::rewind)
        .body("Rewind")
        .says("Take back a thing the person said and everything after it"),
    post("/v1/sessions/{id}/restore", "Restored", sessions::restore)
        .body("Restore")
        .says("Bring back what the latest rewind hid, or all of them"),
    post("/v1/sessions/{id}/branch", "Session", sessions::branch)
        .body("Branch")
        .statuses(&[201])
        .says("Begin another session with the conversation so far"),
    post("/v1/sessions/{id}/split", "Session", sessions::split)
        .model(ModelUse::Always)
        .body("Split")
        .statuses(&[201])
        .says("End a session and go on in another with its compacted context"),
    get("/v1/sessions/{id}/family", "Family", sessions::family)
        .says("Every session that shares its first ancestor with this one"),
    get("/v1/sessions/{id}/usage", "Usages", usage::list).says("What a session used, by account"),
    post("/v1/sessions/{id}/usage", "Session", usage::add)
        .body("NewUsage")
        .says("Add to an account of a session"),
    get("/v1/sessions/{id}/messages", "Messages", messages::list)
        .query(params::MESSAGES)
        .says("Messages of a session, in the order they came"),
    post("/v1/sessions/{id}/messages", "Appended", messages::append)
        .query(params::APPEND)
        .body("NewMessages")
        .says("Append one message or an array of them; answered once all are durable"),
    get("/v1/sessions/{id}/context", "Window", context::window)
        .query(params::CONTEXT)
        .says("The content of a prompt within a budget; with the role read, always only a look"),
    post("/v1/sessions/{id}/compact", "Compacted", context::compact)
        .model(ModelUse::Always)
        .body("Compaction")
        .says("Put what is old under summaries; nothing said is lost"),
    get("/v1/sessions/{id}/summaries", "Summaries", summaries::list)
        .says("Every summary of a session, by the messages they cover"),
    get("/v1/sessions/{id}/expand", "Expanded", summaries::expand_any)
        .query(params::EXPAND_ANY)
        .says("The exact messages under a summary, in a range, or one, within a lineage"),
    put("/v1/sessions/{id}/history", "Messages", history::set)
        .body("History")
        .says("Make a session show exactly these messages, or its newest; the rest is hidden"),
    get("/v1/sessions/{id}/summary", "SessionSummary", history::summary)
        .says("What stands for the beginning of a session, as one text"),
    put("/v1/sessions/{id}/summary", "SessionSummary", history::set_summary)
        .body("NewSummary")
        .says("Write a summary by hand before a session's windows; an empty one clears it"),
    get("/v1/sessions/{id}/pins", "Messages", pins::list)
        .says("The messages that every window of a session shows"),
    put("/v1/sessions/{id}/pins/{message}", "Messages", pins::pin)
        .says("Pin a message into every window of its session; answers all that are pinned"),
    delete("/v1/sessions/{id}/pins/{message}", "Messages", pins::unpin)
        .role(TokenRole::Write)
        .says("Unpin a message; answers all that are pinned"),
    get("/v1/summaries/{id}", "Summary", summaries::show)
        .query(params::SCOPE)
        .says("A summary: its words, what it covers, what is above and below it"),
    get("/v1/summaries/{id}/expand", "Expanded", summaries::expand)
        .query(params::EXPAND)
        .says("The exact messages under a summary, each whole, as many as fit"),
    get("/v1/messages/{id}", "Message", messages::show)
        .query(params::SCOPE)
        .says("One message, whole; with `session`, only if it is of that session's lineage"),
    post("/v1/search", "Found", search::search)
        .role(TokenRole::Read)
        .body("Search")
        .says("Search what was said"),
    post("/v1/session-search", "SessionFound", search::sessions)
        .role(TokenRole::Read)
        .body("SessionSearch")
        .model(ModelUse::If(search::wants_summaries))
        .says("Discover conversations, scroll in one, read one, or browse"),
    Endpoint::new(Verb::Get, "/v1/events", "Events", Run::Events)
        .query(params::EVENTS)
        .says("What happens in the space, as server-sent events"),
    get("/v1/jobs", "Jobs", jobs::list).query(params::PAGE).says("Background work, newest first"),
    post("/v1/jobs/run", "Ran", jobs::run).says("Run what is due, for a few seconds at most"),
    get("/v1/tokens", "Tokens", tokens::list)
        .role(TokenRole::Admin)
        .query(params::PAGE)
        .says("Tokens of the space, newest first"),
    post("/v1/tokens", "Token", tokens::create)
        .role(TokenRole::Admin)
        .body("NewToken")
        .statuses(&[201])
        .says("Make a token; its text is in this answer and never again"),
    delete("/v1/tokens/{id}", "Token", tokens::revoke).says("Take a token back"),
    get("/v1/stats", "Stats", stats::stats).says("Figures of the space"),
    get("/v1/activity", "Activity", stats::activity)
        .query(params::ACTIVITY)
        .says("How much was said, day by day"),
    get("/v1/latency", "Latency", stats::latency)
        .says("How long the searches of the last hour took, minute by minute"),
    post("/v1/backup", "Backup", stats::backup)
        .role(TokenRole::Admin)
        .body("NewBackup")
        .statuses(&[201])
        .says("Copy the space into a new file in the server's folder of backups"),
    Endpoint::new(Verb::Get, "/v1/export", "Export", Run::Export)
        .query(params::EXPORT)
        .says("Every session with its messages, one to a line"),
    post("/v1/erasures", "Erased", erasures::erase)
        .role(TokenRole::Admin)
        .body("Erasure")
        .says("Erase a session or a message for good, and prove it"),
    post("/v1/prune", "Pruned", sessions::prune)
        .role(TokenRole::Admin)
        .body("Prune")
        .says("Delete ended sessions by age and filters"),
];
