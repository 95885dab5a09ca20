"""The memory store where it differs from nanobot's, or where nanobot has no answer: files that are not
text, torn lines, writers in parallel, crashes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import oneiro.compat.nanobot as nanobot
import pytest
from oneiro.compat.nanobot import (
    _HISTORY_ENTRY_HARD_CAP,
    _RAW_ARCHIVE_MAX_CHARS,
    WORKSPACE_PROMPT_MAX_CHARS,
    MemoryStore,
    memory,
)
from together import READY, run_together


def cursors(store: MemoryStore) -> list[int]:
    return [entry["cursor"] for entry in store.read_unprocessed_history(since_cursor=-1)]


def test_a_dream_from_the_journal_to_the_version_and_back(place: Any, workspace: Path) -> None:
    store = MemoryStore(workspace, store=place.store, space=place.space)
    store.git.init()
    store.append_history("- [durable] the server is in the cellar", session_key="cli:direct")
    prompt = store.build_dream_prompt()
    assert prompt is not None and "the server is in the cellar" in prompt[0]
    store.write_memory("# Facts\n- the server is in the cellar\n")
    store.set_last_dream_cursor(prompt[1])
    body = store.dream_content_diff()
    assert body.startswith("memory/MEMORY.md: +2 -0\n1 file changed")
    sha = store.git.auto_commit(store.build_dream_commit_message("dream: manual run", body))
    assert sha is not None
    assert store.build_dream_prompt() is None
    # The cursor is versioned with the files: what was taken back is read again.
    assert store.version_store.revert(sha) is not None
    assert store.read_memory() == "" and store.get_last_dream_cursor() == 0
    assert store.build_dream_prompt() == prompt
    store.close()


def test_a_file_that_is_not_utf_8_is_an_error_and_stays(workspace: Path) -> None:
    store = MemoryStore(workspace)
    store.memory_file.write_bytes(b"caf\xe9")
    with pytest.raises(ValueError, match=r"MEMORY\.md is not UTF-8"):
        store.read_memory()
    with pytest.raises(ValueError, match="not UTF-8"):
        store.get_memory_context()
    assert store.memory_file.read_bytes() == b"caf\xe9"


def test_a_line_that_is_not_utf_8_hides_no_other(workspace: Path) -> None:
    store = MemoryStore(workspace)
    store.append_history("one")
    with open(store.history_file, "ab") as file:
        file.write(b'{"cursor": 2, "content": "caf\xe9"}\n')
    assert store.append_history("three") == 2
    assert cursors(store) == [1, 2]


def test_an_append_after_a_torn_line_spoils_neither(workspace: Path) -> None:
    store = MemoryStore(workspace)
    store.append_history("one")
    with open(store.history_file, "ab") as file:
        file.write(b'{"cursor": 2, "conte')
    assert store.append_history("two") == 2
    lines = store.history_file.read_text().splitlines()
    assert lines[1] == '{"cursor": 2, "conte' and json.loads(lines[2])["content"] == "two"


def test_a_last_line_longer_than_the_tail_is_read_whole(workspace: Path) -> None:
    store = MemoryStore(workspace)
    store.append_history("x" * 60_000)
    os.unlink(store._cursor_file)
    last = store._read_last_entry()
    assert last is not None and last["cursor"] == 1
    assert store.append_history("next") == 2


def test_compaction_keeps_what_dream_has_not_read_and_lines_it_cannot_read(
    workspace: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = MemoryStore(workspace, max_history_entries=2)
    for number in range(6):
        store.append_history(f"entry {number}")
    with open(store.history_file, "ab") as file:
        file.write(b"written by hand\n")
    store.set_last_dream_cursor(3)
    store.compact_history()
    assert cursors(store) == [4, 5, 6]
    assert store.history_file.read_bytes().endswith(b"written by hand\n")
    assert "more than 2" in caplog.text
    store.set_last_dream_cursor(6)
    store.compact_history()
    assert cursors(store) == [5, 6]


def test_a_failed_compaction_leaves_the_journal_and_no_other_file(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = MemoryStore(workspace, max_history_entries=1)
    for number in range(3):
        store.append_history(f"entry {number}")
    store.set_last_dream_cursor(3)
    before = {path.name: path.read_bytes() for path in store.memory_dir.iterdir()}

    def failing(*_: Any) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(OSError, match="no space left"):
        store.compact_history()
    assert {path.name: path.read_bytes() for path in store.memory_dir.iterdir()} == before


def test_recent_history_is_of_the_session_that_asks(workspace: Path) -> None:
    store = MemoryStore(workspace)
    for key in ("cli:direct", "telegram:1", "cron:daily", "dream:1", "heartbeat", None):
        store.append_history(f"said in {key}", session_key=key)

    def shown(**given: Any) -> list[str | None]:
        found = store.read_recent_history_for_prompt(0, **given)
        return [entry.get("session_key") for entry in found]

    assert shown(session_key="cli:direct") == ["cli:direct"]
    assert len(shown(session_key=None)) == 6
    unified = shown(session_key="cron:daily", unified_session=True)
    assert unified == ["cli:direct", "telegram:1", "cron:daily", None]


APPENDING = f"""
import sys
from pathlib import Path
from oneiro.compat.nanobot import MemoryStore
workspace, name, count = sys.argv[1:]
store = MemoryStore(Path(workspace), max_history_entries=5)
{READY}
for number in range(int(count)):
    store.append_history(f"{{name}} {{number}}")
    if name == "a" and number % 5 == 0:
        store.compact_history()
"""


def test_processes_that_append_at_once_share_no_cursor_and_lose_nothing(workspace: Path) -> None:
    """One of them compacts all the while; nothing is dreamed yet, so nothing may go."""
    scripts = [(APPENDING, [str(workspace), name, "40"]) for name in "ab"]
    assert run_together(*scripts) == [0, 0]
    store = MemoryStore(workspace)
    assert cursors(store) == list(range(1, 81))
    said = {entry["content"] for entry in store.read_unprocessed_history(0)}
    assert said == {f"{name} {number}" for name in "ab" for number in range(40)}


CRASHING = """
import os, signal, sys
from pathlib import Path
from oneiro.compat.nanobot import MemoryStore, journal
store = MemoryStore(Path(sys.argv[1]), max_history_entries=2)
journal.replace_file = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
getattr(store, sys.argv[2])(*sys.argv[3:])
"""


def test_a_crash_between_the_line_and_the_counter_repeats_no_cursor(workspace: Path) -> None:
    store = MemoryStore(workspace)
    for number in range(3):
        store.append_history(f"entry {number}")
    command = [sys.executable, "-c", CRASHING, str(workspace), "append_history", "last words"]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert store._cursor_file.read_text() == "3"
    assert store.append_history("after") == 5
    assert cursors(store) == [1, 2, 3, 4, 5]
    store.set_last_dream_cursor(5)
    command = [sys.executable, "-c", CRASHING, str(workspace), "compact_history"]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert cursors(store) == [1, 2, 3, 4, 5]


def test_old_history_is_read_once(workspace: Path) -> None:
    memory = workspace / "memory"
    memory.mkdir()
    (memory / "HISTORY.md").write_text("[2026-01-31 10:00] Tea.\n\n[2026-01-31 11:00] Tin.\n")
    store = MemoryStore(workspace)
    assert cursors(store) == [1, 2] and store.get_last_dream_cursor() == 2
    assert not (memory / "HISTORY.md").exists() and (memory / "HISTORY.md.bak").exists()
    assert MemoryStore(workspace).append_history("Coffee.") == 3


# --- names of nanobot -----------------------------------------------------------------------------


@pytest.mark.parametrize("module", [nanobot, memory])
def test_the_logger_of_the_memory_gets_every_warning_once(
    module: Any, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logger = MagicMock()
    monkeypatch.setattr(module, "logger", logger)
    store = MemoryStore(workspace)
    flags = (
        "_corruption_logged",
        "_malformed_entry_logged",
        "_oversize_logged",
        "_dream_prompt_oversize_logged",
    )
    assert not any(getattr(store, flag) for flag in flags)
    store.append_history("x" * 30, max_chars=20)
    with open(store.history_file, "a", encoding="utf-8") as file:
        file.write('{"cursor": "x", "timestamp": "t", "content": "c"}\n')
        file.write('{"cursor": 7, "timestamp": "t", "content": 5}\n')
    store.dream_prompt_file.parent.mkdir()
    store.dream_prompt_file.write_text("x" * (WORKSPACE_PROMPT_MAX_CHARS + 1), encoding="utf-8")
    for _ in range(2):
        assert cursors(store)[0] == 1
        assert store._dream_template().startswith("xxx")
        store.append_history("x" * 30, max_chars=20)
    assert all(getattr(store, flag) for flag in flags)
    assert logger.warning.call_count == len(flags)
    store._corruption_logged = False
    store.read_unprocessed_history(since_cursor=0)
    assert logger.warning.call_count == len(flags) + 1


def test_an_append_waits_for_who_holds_the_lock_of_the_store(workspace: Path) -> None:
    store = MemoryStore(workspace)
    waiting = threading.Thread(target=store.append_history, args=("tea",))
    with store._append_lock:
        waiting.start()
        waiting.join(0.1)
        assert waiting.is_alive() and not store.history_file.exists()
    waiting.join()
    assert cursors(store) == [1]


def test_the_parts_of_the_migration_have_nanobots_names(workspace: Path) -> None:
    store = MemoryStore(workspace)
    text = "[2026-01-31 10:00] Tea.\r\n\r\nCoffee.\n"
    entries = store._parse_legacy_history(text)
    assert [entry["content"] for entry in entries] == ["Tea.", "Coffee."]
    # There is no file that could tell the time.
    assert entries[1]["timestamp"][:2] == "20"
    store.legacy_history_file.write_text(text, encoding="utf-8")
    os.utime(store.legacy_history_file, (86_400 * 365, 86_400 * 365))
    assert store._legacy_fallback_timestamp().startswith("197")
    assert store._split_legacy_history_chunks("a\n\nb\n[2026-01-31] c") == [
        "a",
        "b",
        "[2026-01-31] c",
    ]
    assert store._LEGACY_ENTRY_START_RE.match("[2026-01-31] c")
    assert store._LEGACY_TIMESTAMP_RE.match("[2026-01-31 10:00] c")
    assert store._LEGACY_RAW_MESSAGE_RE.match("[2026-01-31 10:00] USER [tools: a]: c")
    assert not store._should_start_new_legacy_chunk("[2026-01-31] c", [])
    assert store._is_raw_legacy_chunk(["[2026-01-31 10:00] [RAW] 2 messages"])


def test_the_bounds_of_nanobot_can_be_imported() -> None:
    bounds = (_HISTORY_ENTRY_HARD_CAP, _RAW_ARCHIVE_MAX_CHARS, WORKSPACE_PROMPT_MAX_CHARS)
    assert bounds == (64_000, 16_000, 32_000)
