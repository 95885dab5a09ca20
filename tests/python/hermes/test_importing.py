"""Moving in from Python; what is carried, and how, is tested with the engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import oneiro
import pytest
from oneiro._oneiro import Handle
from oneiro.compat.hermes import SessionDB, import_state_db
from test_opening import hermes_file

needs_import = pytest.mark.skipif(
    not hasattr(Handle, "import_hermes"), reason="this build cannot import from hermes"
)


@needs_import
def test_a_state_db_is_carried_over_once(db: Any, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs.db"
    before = hermes_file(theirs)
    import_state_db(theirs, db)
    import_state_db(theirs, db)
    assert db.session_count() == 1
    row = db.get_session("s")
    assert (row["source"], row["started_at"]) == ("cli", 1.0)
    assert theirs.read_bytes() == before


@needs_import
def test_into_a_file(tmp_path: Path) -> None:
    hermes_file(tmp_path / "theirs.db")
    import_state_db(str(tmp_path / "theirs.db"), tmp_path / "new" / "ours.db")
    with SessionDB(tmp_path / "new" / "ours.db") as db:
        assert db.get_session("s") is not None


@needs_import
def test_what_is_no_state_db(db: Any, tmp_path: Path) -> None:
    (tmp_path / "garbage").write_bytes(b"not a database" * 100)
    for path in (tmp_path / "garbage", tmp_path / "none.db", tmp_path):
        with pytest.raises(oneiro.Error):
            import_state_db(path, db)
    assert db.session_count() == 0
