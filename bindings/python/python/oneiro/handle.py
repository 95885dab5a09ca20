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
    CaptureStatus,
    Compacted,
    Conversation,
    Deleted,
    Expanded,
    Found,
    Imported,
    Job,
    Message,
    Page,
    Pruned,
    Rewound,
    Session,
    Summary,
    Usage,
    Window,
    message_from,
)

__all__ = ["ModelServer", "Oneiro", "default_store", "open"]

Lineage = Literal["continuation", "branch", "delegate", "reset"]
Format = Literal["openai", "anthropic", "text"]
Sort = Literal["relevance", "newest", "oldest"]

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
        kinds: Iterable[Literal["message", "summary"]] = (),
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
        """Writes sessions as JSONL; how many."""
        chosen = None if sessions is None else list(sessions)
        return self._native.export(os.fspath(path), chosen, source)

    def import_(self, path: str | os.PathLike[str]) -> Imported:
        """Reads what :meth:`export` wrote. Sessions that exist are skipped."""
        return Imported._from(self._native.import_file(os.fspath(path)))
