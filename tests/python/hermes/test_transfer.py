"""Export and import: nothing by half, nothing twice."""

from __future__ import annotations

from typing import Any

import pytest


def fill(db: Any) -> None:
    db.create_session("p", "cli", model="m", model_config={"a": [1]}, system_prompt="S")
    db.append_message("p", "user", [{"type": "text", "text": "hi"}])
    db.append_message("p", "assistant", None, tool_calls=[{"id": "1"}], reasoning_content="")
    db.append_message("p", "tool", "out", tool_name="t", tool_call_id="1")
    db.end_session("p", "compression")
    db.create_session("c", "cli", parent_session_id="p")
    db.append_message("c", "user", "on we go")
    db.set_session_title("c", "Title")


def bare(session: dict[str, Any]) -> dict[str, Any]:
    messages = [{**message, "id": 0} for message in session["messages"]]
    return {**session, "messages": messages}


def test_there_and_back(db: Any) -> None:
    fill(db)
    exported = db.export_all()
    assert db.delete_sessions(["p", "c"]) == 2
    answer = db.import_sessions(exported)
    assert (answer["ok"], answer["imported"], answer["detached"]) == (True, 2, 0)
    assert [bare(one) for one in db.export_all()] == [bare(one) for one in exported]
    assert db.get_compression_tip("p") == "c"
    assert [row["id"] for row in db.list_sessions_rich()] == ["c"]
    assert len(db.search_messages("on we go")) == 1
    again = db.import_sessions(exported)
    assert (again["imported"], again["skipped"]) == (0, 2)
    assert db.session_count() == 2


def test_one_wrong_session_keeps_all_out(db: Any) -> None:
    good = {"id": "good", "messages": [{"role": "user", "content": "x"}]}
    answer = db.import_sessions([good, {"id": "bad", "messages": [{"content": "no role"}]}])
    assert answer["ok"] is False
    assert answer["errors"] == [
        {
            "index": 1,
            "error": "messages[0].role must be a non-empty string",
            "session_id": "bad",
        }
    ]
    assert db.session_count() == 0


def test_a_title_that_is_taken_keeps_all_out(db: Any) -> None:
    import sqlite3

    db.create_session("there", "cli")
    db.set_session_title("there", "Taken")
    with pytest.raises(sqlite3.IntegrityError, match="Taken"):
        db.import_sessions([{"id": "a"}, {"id": "b", "title": "Taken"}])
    assert db.session_count() == 1


def test_a_chain_keeps_its_titles(db: Any) -> None:
    db.import_sessions(
        [
            {"id": "p", "title": "Plan", "ended_at": 5.0, "end_reason": "compression"},
            {"id": "c", "parent_session_id": "p"},
            {"id": "d", "parent_session_id": "p", "title": "Plan #2"},
        ]
    )
    assert [db.get_session_title(one) for one in "pcd"] == ["Plan", None, "Plan #2"]


def test_seed_exports(seed: Any) -> None:
    fill_seed = {"model": "m", "system_prompt": "S"}
    seed.create_session("a", "cli", **fill_seed)
    seed.create_session("b", "telegram")
    seed.append_message("a", "user", "one")
    assert seed.export_session("nobody") is None
    one = seed.export_session("a")
    assert one == {**seed.get_session("a"), "messages": seed.get_messages("a")}
    assert [session["id"] for session in seed.export_all()] == ["b", "a"]
    assert seed.export_all("telegram") == [seed.export_session("b")]
    assert seed.export_all("zz") == []


def test_lone_surrogates_and_strange_content_do_not_stop_an_import(db: Any) -> None:
    content = ["\ud800", {"type": "text", "text": "a\ud800b"}, None, 5]
    answer = db.import_sessions(
        [
            {
                "id": "s",
                "messages": [{"role": "user", "content": one} for one in (content, "\ud800", 5)],
            }
        ]
    )
    assert answer["ok"] is True
    assert len(db.get_messages("s")) == 3


def test_an_import_that_was_cut_off_goes_on(db: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    messages = [{"role": "user", "content": f"m{number}"} for number in range(2_500)]
    session = {"id": "s", "messages": messages, "title": "T", "ended_at": 5.0, "end_reason": "x"}
    append = db._native.append_kept
    calls = []

    def cut_off(*args: Any) -> Any:
        calls.append(args)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return append(*args)

    monkeypatch.setattr(db._native, "append_kept", cut_off)
    with pytest.raises(KeyboardInterrupt):
        db.import_sessions([session])
    assert 0 < len(db.get_messages("s")) < 2_500
    monkeypatch.setattr(db._native, "append_kept", append)
    assert db.import_sessions([session])["imported"] == 1
    assert [row["content"] for row in db.get_messages("s")] == [f"m{n}" for n in range(2_500)]
    row = db.get_session("s")
    assert (row["title"], row["ended_at"], row["message_count"]) == ("T", 5.0, 2_500)
    assert db.import_sessions([session])["skipped"] == 1


def test_one_that_cannot_be_stored_rejects_the_batch(db: Any) -> None:
    good = {"id": "good", "source": "cli", "messages": []}
    for bad in ("a\0b", "x" * 600, "\ud800"):
        answer = db.import_sessions([good, {"id": bad, "source": "cli", "messages": []}])
        assert answer["ok"] is False and answer["errors"]
        assert db.get_session("good") is None
