"""What Oneiro answers, as dataclasses. Messages are plain dicts, as they were handed in."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, Generic, TypeVar

from oneiro.times import from_micros, from_text

__all__ = [
    "Appended",
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
    "Usage",
    "Window",
]

#: A message: the dict that was appended, with ``id``, ``session_id`` and ``at`` (an aware
#: datetime), and ``visibility`` when it is compacted or rewound.
Message = dict[str, Any]

T = TypeVar("T")


def _known(cls: type[Any], answer: dict[str, Any]) -> dict[str, Any]:
    names = {known.name for known in fields(cls)}
    return {name: value for name, value in answer.items() if name in names}


def message_from(native: dict[str, Any]) -> Message:
    """A message whose time is a datetime."""
    native["at"] = from_micros(native["at"])
    return native


@dataclass(slots=True)
class Page(Generic[T]):
    """One page of a list, and where the next begins."""

    items: list[T]
    next: str | None


@dataclass(slots=True)
class Session:
    """A conversation."""

    id: str
    source: str
    started_at: datetime
    last_active_at: datetime
    user_id: str | None = None
    model: str | None = None
    model_config: Any = None
    system_prompt: str | None = None
    parent_id: str | None = None
    lineage: str | None = None
    title: str | None = None
    project: str | None = None
    cwd: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    ended_at: datetime | None = None
    end_reason: str | None = None
    archived: bool = False
    message_count: int = 0
    tool_call_count: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    api_call_count: int = 0
    estimated_cost_usd: float = 0.0
    actual_cost_usd: float = 0.0
    rewind_count: int = 0
    preview: str | None = None
    root_id: str | None = None

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Session:
        for name in ("started_at", "last_active_at", "ended_at"):
            if native[name] is not None:
                native[name] = from_micros(native[name])
        return cls(**_known(cls, native))


@dataclass(slots=True)
class Appended:
    """The answer to an append."""

    ids: list[int]
    duplicates: int = 0
    skipped: int = 0
    repaired: int = 0
    withheld: int = 0

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Appended:
        return cls(**_known(cls, native))


@dataclass(slots=True)
class Rewound:
    """The answer to a rewind."""

    rewound: int
    target: Message
    head: int | None


@dataclass(slots=True)
class Deleted:
    """What a delete took with it."""

    sessions: list[str]
    orphaned: list[str]
    messages: int


@dataclass(slots=True)
class Pruned:
    """What a prune took with it, or would."""

    dry_run: bool
    sessions: list[str]
    orphaned: list[str]
    messages: int


@dataclass(slots=True)
class Usage:
    """One account of a session: what a model, a route and a task have used."""

    model: str
    provider: str
    base_url: str
    billing_mode: str
    task: str
    api_calls: int
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    reasoning_tokens: int
    estimated_cost_usd: float
    actual_cost_usd: float
    first_at: datetime
    last_at: datetime

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Usage:
        native["first_at"] = from_text(native["first_at"])
        native["last_at"] = from_text(native["last_at"])
        return cls(**_known(cls, native))


@dataclass(slots=True)
class Neighbour:
    """A message near a hit."""

    id: int
    role: str
    at: datetime
    text: str
    name: str | None = None

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Neighbour:
        native["at"] = from_text(native["at"])
        return cls(**_known(cls, native))


@dataclass(slots=True)
class Hit:
    """Something found. ``highlights`` are pairs of places in ``snippet``, in characters."""

    kind: str
    id: int
    session_id: str
    score: float
    tier: str
    snippet: str
    highlights: list[tuple[int, int]]
    at: datetime
    role: str
    name: str | None = None
    external_id: str | None = None
    neighbours: list[Neighbour] = field(default_factory=list)
    trace: dict[str, Any] | None = None

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Hit:
        native["at"] = from_text(native["at"])
        native["highlights"] = [(first, last) for first, last in native["highlights"]]
        native["neighbours"] = [Neighbour._from(near) for near in native.get("neighbours", ())]
        return cls(**_known(cls, native))

    def marked(self, before: str = "**", after: str = "**") -> str:
        """The snippet with what met the query between marks."""
        out, done = [], 0
        for first, last in self.highlights:
            out += [self.snippet[done:first], before, self.snippet[first:last], after]
            done = last
        return "".join([*out, self.snippet[done:]])


@dataclass(slots=True)
class Found:
    """The answer to a search: ``tier`` tells how strictly the first hit was found."""

    tier: str | None
    hits: list[Hit]
    next: str | None = None
    note: str | None = None

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Found:
        native["hits"] = [Hit._from(hit) for hit in native["hits"]]
        return cls(**_known(cls, native))


@dataclass(slots=True)
class Conversation:
    """A conversation that was found, as a session search shows it."""

    session: dict[str, Any]
    hit: Hit | None
    window: list[dict[str, Any]]
    before: int
    after: int
    opening: list[dict[str, Any]]
    closing: list[dict[str, Any]]
    root_id: str | None = None
    titled: bool = False
    digest: dict[str, Any] | None = None

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Conversation:
        if native["hit"] is not None:
            native["hit"] = Hit._from(native["hit"])
        return cls(**_known(cls, native))


@dataclass(slots=True)
class Omitted:
    """What a window leaves out, and why."""

    messages: int = 0
    tokens: int = 0
    first: int | None = None
    last: int | None = None
    shortened: list[int] = field(default_factory=list)
    pending: list[int] = field(default_factory=list)
    unpaired: list[int] = field(default_factory=list)
    reason: str | None = None


@dataclass(slots=True)
class Window:
    """The assembled prompt for a budget."""

    messages: list[dict[str, Any]]
    tokens: int
    budget: int
    summaries: list[str]
    omitted: Omitted
    prefix_hash: str
    reserve: int = 0
    system: str | None = None
    text: str | None = None
    over_budget: int | None = None
    broke: dict[str, Any] | None = None
    items: list[dict[str, Any]] | None = None

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Window:
        native["omitted"] = Omitted(**_known(Omitted, native["omitted"]))
        return cls(**_known(cls, native))


@dataclass(slots=True)
class Compacted:
    """What a compaction did, and why it went no further."""

    created: list[str]
    tokens_before: int
    tokens_after: int
    stopped: str
    redone: list[str] = field(default_factory=list)

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Compacted:
        return cls(**_known(cls, native))


@dataclass(slots=True)
class Expanded:
    """The exact messages under something, and where to go on."""

    messages: list[Message]
    tokens: int
    next: str | None


@dataclass(slots=True)
class Summary:
    """A node of the summary DAG."""

    id: str
    session_id: str
    kind: str
    depth: int
    level: str
    content: str
    tokens: int
    source_tokens: int
    message_count: int
    message_tokens: int
    model: str | None = None
    first_message: int | None = None
    last_message: int | None = None
    earliest_at: datetime | None = None
    latest_at: datetime | None = None
    created_at: datetime | None = None
    parents: list[str] = field(default_factory=list)
    children: list[str] = field(default_factory=list)
    in_context: bool = False

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Summary:
        for name in ("earliest_at", "latest_at", "created_at"):
            if isinstance(native.get(name), str):
                native[name] = from_text(native[name])
        return cls(**_known(cls, native))


@dataclass(slots=True)
class Job:
    """A piece of background work."""

    id: str
    kind: str
    state: str
    attempts: int
    next_run_at: datetime
    lease_until: datetime | None = None
    last_error: str | None = None
    #: What it cannot be done without: ``model`` or ``embedder``.
    needs: str | None = None

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Job:
        for name in ("next_run_at", "lease_until"):
            if isinstance(native.get(name), str):
                native[name] = from_text(native[name])
        return cls(**_known(cls, native))


@dataclass(slots=True)
class Imported:
    """What an import brought."""

    sessions: int
    messages: int
    skipped: int = 0
    duplicates: int = 0
    detached: int = 0

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Imported:
        return cls(**_known(cls, native))
