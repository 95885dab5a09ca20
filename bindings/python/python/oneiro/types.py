"""What Oneiro answers, as dataclasses. Messages are plain dicts, as they were handed in.

Made of the contract by `cargo run -p xtask`; what it cannot say is in `parts.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from oneiro.parts import Marked, Message, Page, known, message_from, moments

__all__ = [
    "Appended",
    "CapturePause",
    "CaptureProject",
    "CaptureStatus",
    "Compacted",
    "Conversation",
    "Deleted",
    "Expanded",
    "Found",
    "Hit",
    "Imported",
    "Job",
    "Message",
    "Neighbour",
    "Omitted",
    "Page",
    "Pruned",
    "Rewound",
    "Session",
    "Summary",
    "SummaryHit",
    "Usage",
    "Window",
    "message_from",
]


@dataclass(slots=True)
class Appended:
    """The answer to an append."""

    #: The id of each message handed in, in order; a duplicate answers with the id it has.
    ids: list[int] = field(default_factory=list)
    #: How many were there already.
    duplicates: int = 0
    #: How many were not stored because the session's id matches an ignore or stateless pattern.
    skipped: int = 0
    #: How many lone surrogates were replaced.
    repaired: int = 0
    #: How many ``<private>`` spans were withheld.
    withheld: int = 0

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Appended:
        return cls(**known(cls, native))


@dataclass(slots=True)
class CapturePause:
    """A time in which nothing is captured."""

    #: When it began.
    started_at: datetime
    #: When it ended or ends by itself; null until somebody resumes.
    ended_at: datetime | None = None

    @classmethod
    def _from(cls, native: dict[str, Any]) -> CapturePause:
        moments(native, ["started_at", "ended_at"])
        return cls(**known(cls, native))


@dataclass(slots=True)
class CaptureProject:
    """The choice that was made for a project."""

    #: The working folder of the project, with links resolved.
    folder: str
    #: Whether its new turns are captured.
    capture: str
    #: When that was chosen. Transcripts that were last written to before are not read.
    chosen_at: datetime

    @classmethod
    def _from(cls, native: dict[str, Any]) -> CaptureProject:
        moments(native, ["chosen_at"])
        return cls(**known(cls, native))


@dataclass(slots=True)
class CaptureStatus:
    """What is captured."""

    #: The pause that holds now, if any.
    pause: CapturePause | None = None
    #: The choice for projects without one of their own; null when nobody chose, and then only hooks
    #: capture them.
    other_projects: str | None = None
    #: The choices for projects, by folder.
    projects: list[CaptureProject] = field(default_factory=list)

    @classmethod
    def _from(cls, native: dict[str, Any]) -> CaptureStatus:
        if native.get("pause") is not None:
            native["pause"] = CapturePause._from(native["pause"])
        if native.get("projects") is not None:
            native["projects"] = [CaptureProject._from(one) for one in native["projects"]]
        return cls(**known(cls, native))


@dataclass(slots=True)
class Compacted:
    """What a compaction did."""

    #: The summaries it made, in order.
    created: list[str]
    #: Tokens of a prompt with every message in full.
    tokens_before: int
    #: Tokens of the window of ``until`` tokens; without ``until`` those of the shortest form, with
    #: summaries in place of all messages that have one.
    tokens_after: int
    #: Why it went no further.
    stopped: str
    #: The summaries it had written anew.
    redone: list[str] = field(default_factory=list)

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Compacted:
        return cls(**known(cls, native))


@dataclass(slots=True)
class Conversation:
    """A conversation that was found."""

    #: The session that holds the hit, without its system prompt.
    session: dict[str, Any]
    #: The hit; none when only the title has the words.
    hit: Hit | None = None
    #: What was said around it, itself included; empty without a hit.
    window: list[dict[str, Any]] = field(default_factory=list)
    #: Messages of the session before the window.
    before: int = 0
    #: Messages of the session after the window.
    after: int = 0
    #: How the session opened, as far as the window does not show it.
    opening: list[dict[str, Any]] = field(default_factory=list)
    #: How the session ended, as far as the window does not show it.
    closing: list[dict[str, Any]] = field(default_factory=list)
    #: Where the conversation began, when that is another session.
    root_id: str | None = None
    #: Whether it comes first because its title has every word of the query.
    titled: bool = False
    #: The conversation condensed around the query, if that was asked for.
    digest: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Conversation:
        if native.get("hit") is not None:
            native["hit"] = Hit._from(native["hit"])
        return cls(**known(cls, native))


@dataclass(slots=True)
class Deleted:
    """The answer to a delete."""

    #: The sessions that are gone: the one named and the delegates under it.
    sessions: list[str] = field(default_factory=list)
    #: Sessions that lost their parent.
    orphaned: list[str] = field(default_factory=list)
    #: How many messages went with them.
    messages: int = 0

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Deleted:
        return cls(**known(cls, native))


@dataclass(slots=True)
class Expanded:
    """The exact messages under something."""

    #: They, in the order they came.
    messages: list[Message] = field(default_factory=list)
    #: Their tokens.
    tokens: int = 0
    #: Where to go on.
    next: str | None = None

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Expanded:
        if native.get("messages") is not None:
            native["messages"] = [message_from(one) for one in native["messages"]]
        return cls(**known(cls, native))


@dataclass(slots=True)
class Found:
    """The answer to a search, messages and summaries apart."""

    #: How strictly the first hit was found; null without hits.
    tier: str | None = None
    #: Messages that were found, in order.
    hits: list[Hit] = field(default_factory=list)
    #: Where the next page begins.
    next: str | None = None
    #: What the answer leaves out, when it could not look at everything.
    note: str | None = None
    #: Summaries that were found, in order.
    summaries: list[SummaryHit] = field(default_factory=list)

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Found:
        if native.get("hits") is not None:
            native["hits"] = [Hit._from(one) for one in native["hits"]]
        if native.get("summaries") is not None:
            native["summaries"] = [SummaryHit._from(one) for one in native["summaries"]]
        return cls(**known(cls, native))


@dataclass(slots=True)
class Hit(Marked):
    """Something found."""

    #: What it is.
    kind: str
    #: The message.
    id: int
    #: Its session.
    session_id: str
    #: How good it is; only comparable within one answer.
    score: float
    #: How strictly it was found.
    tier: str
    #: The part of its text that matters, as it was said.
    snippet: str
    #: What in the snippet met the query: first character and the one after the last.
    highlights: list[tuple[int, int]]
    #: When it was said.
    at: datetime
    #: Who spoke.
    role: str
    #: The project of its session.
    project: str | None = None
    #: The caller's id of the message.
    external_id: str | None = None
    #: The speaker's name.
    name: str | None = None
    #: What was said before and after it in its session.
    neighbours: list[Neighbour] = field(default_factory=list)
    #: Why it ranked where it did.
    trace: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Hit:
        moments(native, ["at"])
        native["highlights"] = [(one[0], one[1]) for one in native["highlights"]]
        if native.get("neighbours") is not None:
            native["neighbours"] = [Neighbour._from(one) for one in native["neighbours"]]
        return cls(**known(cls, native))


@dataclass(slots=True)
class Imported:
    """The answer to an import."""

    #: Sessions created.
    sessions: int = 0
    #: Messages created.
    messages: int = 0
    #: Sessions that were there already, left as they are, or that an ignore pattern matches.
    skipped: int = 0
    #: Messages left out because their external id was there already in the same session.
    duplicates: int = 0
    #: Sessions whose parent is missing or would be their own descendant.
    detached: int = 0

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Imported:
        return cls(**known(cls, native))


@dataclass(slots=True)
class Job:
    """A stored job."""

    #: Its id.
    id: str
    #: What it does.
    kind: str
    #: Where it stands.
    state: str
    #: How often it was begun.
    attempts: int
    #: When it runs next.
    next_run_at: datetime
    #: With what it works.
    payload: Any = None
    #: Until when its holder may work on it.
    lease_until: datetime | None = None
    #: Why the last attempt failed.
    last_error: str | None = None
    #: What it cannot be done without.
    needs: str | None = None

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Job:
        moments(native, ["next_run_at", "lease_until"])
        return cls(**known(cls, native))


@dataclass(slots=True)
class Neighbour:
    """A message near a hit."""

    #: The message.
    id: int
    #: Who spoke.
    role: str
    #: When it was said.
    at: datetime
    #: The beginning of its text.
    text: str
    #: The speaker's name.
    name: str | None = None

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Neighbour:
        moments(native, ["at"])
        return cls(**known(cls, native))


@dataclass(slots=True)
class Omitted:
    """What a window leaves out."""

    #: Messages that are neither shown nor under a summary that is.
    messages: int = 0
    #: Their tokens.
    tokens: int = 0
    #: The first of them; the window names the range, and it can be expanded.
    first: int | None = None
    #: The last of them.
    last: int | None = None
    #: Messages that are shown in their short form.
    shortened: list[int] = field(default_factory=list)
    #: Calls whose results are not there yet, with what belongs to them.
    pending: list[int] = field(default_factory=list)
    #: Results of calls that are not there.
    unpaired: list[int] = field(default_factory=list)
    #: Why anything is left out.
    reason: str | None = None

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Omitted:
        return cls(**known(cls, native))


@dataclass(slots=True)
class Pruned:
    """The answer to a prune."""

    #: Whether nothing was removed.
    dry_run: bool = False
    #: The sessions that are gone: the one named and the delegates under it.
    sessions: list[str] = field(default_factory=list)
    #: Sessions that lost their parent.
    orphaned: list[str] = field(default_factory=list)
    #: How many messages went with them.
    messages: int = 0

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Pruned:
        return cls(**known(cls, native))


@dataclass(slots=True)
class Rewound:
    """The answer to a rewind."""

    #: How many messages were taken back.
    rewound: int
    #: The message that was rewound to, itself taken back, so that it can be said anew.
    target: Message
    #: The last message that is still there.
    head: int | None = None

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Rewound:
        native["target"] = message_from(native["target"])
        return cls(**known(cls, native))


@dataclass(slots=True)
class Session:
    """A stored session."""

    #: The caller's id.
    id: str
    #: Where the conversation happens.
    source: str
    #: When it began.
    started_at: datetime
    #: When something was last said.
    last_active_at: datetime
    #: Who the agent talks to.
    user_id: str | None = None
    #: The model.
    model: str | None = None
    #: Settings of the model.
    model_config: Any = None
    #: The system prompt; left out of lists.
    system_prompt: str | None = None
    #: The session this one descends from.
    parent_id: str | None = None
    #: How it descends.
    lineage: str | None = None
    #: Its title.
    title: str | None = None
    #: The project it belongs to.
    project: str | None = None
    #: The working directory.
    cwd: str | None = None
    #: Anything else the host knows.
    metadata: dict[str, Any] = field(default_factory=dict)
    #: When it ended.
    ended_at: datetime | None = None
    #: Why it ended.
    end_reason: str | None = None
    #: Whether it is put away.
    archived: bool = False
    #: Messages that are not rewound.
    message_count: int = 0
    #: Tool calls made in them.
    tool_call_count: int = 0
    #: Input tokens used.
    input_tokens: int = 0
    #: Output tokens used.
    output_tokens: int = 0
    #: Input tokens read from the provider's cache.
    cache_read_tokens: int = 0
    #: Input tokens written to the provider's cache.
    cache_write_tokens: int = 0
    #: Tokens spent on reasoning.
    reasoning_tokens: int = 0
    #: Calls of the model.
    api_call_count: int = 0
    #: What it cost by our estimate, in US dollars.
    estimated_cost_usd: float = 0.0
    #: What it cost by the provider's account, in US dollars.
    actual_cost_usd: float = 0.0
    #: How often it was rewound.
    rewind_count: int = 0
    #: The beginning of the first thing the person said.
    preview: str | None = None
    #: In a list of conversations, where the chain that ends in this session began.
    root_id: str | None = None

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Session:
        moments(native, ["started_at", "last_active_at", "ended_at"])
        return cls(**known(cls, native))


@dataclass(slots=True)
class Summary:
    """A node of the summary DAG."""

    #: Its id.
    id: str
    #: The session it belongs to.
    session_id: str
    #: What it covers.
    kind: str
    #: 0 for what covers messages; one more than the deepest it covers otherwise.
    depth: int
    #: How it was made.
    level: str
    #: The words.
    content: str
    #: What it costs in a window, markup included.
    tokens: int
    #: Tokens of what it covers directly.
    source_tokens: int
    #: How many messages are under it.
    message_count: int
    #: Tokens of the messages under it.
    message_tokens: int
    #: When the first of them was said.
    earliest_at: datetime
    #: When the last of them was said.
    latest_at: datetime
    #: When it was made.
    created_at: datetime
    #: The model that wrote it.
    model: str | None = None
    #: The first message under it.
    first_message: int | None = None
    #: The last message under it.
    last_message: int | None = None
    #: The summaries it covers.
    children: list[str] = field(default_factory=list)
    #: The summaries that cover it.
    parents: list[str] = field(default_factory=list)
    #: Whether it is a root: no other summary of its session covers it, but for overviews.
    in_context: bool = False

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Summary:
        moments(native, ["earliest_at", "latest_at", "created_at"])
        return cls(**known(cls, native))


@dataclass(slots=True)
class SummaryHit:
    """A summary that was found."""

    #: What it is.
    kind: str
    #: Its id.
    id: str
    #: Its session.
    session_id: str
    #: What it covers.
    summary_kind: str
    #: How deep it stands.
    depth: int
    #: How well it meets the pattern.
    score: float
    #: The part that shows why.
    snippet: str
    #: When the first of what it covers was said.
    earliest_at: datetime
    #: When the last of it was said.
    at: datetime
    #: The project of its session.
    project: str | None = None

    @classmethod
    def _from(cls, native: dict[str, Any]) -> SummaryHit:
        moments(native, ["earliest_at", "at"])
        return cls(**known(cls, native))


@dataclass(slots=True)
class Usage:
    """One account of a session."""

    #: The model, empty when unknown.
    model: str
    #: Who bills, empty when unknown.
    provider: str
    #: The provider's address, empty when unknown.
    base_url: str
    #: How it bills (api, subscription ...), empty when unknown.
    billing_mode: str
    #: What the tokens were for; empty for the conversation itself.
    task: str
    #: Calls of the model.
    api_calls: int
    #: Input tokens.
    input_tokens: int
    #: Output tokens.
    output_tokens: int
    #: Input tokens read from the provider's cache.
    cache_read_tokens: int
    #: Input tokens written to the provider's cache.
    cache_write_tokens: int
    #: Tokens spent on reasoning.
    reasoning_tokens: int
    #: Estimated cost in US dollars.
    estimated_cost_usd: float
    #: Cost by the provider's account in US dollars.
    actual_cost_usd: float
    #: First charged.
    first_at: datetime
    #: Last charged.
    last_at: datetime

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Usage:
        moments(native, ["first_at", "last_at"])
        return cls(**known(cls, native))


@dataclass(slots=True)
class Window:
    """The assembled content of a prompt."""

    #: The messages, as the provider takes them.
    messages: list[dict[str, Any]]
    #: What the window costs; the reserve is not in it.
    tokens: int
    #: The budget that was asked for.
    budget: int
    #: What of it was kept free.
    reserve: int
    #: The summaries it shows, oldest first.
    summaries: list[str]
    #: What it leaves out.
    omitted: Omitted
    #: Equal for two windows of a session when the later one begins with the earlier.
    prefix_hash: str
    #: The system text, where the provider takes it apart from the messages.
    system: str | None = None
    #: The whole window as text, for the format ``text``.
    text: str | None = None
    #: By how much the window is over its budget: its newest turn alone is larger.
    over_budget: int = 0
    #: Why the window does not begin with the one that was assembled before it, and what that costs.
    broke: dict[str, Any] = field(default_factory=dict)
    #: Every item, and why it is in or out.
    items: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Window:
        native["omitted"] = Omitted._from(native["omitted"])
        return cls(**known(cls, native))
