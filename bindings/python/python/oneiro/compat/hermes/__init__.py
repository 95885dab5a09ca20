"""The session store and the memory of hermes, kept by Oneiro: change the import, keep the calls.

from oneiro.compat.hermes import SessionDB

db = SessionDB("state.db")
db.create_session("s1", "cli", model="some-model")
db.append_message("s1", "user", "where did we put the keys?")
"""

from __future__ import annotations

# Hosts, and tests of hosts, reach through the module for what hermes imports.
import json
import logging
import sqlite3
import time

from .aio import AsyncSessionDB
from .conversation import sanitize_context
from .host import (
    apply_wal_with_fallback,
    is_malformed_db_error,
    repair_state_db_schema,
    workspace_key,
)
from .importing import import_state_db
from .memory import (
    ENTRY_DELIMITER,
    MEMORY_BLOCK_HEADERS,
    MEMORY_DIR,
    MEMORY_SCHEMA,
    MemoryStore,
    _apply_batch_write_gate,
    _apply_write_gate,
    _drift_error,
    _missing_old_text_error,
    _scan_memory_content,
    apply_memory_pending,
    check_memory_requirements,
    get_memory_dir,
    load_on_disk_store,
    memory_tool,
)
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
    "ENTRY_DELIMITER",
    "MEMORY_BLOCK_HEADERS",
    "MEMORY_DIR",
    "MEMORY_SCHEMA",
    "SCHEMA_VERSION",
    "AsyncSessionDB",
    "MemoryStore",
    "SessionDB",
    "_apply_batch_write_gate",
    "_apply_write_gate",
    "_drift_error",
    "_missing_old_text_error",
    "_scan_memory_content",
    "apply_memory_pending",
    "apply_wal_with_fallback",
    "check_memory_requirements",
    "format_session_db_unavailable",
    "get_last_init_error",
    "get_memory_dir",
    "import_state_db",
    "is_malformed_db_error",
    "load_on_disk_store",
    "memory_tool",
    "repair_state_db_schema",
    "sanitize_context",
    "session_search",
    "workspace_key",
]

logger = logging.getLogger(__name__)
