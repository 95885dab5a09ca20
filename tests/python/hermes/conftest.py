"""Session stores for the tests of the hermes shim, on each engine."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

# The scenarios are found by name, and import what they share.
sys.path.append(str(Path(__file__).parent))


@pytest.fixture
def open_db(place: Any) -> Iterator[Callable[..., Any]]:
    """Opens a SessionDB on the test's own store; again, the same store."""
    from oneiro.compat.hermes import SessionDB

    opened: list[Any] = []

    def opening(**options: Any) -> Any:
        options.setdefault("durability", "normal")
        db = SessionDB(place.store, space=place.space, **options)
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
