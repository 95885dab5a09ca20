"""Requests as the native half takes them. A field that is absent, or None where None clears
nothing, has its default; a time is whole microseconds since the epoch, or text.

Made of the contract by `cargo run -p xtask`.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict

__all__ = [
    "BranchRequest",
    "CompactRequest",
    "DeleteRequest",
    "Ending",
    "ExpandAnywhere",
    "Grep",
    "ListSessions",
    "NewSession",
    "NewUsage",
    "OpenRequest",
    "PageOf",
    "PageRequest",
    "PauseRequest",
    "ProjectChoice",
    "PruneRequest",
    "RestoreRequest",
    "RewindRequest",
    "SearchRequest",
    "SessionPatch",
    "SessionSearchRequest",
    "SessionTimes",
    "SplitRequest",
    "WindowRequest",
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


class DeleteRequest(TypedDict, total=False):
    """Which sessions to delete."""

    #: Delegates under them lose their parent instead of going with it.
    keep_delegates: bool | None
    #: Only those that have ended.
    only_ended: bool | None
    #: Only those without a message, a title or a child.
    only_empty: bool | None


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
    #: Only working directories that begin so.
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
    #: Only ids that begin so.
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


class RestoreRequest(TypedDict, total=False):
    """What to bring back."""

    #: What every rewind hid, not only the latest.
    all: bool | None


class RewindRequest(TypedDict, total=False):
    """How far to rewind: to a message, or by turns."""

    #: The user message to take back, with everything after it.
    to: int | str | None
    #: How many user turns to take back.
    turns: int | None


class _SearchRequestRequired(TypedDict):
    #: The query, in the query language.
    query: str


class SearchRequest(_SearchRequestRequired, total=False):
    """What to search for, and among what."""

    #: What to search: messages by default. Summaries come first and fill at most half of a page.
    kinds: list[Literal["message", "summary"]] | None
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
    #: Only in sessions of this project.
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
    #: Tell why each hit ranked where it did.
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


class SplitRequest(TypedDict, total=False):
    """How a session is split."""

    #: The id of the continuation; one is made when absent.
    id: str | None
    #: Compact the context to this many tokens first; when absent, as far as it is worth it.
    until: int | None


class WindowRequest(TypedDict, total=False):
    """What a window is asked to be."""

    #: The most tokens the prompt may have.
    budget: int | None
    #: Of these, tokens kept free for the answer and for whatever the caller adds.
    reserve: int | None
    #: For which provider it is written.
    format: Literal["openai", "anthropic", "text"] | None
    #: Tell of every item why it is in or out.
    explain: bool | None
    #: Only look: prepare no summaries, and leave no mark for the next window.
    peek: bool | None
