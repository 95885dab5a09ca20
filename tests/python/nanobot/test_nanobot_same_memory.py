"""Every script of calls on nanobot's memory store and on ours: the same answers and files."""

from __future__ import annotations

import datetime
from pathlib import Path

import peer
import pytest
from memory_scripts_nanobot import SCRIPTS, THOUGHTS, Box
from oneiro.compat.nanobot import MemoryStore, dream, journal, strip_think

modules = peer.load()
pytestmark = pytest.mark.skipif(modules is None, reason="nanobot-ai is not installed")


class StandingClock(datetime.datetime):
    """A clock that stands still, so that times are compared exactly."""

    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> StandingClock:
        return cls(2026, 1, 31, 10, 30, tzinfo=tz)


@pytest.mark.parametrize("name", SCRIPTS)
def test_memory_same_as_nanobot(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert modules is not None
    theirs = modules["nanobot.agent.memory"]
    for module in (theirs, journal, dream):
        monkeypatch.setattr(module, "datetime", StandingClock)
    seen = []
    for label, kind in (("theirs", theirs.MemoryStore), ("ours", MemoryStore)):
        box = Box(kind, tmp_path / label)
        SCRIPTS[name](box)
        seen.append(box.seen)
    assert len(seen[0]) == len(seen[1]) > 0
    for place, (expected, actual) in enumerate(zip(*seen, strict=True)):
        assert actual == expected, f"observation {place} of {name}"


def test_thinking_is_stripped_alike() -> None:
    assert modules is not None
    theirs = modules["nanobot.utils.helpers"].strip_think
    for first in THOUGHTS:
        for second in THOUGHTS:
            assert strip_think(first + second) == theirs(first + second), (first, second)


def test_nothing_that_callers_use_is_missing() -> None:
    assert modules is not None
    theirs = modules["nanobot.agent.memory"].MemoryStore
    # What reads HISTORY.md is functions here, and each kind of warning is given once by one method.
    elsewhere = {
        "_LEGACY_ENTRY_START_RE",
        "_LEGACY_RAW_MESSAGE_RE",
        "_LEGACY_TIMESTAMP_RE",
        "_dream_template",
        "_is_raw_legacy_chunk",
        "_legacy_fallback_timestamp",
        "_parse_legacy_history",
        "_should_start_new_legacy_chunk",
        "_split_legacy_history_chunks",
    }
    named = {name for name in vars(theirs) if not name.startswith("__")}
    assert named - elsewhere - set(dir(MemoryStore)) == set()
