"""The first version of hermes: the same names as in the package, with the answers of that version.

from oneiro.compat.hermes.seed import MemoryStore, SessionDB, memory_tool
"""

from __future__ import annotations

from . import memory, session_db
from .memory import (
    ENTRY_DELIMITER,
    MEMORY_BLOCK_HEADERS,
    MEMORY_DIR,
    _scan_memory_content,
    check_memory_requirements,
    get_memory_dir,
    memory_tool,
)
from .memory_schema import SEED_MEMORY_SCHEMA as MEMORY_SCHEMA
from .paths import DEFAULT_DB_PATH
from .session_search import session_search

__all__ = [
    "DEFAULT_DB_PATH",
    "ENTRY_DELIMITER",
    "MEMORY_BLOCK_HEADERS",
    "MEMORY_DIR",
    "MEMORY_SCHEMA",
    "SCHEMA_VERSION",
    "MemoryStore",
    "SessionDB",
    "_scan_memory_content",
    "check_memory_requirements",
    "get_memory_dir",
    "load_on_disk_store",
    "memory_tool",
    "session_search",
]

SCHEMA_VERSION = 1


class SessionDB(session_db.SessionDB):
    """The session store of the first version, unless it is opened as another."""

    _default_generation = "seed"


class MemoryStore(memory.MemoryStore):
    """The memory of the first version, unless it is created as another."""

    _default_generation = "seed"


def load_on_disk_store() -> MemoryStore:
    """A loaded store, as :func:`oneiro.compat.hermes.load_on_disk_store` makes one."""
    return memory.loaded(MemoryStore)
