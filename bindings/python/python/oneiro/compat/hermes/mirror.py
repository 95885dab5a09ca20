"""hermes's tables in memory: filled from what Oneiro keeps, and changed rows handed back to it.

Owns what each table reads from and where each change goes. It must not know statements.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, cast

from oneiro.errors import NotFoundError
from oneiro.times import from_text

from . import rows
from .errors import IntegrityError, NotSupportedError

if TYPE_CHECKING:
    from .session_db import SessionDB

_SLOTTED = ("state_meta", "gateway_routing", "compression_locks")
#: The tables that hosts read.
TABLES = ("sessions", "messages", *_SLOTTED, "session_model_usage")
#: Tables whose changes the store does not report.
UNTOLD = frozenset(TABLES[2:])

_USAGE = (
    "session_id, model, billing_provider, billing_base_url, billing_mode, task, api_call_count, "
    "input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, "
    "estimated_cost_usd, actual_cost_usd, cost_status, cost_source, first_seen, last_seen"
)
_REAL = re.compile(r"(_at|timestamp|_usd|_until)\Z")
_WHOLE = re.compile(r"(_tokens|_count|_streak)\Z|\A(archived|expiry_finalized|observed|active|compacted|token_count)\Z")
_NEEDED = frozenset({"source", "started_at", "session_id", "role", "timestamp"})
_SCHEMA = {"seed": 1, "0.19": 22}
_TOTALS = (
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
    "api_call_count",
    "estimated_cost_usd",
    "actual_cost_usd",
)
_ROUTING = "hermes/routing/"
_COUNTED = ("message_count", "tool_call_count", "rewind_count")
_NATIVE = ("source", "user_id", "model", "model_config", "system_prompt", "title", "cwd")


def create(tables: sqlite3.Connection, generation: str) -> None:
    """Creates the tables of a generation, and what notes their changes."""
    seed = generation == "seed"
    sessions = rows.SEED_SESSION_COLUMNS if seed else rows.SESSION_COLUMNS
    messages = rows.SEED_MESSAGE_COLUMNS if seed else rows.MESSAGE_COLUMNS
    keys = {"sessions": "id TEXT PRIMARY KEY", "messages": "id INTEGER PRIMARY KEY AUTOINCREMENT"}
    for table, columns in (("sessions", sessions), ("messages", messages)):
        declared = ", ".join(_column(name) for name in columns if name != "id")
        tables.execute(f"CREATE TABLE {table} ({keys[table]}, {declared})")
    tables.execute("CREATE TABLE schema_version (version INTEGER NOT NULL)")
    tables.execute("INSERT INTO schema_version VALUES (?)", (_SCHEMA[generation],))
    tables.execute("PRAGMA foreign_keys = ON")
    tables.execute("CREATE VIRTUAL TABLE messages_fts USING fts5(content)")
    if not seed:
        tables.execute(
            "CREATE VIRTUAL TABLE messages_fts_trigram USING fts5(content, tokenize='trigram')"
        )
        tables.execute(
            "CREATE UNIQUE INDEX idx_sessions_title_unique ON sessions (title) "
            "WHERE title IS NOT NULL"
        )
        tables.execute("CREATE TABLE state_meta (key TEXT PRIMARY KEY, value TEXT)")
        tables.execute(
            "CREATE TABLE compression_locks (session_id TEXT PRIMARY KEY, holder TEXT, "
            "acquired_at REAL, expires_at REAL)"
        )
        tables.execute(
            "CREATE TABLE gateway_routing (scope TEXT, session_key TEXT, entry_json TEXT, "
            "updated_at REAL, PRIMARY KEY (scope, session_key))"
        )
        tables.execute(f"CREATE TABLE session_model_usage ({_USAGE})")
    tables.execute("CREATE TEMP TABLE _changed (name TEXT, verb TEXT, key)")
    watched = {"sessions": "id", "messages": "id"}
    if not seed:
        watched |= {"state_meta": "key", "compression_locks": "session_id"}
    for table, key in watched.items():
        for verb, side in (("INSERT", "NEW"), ("UPDATE", "NEW"), ("DELETE", "OLD")):
            tables.execute(
                f"CREATE TEMP TRIGGER _{table}_{verb} AFTER {verb} ON main.{table} BEGIN "
                f"INSERT INTO _changed VALUES ('{table}', '{verb}', {side}.{key}); END"
            )


def _column(name: str) -> str:
    kind = "REAL" if _REAL.search(name) else "INTEGER" if _WHOLE.search(name) else "TEXT"
    if name in _NEEDED:
        kind += " NOT NULL"
    elif kind == "INTEGER" and name != "token_count":
        kind += " DEFAULT 1" if name == "active" else " DEFAULT 0"
    return f"{name} {kind}"


def named(sql: str) -> list[str]:
    """The tables that a statement names, in an order in which they can be filled."""
    words = set(re.findall(r"\w+", sql.lower()))
    found = [table for table in _FILLS if table in words]
    if words & {"messages_fts", "messages_fts_trigram"} and "messages" not in found:
        found.append("messages")
    return found


def fill(tables: sqlite3.Connection, table: str, db: SessionDB) -> None:
    """Reads a table again."""
    tables.execute("BEGIN")
    try:
        tables.execute(f"DELETE FROM {table}")
        for row in _FILLS[table](db):
            marks = ", ".join("?" * len(row))
            sql = f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})"
            tables.execute(sql, list(row.values()))
        if table == "messages":
            _index(tables, db)
    finally:
        tables.execute("COMMIT")
        tables.execute("DELETE FROM _changed")


def _index(tables: sqlite3.Connection, db: SessionDB) -> None:
    text = "COALESCE(content, '')"
    indexes = ["messages_fts"]
    if db.generation != "seed":
        text += " || ' ' || COALESCE(tool_name, '') || ' ' || COALESCE(tool_calls, '')"
        indexes.append("messages_fts_trigram")
    for index in indexes:
        tables.execute(f"DELETE FROM {index}")
        tables.execute(f"INSERT INTO {index} (rowid, content) SELECT id, {text} FROM messages")


def _all_sessions(db: SessionDB) -> Iterable[dict[str, Any]]:
    request: dict[str, Any] = {
        "all": True,
        "archived": "any",
        "with_prompts": True,
        "order": "started",
        "limit": 1000,
    }
    while True:
        page = db._native.list_sessions(request)
        yield from page["items"]
        if page["next"] is None:
            return
        request["cursor"] = page["next"]


def _sessions(db: SessionDB) -> Iterable[rows.Row]:
    # The oldest first, as they were inserted.
    return [db._row(session) for session in reversed(list(_all_sessions(db)))]


def _messages(db: SessionDB) -> Iterable[rows.Row]:
    found: list[rows.Row] = []
    for session in _all_sessions(db):
        shown = rows.visible(db._native.all_messages(session["id"], True), session["metadata"])
        found += [_mirrored(message, db) for message in shown]
    return sorted(found, key=lambda row: cast(int, row["id"]))


def _mirrored(message: dict[str, Any], db: SessionDB) -> rows.Row:
    """The row as hermes keeps it, with structured values as text."""
    seed = db.generation == "seed"
    row = rows.seed_message_row(message) if seed else rows.message_row(message)
    row["content"] = _text(row["content"])
    if row["tool_calls"] is not None:
        row["tool_calls"] = json.dumps(row["tool_calls"])
    return row


def _text(content: Any) -> Any:
    if content is None or isinstance(content, str):
        return content
    return rows.CONTENT_JSON_PREFIX + json.dumps(content)


def _meta(db: SessionDB) -> Iterable[rows.Row]:
    return [{"key": key, "value": value} for key, value, _ in db._native.slots("hermes/meta")]


def _locks(db: SessionDB) -> Iterable[rows.Row]:
    held = db._native.slots("hermes/compression_locks")
    return [{"session_id": session, **value} for session, value, _ in held]


def _routing(db: SessionDB) -> Iterable[rows.Row]:
    found = []
    for place in db._native.slot_scopes(_ROUTING):
        scope = place.removeprefix(_ROUTING)
        held = db._native.slots(place)
        found += [{"scope": scope, "session_key": key, **value} for key, value, _ in held]
    return found


def _usage(db: SessionDB) -> Iterable[rows.Row]:
    for session in _all_sessions(db):
        for account in db._native.usage(session["id"]):
            yield {
                "session_id": session["id"],
                "model": account["model"],
                "billing_provider": account["provider"],
                "billing_base_url": account["base_url"],
                "billing_mode": account["billing_mode"],
                "task": account["task"],
                "api_call_count": account["api_calls"],
                **{name: account[name] for name in _TOTALS if name in account},
                "first_seen": from_text(account["first_at"]).timestamp(),
                "last_seen": from_text(account["last_at"]).timestamp(),
            }


_FILLS: dict[str, Callable[[SessionDB], Iterable[rows.Row]]] = {
    "sessions": _sessions,
    "messages": _messages,
    "state_meta": _meta,
    "compression_locks": _locks,
    "gateway_routing": _routing,
    "session_model_usage": _usage,
}


def hand_back(
    tables: sqlite3.Connection, changed: Iterable[tuple[str, str, Any]], db: SessionDB
) -> None:
    """Takes changed rows over into the store."""
    changed = list(changed)
    _refuse(tables, changed, db)
    gone: set[str] = set()
    amends: dict[str, list[tuple[int, int | None, str | None]]] = {}
    for table, verb, key in changed:
        if table == "messages" and verb == "UPDATE":
            session, amend = _message_amended(tables, key, db)
            amends.setdefault(session, []).append(amend)
        elif table == "messages" and verb == "DELETE":
            # Nothing said is destroyed by a statement: it is hidden, as a rewind would.
            session = db._native.message(key)["session_id"]
            amends.setdefault(session, []).append((key, None, "rewound"))
        elif table == "messages":
            _message_inserted(tables, key, db)
        elif table == "sessions" and verb == "DELETE":
            gone.add(key)
        elif table == "sessions":
            row = tables.execute("SELECT * FROM sessions WHERE id = ?", (key,)).fetchone()
            # One that was inserted and deleted in one transaction never was.
            if row is not None:
                _session_changed(_plain(row), verb, db)
        elif table == "state_meta":
            row = tables.execute("SELECT value FROM state_meta WHERE key = ?", (key,)).fetchone()
            db._native.set_slots("hermes/meta", {key: None if row is None else row[0]})
        else:
            sql = "SELECT * FROM compression_locks WHERE session_id = ?"
            row = _plain(tables.execute(sql, (key,)).fetchone())
            row.pop("session_id", None)
            db._native.set_slots("hermes/compression_locks", {key: row or None})
    for session, some in amends.items():
        db._native.amend_messages(session, some)
    for session in gone:
        found = db._native.find_session(session)
        if found is not None and (
            found["message_count"] > 0 or set(db._native.session_children(session)) - gone
        ):
            raise IntegrityError(
                f"FOREIGN KEY constraint failed: session {session!r} has messages or children",
                remedy="use delete_session, which takes them into account",
            )
    if gone:
        db._native.delete_sessions(sorted(gone), {"keep_delegates": True})


def _refuse(
    tables: sqlite3.Connection, changed: list[tuple[str, str, Any]], db: SessionDB
) -> None:
    """Finds what the store will not do before any of it is done."""
    for table, verb, key in changed:
        if table == "messages" and verb == "UPDATE":
            _message_amended(tables, key, db)
        elif table == "sessions" and verb == "UPDATE":
            row = _plain(tables.execute("SELECT * FROM sessions WHERE id = ?", (key,)).fetchone())
            session = db._native.find_session(key)
            if session is None or not row:
                continue
            before = db._row(session)
            for name in _COUNTED:
                if name in row and row[name] != before[name]:
                    raise _refused(f"sessions.{name}", "it is counted from the rows")


def _plain(row: Any) -> rows.Row:
    if row is None:
        return {}
    if isinstance(row, dict):
        return row
    return {name: row[name] for name in row.keys()}  # noqa: SIM118 - a Row iterates over values


def _session_changed(row: rows.Row, verb: str, db: SessionDB) -> None:
    id = row["id"]
    if verb == "INSERT":
        db._native.insert_session(
            rows.new_session(id, row["source"] or "unknown", row["started_at"] or db._now(), {})
        )
    session = db._native.find_session(id)
    if session is None:
        raise _refused("sessions.id", "it is decided when a session begins")
    before = db._row(session)
    differs = {name: value for name, value in row.items() if before.get(name) != value}
    patch: rows.Row = {}
    metadata: rows.Row = {}
    for name, value in differs.items():
        if name in rows.METADATA_COLUMNS:
            metadata[name] = value if value != rows.METADATA_COLUMNS[name] else None
        elif name == "model_config":
            patch[name] = rows.model_config_value(value)
        elif name in _NATIVE:
            patch[name] = value
        elif name == "archived":
            patch[name] = bool(value)
    if {"started_at", "ended_at", "end_reason", "parent_session_id"} & set(differs):
        metadata |= _amend(row, db)
    if set(_TOTALS) & set(differs):
        used = {name: row[name] or 0 for name in _TOTALS if name in row}
        used["api_calls"] = used.pop("api_call_count", 0)
        db._native.set_usage(id, used)
        for name in ("estimated_cost", "actual_cost"):
            if f"{name}_usd" in differs:
                metadata[f"{name}_set"] = True if row[f"{name}_usd"] is not None else None
    if metadata:
        patch["metadata"] = metadata
    if patch:
        db._native.change_session(id, patch)


def _amend(row: rows.Row, db: SessionDB) -> rows.Row:
    times: rows.Row = {"ended_at": None}
    exact: rows.Row = {"started_at": None, "ended_at": None, rows.END_REASON_UNSET: None}
    if row["ended_at"] is not None and row["end_reason"] is None:
        exact[rows.END_REASON_UNSET] = True
    for name in ("started_at", "ended_at"):
        if row[name] is not None:
            times[name] = rows.micros(row[name])
            exact[name] = None if rows.is_exact(row[name]) else row[name]
    if row["end_reason"] is not None:
        times["end_reason"] = row["end_reason"]
    times["parent_id"] = row["parent_session_id"]
    if times["parent_id"] is not None:
        parent = db._find(times["parent_id"])
        if parent is None:
            raise IntegrityError("FOREIGN KEY constraint failed", field="parent_session_id")
        config = rows.model_config_value(row["model_config"])
        times["lineage"] = rows.lineage_of(config, row["source"], parent["end_reason"])
    db._native.amend_session(row["id"], times)
    return exact


def _message_amended(
    tables: sqlite3.Connection, key: int, db: SessionDB
) -> tuple[str, tuple[int, int | None, str | None]]:
    """When it was said and where it stands may be amended; what was said may not."""
    row = _plain(tables.execute("SELECT * FROM messages WHERE id = ?", (key,)).fetchone())
    before = _mirrored(db._native.message(key), db)
    differs = {name for name, value in row.items() if before[name] != value}
    if differs - {"timestamp", "active", "compacted"}:
        raise _refused("messages", "what was said is never changed")
    at = rows.micros(row["timestamp"]) if "timestamp" in differs else None
    stands = None
    if differs & {"active", "compacted"}:
        stands = "live" if row["active"] else "compacted" if row["compacted"] else "rewound"
    return row["session_id"], (key, at, stands)


def _message_inserted(tables: sqlite3.Connection, key: int, db: SessionDB) -> None:
    row = _plain(tables.execute("SELECT * FROM messages WHERE id = ?", (key,)).fetchone())
    for name in ("tool_calls", *rows.JSON_MESSAGE_COLUMNS):
        if isinstance(row.get(name), str):
            row[name] = json.loads(row[name])
    if isinstance(row["content"], str):
        row["content"] = rows.decoded(row["content"])
    try:
        id = db._native.append_one(row["session_id"], rows.new_message(row, db._now()))
        if row.get("active") == 0:
            stands = "compacted" if row["compacted"] else "rewound"
            db._native.amend_messages(row["session_id"], [(id, None, stands)])
    except NotFoundError:
        raise IntegrityError("FOREIGN KEY constraint failed", field="session_id") from None


def _refused(what: str, why: str) -> NotSupportedError:
    return NotSupportedError(
        f"{what} cannot be changed by SQL: {why}",
        remedy="use the methods of SessionDB: rewind_to_message, replace_messages, delete_session",
    )
