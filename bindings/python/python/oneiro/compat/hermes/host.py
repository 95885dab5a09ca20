"""What hosts import from hermes_state beside SessionDB: how sessions are grouped, the repair of a
store, and the journal of other SQLite files of theirs."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from oneiro._oneiro import Handle
from oneiro.errors import Error, StoreError

logger = logging.getLogger(__name__)

_MALFORMED = ("malformed database schema", "database disk image is malformed")
_NO_WAL = ("locking protocol", "not authorized")

_warned: set[str] = set()
_warning = threading.Lock()


def workspace_key(row: Mapping[str, Any]) -> str | None:
    """What a session is grouped by: its repository where it is known, else its directory."""
    for name in ("git_repo_root", "cwd"):
        value = str(row.get(name) or "").strip()
        if value:
            return value
    return None


def is_malformed_db_error(exc: BaseException) -> bool:
    """Whether an error says that a store is damaged."""
    if isinstance(exc, StoreError):
        return exc.kind == "corrupt"
    text = str(exc).lower()
    return isinstance(exc, sqlite3.DatabaseError) and any(one in text for one in _MALFORMED)


def repair_state_db_schema(db_path: str | Path, *, backup: bool = True) -> dict[str, Any]:
    """Checks a store and rebuilds its index where that is what is wrong. Rows are never
    changed, so that `backup` has nothing to do; damage of rows is reported, for a backup to repair."""
    report: dict[str, Any] = {
        "repaired": False,
        "strategy": None,
        "backup_path": None,
        "error": None,
    }
    if not Path(db_path).exists():
        return {**report, "error": f"{db_path} does not exist"}
    try:
        return {**report, **_mended(Handle.open(str(db_path), {"file": True, "must_exist": True}))}
    except Error as error:
        return {**report, "error": str(error)}


def _mended(handle: Handle) -> dict[str, Any]:
    try:
        found = handle.check()
        if found["ok"]:
            return {"repaired": True, "strategy": "already_healthy"}
        handle.rebuild_index()
        found = handle.check()
    finally:
        handle.close()
    if found["ok"]:
        return {"repaired": True, "strategy": "rebuild_index"}
    wrong = [str(one) for name, told in found.items() if name != "ok" for one in told]
    return {"error": f"the store is damaged, restore a backup: {'; '.join(wrong)}"}


def apply_wal_with_fallback(conn: sqlite3.Connection, *, db_label: str = "state.db") -> str:
    """Gives a SQLite file of the host's own a write-ahead log, or a rollback journal where the
    file system allows none; answers "wal" or "delete"."""
    try:
        conn.execute("PRAGMA journal_mode=WAL")
        return "wal"
    except sqlite3.OperationalError as error:
        if not any(one in str(error).lower() for one in _NO_WAL) or _has_wal(conn):
            raise
        with _warning:
            is_new = db_label not in _warned
            _warned.add(db_label)
        if is_new:
            logger.warning("%s: no write-ahead log on this file system (%s)", db_label, error)
    conn.execute("PRAGMA journal_mode=DELETE")
    return "delete"


def _has_wal(conn: sqlite3.Connection) -> bool:
    """Whether others use the file with a write-ahead log. SQLite is asked: to open and close the
    file here would take away the locks that this process holds on it."""
    try:
        return bool(conn.execute("PRAGMA journal_mode").fetchone() == ("wal",))
    except sqlite3.Error:
        return True
