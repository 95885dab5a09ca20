"""What hosts import beside SessionDB."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import oneiro
import pytest
from oneiro.compat.hermes import (
    SessionDB,
    apply_wal_with_fallback,
    is_malformed_db_error,
    repair_state_db_schema,
    sanitize_context,
    workspace_key,
)


def test_workspaces() -> None:
    assert workspace_key({"cwd": "/a", "git_repo_root": "/r"}) == "/r"
    assert workspace_key({"cwd": "/a", "git_repo_root": " "}) == "/a"
    assert workspace_key({"cwd": None}) is None


def test_damage_is_told_apart() -> None:
    assert is_malformed_db_error(sqlite3.DatabaseError("database disk image is malformed"))
    assert is_malformed_db_error(oneiro.StoreError("the store is damaged", "corrupt"))
    assert not is_malformed_db_error(oneiro.StoreError("the store is newer", "newer_schema"))
    assert not is_malformed_db_error(ValueError("malformed database schema"))
    assert not is_malformed_db_error(sqlite3.OperationalError("database is locked"))


def test_repair(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    missing = repair_state_db_schema(path)
    assert not missing["repaired"] and "does not exist" in missing["error"]
    with SessionDB(path) as db:
        db.create_session("s", "cli")
        db.append_message("s", "user", "kept")
    healthy = repair_state_db_schema(path)
    assert healthy == {
        "repaired": True,
        "strategy": "already_healthy",
        "backup_path": None,
        "error": None,
    }
    garbage = tmp_path / "garbage.db"
    garbage.write_bytes(b"not a database" * 100)
    damaged = repair_state_db_schema(garbage)
    assert not damaged["repaired"] and "damaged" in damaged["error"]
    assert garbage.read_bytes() == b"not a database" * 100


class NoWal(sqlite3.Connection):
    """A connection on a file system that allows no write-ahead log."""

    def execute(self, sql: str, *args: object) -> sqlite3.Cursor:
        if sql == "PRAGMA journal_mode=WAL":
            raise sqlite3.OperationalError("locking protocol")
        return super().execute(sql, *args)


def test_journals_of_other_files(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    plain = sqlite3.connect(tmp_path / "a.db")
    assert apply_wal_with_fallback(plain) == "wal"
    assert plain.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    plain.execute("CREATE TABLE t (x)")
    for _ in range(2):
        there = sqlite3.connect(tmp_path / "b.db", factory=NoWal)
        assert apply_wal_with_fallback(there, db_label="b.db") == "delete"
        there.close()
    assert [record.message.split(":")[0] for record in caplog.records] == ["b.db"]
    shared = sqlite3.connect(tmp_path / "a.db", factory=NoWal)
    with pytest.raises(sqlite3.OperationalError, match="locking protocol"):
        apply_wal_with_fallback(shared)
    shared.close()
    plain.close()


def test_memory_is_taken_out_of_a_text() -> None:
    assert sanitize_context("a <memory-context>x</memory-context> b") == "a  b"
