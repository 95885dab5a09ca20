"""Sessions out of the store and into another: export as dicts, import with limits.

Owns the shape of an export and what an import accepts. An import in which anything is wrong
changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

from oneiro.errors import ConflictError

from . import rows
from .errors import IntegrityError
from .lineage import Lineage
from .rows import Row

_MOST_EXPORTED = 100_000

# A session that is being brought in has this in its metadata until all of it is there.
_IMPORTING = "importing"
# Messages written in one transaction.
_AT_ONCE = 1_000

_TEXTS = (
    "user_id",
    "model",
    "system_prompt",
    "cwd",
    "git_branch",
    "git_repo_root",
    "billing_provider",
    "billing_base_url",
    "billing_mode",
    "cost_status",
    "cost_source",
    "pricing_version",
    "title",
)
_COUNTERS = (
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
    "api_call_count",
)
_MESSAGE_TEXTS = (
    "tool_call_id",
    "tool_name",
    "effect_disposition",
    "finish_reason",
    "platform_message_id",
)
# What only the model's own messages have.
_REASONING = (
    "reasoning",
    "reasoning_content",
    "reasoning_details",
    "codex_reasoning_items",
    "codex_message_items",
)


class Transfer(Lineage):
    """Export and import."""

    get_session: Callable[[str], Row | None]
    get_messages: Callable[[str], list[Row]]
    search_sessions: Callable[..., list[Row]]

    _IMPORT_MAX_SESSIONS = 500
    _IMPORT_MAX_MESSAGES_PER_SESSION = 10_000
    _IMPORT_MAX_TOTAL_MESSAGES = 50_000
    _IMPORT_MAX_SESSION_BYTES = 5 * 1024 * 1024
    _IMPORT_MAX_TOTAL_BYTES = 25 * 1024 * 1024

    def export_session(self, session_id: str) -> Row | None:
        """The row of a session with its `messages`; None when there is no such session."""
        row = self.get_session(session_id)
        return None if row is None else {**row, "messages": self.get_messages(session_id)}

    def export_session_lineage(self, session_id: str) -> Row | None:
        """A compression chain as one session: the row of its tip with the messages of all
        `segments`."""
        exported = map(self.export_session, self.get_compression_lineage(session_id))
        segments = [segment for segment in exported if segment is not None]
        if not segments:
            return None
        messages = [message for segment in segments for message in segment["messages"]]
        return {
            **segments[-1],
            "messages": messages,
            "message_count": len(messages),
            "segments": segments,
            "lineage_session_ids": [segment["id"] for segment in segments],
        }

    def export_all(self, source: str | None = None) -> list[Row]:
        """Every session with its messages, in the order of search_sessions."""
        return list(self._exported(source))

    def _exported(self, source: str | None) -> Iterator[Row]:
        order = "started" if self._is_seed else "active"
        walked = self._walk({"source": source or None, "order": order}, 1_000)
        for session in islice(walked, _MOST_EXPORTED):
            exported = self.export_session(session["id"])
            if exported is None:
                continue
            if not self._is_seed:
                exported["last_active"] = session["last_active_at"] / 1e6
            yield exported

    def import_sessions(self, sessions: list[Row]) -> Row:
        """Adds sessions that export_session or export_all gave. Ids that are there are skipped; a
        parent that is neither there nor among them, or would close a circle, is left out. Who a
        session talked to and what it was doing is not brought back: history is, ownership is not.
        """
        if not isinstance(sessions, list):
            raise ValueError("sessions must be a list")
        if len(sessions) > self._IMPORT_MAX_SESSIONS:
            raise ValueError(f"sessions must contain at most {self._IMPORT_MAX_SESSIONS} entries")
        read, errors = self._read(sessions)
        if errors:
            return {"ok": False, "imported": 0, "skipped": 0, "detached": 0, "errors": errors}
        there = {one.id for one in read if self._is_there(one.id)}
        new = [one for one in read if one.id not in there]
        self._refuse_titles(new)
        detached = self._detach(new)
        for one in _parents_first(new):
            self._import(one)
        return {
            "ok": True,
            "imported": len(new),
            "skipped": len(there),
            "detached": detached,
            "imported_ids": [one.id for one in new],
            "skipped_ids": [one.id for one in read if one.id in there],
            "errors": [],
        }

    def _read(self, sessions: list[Any]) -> tuple[list[_Incoming], list[Row]]:
        """What is to be imported, and what is wrong with it."""
        read: list[_Incoming] = []
        errors: list[Row] = []
        seen: set[str] = set()
        messages, size = 0, 0
        for index, given in enumerate(sessions):
            session_id = ""
            try:
                if not isinstance(given, dict):
                    raise _Wrong("session must be an object")
                session_id = str(given.get("id") or "").strip()
                if not session_id:
                    raise _Wrong("session id is required")
                if session_id in seen:
                    raise _Wrong("duplicate session id")
                if not _can_be_an_id(session_id):
                    raise _Wrong("session id cannot be stored")
                given = rows.storable(given)
                seen.add(session_id)
                one = _Incoming(session_id, given, self._now())
                messages += len(one.messages)
                if len(one.messages) > self._IMPORT_MAX_MESSAGES_PER_SESSION:
                    raise _Wrong("messages exceeds the per-session import limit")
                if messages > self._IMPORT_MAX_TOTAL_MESSAGES:
                    raise _Wrong("messages exceeds the total import limit")
                weight = len(
                    json.dumps(given, ensure_ascii=False, default=str).encode(errors="replace")
                )
                size += weight
                if weight > self._IMPORT_MAX_SESSION_BYTES:
                    raise _Wrong("session exceeds the import size limit")
                if size > self._IMPORT_MAX_TOTAL_BYTES:
                    raise _Wrong("import exceeds the total size limit")
                read.append(one)
            except _Wrong as wrong:
                error: Row = {"index": index, "error": str(wrong)}
                errors.append({**error, "session_id": session_id} if session_id else error)
        return read, errors

    def _refuse_titles(self, new: list[_Incoming]) -> None:
        """A title that is taken is found before anything is written."""
        seen: set[str] = set()
        for one in new:
            title = one.columns.get("title")
            if title is None:
                continue
            if title in seen or self._native.find_title(title) not in (None, one.id):
                raise IntegrityError(
                    f"UNIQUE constraint failed: sessions.title: {title!r} is taken",
                    field="title",
                    remedy=f"give session {one.id!r} another title, or none",
                )
            seen.add(title)

    def _detach(self, new: list[_Incoming]) -> int:
        """Takes parents away that are nowhere or would close a circle; answers how many."""
        coming = {one.id: one for one in new}
        detached = 0
        for one in new:
            if one.parent_id is None:
                continue
            seen = {one.id}
            at: str | None = one.parent_id
            while at in coming and at not in seen:
                seen.add(at)
                at = coming[at].parent_id
            is_circle = at in seen
            is_nowhere = one.parent_id not in coming and self._find(one.parent_id) is None
            if is_circle or is_nowhere:
                one.parent_id = None
                detached += 1
        return detached

    def _import(self, one: _Incoming) -> None:
        parent = self._find(one.parent_id)
        columns = dict(one.columns)
        fields = rows.new_session(one.id, one.source, one.started_at, columns)
        if parent is not None:
            fields["parent_id"] = parent["id"]
            fields["lineage"] = rows.lineage_of(
                columns.get("model_config"), one.source, parent["end_reason"]
            )
        fields["metadata"] = {**fields.get("metadata", {}), **one.metadata, _IMPORTING: True}
        # A native continuation takes its parent's title by itself; an import brings its own. One
        # that is there was left half done, or is being brought in by somebody else right now.
        with suppress(ConflictError):
            self._native.insert_session({**fields, "untitled": True})
        for at in range(0, len(one.messages), _AT_ONCE):
            self._native.append_kept(one.id, one.messages[at : at + _AT_ONCE])
        if any(one.used.values()):
            self._native.set_usage(one.id, one.used)
        if one.ended_at is not None:
            reason = one.end_reason or "ended"
            ending = {"reason": reason, "at": rows.micros(one.ended_at)}
            self._native.end_session(one.id, ending)
        done: Row = {"metadata": {_IMPORTING: None}}
        self._native.change_session(one.id, {**done, "archived": True} if one.archived else done)

    def _is_there(self, session_id: str) -> bool:
        """Whether a session is there, and not left half done by an import that was cut off."""
        session = self._find(session_id)
        return session is not None and _IMPORTING not in session["metadata"]


class _Wrong(ValueError):
    """Why a session cannot be imported."""


class _Incoming:
    """A session to import, read and checked."""

    def __init__(self, session_id: str, given: Row, now: float) -> None:
        self.id = session_id
        self.source = _text(given.get("source"), "source") or "import"
        self.parent_id = _text(given.get("parent_session_id"), "parent_session_id") or None
        started = rows.readable_time(given.get("started_at"))
        self.started_at = now if started is None else started
        self.ended_at = rows.readable_time(given.get("ended_at"))
        self.end_reason = _text(given.get("end_reason"), "end_reason")
        self.archived = bool(given.get("archived"))
        self.columns: Row = {name: _text(given.get(name), name) for name in _TEXTS}
        title = self.columns["title"]
        if title is not None and len(title) > 100:
            raise _Wrong("title must be at most 100 characters")
        self.columns["title"] = (title or "").strip() or None
        self.columns["model_config"] = _config(given.get("model_config"))
        counters = {name: _count(given.get(name)) for name in _COUNTERS}
        counters["api_calls"] = counters.pop("api_call_count")
        self.used: Row = dict(counters)
        self.metadata: Row = {}
        for name, flag in (
            ("estimated_cost_usd", rows.ESTIMATED_COST_SET),
            ("actual_cost_usd", rows.ACTUAL_COST_SET),
        ):
            cost = rows.readable_time(given.get(name))
            if cost is not None:
                self.used[name] = cost
                self.metadata[flag] = True
        if self.ended_at is not None:
            if not rows.is_exact(self.ended_at):
                self.metadata["ended_at"] = self.ended_at
            if self.end_reason is None:
                self.metadata[rows.END_REASON_UNSET] = True
        self.messages = _messages(given.get("messages"), now)


def _messages(given: Any, now: float) -> list[Row]:
    if given is None:
        return []
    if not isinstance(given, list):
        raise _Wrong("messages must be a list")
    if not all(isinstance(message, dict) for message in given):
        raise _Wrong("messages must contain only objects")
    checked = [_checked(index, message) for index, message in enumerate(given)]
    # Each has a name in its session, so that an import that was cut off goes on where it was.
    return [
        {**rows.new_message(message, now), "external_id": f"import:{index}"}
        for index, message in enumerate(checked)
    ]


def _checked(index: int, message: Row) -> Row:
    role = message.get("role")
    if not isinstance(role, str) or not role:
        raise _Wrong(f"messages[{index}].role must be a non-empty string")
    for name in _MESSAGE_TEXTS:
        _text(message.get(name), name)
    tokens = message.get("token_count")
    if tokens is not None:
        try:
            int(tokens)
        except (TypeError, ValueError, OverflowError):
            raise _Wrong("token_count must be an integer") from None
    kept = (
        message
        if role == "assistant"
        else {name: value for name, value in message.items() if name not in _REASONING}
    )
    parsed = {name: _parsed(kept.get(name)) for name in rows.JSON_MESSAGE_COLUMNS}
    return {**kept, **{name: value for name, value in parsed.items() if value is not None}}


def _parsed(value: Any) -> Any:
    """What an export gave as JSON text; a value stays what it is."""
    return rows.model_config_value(value) if isinstance(value, str) else value


def _text(value: Any, field: str) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise _Wrong(f"{field} must be a string")


def _config(value: Any) -> Any:
    if isinstance(value, str) and value:
        try:
            value = json.loads(value)
        except ValueError:
            raise _Wrong("model_config must be valid JSON") from None
    if value is None or value == "":
        return None
    if not isinstance(value, dict):
        raise _Wrong("model_config must be a JSON object")
    return value


def _count(value: Any) -> int:
    """A counter; what is none, or less than none, is none."""
    try:
        return max(0, int(value or 0))
    except (TypeError, ValueError, OverflowError):
        return 0


def _can_be_an_id(text: str) -> bool:
    return len(text) <= 512 and "\0" not in text and rows.scrubbed(text) == text


def _parents_first(sessions: list[_Incoming]) -> list[_Incoming]:
    """The sessions, each after its parent."""
    coming = {one.id: one for one in sessions}
    ordered: dict[str, _Incoming] = {}
    for one in sessions:
        line = [one]
        while (parent_id := line[-1].parent_id) in coming and parent_id not in ordered:
            line.append(coming[parent_id])
        for member in reversed(line):
            ordered.setdefault(member.id, member)
    return list(ordered.values())
