"""The handle: one space, opened. Every call releases the interpreter's lock while it works, and any
number of threads may share a handle; a forked child opens its own."""

from __future__ import annotations

import atexit
import os
import weakref
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from oneiro import _oneiro
from oneiro.errors import InvalidError
from oneiro.parts import ARCHIVED
from oneiro.times import Moment, to_micros
from oneiro.types import (
    Appended,
    BlameLine,
    CapturedInteraction,
    CaptureStatus,
    ChangedMemories,
    ChangedMemory,
    ChangedNote,
    Compacted,
    Conversation,
    Deleted,
    Dream,
    DreamCandidate,
    DreamDetail,
    DreamRun,
    DreamStatus,
    Expanded,
    ExplainedCandidate,
    ExplainedPack,
    Extracted,
    Found,
    GivenPack,
    Imported,
    Interaction,
    Job,
    Memory,
    MemoryHistory,
    MemoryStats,
    MemoryView,
    Message,
    Mount,
    Note,
    NoteInfo,
    NotePrompt,
    NotesDiff,
    Operation,
    Pack,
    Page,
    ProjectState,
    Pruned,
    RegisteredProject,
    Reinforced,
    ReinforcedMemory,
    Remembered,
    ReplayedDream,
    Revision,
    RevisionDetail,
    Rewound,
    Session,
    Summary,
    SyncedMount,
    Undone,
    UndoneDream,
    Usage,
    Why,
    Window,
    message_from,
)

__all__ = ["ModelServer", "Oneiro", "default_store", "open"]

Lineage = Literal["continuation", "branch", "delegate", "reset"]
Format = Literal["openai", "anthropic", "text"]
Sort = Literal["relevance", "newest", "oldest"]
MemoryKind = Literal["identity", "preference", "project", "episodic", "knowledge", "adaptation"]
MemoryStatus = Literal["candidate", "active", "superseded", "invalid"]

# What is still open when the interpreter ends is closed in order, before modules go.
_OPEN: weakref.WeakSet[Oneiro] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for handle in list(_OPEN):
        handle.close()


def default_store() -> Path | str:
    """Where the store is when nobody says: ``ONEIRO_STORE``, or the folder in the user's data
    directory that the command line uses as well."""
    told = os.environ.get("ONEIRO_STORE")
    if told:
        return told
    data = os.environ.get("XDG_DATA_HOME")
    base = Path(data) if data and os.path.isabs(data) else Path.home() / ".local" / "share"
    return base / "oneiro"


def open(
    store: str | os.PathLike[str] | None = None,
    *,
    space: str | None = None,
    durability: Literal["full", "normal"] = "full",
    busy_timeout: float | None = None,
    create: bool = True,
    jobs: bool = True,
    llm: ModelServer | None = None,
    embedder: ModelServer | None = None,
) -> Oneiro:
    """Opens a space.

    ``store`` is a folder of spaces, one file that ends in ``.db``, or ``postgres://...``; without
    it, the same store that the command line opens. A store that is not there is created, unless
    ``create`` is false. With ``jobs`` (the default) background work is done while the handle is
    open: indexing, compaction.

    ``llm`` writes summaries; without it they are extracts. ``embedder`` makes the vectors of a space
    whose setting ``embedder`` is ``openai``. Both are servers that speak the OpenAI protocol.

    >>> import oneiro, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with oneiro.open(folder.name) as memory:
    ...     session = memory.create_session("monday", source="cli")
    ...     said = memory.append("monday", [{"role": "user", "content": "tea is in the blue tin"}])
    ...     memory.search("blue tin").hits[0].snippet
    'tea is in the blue tin'
    """
    return Oneiro(
        store,
        space=space,
        durability=durability,
        busy_timeout=busy_timeout,
        create=create,
        jobs=jobs,
        llm=llm,
        embedder=embedder,
    )


@dataclass(frozen=True)
class ModelServer:
    """A model on a server that speaks the OpenAI protocol.

    >>> ModelServer("http://localhost:11434/v1", "llama3.2")
    ModelServer(url='http://localhost:11434/v1', model='llama3.2')
    """

    #: Up to and without ``/chat/completions`` or ``/embeddings``.
    url: str
    #: The name that the server knows the model by.
    model: str
    #: Sent as a bearer token, and never shown.
    key: str | None = field(default=None, repr=False)


def _given(**fields: Any) -> Any:
    """The fields of a request that are given."""
    return {name: value for name, value in fields.items() if value is not None}


def _moment(moment: Moment | None) -> int | str | None:
    return None if moment is None else to_micros(moment)


def _messages(messages: Any) -> list[dict[str, Any]]:
    if isinstance(messages, Mapping):
        return [_message(messages)]
    if isinstance(messages, (str, bytes)) or not isinstance(messages, Iterable):
        raise _no_message(messages)
    return [_message(one) for one in messages]


def _no_message(given: Any) -> InvalidError:
    return InvalidError(
        f"messages: a {type(given).__name__} is no message",
        field="messages",
        remedy='give a dict such as {"role": "user", "content": "..."}, or a list of them',
    )


def _message(message: Any) -> dict[str, Any]:
    if not isinstance(message, Mapping):
        raise _no_message(message)
    fields = dict(message)
    if fields.get("at") is not None:
        fields["at"] = to_micros(fields["at"])
    return fields


def _moments(fields: dict[str, Any], *names: str) -> Any:
    """The fields of a request, its moments as the store takes them."""
    for name in names:
        if fields.get(name) is not None:
            fields[name] = to_micros(fields[name], name)
    return fields


class Oneiro:
    """One space, opened; see :func:`oneiro.open`."""

    def __init__(
        self,
        store: str | os.PathLike[str] | None = None,
        *,
        space: str | None = None,
        durability: Literal["full", "normal"] = "full",
        busy_timeout: float | None = None,
        create: bool = True,
        jobs: bool = True,
        llm: ModelServer | None = None,
        embedder: ModelServer | None = None,
    ) -> None:
        target = os.fspath(default_store() if store is None else store)
        wait = None if busy_timeout is None else round(busy_timeout * 1000)
        if space is None:
            space = os.environ.get("ONEIRO_SPACE") or None
        options = _given(space=space, durability=durability, busy_timeout_ms=wait)
        options |= {"must_exist": not create, "jobs": jobs}
        options |= _given(
            llm=None if llm is None else asdict(llm),
            embedder=None if embedder is None else asdict(embedder),
        )
        self._native = _oneiro.Handle.open(target, options)
        _OPEN.add(self)

    # --- the handle itself --------------------------------------------------------------------

    @property
    def target(self) -> str:
        """Where the space is kept, without secrets."""
        return self._native.target()

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._native.closed()

    def close(self) -> None:
        """Lets go of the space. Calls under way in other threads are finished; later ones raise
        :class:`~oneiro.UnavailableError`. Closing twice does nothing."""
        _OPEN.discard(self)
        self._native.close()

    def __enter__(self) -> Oneiro:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<oneiro {self.target}{' (closed)' if self.closed else ''}>"

    # --- sessions -----------------------------------------------------------------------------

    def create_session(
        self,
        id: str | None = None,
        *,
        source: str | None = None,
        title: str | None = None,
        parent_id: str | None = None,
        lineage: Lineage | None = None,
        user_id: str | None = None,
        model: str | None = None,
        model_config: Any = None,
        system_prompt: str | None = None,
        project: str | None = None,
        cwd: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        started_at: Moment | None = None,
    ) -> Session:
        """Begins a session, or fills in what is unset of the one that has this id."""
        fields = _given(
            id=id,
            source=source,
            title=title,
            parent_id=parent_id,
            lineage=lineage,
            user_id=user_id,
            model=model,
            model_config=model_config,
            system_prompt=system_prompt,
            project=project,
            cwd=cwd,
            metadata=None if metadata is None else dict(metadata),
            started_at=started_at,
        )
        return Session._from(self._native.create_session(_moments(fields, "started_at")))

    def session(self, id: str) -> Session | None:
        """The session that has exactly this id, if there is one."""
        found = self._native.find_session(id)
        return None if found is None else Session._from(found)

    def resolve_session(self, text: str) -> str:
        """The id that a person means: an id, a beginning that only one id has, or a title."""
        return self._native.resolve_session(text)

    def list_sessions(
        self,
        *,
        all: bool = False,
        source: str | None = None,
        exclude_sources: Iterable[str] = (),
        project: str | None = None,
        user_id: str | None = None,
        parent_id: str | None = None,
        cwd_prefix: str | None = None,
        min_messages: int = 0,
        archived: bool | None = False,
        ended: bool | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        matching: str | None = None,
        order: Literal["active", "started"] = "active",
        limit: int = 20,
        cursor: str | None = None,
    ) -> Page[Session]:
        """A page of sessions, newest first. Without ``all``, conversations: chains are shown as
        their tip, delegates left out. ``archived`` None means both."""
        fields = _given(
            source=source,
            project=project,
            user_id=user_id,
            parent_id=parent_id,
            cwd_prefix=cwd_prefix,
            ended=ended,
            since=since,
            until=until,
            matching=matching,
            cursor=cursor,
        )
        fields |= {
            "all": all,
            "exclude_sources": list(exclude_sources),
            "min_messages": min_messages,
            "archived": ARCHIVED[archived],
            "order": order,
            "limit": limit,
        }
        page = self._native.list_sessions(_moments(fields, "since", "until"))
        return Page([Session._from(item) for item in page["items"]], page["next"])

    def sessions(self, **filters: Any) -> Iterator[Session]:
        """Every session that passes the filters of :meth:`list_sessions`, page by page."""
        filters.setdefault("limit", 200)
        while True:
            page = self.list_sessions(**filters)
            yield from page.items
            if page.next is None:
                return
            filters["cursor"] = page.next

    def change_session(self, id: str, **changes: Any) -> Session:
        """Changes a session: ``title`` (None takes it away), ``archived`` (its whole chain),
        ``model``, ``model_config``, ``system_prompt``, ``project``, ``cwd``, ``user_id``,
        ``lineage``, ``metadata`` (a None removes a key), ``title_if_unset``, and ``metadata_is``:
        change nothing unless the metadata is as given."""
        fields: Any = changes
        return Session._from(self._native.change_session(id, fields))

    def end_session(self, id: str, reason: str = "ended", *, at: Moment | None = None) -> Session:
        """Ends a session. The first reason wins."""
        fields = _moments(_given(reason=reason, at=at), "at")
        return Session._from(self._native.end_session(id, fields))

    def reopen_session(self, id: str) -> Session:
        """Takes back the end of a session."""
        return Session._from(self._native.reopen_session(id))

    def branch_session(
        self,
        id: str,
        *,
        at: int | str | None = None,
        new_id: str | None = None,
        title: str | None = None,
    ) -> Session:
        """A new session that begins with the conversation so far, up to message ``at``: an id, or a
        place such as ``"#3"``."""
        fields = _given(at=at, id=new_id, title=title)
        return Session._from(self._native.branch_session(id, fields))

    def split_session(
        self, id: str, *, new_id: str | None = None, until: int | None = None
    ) -> Session:
        """Ends a session for compression and begins its continuation, which carries its summaries."""
        return Session._from(self._native.split_session(id, _given(id=new_id, until=until)))

    def delete_session(self, id: str) -> Deleted:
        """Deletes a session and the delegates under it; other children lose their parent."""
        return Deleted._from(self._native.delete_session(id))

    def prune_sessions(self, *, ended_before: Moment, dry_run: bool = False, **filters: Any) -> Pruned:
        """Deletes ended sessions that nobody has written to since; filters are ``source``,
        ``project``, ``user_id``, ``model``, ``title``, ``end_reason``, ``min_messages``,
        ``max_messages`` and ``archived``."""
        fields = filters | {"ended_before": ended_before, "dry_run": dry_run}
        return Pruned._from(self._native.prune_sessions(_moments(fields, "ended_before")))

    def add_usage(
        self,
        id: str,
        *,
        model: str = "",
        provider: str = "",
        base_url: str = "",
        billing_mode: str = "",
        task: str = "",
        **used: float,
    ) -> Session:
        """Adds tokens and costs to an account of a session: ``api_calls``, ``input_tokens``,
        ``output_tokens``, ``cache_read_tokens``, ``cache_write_tokens``, ``reasoning_tokens``,
        ``estimated_cost_usd``, ``actual_cost_usd``. With a ``task`` the session's totals stay."""
        request = _given(
            model=model,
            provider=provider,
            base_url=base_url,
            billing_mode=billing_mode,
            task=task,
            **used,
        )
        return Session._from(self._native.add_usage(id, request))

    def usage(self, id: str) -> list[Usage]:
        """The accounts of a session."""
        return [Usage._from(row) for row in self._native.usage(id)]

    # --- messages -----------------------------------------------------------------------------

    def append(
        self,
        session: str,
        messages: Mapping[str, Any] | Iterable[Mapping[str, Any]],
        *,
        create: Mapping[str, Any] | None = None,
    ) -> Appended:
        """Appends messages (dicts as OpenAI writes them; anything else in them is kept). When this
        returns they are durable, all of them or none. A message with an ``external_id`` that the
        session knows already is answered with the id it has.

        With ``create`` (fields of :meth:`create_session`, or ``{}``) a session that is not there
        begins in the same transaction.

        Roles that no chat API defines are refused, and so are messages of ``user``, ``system`` and
        ``developer`` without any content.
        """
        fields = None if create is None else _moments(dict(create), "started_at")
        appended = self._native.append(session, _messages(messages), fields)
        return Appended._from(appended)

    def _append_kept(
        self, session: str, messages: Iterable[Mapping[str, Any]], create: Mapping[str, Any]
    ) -> Appended:
        """Appends messages as a host kept them, whatever their roles and content."""
        fields = _moments(dict(create), "started_at")
        return Appended._from(self._native.append_kept(session, _messages(messages), fields))

    def messages(
        self, session: str, *, hidden: bool = False, after: int = 0, limit: int | None = None
    ) -> list[Message]:
        """What a session shows, in the order it was said; with ``hidden``, compacted and rewound
        messages, too. ``after`` a message and ``limit`` page through a long one."""
        if limit is None and after == 0:
            return [message_from(one) for one in self._native.all_messages(session, hidden)]
        found: list[Message] = []
        place: int | None = after
        while place is not None and (limit is None or len(found) < limit):
            wanted = 1000 if limit is None else limit - len(found)
            page = self._native.messages(
                session, {"after": place, "hidden": hidden, "limit": wanted}
            )
            found += [message_from(one) for one in page["items"]]
            place = page["next_after"]
        return found

    def message(self, id: int | str) -> Message:
        """One message, by its id or its place in a session (``"monday#3"``), hidden or not."""
        return message_from(self._native.message(id))

    def rewind(
        self, session: str, to: int | str | None = None, *, turns: int | None = None
    ) -> Rewound:
        """Hides a user message (an id, or a place such as ``"#3"``), or this many user ``turns``,
        and everything after it. Nothing is lost: see :meth:`restore`."""
        return Rewound._from(self._native.rewind(session, _given(to=to, turns=turns)))

    def restore(self, session: str, *, all: bool = False) -> int:
        """Shows again what the latest rewind hid, or with ``all`` every rewind; how many messages."""
        return self._native.restore(session, {"all": all})

    def set_history(self, session: str, messages: Iterable[Mapping[str, Any]]) -> list[Message]:
        """Makes what a session shows be exactly these messages; what it showed is hidden, not lost."""
        shown = self._native.set_history(session, _messages(messages))
        return [message_from(one) for one in shown]

    def erase(self, what: str | int) -> dict[str, Any]:
        """Removes a session, or a message by its id or place (``"monday#3"``), for good, from every
        file, and proves it."""
        return self._native.erase(str(what))

    # --- search -------------------------------------------------------------------------------

    def search(
        self,
        query: str,
        *,
        kinds: Iterable[Literal["message", "summary", "memory"]] = (),
        roles: Iterable[str] = (),
        sources: Iterable[str] = (),
        exclude_sources: Iterable[str] = (),
        session: str | None = None,
        lineage: str | None = None,
        project: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        sort: Sort = "relevance",
        limit: int = 10,
        cursor: str | None = None,
        neighbours: int = 0,
        explain: bool = False,
    ) -> Found:
        """Finds messages: ordinary questions, ``"phrases"``, ``AND``/``OR``/``NOT``, ``pre*``. With
        ``kinds`` summaries, too, or instead of messages."""
        fields = _given(
            session=session, lineage=lineage, project=project, since=since, until=until, cursor=cursor
        )
        fields |= {
            "query": query,
            "kinds": list(kinds),
            "roles": list(roles),
            "sources": list(sources),
            "exclude_sources": list(exclude_sources),
            "sort": sort,
            "limit": limit,
            "neighbours": neighbours,
            "explain": explain,
        }
        return Found._from(self._native.search(_moments(fields, "since", "until")))

    def recall(
        self,
        query: str,
        *,
        messages: bool = True,
        project: str | None = None,
        history: bool = False,
        at: Moment | None = None,
        known_at: Moment | None = None,
        for_session: str | None = None,
        limit: int = 10,
        cursor: str | None = None,
        explain: bool = False,
    ) -> Found:
        """What is known about something: memories, notes and messages together, best first; only
        memories without ``messages``. Believed memories come before candidates; with ``history``
        those that no longer hold, too."""
        fields = _given(
            project=project, at=at, known_at=known_at, for_session=for_session, cursor=cursor
        )
        fields |= {
            "query": query,
            "kinds": ["memory", "note", "message"] if messages else ["memory"],
            "history": history,
            "limit": limit,
            "explain": explain,
        }
        return Found._from(self._native.search(_moments(fields, "at", "known_at")))

    def search_sessions(self, query: str, **options: Any) -> list[Conversation]:
        """The best hit of each conversation, with what was said around it. Options: ``limit``,
        ``sort``, ``roles``, ``sources``, ``exclude_sources``, ``exclude_lineage``, ``window``,
        ``summarise``."""
        found = self._native.search_sessions(_given(query=query, **options))
        return [Conversation._from(one) for one in found["conversations"]]

    # --- context ------------------------------------------------------------------------------

    def context(
        self,
        session: str,
        budget: int,
        *,
        reserve: int = 0,
        format: Format = "openai",
        explain: bool = False,
        peek: bool = False,
    ) -> Window:
        """The prompt for a budget of tokens: whole turns, with summaries in place of what does not
        fit. With ``peek`` only look: compact nothing."""
        request = _given(budget=budget, reserve=reserve, format=format, explain=explain, peek=peek)
        return Window._from(self._native.context(session, request))

    def compact(self, session: str, *, until: int | None = None, redo: bool = False) -> Compacted:
        """Covers old messages with summaries; every word stays, and :meth:`expand` gives it back."""
        return Compacted._from(self._native.compact(session, {"until": until, "redo": redo}))

    def expand(
        self,
        id: str | int,
        *,
        session: str | None = None,
        tokens: int | None = None,
        cursor: str | None = None,
    ) -> Expanded:
        """The exact messages under a summary (``"sum_..."``), a message (``12``,
        ``"monday#3"``), or a range (``"12-34"``, ``"monday#3-7"``)."""
        request = _given(id=str(id), session=session, tokens=tokens, cursor=cursor)
        return Expanded._from(self._native.expand(request))

    def grep(self, pattern: str, **options: Any) -> dict[str, Any]:
        """Words, or ``/a regular expression/``, in messages and summaries. Options: ``session``
        (it and its kin), ``messages``, ``summaries``, ``roles``, ``since``, ``until``, ``limit``."""
        return self._native.grep(_moments({"pattern": pattern, **options}, "since", "until"))

    def summaries(self, session: str) -> list[Summary]:
        """The summaries of a session."""
        return [Summary._from(node) for node in self._native.summaries(session)]

    def summary(self, id: str, *, session: str | None = None) -> Summary:
        """One summary, by its id or the beginning of it."""
        return Summary._from(self._native.summary(id, session))

    def session_summary(self, session: str) -> str:
        """The summary of a session as one text."""
        return self._native.session_summary(session)

    def set_summary(self, session: str, text: str) -> Summary | None:
        """Pins a summary to the beginning of a session's windows; empty text takes it away."""
        node = self._native.set_summary(session, text)
        return None if node is None else Summary._from(node)

    def pin(self, session: str, message: int | str) -> bool:
        """Keeps a message (an id, or a place such as ``"#3"``) in every window; whether it was not
        pinned before."""
        return self._native.pin(session, message)

    def unpin(self, session: str, message: int | str) -> bool:
        """Lets a pinned message go; whether it was pinned."""
        return self._native.unpin(session, message)

    def pins(self, session: str) -> list[Message]:
        """The pinned messages of a session."""
        return [message_from(one) for one in self._native.pins(session)]

    # --- capture ------------------------------------------------------------------------------

    def capture_status(self) -> CaptureStatus:
        """Which projects are captured, and whether capture is paused."""
        return CaptureStatus._from(self._native.capture_status())

    def include_project(self, folder: str | os.PathLike[str] | None = None) -> CaptureStatus:
        """Captures new turns of a project while ``oneiro serve`` or ``oneiro mcp`` runs; without a
        folder, those of every project without a choice of its own."""
        return self._choose_capture("on", folder)

    def exclude_project(self, folder: str | os.PathLike[str] | None = None) -> CaptureStatus:
        """Captures nothing in a folder and the folders below it; without a folder, nothing of
        projects without a choice of their own."""
        return self._choose_capture("off" if folder is None else "excluded", folder)

    def _choose_capture(
        self, capture: Literal["on", "off", "excluded"], folder: str | os.PathLike[str] | None
    ) -> CaptureStatus:
        name = None if folder is None else os.path.abspath(os.fspath(folder))
        return CaptureStatus._from(self._native.choose_capture(_given(folder=name, capture=capture)))

    def pause_capture(self, *, until: Moment | None = None) -> CaptureStatus:
        """Pauses capture in every process, until a time or until :meth:`resume_capture`."""
        moment = None if until is None else to_micros(until)
        return CaptureStatus._from(self._native.pause_capture(_given(until=moment)))

    def resume_capture(self) -> CaptureStatus:
        """Ends the pause."""
        return CaptureStatus._from(self._native.resume_capture())

    # --- memories -----------------------------------------------------------------------------

    def remember(
        self,
        content: str,
        *,
        kind: MemoryKind | None = None,
        subject: str | None = None,
        status: MemoryStatus | None = None,
        project: str | None = None,
        tags: Iterable[str] = (),
        valid_from: Moment | None = None,
        valid_until: Moment | None = None,
        confidence: float | None = None,
        trust: str | None = None,
        quote: str | None = None,
        session: str | None = None,
        message: str | int | None = None,
        replaces: str | None = None,
        reason: str | None = None,
    ) -> Remembered:
        """Stores a statement. It is active if a captured message of the user holds its ``quote``
        and nothing contradicts it; otherwise a candidate, which a person reviews."""
        request = _given(
            content=content,
            kind=kind,
            subject=subject,
            status=status,
            project=project,
            tags=list(tags) or None,
            valid_from=_moment(valid_from),
            valid_until=_moment(valid_until),
            confidence=confidence,
            trust=trust,
            quote=quote,
            session=session,
            message=message,
            replaces=replaces,
            reason=reason,
        )
        return Remembered._from(self._native.remember(request))

    def memories(
        self,
        *,
        status: MemoryStatus | None = None,
        kind: MemoryKind | None = None,
        project: str | None = None,
        subject: str | None = None,
        tag: str | None = None,
        text: str | None = None,
        suspended: bool = False,
        since: Moment | None = None,
        at: Moment | None = None,
        known_at: Moment | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Memory]:
        """Memories that match every filter, newest first. ``at`` is when they held, ``known_at``
        when they were recorded."""
        request = _given(
            status=status,
            kind=kind,
            project=project,
            subject=subject,
            tag=tag,
            text=text,
            suspended=suspended,
            since=_moment(since),
            at=_moment(at),
            known_at=_moment(known_at),
            limit=limit,
            cursor=cursor,
        )
        page = self._native.memories(request)
        return Page([Memory._from(one) for one in page["items"]], page["next"])

    def memory(
        self, id: str, *, explain: bool = False, known_at: Moment | None = None
    ) -> MemoryView:
        """A memory by its id or a unique prefix of it; with ``explain`` also how its confidence
        comes about, and what it relates to."""
        request = _given(explain=explain, known_at=_moment(known_at))
        return MemoryView._from(self._native.memory(id, request))

    def edit_memory(self, id: str, **fields: Any) -> ChangedMemory:
        """Changes fields of a memory: ``content``, ``kind``, ``status``, ``subject``, ``project``,
        ``tags``, ``valid_from``, ``valid_until``. None removes a value."""
        for name in ("valid_from", "valid_until"):
            if fields.get(name) is not None:
                fields[name] = to_micros(fields[name])
        patch: Any = fields
        return ChangedMemory._from(self._native.edit_memory(id, patch))

    def promote_memory(self, id: str, *, reason: str | None = None) -> ChangedMemory:
        """Makes a candidate active; for people."""
        return ChangedMemory._from(self._native.promote_memory(id, _given(reason=reason)))

    def reject_memory(self, id: str, *, reason: str | None = None) -> ChangedMemory:
        """Makes a candidate invalid."""
        return ChangedMemory._from(self._native.reject_memory(id, _given(reason=reason)))

    def confirm_memory(self, id: str, *, reason: str | None = None) -> ChangedMemory:
        """Confirms an active memory; for people."""
        return ChangedMemory._from(self._native.confirm_memory(id, _given(reason=reason)))

    def forget_memory(self, id: str, *, reason: str | None = None) -> ChangedMemory:
        """Makes a memory invalid; it is kept, and no longer believed."""
        return ChangedMemory._from(self._native.forget_memory(id, _given(reason=reason)))

    def forget_memories(
        self,
        *,
        session: str | None = None,
        source: str | None = None,
        participant: str | None = None,
        dry_run: bool = False,
        reason: str | None = None,
    ) -> ChangedMemories:
        """Forgets what rests on a session, a source or a participant."""
        request = _given(
            session=session, source=source, participant=participant, dry_run=dry_run, reason=reason
        )
        return ChangedMemories._from(self._native.forget_memories(request))

    def supersede_memory(
        self,
        id: str,
        content: str | None = None,
        *,
        by: str | None = None,
        since: Moment | None = None,
        reason: str | None = None,
    ) -> ChangedMemory:
        """Replaces a memory by a new statement or by another memory; for people."""
        request = _given(content=content, by=by, since=_moment(since), reason=reason)
        return ChangedMemory._from(self._native.supersede_memory(id, request))

    def merge_memory(self, id: str, into: str, *, reason: str | None = None) -> ChangedMemory:
        """Merges a memory into another, which gets its sources; for people."""
        return ChangedMemory._from(self._native.merge_memory(id, _given(into=into, reason=reason)))

    def reinforce_memory(self, id: str, *, query: str | None = None) -> Reinforced:
        """Records that an answer rests on an active memory."""
        return Reinforced._from(self._native.reinforce_memory(id, _given(query=query)))

    def review_memories(
        self,
        action: Literal["promote", "reject"],
        *,
        kind: MemoryKind | None = None,
        project: str | None = None,
        subject: str | None = None,
        tag: str | None = None,
        text: str | None = None,
        dry_run: bool = False,
        reason: str | None = None,
    ) -> ChangedMemories:
        """Promotes or rejects every candidate that the filters select."""
        request = _given(
            action=action,
            kind=kind,
            project=project,
            subject=subject,
            tag=tag,
            text=text,
            dry_run=dry_run,
            reason=reason,
        )
        return ChangedMemories._from(self._native.review_memories(request))

    def memory_history(self, id: str) -> MemoryHistory:
        """Every operation on a memory, oldest first."""
        return MemoryHistory._from(self._native.memory_history(id))

    def why(self, id: str, *, known_at: Moment | None = None) -> Why:
        """Why a memory is believed: a tree down to the messages it rests on."""
        return Why._from(self._native.why(id, _moments(_given(known_at=known_at), "known_at")))

    def capture(
        self,
        prompt: str,
        response: str | None = None,
        *,
        response_summary: str | None = None,
        pack_id: str | None = None,
        memories_used: Iterable[str] = (),
        chunks_used: Iterable[str] = (),
        client: str | None = None,
        session_id: str | None = None,
        project: str | None = None,
        reinforce: bool = True,
        extract: bool = False,
    ) -> CapturedInteraction:
        """Stores a prompt with its response. Memories that the response rests on are reinforced;
        with ``extract`` its statements become candidates."""
        fields = _given(
            response=response,
            response_summary=response_summary,
            pack_id=pack_id,
            client=client,
            session_id=session_id,
            project=project,
        )
        fields |= {
            "prompt": prompt,
            "memories_used": list(memories_used),
            "chunks_used": list(chunks_used),
            "reinforce": reinforce,
            "extract": extract,
        }
        return CapturedInteraction._from(self._native.capture_interaction(fields))

    def interactions(
        self,
        *,
        project: str | None = None,
        session: str | None = None,
        client: str | None = None,
        since: Moment | None = None,
        limit: int = 50,
    ) -> list[Interaction]:
        """Interactions without their responses, newest first."""
        fields = _given(project=project, session=session, client=client, since=since, limit=limit)
        found = self._native.interactions(_moments(fields, "since"))
        return [Interaction._from(one) for one in found]

    def interaction(self, id: str) -> Interaction:
        """One interaction."""
        return Interaction._from(self._native.interaction(id))

    def reinforce_interaction(self, id: str) -> list[ReinforcedMemory]:
        """Reinforces the memories that the response of an interaction rests on."""
        return [ReinforcedMemory._from(one) for one in self._native.reinforce_interaction(id)]

    def extract_interaction(self, id: str) -> list[str]:
        """Extracts candidates from an interaction; answers their ids."""
        return self._native.extract_interaction(id)

    def extract(self, session: str | None = None) -> Extracted:
        """Learns from messages that were not read yet, or from all messages of one session."""
        return Extracted._from(self._native.extract(_given(session=session)))

    def operations(
        self,
        *,
        actor: str | None = None,
        kind: str | None = None,
        subject_kind: str | None = None,
        subject: str | None = None,
        group: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Operation]:
        """Recorded changes of memories, notes, projects and state, newest first."""
        request = _given(
            actor=actor,
            kind=kind,
            subject_kind=subject_kind,
            subject=subject,
            group=group,
            since=_moment(since),
            until=_moment(until),
            limit=limit,
            cursor=cursor,
        )
        page = self._native.operations(request)
        return Page([Operation._from(one) for one in page["items"]], page["next"])

    def undo(self, id: str, *, reason: str | None = None) -> Undone:
        """Undoes an operation, or every operation of a group or a revision."""
        return Undone._from(self._native.undo(id, _given(reason=reason)))

    # --- notes --------------------------------------------------------------------------------

    def list_notes(self, prefix: str | None = None) -> list[NoteInfo]:
        """The notes without their texts, by name; with ``prefix`` only those that start so."""
        return [NoteInfo._from(one) for one in self._native.list_notes(_given(prefix=prefix))]

    def note(self, name: str) -> Note:
        """A note with its text."""
        return Note._from(self._native.note(name))

    def write_note(
        self, name: str, content: str, *, base: str | None = None, message: str | None = None
    ) -> ChangedNote:
        """Writes a whole note. ``base`` is the ``etag`` of the text that this one is based on: what
        others changed since is kept, or it is a conflict."""
        request = _given(content=content, base=base, message=message)
        return ChangedNote._from(self._native.write_note(name, request))

    def edit_note(
        self,
        name: str,
        edits: Iterable[Mapping[str, str]],
        *,
        style: Literal["list", "delimited"] | None = None,
        message: str | None = None,
    ) -> ChangedNote:
        """Adds, replaces and removes entries, all or none: ``{"action": "add", "text": ..}``,
        ``{"action": "replace", "old": .., "text": ..}``, ``{"action": "remove", "old": ..}``."""
        request = _given(edits=[dict(edit) for edit in edits], style=style, message=message)
        return ChangedNote._from(self._native.edit_note(name, request))

    def delete_note(
        self, name: str, *, base: str | None = None, message: str | None = None
    ) -> Note:
        """Deletes a note; its history stays, and it can be restored."""
        return Note._from(self._native.delete_note(name, _given(base=base, message=message)))

    def blame(self, name: str) -> list[BlameLine]:
        """The lines of a note, each with who wrote it and when."""
        return [BlameLine._from(one) for one in self._native.blame(name)]

    def mount_notes(
        self,
        path: str | os.PathLike[str],
        layout: Literal["plain", "hermes", "nanobot", "openclaw"] = "plain",
    ) -> SyncedMount:
        """Mounts a folder: its files and the notes are kept in sync; for people."""
        request = _given(path=os.path.abspath(path), layout=layout)
        return SyncedMount._from(self._native.mount_notes(request))

    def unmount_notes(self, path: str | os.PathLike[str]) -> Mount:
        """Unmounts a folder, by its path or the id of the mount; its files stay; for people."""
        is_id = isinstance(path, str) and path.startswith("mnt_")
        request = _given(path=path if is_id else os.path.abspath(path))
        return Mount._from(self._native.unmount_notes(request))

    def mounts(self) -> list[SyncedMount]:
        """Mounted folders, after their files and the notes were brought into sync."""
        return [SyncedMount._from(one) for one in self._native.mounts()]

    def sync_mounts(self) -> list[SyncedMount]:
        """Brings mounted files and notes into sync. Calls that read or change notes do so too."""
        return self.mounts()

    def notes_prompt(self, revision: str | None = None) -> NotePrompt:
        """The notes for a prompt, with how full they are; as of a revision, always the same."""
        return NotePrompt._from(self._native.notes_prompt(_given(revision=revision)))

    def dream(
        self,
        *,
        trigger: str = "manual",
        body: str | None = None,
        preset: str | None = None,
        apply: bool | None = None,
    ) -> DreamRun:
        """Dreams: now, or if it is due when the trigger is heartbeat or cron."""
        request = _given(trigger=trigger, body=body, preset=preset, apply=apply)
        return DreamRun._from(self._native.dream(request))

    def dreams(self, *, limit: int = 50, cursor: str | None = None) -> Page[Dream]:
        """Dreams, newest first."""
        page = self._native.dreams(_given(limit=limit, cursor=cursor))
        return Page([Dream._from(one) for one in page["items"]], page["next"])

    def show_dream(self, id: str) -> DreamDetail:
        """A dream with its decisions."""
        return DreamDetail._from(self._native.show_dream(id))

    def undo_dream(
        self, id: str, *, strict: bool = False, reason: str | None = None
    ) -> UndoneDream:
        """Undoes a whole dream, and keeps what was changed later."""
        return UndoneDream._from(self._native.undo_dream(id, _given(strict=strict, reason=reason)))

    def replay_dream(self, id: str) -> ReplayedDream:
        """Decides again what a dream decided, and compares."""
        return ReplayedDream._from(self._native.replay_dream(id))

    def dream_candidates(
        self,
        *,
        decision: str | None = None,
        subject: str | None = None,
        project: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[DreamCandidate]:
        """Claims that dreams decide about, the best first."""
        request = _given(
            decision=decision, subject=subject, project=project, limit=limit, cursor=cursor
        )
        page = self._native.dream_candidates(request)
        return Page([DreamCandidate._from(one) for one in page["items"]], page["next"])

    def explain_candidate(self, id: str) -> ExplainedCandidate:
        """What was decided about a candidate, by which evidence, and what it is missing."""
        return ExplainedCandidate._from(self._native.explain_candidate(id))

    def dream_status(self) -> DreamStatus:
        """Whether the space dreams, when next, and what was last."""
        return DreamStatus._from(self._native.dream_status())

    def schedule_dreams(
        self,
        *,
        mode: str | None = None,
        apply: bool | None = None,
        cron: str | None = None,
        timezone: str | None = None,
    ) -> DreamStatus:
        """Sets whether and when the space dreams by itself."""
        request = _given(mode=mode, apply=apply, cron=cron, timezone=timezone)
        return DreamStatus._from(self._native.schedule_dreams(request))

    def list_revisions(
        self,
        *,
        author_kind: str | None = None,
        note: str | None = None,
        text: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Revision]:
        """Revisions of the notes, newest first."""
        request = _given(
            author_kind=author_kind,
            note=note,
            text=text,
            since=_moment(since),
            until=_moment(until),
            limit=limit,
            cursor=cursor,
        )
        page = self._native.list_revisions(request)
        return Page([Revision._from(one) for one in page["items"]], page["next"])

    def revision(self, id: str, *, words: bool = False) -> RevisionDetail:
        """A revision with what it changed, by its id or a unique prefix."""
        return RevisionDetail._from(self._native.revision(id, _given(words=words)))

    def diff_notes(
        self,
        old: str | None = None,
        new: str | None = None,
        *,
        note: str | None = None,
        words: bool = False,
    ) -> NotesDiff:
        """The difference between two revisions; without ids, what the newest one changed."""
        request = _given(old=old, new=new, note=note, words=words)
        return NotesDiff._from(self._native.diff_notes(request))

    def restore_notes(
        self, id: str, *, note: str | None = None, message: str | None = None
    ) -> RevisionDetail:
        """Sets the notes, or one, to what they were after a revision; that is a revision too."""
        request = _given(note=note, message=message)
        return RevisionDetail._from(self._native.restore_notes(id, request))

    def undo_revision(self, id: str, *, reason: str | None = None) -> RevisionDetail:
        """Undoes one revision, and keeps what was changed later."""
        return RevisionDetail._from(self._native.undo_revision(id, _given(reason=reason)))

    def distrust(
        self,
        *,
        message: str | int | None = None,
        session: str | None = None,
        source: str | None = None,
        dry_run: bool = False,
        reason: str | None = None,
    ) -> ChangedMemories:
        """Stops trusting a source, and judges again what rests on it; for people."""
        request = _given(
            message=message, session=session, source=source, dry_run=dry_run, reason=reason
        )
        return ChangedMemories._from(self._native.distrust(request))

    def pack(
        self,
        prompt: str | None = None,
        *,
        project: str | None = None,
        session: str | None = None,
        client: str | None = None,
        budget: int | None = None,
        at: Moment | None = None,
        new_only: bool = False,
    ) -> Pack:
        """The lines of memory that a prompt needs, within a budget of tokens; empty if nothing is
        relevant. Without a prompt, the lines for the start of a task."""
        request = _given(
            prompt=prompt,
            project=project,
            session=session,
            client=client,
            budget=budget,
            at=_moment(at),
            new_only=new_only,
        )
        return Pack._from(self._native.pack(request))

    def show_pack(self, id: str) -> Pack:
        """A pack again, for 30 days."""
        return Pack._from(self._native.show_pack(id))

    def packs(
        self, *, session: str | None = None, project: str | None = None, limit: int = 50
    ) -> list[GivenPack]:
        """Packs of the last 30 days, newest first, without their texts."""
        found = self._native.packs(_given(session=session, project=project, limit=limit))
        return [GivenPack._from(one) for one in found]

    def why_pack(
        self, pack: str | None = None, *, session: str | None = None, project: str | None = None
    ) -> ExplainedPack:
        """Where each line of a pack came from; without an id, of the last pack with lines."""
        request = _given(pack=pack, session=session, project=project)
        return ExplainedPack._from(self._native.why_pack(request))

    def memory_stats(self, *, days: int | None = None, project: str | None = None) -> MemoryStats:
        """What packs gave in the last days, what became of their lines, and which memories are muted."""
        return MemoryStats._from(self._native.memory_stats(_given(days=days, project=project)))

    def unmute_memory(self, id: str, *, project: str | None = None) -> MemoryView:
        """Lets packs show a memory again, in one project or in all."""
        return MemoryView._from(self._native.unmute_memory(id, _given(project=project)))

    def projects(self) -> list[RegisteredProject]:
        """Registered projects, by name."""
        return [RegisteredProject._from(one) for one in self._native.projects()]

    def register_project(
        self, name: str, *, aliases: Iterable[str] = (), root: str | None = None
    ) -> RegisteredProject:
        """Registers a project, or adds aliases and a folder to it; for people."""
        request = _given(name=name, aliases=list(aliases) or None, root=root)
        return RegisteredProject._from(self._native.register_project(request))

    def project_state(
        self, project: str, *, key: str | None = None, history: bool = False
    ) -> list[ProjectState]:
        """Facts of a project, by name."""
        found = self._native.project_state(project, _given(key=key, history=history))
        return [ProjectState._from(one) for one in found]

    def set_state(
        self,
        project: str,
        key: str,
        value: str,
        *,
        kind: str | None = None,
        since: Moment | None = None,
        reason: str | None = None,
    ) -> ProjectState:
        """Sets a fact of a project; for people."""
        request = _given(key=key, value=value, kind=kind, since=_moment(since), reason=reason)
        return ProjectState._from(self._native.set_state(project, request))

    def end_state(self, project: str, key: str, *, reason: str | None = None) -> ProjectState:
        """Ends a fact of a project; for people."""
        return ProjectState._from(self._native.end_state(project, _given(key=key, reason=reason)))

    # --- jobs and the space -------------------------------------------------------------------

    def jobs(self, *, limit: int = 100, cursor: str | None = None) -> Page[Job]:
        """Background work, newest first."""
        page = self._native.jobs(_given(limit=limit, cursor=cursor))
        return Page([Job._from(job) for job in page["items"]], page["next"])

    def run_jobs(self, seconds: float = 1.0) -> tuple[int, int]:
        """Does due work for so long: how many jobs were done, and how many failed."""
        ran = self._native.run_jobs(seconds)
        return ran["done"], ran["failed"]

    def stats(self) -> dict[str, Any]:
        """Figures of the space."""
        return self._native.stats()

    def settings(self) -> dict[str, Any]:
        """What every process of the space agrees on."""
        return self._native.settings()

    def set_setting(self, name: str, value: Any) -> None:
        """Sets a setting; None takes it back to its default."""
        self._native.set_setting(name, value)

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Copies the space into a new SQLite file, which is itself a store, while others use it."""
        self._native.backup(os.fspath(path))

    def check(self) -> dict[str, Any]:
        """Whether anything is damaged; changes nothing."""
        return self._native.check()

    def export(
        self,
        path: str | os.PathLike[str],
        *,
        sessions: Iterable[str] | None = None,
        source: str | None = None,
    ) -> int:
        """Writes everything as JSONL; how many sessions.

        With ``sessions`` or ``source`` only these sessions, without memories, operations and state.
        """
        chosen = None if sessions is None else list(sessions)
        return self._native.export(os.fspath(path), chosen, source)

    def import_(self, path: str | os.PathLike[str]) -> Imported:
        """Reads what :meth:`export` wrote. Sessions that exist are skipped.

        Memories arrive as candidates, because a program is not a person; people import a file with
        its history at a terminal.
        """
        return Imported._from(self._native.import_file(os.fspath(path)))
