//! The API under `/v1`: one table of endpoints, from which the routes, the roles, the decoding of
//! requests and the OpenAPI document come. Each handler is a plain function that may block; its
//! signature says what it takes and answers.

mod capture;
mod context;
mod dreams;
mod erasures;
mod events;
mod export;
mod history;
mod interactions;
mod jobs;
mod memories;
mod messages;
mod mounts;
mod notes;
mod operations;
mod packs;
mod pins;
mod projects;
mod search;
mod sessions;
mod spaces;
mod stats;
mod summaries;
mod tokens;
mod usage;

use crate::call::{Answer, Call, Encoded};
use oneiro::contract::Request;
use oneiro::contract::schema::{Schemas, published};
use oneiro::{Change, EventsRequest, ExportRequest, Result, SpaceUse, TokenRole};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::LazyLock;

pub(crate) use events::events;
pub(crate) use export::export;

/// A call that may block.
type BlockingCall = dyn Fn(&Call) -> Result<Encoded> + Send + Sync;

/// What answers an endpoint.
pub(crate) enum Run {
    /// A function, called where blocking is allowed.
    Call(Box<BlockingCall>),
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

/// Whether an endpoint creates the space that a request names, if it does not exist.
#[derive(Clone, Copy)]
pub(crate) enum CreatesSpace {
    Never,
    Always,
    /// If the query string says so.
    If(fn(&str) -> bool),
}

impl CreatesSpace {
    pub(crate) fn space_use(self, query: &str) -> SpaceUse {
        let creates = match self {
            CreatesSpace::Never => false,
            CreatesSpace::Always => true,
            CreatesSpace::If(says_so) => says_so(query),
        };
        if creates { SpaceUse::CreateMissing } else { SpaceUse::MustExist }
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

/// Makes the schema of a request or an answer.
pub(crate) type SchemaOf = fn(&mut Schemas) -> Value;

/// What a handler takes and answers, as the OpenAPI document says it.
pub(crate) struct Handler {
    run: Run,
    query: fn() -> Value,
    body: Option<Body>,
    answer: SchemaOf,
}

/// The body of a request.
pub(crate) struct Body {
    /// Its schema.
    pub(crate) schema: SchemaOf,
    /// Whether it must be there.
    pub(crate) required: bool,
}

/// One endpoint.
pub(crate) struct Endpoint {
    pub(crate) verb: Verb,
    pub(crate) path: &'static str,
    /// The least role that may call it.
    pub(crate) role: TokenRole,
    pub(crate) creates_space: CreatesSpace,
    pub(crate) summary: &'static str,
    /// The schema of the query string.
    pub(crate) query: fn() -> Value,
    pub(crate) body: Option<Body>,
    /// The statuses of a good answer.
    pub(crate) statuses: &'static [u16],
    /// The schema of the answer.
    pub(crate) answer: SchemaOf,
    pub(crate) model: ModelUse,
    pub(crate) run: Run,
}

impl Endpoint {
    fn new(verb: Verb, path: &'static str, handler: Handler) -> Endpoint {
        let role = match verb {
            Verb::Get => TokenRole::Read,
            Verb::Post | Verb::Put | Verb::Patch => TokenRole::Write,
            Verb::Delete => TokenRole::Admin,
        };
        let Handler { run, query, body, answer } = handler;
        Endpoint {
            verb,
            path,
            role,
            creates_space: CreatesSpace::Never,
            summary: "",
            query,
            body,
            statuses: &[200],
            answer,
            model: ModelUse::Never,
            run,
        }
    }

    fn summary(self, summary: &'static str) -> Endpoint {
        Endpoint { summary, ..self }
    }

    fn creates_space(self, creates_space: CreatesSpace) -> Endpoint {
        Endpoint { creates_space, ..self }
    }

    fn model(self, model: ModelUse) -> Endpoint {
        Endpoint { model, ..self }
    }

    fn role(self, role: TokenRole) -> Endpoint {
        Endpoint { role, ..self }
    }

    fn statuses(self, statuses: &'static [u16]) -> Endpoint {
        Endpoint { statuses, ..self }
    }
}

fn get(path: &'static str, handler: Handler) -> Endpoint {
    Endpoint::new(Verb::Get, path, handler)
}

fn post(path: &'static str, handler: Handler) -> Endpoint {
    Endpoint::new(Verb::Post, path, handler)
}

fn put(path: &'static str, handler: Handler) -> Endpoint {
    Endpoint::new(Verb::Put, path, handler)
}

fn patch(path: &'static str, handler: Handler) -> Endpoint {
    Endpoint::new(Verb::Patch, path, handler)
}

fn delete(path: &'static str, handler: Handler) -> Endpoint {
    Endpoint::new(Verb::Delete, path, handler)
}

/// A request without fields.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NoFields {}

impl Request for NoFields {}

/// A handler that takes nothing but the path; a body is refused.
fn action<A: Serialize + JsonSchema + 'static>(handler: fn(&Call) -> Result<Answer<A>>) -> Handler {
    Handler {
        run: Run::Call(Box::new(move |call| {
            let NoFields {} = call.query_as()?;
            let NoFields {} = call.body_as()?;
            handler(call)?.encode()
        })),
        ..plain(handler)
    }
}

/// A handler that takes nothing but the path, and reads no body.
fn plain<A: Serialize + JsonSchema + 'static>(handler: fn(&Call) -> Result<Answer<A>>) -> Handler {
    Handler {
        run: Run::Call(Box::new(move |call| {
            let NoFields {} = call.query_as()?;
            handler(call)?.encode()
        })),
        query: published::<NoFields>,
        body: None,
        answer: Schemas::answer::<A>,
    }
}

/// A handler whose request is the query string.
fn query<R: Request, A: Serialize + JsonSchema + 'static>(
    handler: fn(&Call, R) -> Result<Answer<A>>,
) -> Handler {
    Handler {
        run: Run::Call(Box::new(move |call| handler(call, call.query_as()?)?.encode())),
        query: published::<R>,
        body: None,
        answer: Schemas::answer::<A>,
    }
}

/// A handler whose request is the body.
fn body<R: Request, A: Serialize + JsonSchema + 'static>(
    handler: fn(&Call, R) -> Result<Answer<A>>,
) -> Handler {
    Handler {
        run: Run::Call(Box::new(move |call| {
            let NoFields {} = call.query_as()?;
            handler(call, call.body_as()?)?.encode()
        })),
        query: published::<NoFields>,
        body: Some(Body { schema: Schemas::request::<R>, required: is_required::<R>() }),
        answer: Schemas::answer::<A>,
    }
}

/// A handler that reads messages from the body, which are open, and a request from the query string.
fn messages_body<B: JsonSchema, R: Request, A: Serialize + JsonSchema + 'static>(
    handler: fn(&Call, R) -> Result<Answer<A>>,
) -> Handler {
    let required = true;
    Handler { body: Some(Body { schema: Schemas::request::<B>, required }), ..query(handler) }
}

/// A stream, which is described by the type of what it sends.
fn stream<R: Request>(run: Run, answer: SchemaOf) -> Handler {
    Handler { run, query: published::<R>, body: None, answer }
}

/// Whether a request cannot be empty.
fn is_required<R: Request>() -> bool {
    let schema = published::<R>();
    let requires = |schema: &Value| schema.get("required").is_some();
    match schema.get("oneOf").and_then(Value::as_array) {
        Some(alternatives) => alternatives.iter().all(requires),
        None => requires(&schema),
    }
}

/// Every endpoint.
pub(crate) static ENDPOINTS: LazyLock<Vec<Endpoint>> = LazyLock::new(|| {
    vec![
        get("/v1/sessions", query(sessions::list))
            .summary("List conversations, or with `all` every session, newest first"),
        post("/v1/sessions", body(sessions::create))
            .creates_space(CreatesSpace::Always)
            .statuses(&[200, 201])
            .summary("Create a session, or fill missing fields of the one with this id"),
        get("/v1/sessions/{id}", query(sessions::show))
            .summary("A session with its messages, page by page"),
        patch("/v1/sessions/{id}", body(sessions::change))
            .summary("Change a session: given fields are overwritten, null removes a value"),
        delete("/v1/sessions/{id}", plain(sessions::delete))
            .summary("Delete a session and the delegates under it"),
        post("/v1/sessions/{id}/end", body(sessions::end))
            .summary("End a session; an existing end reason is kept"),
        post("/v1/sessions/{id}/reopen", action(sessions::reopen))
            .summary("Reopen an ended session"),
        post("/v1/sessions/{id}/rewind", body(sessions::rewind))
            .summary("Hide a user message and everything after it"),
        post("/v1/sessions/{id}/restore", body(sessions::restore))
            .summary("Restore what the latest rewind hid, or all rewinds"),
        post("/v1/sessions/{id}/branch", body(sessions::branch))
            .statuses(&[201])
            .summary("Create a session that starts with the conversation so far"),
        post("/v1/sessions/{id}/split", body(sessions::split))
            .model(ModelUse::Always)
            .statuses(&[201])
            .summary("End a session and continue in another with its compacted context"),
        get("/v1/sessions/{id}/family", plain(sessions::family))
            .summary("Every session that shares its first ancestor with this one"),
        get("/v1/sessions/{id}/usage", plain(usage::list))
            .summary("Token usage and cost of a session, by account"),
        post("/v1/sessions/{id}/usage", body(usage::add)).summary("Add to the usage of a session"),
        get("/v1/sessions/{id}/messages", query(messages::list))
            .summary("Messages of a session, in order"),
        post(
            "/v1/sessions/{id}/messages",
            messages_body::<messages::NewMessages, _, _>(messages::append),
        )
        .creates_space(CreatesSpace::If(messages::creates_session))
        .summary("Append one message or an array of them; answered once all are durable"),
        get("/v1/sessions/{id}/context", query(context::window))
            .summary("The content of a prompt within a budget; with the role read, always a peek"),
        post("/v1/sessions/{id}/compact", body(context::compact))
            .model(ModelUse::Always)
            .summary("Summarise older messages; no message is removed"),
        get("/v1/sessions/{id}/summaries", plain(summaries::list))
            .summary("Every summary of a session, by the messages they cover"),
        get("/v1/sessions/{id}/expand", query(summaries::expand_within)).summary(
            "The messages that a summary covers, a range of messages, or one, within a lineage",
        ),
        put("/v1/sessions/{id}/history", messages_body::<history::NewHistory, _, _>(history::set))
            .summary(
                "Make a session show exactly these messages, or its newest; the rest is hidden",
            ),
        get("/v1/sessions/{id}/summary", plain(history::summary))
            .summary("The summary of a session, as one text"),
        put("/v1/sessions/{id}/summary", body(history::set_summary))
            .summary("Write a summary by hand before a session's windows; an empty one clears it"),
        get("/v1/sessions/{id}/pins", plain(pins::list))
            .summary("The messages that every window of a session shows"),
        put("/v1/sessions/{id}/pins/{message}", action(pins::pin))
            .summary("Pin a message into every window of its session; returns all pins"),
        delete("/v1/sessions/{id}/pins/{message}", plain(pins::unpin))
            .role(TokenRole::Write)
            .summary("Unpin a message; returns all pins"),
        get("/v1/summaries/{id}", query(summaries::show))
            .summary("A summary: its text, what it covers, its parents and its children"),
        get("/v1/summaries/{id}/expand", query(summaries::expand))
            .summary("The messages that a summary covers, as many as fit"),
        get("/v1/messages/{id}", query(messages::show)).summary(
            "One message; with `session`, only if it belongs to the lineage of that session",
        ),
        post("/v1/search", body(search::search)).role(TokenRole::Read).summary("Search messages"),
        post("/v1/session-search", body(search::sessions))
            .role(TokenRole::Read)
            .model(ModelUse::If(search::wants_digests))
            .summary("Find conversations, scroll in one, read one, or list recent ones"),
        post("/v1/packs", body(packs::make))
            .role(TokenRole::Read)
            .summary("Make a pack for a prompt"),
        get("/v1/packs", query(packs::list)).summary("Packs of the last 30 days, newest first"),
        get("/v1/why", query(packs::why))
            .summary("What a session was shown last, or a pack, and where each line came from"),
        get("/v1/packs/{id}", plain(packs::show)).summary("A pack again, for 30 days"),
        get("/v1/events", stream::<EventsRequest>(Run::Events, Schemas::answer::<Change>))
            .summary("Changes in the space, as server-sent events"),
        get("/v1/capture", plain(capture::status))
            .summary("Which projects are captured, and whether capture is paused"),
        put("/v1/capture/projects", body(capture::choose))
            .role(TokenRole::Admin)
            .summary("Choose whether new turns of a project, or of all others, are captured"),
        post("/v1/capture/pause", body(capture::pause))
            .role(TokenRole::Admin)
            .summary("Pause capture, until a time or until it is resumed"),
        post("/v1/capture/resume", action(capture::resume))
            .role(TokenRole::Admin)
            .summary("Resume capture"),
        get("/v1/jobs", query(jobs::list)).summary("Background work, newest first"),
        post("/v1/jobs/run", action(jobs::run)).summary("Run due jobs, for a few seconds at most"),
        get("/v1/tokens", query(tokens::list))
            .role(TokenRole::Admin)
            .summary("Tokens of the space, newest first"),
        post("/v1/tokens", body(tokens::create))
            .creates_space(CreatesSpace::Always)
            .role(TokenRole::Admin)
            .statuses(&[201])
            .summary("Create a token; only this answer contains its text"),
        delete("/v1/tokens/{id}", plain(tokens::revoke)).summary("Revoke a token"),
        get("/v1/spaces", plain(spaces::list))
            .summary("Spaces of the store; with a token, only the space that it opens"),
        get("/v1/stats", plain(stats::stats)).summary("Counts and sizes of the space"),
        get("/v1/stats/memory", query(stats::memory))
            .summary("What packs gave, what became of their lines, and which memories are muted"),
        get("/v1/activity", query(stats::activity)).summary("Messages per day"),
        get("/v1/latency", plain(stats::latency))
            .summary("Search latency of the last hour, minute by minute"),
        post("/v1/backup", body(stats::backup))
            .role(TokenRole::Admin)
            .statuses(&[201])
            .summary("Copy the space into a new file in the server's folder of backups"),
        get("/v1/export", stream::<ExportRequest>(Run::Export, Schemas::answer::<String>))
            .summary("Everything as JSONL: sessions with their messages, memories, operations and state; a selection has sessions only"),
        get("/v1/memories", query(memories::list)).summary("Memories by filters, newest first"),
        post("/v1/memories", body(memories::remember))
            .creates_space(CreatesSpace::Always)
            .statuses(&[200, 201])
            .summary("Remember a statement, or add evidence to the memory that states it"),
        post("/v1/memories/forget", body(memories::forget_many))
            .summary("Forget what rests on a session, a source or a participant"),
        post("/v1/memories/review", body(memories::review))
            .summary("Promote or reject every candidate that the filters select"),
        get("/v1/memories/{id}", query(memories::show)).summary("A memory with its sources"),
        patch("/v1/memories/{id}", body(memories::edit))
            .summary("Change a memory: given fields are overwritten, null removes a value"),
        post("/v1/memories/{id}/promote", body(memories::promote))
            .summary("Make a candidate active; for people"),
        post("/v1/memories/{id}/reject", body(memories::reject))
            .summary("Make a candidate invalid"),
        post("/v1/memories/{id}/supersede", body(memories::supersede))
            .summary("Replace a memory by a new statement or by another memory; for people"),
        post("/v1/memories/{id}/unmute", body(memories::unmute))
            .summary("Let packs show a muted memory again, in one project or in all"),
        post("/v1/memories/{id}/reinforce", body(memories::reinforce))
            .summary("Record that an answer rests on an active memory"),
        post("/v1/memories/{id}/confirm", body(memories::confirm))
            .summary("Confirm an active memory; for people"),
        post("/v1/memories/{id}/forget", body(memories::forget))
            .summary("Make a memory invalid; it is kept, and no longer believed"),
        post("/v1/memories/{id}/merge", body(memories::merge))
            .summary("Merge a memory into another, which gets its sources; for people"),
        get("/v1/memories/{id}/history", plain(memories::history))
            .summary("Every operation on a memory, oldest first"),
        get("/v1/memories/{id}/why", query(memories::why))
            .summary("Why a memory is believed: quotes, messages, operations"),
        post("/v1/interactions", body(interactions::capture))
            .statuses(&[201])
            .summary("Store a prompt with its response; reinforce memories, extract candidates"),
        get("/v1/interactions", query(interactions::list))
            .summary("Interactions without their responses, newest first"),
        get("/v1/interactions/{id}", plain(interactions::show)).summary("One interaction"),
        post("/v1/interactions/{id}/reinforce", plain(interactions::reinforce))
            .summary("Reinforce the memories that its response rests on"),
        post("/v1/interactions/{id}/extract", plain(interactions::extract))
            .summary("Extract candidates from it"),
        post("/v1/extract", body(interactions::learn))
            .summary("Learn from messages that were not read yet, or from one session"),
        get("/v1/operations", query(operations::list))
            .summary("Recorded changes of memories, projects and state, newest first"),
        post("/v1/operations/{id}/undo", body(operations::undo))
            .summary("Undo an operation, or every operation of a group"),
        get("/v1/notes", query(notes::list)).summary("Notes without their texts, by name"),
        get("/v1/notes/{name}", plain(notes::show))
            .summary("A note; the header ETag changes with its text"),
        put("/v1/notes/{name}", body(notes::write))
            .creates_space(CreatesSpace::Always)
            .summary("Write a note; with If-Match or `base`, what others changed since is kept"),
        delete("/v1/notes/{name}", query(notes::delete))
            .role(TokenRole::Write)
            .summary("Delete a note; its history stays, and it can be restored"),
        post("/v1/notes/{name}/edits", body(notes::edit))
            .creates_space(CreatesSpace::Always)
            .summary("Add, replace and remove entries of a note; all or none"),
        get("/v1/notes/{name}/blame", plain(notes::blame))
            .summary("The lines of a note, each with who wrote it and when"),
        get("/v1/mounts", plain(mounts::list))
            .summary("Mounted folders, after their files and the notes were brought into sync"),
        post("/v1/mounts", body(mounts::mount))
            .role(TokenRole::Admin)
            .creates_space(CreatesSpace::Always)
            .summary("Mount a folder of this host: its files and the notes are kept in sync; for people"),
        delete("/v1/mounts", query(mounts::unmount))
            .role(TokenRole::Admin)
            .summary("Unmount a folder; its files stay; for people"),
        post("/v1/mounts/sync", plain(mounts::sync))
            .summary("Bring mounted files and notes into sync now"),
        get("/v1/prompt", query(notes::prompt))
            .summary("The notes for a prompt, with how full they are; the same for a revision"),
        get("/v1/revisions", query(notes::revisions))
            .summary("Revisions of the notes, newest first"),
        get("/v1/revisions/{id}", query(notes::revision))
            .summary("A revision with what it changed"),
        post("/v1/revisions/{id}/restore", body(notes::restore))
            .summary("Set the notes to what they were after a revision"),
        post("/v1/revisions/{id}/undo", body(notes::undo))
            .summary("Undo one revision, and keep what was changed later"),
        get("/v1/diff", query(notes::diff)).summary("The difference between two revisions"),
        post("/v1/dreams", body(dreams::run))
            .summary("Dream: now, or if it is due when a heartbeat or a schedule asks"),
        get("/v1/dreams", query(dreams::list)).summary("Dreams, newest first"),
        get("/v1/dreams/status", plain(dreams::status))
            .summary("Whether the space dreams, when next, and what was last"),
        put("/v1/dreams/schedule", body(dreams::schedule))
            .summary("Set whether and when the space dreams by itself"),
        get("/v1/dreams/candidates", query(dreams::candidates))
            .summary("Claims that dreams decide about, the best first"),
        get("/v1/dreams/candidates/{id}", plain(dreams::candidate))
            .summary("What was decided about a candidate, and what it is missing"),
        get("/v1/dreams/{id}", plain(dreams::show)).summary("A dream with its decisions"),
        get("/v1/dreams/{id}/replay", plain(dreams::replay))
            .summary("Decide again what a dream decided, and compare"),
        post("/v1/dreams/{id}/undo", body(dreams::undo))
            .summary("Undo a whole dream, and keep what was changed later"),
        post("/v1/distrusts", body(memories::distrust))
            .summary("Stop trusting a source, and judge again what rests on it; for people"),
        get("/v1/projects", plain(projects::list)).summary("Registered projects, by name"),
        post("/v1/projects", body(projects::register))
            .creates_space(CreatesSpace::Always)
            .summary("Register a project, or add aliases and a folder; for people"),
        get("/v1/projects/{name}/state", query(projects::state))
            .summary("Facts of a project, by name"),
        post("/v1/projects/{name}/state", body(projects::set_state))
            .creates_space(CreatesSpace::Always)
            .summary("Set a fact of a project; for people"),
        post("/v1/projects/{name}/state/end", body(projects::end_state))
            .summary("End a fact of a project; for people"),
        post("/v1/erasures", body(erasures::erase))
            .role(TokenRole::Admin)
            .summary("Erase a session, a message or a memory without a trace, and verify it"),
        post("/v1/prune", body(sessions::prune))
            .role(TokenRole::Admin)
            .summary("Delete ended sessions by age and filters"),
    ]
});
