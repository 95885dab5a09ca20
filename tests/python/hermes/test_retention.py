"""What goes and what stays: faults that hermes had, and others who write meanwhile."""

from __future__ import annotations

from typing import Any

import pytest


def kept(db: Any) -> dict[str, str | None]:
    return {row["id"]: row["parent_session_id"] for row in db.search_sessions(limit=100)}


@pytest.mark.parametrize("generation", ["seed", "0.19"])
def test_a_parent_goes_and_its_child_stays(open_db: Any, generation: str) -> None:
    db = open_db(generation=generation)
    db.create_session("p", "cli")
    db.append_message("p", "user", "parent words")
    db.create_session("c", "cli", parent_session_id="p")
    db.append_message("c", "user", "child words")
    assert db.delete_session("p") is True
    assert kept(db) == {"c": None}
    assert db.get_messages("p") == [] and len(db.get_messages("c")) == 1
    assert db.search_messages("parent") == [] and len(db.search_messages("child")) == 1
    assert db.delete_session("p") is False


@pytest.mark.parametrize("generation", ["seed", "0.19"])
def test_an_old_parent_is_pruned_and_its_child_stays(
    open_db: Any, generation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = open_db(generation=generation)
    monkeypatch.setattr("time.time", lambda: 1_600_000_000.0)
    db.create_session("p", "cli")
    db.create_session("live", "cli")
    db.create_session("other", "telegram")
    db.end_session("p", "done")
    db.end_session("other", "done")
    monkeypatch.undo()
    db.create_session("c", "cli", parent_session_id="p")
    assert db.prune_sessions(90, "cli") == 1
    assert kept(db) == {"live": None, "other": None, "c": None}
    assert db.prune_sessions() == 1
    assert db.prune_sessions() == 0


def test_age_counts_from_the_start(db: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time", lambda: 1_600_000_000.0)
    db.create_session("old", "cli")
    monkeypatch.undo()
    db.end_session("old", "done")
    assert db.prune_sessions() == 1


def test_what_comes_to_life_again_is_not_pruned(db: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    db.create_session("a", "cli")
    db.create_session("b", "cli")
    for one in ("a", "b"):
        db.end_session(one, "done")
    chosen = db._candidates(None, None, {})
    db.reopen_session("a")
    monkeypatch.setattr(db, "_candidates", lambda *_: chosen)
    assert db.prune_sessions(older_than_days=None) == 1
    assert kept(db) == {"a": None}


def test_what_is_said_meanwhile_is_not_lost(db: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    db.create_session("a", "cli")
    children = db._native.session_children

    def and_then(session_id: str) -> Any:
        found = children(session_id)
        db.append_message("a", "user", "just now")
        return found

    monkeypatch.setattr(db._native, "session_children", and_then)
    assert db.delete_session_if_empty("a") is False
    assert [row["content"] for row in db.get_messages("a")] == ["just now"]


def test_emptied_and_taken_back_are_different(db: Any) -> None:
    for one in ("emptied", "taken back"):
        db.create_session(one, "cli")
        message = db.append_message(one, "user", "x")
    db.clear_messages("emptied")
    db.rewind_to_message("taken back", message)
    assert db.delete_session_if_empty("taken back") is False
    for one in ("emptied", "taken back"):
        db.end_session(one, "done")
    assert db.count_empty_sessions() == 1
    assert db.delete_empty_sessions() == 1
    assert kept(db) == {"taken back": None}


def test_delegates_go_with_their_parent_and_nobody_else_does(db: Any) -> None:
    db.create_session("p", "cli")
    db.create_session("d", "cli", parent_session_id="p", model_config={"_delegate_from": "p"})
    db.create_session("e", "cli", parent_session_id="d", model_config={"_delegate_from": "d"})
    db.create_session("b", "cli", parent_session_id="d", model_config={"_branched_from": "d"})
    db.create_session("x", "cli")
    assert db.delete_session("p") is True
    assert kept(db) == {"b": None, "x": None}


def test_ghosts_with_children_go_and_the_children_stay(
    db: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.time", lambda: 1_600_000_000.0)
    db.create_session("ghost", "tui")
    db.end_session("ghost", "done")
    monkeypatch.undo()
    db.create_session("c", "tui", parent_session_id="ghost")
    assert db.prune_empty_ghost_sessions() == 1
    assert kept(db) == {"c": None}


def test_archiving_hides_a_chain_and_keeps_every_word(db: Any) -> None:
    db.create_session("p", "cli")
    db.append_message("p", "user", "apple")
    db.end_session("p", "compression")
    db.create_session("c", "cli", parent_session_id="p")
    db.end_session("c", "done")
    assert db.archive_sessions() == 2
    assert db.list_sessions_rich() == []
    assert [row["id"] for row in db.list_sessions_rich(archived_only=True)] == ["c"]
    assert len(db.search_messages("apple")) == 1
    assert db.archive_sessions() == 0


def test_filters_that_do_not_exist_are_refused(db: Any) -> None:
    for call in (db.prune_sessions, db.archive_sessions, db.list_prune_candidates):
        with pytest.raises(TypeError, match="foo"):
            call(foo=1)


def test_maintenance_answers_for_one_index_and_changes_nothing(db: Any) -> None:
    db.create_session("s", "cli")
    db.append_message("s", "user", "apple")
    assert (db.optimize_fts(), db.rebuild_fts(), db.vacuum()) == (1, 1, 1)
    assert len(db.search_messages("apple")) == 1


def test_maintenance_never_raises(db: Any) -> None:
    db.close()
    answer = db.maybe_auto_prune_and_vacuum()
    assert (answer["pruned"], answer["vacuumed"]) == (0, False)
    assert answer["error"]


def test_a_chain_that_is_none_any_more_is_not_archived_whole(db: Any) -> None:
    db.create_session("p", "cli")
    db.end_session("p", "compression")
    db.create_session("c", "cli", parent_session_id="p")
    db.reopen_session("p")
    db.end_session("p", "done")
    db.set_session_archived("p", True)
    assert (db.get_session("p")["archived"], db.get_session("c")["archived"]) == (1, 0)


def test_a_delegate_that_lost_its_marker_is_not_deleted_with_its_parent(db: Any) -> None:
    db.create_session("q", "cli")
    db.create_session("e", "cli", parent_session_id="q", model_config={"_delegate_from": "q"})
    db.append_message("e", "user", "kept")
    db.update_session_meta("e", '{"a": 1}')
    db.delete_session("q")
    assert [row["content"] for row in db.get_messages("e")] == ["kept"]
