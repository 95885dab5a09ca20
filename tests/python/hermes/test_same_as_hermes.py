"""Every scenario on hermes 0.19.0 and on ours: the same observations, but where a difference is
meant."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from differential import observed, plain, scenarios, wanted

hermes_state = pytest.importorskip("hermes_state", reason="hermes-agent is not installed")


@pytest.mark.parametrize(("module", "name"), scenarios())
def test_same_as_hermes(
    module: str, name: str, open_db: Callable[..., Any], tmp_path: Path
) -> None:
    theirs_db = hermes_state.SessionDB(tmp_path / "hermes.db")
    try:
        theirs = observed(module, name, theirs_db)
    finally:
        theirs_db.close()
    ours = observed(module, name, open_db())
    meant = wanted(module, name)
    assert list(ours) == list(theirs)
    for label, value in ours.items():
        if label in meant:
            assert value == plain(meant[label].ours), f"{label}: {meant[label].reason}"
            assert value != theirs[label], f"{label} is the same as hermes: it needs no excuse"
        else:
            assert value == theirs[label], label
