"""Requests as the native half takes them. A field that is absent, or None where None clears
nothing, has its default; a time is whole microseconds since the epoch, or text.

Made of the contract by `cargo run -p xtask`.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict

__all__ = [
    "BranchRequest",
    "CompactRequest",
    "DeleteNote",
    "DeleteRequest",
    "DiffNotes",
    "DistrustRequest",
    "DreamRequest",
    "EditNote",
    "EndState",
    "Ending",
    "ExpandAnywhere",
    "ExtractRequest",
    "ForgetRequest",
    "Grep",
    "ListCandidates",
    "ListInteractions",
    "ListMemories",
    "ListNotes",
    "ListOperations",
    "ListPacks",
    "ListRevisions",
    "ListSessions",
    "ListState",
    "MemoryPatch",
    "MemoryStatsRequest",
    "MergeRequest",
    "MountNotes",
    "NewInteraction",
    "NewMemory",
    "NewSession",
    "NewUsage",
    "NotePromptRequest",
    "OpenRequest",
    "PackRequest",
    "PageOf",
    "PageRequest",
    "PauseRequest",
    "ProjectChoice",
    "ProjectRequest",
    "PruneRequest",
    "ReasonRequest",
    "ReinforceRequest",
    "RestoreNotes",
    "RestoreRequest",
    "ReviewRequest",
    "RewindRequest",
    "ScheduleDreams",
    "SearchRequest",
    "SessionPatch",
    "SessionSearchRequest",
    "SessionTimes",
    "ShowMemory",
    "ShowRevision",
    "SplitRequest",
    "StateRequest",
    "SupersedeRequest",
    "UndoDream",
    "UnmountNotes",
    "UnmuteRequest",
    "WhyPackRequest",
    "WhyRequest",
    "WindowRequest",
    "WriteNote",
]


class BranchRequest(TypedDict, total=False):
    """What a branch shares, and what it is called."""

    #: The last message that the branch shares; the whole conversation when absent.
    at: int | str | None
    #: The id of the branch; one is made when absent.
    id: str | None
    #: Its title.
    title: str | None


class CompactRequest(TypedDict, total=False):
    """How far to compact."""

    #: Prepare summaries until a window of this many tokens leaves nothing uncovered.
    until: int | None
    #: Have summaries that are extracts written again by the model.
    redo: bool | None


class DeleteNote(TypedDict, total=False):
    """How a note is deleted. It can be restored."""

    #: The ``etag`` of the text that was read; another text is not deleted.
    base: str | None
    #: What the revision says about itself.
    message: str | None


class DeleteRequest(TypedDict, total=False):
    """Which sessions to delete."""

    #: Delegates under them lose their parent instead of going with it.
    keep_delegates: bool | None
    #: Only those that have ended.
    only_ended: bool | None
    #: Only those without a message, a title or a child.
    only_empty: bool | None


class DiffNotes(TypedDict, total=False):
    """Two revisions to compare."""

    #: The older revision, by its id or a unique prefix; the one before ``new`` when absent.
    old: str | None
    #: The newer revision; the newest when absent.
    new: str | None
    #: Only this note.
    note: str | None
    #: Show changed words instead of changed lines.
    words: bool | None


class DistrustRequest(TypedDict, total=False):
    """What is no longer trusted."""

    #: A message.
    message: int | str | None
    #: A session.
    session: str | None
    #: A source of sessions.
    source: str | None
    #: List what would change, and change nothing.
    dry_run: bool | None
    #: Why.
    reason: str | None


class DreamRequest(TypedDict, total=False):
    """A request to dream."""

    #: What starts it: ``manual`` runs now, the others if it is due.
    trigger: Literal["manual", "heartbeat", "cron"] | None
    #: What the host said with its heartbeat.
    body: str | None
    #: The thresholds; core by default, or those of the space's mode if it is due.
    preset: Literal["core", "deep", "rem", "custom"] | None
    #: Whether to change anything; by default yes if somebody asks for it, otherwise as the setting
    #: ``dream_apply`` says.
    apply: bool | None


class _EditNoteRequired(TypedDict):
    #: The edits, one after the other.
    edits: list[dict[str, Any]]


class EditNote(_EditNoteRequired, total=False):
    """Edits of a note, all or none."""

    #: How entries are written if the note does not show it; as list items when absent.
    style: Literal["list", "delimited"] | None
    #: What the revision says about itself.
    message: str | None


class _EndStateRequired(TypedDict):
    #: Its name in the project.
    key: str


class EndState(_EndStateRequired, total=False):
    """The fact to end."""

    #: Why.
    reason: str | None


class Ending(TypedDict, total=False):
    """The end of a session."""

    #: Why it ended.
    reason: str | None
    #: When; now when absent.
    at: int | str | None
    #: Which end that the session has already this one takes the place of: ``nothing``,
    #: ``anything``, or a list of reasons.
    over: Any


class _ExpandAnywhereRequired(TypedDict):
    #: A summary (sum_...), a message (1234, monday#3) or a range of messages (1234-1300,
    #: monday#3-7).
    id: str


class ExpandAnywhere(_ExpandAnywhereRequired, total=False):
    """What to expand, wherever it is."""

    #: Look within the lineage of this session; without it in all of the space, where that is
    #: allowed.
    session: str | None
    #: The most tokens to answer; a message that is larger comes alone.
    tokens: int | None
    #: The ``next`` of the answer before.
    cursor: str | None


class ExtractRequest(TypedDict, total=False):
    """What to learn from."""

    #: Only messages of this session, whether or not they were read before.
    session: str | None


class ForgetRequest(TypedDict, total=False):
    """The sources whose memories are forgotten."""

    #: Memories that cite this session.
    session: str | None
    #: Memories that cite sessions of this source.
    source: str | None
    #: Memories about this person or thing, and those that cite sessions of this person.
    participant: str | None
    #: List them, and change nothing.
    dry_run: bool | None
    #: Why.
    reason: str | None


class _GrepRequired(TypedDict):
    #: Words, or ``/a regular expression/``.
    pattern: str


class Grep(_GrepRequired, total=False):
    """What to look for in messages and summaries."""

    #: Look within the lineage of this session; without it in all of the space, where that is
    #: allowed.
    session: str | None
    #: Look into messages.
    messages: bool | None
    #: Look into summaries.
    summaries: bool | None
    #: Only messages of these roles; of all when empty.
    roles: list[str] | None
    #: Only in sessions of this project.
    project: str | None
    #: Only what was said at this time or later.
    since: int | str | None
    #: Only what was said before this time; a date includes that day.
    until: int | str | None
    #: Maximum number of hits of each kind.
    limit: int | None


class ListCandidates(TypedDict, total=False):
    """Which candidates to list, the best first."""

    #: Only with this decision.
    decision: Literal["promoted", "merged", "superseded", "retired", "waiting", "rejected"] | None
    #: Only about this person or thing.
    subject: str | None
    #: Only of this project.
    project: str | None
    #: Maximum number of candidates.
    limit: int | None
    #: The ``next`` of the page before.
    cursor: str | None


class ListInteractions(TypedDict, total=False):
    """Which interactions to list, newest first."""

    #: Only this project, by name or alias.
    project: str | None
    #: Only this session.
    session: str | None
    #: Only this client.
    client: str | None
    #: Only at this time or later.
    since: int | str | None
    #: Maximum number; more than 500 counts as 500.
    limit: int | None


class ListMemories(TypedDict, total=False):
    """Which memories to list; every filter must hold."""

    #: Only this status. The review queue is ``candidate``.
    status: Literal["candidate", "active", "superseded", "invalid"] | None
    #: Only this kind.
    kind: Literal["identity", "preference", "project", "episodic", "knowledge", "adaptation"] | None
    #: Only this project, by name or alias.
    project: str | None
    #: Only this subject.
    subject: str | None
    #: Only with this tag.
    tag: str | None
    #: Only statements with all these words.
    text: str | None
    #: Only those that a contradiction suspends.
    suspended: bool | None
    #: Only those created at or after this time.
    since: int | str | None
    #: Only those that held at this time. Without ``status``, superseded memories are included.
    at: int | str | None
    #: What was recorded at this time, as it was then.
    known_at: int | str | None
    #: Maximum number of memories.
    limit: int | None
    #: The ``next`` of the page before.
    cursor: str | None


class ListNotes(TypedDict, total=False):
    """Which notes to list."""

    #: Only notes whose name starts with this, such as ``memory/``.
    prefix: str | None


class ListOperations(TypedDict, total=False):
    """Which operations to list; every filter must hold."""

    #: Only by this kind of actor.
    actor: Literal["person", "agent", "job", "dream", "import", "file"] | None
    #: Only this kind, such as ``memory.promote``.
    kind: str | None
    #: Only operations on this kind of thing.
    subject_kind: Literal["session", "memory", "project", "state", "distrust", "note", "dream"] | None
    #: Only this memory, project or state.
    subject: str | None
    #: Only this group.
    group: str | None
    #: Only at or after this time.
    since: int | str | None
    #: Only before this time.
    until: int | str | None
    #: Maximum number of operations.
    limit: int | None
    #: The ``next`` of the page before.
    cursor: str | None


class ListPacks(TypedDict, total=False):
    """Which packs to list, newest first."""

    #: Only of this session.
    session: str | None
    #: Only of this project, by name, alias or folder.
    project: str | None
    #: Maximum number; more than 500 counts as 500.
    limit: int | None


class ListRevisions(TypedDict, total=False):
    """Which revisions to list; every filter must hold."""

    #: Only by this kind of author.
    author_kind: Literal["person", "agent", "job", "dream", "import", "file"] | None
    #: Only revisions that changed this note.
    note: str | None
    #: Only revisions whose message, or a text that they wrote, contains this.
    text: str | None
    #: Only at or after this time.
    since: int | str | None
    #: Only before this time.
    until: int | str | None
    #: Maximum number of revisions.
    limit: int | None
    #: The ``next`` of the page before.
    cursor: str | None


class ListSessions(TypedDict, total=False):
    """Which sessions to list."""

    #: Maximum number of sessions.
    limit: int | None
    #: The ``next`` of the page before.
    cursor: str | None
    #: Every session; otherwise conversations: chains shown as their tip, delegates left out.
    all: bool | None
    #: Only this source.
    source: str | None
    #: Not these sources.
    exclude_sources: list[str] | None
    #: Only this project.
    project: str | None
    #: Only this person.
    user_id: str | None
    #: Only children of this session.
    parent_id: str | None
    #: Only working directories with this prefix.
    cwd_prefix: str | None
    #: Only sessions with at least this many messages.
    min_messages: int | None
    #: Archived sessions only (``true``), without them (``false``), or all (``any``).
    archived: Literal["true", "false", "any"] | None
    #: Only sessions that ended, or only those that did not.
    ended: bool | None
    #: Active at or after this time.
    since: int | str | None
    #: Active before this time; a date includes that day.
    until: int | str | None
    #: Id or title contains this, whatever the case and punctuation.
    matching: str | None
    #: The order, newest first.
    order: Literal["active", "started"] | None
    #: Only ids with this prefix.
    id_prefix: str | None
    #: Only sessions that began at or after this time.
    started_since: int | str | None
    #: Only sessions that began before this time; a date includes that day.
    started_until: int | str | None
    #: Only sessions whose metadata has these values; null means unset.
    metadata_is: dict[str, Any] | None
    #: Only sessions whose metadata has these keys.
    has_metadata: list[str] | None
    #: With their system prompts.
    with_prompts: bool | None
    #: Without delegates; with ``all``, everything else is listed.
    without_delegates: bool | None


class ListState(TypedDict, total=False):
    """Which facts of a project to list."""

    #: Only this name.
    key: str | None
    #: Include facts that no longer hold.
    history: bool | None


class MemoryPatch(TypedDict, total=False):
    """A change of a memory: what is given overwrites, null removes a value."""

    #: A new statement.
    content: str | None
    #: A new kind.
    kind: Literal["identity", "preference", "project", "episodic", "knowledge", "adaptation"] | None
    #: A new status.
    status: Literal["candidate", "active", "superseded", "invalid"] | None
    #: A new subject.
    subject: str | None
    #: A new project.
    project: str | None
    #: New tags, instead of the old ones.
    tags: list[str] | None
    #: A new start of its validity.
    valid_from: int | str | None
    #: A new end of its validity.
    valid_until: int | str | None
    #: Why.
    reason: str | None


class MemoryStatsRequest(TypedDict, total=False):
    """Which packs to measure."""

    #: Number of days until now.
    days: int | None
    #: Only packs of this project, by name, alias or folder.
    project: str | None


class _MergeRequestRequired(TypedDict):
    #: The memory that stays, and gets the sources and tags of the other.
    into: str


class MergeRequest(_MergeRequestRequired, total=False):
    """The memory that another is merged into."""

    #: Why.
    reason: str | None


class _MountNotesRequired(TypedDict):
    #: Absolute path of an existing folder on the host of the store's process.
    path: str


class MountNotes(_MountNotesRequired, total=False):
    """A folder to mount."""

    #: Which of its files are notes.
    layout: Literal["plain", "hermes", "nanobot", "openclaw"] | None


class _NewInteractionRequired(TypedDict):
    #: What was asked.
    prompt: str


class NewInteraction(_NewInteractionRequired, total=False):
    """An interaction to store."""

    #: What was answered.
    response: str | None
    #: A summary of the response.
    response_summary: str | None
    #: The pack that was shown.
    pack_id: str | None
    #: Memories that the response used.
    memories_used: list[str] | None
    #: Chunks that the response used.
    chunks_used: list[str] | None
    #: The program that reports it.
    client: str | None
    #: Its session.
    session_id: str | None
    #: Its project, by name or alias.
    project: str | None
    #: Whether memories that the response rests on are reinforced.
    reinforce: bool | None
    #: Whether statements in it become candidates.
    extract: bool | None


class _NewMemoryRequired(TypedDict):
    #: The statement: one fact, with absolute dates.
    content: str


class NewMemory(_NewMemoryRequired, total=False):
    """A memory to create."""

    #: What it is about; knowledge by default.
    kind: Literal["identity", "preference", "project", "episodic", "knowledge", "adaptation"] | None
    #: The person or thing it is about. Identities and preferences are about ``user`` by default.
    subject: str | None
    #: The status it starts with, for people; agents may give ``candidate``.
    status: Literal["candidate", "active", "superseded", "invalid"] | None
    #: The project it belongs to, by name or alias; all projects when absent.
    project: str | None
    #: Tags.
    tags: list[str] | None
    #: When it starts to hold.
    valid_from: int | str | None
    #: When it stops holding.
    valid_until: int | str | None
    #: How certain it is; 1 from a person, 0.7 from anyone else by default.
    confidence: float | None
    #: A trust below the one that its sources give it.
    trust: Literal["external", "tool", "agent", "system", "owner"] | None
    #: The user's exact words that it rests on. They are looked up in the captured messages.
    quote: str | None
    #: The session of the quote; the newest messages of all sessions are searched when absent.
    session: str | None
    #: The message of the quote.
    message: int | str | None
    #: A memory that this one corrects.
    replaces: str | None
    #: Why it is created.
    reason: str | None


class NewSession(TypedDict, total=False):
    """A session to create. Where one with this id exists, only what is unset is filled in."""

    #: The caller's id; one is made when absent.
    id: str | None
    #: Where the conversation happens (cli, telegram, cron ...); never changed later.
    source: str | None
    #: Who the agent talks to.
    user_id: str | None
    #: The model.
    model: str | None
    #: Settings of the model.
    model_config: Any
    #: The system prompt, stored once however many sessions share it.
    system_prompt: str | None
    #: The session this one descends from.
    parent_id: str | None
    #: How it descends; a child of a compressed session continues it, any other branches.
    lineage: Literal["continuation", "branch", "delegate", "reset"] | None
    #: A title, unique in the space, of at most 100 characters once runs of spaces and control
    #: characters are one space.
    title: str | None
    #: The project it belongs to.
    project: str | None
    #: The working directory.
    cwd: str | None
    #: Anything else the host knows; each key is filled only where unset.
    metadata: dict[str, Any] | None
    #: When it began; now when absent.
    started_at: int | str | None
    #: Leave a continuation without a title; it takes its parent's with the next number otherwise.
    untitled: bool | None


class NewUsage(TypedDict, total=False):
    """What to add to an account of a session."""

    #: The model.
    model: str | None
    #: Who bills.
    provider: str | None
    #: The provider's address.
    base_url: str | None
    #: How it bills (api, subscription ...).
    billing_mode: str | None
    #: What the tokens were for; empty for the conversation itself.
    task: str | None
    #: Calls of the model.
    api_calls: int | None
    #: Input tokens.
    input_tokens: int | None
    #: Output tokens.
    output_tokens: int | None
    #: Input tokens read from the provider's cache.
    cache_read_tokens: int | None
    #: Input tokens written to the provider's cache.
    cache_write_tokens: int | None
    #: Tokens spent on reasoning.
    reasoning_tokens: int | None
    #: Estimated cost in US dollars.
    estimated_cost_usd: float | None
    #: Cost by the provider's account in US dollars.
    actual_cost_usd: float | None


class NotePromptRequest(TypedDict, total=False):
    """Which text goes into a prompt."""

    #: As of this revision: the answer stays the same, whatever is changed later.
    revision: str | None


class OpenRequest(TypedDict, total=False):
    """How a host opens a space."""

    #: The space; the default one when absent.
    space: str | None
    #: The target is one file, whatever it is called.
    file: bool | None
    #: What an acknowledged write survives.
    durability: Literal["full", "normal"] | None
    #: How long a writer waits for other processes, in milliseconds.
    busy_timeout_ms: int | None
    #: How many reads may run at once.
    readers: int | None
    #: Refuse to create a store that does not exist.
    must_exist: bool | None
    #: Do background work while the space is open.
    jobs: bool | None
    #: The model that writes summaries.
    llm: dict[str, Any] | None
    #: The model that makes vectors.
    embedder: dict[str, Any] | None


class PackRequest(TypedDict, total=False):
    """What to make a pack for."""

    #: The prompt. Without one, the pack is for the start of a task: the state of the project, the
    #: person, and the newest memories of the project.
    prompt: str | None
    #: The project, by name, alias or folder: only what belongs to it, or to none, is shown.
    project: str | None
    #: The session that asks. Its own messages are left out.
    session: str | None
    #: The program that asks.
    client: str | None
    #: Maximum number of tokens of the text.
    budget: int | None
    #: The moment it is asked for; now when absent.
    at: int | str | None
    #: Leave out lines that this session was shown already.
    new_only: bool | None


class PageOf(TypedDict, total=False):
    """A page of a list that is asked for by place alone."""

    #: Maximum number of items.
    limit: int | None
    #: The ``next`` of the page before.
    cursor: str | None


class PageRequest(TypedDict, total=False):
    """Which messages of a session to read."""

    #: Only messages after this id.
    after: int | None
    #: Include compacted and rewound messages.
    hidden: bool | None
    #: Maximum number of messages.
    limit: int | None


class PauseRequest(TypedDict, total=False):
    """A pause to begin now."""

    #: When capture resumes by itself; only on request when absent.
    until: int | str | None


class _ProjectChoiceRequired(TypedDict):
    #: Whether its new turns are captured.
    capture: Literal["on", "off", "excluded"]


class ProjectChoice(_ProjectChoiceRequired, total=False):
    """A choice for one project, or for every project without a choice of its own."""

    #: The working folder of the project, absolute. ``on`` and ``off`` are for this folder alone,
    #: ``excluded`` also for the folders below it. When absent, the choice is for every project
    #: without one of its own.
    folder: str | None


class _ProjectRequestRequired(TypedDict):
    #: Its name. If a project has it, that project is changed.
    name: str


class ProjectRequest(_ProjectRequestRequired, total=False):
    """A project to register or to change."""

    #: Aliases to add.
    aliases: list[str] | None
    #: Its folder, absolute.
    root: str | None


class _PruneRequestRequired(TypedDict):
    #: Ended before this moment.
    ended_before: int | str


class PruneRequest(_PruneRequestRequired, total=False):
    """Which ended sessions to prune; every filter must hold."""

    #: Only this source.
    source: str | None
    #: Only this project.
    project: str | None
    #: Only this person.
    user_id: str | None
    #: Only models whose name contains this.
    model: str | None
    #: Only titles that contain this.
    title: str | None
    #: Only this end reason.
    end_reason: str | None
    #: Only sessions with at least this many messages.
    min_messages: int | None
    #: Only sessions with at most this many messages.
    max_messages: int | None
    #: Archived ones only (true), none of them (false), or both (absent).
    archived: bool | None
    #: List what would go, and remove nothing.
    dry_run: bool | None


class ReasonRequest(TypedDict, total=False):
    """Why a change is made."""

    #: Why.
    reason: str | None


class ReinforceRequest(TypedDict, total=False):
    """A signal to record."""

    #: The question whose answer rests on the memory. The same question counts once a day.
    query: str | None


class RestoreNotes(TypedDict, total=False):
    """What is restored to a revision."""

    #: Only this note; all of them when absent.
    note: str | None
    #: What the new revision says about itself.
    message: str | None


class RestoreRequest(TypedDict, total=False):
    """What to bring back."""

    #: Restore everything that rewinds have hidden, not only the latest.
    all: bool | None


class _ReviewRequestRequired(TypedDict):
    #: The decision.
    action: Literal["promote", "reject"]


class ReviewRequest(_ReviewRequestRequired, total=False):
    """A decision about every candidate that the filters select."""

    #: Only this kind.
    kind: Literal["identity", "preference", "project", "episodic", "knowledge", "adaptation"] | None
    #: Only this project, by name or alias.
    project: str | None
    #: Only this subject.
    subject: str | None
    #: Only with this tag.
    tag: str | None
    #: Only statements with all these words.
    text: str | None
    #: List them, and change nothing.
    dry_run: bool | None
    #: Why.
    reason: str | None


class RewindRequest(TypedDict, total=False):
    """How far to rewind: to a message, or by turns."""

    #: The user message to take back, with everything after it.
    to: int | str | None
    #: How many user turns to take back.
    turns: int | None


class ScheduleDreams(TypedDict, total=False):
    """A change of the schedule."""

    #: Whether and how often to dream.
    mode: Literal["off", "core", "deep", "rem"] | None
    #: Whether dreams by schedule change anything.
    apply: bool | None
    #: A cron expression in place of the mode's.
    cron: str | None
    #: The time zone of the schedule.
    timezone: str | None


class _SearchRequestRequired(TypedDict):
    #: The query, in the query language.
    query: str


class SearchRequest(_SearchRequestRequired, total=False):
    """What to search for, and among what."""

    #: What to search: messages by default. Summaries come first and fill at most half of a page;
    #: memories, entries of notes and messages are ranked together.
    kinds: list[Literal["message", "summary", "memory", "note"]] | None
    #: Include superseded and suspended memories, which do not hold now.
    history: bool | None
    #: Only memories that held at this time.
    at: int | str | None
    #: Memories as they were recorded at this time.
    known_at: int | str | None
    #: The session that the search is made for: memories that it finds are recorded as recalled by
    #: the last message of its user.
    for_session: str | None
    #: Only in this session.
    session: str | None
    #: Only in this session and others of its lineage.
    lineage: str | None
    #: Only in sessions of these sources; in all when empty.
    sources: list[str] | None
    #: Not in sessions of these sources.
    exclude_sources: list[str] | None
    #: Only messages of these roles; of all when empty.
    roles: list[str] | None
    #: Only in sessions of this project; of memories, those of this project and of none.
    project: str | None
    #: Only what was said at this time or later.
    since: int | str | None
    #: Only what was said before this time; a date includes that day.
    until: int | str | None
    #: Not in this session, nor in any other of its lineage.
    exclude_lineage: str | None
    #: At most one hit of each lineage: its best.
    one_per_lineage: bool | None
    #: The order of hits.
    sort: Literal["relevance", "newest", "oldest"] | None
    #: Maximum number of hits.
    limit: int | None
    #: The ``next`` of the page before.
    cursor: str | None
    #: Messages to show before and after each hit.
    neighbours: int | None
    #: Explain the rank of each hit.
    explain: bool | None
    #: Sessions of these sources rank below all others.
    demote_sources: list[str] | None
    #: Only what meets the whole query, ranked by its words alone: what callers of a plain full-text
    #: index expect.
    exact: bool | None


class SessionPatch(TypedDict, total=False):
    """A change of a session: what is given overwrites, null takes a value away."""

    #: A new title of at most 100 characters, once runs of spaces and control characters are one
    #: space.
    title: str | None
    #: Set the title only if there is none.
    title_if_unset: bool | None
    #: Archive or unarchive the whole chain.
    archived: bool | None
    #: A new model.
    model: str | None
    #: New settings of the model.
    model_config: Any
    #: A new system prompt.
    system_prompt: str | None
    #: A new project.
    project: str | None
    #: A new working directory.
    cwd: str | None
    #: Keys to set in the metadata; null removes one.
    metadata: dict[str, Any] | None
    #: Who the agent talks to.
    user_id: str | None
    #: How it descends from the parent it has.
    lineage: Literal["continuation", "branch", "delegate", "reset"] | None
    #: Where it takes place from now on; only hosts that learn it late say so.
    source: str | None
    #: Change nothing unless these keys of the metadata have these values; null means unset.
    metadata_is: dict[str, Any] | None


class SessionSearchRequest(TypedDict, total=False):
    """A search for conversations, told apart by what is given: a query discovers, a session with a
    message scrolls, a session alone is read, nothing at all browses what was active lately."""

    #: What to search for, in the query language.
    query: str | None
    #: The session to read or to scroll in: an id, a unique prefix, or a title.
    session: str | None
    #: The message to scroll around: its id, or its place in the session.
    around: int | str | None
    #: Messages to each side of the hit or of the message asked for; 5 by default.
    window: int | None
    #: Maximum number of conversations, 3 by default and 10 at most; when browsing, 10 and 100.
    limit: int | None
    #: Leave out this session and its lineage: what an agent has before it already.
    exclude_lineage: str | None
    #: The order of conversations.
    sort: Literal["relevance", "newest", "oldest"] | None
    #: Only hits of these roles; of people and agents when empty.
    roles: list[str] | None
    #: Only in sessions of these sources.
    sources: list[str] | None
    #: Not in sessions of these sources.
    exclude_sources: list[str] | None
    #: Only in sessions of this project.
    project: str | None
    #: Condense each conversation around the query.
    summarise: bool | None


class SessionTimes(TypedDict, total=False):
    """What a host knows better about when a session began and ended, and what it descends from;
    what is absent stays."""

    #: When it began.
    started_at: int | str | None
    #: When it ended; null means that it has not.
    ended_at: int | str | None
    #: Why it ended, where ``ended_at`` is given.
    end_reason: str | None
    #: What it descends from; null means nothing. Every walk along parents ends, even where a host
    #: has made a circle of them.
    parent_id: str | None
    #: How it descends, where ``parent_id`` is given.
    lineage: Literal["continuation", "branch", "delegate", "reset"] | None


class ShowMemory(TypedDict, total=False):
    """A moment at which a memory is looked at."""

    #: As it was recorded at this time.
    known_at: int | str | None
    #: Explain its confidence, and list what it relates to.
    explain: bool | None


class ShowRevision(TypedDict, total=False):
    """How the change of a revision is shown."""

    #: Show changed words instead of changed lines.
    words: bool | None


class SplitRequest(TypedDict, total=False):
    """How a session is split."""

    #: The id of the continuation; one is made when absent.
    id: str | None
    #: Compact the context to this many tokens first; when absent, as far as it is worth it.
    until: int | None


class _StateRequestRequired(TypedDict):
    #: Its name in the project. A fact with this name is superseded.
    key: str
    #: The value.
    value: str


class StateRequest(_StateRequestRequired, total=False):
    """A fact to set."""

    #: What it is; ``fact`` when absent.
    kind: Literal["status", "decision", "requirement", "contact", "milestone", "fact", "config"] | None
    #: Since when it holds; now when absent.
    since: int | str | None
    #: Why.
    reason: str | None


class SupersedeRequest(TypedDict, total=False):
    """What replaces a memory: a new statement, or a memory that exists."""

    #: The new statement. Kind, subject, project and tags are those of the old one.
    content: str | None
    #: The memory that replaces it.
    by: str | None
    #: When the old one stopped holding and the new one started; now when absent.
    since: int | str | None
    #: Why.
    reason: str | None


class UndoDream(TypedDict, total=False):
    """How to undo a dream."""

    #: Undo everything or nothing. Otherwise what cannot be undone is left and reported.
    strict: bool | None
    #: Why.
    reason: str | None


class _UnmountNotesRequired(TypedDict):
    #: The path of the folder as mounted, or the id of the mount.
    path: str


class UnmountNotes(_UnmountNotesRequired, total=False):
    """The folder to unmount. Its files stay."""



class UnmuteRequest(TypedDict, total=False):
    """Where a memory is shown again."""

    #: Only in this project, by name, alias or folder; in every project when absent.
    project: str | None


class WhyPackRequest(TypedDict, total=False):
    """Which pack to explain: one by its id, else the last one with lines."""

    #: The pack.
    pack: str | None
    #: The last one of this session.
    session: str | None
    #: The last one of this project, by name, alias or folder.
    project: str | None


class WhyRequest(TypedDict, total=False):
    """A moment at which a memory is explained."""

    #: As it was recorded at this time.
    known_at: int | str | None


class WindowRequest(TypedDict, total=False):
    """What a window is asked to be."""

    #: The most tokens the prompt may have.
    budget: int | None
    #: Of these, tokens kept free for the answer and for whatever the caller adds.
    reserve: int | None
    #: For which provider it is written.
    format: Literal["openai", "anthropic", "text"] | None
    #: Explain each item: why it is in or out.
    explain: bool | None
    #: Only look: prepare no summaries, and leave no mark for the next window.
    peek: bool | None


class _WriteNoteRequired(TypedDict):
    #: The text.
    content: str


class WriteNote(_WriteNoteRequired, total=False):
    """The whole text of a note."""

    #: The ``etag`` of the text that this one is based on. What others changed since is kept, or the
    #: answer is a conflict. Without it, the note is overwritten.
    base: str | None
    #: What the revision says about itself.
    message: str | None
