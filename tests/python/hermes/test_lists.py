"""Lists and lineages: how much is read for a page, and data that no one should have made."""

from __future__ import annotations

from typing import Any

import pytest


class Counting:
    """A native handle that counts what lists hand over."""

    def __init__(self, native: Any) -> None:
        self._native = native
        self.listed = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._native, name)

    def list_sessions(self, request: dict[str, Any]) -> Any:
        answer = self._native.list_sessions(request)
        self.listed += len(answer["items"])
        return answer


@pytest.fixture
def many(db: Any) -> Any:
    """A store of five hundred sessions whose lists are counted."""
    for number in range(500):
        db.create_session(f"s{number:03}", "cli" if number % 5 else "cron")
    db._native = Counting(db._native)
    return db


@pytest.mark.parametrize("by_activity", [False, True])
def test_a_page_reads_little_more_than_a_page(many: Any, by_activity: bool) -> None:
    page = many.list_sessions_rich(order_by_last_active=by_activity)
    assert len(page) == 20
    assert many._native.listed < 100


def test_other_pages_read_little(many: Any) -> None:
    assert len(many.search_sessions()) == 20
    assert many.session_count() == 500
    assert many.session_count(source="cron") == 100
    assert many._native.listed < 100


def test_pages_fit_together(many: Any) -> None:
    pages = [many.list_sessions_rich(limit=77, offset=at) for at in range(0, 500, 77)]
    assert [row["id"] for page in pages for row in page] == [f"s{n:03}" for n in range(499, -1, -1)]


def test_seed_rows_and_order(seed: Any) -> None:
    seed.create_session("first", "cli", "m", {"a": 1}, "prompt")
    seed.create_session("second", "telegram")
    seed.append_message("first", "user", "later than the start of the second")
    found = seed.search_sessions()
    assert [row["id"] for row in found] == ["second", "first"]
    assert found[1] == seed.get_session("first")
    assert "last_active" not in found[0]
    assert [row["id"] for row in seed.search_sessions("cli")] == ["first"]
    assert (seed.session_count(), seed.session_count("cli"), seed.session_count("")) == (2, 1, 2)


def test_a_circle_of_sessions_ends_every_walk(db: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for one, parent in (("a", None), ("b", "a"), ("c", "b")):
        db.create_session(one, "cli", parent_session_id=parent)
        db.end_session(one, "compression")
    real_find, real_children = db._find, db._children

    def find(session_id: Any) -> Any:
        found = real_find(session_id)
        return {**found, "parent_id": "c"} if found and found["id"] == "a" else found

    monkeypatch.setattr(db, "_find", find)
    monkeypatch.setattr(
        db, "_children", lambda one: [find("a")] if one == "c" else real_children(one)
    )
    assert db.get_compression_tip("a") == "c"
    assert db.resolve_resume_session_id("b") in {"a", "b", "c"}
    assert sorted(db.get_compression_lineage("b")) == ["a", "b", "c"]
    assert sorted(db._session_lineage_root_to_tip("b")) == ["a", "b", "c"]
    assert db.set_session_archived("b", True)
    assert [one["id"] for one in db._chain(find("b"))] == ["b", "c", "a"]


def test_odd_ids_name_nobody(db: Any) -> None:
    for one in (None, "", 5, "x" * 10_000, "\x00"):
        assert db.get_compression_tip(one) == one
        assert db.resolve_resume_session_id(one) == one
        assert db.get_conversation_root(one) == one
        assert db.get_compression_lineage(one) == []
        assert db.delete_session(one) is False
        assert db.set_session_archived(one, True) is False


def test_activity_is_when_something_was_last_said(db: Any) -> None:
    for name, said in (("new", 900.0), ("old", 5.0), ("silent", None)):
        db.create_session(name, "cli")
        if said is not None:
            db.append_message(name, "user", "x", timestamp=said)
    listed = db.list_sessions_rich(order_by_last_active=True)
    assert [row["id"] for row in listed] == ["silent", "new", "old"]
    assert {row["id"]: row["last_active"] for row in listed}["old"] == 5.0


def test_a_delegate_without_its_parent_is_not_a_conversation(db: Any) -> None:
    db.create_session("d", "cli", model_config={"_delegate_from": "gone"})
    assert db.list_sessions_rich() == []


def test_delegates_newer_than_conversations_are_not_read(db: Any) -> None:
    for number in range(30):
        db.create_session(f"s{number:02}", "cli")
    for number in range(300):
        config = {"_delegate_from": "s00"}
        db.create_session(f"d{number}", "cli", parent_session_id="s00", model_config=config)
    db._native = Counting(db._native)
    expected = [f"s{number:02}" for number in range(29, 9, -1)]
    for by_activity in (False, True):
        listed = db.list_sessions_rich(order_by_last_active=by_activity)
        assert [row["id"] for row in listed] == expected
    assert db.session_count(exclude_children=True) == 30
    assert db._native.listed < 100
    assert len(db.list_sessions_rich(include_children=True, limit=-1)) == 330
