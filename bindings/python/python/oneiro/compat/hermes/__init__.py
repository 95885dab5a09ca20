"""The session store of hermes, kept by Oneiro: change the import, keep the calls.

from oneiro.compat.hermes import SessionDB

db = SessionDB("state.db")
db.create_session("s1", "cli", model="some-model")
db.append_message("s1", "user", "where did we put the keys?")
"""

from __future__ import annotations

from .aio import AsyncSessionDB
from .conversation import sanitize_context
from .paths import (
    DEFAULT_DB_PATH,
    SCHEMA_VERSION,
    format_session_db_unavailable,
    get_last_init_error,
)
from .session_db import SessionDB
from .session_search import session_search

__all__ = [
    "DEFAULT_DB_PATH",
    "SCHEMA_VERSION",
    "AsyncSessionDB",
    "SessionDB",
    "format_session_db_unavailable",
    "get_last_init_error",
    "sanitize_context",
    "session_search",
]
