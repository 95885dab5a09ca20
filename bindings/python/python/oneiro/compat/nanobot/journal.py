"""The journal of nanobot: history.jsonl, one entry per line with a cursor that only grows.

Owns the allocation of cursors, tolerant reading, and the removal of old entries.
"""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import IO, Any, NamedTuple

from oneiro.compat.files import open_for_append, read_text, replace_file

from .text import strip_think, truncate_text

__all__ = ["HISTORY_ENTRY_HARD_CAP", "Journal"]

logger = logging.getLogger(__name__)

Entry = dict[str, Any]

#: Most characters of an entry.
HISTORY_ENTRY_HARD_CAP = 64_000

_TAIL_BYTES = 4096
_TIME = "%Y-%m-%d %H:%M"


class Line(NamedTuple):
    """A line of the journal: its bytes, and the object in it, None if there is none."""

    data: bytes
    entry: Entry | None


class Journal:
    """The journal of a workspace; MemoryStore is one."""

    memory_dir: Path
    history_file: Path
    max_history_entries: int
    _cursor_file: Path
    _dream_cursor_file: Path

    def __init__(self) -> None:
        # What was warned of, each once.
        self._corruption_logged = False
        self._malformed_entry_logged = False
        self._oversize_logged = False
        self._dream_prompt_oversize_logged = False
        self._dream_prompt_unreadable_logged = False
        # Appends of this object wait for it; other processes wait for the lock of the file.
        self._append_lock = threading.Lock()

    @property
    def _logger(self) -> logging.Logger:
        """Where warnings go."""
        return logger

    # --- writing ------------------------------------------------------------------------------

    def append_history(
        self, entry: str, *, max_chars: int | None = None, session_key: str | None = None
    ) -> int:
        """Adds an entry, without a model's thinking and cut to ``max_chars`` (64,000 without it);
        answers its cursor. When it returns, the entry is on disk."""
        record: Entry = {
            "timestamp": datetime.now().strftime(_TIME),
            "content": self._normalize_history_entry(entry, max_chars=max_chars),
        }
        if session_key:
            record["session_key"] = session_key
        with self._append_lock, open_for_append(self.history_file) as file:
            cursor = self._next_cursor()
            line = json.dumps({"cursor": cursor, **record}, ensure_ascii=False)
            # A line that a crash cut short is ended, so that it spoils no other.
            start = "" if _ends_line(file) else "\n"
            file.write(f"{start}{line}\n".encode("utf-8", "replace"))
            file.flush()
            os.fsync(file.fileno())
            replace_file(self._cursor_file, str(cursor))
        return cursor

    def _normalize_history_entry(self, entry: str, *, max_chars: int | None = None) -> str:
        """An entry as the journal takes it. What is nothing but thinking becomes an empty text, not
        the thinking."""
        limit = HISTORY_ENTRY_HARD_CAP if max_chars is None else max_chars
        content = strip_think(entry.rstrip())
        if len(content) > limit:
            self._warn_once(
                "_oversize_logged", "an entry of %d characters is cut to %d", len(content), limit
            )
        return truncate_text(content, limit)

    def _write_entries(self, entries: list[Entry]) -> None:
        """Replaces the journal, in one step."""
        lines = (json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries)
        replace_file(self.history_file, "".join(lines))

    def compact_history(self) -> None:
        """Drops the oldest entries beyond ``max_history_entries`` that Dream has read. Entries that
        it has not read stay, even if they are more."""
        if self.max_history_entries <= 0 or not self.history_file.exists():
            return
        with open_for_append(self.history_file):
            lines = list(self._lines())
            places = [place for place, line in enumerate(lines) if line.entry is not None]
            if len(places) <= self.max_history_entries:
                return
            dreamed = self.get_last_dream_cursor()
            unread = [
                place
                for place in places
                if (self._valid_cursor((lines[place].entry or {}).get("cursor")) or 0) > dreamed
            ]
            start = places[len(places) - self.max_history_entries]
            start = min(start, unread[0]) if unread else start
            kept = sum(place >= start for place in places)
            if kept > self.max_history_entries:
                self._logger.warning(
                    "%d entries stay in %s, more than %d: Dream has not read them",
                    kept,
                    self.history_file,
                    self.max_history_entries,
                )
            replace_file(self.history_file, b"".join(line.data for line in lines[start:]))

    # --- reading ------------------------------------------------------------------------------

    def read_unprocessed_history(self, since_cursor: int) -> list[Entry]:
        """The entries after a cursor, in the order of the file."""
        return [entry for entry, cursor in self._iter_valid_entries() if cursor > since_cursor]

    def read_recent_history_for_prompt(
        self, since_cursor: int, *, session_key: str | None, unified_session: bool = False
    ) -> list[Entry]:
        """The entries after a cursor that a prompt of this session may show: its own; with unified
        sessions also those of all sessions that are no internal ones."""
        entries = self.read_unprocessed_history(since_cursor)
        if session_key is None:
            return entries

        def is_shown(key: str | None) -> bool:
            return key == session_key or (unified_session and not is_internal(key))

        return [entry for entry in entries if is_shown(entry.get("session_key"))]

    def _lines(self) -> Iterator[Line]:
        """The lines of the journal, each ended. One that is no JSON object has no entry."""
        try:
            data = self.history_file.read_bytes()
        except FileNotFoundError:
            return
        for line in data.split(b"\n"):
            if line.strip():
                yield Line(line + b"\n", _parsed(line))

    def _read_entries(self) -> list[Entry]:
        return [line.entry for line in self._lines() if line.entry is not None]

    def _iter_valid_entries(self) -> Iterator[tuple[Entry, int]]:
        """Entries with their cursors. What is malformed is passed over, with one warning."""
        for entry in self._read_entries():
            given = entry.get("cursor")
            if given is None:
                continue
            cursor = self._valid_cursor(given)
            if cursor is None:
                self._warn_once(
                    "_corruption_logged", "%s has an invalid cursor (%r)", self.history_file, given
                )
            elif not self._valid_history_payload(entry):
                self._warn_once(
                    "_malformed_entry_logged",
                    "%s has a malformed entry at cursor %d",
                    self.history_file,
                    cursor,
                )
            else:
                yield entry, cursor

    @staticmethod
    def _valid_cursor(value: Any) -> int | None:
        is_number = isinstance(value, int) and not isinstance(value, bool)
        return value if is_number and value >= 0 else None

    @staticmethod
    def _valid_history_payload(entry: Entry) -> bool:
        is_text = all(isinstance(entry.get(name), str) for name in ("timestamp", "content"))
        return is_text and isinstance(entry.get("session_key"), (str, type(None)))

    def _warn_once(self, flag: str, message: str, *given: Any) -> None:
        if not getattr(self, flag):
            setattr(self, flag, True)
            self._logger.warning(f"{message}; further warnings of this kind are left out", *given)

    # --- cursors ------------------------------------------------------------------------------

    def _next_cursor(self) -> int:
        """The cursor of the next entry: beyond the counter and the last line; beyond every entry, if
        the last line tells none."""
        counter = self._read_cursor_counter()
        last = self._valid_cursor((self._read_last_entry() or {}).get("cursor"))
        if last is None:
            last = max((cursor for _, cursor in self._iter_valid_entries()), default=0)
        return max(counter or 0, last) + 1

    def _read_cursor_counter(self) -> int | None:
        return self._valid_cursor(_number(self._cursor_file))

    def _read_last_entry(self) -> Entry | None:
        """The object in the last line, read from the end of the file."""
        try:
            with open(self.history_file, "rb") as file:
                end = file.seek(0, os.SEEK_END)
                size = _TAIL_BYTES
                while True:
                    start = max(0, end - size)
                    file.seek(start)
                    lines = [line for line in file.read(end - start).split(b"\n") if line.strip()]
                    if start == 0 or len(lines) > 1:
                        return _parsed(lines[-1]) if lines else None
                    size *= 4
        except FileNotFoundError:
            return None

    def get_last_dream_cursor(self) -> int:
        """The cursor of the last entry that Dream has read; 0 if it has read none."""
        return _number(self._dream_cursor_file) or 0

    def set_last_dream_cursor(self, cursor: int) -> None:
        """Says up to which entry Dream has read."""
        replace_file(self._dream_cursor_file, str(cursor))

    def get_latest_cursor(self) -> int:
        """The cursor of the last entry; 0 if there is none."""
        return max(self._next_cursor() - 1, 0)


def is_internal(session_key: str | None) -> bool:
    """Whether a session is one of nanobot's own, which no prompt of another shows."""
    key = session_key or ""
    return key == "heartbeat" or key.startswith(("cron:", "dream:"))


def _number(path: Path) -> int | None:
    try:
        return int((read_text(path) or "").strip())
    except ValueError:
        return None


def _parsed(line: bytes) -> Entry | None:
    try:
        value = json.loads(line.decode("utf-8"))
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _ends_line(file: IO[bytes]) -> bool:
    """Whether a file is empty or ends with a line end."""
    if file.seek(0, os.SEEK_END) == 0:
        return True
    file.seek(-1, os.SEEK_END)
    return file.read(1) == b"\n"
