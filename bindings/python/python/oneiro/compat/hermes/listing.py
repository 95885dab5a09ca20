"""Lists of sessions: rich lists with tips, recent sessions, counts, cron runs, workspaces.

Owns which rows a list shows and in which order. Lists are walked lazily: a page of twenty reads
little more than twenty sessions, however many there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from oneiro.parts import ARCHIVED

from . import rows
from .lineage import Lineage
from .rows import Row
from .walk import Session

# Messages that are looked at for the first words of a session.
_LOOKED_AT = 50

# What a compressed root takes over from its tip when it is listed.
_FROM_TIP = (
    "id",
    "model",
    "system_prompt",
    "ended_at",
    "end_reason",
    "message_count",
    "tool_call_count",
    "cwd",
    "git_branch",
    "git_repo_root",
    "title",
    "preview",
    "last_active",
)

Test = Callable[[Session], bool]


class Listing(Lineage):
    """Lists of sessions."""

    def list_sessions_rich(
        self,
        source: str | None = None,
        exclude_sources: list[str] | None = None,
        cwd_prefix: str | None = None,
        limit: int = 20,
        offset: int = 0,
        include_children: bool = False,
        min_message_count: int = 0,
        project_compression_tips: bool = True,
        order_by_last_active: bool = False,
        include_archived: bool = False,
        archived_only: bool = False,
        id_query: str | None = None,
        search_query: str | None = None,
        compact_rows: bool = False,
    ) -> list[Row]:
        """Sessions with `preview` and `last_active`, newest first.

        Conversations are shown: roots and branches, a compressed root as its tip (with the root's
        start and `_lineage_root_id`), unless `include_children` asks for every row.
        `order_by_last_active` orders by the activity of the whole chain; only then are `id_query`
        and `search_query` looked at, which match ids and titles anywhere in a chain.
        """
        wanted = _wanted(
            source=source,
            exclude_sources=exclude_sources,
            cwd_prefix=cwd_prefix,
            min_message_count=min_message_count,
            archived=_archived(include_archived, archived_only),
        )
        request = _request(
            source, exclude_sources, cwd_prefix, _archived(include_archived, archived_only)
        )
        asked = _matching(id_query, search_query) if order_by_last_active else None
        if asked is not None:
            found: Iterable[Session] = self._matched(request, asked, include_children)
        elif order_by_last_active:
            found = self._by_activity(request, include_children, _page(limit, offset))
        elif include_children:
            found = self._walk({**request, "order": "started"}, _page(limit, offset))
        else:
            found = self._listed({**request, "order": "started"}, _page(limit, offset))
        shown = _page_of(filter(wanted, found), limit, offset)
        tips: dict[str, Session] = {}
        page = list(shown)
        if project_compression_tips and not include_children:
            tips = {session["id"]: tip for session in page if (tip := self._tip(session))}
        if not compact_rows:
            whole = {one["id"]: one for one in self._wholes([*page, *tips.values()])}
            page = [whole.get(one["id"], one) for one in page]
            tips = {root: whole.get(tip["id"], tip) for root, tip in tips.items()}
        return [
            self._listed_row(session, tips.get(session["id"]), compact_rows) for session in page
        ]

    def search_sessions(
        self, source: str | None = None, limit: int = 20, offset: int = 0
    ) -> list[Row]:
        """Every session, most recently used first, with `last_active`; in the seed generation
        most recently started first, and without."""
        order = "started" if self._is_seed else "active"
        request = {"source": source or None, "order": order, "with_prompts": True}
        page = min(max(limit + offset, 1), 1_000) if limit >= 0 else 1_000
        found = _page_of(self._walk(request, page), limit, offset)
        if self._is_seed:
            return [self._row(session) for session in found]
        return [
            {**self._row(session), "last_active": session["last_active_at"] / 1e6}
            for session in found
        ]

    def session_count(
        self,
        source: str | None = None,
        cwd_prefix: str | None = None,
        min_message_count: int = 0,
        include_archived: bool = False,
        archived_only: bool = False,
        exclude_children: bool = False,
        exclude_sources: list[str] | None = None,
    ) -> int:
        """How many sessions there are; with `exclude_children`, how many list_sessions_rich
        lists."""
        archived = None if self._is_seed else _archived(include_archived, archived_only)
        request = _request(source, exclude_sources, cwd_prefix, archived)
        is_plain = not (cwd_prefix or min_message_count or exclude_children)
        if is_plain:
            asked = {"all": True, **request, "archived": ARCHIVED[archived]}
            count: int = self._native.count_sessions(asked)
            return count
        wanted = _wanted(
            source=source,
            exclude_sources=exclude_sources,
            cwd_prefix=cwd_prefix,
            min_message_count=min_message_count,
            archived=archived,
        )
        walk = self._listed if exclude_children else self._walk
        found = walk({**request, "order": "started"}, 1_000)
        return sum(1 for _ in filter(wanted, found))

    def list_cron_job_runs(self, job_id: str, limit: int = 20, offset: int = 0) -> list[Row]:
        """The sessions that one cron job made (ids `cron_<job>_...`), newest first."""
        if not job_id:
            return []
        request = {"source": "cron", "id_prefix": f"cron_{job_id}_", "order": "started"}
        runs = _page_of(self._walk(request, _page(limit, offset)), limit, offset)
        return [self._rich(run) for run in self._wholes(runs)]

    def distinct_session_cwds(self, include_archived: bool = False) -> list[Row]:
        """Every working directory of any session, how many sessions began there, and when the
        last of them ended or, where it goes on, began."""
        found: dict[str, Row] = {}
        archived = None if include_archived else False
        for session in self._walk({"archived": archived, "order": "started"}, 1_000):
            cwd = session["cwd"]
            if not cwd or not cwd.strip():
                continue
            row = rows.session_row(session)
            latest = row["started_at"] if row["ended_at"] is None else row["ended_at"]
            entry = found.setdefault(cwd, {"cwd": cwd, "sessions": 0, "last_active": latest})
            entry["sessions"] += 1
            entry["last_active"] = max(entry["last_active"], latest)
        return [found[cwd] for cwd in sorted(found)]

    def _get_session_rich_row(self, session_id: str, compact_rows: bool = False) -> Row | None:
        session = self._find(session_id)
        return None if session is None else self._rich(session, compact_rows)

    def _rich(self, session: Session, compact: bool = False) -> Row:
        # The seed has no such lists: who asks for one wants every column.
        row = rows.session_row(session)
        if compact:
            row.pop("system_prompt", None)
        row["last_active"] = session["last_active_at"] / 1e6
        row["preview"] = session["preview"] or self._first_words(session)
        return row

    def _first_words(self, session: Session) -> str:
        """The beginning of the first thing the person said in words, when the very first has none."""
        if not session["message_count"]:
            return ""
        page = self._native.messages(session["id"], {"limit": _LOOKED_AT})
        for message in page["items"]:
            content = message.get("content")
            if message["role"] == "user" and isinstance(content, str):
                text = " ".join(content.split())
                return text if len(text) <= 60 else text[:60] + "..."
        return ""

    def _tip(self, session: Session) -> Session | None:
        """The tip of a chain that begins here; None when nothing continues the session."""
        after = list(self._forward(session))
        return after[-1] if after else None

    def _listed_row(self, session: Session, tip: Session | None, compact: bool) -> Row:
        """A session as a list shows it: a compressed root as its tip."""
        row = self._rich(session, compact)
        if tip is not None:
            tip_row = self._rich(tip, compact)
            row.update({name: tip_row[name] for name in _FROM_TIP if name in tip_row})
            row["_lineage_root_id"] = session["id"]
        return row

    def _listed(self, request: dict[str, Any], page: int) -> Iterator[Session]:
        """The roots and branches of a walk. Delegates, of which there may be thousands between two
        conversations, are left out by the store."""
        return filter(self._is_listed(), self._walk({**request, "without_delegates": True}, page))

    def _is_listed(self) -> Test:
        """Tells roots and branches from other children; parents are looked up once."""
        parents: dict[str, Session | None] = {}

        def is_listed(session: Session) -> bool:
            parent_id = session["parent_id"]
            if parent_id is None:
                return rows.marker(session["model_config"], "_delegate_from") is None
            if rows.marker(session["model_config"], "_branched_from") is not None:
                return True
            if parent_id not in parents:
                parents[parent_id] = self._find(parent_id)
            return rows.is_branch(session, parents[parent_id])

        return is_listed

    def _by_activity(
        self, request: dict[str, Any], include_children: bool, page: int
    ) -> Iterator[Session]:
        """What is listed, ordered by the activity of whole chains: whichever session of a chain
        comes first brings up what it continues."""
        is_listed = self._is_listed()
        seen: set[str] = set()
        # A delegate continues nothing, so it brings up nothing that is listed.
        walked = {**request, "order": "active", "without_delegates": not include_children}
        for session in self._walk(walked, page):
            for one in self._brought_up(session, include_children):
                if one["id"] not in seen and (include_children or is_listed(one)):
                    seen.add(one["id"])
                    yield one

    def _brought_up(self, session: Session, include_children: bool) -> list[Session]:
        if include_children:
            return [session, *self._backward(session)]
        return [self._root_of_chain(session)]

    def _root_of_chain(self, session: Session) -> Session:
        return [session, *self._backward(session)][-1]

    def _matched(
        self, request: dict[str, Any], asked: _Asked, include_children: bool
    ) -> list[Session]:
        """What is listed and has a match in its chain, by the activity of chains."""
        is_listed = self._is_listed()
        found: dict[str, tuple[int, int, Session]] = {}
        for session in self._walk({"matching": asked.native, "order": "active"}, 200):
            if not asked.matches(session):
                continue
            for root in self._brought_up(session, include_children):
                if root["id"] in found or not (include_children or is_listed(root)):
                    continue
                chain = self._chain(root)
                if asked.holds(chain):
                    active: int = max(one["last_active_at"] for one in chain)
                    found[root["id"]] = (active, root["started_at"], root)
        ordered = sorted(found.values(), key=lambda one: one[:2], reverse=True)
        kept = _kept(request)
        return [session for _, _, session in ordered if kept(session)]


class _Asked:
    """What ids and titles are searched for."""

    def __init__(self, id_query: str, search_query: str) -> None:
        self._id = id_query.lower()
        self._text = search_query.lower()
        self._plain = _plain(search_query)
        self.native = id_query or search_query

    def matches(self, session: Session) -> bool:
        """Whether a session meets any one of what is asked."""
        return self._has_id(session) if self._id else self._has_text(session)

    def holds(self, chain: list[Session]) -> bool:
        """Whether a chain meets all that is asked."""
        has_id = not self._id or any(map(self._has_id, chain))
        return has_id and (not self._text or any(map(self._has_text, chain)))

    def _has_id(self, session: Session) -> bool:
        return self._id in session["id"].lower()

    def _has_text(self, session: Session) -> bool:
        title = session["title"] or ""
        if self._text in session["id"].lower() or self._text in title.lower():
            return True
        return bool(self._plain) and self._plain in _plain(title)


def _matching(id_query: str | None, search_query: str | None) -> _Asked | None:
    asked = (id_query or "").strip(), (search_query or "").strip()
    return _Asked(*asked) if any(asked) else None


def _plain(text: str) -> str:
    return "".join(letter for letter in text.lower() if letter.isalnum())


def _archived(include_archived: bool, archived_only: bool) -> bool | None:
    if archived_only:
        return True
    return None if include_archived else False


def _request(
    source: str | None,
    exclude_sources: list[str] | None,
    cwd_prefix: str | None,
    archived: bool | None,
) -> dict[str, Any]:
    """The filters that the native list knows. They hold for the row that is listed, so they may
    leave out other rows of its chain but never the row itself."""
    request: dict[str, Any] = {"archived": archived}
    if source:
        request["source"] = source
    if exclude_sources:
        request["exclude_sources"] = list(exclude_sources)
    if cwd_prefix:
        request["cwd_prefix"] = cwd_prefix.rstrip("/\\")
    return request


def _wanted(
    *,
    source: str | None,
    exclude_sources: list[str] | None,
    cwd_prefix: str | None,
    min_message_count: int,
    archived: bool | None,
) -> Test:
    excluded = frozenset(exclude_sources or ())

    def wanted(session: Session) -> bool:
        if (source and session["source"] != source) or session["source"] in excluded:
            return False
        if archived is not None and session["archived"] != archived:
            return False
        if cwd_prefix and not under(session["cwd"], cwd_prefix):
            return False
        live = session["message_count"] - session.get("compacted_count", 0)
        return bool(live >= min_message_count)

    return wanted


def _kept(request: dict[str, Any]) -> Test:
    archived = request["archived"]
    return lambda session: archived is None or session["archived"] == archived


def under(cwd: str | None, prefix: str) -> bool:
    """Whether a directory is this one or inside it."""
    if not cwd:
        return False
    border = prefix.rstrip("/\\")
    return cwd.rstrip("/\\") == border or cwd.startswith((border + "/", border + "\\"))


def _page(limit: int, offset: int) -> int:
    return 1_000 if limit < 0 else min(max(limit + offset, 1) + 12, 1_000)


def _page_of(found: Iterable[Session], limit: int, offset: int) -> Iterator[Session]:
    start = max(offset, 0)
    return islice(found, start, None if limit < 0 else start + limit)
