"""MemoryStore: the files of nanobot's memory, its journal, its cursors and its versions."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from oneiro.compat.files import read_text, replace_file
from oneiro.compat.recorded import Store

from . import legacy
from .dream import WORKSPACE_PROMPT_MAX_CHARS, Dream
from .journal import HISTORY_ENTRY_HARD_CAP, Journal
from .text import format_messages
from .version_store import VersionStore

__all__ = ["WORKSPACE_PROMPT_MAX_CHARS", "MemoryStore"]

logger = logging.getLogger(__name__)
_OWN_LOGGER = logger

#: Most characters of a conversation that is dumped because no summary could be made.
_RAW_ARCHIVE_MAX_CHARS = 16_000
#: Most characters of an entry of the journal, by nanobot's name for it.
_HISTORY_ENTRY_HARD_CAP = HISTORY_ENTRY_HARD_CAP

_TRACKED = ("SOUL.md", "USER.md", "memory/MEMORY.md", "memory/.dream_cursor")


class MemoryStore(Dream, Journal):
    """The memory of a workspace: SOUL.md, USER.md, memory/MEMORY.md, and the journal of summaries
    that Dream reads.

    Files are replaced in one step, the journal is appended to under a lock that other processes
    take as well, and a file that is not UTF-8 is an error, never an empty text. ``store`` and
    ``space`` say where the versions are (see :class:`VersionStore`).

    >>> import tempfile
    >>> store = MemoryStore(Path(tempfile.mkdtemp()))
    >>> store.append_history("- [durable] the server is in the cellar")
    1
    >>> [entry["cursor"] for entry in store.read_unprocessed_history(since_cursor=0)]
    [1]
    """

    _DEFAULT_MAX_HISTORY = 1000

    # Names of nanobot for how HISTORY.md is read.
    _LEGACY_ENTRY_START_RE = legacy.DATED
    _LEGACY_TIMESTAMP_RE = legacy.TIMED
    _LEGACY_RAW_MESSAGE_RE = legacy.SPOKEN
    _split_legacy_history_chunks = staticmethod(legacy.split_history)
    _should_start_new_legacy_chunk = staticmethod(legacy.is_start)
    _is_raw_legacy_chunk = staticmethod(legacy.is_dump)

    def __init__(
        self,
        workspace: Path,
        max_history_entries: int = _DEFAULT_MAX_HISTORY,
        *,
        store: Store | None = None,
        space: str | None = None,
    ) -> None:
        super().__init__()
        self.workspace = Path(workspace)
        self.max_history_entries = max_history_entries
        self.memory_dir = self.workspace / "memory"
        self.memory_dir.mkdir(parents=True, exist_ok=True)
        self.memory_file = self.memory_dir / "MEMORY.md"
        self.history_file = self.memory_dir / "history.jsonl"
        self.legacy_history_file = self.memory_dir / "HISTORY.md"
        self.soul_file = self.workspace / "SOUL.md"
        self.user_file = self.workspace / "USER.md"
        self._cursor_file = self.memory_dir / ".cursor"
        self._dream_cursor_file = self.memory_dir / ".dream_cursor"
        self._git = VersionStore(self.workspace, list(_TRACKED), store=store, space=space)
        self._maybe_migrate_legacy_history()

    @property
    def _logger(self) -> logging.Logger:
        # Looked up at every call: a host that replaces the logger of the package, or of this
        # module, gets every warning.
        replaced: logging.Logger = getattr(sys.modules.get(__package__), "logger", _OWN_LOGGER)
        return logger if replaced is _OWN_LOGGER else replaced

    @property
    def git(self) -> VersionStore:
        """The versions of the files."""
        return self._git

    @property
    def version_store(self) -> VersionStore:
        """The versions of the files, by their newer name."""
        return self._git

    def close(self) -> None:
        """Lets go of the store of versions."""
        self._git.close()

    # --- files --------------------------------------------------------------------------------

    @staticmethod
    def read_file(path: Path) -> str:
        """The text of a file with plain line ends, empty if there is none. One that is not UTF-8 is
        a ValueError."""
        return (read_text(path) or "").replace("\r\n", "\n").replace("\r", "\n")

    def read_memory(self) -> str:
        """The facts: memory/MEMORY.md."""
        return self.read_file(self.memory_file)

    def write_memory(self, content: str) -> None:
        """Replaces memory/MEMORY.md."""
        replace_file(self.memory_file, content)

    def read_soul(self) -> str:
        """Who the agent is: SOUL.md."""
        return self.read_file(self.soul_file)

    def write_soul(self, content: str) -> None:
        """Replaces SOUL.md."""
        replace_file(self.soul_file, content)

    def read_user(self) -> str:
        """Who the user is: USER.md."""
        return self.read_file(self.user_file)

    def write_user(self, content: str) -> None:
        """Replaces USER.md."""
        replace_file(self.user_file, content)

    def get_memory_context(self) -> str:
        """The facts for a prompt, under their heading; empty if there are none."""
        facts = self.read_memory()
        return f"## Long-term Memory\n{facts}" if facts else ""

    # --- the journal of before 0.1.5 ----------------------------------------------------------

    def _maybe_migrate_legacy_history(self) -> None:
        """Reads HISTORY.md into the journal, once, and keeps it as HISTORY.md.bak. Dream does not
        read what is in it again. An error is logged, and the file stays for another time."""
        if not self.legacy_history_file.exists():
            return
        if self.history_file.exists() and self.history_file.stat().st_size > 0:
            return
        try:
            text = self.legacy_history_file.read_bytes().decode("utf-8", "replace")
            entries = self._parse_legacy_history(text)
            if entries:
                last = str(entries[-1]["cursor"])
                # The journal comes last: as long as it is empty, all of this is done again.
                replace_file(self._cursor_file, last)
                replace_file(self._dream_cursor_file, last)
                self._write_entries(entries)
            self.legacy_history_file.replace(self._next_legacy_backup_path())
            self._logger.info("Migrated HISTORY.md to history.jsonl (%d entries)", len(entries))
        except Exception:
            self._logger.exception("Failed to migrate HISTORY.md; it stays as it is")

    def _parse_legacy_history(self, text: str) -> list[dict[str, Any]]:
        return legacy.parse_history(text, self._legacy_fallback_timestamp())

    def _legacy_fallback_timestamp(self) -> str:
        """The time of entries without one: when HISTORY.md was last changed, now if it is gone."""
        try:
            changed = datetime.fromtimestamp(self.legacy_history_file.stat().st_mtime)
        except OSError:
            changed = datetime.now()
        return changed.strftime("%Y-%m-%d %H:%M")

    def _next_legacy_backup_path(self) -> Path:
        copy, number = self.memory_dir / "HISTORY.md.bak", 1
        while copy.exists():
            number += 1
            copy = self.memory_dir / f"HISTORY.md.bak.{number}"
        return copy

    # --- conversations without a summary ------------------------------------------------------

    def raw_archive(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        max_chars: int | None = None,
        session_key: str | None = None,
    ) -> str:
        """Adds a conversation to the journal as it is, where no summary could be made; answers what
        was added."""
        checkpoint = self._build_raw_checkpoint(messages, max_chars=max_chars)
        self.append_history(checkpoint, session_key=session_key)
        self._logger.warning(
            "No summary could be made: %d messages are archived raw", len(messages)
        )
        return checkpoint

    def _build_raw_checkpoint(
        self, messages: Sequence[Mapping[str, Any]], *, max_chars: int | None = None
    ) -> str:
        limit = _RAW_ARCHIVE_MAX_CHARS if max_chars is None else max_chars
        text = f"[RAW] {len(messages)} messages\n{self._format_messages(messages)}"
        return self._normalize_history_entry(text, max_chars=limit)

    @staticmethod
    def _format_messages(messages: Sequence[Mapping[str, Any]]) -> str:
        return format_messages(messages)
