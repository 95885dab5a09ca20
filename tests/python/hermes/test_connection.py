"""`_conn`: SQL over hermes's tables, as hosts write it for reports and repairs."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from oneiro.compat.hermes import SessionDB


@pytest.fixture
def db(tmp_path: Path) -> Iterator[SessionDB]:
    with SessionDB(tmp_path / "state.db", durability="normal") as opened:
        yield opened


def test_reports_read_what_is_there(db: SessionDB) -> None:
    db.create_session("a", "cli", model="m")
    db.append_message("a", "user", "hello there")
    db.append_message("a", "assistant", None, tool_calls=[{"id": "1", "function": {"name": "f"}}])
    rows = db._conn.execute("SELECT id, message_count, tool_call_count FROM sessions").fetchall()
    assert [tuple(row) for row in rows] == [("a", 2, 1)]
    (row,) = db._conn.execute("SELECT * FROM messages WHERE role = ?", ("user",)).fetchall()
    assert (row["content"], row["active"], row["session_id"]) == ("hello there", 1, "a")
    db.append_message("a", "user", "again")
    counted = db._conn.execute("SELECT COUNT(*) FROM messages").fetchone()[0]
    assert counted == 3
    sql = "SELECT rowid FROM messages_fts WHERE messages_fts MATCH 'hello'"
    assert len(db._conn.execute(sql).fetchall()) == 1
    assert db._conn.execute("SELECT version FROM schema_version").fetchone()[0] == 22
    cursor = db._conn.cursor()
    tables = {row[0] for row in cursor.execute("SELECT name FROM sqlite_master")}
    assert {"sessions", "messages", "schema_version", "state_meta"} <= tables


def test_repairs_reach_the_store(db: SessionDB, tmp_path: Path) -> None:
    db.create_session("old", "cli")
    db.end_session("old", "done")
    long_ago = time.time() - 100 * 86400
    db._conn.execute("UPDATE sessions SET started_at = ? WHERE id = ?", (long_ago, "old"))
    db._conn.commit()
    assert db.get_session("old")["started_at"] == long_ago
    db._conn.execute("UPDATE sessions SET ended_at = NULL, end_reason = NULL WHERE id = 'old'")
    assert db.get_session("old")["ended_at"] is None
    db._execute_write(
        lambda conn: conn.execute("UPDATE sessions SET title = 'T', chat_id = '7', input_tokens = 9")
    )
    row = db.get_session("old")
    assert (row["title"], row["chat_id"], row["input_tokens"]) == ("T", "7", 9)
    with SessionDB(tmp_path / "state.db", durability="normal") as other:
        assert other.get_session("old")["chat_id"] == "7"
    db._conn.execute("INSERT INTO sessions (id, source, started_at) VALUES ('n', 'cron', 5.5)")
    assert db.get_session("n")["started_at"] == 5.5
    db._conn.execute(
        "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('n', 'user', 'x', 6.5)"
    )
    assert [(m["content"], m["timestamp"]) for m in db.get_messages("n")] == [("x", 6.5)]
    with pytest.raises(sqlite3.IntegrityError, match="messages"):
        db._conn.execute("DELETE FROM sessions WHERE id = 'n'")
    db._conn.execute("DELETE FROM messages WHERE session_id = 'n'")
    db._conn.execute("DELETE FROM sessions WHERE id = 'n'")
    assert db.get_session("n") is None
    assert db._conn.execute("SELECT COUNT(*) FROM sessions").fetchone()[0] == 1


def test_a_transaction_is_whole_or_nothing(db: SessionDB) -> None:
    db.create_session("a", "cli")
    db.create_session("b", "cli")
    db.set_session_title("a", "T")

    def boom(conn: sqlite3.Connection) -> None:
        conn.execute("UPDATE sessions SET title = 'changed' WHERE id = 'a'")
        raise ValueError("boom")

    with pytest.raises(ValueError, match="boom"):
        db._execute_write(boom)
    assert db.get_session_title("a") == "T"
    db._conn.execute("BEGIN")
    db._conn.execute("UPDATE sessions SET chat_id = '9'")
    db._conn.rollback()
    assert db.get_session("b")["chat_id"] is None
    with db._lock:
        db._execute_write(
            lambda conn: conn.execute("UPDATE sessions SET parent_session_id='a' WHERE id='b'")
        )
    assert db.get_session("b")["parent_session_id"] == "a"
    db._conn.execute("UPDATE sessions SET parent_session_id = 'b' WHERE id = 'a'")
    assert db.get_conversation_root("a") in ("a", "b")
    db._conn.execute("UPDATE sessions SET parent_session_id = NULL")
    assert db.get_session("b")["parent_session_id"] is None
    with pytest.raises(sqlite3.NotSupportedError):
        db._conn.execute("UPDATE sessions SET id = 'z' WHERE id = 'a'")
    with pytest.raises(sqlite3.IntegrityError):
        db._conn.execute("INSERT INTO sessions (id, source) VALUES ('n', 'cli')")
    with pytest.raises(sqlite3.IntegrityError):
        db._conn.execute(
            "INSERT INTO messages (session_id, role, timestamp) VALUES ('nope', 'user', 1.0)"
        )
    assert db._conn.execute("PRAGMA journal_mode").fetchone()[0] == "wal"


def test_what_is_refused_in_part_is_refused_whole(db: SessionDB) -> None:
    for name in "abc":
        db.create_session(name, "cli")
    db.append_message("a", "user", "as it was")

    def partly(conn: sqlite3.Connection) -> None:
        conn.execute("UPDATE sessions SET user_id = 'x'")
        conn.execute("UPDATE messages SET content = 'other'")

    with pytest.raises(sqlite3.NotSupportedError):
        db._execute_write(partly)
    with pytest.raises(sqlite3.IntegrityError):
        db._conn.execute("UPDATE sessions SET title = 'same'")
    rows = [db.get_session(name) for name in "abc"]
    assert {(row["user_id"], row["title"]) for row in rows} == {(None, None)}


def test_a_change_may_answer_rows(db: SessionDB) -> None:
    db.create_session("a", "cli")
    sql = "UPDATE sessions SET user_id = 'r' WHERE id = 'a' RETURNING id, user_id"
    assert [tuple(row) for row in db._conn.execute(sql)] == [("a", "r")]
    assert db._conn.execute("SELECT user_id FROM sessions").fetchone()[0] == "r"


def test_other_tables_are_there_to_read(db: SessionDB) -> None:
    db.update_token_counts("a", input_tokens=3, model="m", api_call_count=1)
    row = db._conn.execute("SELECT * FROM session_model_usage").fetchone()
    assert (row["model"], row["input_tokens"]) == ("m", 3) and row["last_seen"] > 1e9
    db.save_gateway_routing_entry("k1", "{}")
    db.save_gateway_routing_entry("k2", "{}", scope="z")
    found = db._conn.execute("SELECT scope, session_key FROM gateway_routing").fetchall()
    assert {tuple(row) for row in found} == {("", "k1"), ("z", "k2")}
    db.set_meta("k", "v")
    assert db._conn.execute("SELECT value FROM state_meta WHERE key='k'").fetchone()[0] == "v"


def test_times_and_places_of_messages_are_amended(db: SessionDB) -> None:
    db.create_session("a", "cli")
    first, second = db.append_message("a", "user", "one"), db.append_message("a", "user", "two")
    db._conn.execute("UPDATE messages SET timestamp = ? WHERE id = ?", (1000.25, first))
    assert db.get_messages("a")[0]["timestamp"] == 1000.25
    db._conn.execute("UPDATE messages SET active = 0 WHERE id = ?", (second,))
    assert [row["content"] for row in db.get_messages("a")] == ["one"]
    assert db.search_messages("two") == []
    db._conn.execute("UPDATE messages SET compacted = 1 WHERE id = ?", (second,))
    assert [row["content"] for row in db.search_messages("two")[0]["context"]] == ["one", "two"]
    db._conn.execute("UPDATE messages SET active = 1, compacted = 0")
    assert len(db.get_messages("a")) == 2
    db._conn.execute("DELETE FROM messages WHERE id = ?", (second,))
    assert [row["content"] for row in db.get_messages("a")] == ["one"]
    db._conn.execute("UPDATE messages SET active = 1")
    assert db.get_session("a")["message_count"] == 2


def test_what_was_said_is_not_changed(db: SessionDB) -> None:
    db.create_session("a", "cli")
    db.append_message("a", "user", "as it was")
    with pytest.raises(sqlite3.NotSupportedError, match="never changed"):
        db._conn.execute("UPDATE messages SET content = 'other'")
    with pytest.raises(sqlite3.NotSupportedError, match="counted"):
        db._conn.execute("UPDATE sessions SET message_count = 99")
    with pytest.raises(sqlite3.OperationalError):
        db._conn.execute("SELECT nonsense FROM nowhere")
    assert db._conn.execute("SELECT content FROM messages").fetchone()[0] == "as it was"
    assert db.get_session("a")["message_count"] == 1


def test_the_seed_has_its_own_columns(tmp_path: Path) -> None:
    with SessionDB(tmp_path / "s.db", generation="seed") as db:
        db.create_session("a", "cli")
        names = [row[1] for row in db._conn.execute("PRAGMA table_info(sessions)")]
        assert names[:3] == ["id", "source", "user_id"] and "title" not in names
        assert db._conn.execute("SELECT version FROM schema_version").fetchone()[0] == 1
    assert db._conn is None
    with pytest.raises(AttributeError):
        db.get_session("a")
