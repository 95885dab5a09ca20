"""The memory and the version store of nanobot, kept by Oneiro: change the import, keep the calls.

from oneiro.compat.nanobot import MemoryStore

store = MemoryStore(workspace)
store.git.init()
store.write_memory("# Facts\\n- the server is in the cellar\\n")
store.git.auto_commit("dream: manual run")
"""

from __future__ import annotations

# Hosts, and tests of hosts, import these by nanobot's names.
from .commits import CommitInfo, GitStoreError, LineAge
from .commits import compute_line_ages as _compute_line_ages
from .dream import WORKSPACE_PROMPT_MAX_CHARS
from .memory import _HISTORY_ENTRY_HARD_CAP, _RAW_ARCHIVE_MAX_CHARS, MemoryStore, logger
from .text import strip_think, truncate_text
from .version_store import GitStore, SQLiteStore, VersionStore

__all__ = [
    "WORKSPACE_PROMPT_MAX_CHARS",
    "_HISTORY_ENTRY_HARD_CAP",
    "_RAW_ARCHIVE_MAX_CHARS",
    "CommitInfo",
    "GitStore",
    "GitStoreError",
    "LineAge",
    "MemoryStore",
    "SQLiteStore",
    "VersionStore",
    "_compute_line_ages",
    "logger",
    "strip_think",
    "truncate_text",
]
