"""The seed generation, where it differs from 0.19, and the faults of it that are not repeated."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from typing import Any

import pytest

SESSION_COLUMNS = [
    "id",
    "source",
    "user_id",
    "model",
    "model_config",
    "system_prompt",
    "parent_session_id",
    "started_at",
    "ended_at",
    "end_reason",
    "message_count",
    "tool_call_count",
    "input_tokens",
    "output_tokens",
]
MESSAGE_COLUMNS = [
    "id",
    "session_id",
    "role",
    "content",
    "tool_call_id",
    "tool_calls",
    "tool_name",
    "timestamp",
    "token_count",
]


def test_create_and_get(seed: Any) -> None:
    before = time.time()
    answer = seed.create_session("s", "cli", "m", {"a": 1}, "prompt", "u", None)
    assert answer == "s"
    row = seed.get_session("s")
    assert list(row) == SESSION_COLUMNS
    assert before - 1 <= row.pop("started_at") <= time.time() + 1
    assert row == {
        "id": "s",
        "source": "cli",
        "user_id": "u",
        "model": "m",
        "model_config": '{"a": 1}',
        "system_prompt": "prompt",
        "parent_session_id": None,
        "ended_at": None,
        "end_reason": None,
        "message_count": 0,
        "tool_call_count": 0,
        "input_tokens": 0,
        "output_tokens": 0,
    }
    seed.create_session("child", "cli", parent_session_id="s", model_config={})
    assert seed.get_session("child")["parent_session_id"] == "s"
    assert seed.get_session("child")["model_config"] is None
    assert seed.get_session("nobody") is None


def test_an_id_that_exists_and_a_parent_that_does_not(seed: Any) -> None:
    seed.create_session("s", "cli", model="m")
    with pytest.raises(sqlite3.IntegrityError, match="exists"):
        seed.create_session("s", "telegram", model="other")
    assert seed.get_session("s")["model"] == "m"
    with pytest.raises(sqlite3.IntegrityError, match="nobody"):
        seed.create_session("t", "cli", parent_session_id="nobody")
    assert seed.get_session("t") is None
    with pytest.raises(TypeError, match="cwd"):
        seed.create_session("t", "cli", cwd="/w")


def test_the_last_end_wins(seed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: 1_000.5)
    seed.create_session("s", "cli")
    seed.end_session("s", "first")
    monkeypatch.setattr(time, "time", lambda: 2_000.25)
    seed.end_session("s", "second")
    row = seed.get_session("s")
    assert (row["started_at"], row["ended_at"], row["end_reason"]) == (1_000.5, 2_000.25, "second")
    assert seed.end_session("nobody", "r") is None


def test_counters(seed: Any) -> None:
    seed.create_session("s", "cli")
    calls = [{"id": "1"}, {"id": "2"}]
    seed.append_message("s", "user", "q", token_count=50)
    seed.append_message("s", "assistant", None, tool_calls=calls)
    seed.append_message("s", "tool", "r", tool_name="f", tool_call_id="1")
    row = seed.get_session("s")
    assert (row["message_count"], row["tool_call_count"]) == (3, 2)
    seed.append_message("s", "assistant", "none", tool_calls=[])
    assert seed.get_session("s")["tool_call_count"] == 3
    assert seed.get_messages("s")[-1]["tool_calls"] is None
    seed.update_token_counts("s", 10, 5)
    seed.update_token_counts("s", output_tokens=1)
    row = seed.get_session("s")
    assert (row["input_tokens"], row["output_tokens"]) == (10, 6)
    assert seed.update_token_counts("nobody", 1, 1) is None
    assert seed.get_session("nobody") is None
    assert (seed.message_count("s"), seed.message_count(), seed.message_count("")) == (4, 4, 4)
    assert seed.update_system_prompt("s", "new") is None
    assert seed.get_session("s")["system_prompt"] == "new"


def test_messages(seed: Any) -> None:
    seed.create_session("s", "cli")
    calls = [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]
    first = seed.append_message("s", "user", "q")
    second = seed.append_message("s", "assistant", tool_calls=calls, token_count=7)
    third = seed.append_message("s", "tool", "r", "f", None, "1")
    assert first < second < third
    rows = seed.get_messages("s")
    assert [list(row) for row in rows] == [MESSAGE_COLUMNS] * 3
    assert [row["tool_calls"] for row in rows] == [None, calls, None]
    assert rows[1]["token_count"] == 7 and rows[1]["content"] is None
    assert seed.get_messages_as_conversation("s") == [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "content": "r", "tool_call_id": "1", "tool_name": "f"},
    ]
    assert seed.get_messages("nobody") == [] == seed.get_messages_as_conversation("nobody")


def test_what_cannot_be_stored(seed: Any) -> None:
    seed.create_session("s", "cli")
    with pytest.raises(sqlite3.IntegrityError, match="nobody"):
        seed.append_message("nobody", "user", "x")
    for content in ([{"type": "text", "text": "x"}], {"a": 1}):
        with pytest.raises(sqlite3.ProgrammingError, match="seed generation stores text"):
            seed.append_message("s", "user", content)
    assert seed.message_count("s") == 0


def test_a_clock_that_steps_back(seed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that steps back does not tear calls from their results."""
    seed.create_session("s", "cli")
    for now, content in ((100.0, "b"), (50.0, "a"), (100.0, "c")):
        monkeypatch.setattr(time, "time", lambda now=now: now)
        seed.append_message("s", "user", content)
    assert [row["content"] for row in seed.get_messages("s")] == ["b", "a", "c"]
    turns = seed.get_messages_as_conversation("s")
    assert [turn["content"] for turn in turns] == ["b", "a", "c"]


def test_one_store_two_generations(open_db: Callable[..., Any]) -> None:
    seed, db = open_db(generation="seed"), open_db()
    seed.create_session("s", "cli")
    seed.append_message("s", "assistant", "x", tool_calls=[{"id": "1"}, {"id": "2"}])
    db.append_message("s", "user", "y")
    assert db.get_session("s")["tool_call_count"] == 2
    assert seed.get_session("s")["tool_call_count"] == 1
    assert len(seed.get_messages("s")) == len(db.get_messages("s")) == 2
    db.rewind_to_message("s", db.get_messages("s")[1]["id"])
    assert [row["content"] for row in seed.get_messages("s")] == ["x"]
    assert seed.get_session("s")["message_count"] == 1
