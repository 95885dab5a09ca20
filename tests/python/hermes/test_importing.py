"""Moving in from Python; what is carried, and how, is tested with the engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import oneiro
import pytest
from oneiro.compat.hermes import SessionDB, import_state_db
from test_opening import hermes_file


def test_a_state_db_is_carried_over_once(db: Any, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs.db"
    before = hermes_file(theirs)
    import_state_db(theirs, db)
    import_state_db(theirs, db)
    assert db.session_count() == 1
    row = db.get_session("s")
    assert (row["source"], row["started_at"]) == ("cli", 1.0)
    assert theirs.read_bytes() == before


def test_into_a_file(tmp_path: Path) -> None:
    hermes_file(tmp_path / "theirs.db")
    import_state_db(str(tmp_path / "theirs.db"), tmp_path / "new" / "ours.db")
    with SessionDB(tmp_path / "new" / "ours.db") as db:
        assert db.get_session("s") is not None


def test_what_is_no_state_db(db: Any, tmp_path: Path) -> None:
    (tmp_path / "garbage").write_bytes(b"not a database" * 100)
    for path in (tmp_path / "garbage", tmp_path / "none.db", tmp_path):
        with pytest.raises(oneiro.Error):
            import_state_db(path, db)
    assert db.session_count() == 0


def test_what_hermes_shows_ours_shows(db: Any, tmp_path: Path) -> None:
    hermes_state = pytest.importorskip("hermes_state", reason="hermes-agent is not installed")
    theirs = hermes_state.SessionDB(tmp_path / "theirs.db")
    theirs.create_session("a", "cli", model_config={"x": 1}, cwd="/w", session_key="k")
    theirs.append_message("a", "user", "hi", timestamp=1.123456789)
    theirs.append_message("a", "user", [{"type": "text", "text": "p"}], token_count=-3)
    theirs.append_message("a", "assistant", tool_calls=[{"id": "1"}], reasoning_details=[1])
    theirs.append_message("a", "tool", "r", "f", None, "1", observed=True, api_content="sent")
    theirs.update_token_counts("a", 5, model="m", billing_provider="p", estimated_cost_usd=0.0)
    theirs.set_session_title("a", "T")
    summary = {"role": "user", "content": "s"}
    called = {"role": "assistant", "content": "z", "tool_calls": [{"id": "q"}]}
    theirs.archive_and_compact("a", [summary, called])
    theirs.rewind_to_message("a", theirs.append_message("a", "user", "back"))
    theirs.end_session("a", "compression")
    theirs.create_session("b", "cli", parent_session_id="a")
    theirs.append_message("b", "user", "go on")
    shown = {name: look(theirs, name) for name in "ab"}
    theirs.close()
    import_state_db(tmp_path / "theirs.db", db)
    # hermes still counts the message that was taken back.
    shown["a"]["row"]["message_count"] -= 1
    assert {name: look(db, name) for name in "ab"} == shown
    assert db.get_compression_tip("a") == "b"


def look(db: Any, session: str) -> dict[str, Any]:
    rows = db.get_messages(session, include_inactive=True)
    return {
        "row": db.get_session(session),
        "rows": [{name: row[name] for name in row if name != "id"} for row in rows],
        "conversation": db.get_messages_as_conversation(session, include_ancestors=True),
    }
