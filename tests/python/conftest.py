"""What the tests of the package share: a fresh store on each engine."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import oneiro
import pytest
from seeds import FIRST_SEED


@dataclass(frozen=True)
class Place:
    """Where a fresh space is."""

    store: str
    space: str | None

    def open(self, **options: object) -> oneiro.Oneiro:
        options.setdefault("durability", "normal")
        return oneiro.open(self.store, space=self.space, **options)  # type: ignore[arg-type]


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "sqlite":
        return Place(str(tmp_path / "memory.db"), None)
    url = os.environ.get("ONEIRO_TEST_POSTGRES")
    assert url, "ONEIRO_TEST_POSTGRES is not set: run this through scripts/test --only python"
    return Place(url, f"py{secrets.token_hex(6)}")


@pytest.fixture
def memory(place: Place) -> Iterator[oneiro.Oneiro]:
    with place.open() as opened:
        yield opened


@pytest.fixture
def said() -> Callable[[str], dict[str, str]]:
    return lambda text: {"role": "user", "content": text}


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, exitstatus: int) -> None:
    if exitstatus:
        replay = f"ONEIRO_TEST_SEED={FIRST_SEED} scripts/test --only python"
        terminalreporter.write_line(f"Random tests are replayed with: {replay}")
