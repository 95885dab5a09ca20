"""session_search: the tool by which an agent looks into its past sessions. No model is asked.

Owns the four ways to call it (discover, scroll, read, browse) and the JSON it answers with.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from . import paths
from .rows import Row
from .session_db import SessionDB
from .session_search_schema import SESSION_SEARCH_SCHEMA

__all__ = ["SESSION_SEARCH_SCHEMA", "check_session_search_requirements", "session_search"]

HIDDEN_SOURCES = ("subagent", "tool")
DEMOTED_SOURCES = ("cron",)

_ROLES = ("user", "assistant")
_LIMIT = (3, 1, 10)
_WINDOW = (5, 1, 20)
_BOOKEND = 3
# What a model puts around a title it remembers.
_QUOTES = "\"'` \u201c\u201d\u2018\u2019"
_HEAD, _TAIL = 20, 10


class _Refused(Exception):
    """Why there is no answer."""


def check_session_search_requirements() -> bool:
    """Whether the tool can be offered: it needs nothing but the store, which is made if need be."""
    return True


def session_search(
    query: str = "",
    role_filter: str | None = None,
    limit: int = 3,
    db: SessionDB | None = None,
    current_session_id: str | None = None,
    session_id: str | None = None,
    around_message_id: int | None = None,
    window: int = 5,
    sort: str | None = None,
    profile: str | None = None,
) -> str:
    """Looks into past sessions; the arguments choose which way, and the answer is JSON.

    `session_id` with `around_message_id` scrolls, `session_id` alone reads, `query` discovers,
    nothing browses. When no message meets the whole query, what meets part of it is answered and
    `relaxed` says so.
    """
    call = _Call(query, role_filter, limit, current_session_id, window, sort)
    session_id = session_id.strip() if isinstance(session_id, str) else None
    opened: list[SessionDB] = []
    try:
        if session_id and not profile and "/" in session_id:
            profile, session_id = session_id.split("/", 1)
        if profile:
            db = _profile(profile, db)
            opened.append(db)
        elif db is None:
            db = SessionDB()
            opened.append(db)
        if session_id and around_message_id is not None:
            answer = call.scroll(db, session_id, around_message_id)
        elif session_id:
            answer = _read(db, session_id, opened)
        elif isinstance(query, str) and query.strip():
            answer = call.discover(db)
        else:
            answer = call.browse(db)
    except Exception as error:
        # A tool answers its agent; it has nobody to raise to.
        answer = {"error": str(error) or type(error).__name__, "success": False}
    finally:
        for one in opened:
            one.close()
    return json.dumps(answer, ensure_ascii=False, default=str)


class _Call:
    """One call of the tool, its arguments made sound."""

    def __init__(
        self,
        query: Any,
        role_filter: Any,
        limit: Any,
        current: str | None,
        window: Any,
        sort: Any,
    ) -> None:
        self.query = query.strip() if isinstance(query, str) else ""
        self.roles = _roles(role_filter)
        self.limit = _number(limit, *_LIMIT)
        self.window = _number(window, *_WINDOW)
        self.sort = sort.strip().lower() if isinstance(sort, str) else None
        self.current = current

    def discover(self, db: SessionDB) -> Row:
        """The sessions that match best, one for each lineage; one whose title it is first."""
        titled = self._titled(db)
        found = self._found(db, relaxed=False)
        is_relaxed = not found and titled is None
        if is_relaxed:
            found = self._found(db, relaxed=True)
        results = [] if titled is None else [titled]
        seen = set() if titled is None else {db.get_conversation_root(titled["session_id"])}
        for hit in found:
            root = db.get_conversation_root(hit["session_id"])
            if root not in seen and len(results) < self.limit:
                seen.add(root)
                results.append(self._result(db, hit, root))
        answer: Row = {"success": True, "mode": "discover", "query": self.query}
        if not results:
            message = "No matching sessions found."
            return {**answer, "results": [], "count": 0, "message": message}
        answer.update(results=results, count=len(results), sessions_searched=len(results))
        if is_relaxed:
            answer["relaxed"] = True
            answer["message"] = "No message meets the whole query; these meet part of it."
        return answer

    def _found(self, db: SessionDB, *, relaxed: bool) -> list[Row]:
        return db._best_of_lineages(
            self.query,
            roles=self.roles,
            hidden_sources=HIDDEN_SOURCES,
            demoted_sources=DEMOTED_SOURCES,
            current=self.current,
            sort=self.sort,
            limit=self.limit + 1,
            relaxed=relaxed,
        )

    def _result(self, db: SessionDB, hit: Row, root: str) -> Row:
        session_id = hit["session_id"]
        view = db.get_anchored_view(session_id, hit["id"], window=_WINDOW[0], bookend=_BOOKEND)
        title = db.get_session_title(session_id) or db.get_session_title(root)
        # A conversation that was carried on is dated by its beginning.
        begun = db.get_session(root) or {}
        result: Row = {
            "session_id": session_id,
            "when": _when(begun.get("started_at", hit["session_started"])),
            "source": hit["source"] or "unknown",
            "model": begun.get("model") or hit["model"] or "unknown",
            "title": title,
            "matched_role": hit["role"],
            "match_message_id": hit["id"],
            "snippet": hit["snippet"],
            "bookend_start": _shaped(view["bookend_start"]),
            "messages": _shaped(view["window"], hit["id"]),
            "bookend_end": _shaped(view["bookend_end"]),
            "messages_before": view["messages_before"],
            "messages_after": view["messages_after"],
        }
        if "tier" in hit:
            result["tier"] = hit["tier"]
        if root != session_id:
            result["parent_session_id"] = root
        return result

    def _titled(self, db: SessionDB) -> Row | None:
        """The session whose title the query is."""
        title = self.query.strip(_QUOTES)
        session_id = db.resolve_session_by_title(title) if title else None
        session = db.get_session(session_id) if session_id else None
        if session_id is None or session is None:
            return None
        root = db.get_conversation_root(session_id)
        if self.current and db.get_conversation_root(self.current) == root:
            return None
        said = [
            row for row in db.get_messages(session_id) if row["role"] in _ROLES and row["content"]
        ]
        first = said[0]["id"] if said else None
        view = db.get_anchored_view(session_id, first) if first is not None else {}
        result: Row = {
            "session_id": session_id,
            "when": _when(session["started_at"]),
            "source": session["source"] or "unknown",
            "model": session["model"] or "unknown",
            "title": db.get_session_title(session_id),
            "matched_role": "session_title",
            "match_message_id": first,
            "snippet": f"Session title matched: {db.get_session_title(session_id)}",
            "bookend_start": _shaped(said[:_BOOKEND]),
            "messages": _shaped(view.get("window", ()), first),
            "bookend_end": _shaped(said[-_BOOKEND:]),
            "messages_before": view.get("messages_before", 0),
            "messages_after": view.get("messages_after", 0),
        }
        if root != session_id:
            result["parent_session_id"] = root
        return result

    def scroll(self, db: SessionDB, session_id: str, around: Any) -> Row:
        """What was said around a message."""
        try:
            anchor = int(around)
        except (TypeError, ValueError):
            raise _Refused("scroll requires integer around_message_id") from None
        if db.get_session(session_id) is None:
            raise _Refused(f"session_id not found: {session_id}")
        root = db.get_conversation_root(session_id)
        if self.current and db.get_conversation_root(self.current) == root:
            raise _Refused(
                "scroll rejected: anchor lives in the current session lineage (already in your "
                "active context)"
            )
        owner = _owner(db, anchor)
        if owner is None or (owner != session_id and db.get_conversation_root(owner) != root):
            raise _Refused(f"around_message_id {anchor} not in session_id {session_id}")
        view = db.get_messages_around(owner, anchor, window=self.window)
        if not view["window"]:
            raise _Refused(f"around_message_id {anchor} not in session_id {session_id}")
        answer: Row = {
            "success": True,
            "mode": "scroll",
            "session_id": owner,
            "around_message_id": anchor,
            "session_meta": _meta(db, owner),
            "window": self.window,
            "messages": _shaped(view["window"], anchor),
            "messages_before": view["messages_before"],
            "messages_after": view["messages_after"],
        }
        if owner != session_id:
            answer["warning"] = (
                f"around_message_id {anchor} lives in {owner} (child of {session_id}); rebound "
                "transparently"
            )
        return answer

    def browse(self, db: SessionDB) -> Row:
        """What was active lately, the current conversation left out."""
        current = db.get_conversation_root(self.current) if self.current else None
        listed = db.list_sessions_rich(
            limit=self.limit + 1,
            exclude_sources=list(HIDDEN_SOURCES),
            order_by_last_active=True,
            compact_rows=True,
        )
        others = [
            row for row in listed if not current or db.get_conversation_root(row["id"]) != current
        ]
        results = [
            {
                "session_id": row["id"],
                "title": row["title"],
                "source": row["source"],
                "started_at": row["started_at"],
                "last_active": row["last_active"],
                "message_count": row["message_count"],
                "preview": row["preview"],
            }
            for row in others[: self.limit]
        ]
        return {
            "success": True,
            "mode": "browse",
            "results": results,
            "count": len(results),
            "message": (
                f"Showing {len(results)} most recent sessions. Pass a query= to search, or "
                "session_id+around_message_id to scroll."
            ),
        }


def _read(db: SessionDB, session_id: str, opened: list[SessionDB]) -> Row:
    """A session from its beginning; of a long one the beginning and the end."""
    if db.get_session(session_id) is None:
        elsewhere = _elsewhere(db, session_id)
        if elsewhere is None:
            raise _Refused(f"session_id not found: {session_id}")
        db = elsewhere
        opened.append(db)
    messages = db.get_messages(session_id)
    count = len(messages)
    is_long = count > _HEAD + _TAIL
    shown = messages[:_HEAD] + messages[-_TAIL:] if is_long else messages
    answer: Row = {
        "success": True,
        "mode": "read",
        "session_id": session_id,
        "session_meta": _meta(db, session_id),
        "message_count": count,
        "truncated": is_long,
        "messages": _shaped(shown),
    }
    if is_long:
        answer["message"] = (
            f"Session has {count} messages; showing first {_HEAD} + last {_TAIL}. Pass "
            "around_message_id (any id above) to scroll the middle."
        )
    return answer


def _owner(db: SessionDB, message_id: int) -> str | None:
    """The session that a message is in."""
    found = db._native.find_messages([message_id]) if message_id > 0 else [None]
    owner: str | None = found[0]["session_id"] if found[0] is not None else None
    return owner


def _meta(db: SessionDB, session_id: str) -> Row:
    row = db.get_session(session_id) or {}
    return {
        "when": _when(row.get("started_at")),
        "source": row.get("source"),
        "model": row.get("model"),
        "title": db.get_session_title(session_id),
    }


def _shaped(messages: Sequence[Row], anchor: int | None = None) -> list[Row]:
    """Messages as the tool shows them."""
    shaped = []
    for message in messages:
        one: Row = {name: message[name] for name in ("id", "role", "content", "timestamp")}
        for name in ("tool_name", "tool_calls", "tool_call_id"):
            if message.get(name):
                one[name] = message[name]
        if message["id"] == anchor:
            one["anchor"] = True
        shaped.append(one)
    return shaped


def _when(seconds: float | None) -> str:
    if seconds is None:
        return "unknown"
    try:
        return datetime.fromtimestamp(seconds).strftime("%B %d, %Y at %I:%M %p")
    except (OSError, OverflowError, ValueError):
        return str(seconds)


def _number(given: Any, default: int, least: int, most: int) -> int:
    try:
        return max(least, min(int(given), most))
    except (TypeError, ValueError, OverflowError):
        return default


def _roles(given: Any) -> list[str]:
    parts = given.split(",") if isinstance(given, str) else given or ()
    return [role for part in parts if (role := str(part).strip())] or list(_ROLES)


def _home(db: SessionDB | None) -> Path:
    """The folder that profiles are kept in: of the store that is open, else of the default one."""
    path = paths.default_db_path() if db is None else Path(db.db_path)
    folder = path.parent
    return folder.parent.parent if folder.parent.name == "profiles" else folder


def _profile(profile: str, db: SessionDB | None) -> SessionDB:
    """The store of a profile, opened to be read."""
    home = _home(db)
    is_default = profile == "default"
    path = home / "state.db" if is_default else home / "profiles" / profile / "state.db"
    is_name = Path(profile).name == profile and profile != ".."
    if not is_name or (not is_default and not path.parent.is_dir()):
        raise _Refused(f"profile {profile!r}: profile {profile!r} does not exist")
    try:
        return SessionDB(path, read_only=True)
    except Exception as error:
        raise _Refused(f"profile {profile!r}: {error}") from error


def _elsewhere(db: SessionDB, session_id: str) -> SessionDB | None:
    """The store of another profile that has a session."""
    home = _home(db)
    for path in [home / "state.db", *sorted(home.glob("profiles/*/state.db"))]:
        if path == Path(db.db_path) or not path.is_file():
            continue
        try:
            other = SessionDB(path, read_only=True)
        except Exception:
            # A profile that cannot be read has nothing to say here.
            continue
        if other.get_session(session_id) is not None:
            return other
        other.close()
    return None
