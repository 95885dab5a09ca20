"""Where hermes keeps its store, what a file on disk is, and why the last store did not open."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from oneiro import _oneiro

from .replaced import current

SCHEMA_VERSION = 22


def hermes_home() -> Path:
    """The folder of hermes: in a process that hermes runs in that of its profile, which it may switch
    for one task."""
    of_hermes = getattr(sys.modules.get("hermes_constants"), "get_hermes_home", None)
    if of_hermes is not None:
        return Path(of_hermes())
    home = os.environ.get("HERMES_HOME", "").strip()
    return Path(home) if home else Path.home() / ".hermes"


DEFAULT_DB_PATH = hermes_home() / "state.db"
_OWN_DB_PATH = DEFAULT_DB_PATH


def default_db_path() -> Path:
    """The default path: the constant, so that a host may replace it."""
    return Path(current("DEFAULT_DB_PATH", _OWN_DB_PATH, __name__))


def foreign_store(path: Path) -> str | None:
    """Whose a file is that is no store of Oneiro's: "hermes", "sqlite" for any other program."""
    return _oneiro.foreign_store(path)


_last_init_error: str | None = None


def remember_init_error(error: Exception) -> None:
    """Keeps why a store did not open, for messages to people. One that opens later, in another
    thread, does not take the reason away."""
    global _last_init_error
    _last_init_error = f"{type(error).__name__}: {getattr(error, 'message', error)}"


def get_last_init_error() -> str | None:
    """Why the last store that did not open did not, or None."""
    return _last_init_error


def format_session_db_unavailable(prefix: str = "Session database not available") -> str:
    """A sentence for people that says why there is no session store."""
    cause = get_last_init_error()
    return f"{prefix}: {cause}." if cause else f"{prefix}."
