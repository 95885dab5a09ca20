"""The session_search tool: other profiles, and answers where hermes had none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from oneiro.compat.hermes import SessionDB, session_search
from oneiro.compat.hermes.session_search import SESSION_SEARCH_SCHEMA


def asked(*args: Any, **named: Any) -> Any:
    return json.loads(session_search(*args, **named))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of hermes with a default store and a profile "job"."""
    monkeypatch.setattr("oneiro.compat.hermes.DEFAULT_DB_PATH", tmp_path / "state.db")
    for path, session in (
        (tmp_path / "state.db", "mine"),
        (tmp_path / "profiles/job/state.db", "theirs"),
    ):
        with SessionDB(path, durability="normal") as db:
            db.create_session(session, "cli")
            db.append_message(session, "user", f"words of {session}")
    return tmp_path


def test_without_a_store_the_default_one_is_asked(home: Path) -> None:
    assert [one["session_id"] for one in asked("words")["results"]] == ["mine"]
    assert asked(session_id="mine")["message_count"] == 1


def test_a_session_of_another_profile(home: Path) -> None:
    for named in (
        {"session_id": "theirs"},
        {"session_id": "job/theirs"},
        {"session_id": "theirs", "profile": "job"},
    ):
        assert asked(**named)["messages"][0]["content"] == "words of theirs", named
    assert asked("words", profile="job")["results"][0]["session_id"] == "theirs"
    with SessionDB(home / "profiles/job/state.db") as db:
        assert asked(db=db, session_id="mine")["success"] is True
        assert asked(db=db, session_id="default/mine")["success"] is True


@pytest.mark.parametrize("profile", ["nobody", "../job", "..", "a/b"])
def test_a_profile_that_is_none(home: Path, profile: str) -> None:
    answer = asked(session_id="mine", profile=profile)
    assert answer["success"] is False and "does not exist" in answer["error"]


def test_every_failure_is_an_answer(db: Any) -> None:
    db.close()
    answer = asked("x", db=db)
    assert answer["success"] is False and answer["error"]


def test_what_meets_part_of_a_question_is_told_as_such(db: Any) -> None:
    db.create_session("s", "cli")
    db.append_message("s", "user", "we moved the greenhouse to the south wall")
    answer = asked("where did we put the greenhouse heater", db=db)
    assert answer["relaxed"] is True
    assert [one["session_id"] for one in answer["results"]] == ["s"]
    assert answer["results"][0]["tier"] == "relaxed"
    assert "relaxed" not in asked("greenhouse wall", db=db)


def test_one_result_for_each_conversation(db: Any) -> None:
    for number in range(5):
        db.create_session(f"p{number}", "cli")
        for _ in range(30):
            db.append_message(f"p{number}", "user", "zebra crossing")
        db.end_session(f"p{number}", "compression")
        db.create_session(f"c{number}", "cli", parent_session_id=f"p{number}")
        db.append_message(f"c{number}", "user", "zebra again")
    answer = asked("zebra", db=db, limit=10)
    assert answer["count"] == 5
    assert sorted(one["session_id"][1:] for one in answer["results"]) == list("01234")


def test_in_the_seed_generation(seed: Any) -> None:
    seed.create_session("s", "cli")
    seed.append_message("s", "user", "zebra crossing")
    assert asked("zebra", db=seed)["results"][0]["session_id"] == "s"
    assert asked(db=seed)["count"] == 1
    assert asked(session_id="s", db=seed)["message_count"] == 1


def test_the_schema_names_every_argument() -> None:
    given = set(SESSION_SEARCH_SCHEMA["parameters"]["properties"])
    assert given == {
        "query",
        "limit",
        "sort",
        "session_id",
        "around_message_id",
        "window",
        "role_filter",
        "profile",
    }
