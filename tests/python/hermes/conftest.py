"""Stores for the tests of the hermes shim: a file, and a server where one is named."""

from __future__ import annotations

import os
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

TARGETS = ["file"] + (["postgres"] if os.environ.get("ONEIRO_TEST_POSTGRES") else [])


@pytest.fixture(params=TARGETS)
def open_db(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Opens a SessionDB on the test's own store; again, the same store."""
    from oneiro.compat.hermes import SessionDB

    opened: list[Any] = []
    space = f"t{uuid.uuid4().hex[:20]}"

    def opening(**options: Any) -> Any:
        if request.param == "postgres":
            db = SessionDB(os.environ["ONEIRO_TEST_POSTGRES"], space=space, **options)
        else:
            db = SessionDB(tmp_path / "state.db", **options)
        opened.append(db)
        return db

    yield opening
    for db in opened:
        db.close()


@pytest.fixture
def db(open_db: Callable[..., Any]) -> Any:
    """A SessionDB of the 0.19 generation."""
    return open_db()


@pytest.fixture
def seed(open_db: Callable[..., Any]) -> Any:
    """A SessionDB of the seed generation."""
    return open_db(generation="seed")
