"""Where hermes keeps its store, what a file on disk is, and why the last store did not open."""

from __future__ import annotations

import os
import sqlite3
import sys
from pathlib import Path

from oneiro import _oneiro

SCHEMA_VERSION = 22

_HEADER = b"SQLite format 3\x00"


def hermes_home() -> Path:
    """The folder of hermes."""
    home = os.environ.get("HERMES_HOME", "").strip()
    return Path(home) if home else Path.home() / ".hermes"


DEFAULT_DB_PATH = hermes_home() / "state.db"


def default_db_path() -> Path:
    """The default path: the package's own constant, so that a host may replace it."""
    package = sys.modules.get(__package__ or "")
    return Path(getattr(package, "DEFAULT_DB_PATH", DEFAULT_DB_PATH))


def foreign_store(path: Path) -> str | None:
    """Whose a SQLite file is: "hermes", "sqlite" for any other, None for Oneiro's, for one that is
    not there and for one that is no SQLite file (which does not open anyway)."""
    native = getattr(_oneiro, "foreign_store", None)
    if native is not None:
        found: str | None = native(str(path))
        return found
    try:
        with path.open("rb") as file:
            if file.read(len(_HEADER)) != _HEADER:
                return None
    except OSError:
        return None
    return _by_tables(path)


def _by_tables(path: Path) -> str | None:
    connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
    try:
        names = {
            name
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")
        }
    except sqlite3.DatabaseError:
        return None
    finally:
        connection.close()
    if "slots" in names or not names:
        return None
    return "hermes" if {"schema_version", "sessions", "messages"} <= names else "sqlite"


_last_init_error: str | None = None


def remember_init_error(error: Exception | None) -> None:
    """Keeps why the last store did not open, for messages to people."""
    global _last_init_error
    _last_init_error = None if error is None else f"{type(error).__name__}: {error}"


def get_last_init_error() -> str | None:
    """Why the last store did not open, or None."""
    return _last_init_error


def format_session_db_unavailable(prefix: str = "Session database not available") -> str:
    """A sentence for people that says why there is no session store."""
    cause = get_last_init_error()
    return f"{prefix}: {cause}" if cause else f"{prefix}."
