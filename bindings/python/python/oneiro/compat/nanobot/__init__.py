"""The memory and the version store of nanobot, kept by Oneiro: change the import, keep the calls.

from oneiro.compat.nanobot import MemoryStore

store = MemoryStore(workspace)
store.git.init()
store.write_memory("# Facts\\n- the server is in the cellar\\n")
store.git.auto_commit("dream: manual run")
"""

from __future__ import annotations

from .commits import CommitInfo, GitStoreError, LineAge
from .memory import MemoryStore
from .text import strip_think, truncate_text
from .version_store import GitStore, SQLiteStore, VersionStore

__all__ = [
    "CommitInfo",
    "GitStore",
    "GitStoreError",
    "LineAge",
    "MemoryStore",
    "SQLiteStore",
    "VersionStore",
    "strip_think",
    "truncate_text",
]
