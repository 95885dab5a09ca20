"""Messages that hermes cannot show: what is kept, refused, and hidden."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any

import oneiro
import pytest


def contents(db: Any, session: str, **named: Any) -> list[Any]:
    return [row["content"] for row in db.get_messages(session, **named)]


def test_errors_are_of_both_families(db: Any) -> None:
    with pytest.raises(sqlite3.IntegrityError) as told:
        db.append_message("nobody", "user", "x")
    assert isinstance(told.value, oneiro.ConflictError)
    assert told.value.remedy and "create_session" in told.value.remedy
    db.create_session("s", "cli")
    refused: list[tuple[dict[str, Any], str]] = [
        ({"role": None}, "role"),
        ({"role": ""}, "role"),
        ({"role": "user", "content": b"\xff\xfe"}, "content"),
        ({"role": "user", "finish_reason": {"a": 1}}, "finish_reason"),
        ({"role": "assistant", "tool_calls": [object()]}, "object"),
    ]
    for columns, named in refused:
        with pytest.raises(sqlite3.Error, match=named):
            db.append_message("s", **columns)
    assert db.message_count("s") == 0 == db.get_session("s")["message_count"]


def test_what_json_cannot_say(db: Any) -> None:
    db.create_session("s", "cli")
    db.append_message("s", "user", "half \ud83d and \ud83d\ude00 whole", api_content="\udc00")
    db.append_message("s", "user", ["in parts \ud800"], tool_name="\ud800")
    db.append_message("s", "user", b"bytes of text")
    first, second, third = db.get_messages("s")
    assert first["content"] == "half \ufffd and \U0001f600 whole"
    assert first["api_content"] == "\ufffd"
    assert second["content"] == ["in parts \ufffd"] and second["tool_name"] == "\ufffd"
    assert third["content"] == "bytes of text"
    db.replace_messages("s", [{"role": "user", "content": "a\ud800"}])
    assert contents(db, "s") == ["a\ufffd"]
    db.set_session_title("s", "t\ud800")
    assert db.get_session_title("s") == "t\ufffd"


def test_large_and_deep(db: Any) -> None:
    db.create_session("s", "cli")
    large = "word " * 200_000
    db.append_message("s", "user", large)
    db.append_message("s", "assistant", "x", tool_calls=[{"id": str(n)} for n in range(500)])
    deep: Any = []
    for _ in range(50):
        deep = [deep]
    db.append_message("s", "user", deep)
    rows = db.get_messages("s")
    assert rows[0]["content"] == large and rows[2]["content"] == deep
    assert db.get_session("s")["tool_call_count"] == 500


def test_times(db: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    db.create_session("s", "cli")
    exact = 1_234_567_890.123_456_7
    moment = datetime(2026, 1, 31, 9, 30, tzinfo=timezone.utc)
    monkeypatch.setattr(time, "time", lambda: 77.25)
    given = [exact, moment, "12.5", -5.0, 1e17, float("nan"), float("inf"), "soon", None]
    for timestamp in given:
        db.append_message("s", "user", "x", timestamp=timestamp)
    times = [row["timestamp"] for row in db.get_messages("s")]
    assert times == [exact, moment.timestamp(), 12.5, -5.0, 1e17, 77.25, 77.25, 77.25, 77.25]
    turns = db.get_messages_as_conversation("s")
    assert [turn["timestamp"] for turn in turns] == times


def test_a_clock_that_steps_back_does_not_change_the_order(
    db: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    db.create_session("s", "cli")
    for now, content in ((100.0, "call"), (50.0, "result"), (75.0, "answer")):
        monkeypatch.setattr(time, "time", lambda now=now: now)
        db.append_message("s", "user", content)
    assert contents(db, "s") == ["call", "result", "answer"]


def test_counts_follow_a_rewind(db: Any) -> None:
    """hermes answers 3 with one live row (the specification's pitfall)."""
    db.create_session("s", "cli")
    db.append_message("s", "user", "a")
    back = db.append_message("s", "user", "b")
    db.append_message("s", "assistant", "c", tool_calls=[{"id": "1"}])
    db.rewind_to_message("s", back)
    row = db.get_session("s")
    assert (row["message_count"], row["tool_call_count"], row["rewind_count"]) == (1, 0, 1)
    assert db.restore_rewound("s", back) == 2
    row = db.get_session("s")
    assert (row["message_count"], row["tool_call_count"]) == (3, 1)


def test_a_replaced_message_is_shown_nowhere(db: Any) -> None:
    db.create_session("s", "cli")
    secret = db.append_message("s", "user", "the secret word is plinth", platform_message_id="p")
    db.archive_and_compact("s", [{"role": "user", "content": "a summary of plinth"}])
    db.append_message("s", "assistant", "ok")
    db.replace_messages("s", [{"role": "user", "content": "clean"}])
    assert contents(db, "s", include_inactive=True) == ["clean"]
    assert contents(db, "s", limit=5, include_inactive=True) == ["clean"]
    assert db.search_messages("plinth") == []
    assert db.get_messages_around("s", secret)["window"] == []
    assert not db.has_archived_messages("s") and not db.has_platform_message_id("s", "p")
    assert db.restore_rewound("s", 0) == 0 and db.message_count("s") == 1
    assert db.list_recent_user_messages("s", include_inactive=True)[0]["preview"] == "clean"
    with pytest.raises(ValueError, match="not found"):
        db.rewind_to_message("s", secret)
    back = db.append_message("s", "user", "later")
    db.rewind_to_message("s", back)
    assert db.restore_rewound("s", 0) == 1
    assert contents(db, "s") == ["clean", "later"]


def test_api_content_given_later_survives(open_db: Callable[..., Any]) -> None:
    db = open_db()
    db.create_session("s", "cli")
    db.append_message("s", "user", "q", api_content="sent first")
    assert db.set_latest_user_api_content("s", "q", "sent") == 1
    again = open_db()
    assert again.get_messages("s")[0]["api_content"] == "sent"
    assert again.get_messages_as_conversation("s")[0]["api_content"] == "sent"
    model, display = again.get_resume_conversations("s")
    assert model[0]["api_content"] == display[0]["api_content"] == "sent"
    db.delete_session("s")
    db.create_session("s", "cli")
    db.append_message("s", "user", "q")
    assert db.get_messages("s")[0]["api_content"] is None


def test_pages_of_a_long_session(db: Any) -> None:
    db.create_session("s", "cli")
    db.replace_messages("s", [{"role": "user", "content": str(n)} for n in range(2_500)])
    assert contents(db, "s", limit=3, offset=2_400) == ["2400", "2401", "2402"]
    assert contents(db, "s", limit=2_000)[-1] == "1999"
    assert contents(db, "s", offset=2_498) == ["2498", "2499"]
    assert len(contents(db, "s")) == 2_500


def test_windows_into_a_long_session(db: Any) -> None:
    """What a window shows is what the whole session has there, however ids are spread."""
    for name in ("s", "other"):
        db.create_session(name, "cli")
    roles = ("user", "assistant", "tool")
    for part in range(12):
        talk = [
            {"role": roles[n % 3], "content": "" if n % 7 == 0 else f"{part} {n}"}
            for n in range(30)
        ]
        db.archive_and_compact("s", talk)
        for _ in range(part * 15):
            db.append_message("other", "user", "between")
    for name in ("tail", "tail"):
        db.append_message("s", "tool", name)
    whole = db.get_messages("s", include_inactive=True)
    ids = [row["id"] for row in whole]
    for place in (0, 1, 7, 30, 59, 178, 300, len(ids) - 2, len(ids) - 1):
        for window in (0, 1, 6, 40, 500):
            first, last = max(place - window, 0), min(place + window + 1, len(ids))
            around = db.get_messages_around("s", ids[place], window)
            assert around["window"] == whole[first:last]
            assert around["messages_before"] == place - first
            assert around["messages_after"] == last - place - 1
            for roles_kept in (("user", "assistant"), ("tool",), None):
                kept = [r for r in whole if roles_kept is None or r["role"] in roles_kept]
                said = [row for row in kept if row["content"]]
                view = db.get_anchored_view("s", ids[place], window, 3, roles_kept)
                start = [row for row in said if row["id"] < ids[first]][:3]
                end = [row for row in said if row["id"] > ids[last - 1]][-3:]
                assert (view["bookend_start"], view["bookend_end"]) == (start, end)
                inside = [r for r in whole[first:last] if r in kept or r["id"] == ids[place]]
                assert view["window"] == inside


def test_titles_that_cannot_be_seen(db: Any) -> None:
    for name in "ab":
        db.create_session(name, "cli")
    assert db.set_session_title("a", "one\x85two")
    for title in ("one two", "one\u200b two", "one\x9ftwo", "o\xadne two"):
        with pytest.raises(ValueError, match="in use by session a"):
            db.set_session_title("b", title)


def test_what_a_tool_answered_is_kept_whatever_json_says(db: Any) -> None:
    db.create_session("s", "cli")
    db.append_message("s", "tool", [{1: float("nan"), None: float("inf")}], tool_name="t")
    deep: Any = "end"
    for _ in range(300):
        deep = [deep]
    db.append_message("s", "user", deep)
    first, second = db.get_messages("s")
    assert first["content"] == [{"1": "NaN", "null": "Infinity"}]
    assert "end" in str(second["content"])


def test_ids_of_platforms_may_be_numbers(db: Any) -> None:
    db.create_session("a", "telegram", user_id=99, chat_id=-55)
    row = db.get_session("a")
    assert (row["user_id"], row["chat_id"]) == ("99", "-55")
    db.record_gateway_session_peer(
        "a", source="telegram", user_id=1, session_key="k", chat_id=7, thread_id=8
    )
    row = db.get_session("a")
    assert (row["user_id"], row["chat_id"], row["thread_id"]) == ("1", "7", "8")


def test_a_clock_that_was_set_is_kept_to_the_last_digit(db: Any, monkeypatch: Any) -> None:
    now = 1700000000.1234567
    monkeypatch.setattr("time.time", lambda: now)
    db.create_session("s", "cli")
    db.append_message("s", "user", "x")
    assert db.get_session("s")["started_at"] == now
    assert db.get_messages("s")[0]["timestamp"] == now
