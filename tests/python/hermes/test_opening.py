"""How a SessionDB is opened, closed, and what it refuses to open."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import oneiro
import oneiro.compat.hermes
import pytest
from oneiro.compat.hermes import SessionDB, format_session_db_unavailable, get_last_init_error


def hermes_file(path: Path) -> bytes:
    """A file as the first hermes makes it; answers its bytes."""
    connection = sqlite3.connect(path)
    connection.executescript(
        """
        CREATE TABLE schema_version (version INTEGER NOT NULL);
        INSERT INTO schema_version VALUES (1);
        CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT NOT NULL, started_at REAL NOT NULL);
        CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL,
                               role TEXT NOT NULL, content TEXT, timestamp REAL NOT NULL);
        INSERT INTO sessions VALUES ('s', 'cli', 1.0);
        """
    )
    connection.close()
    return path.read_bytes()


def test_folders_are_created_and_text_is_a_path(tmp_path: Path) -> None:
    with SessionDB(str(tmp_path / "a" / "b" / "state.db")) as db:
        assert db.create_session("s", "cli") == "s"
    assert (tmp_path / "a" / "b" / "state.db").is_file()
    with SessionDB(tmp_path / "a" / "b" / "state.db") as db:
        assert db.get_session("s")["source"] == "cli"


def test_the_default_path_may_be_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oneiro.compat.hermes, "DEFAULT_DB_PATH", tmp_path / "h" / "state.db")
    with SessionDB() as db:
        assert db.db_path == tmp_path / "h" / "state.db"
    assert (tmp_path / "h" / "state.db").is_file()


def test_a_file_of_hermes_is_named_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    before = hermes_file(path)
    for read_only in (False, True):
        with pytest.raises(oneiro.InvalidError, match="nothing in it was touched") as told:
            SessionDB(path, read_only=read_only)
        assert isinstance(told.value, sqlite3.DatabaseError)
        assert f"oneiro import hermes {path}" in str(told.value)
        assert "import_state_db" in str(told.value)
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["state.db"]


def test_other_files_are_left_alone(tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE notes (text TEXT)")
    connection.commit()
    connection.close()
    (tmp_path / "garbage.db").write_bytes(b"not a database" * 100)
    for path in (other, tmp_path / "garbage.db"):
        before = path.read_bytes()
        with pytest.raises(sqlite3.DatabaseError, match="touched"):
            SessionDB(path)
        assert path.read_bytes() == before
    with pytest.raises(sqlite3.OperationalError, match="folder"):
        SessionDB(tmp_path)


def test_what_went_wrong_is_remembered(tmp_path: Path) -> None:
    with pytest.raises(sqlite3.OperationalError, match="unable to open database file"):
        SessionDB(tmp_path / "none.db", read_only=True)
    assert "unable to open database file" in (get_last_init_error() or "")
    assert "unable to open database file" in format_session_db_unavailable()
    assert not (tmp_path / "none.db").exists()
    SessionDB(tmp_path / "state.db").close()
    assert "unable to open database file" in format_session_db_unavailable("No store")


def test_a_server_that_does_not_answer() -> None:
    with pytest.raises(sqlite3.OperationalError, match="does not respond"):
        SessionDB("postgres://nobody@127.0.0.1:1/none")


def test_an_unknown_generation() -> None:
    with pytest.raises(ValueError, match="seed"):
        SessionDB(":memory:", generation="0.20")


def test_memory() -> None:
    with SessionDB(":memory:") as db:
        db.create_session("s", "cli")
        assert db.append_message("s", "user", "x") == 1
    with SessionDB(":memory:") as db:
        assert db.get_session("s") is None


@pytest.mark.parametrize("generation", ["seed", "0.19"])
def test_closed(open_db: Callable[..., Any], generation: str) -> None:
    db = open_db(generation=generation)
    db.create_session("s", "cli")
    db.close()
    db.close()
    calls: list[Callable[[], Any]] = [
        lambda: db.get_session("s"),
        lambda: db.append_message("s", "user", "x"),
        lambda: db.get_messages("s"),
        lambda: db.end_session("s", "r"),
        lambda: db.search_messages("x"),
    ]
    for call in calls:
        with pytest.raises(AttributeError, match="closed"):
            call()


def test_read_only(open_db: Callable[..., Any]) -> None:
    db = open_db()
    db.create_session("s", "cli")
    db.append_message("s", "user", "the key is under the mat")
    reading = open_db(read_only=True)
    assert reading.get_session("s")["message_count"] == 1
    assert [row["content"] for row in reading.get_messages("s")] == ["the key is under the mat"]
    assert reading.get_messages_as_conversation("s")[0]["role"] == "user"
    assert reading.message_count() == 1
    assert len(reading.search_messages("key")) == 1
    writes: list[Callable[[], Any]] = [
        lambda: reading.append_message("s", "user", "x"),
        lambda: reading.create_session("t", "cli"),
        lambda: reading.end_session("s", "r"),
        lambda: reading.update_token_counts("s", 1),
        lambda: reading.set_session_title("s", "t"),
        lambda: reading.replace_messages("s", []),
        lambda: reading.archive_and_compact("s", []),
        lambda: reading.delete_session("s"),
    ]
    for write in writes:
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            write()
    assert db.get_session("s")["message_count"] == 1 and db.get_session("t") is None
    db.append_message("s", "user", "later")
    assert reading.get_session("s")["message_count"] == 2
